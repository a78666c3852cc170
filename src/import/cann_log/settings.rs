//! Settings and releases that a text states: variables that it sets or lists, versions of libraries.

use std::sync::LazyLock;

/// Variables that act on memory.
const VARIABLES: [&str; 27] = [
    "PYTORCH_ALLOC_CONF",
    "PYTORCH_CUDA_ALLOC_CONF",
    "PYTORCH_HIP_ALLOC_CONF",
    "PYTORCH_NPU_ALLOC_CONF",
    "PYTORCH_XPU_ALLOC_CONF",
    "PYTORCH_NO_CUDA_MEMORY_CACHING",
    "PYTORCH_NO_NPU_MEMORY_CACHING",
    "PYTORCH_MPS_HIGH_WATERMARK_RATIO",
    "PYTORCH_MPS_LOW_WATERMARK_RATIO",
    "TASK_QUEUE_ENABLE",
    "MULTI_STREAM_MEMORY_REUSE",
    "HCCL_BUFFSIZE",
    "ASCEND_LAUNCH_BLOCKING",
    "GE_USE_STATIC_MEMORY",
    "MS_ALLOC_CONF",
    "XLA_PYTHON_CLIENT_PREALLOCATE",
    "XLA_PYTHON_CLIENT_MEM_FRACTION",
    "XLA_PYTHON_CLIENT_ALLOCATOR",
    "XLA_CLIENT_MEM_FRACTION",
    "TF_FORCE_GPU_ALLOW_GROWTH",
    "TF_GPU_ALLOCATOR",
    "FLAGS_allocator_strategy",
    "FLAGS_fraction_of_gpu_memory_to_use",
    "FLAGS_gpu_memory_limit_mb",
    "FLAGS_fraction_of_npu_memory_to_use",
    "UR_L0_USE_RELAXED_ALLOCATION_LIMITS",
    "NPU_MEMORY_FRACTION",
];

/// Names of packages as tools print them, and their names in answers.
const PACKAGES: [(&str, &str); 24] = [
    ("torch_npu", "torch_npu"),
    ("torch-npu", "torch_npu"),
    ("torch", "torch"),
    ("PyTorch", "torch"),
    ("pytorch", "torch"),
    ("CANN", "cann"),
    ("vllm-ascend", "vllm_ascend"),
    ("vllm_ascend", "vllm_ascend"),
    ("vLLM Ascend", "vllm_ascend"),
    ("vllm", "vllm"),
    ("vLLM", "vllm"),
    ("sglang", "sglang"),
    ("MindSpore", "mindspore"),
    ("mindspore", "mindspore"),
    ("MindIE", "mindie"),
    ("jaxlib", "jaxlib"),
    ("jax", "jax"),
    ("TensorFlow", "tensorflow"),
    ("tensorflow-gpu", "tensorflow"),
    ("tensorflow", "tensorflow"),
    ("PaddlePaddle", "paddlepaddle"),
    ("paddlepaddle-gpu", "paddlepaddle"),
    ("paddlepaddle", "paddlepaddle"),
    ("numpy", "numpy"),
];

/// Bytes of a value, at most.
const MOST_VALUE: usize = 400;

/// Words of advice: a variable that one of the last words before it says to set is not set.
const ADVICE: [&str; 14] = [
    "try",
    "use",
    "using",
    "consider",
    "please",
    "can",
    "could",
    "should",
    "recommend",
    "suggest",
    "want",
    "need",
    "if",
    "or",
];

/// Words before a variable that are looked at.
const BEFORE: usize = 6;

/// What a line states of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named<'a> {
    /// A variable with its value; `None` where the line unsets it.
    Setting(&'static str, Option<&'a str>),
    /// A package, by its name in answers, with its release.
    Release(&'static str, &'a str),
}

/// A name as it is printed, and that of a package in answers.
type Name = (&'static str, Option<&'static str>);

/// All names by their first byte.
static NAMES: LazyLock<Vec<Vec<Name>>> = LazyLock::new(|| {
    let mut names = vec![Vec::new(); 256];
    let variables = VARIABLES.iter().map(|name| (*name, None));
    let packages = PACKAGES.iter().map(|(printed, name)| (*printed, Some(*name)));
    for (printed, name) in variables.chain(packages) {
        if let Some(first) = printed.bytes().next() {
            names[usize::from(first)].push((printed, name));
        }
    }
    names
});

/// The first variable that a line sets or lists, or package whose release it states. O(bytes).
pub(super) fn named(line: &str) -> Option<Named<'_>> {
    let bytes = line.as_bytes();
    let names = &*NAMES;
    let mut at = 0;
    while at < bytes.len() {
        let word = bytes[at..].iter().take_while(|byte| is_word_byte(**byte)).count();
        let candidates = if word < 3 {
            &[][..]
        } else {
            &names[usize::from(bytes[at])][..]
        };
        for (printed, package) in candidates {
            if bytes[at..].starts_with(printed.as_bytes()) && is_whole(line, at, printed.len()) {
                let (before, rest) = (&line[..at], &line[at + printed.len()..]);
                let found = match package {
                    None => setting(printed, before, rest),
                    Some(name) => release(rest).map(|release| Named::Release(name, release)),
                };
                if found.is_some() {
                    return found;
                }
            }
        }
        at += word.max(1);
    }
    None
}

const fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Whether a name is a word, and no part of a path.
fn is_whole(line: &str, at: usize, len: usize) -> bool {
    let is_path = |byte: &u8| matches!(byte, b'/' | b'.' | b'\\');
    let before = at.checked_sub(1).map(|at| line.as_bytes()[at]);
    let after = line.as_bytes().get(at + len);
    before.is_none_or(|byte| !is_path(&byte)) && after.is_none_or(|byte| !is_word_byte(*byte))
}

fn setting<'a>(name: &'static str, before: &str, rest: &'a str) -> Option<Named<'a>> {
    let before = before.trim_end_matches(['\'', '"', '[', '{']);
    if before.trim_end().ends_with("unset") {
        return Some(Named::Setting(name, None));
    }
    let is_comment = before.trim_start().starts_with("# ") && before.trim_end().ends_with("export");
    if is_comment || is_advice(before) {
        return None;
    }
    Some(Named::Setting(name, Some(value(rest)?)))
}

fn is_advice(before: &str) -> bool {
    let mut words = before.split_whitespace().rev().take(BEFORE);
    words.any(|word| ADVICE.contains(&word.trim_matches([',', '.', '`', '(']).to_ascii_lowercase().as_str()))
}

/// `=x`, `='x y'`, `': 'x'`, `"] = "x"`, `: x`; also nothing after `=`.
fn value(rest: &str) -> Option<&str> {
    let rest = rest.trim_start_matches(['\'', '"', ']']).trim_start_matches(' ');
    let rest = rest
        .strip_prefix('=')
        .or_else(|| rest.strip_prefix(": "))
        .or_else(|| rest.strip_prefix(", "))?;
    let rest = rest.trim_start_matches(' ');
    let value = match rest.chars().next() {
        Some(quote @ ('\'' | '"')) => rest[1..].split(quote).next()?,
        _ => rest
            .split(|char: char| char.is_whitespace() || ";)}`|&".contains(char))
            .next()?,
    };
    (value.len() <= MOST_VALUE).then(|| value.trim())
}

/// The release behind the name of a package.
fn release(rest: &str) -> Option<&str> {
    let rest = separated(rest)?;
    let end = rest.find(|char: char| !char.is_ascii_alphanumeric() && !matches!(char, '.' | '+' | '_' | '-'));
    let release = rest[..end.unwrap_or(rest.len())].trim_end_matches(['.', '-']);
    let after = rest[release.len()..].trim_start();
    let is_release = release.starts_with(|char: char| char.is_ascii_digit()) && release.contains('.');
    let is_size = ["GiB", "MiB", "GB", "MB", "KiB", "%"]
        .iter()
        .any(|unit| after.starts_with(unit));
    (is_release && !is_size).then_some(release)
}

/// Without what is between a package and its release: `==`, ` | `, ` version: `, blanks.
fn separated(rest: &str) -> Option<&str> {
    let plain = |text: &'_ str| -> usize {
        text.len()
            - text
                .trim_start_matches([' ', '\t', '=', ':', '|', '*', '`', '-', '@'])
                .len()
    };
    let mut at = plain(rest);
    for word in ["version", "Version"] {
        if rest[at..].starts_with(word) {
            at += word.len();
            at += plain(&rest[at..]);
        }
    }
    if rest[at..].starts_with('v') {
        at += 1;
    }
    (at > 0).then(|| &rest[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_told_from_advice() {
        let on = Some(Named::Setting(
            "PYTORCH_NPU_ALLOC_CONF",
            Some("expandable_segments:True"),
        ));
        for line in [
            "export PYTORCH_NPU_ALLOC_CONF=expandable_segments:True",
            "(Worker pid=4) INFO env: PYTORCH_NPU_ALLOC_CONF='expandable_segments:True'",
            "+ PYTORCH_NPU_ALLOC_CONF=\"expandable_segments:True\" python train.py",
            "docker run -e PYTORCH_NPU_ALLOC_CONF=expandable_segments:True image",
            "environ({'A': 'b', 'PYTORCH_NPU_ALLOC_CONF': 'expandable_segments:True'})",
            "os.environ[\"PYTORCH_NPU_ALLOC_CONF\"] = \"expandable_segments:True\"",
            "os.environ.setdefault('PYTORCH_NPU_ALLOC_CONF', 'expandable_segments:True')",
            "set PYTORCH_NPU_ALLOC_CONF=expandable_segments:True",
            "    PYTORCH_NPU_ALLOC_CONF: expandable_segments:True",
        ] {
            assert_eq!(named(line), on, "{line}");
        }
        for line in [
            "try setting PYTORCH_NPU_ALLOC_CONF=expandable_segments:True to avoid fragmentation",
            "Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 to disable upper limit",
            "see documentation for Memory Management and PYTORCH_CUDA_ALLOC_CONF",
            "take a try to set the environment variable TASK_QUEUE_ENABLE=1.",
            "# export PYTORCH_NPU_ALLOC_CONF=expandable_segments:True",
            "MY_PYTORCH_ALLOC_CONF=1",
        ] {
            assert_eq!(named(line), None, "{line}");
        }
        assert_eq!(
            named("unset PYTORCH_NPU_ALLOC_CONF"),
            Some(Named::Setting("PYTORCH_NPU_ALLOC_CONF", None))
        );
    }

    #[test]
    fn releases_are_read() {
        for (line, expected) in [
            ("torch==2.1.0+cu118", Some(Named::Release("torch", "2.1.0+cu118"))),
            ("[pip3] torch==2.9.1", Some(Named::Release("torch", "2.9.1"))),
            (
                "PyTorch version: 2.14.0+xpu",
                Some(Named::Release("torch", "2.14.0+xpu")),
            ),
            (
                "torch-npu                 2.5.1.post1",
                Some(Named::Release("torch_npu", "2.5.1.post1")),
            ),
            ("CANN | 8.5.2", Some(Named::Release("cann", "8.5.2"))),
            ("CANN version: 8.0.RC1", Some(Named::Release("cann", "8.0.RC1"))),
            ("vLLM Version: 0.8.5.post1", Some(Named::Release("vllm", "0.8.5.post1"))),
            (
                "- MindSpore version : 2.2.10",
                Some(Named::Release("mindspore", "2.2.10")),
            ),
            ("I use torch 2.9.1 here", Some(Named::Release("torch", "2.9.1"))),
            ("jaxlib 0.4.30", Some(Named::Release("jaxlib", "0.4.30"))),
            ("reserved by torch 2.00 GiB", None),
            ("/usr/lib/torch/2.1/x.py", None),
            ("9.08 GiB is allocated by PyTorch, and 9.35 GiB is", None),
        ] {
            assert_eq!(named(line), expected, "{line}");
        }
    }
}
