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

/// Words of advice: a variable in Python that one of the last words before it says to set is not set.
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

/// A line that ends so goes on with advice.
const ADVISING: [&str; 7] = ["setting", "set", "try", "use", "using", "with", "tried"];

/// What sets a variable behind it in a shell, a notebook or a Dockerfile.
const SETTERS: [&str; 9] = [
    "export", "set", "setx", "ENV", "%env", "declare", "typeset", "-x", "unset",
];

/// Options of commands that set a variable for another one.
const OPTIONS: [&str; 4] = ["-e", "--env", "-x", "-E"];

/// What opens the name of a variable in Python.
const IN_PYTHON: [&str; 6] = [
    "environ[",
    "environ.setdefault(",
    "putenv(",
    "setenv(",
    "env[",
    "setdefault(",
];

/// Commands that a variable may be set for.
const COMMANDS: [&str; 28] = [
    "python",
    "python3",
    "torchrun",
    "accelerate",
    "deepspeed",
    "bash",
    "sh",
    "mpirun",
    "mpiexec",
    "srun",
    "msrun",
    "nohup",
    "vllm",
    "sglang",
    "uv",
    "poetry",
    "conda",
    "exec",
    "time",
    "jupyter",
    "docker",
    "llamafactory-cli",
    "swift",
    "ray",
    "comfy",
    "pytest",
    "numactl",
    "make",
];

/// Commands and words that a setter may follow.
const LEADERS: [&str; 8] = ["RUN", "then", "do", "else", "sudo", "nohup", "time", "CMD"];

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

/// What lines state, one after another.
#[derive(Debug, Default)]
pub(super) struct Stated {
    /// What the next line may give the value of.
    pending: Option<Name>,
    /// Whether the line before ends in words of advice.
    is_advised: bool,
}

impl Stated {
    /// The variables that a line sets or lists, and the packages whose releases it states. O(bytes).
    pub(super) fn take<'a>(&mut self, line: &'a str) -> Vec<Named<'a>> {
        let own = line.trim().trim_start_matches(['>', '|', ' ']);
        let mut found = named(line, self.is_advised);
        if let Some((name, package)) = self.pending.take()
            && found.is_empty()
        {
            found.extend(match package {
                Some(package) => release_alone(own).map(|release| Named::Release(package, release)),
                None => own
                    .strip_prefix("value")
                    .and_then(assigned)
                    .map(|(value, _)| Named::Setting(name, Some(value))),
            });
        }
        self.pending = announced(own);
        let last = own.rsplit(' ').next().unwrap_or("").trim_matches(['`', '\'', '"']);
        self.is_advised = ADVISING.iter().any(|word| last.eq_ignore_ascii_case(word));
        found
    }
}

/// A name whose value the next line gives: `Name: torch`, `- name: VARIABLE`, `torch.__version__`.
fn announced(line: &str) -> Option<Name> {
    let name = line
        .trim_start_matches("- ")
        .strip_prefix("name: ")
        .or_else(|| line.strip_prefix("Name: "))
        .or_else(|| {
            let name = line.trim_end_matches(')').strip_suffix(".__version__")?;
            name.rsplit([' ', '(']).next()
        })?;
    let name = name.trim().trim_matches('"');
    let first = *name.as_bytes().first()?;
    NAMES[usize::from(first)].iter().find(|one| one.0 == name).copied()
}

/// A release that is all of a line, perhaps quoted or named.
fn release_alone(line: &str) -> Option<&str> {
    let text = line.strip_prefix("Version:").unwrap_or(line).trim();
    let text = text.trim_matches(['\'', '"']);
    release(text).filter(|release| release.len() == text.len())
}

/// All that a line states.
fn named(line: &str, is_advised: bool) -> Vec<Named<'_>> {
    let bytes = line.as_bytes();
    let names = &*NAMES;
    let mut all: Vec<Named<'_>> = allocator_call(line).into_iter().collect();
    let mut at = 0;
    while at < bytes.len() {
        let word = bytes[at..].iter().take_while(|byte| is_word_byte(**byte)).count();
        let candidates = if word < 3 {
            &[][..]
        } else {
            &names[usize::from(bytes[at])][..]
        };
        for (printed, package) in candidates {
            if !bytes[at..].starts_with(printed.as_bytes()) || !is_whole(line, at, printed.len(), package.is_some()) {
                continue;
            }
            let (before, rest) = (&line[..at], &line[at + printed.len()..]);
            let found = match package {
                None => setting(printed, before, rest, is_advised),
                Some(name) => release(rest).map(|release| Named::Release(name, release)),
            };
            if let Some(found) = found {
                all.push(found);
                break;
            }
        }
        at += word.max(1);
    }
    all
}

/// The call of torch that sets its allocator: `torch.cuda.memory._set_allocator_settings("...")`.
fn allocator_call(line: &str) -> Option<Named<'_>> {
    let (before, rest) = line.split_once("_set_allocator_settings(")?;
    let module = before.trim_start().trim_start_matches([' ', '>']);
    let name = match module.split('.').nth(1)? {
        _ if !module.starts_with("torch") => return None,
        "npu" => "PYTORCH_NPU_ALLOC_CONF",
        "cuda" => "PYTORCH_CUDA_ALLOC_CONF",
        _ => "PYTORCH_ALLOC_CONF",
    };
    let quote = rest.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
    let value = rest[1..].split(quote).next()?;
    (value.len() <= MOST_VALUE).then_some(Named::Setting(name, Some(value)))
}

const fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Whether a name is a word, and no part of a path; the release of a package may follow at once.
fn is_whole(line: &str, at: usize, len: usize, is_package: bool) -> bool {
    let is_path = |byte: &u8| matches!(byte, b'/' | b'.' | b'\\');
    let before = at.checked_sub(1).map(|at| line.as_bytes()[at]);
    let after = line.as_bytes().get(at + len);
    let goes_on = |byte: &u8| is_word_byte(*byte) && !(is_package && byte.is_ascii_digit());
    before.is_none_or(|byte| !is_path(&byte)) && after.is_none_or(|byte| !goes_on(byte))
}

/// A variable that is set in a shell, a Dockerfile, Python, YAML or JSON; never one within a sentence.
fn setting<'a>(name: &'static str, before: &str, rest: &'a str, is_advised: bool) -> Option<Named<'a>> {
    if before.trim_start().starts_with("# ") {
        return None;
    }
    let open = before.trim_end_matches(['\'', '"']);
    if open.len() < before.len() {
        return quoted(open, rest).map(|value| Named::Setting(name, Some(value)));
    }
    let before = without_assignments(before).trim_end();
    let (head, word) = before.rsplit_once(' ').unwrap_or(("", before));
    let (value, after) = match assigned(rest) {
        Some(found) => found,
        None if word == "unset" && begins(head) => return Some(Named::Setting(name, None)),
        None if matches!(word, "ENV" | "setx" | "%env") && begins(head) => {
            let value = rest.strip_prefix(' ')?.split(' ').next()?;
            return Some(Named::Setting(name, Some(value.trim())));
        }
        None => return None,
    };
    let is_yaml = !rest.starts_with('=');
    let is_listed = ["env:", "environ:", "environment:"]
        .iter()
        .any(|end| word.ends_with(end));
    let is_option = word.ends_with("--env=") || word.contains("--export=");
    let is_set = if is_yaml {
        is_listed || matches!(before, "" | "-") && !is_advised && ends_line(after)
    } else {
        let is_setter = SETTERS.contains(&word) && begins(head);
        let is_dict = before.contains("dict(") && before.ends_with([',', '(']);
        let is_own = (begins(before) || word == "env") && !is_advised && (ends_line(after) || begins_command(after));
        is_listed || is_option || is_setter || is_dict || is_own || OPTIONS.contains(&word) || before.ends_with("$env:")
    };
    is_set.then_some(Named::Setting(name, Some(value)))
}

/// The value of a variable whose name is quoted, in Python, JSON or a list.
fn quoted<'a>(open: &str, rest: &'a str) -> Option<&'a str> {
    let after = rest.trim_start_matches(['\'', '"']);
    let is_python = IN_PYTHON.iter().any(|call| open.ends_with(call)) && !is_advice(open);
    let is_pair = after.len() < rest.len() && after.trim_start().starts_with(':');
    let is_item =
        rest.starts_with('=') && (open.trim_end().is_empty() || open.trim_end().ends_with(['-', '[', ',', '=']));
    (is_python || is_pair || is_item)
        .then(|| assigned(rest))
        .flatten()
        .map(|(value, _)| value)
}

/// Without variables that are set in front of another one.
fn without_assignments(mut before: &str) -> &str {
    loop {
        let trimmed = before.trim_end();
        let word = trimmed.rsplit(' ').next().unwrap_or("");
        let is_assignment = word
            .split_once('=')
            .is_some_and(|(name, _)| !name.is_empty() && !name.starts_with('-') && name.bytes().all(is_word_byte));
        if !is_assignment {
            return before;
        }
        before = &trimmed[..trimmed.len() - word.len()];
    }
}

/// Whether a command begins behind a text: behind a prompt, the prefix of a line, another command.
fn begins(head: &str) -> bool {
    const ENDS: [char; 14] = [
        ';', '&', '|', '(', '{', '$', '+', ']', ')', '>', '\u{2502}', '\'', '"', '-',
    ];
    let head = head.trim_end();
    // `[rank0]:` is the prefix of a launcher.
    let head = head
        .strip_suffix(':')
        .filter(|head| head.ends_with([']', '>']))
        .unwrap_or(head);
    head.is_empty() || head.ends_with(ENDS) || LEADERS.iter().any(|word| head.ends_with(word))
}

fn ends_line(after: &str) -> bool {
    let after = after.trim_start_matches(['"', '\'', ' ']).trim_end();
    after.is_empty() || after.starts_with(['\\', ';', '#', '&', '|'])
}

fn begins_command(after: &str) -> bool {
    let word = after.split_whitespace().next().unwrap_or("");
    let is_assignment = word
        .split_once('=')
        .is_some_and(|(name, _)| name.bytes().all(is_word_byte));
    is_assignment || word.contains('/') || COMMANDS.contains(&word)
}

fn is_advice(before: &str) -> bool {
    let mut words = before.split_whitespace().rev().take(BEFORE);
    words.any(|word| ADVICE.contains(&word.trim_matches([',', '.', '`', '(']).to_ascii_lowercase().as_str()))
}

/// `=x`, `='x y'`, `': 'x'`, `"] = "x"`, `: x`; also nothing after `=`: the value, and what is behind it.
fn assigned(rest: &str) -> Option<(&str, &str)> {
    let named = rest.trim_start_matches(['\'', '"', ']']).trim_start_matches(' ');
    let text = named
        .strip_prefix('=')
        .or_else(|| named.strip_prefix(": "))
        .or_else(|| named.strip_prefix(','))
        .or_else(|| named.strip_prefix(':').filter(|_| named.len() < rest.len()))?;
    let text = text.trim_start_matches(' ');
    let (value, after) = if let Some(quote @ ('\'' | '"')) = text.chars().next() {
        text[1..].split_once(quote).unwrap_or((&text[1..], ""))
    } else {
        let end = text.find(|char: char| char.is_whitespace() || ";)}`|&".contains(char));
        text.split_at(end.unwrap_or(text.len()))
    };
    (value.len() <= MOST_VALUE).then(|| (value.trim(), after))
}

/// The release behind the name of a package.
fn release(rest: &str) -> Option<&str> {
    let rest = separated(rest);
    let end = rest.find(|char: char| !char.is_ascii_alphanumeric() && !matches!(char, '.' | '+' | '_' | '-'));
    let release = rest[..end.unwrap_or(rest.len())].trim_end_matches(['.', '-']);
    let after = rest[release.len()..].trim_start();
    let is_release = release.starts_with(|char: char| char.is_ascii_digit()) && release.contains('.');
    let is_size = ["GiB", "MiB", "GB", "MB", "KiB", "%"]
        .iter()
        .any(|unit| after.starts_with(unit));
    (is_release && !is_size).then_some(release)
}

/// Without what is between a package and its release: `==`, ` | `, ` version: `, ` version (GPU?): `, blanks.
fn separated(rest: &str) -> &str {
    let plain = |text: &'_ str| -> usize {
        text.len()
            - text
                .trim_start_matches([' ', '\t', '=', ':', '|', '*', '`', '-', '@', '\'', '"'])
                .len()
    };
    let mut at = plain(rest);
    for word in [".__version__", "version", "Version", "(GPU?)"] {
        if rest[at..].starts_with(word) {
            at += word.len();
            at += plain(&rest[at..]);
        }
    }
    if at > 0 && rest[at..].starts_with('v') {
        at += 1;
    }
    &rest[at..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_told_from_advice() {
        let on = [Named::Setting(
            "PYTORCH_NPU_ALLOC_CONF",
            Some("expandable_segments:True"),
        )];
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
            "PYTORCH_NPU_ALLOC_CONF=expandable_segments:True",
            "- PYTORCH_NPU_ALLOC_CONF=expandable_segments:True",
            "[rank0]: PYTORCH_NPU_ALLOC_CONF=expandable_segments:True torchrun --nproc 8 x.py",
            "A=1 PYTORCH_NPU_ALLOC_CONF=expandable_segments:True ./run.sh",
            "cd x && export A=1 PYTORCH_NPU_ALLOC_CONF=expandable_segments:True",
            "ENV PYTORCH_NPU_ALLOC_CONF expandable_segments:True",
            "ENV PYTORCH_NPU_ALLOC_CONF=expandable_segments:True",
            "%env PYTORCH_NPU_ALLOC_CONF=expandable_segments:True",
            "$env:PYTORCH_NPU_ALLOC_CONF=\"expandable_segments:True\"",
            "{\"PYTORCH_NPU_ALLOC_CONF\": \"expandable_segments:True\"}",
            "os.environ.setdefault('PYTORCH_NPU_ALLOC_CONF','expandable_segments:True')",
            "torch.npu.memory._set_allocator_settings('expandable_segments:True')",
        ] {
            assert_eq!(named(line, false), on, "{line}");
        }
        for line in [
            "try setting PYTORCH_NPU_ALLOC_CONF=expandable_segments:True to avoid fragmentation",
            "Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 to disable upper limit",
            "see documentation for Memory Management and PYTORCH_CUDA_ALLOC_CONF",
            "take a try to set the environment variable TASK_QUEUE_ENABLE=1.",
            "# export PYTORCH_NPU_ALLOC_CONF=expandable_segments:True",
            "MY_PYTORCH_ALLOC_CONF=1",
            "PYTORCH_NPU_ALLOC_CONF=expandable_segments:True to avoid fragmentation.",
            "large try setting PYTORCH_NPU_ALLOC_CONF=expandable_segments:True",
            "I have not tried PYTORCH_NPU_ALLOC_CONF=expandable_segments:True yet.",
            "I tried `export PYTORCH_NPU_ALLOC_CONF=expandable_segments:True`, without success",
            "complete. `PYTORCH_NPU_ALLOC_CONF=max_split_size_mb:256`",
            "Answer: PYTORCH_NPU_ALLOC_CONF=expandable_segments:True helped me",
        ] {
            assert_eq!(named(line, false), [], "{line}");
        }
        assert_eq!(
            named("unset PYTORCH_NPU_ALLOC_CONF", false),
            [Named::Setting("PYTORCH_NPU_ALLOC_CONF", None)]
        );
        assert_eq!(
            stated(&[
                "is large try setting",
                "PYTORCH_NPU_ALLOC_CONF=expandable_segments:True",
                "to avoid"
            ]),
            [""; 0]
        );
        assert_eq!(
            stated(&["- name: PYTORCH_NPU_ALLOC_CONF", "value: \"a:1\""]),
            ["PYTORCH_NPU_ALLOC_CONF a:1"]
        );
        assert_eq!(
            stated(&["PYTORCH_NPU_ALLOC_CONF=a:1 TASK_QUEUE_ENABLE=1 python x.py"]),
            ["PYTORCH_NPU_ALLOC_CONF a:1", "TASK_QUEUE_ENABLE 1"]
        );
    }

    /// What lines state, one after another.
    fn stated(lines: &[&str]) -> Vec<String> {
        let mut all = Stated::default();
        let each = lines.iter().flat_map(|line| all.take(line));
        each.map(|one| match one {
            Named::Setting(name, value) => format!("{name} {}", value.unwrap_or("")),
            Named::Release(name, release) => format!("{name} {release}"),
        })
        .collect()
    }

    #[test]
    fn releases_are_read_over_two_lines() {
        for lines in [
            ["Name: torch", "Version: 1.8.1"],
            [">>> torch.__version__", "'1.8.1'"],
            [">>> print(torch.__version__)", "1.8.1"],
            ["torch.__version__: 1.8.1", ""],
        ] {
            assert_eq!(stated(&lines), ["torch 1.8.1"], "{lines:?}");
        }
        assert_eq!(stated(&["Name: torch", "x", "Version: 1.8.1"]), [""; 0]);
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
            (
                "- PyTorch version (GPU?): 1.9.1+cu111 (True)",
                Some(Named::Release("torch", "1.9.1+cu111")),
            ),
            (
                "\u{6211}\u{7684}pytorch1.9.1\u{7248}\u{672c}",
                Some(Named::Release("torch", "1.9.1")),
            ),
            ("reserved by torch 2.00 GiB", None),
            ("/usr/lib/torch/2.1/x.py", None),
            ("9.08 GiB is allocated by PyTorch, and 9.35 GiB is", None),
        ] {
            assert_eq!(named(line, false).first().copied(), expected, "{line}");
        }
    }
}
