//! Frameworks that run graphs by GE without the adapter: torchair, MindSpore and MindSpore Lite. Which of them a script uses, and how.
//!
//! Sources: torchair of `torch_npu` 2.14 (`configs/`, `fx2ge_converter.py`) and `torch_npu/dynamo`.

use std::collections::BTreeMap;

use ruff_python_ast::{Expr, ExprAttribute, ExprCall};
use ruff_text_size::Ranged as _;

use highwater_options::{ChosenFramework, Condition, Framework, Value, find, keys};

use super::arms::{Basis, Path, open_condition};
use super::changes::path_of;
use super::datum::Fact;
use super::mindspore_calls::MindSpore;
use super::reader::Reader;
use super::records::{Records, Setting};

/// A place of the script where a framework is used.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) line: usize,
    path: Path,
    /// What only the running script knows.
    condition: Option<String>,
}

/// A mode of a `CompilerConfig`.
#[derive(Clone, Debug)]
enum Mode {
    Ge,
    /// Graphs are captured and run without GE.
    Captured(String),
    /// Under which condition GE runs the graphs.
    Unknown(String),
}

impl Mode {
    /// After this mode another one is set under a condition.
    fn or(self, other: &Self, condition: &str) -> Self {
        match (&self, other) {
            (Self::Ge, Self::Captured(_)) => Self::Unknown(format!("not {condition}")),
            (Self::Captured(_), Self::Ge) => Self::Unknown(condition.to_owned()),
            (_, Self::Unknown(text)) => Self::Unknown(text.clone()),
            _ => self,
        }
    }
}

/// The modes that a script sets, in its order, with the conditions around them.
type Modes = Vec<(Mode, Path)>;

/// The mode at a place with these conditions.
fn mode_at(modes: &Modes, path: &Path) -> Mode {
    let mut mode = Mode::Ge;
    for (set, around) in modes {
        if around.iter().any(|arm| path.iter().any(|here| here.excludes(arm))) {
            continue;
        }
        let open = around
            .iter()
            .rfind(|arm| arm.basis == Basis::Unknown && !path.contains(arm));
        mode = match open {
            Some(arm) => mode.or(set, &arm.text),
            None => set.clone(),
        };
    }
    mode
}

/// What a script says about frameworks.
#[derive(Debug, Default)]
pub(super) struct Frameworks {
    torchair: Option<Place>,
    /// Calls that make a backend of GE.
    ge: Option<Place>,
    /// A backend or mode without GE.
    captured: Option<(usize, String)>,
    /// By the name that a `CompilerConfig` is bound to.
    modes: BTreeMap<String, Modes>,
    /// Whether anything may compile by torchair: an import alone compiles nothing.
    may_compile: bool,
    /// Backends of a configuration that a parameter has, or that a function returns.
    open_backends: Vec<Place>,
    has_torch_npu: bool,
    pub(super) mindspore: MindSpore,
    imports_lite: bool,
    lite: Option<Place>,
}

/// Modes of `CompilerConfig` that use GE.
const GE_MODE: &str = "max-autotune";

/// The class of torchair's configurations.
const COMPILER_CONFIG_CLASS: &str = "CompilerConfig";

/// Functions of torchair that compile by GE.
const TORCHAIR_CALLS: [&str; 3] = ["get_npu_backend", "cache_compile", "dynamo_export"];

/// A field of `CompilerConfig`, the option that it is, and GE's texts for values that differ.
type ConfigField = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const COMPILER_CONFIG: &[ConfigField] = &[
    (
        "experimental_config.memory_efficiency",
        keys::ENGINE_FEATURE_BASE_REFRESHABLE,
        &[("True", "1"), ("False", "0")],
    ),
    (
        "experimental_config.topology_sorting_strategy",
        "topo_sorting_mode",
        &[("BFS", "0"), ("DFS", "1"), ("RDFS", "2"), ("StableRDFS", "3")],
    ),
    ("fusion_config.fusion_switch_file", keys::FUSION_SWITCH_FILE, &[]),
    ("ge_config.aicore_num", keys::AICORE_NUM, &[]),
    ("ge_config.export_compile_stat", keys::EXPORT_COMPILE_STAT, &[]),
    ("ge_config.oo_level", "oo_level", &[]),
    ("ge_config.oo_constant_folding", "oo_constant_folding", &[]),
    ("ge_config.optimization_switch", "optimization_switch", &[]),
];

impl Frameworks {
    fn add_backend(&mut self, mode: Mode, place: Place) {
        match mode {
            Mode::Captured(what) => self.captured = Some((place.line, what)),
            Mode::Ge => self.ge = Some(place),
            Mode::Unknown(text) => {
                let condition = Some(text);
                self.ge = Some(Place { condition, ..place });
            }
        }
    }

    /// Backends of configurations that are not known by their names have the script's one, where there is one.
    fn add_open_backends(&mut self) {
        for place in std::mem::take(&mut self.open_backends) {
            let mut modes = self.modes.values();
            let only = modes.next().filter(|_| modes.next().is_none());
            let mode = only.map_or(Mode::Ge, |modes| mode_at(modes, &place.path));
            self.add_backend(mode, place);
        }
    }

    /// Whether a name is bound to a `CompilerConfig`.
    pub(super) fn has_config(&self, name: &str) -> bool {
        self.modes.contains_key(name)
    }

    /// Whether a mode without GE is set, and none with it.
    fn is_captured(&self) -> bool {
        let mut modes = self.modes.values().map(|modes| mode_at(modes, &Path::new()));
        modes.len() > 0 && modes.all(|mode| matches!(mode, Mode::Captured(_)))
    }

    /// The framework whose defaults act; remarks on what the script leaves open go to the records.
    fn chosen(&self, remarks: &mut Vec<(usize, String)>) -> Option<(Framework, Place)> {
        if let Some(place) = &self.ge {
            return Some((Framework::Torchair, place.clone()));
        }
        match (&self.captured, &self.torchair) {
            (Some((line, what)), _) => {
                remarks.push((
                    *line,
                    format!("{what} runs captured graphs without GE: no policy of GE is in force"),
                ));
            }
            (None, Some(place)) if self.may_compile && !self.is_captured() => {
                return Some((Framework::Torchair, place.clone()));
            }
            (None, _) => {}
        }
        let of_lite = || Some((Framework::MindSporeLite, self.lite.clone()?));
        self.mindspore
            .chosen(remarks)
            .map(|place| (Framework::MindSpore, place))
            .or_else(of_lite)
    }
}

impl<'a> Reader<'a> {
    pub(super) fn place(&self, at: &impl ruff_text_size::Ranged) -> Place {
        Place {
            line: self.source.line(at.start()),
            path: self.path.clone(),
            condition: None,
        }
    }

    /// `import torchair`, `from mindspore import context`.
    pub(super) fn found_import(&mut self, module: &str, at: &impl ruff_text_size::Ranged) {
        let place = self.place(at);
        let frameworks = &mut self.records.frameworks;
        let root = module.split('.').next().unwrap_or(module);
        match root {
            "torchair" => frameworks.torchair = frameworks.torchair.take().or(Some(place)),
            "torch_npu" => {
                frameworks.has_torch_npu = true;
                if module.contains("torchair") {
                    frameworks.torchair = frameworks.torchair.take().or(Some(place));
                }
            }
            "mindspore" => frameworks.mindspore.is_imported = true,
            "mindspore_lite" => frameworks.imports_lite = true,
            _ => {}
        }
    }

    /// Whether the graphs run under no policy that is known here.
    pub(super) fn runs_elsewhere(&self) -> bool {
        let frameworks = &self.records.frameworks;
        frameworks.mindspore.is_imported || frameworks.captured.is_some()
    }

    pub(super) fn found_framework_call(&mut self, call: &'a ExprCall) {
        let Some(name) = self.survey.last_name(&call.func) else {
            return;
        };
        let frameworks = &self.records.frameworks;
        let has_torchair = frameworks.torchair.is_some();
        match name {
            _ if TORCHAIR_CALLS.contains(&name) && has_torchair => self.found_backend(call),
            "compile" if has_torchair || frameworks.has_torch_npu => self.found_torch_compile(call),
            _ if frameworks.mindspore.is_imported => self.found_mindspore_call(name, call),
            _ => {}
        }
    }

    /// `get_npu_backend(compiler_config=config)`.
    fn found_backend(&mut self, call: &'a ExprCall) {
        let config = ["compiler_config", "config"]
            .into_iter()
            .find_map(|name| call.arguments.find_keyword(name));
        let config = config.map(|keyword| &keyword.value);
        let modes = &self.records.frameworks.modes;
        let is_new = |config: &Expr| {
            config
                .as_call_expr()
                .is_some_and(|call| self.survey.last_name(&call.func) == Some(COMPILER_CONFIG_CLASS))
        };
        let known = config.and_then(path_of).and_then(|path| modes.get(&path));
        let mode = match config {
            Some(config) if !is_new(config) => known.map(|modes| mode_at(modes, &self.path)),
            _ => Some(Mode::Ge),
        };
        let place = self.place(call);
        match mode {
            Some(mode) => self.records.frameworks.add_backend(mode, place),
            None => self.records.frameworks.open_backends.push(place),
        }
    }

    /// `config = CompilerConfig()`: a new one has GE's mode.
    pub(super) fn found_compiler_config(&mut self, targets: &'a [Expr], value: &'a Expr) {
        let Expr::Call(call) = value else { return };
        let frameworks = &mut self.records.frameworks;
        if frameworks.torchair.is_some() && self.survey.last_name(&call.func) == Some(COMPILER_CONFIG_CLASS) {
            frameworks.may_compile = true;
            for name in targets.iter().filter_map(path_of) {
                frameworks.modes.insert(name, Modes::new());
            }
        }
    }

    fn found_captured(&mut self, call: &'a ExprCall, what: String) {
        let line = self.source.line(call.start());
        self.records.frameworks.captured = Some((line, what));
    }

    /// `torch.compile(model, backend="npu")`.
    fn found_torch_compile(&mut self, call: &'a ExprCall) {
        let backend = call.arguments.find_keyword("backend");
        let backend = backend.map(|backend| self.evaluate(&backend.value));
        match backend.as_ref().and_then(Fact::as_value).and_then(Value::as_text) {
            Some("npu" | "torchair") => self.records.frameworks.ge = Some(self.place(call)),
            Some(text @ "npugraph_ex") => self.found_captured(call, format!("the backend {text}")),
            None if backend.is_some() => self.records.frameworks.may_compile = true,
            _ => {}
        }
    }

    /// `config.mode = "reduce-overhead"` and `config.experimental_config.memory_efficiency = True` of torchair; `provider = "ge"` of
    /// MindSpore Lite.
    pub(super) fn assign_framework(&mut self, target: &'a ExprAttribute, value: &'a Expr, fact: &Fact) {
        let frameworks = &self.records.frameworks;
        let text = fact.as_value().and_then(Value::as_text);
        if frameworks.imports_lite && target.attr.as_str() == "provider" && text == Some("ge") {
            self.records.frameworks.lite = Some(self.place(target));
            return;
        }
        let Some(path) = path_of(&target.value).filter(|_| frameworks.torchair.is_some()) else {
            return;
        };
        if target.attr.as_str() == "mode" {
            return self.set_mode(path, value, fact);
        }
        if let Some(owner) = path.strip_suffix(".mode").filter(|_| target.attr.as_str() == "value") {
            return self.set_mode(owner.to_owned(), value, fact);
        }
        let whole = format!("{path}.{}", target.attr);
        let field = COMPILER_CONFIG
            .iter()
            .find(|(field, ..)| whole.strip_suffix(field).is_some_and(|owner| owner.ends_with('.')));
        let Some((field, key, texts)) = field else { return };
        let owner = whole.strip_suffix(field).unwrap_or_default().trim_end_matches('.');
        let mode = frameworks.modes.get(owner).map(|modes| mode_at(modes, &self.path));
        if matches!(mode, Some(Mode::Captured(_))) {
            return;
        }
        let converted = fact.as_value().and_then(|value| {
            let shown = value.to_string();
            let text = texts.iter().find(|(from, _)| *from == shown)?.1;
            Some(find(key)?.kind.read(text))
        });
        let fact = match converted {
            Some(value) => Fact::value(value).with_note(fact.note.as_ref()),
            None => fact.clone(),
        };
        self.take_value(key, &fact, value.range(), target.range.into());
    }

    pub(super) fn set_mode(&mut self, path: String, value: &'a Expr, fact: &Fact) {
        let mode = match fact.as_value().and_then(Value::as_text) {
            Some(GE_MODE) => Mode::Ge,
            Some(text @ ("reduce-overhead" | "npugraph_ex")) => {
                Mode::Captured(format!("the mode {text} of CompilerConfig"))
            }
            Some(_) => return,
            None => {
                let shown = self.source.shown(value.range());
                Mode::Unknown(format!("mode of CompilerConfig is {GE_MODE}: {shown}"))
            }
        };
        if let Some(note) = fact.note.as_ref().filter(|_| !matches!(mode, Mode::Unknown(_))) {
            let line = self.source.line(value.start());
            self.records.info(line, format!("mode {note}"));
        }
        let around = self.path.clone();
        let modes = self.records.frameworks.modes.entry(path).or_default();
        modes.push((mode, around));
    }
}

impl Records {
    /// The framework of the script; settings that it overwrites are removed.
    pub(super) fn framework(&mut self) -> Option<ChosenFramework> {
        if let Some(framework) = self.session.framework {
            return Some(ChosenFramework {
                framework,
                condition: None,
            });
        }
        let mut remarks = Vec::new();
        self.frameworks.add_open_backends();
        let chosen = self.frameworks.chosen(&mut remarks);
        for (line, message) in remarks {
            self.has_neighbours = true;
            self.info(line, message);
        }
        let (framework, place) = chosen?;
        let row = framework.row();
        if row.overwrites {
            let (kept, lost) = std::mem::take(&mut self.settings)
                .into_iter()
                .partition(|setting| row.default(&setting.key).is_none());
            self.settings = kept;
            for setting in Vec::<Setting>::into_iter(lost) {
                let text = row.default(&setting.key).unwrap_or_default();
                let message = format!(
                    "{} is {} here, and {} writes {text} over it for every graph",
                    setting.key,
                    setting.value.quoted(),
                    row.title
                );
                self.warn(setting.line, message);
            }
        }
        let condition = place
            .condition
            .map(|text| Condition { line: place.line, text })
            .or_else(|| {
                open_condition(&place.path).map(|arm| Condition {
                    line: arm.line,
                    text: arm.text.to_string(),
                })
            });
        Some(ChosenFramework { framework, condition })
    }
}
