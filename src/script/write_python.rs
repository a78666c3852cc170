//! A configuration as Python scripts, in the style of the vendors' references: one for the adapter of TensorFlow, and one each for MegEngine
//! and Paddle where their options are set.
//!
//! An option is an argument of a constructor, an entry of `custom_op.parameter_map`, or an entry of the engine's dictionary. All other
//! options are comments `# highwater: key = value`, and the session comments `# highwater schedule: {...}`; they are read back.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use highwater_options::{GROUPS, Group, OptionKind, OptionRow, Section, TABLE, Value, find, keys};
use highwater_torch::is_allocator_variable;

use super::config_document::ConfigDocument;
use super::json_value::json_of;
use super::python::{
    Dialect, EAGER_KEYS, MARK, RUN_CONFIG, RUN_CONFIG_ARGUMENTS, ScriptText, Stored, from_python, read_field, stored,
};
use super::python_part::{PythonPart, is_eager};
use super::write_engine::{EngineEntry, engine_script};
use super::write_names::modules_of;
use super::write_remarks::{open_remarks, session_remarks};

/// The first line of written scripts.
pub const HEADER: &str = "# A configuration, written by highwater.";

const OS: &str = "import os";
const FLUID: &str = "import paddle.fluid as fluid";
const TENSORFLOW: &str = "import tensorflow as tf";
const MEGENGINE: &str = "import megengine as mge";
const DTR: &str = "from megengine.jit import DTRConfig";
const ADAPTER: &str = "from npu_bridge.npu_init import *";

const IMPORTS: &[&str] = &[OS, FLUID, TENSORFLOW, MEGENGINE, DTR, ADAPTER];

/// The line above expressions that became comments.
const UNDEFINED: &str =
    "# Expressions in these comments have names that are not defined here; their options are at their defaults.\n";

/// Which releases of Paddle have the call that is written.
const PADDLE_RELEASES: &str = "# Paddle 1.0 to 1.5; later 1.x and 2.x only warn, and 3.x has no paddle.fluid.\n";

/// Longer calls have a line per argument.
const MAX_LINE: usize = 88;

/// A part of a configuration as a script of Python 3; `None` where nothing of the part is set. Expressions of the user's script are copied
/// where that gives the same document and their names are defined; the others become comments.
pub fn to_python(document: &ConfigDocument, part: PythonPart) -> Option<String> {
    let document = part.of(document)?;
    let hidden = hidden_expressions(&document, part);
    Some(Writer::new(&document, hidden, part).script())
}

/// A sentence about each expression of the user's script that no written script evaluates.
pub(super) fn undefined_notes(document: &ConfigDocument) -> Vec<String> {
    let of_part = |part: PythonPart| {
        let document = part.of(document)?;
        let hidden = hidden_expressions(&document, part);
        Some(hidden.into_iter().map(|key| undefined_note(&document, key)).collect())
    };
    let parts = PythonPart::ALL.into_iter().filter_map(of_part);
    parts.flat_map(|notes: Vec<String>| notes).collect()
}

fn undefined_note(document: &ConfigDocument, key: &str) -> String {
    let text = document.options.get(key).map_or_else(String::new, Value::to_string);
    format!("{key} is unknown before the script runs ({text})").replace(char::is_control, " ")
}

/// The keys of expressions that cannot be written as they are.
fn hidden_expressions(document: &ConfigDocument, part: PythonPart) -> BTreeSet<&str> {
    let expressions = document
        .options
        .overrides()
        .filter(|(_, value)| matches!(value, Value::Python(_)));
    let mut hidden: BTreeSet<&str> = expressions.map(|(key, _)| key).collect();
    // An expression may be invalid Python, or have another meaning here than in its script.
    let all = hidden.clone();
    hidden.retain(|key| {
        let mut alone = ConfigDocument::default();
        let value = document.options.get(key).cloned().unwrap_or(Value::Unset);
        alone.options.set(key, value).is_err()
            || !is_read_back(&alone, &BTreeSet::new(), part)
            || modules_of_option(document, key).is_none()
    });
    if hidden == all || is_read_back(document, &hidden, part) {
        hidden
    } else {
        all
    }
}

/// The modules that the expression of an option needs; `None` where it needs undefined names.
fn modules_of_option(document: &ConfigDocument, key: &str) -> Option<BTreeSet<&'static str>> {
    match document.options.get(key)? {
        Value::Python(text) => modules_of(text),
        _ => None,
    }
}

/// Whether the script gives the same options, with the hidden ones in comments.
fn is_read_back(document: &ConfigDocument, hidden: &BTreeSet<&str>, part: PythonPart) -> bool {
    let text = Writer::new(document, hidden.clone(), part).script();
    let written = ScriptText {
        text: &text,
        ..ScriptText::default()
    };
    let read = from_python(&written, Dialect::Script, None);
    let options = &read.document.options;
    read.error.is_none() && options.overrides().eq(document.options.overrides())
}

/// A Python literal; `None` for an expression.
fn literal(value: &Value) -> Option<String> {
    Some(match value {
        Value::Text(text) => quoted(text),
        Value::List(items) => format!("[{}]", literals(items)?),
        Value::Set(items) => format!("{{{}}}", literals(items)?),
        Value::Tuple(items) if items.len() == 1 => format!("({},)", literals(items)?),
        Value::Tuple(items) => format!("({})", literals(items)?),
        Value::Python(_) => return None,
        plain => plain.to_string(),
    })
}

fn literals(items: &[Value]) -> Option<String> {
    let literals: Option<Vec<String>> = items.iter().map(literal).collect();
    Some(literals?.join(", "))
}

/// A text in double quotes, in one line.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            control if u32::from(control) < 0x20 || control == '\u{7f}' => {
                quoted.push_str(&format!("\\x{:02x}", u32::from(control)));
            }
            // Invisible, or a line's end to some editors.
            '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}' => {
                quoted.push_str(&format!("\\u{:04x}", u32::from(letter)));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

struct Call {
    name: String,
    /// The first argument, without a name.
    positional: Option<&'static str>,
    arguments: Vec<(String, String)>,
}

impl Call {
    fn text(&self, target: Option<&str>) -> String {
        let start = target.map_or_else(
            || format!("{}(", self.name),
            |target| format!("{target} = {}(", self.name),
        );
        let named = self.arguments.iter().map(|(name, value)| format!("{name}={value}"));
        let arguments: Vec<String> = self.positional.map(str::to_owned).into_iter().chain(named).collect();
        let line = format!("{start}{})\n", arguments.join(", "));
        if line.chars().count() <= MAX_LINE {
            return line;
        }
        format!("{start}\n    {},\n)\n", arguments.join(",\n    "))
    }
}

struct Writer<'a> {
    document: &'a ConfigDocument,
    /// Keys of expressions that become comments.
    hidden: BTreeSet<&'a str>,
    placed: BTreeSet<&'static str>,
    part: PythonPart,
}

impl<'a> Writer<'a> {
    const fn new(document: &'a ConfigDocument, hidden: BTreeSet<&'a str>, part: PythonPart) -> Self {
        Self {
            document,
            hidden,
            placed: BTreeSet::new(),
            part,
        }
    }

    fn script(mut self) -> String {
        let mut parts = Vec::new();
        let variables = self.variables();
        let mut objects = Vec::new();
        let mut arguments = Vec::new();
        let mut imports = BTreeSet::new();
        for group in GROUPS.iter().filter(|group| group.is_argument) {
            if let Some(call) = self.call(group) {
                objects.push(call.text(Some(variable_of(group))));
                arguments.push((group.key, variable_of(group)));
            }
        }
        let run = self.run_config(&arguments);
        let engine = self.engine();
        let parameters = self.parameters();
        if !objects.is_empty() || run.is_some() {
            imports.insert(ADAPTER);
        }
        if parameters.is_some() {
            imports.insert(TENSORFLOW);
        }
        if let Some(settings) = self.eager_settings() {
            imports.insert(MEGENGINE);
            objects.push(settings);
        }
        for group in GROUPS.iter().filter(|group| !group.is_argument) {
            let Some(mut call) = self.call(group) else {
                continue;
            };
            if group.class == "memory_optimize" {
                imports.insert(FLUID);
                "fluid.memory_optimize".clone_into(&mut call.name);
                call.positional = Some("fluid.default_main_program()");
                objects.push(format!("{PADDLE_RELEASES}{}", call.text(None)));
            } else {
                imports.insert(DTR);
                objects.push(call.text(Some(variable_of(group))));
            }
        }
        if variables.is_some() {
            imports.insert(OS);
        }
        for module in self
            .placed
            .iter()
            .filter_map(|key| modules_of_option(self.document, key))
            .flatten()
        {
            imports.insert(if module == "os" { OS } else { TENSORFLOW });
        }
        parts.push(format!("{HEADER}\n{}", self.part.usage(&self.document.options)));
        let imports: Vec<&str> = IMPORTS
            .iter()
            .copied()
            .filter(|import| imports.contains(import))
            .collect();
        parts.extend((!imports.is_empty()).then(|| format!("{}\n", imports.join("\n"))));
        parts.extend(variables);
        parts.extend((!objects.is_empty()).then(|| objects.concat()));
        let open = open_remarks(self.document);
        let session = session_remarks(self.document);
        parts.extend(
            [run, engine, parameters, open, self.comments(), session]
                .into_iter()
                .flatten(),
        );
        parts.join("\n")
    }

    /// The value of an option as Python; `None` for a hidden expression.
    fn code(&self, key: &str) -> Option<String> {
        match self.document.options.get(key)? {
            Value::Python(text) => (!self.hidden.contains(key)).then(|| text.clone()),
            other => literal(other),
        }
    }

    /// The same, and marks the option as written.
    fn place(&mut self, row: &'static OptionRow) -> Option<String> {
        let code = self.code(row.key)?;
        self.placed.insert(row.key);
        Some(code)
    }

    fn variables(&self) -> Option<String> {
        let line = |(name, value)| format!("os.environ[{}] = {}\n", quoted(name), quoted(value));
        let environment = &self.document.environment;
        let lines: String = environment.iter().map(line).collect();
        let is_torchs = environment.iter().any(|(name, _)| is_allocator_variable(name));
        let order = if is_torchs { "# Before torch is imported:\n" } else { "" };
        (!lines.is_empty()).then(|| format!("{order}{lines}"))
    }

    /// The settings of MegEngine's eager interpreter, where the options are its; they imply its heuristic.
    fn eager_settings(&mut self) -> Option<String> {
        if !is_eager(&self.document.options) {
            return None;
        }
        let mut lines = String::new();
        for row in EAGER_KEYS.iter().filter_map(|key| find(key)) {
            if let Some(code) = self.place(row) {
                lines.push_str(&format!("mge.dtr.{} = {code}\n", row.short_key()));
            }
        }
        self.placed.insert(keys::REMAT_HEURISTIC);
        (!lines.is_empty()).then(|| format!("{lines}mge.dtr.enable()\n"))
    }

    /// The constructor call of a group with its overrides, in the order of the constructor.
    fn call(&mut self, group: &'static Group) -> Option<Call> {
        let mut arguments = Vec::new();
        for field in group.positional {
            let row = TABLE
                .iter()
                .find(|row| row.group() == Some(group.key) && row.short_key() == *field);
            let row = row.filter(|row| !self.placed.contains(row.key));
            if let Some(code) = row.and_then(|row| self.place(row)) {
                arguments.push(((*field).to_owned(), code));
            }
        }
        (!arguments.is_empty()).then(|| Call {
            name: group.class.to_owned(),
            positional: None,
            arguments,
        })
    }

    fn run_config(&mut self, objects: &[(&str, &str)]) -> Option<String> {
        let mut arguments = Vec::new();
        for name in RUN_CONFIG_ARGUMENTS {
            if let Some((_, variable)) = objects.iter().find(|(key, _)| key == name) {
                arguments.push(((*name).to_owned(), (*variable).to_owned()));
            } else if let Some(code) = TABLE
                .iter()
                .find(|row| row.key == *name)
                .and_then(|row| self.place(row))
            {
                arguments.push(((*name).to_owned(), code));
            }
        }
        let call = Call {
            name: RUN_CONFIG.class.to_owned(),
            positional: None,
            arguments,
        };
        (!call.arguments.is_empty()).then(|| call.text(Some("config")))
    }

    fn engine(&mut self) -> Option<String> {
        let mut entries = Vec::new();
        for row in TABLE.iter().filter(|row| row.section == Section::Engine) {
            let Some(value) = self.document.options.get(row.key) else {
                continue;
            };
            // The API takes texts alone.
            let code = match value {
                Value::Python(_) => self.code(row.key),
                Value::Text(text) => Some(quoted(text)),
                Value::Int(number) if is_whole(row) => Some(quoted(&number.to_string())),
                _ => None,
            };
            if let Some(code) = code {
                self.placed.insert(row.key);
                entries.push(EngineEntry { key: row.key, code });
            }
        }
        let unknown = self.document.unknown_options.iter();
        entries.extend(unknown.filter_map(|(key, json)| {
            let code = engine_text(key, json).map(quoted)?;
            Some(EngineEntry { key, code })
        }));
        engine_script(&entries)
    }

    /// Options that are only parameters of the session.
    fn parameters(&mut self) -> Option<String> {
        let mut lines = String::new();
        for row in TABLE.iter().filter(|row| is_parameter(row)) {
            let Some(value) = self.document.options.get(row.key) else {
                continue;
            };
            let (field, code) = match value {
                Value::Bool(_) => ("b", literal(value)),
                Value::Int(_) => ("i", literal(value)),
                Value::Float(_) => ("f", literal(value)),
                Value::Text(text) => ("s", Some(format!("tf.compat.as_bytes({})", quoted(text)))),
                _ => continue,
            };
            // A value that the field does not keep stays a comment.
            if stored(field, value, read_field(row.key, Some(&row.kind))) != Stored::Value(value.clone()) {
                continue;
            }
            if let Some(code) = code {
                self.placed.insert(row.key);
                let name = quoted(row.parameter_name());
                lines.push_str(&format!("custom_op.parameter_map[{name}].{field} = {code}\n"));
            }
        }
        (!lines.is_empty()).then(|| {
            format!(
                "# Options that NPURunConfig does not take; pass session_config to it or to the session.\n\
                 session_config = tf.ConfigProto()\n\
                 custom_op = session_config.graph_options.rewrite_options.custom_optimizers.add()\n\
                 custom_op.name = \"NpuOptimizer\"\n{lines}"
            )
        })
    }

    /// All other overrides, and unknown options.
    fn comments(&self) -> Option<String> {
        let known = self
            .document
            .options
            .overrides()
            .filter(|(key, _)| !self.placed.contains(key))
            .map(|(key, value)| (key, json_of(value)));
        let unknown = self
            .document
            .unknown_options
            .iter()
            .filter(|(key, json)| engine_text(key, json).is_none())
            .map(|(key, json)| (key.as_str(), json.clone()));
        let mut lines = String::new();
        if !self.hidden.is_empty() {
            lines.push_str(UNDEFINED);
        }
        for (key, json) in known.chain(unknown) {
            lines.push_str(&format!("{MARK}{} = {json}\n", bare_or_quoted(key)));
        }
        (!lines.is_empty()).then_some(lines)
    }
}

/// The text of a session option of GE that is not in the table.
fn engine_text<'a>(key: &str, json: &'a Json) -> Option<&'a str> {
    let is_name = key.chars().all(|c| c.is_ascii_alphanumeric() || "_.".contains(c));
    json.as_str().filter(|_| key.starts_with("ge.") && is_name)
}

/// Whether the values of an option are whole numbers.
const fn is_whole(row: &OptionRow) -> bool {
    matches!(row.kind, OptionKind::Int { .. } | OptionKind::IntChoice(_))
}

/// Whether an option of the adapter has no constructor.
fn is_parameter(row: &OptionRow) -> bool {
    let is_of_adapter = !matches!(
        row.section,
        Section::Engine | Section::Dtr | Section::MemoryOptimize | Section::Simulation
    );
    is_of_adapter && row.group().is_none() && !RUN_CONFIG_ARGUMENTS.contains(&row.key)
}

/// The variable of a group's object.
const fn variable_of(group: &Group) -> &'static str {
    match group.class.as_bytes() {
        b"MemoryConfig" => "mem_config",
        b"DTRConfig" => "dtr_config",
        _ => group.key,
    }
}

/// A key in a comment.
fn bare_or_quoted(key: &str) -> String {
    let is_bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c));
    if is_bare {
        key.to_owned()
    } else {
        Json::from(key).to_string()
    }
}
