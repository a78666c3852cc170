//! What a line of a call stack is, by a table of patterns.
//!
//! In: the file and the function of a line. Out: its kind, by the first rule that matches; without one a line of Python
//! is the user's and any other line is native. A document may put rules before the built-in ones. Patterns are regular
//! expressions; separators of files are `/`. A group called `name` is what the line is called.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use regex::Regex;
use serde::{Deserialize, Serialize};

use super::line_patterns::{LineMatcher, LinePatterns, LineText};

/// What a line of a call stack is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FrameKind {
    /// Python of the user's program.
    User,
    /// Python of an installed package or of the standard library.
    Library,
    /// Python that a compiler generated.
    Generated,
    /// A node of the autograd graph, which a thread without Python runs.
    AutogradNode,
    /// An operator of the dispatcher.
    Operator,
    /// The allocator, the unwinder, the interpreter: never names a block.
    Internal,
    /// Any other line that is no Python.
    Native,
}

impl FrameKind {
    /// Whether such a line is Python.
    pub const fn is_python(self) -> bool {
        matches!(self, Self::User | Self::Library | Self::Generated)
    }
}

/// A row of the table. A pattern that is absent matches every line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameRule {
    pub kind: FrameKind,
    /// A regular expression, searched in the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<Cow<'static, str>>,
    /// A regular expression, searched in the function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<Cow<'static, str>>,
    /// Why, for readers of the table.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub reason: Cow<'static, str>,
}

/// A pattern that is no regular expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("frame rule {number}: {message}")]
pub struct FrameRuleError {
    /// From 1, among the rules of the document.
    pub number: usize,
    pub message: String,
}

const fn rule(
    kind: FrameKind,
    file: Option<&'static str>,
    function: Option<&'static str>,
    reason: &'static str,
) -> FrameRule {
    const fn pattern(text: Option<&'static str>) -> Option<Cow<'static, str>> {
        match text {
            Some(text) => Some(Cow::Borrowed(text)),
            None => None,
        }
    }
    FrameRule {
        kind,
        file: pattern(file),
        function: pattern(function),
        reason: Cow::Borrowed(reason),
    }
}

/// The built-in rules. The first that matches decides.
static BUILT_IN: [FrameRule; 20] = {
    use FrameKind::{AutogradNode, Generated, Internal, Library, Operator};
    [
        rule(
            Generated,
            Some(
                r"(^|/)torchinductor_[^/]+/|(inductor|torch_compile)_cache/|torch_compile_debug/|^<eval_with_key>|^<torch_package|^<attrs generated|^<decorator-gen",
            ),
            None,
            "code that torch.compile, torch.fx or a library wrote",
        ),
        rule(
            Library,
            Some(r"(^|/)(site|dist)-packages/"),
            None,
            "an installed package",
        ),
        rule(
            Library,
            Some(r"(^|/)torch(_npu)?/.*\.pyx?$"),
            None,
            "PyTorch from its sources",
        ),
        rule(
            Library,
            Some(r"^<frozen |^<__array_function__"),
            None,
            "modules of the interpreter",
        ),
        rule(
            Library,
            Some(r"(?i)(^|/)(lib(64)?/python\d(\.\d+t?)?|python\d+/lib|pythonsoftwarefoundation[^/]*/lib)/"),
            None,
            "Python's standard library",
        ),
        rule(
            Library,
            Some(r"(?i)(^|/)(ana|mini|micro|mamba)?(conda|forge|mamba)\d*/(envs/[^/]+/)?lib/"),
            None,
            "Python's standard library in a conda environment",
        ),
        rule(
            Library,
            Some(r"^(contextlib|functools|runpy|threading)\.py$"),
            None,
            "Python's standard library, without its folder",
        ),
        rule(
            Library,
            Some(r"^<string>$"),
            Some(r"^__\w+__$"),
            "methods that dataclasses and named tuples write",
        ),
        rule(
            Internal,
            None,
            Some(r"^(\?*|unknown|_?\?\?:0)$"),
            "a line that the unwinder could not name",
        ),
        rule(
            Internal,
            None,
            Some(
                r"torch::unwind::|torch::CapturedTraceback|(^|::)gather_with_cpp|^torch::jit::tracer::pythonCallstack|^pthread_|^(__)?clone3?$|^(start_thread|execute_native_thread_routine)$",
            ),
            "the unwinder, and the start of a thread",
        ),
        rule(
            Internal,
            None,
            Some(
                r"(?i)(caching|pluggable|host|device|expandable)\w*allocator|^c10(_npu)?::(\w+::)*(alloc|\w*Storage|TensorImpl|intrusive_ptr)|^(cuda|hip|aclrt)(Malloc|Mem)",
            ),
            "the allocator",
        ),
        rule(
            Internal,
            None,
            Some(
                r"^at::_ops::(new_)?_?empty(_\w+)?::|^at::_ops::resize_(as_)?::|^at::((detail|native|meta|cuda|\(anonymous namespace\))::)*(new_)?_?empty\w*|^at::detail::|^at_npu::native::(\w+::)*(empty\w*|OpPreparation|apply_tensor\w*)",
            ),
            "operators and functions that allocate a result for another",
        ),
        rule(
            Internal,
            None,
            Some(
                r"^at::native::(resize|set_|create_out|(clone|alloc)_\w*|structured_)|^at::meta::structured_|^at::\(anonymous namespace\)::(create_out|structured_|wrapper)",
            ),
            "bodies of operators that allocate their result",
        ),
        rule(
            Operator,
            None,
            Some(r"(?P<name>at(_npu)?::_ops::\w+)::(call|redispatch)\b"),
            "an operator of the dispatcher",
        ),
        rule(
            Operator,
            None,
            Some(r"^at_npu::native::(\w+::)*(?P<name>npu_\w+)|(^|::)(?P<name2>op_api::\w+)"),
            "an operator of torch_npu",
        ),
        rule(
            AutogradNode,
            None,
            Some(
                r"(torch|at_npu)::autograd::(generated::|functions::)?(?P<name>[A-Z]\w*)::apply\b|torch::autograd::CppNode<(.*::)?(?P<name2>\w+)>::apply\b",
            ),
            "a node of the autograd graph",
        ),
        rule(
            Internal,
            None,
            Some(
                r"^(c10::Dispatcher|c10::(Boxed|Kernel)\w*|c10::impl::|c10::(guts|detail)::|torch::(library|jit)::|std::|__gnu_cxx::|pybind11::)",
            ),
            "the dispatcher and the bindings",
        ),
        rule(
            Internal,
            None,
            Some(
                r"^torch::(autograd::(Engine|Node|VariableType|ADInplaceOrView|python|THP|\(anonymous)|utils::)|^(torch::autograd::)?THP\w+",
            ),
            "the engine of autograd and its Python bindings",
        ),
        rule(
            Internal,
            None,
            Some(
                r"^(_?Py[A-Z_]|_Py|cfunction_|method_vectorcall|object_vacall|slot_tp_|type_call|vectorcall|pymain_|run_mod|do_call)",
            ),
            "the interpreter",
        ),
        rule(
            Internal,
            None,
            Some(r"^(_start|main|clone3?|start_thread|__libc_start\w*|__clone3?|execute_native_thread_routine)(\b|$)"),
            "the start of a thread",
        ),
    ]
};

/// Rules of a document, then the built-in ones.
#[derive(Clone, Debug, Default)]
pub struct FrameRules {
    own: Arc<[FrameRule]>,
    patterns: Option<Arc<Patterns>>,
}

impl PartialEq for FrameRules {
    fn eq(&self, other: &Self) -> bool {
        self.own == other.own
    }
}

impl Eq for FrameRules {}

#[derive(Debug)]
struct Patterns {
    rules: Vec<Compiled>,
    lines: LinePatterns,
}

#[derive(Debug)]
struct Compiled {
    kind: FrameKind,
    /// Rules about functions alone are about native lines: `main` is a name in Python, too.
    is_for_python: bool,
    /// A document may call any file the user's.
    is_for_native: bool,
    /// Finds the group called `name`.
    name: Option<Regex>,
}

/// `None` only where a built-in pattern is no regular expression, which a test excludes.
static DEFAULT: LazyLock<Option<Arc<Patterns>>> = LazyLock::new(|| {
    let patterns = Patterns::new(&BUILT_IN.iter().collect::<Vec<_>>(), 0);
    patterns.ok().map(Arc::new)
});

impl Patterns {
    /// The first `n_own` rules are those of a document.
    fn new(rules: &[&FrameRule], n_own: usize) -> Result<Self, FrameRuleError> {
        let lines = LinePatterns::new(
            rules
                .iter()
                .map(|rule| (rule.file.as_deref(), rule.function.as_deref())),
        )?;
        let compiled = rules.iter().enumerate().map(|(number, rule)| {
            let name = rule.function.as_deref().and_then(|function| Regex::new(function).ok());
            Compiled {
                kind: rule.kind,
                is_for_python: rule.kind.is_python() || rule.file.is_some(),
                is_for_native: !rule.kind.is_python() || number < n_own && rule.file.is_some(),
                name: name.filter(|regex| regex.capture_names().flatten().any(is_name)),
            }
        });
        let rules = compiled.collect();
        Ok(Self { rules, lines })
    }
}

impl FrameRules {
    /// Rules of a document; the built-in ones follow.
    ///
    /// # Errors
    /// The first rule whose pattern is no regular expression.
    pub fn new(own: Vec<FrameRule>) -> Result<Self, FrameRuleError> {
        if own.is_empty() {
            return Ok(Self::default());
        }
        let patterns = Patterns::new(&own.iter().chain(&BUILT_IN).collect::<Vec<_>>(), own.len())?;
        Ok(Self {
            own: own.into(),
            patterns: Some(Arc::new(patterns)),
        })
    }

    /// The rules of the document.
    pub fn own(&self) -> &[FrameRule] {
        &self.own
    }

    /// The built-in rules, in their order.
    pub fn built_in() -> &'static [FrameRule] {
        &BUILT_IN
    }

    /// A reader of many lines: every file and every function is matched once.
    pub fn reader(&self) -> FrameReader<'_> {
        let patterns = self.patterns.as_deref().or(DEFAULT.as_deref());
        FrameReader(patterns.map(|patterns| (&*patterns.rules, LineMatcher::new(&patterns.lines))))
    }
}

/// Kinds of lines by rules.
#[derive(Debug)]
pub struct FrameReader<'a>(Option<(&'a [Compiled], LineMatcher<'a>)>);

impl FrameReader<'_> {
    /// The kind of a line, and what it is called where a rule says so.
    pub fn kind<'t>(&mut self, file: LineText<'t>, function: LineText<'t>) -> (FrameKind, Option<&'t str>) {
        let Some((rules, lines)) = &mut self.0 else {
            return (FrameKind::Native, None);
        };
        let (is_python, matching) = lines.matches(file, function);
        let is_for_line = |rule: &&Compiled| {
            if is_python {
                rule.is_for_python
            } else {
                rule.is_for_native
            }
        };
        match matching.map(|rule| &rules[rule]).find(is_for_line) {
            Some(rule) => {
                let regex = rule.name.as_ref();
                let captures = regex.and_then(|regex| regex.captures(without_result(function.text)));
                let name = captures.and_then(|captures| NAMES.into_iter().find_map(|group| captures.name(group)));
                (rule.kind, name.map(|name| name.as_str()))
            }
            None if is_python => (FrameKind::User, None),
            None => (FrameKind::Native, None),
        }
    }
}

/// The groups of a pattern that say what a line is called: alternatives need a second one.
const NAMES: [&str; 2] = ["name", "name2"];

fn is_name(group: &str) -> bool {
    NAMES.contains(&group)
}

/// A C++ function without the type of its result, which templates have in front: what follows the last blank before
/// the parameters, outside of angle brackets.
pub(super) fn without_result(function: &str) -> &str {
    const ANONYMOUS: &str = "(anonymous namespace)";
    let (mut depth, mut start, mut at) = (0_u32, 0, 0);
    while let Some(letter) = function[at..].chars().next() {
        if function[at..].starts_with(ANONYMOUS) {
            at += ANONYMOUS.len();
            continue;
        }
        match letter {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 => start = at + 1,
            '(' if depth == 0 => break,
            _ => {}
        }
        at += letter.len_utf8();
    }
    &function[start..]
}

/// Whether a file holds Python: a module, a cell of a notebook, or what the interpreter names in brackets.
pub fn is_python_file(file: &str) -> bool {
    let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension);
    ["py", "pyx", "pyi", "pyw"]
        .iter()
        .any(|known| extension.eq_ignore_ascii_case(known))
        || file.starts_with('<')
        || file.contains("/.ipykernel/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(rules: &FrameRules, file: &str, function: &str) -> (FrameKind, Option<String>) {
        let text = |position, text| LineText { position, text };
        let (kind, name) = rules.reader().kind(text(0, file), text(1, function));
        (kind, name.map(str::to_owned))
    }

    #[test]
    fn the_built_in_rules_compile() {
        assert!(DEFAULT.is_some());
    }

    /// Kind, file, function, and the name where the line has one.
    const LINES: &str = r"
        User | /home/me/model.py | forward
        User | C:\work\model.py | forward
        User | /tmp/ipykernel_12/3456.py | <module>
        User | <stdin> | <module>
        User | <ipython-input-3-ab> | train
        Library | /env/lib/python3.11/site-packages/torchvision/models/resnet.py | forward
        Library | /opt/pytorch/torch/nn/modules/module.py | _call_impl
        Library | torch/nn/modules/module.py | _call_impl
        User | /work/my_torch/model.py | forward
        Library | <frozen runpy> | _run_code
        Library | /usr/lib/python3.10/contextlib.py | inner
        Library | C:\Python311\Lib\contextlib.py | inner
        User | /home/me/lib/layers.py | forward
        Generated | /tmp/torchinductor_me/ab/cab.py | call
        Generated | <eval_with_key>.7 | forward
        Library | C:\Users\me\miniconda3\envs\t\Lib\contextlib.py | inner
        Library | /opt/mambaforge/lib/functools.py | wrapper
        Library | <string> | __init__
        Library | <__array_function__ internals> | concatenate
        Generated | /x/torch_compile_cache/a/rank_0/inductor_cache/cx/cxy.py | call
        User | /home/me/torchinductor-bench/model.py | forward
        User | /root/.ipykernel/2040/command-3297-1234 | <module>
        Internal | ?? | torch::unwind::unwind()
        Internal | ?? | ??
        Internal | ?? | c10::cuda::CUDACachingAllocator::Native::DeviceCachingAllocator::malloc(int)
        Internal | ?? | at::_ops::empty_memory_format::call(c10::ArrayRef<c10::SymInt>)
        Internal | ?? | at::_ops::new_empty_strided::redispatch(c10::DispatchKeySet)
        Operator | /pytorch/build/aten/src/ATen/Operators_0.cpp | at::_ops::div_Tensor::call(at::Tensor const&, at::Tensor const&) | at::_ops::div_Tensor
        AutogradNode | ?? | torch::autograd::generated::MeanBackward0::apply(std::vector<at::Tensor>&&) | MeanBackward0
        AutogradNode | ?? | torch::autograd::AccumulateGrad::apply(...) | AccumulateGrad
        Internal | ?? | torch::autograd::Engine::thread_main(...)
        Internal | ?? | at::TensorBase at::detail::_empty_generic<long>(c10::ArrayRef<long>, int)
        Internal | ?? | at::(anonymous namespace)::create_out(c10::ArrayRef<long>)
        Internal | ?? | at::(anonymous namespace)::structured_cat_out_cuda_functional::set_output_raw_strided(long)
        Internal | ?? | at::meta::structured_cat::meta(c10::IListRef<at::Tensor> const&)
        Internal | ?? | pybind11::cpp_function::dispatcher(_object*, _object*)
        Native | ?? | std::tuple<at::Tensor, at::Tensor> at::native::batch_norm(at::Tensor const&)
        AutogradNode | ?? | torch::autograd::CppNode<vision::ops::(anonymous namespace)::ROIAlignFunction>::apply(int) | ROIAlignFunction
        AutogradNode | ?? | at_npu::autograd::generated::NpuLinearBackward0::apply(std::vector<at::Tensor>&&) | NpuLinearBackward0
        Operator | ?? | at_npu::native::custom_ops::npu_linear(at::Tensor const&) | npu_linear
        Operator | ?? | op_api::matmul(at::Tensor const&) | op_api::matmul
        Internal | ?? | at_npu::native::NPUNativeFunctions::empty(int)
        Internal | ?? | _PyEval_EvalFrameDefault
        Internal | ?? | clone
        Native | ?? | ncclCommInitRank
    ";

    #[test]
    fn lines_have_the_kind_of_the_first_rule_that_matches() {
        let rules = FrameRules::default();
        for line in LINES.trim().lines() {
            let parts: Vec<&str> = line.trim().split(" | ").collect();
            let (found, name) = kind(&rules, parts[1], parts[2]);
            assert_eq!(
                (format!("{found:?}").as_str(), name.as_deref()),
                (parts[0], parts.get(3).copied()),
                "{line}"
            );
        }
    }

    #[test]
    fn rules_of_a_document_come_first() {
        let own: Vec<FrameRule> = serde_json::from_str(
            r#"[{"kind": "library", "file": "(^|/)megatron/"}, {"kind": "user", "file": "site-packages/mine/"},
                {"kind": "internal", "file": "hooks.py$"}, {"kind": "user", "file": "kernels/.*[.]cu$"}]"#,
        )
        .expect("rules");
        let rules = FrameRules::new(own).expect("patterns");
        for (file, wanted) in [
            ("/work/megatron/core.py", FrameKind::Library),
            ("/env/site-packages/mine/model.py", FrameKind::User),
            ("/env/site-packages/other/model.py", FrameKind::Library),
            ("/work/hooks.py", FrameKind::Internal),
            ("/work/kernels/attend.cu", FrameKind::User),
            ("/work/other/attend.cu", FrameKind::Native),
        ] {
            assert_eq!(kind(&rules, file, "forward").0, wanted, "{file}");
        }
    }

    #[test]
    fn a_pattern_that_is_no_regular_expression_is_named() {
        let own = vec![
            rule(FrameKind::User, Some("a"), None, ""),
            rule(FrameKind::User, Some("("), None, ""),
        ];
        let error = FrameRules::new(own).expect_err("a parenthesis that is not closed");
        assert_eq!(error.number, 2);
    }
}
