//! The types of options: which values they allow, and how texts become values.
//!
//! A kind reads texts without ever failing, and says what is wrong with a value in words that finish the
//! sentence "the option ...". Python's rule holds that `True` is an integer.

use serde_json::Value as Json;

use highwater_model::units::Bytes;

use super::shape_range::ShapeRanges;
use super::value::{Float, Value};

/// One allowed value and what it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice<T> {
    /// The value.
    pub value: T,
    /// What it means, in a few words.
    pub summary: &'static str,
}

/// What a path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathKind {
    /// A file that has to exist.
    File,
    /// A directory.
    Directory,
}

/// The type of an option and the values it allows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OptionKind {
    /// `True` or `False`.
    Bool,
    /// An integer, both bounds included.
    Int {
        /// The smallest value allowed.
        min: i64,
        /// The largest value allowed.
        max: i64,
    },
    /// A size in bytes, both bounds included; texts may carry a unit.
    Bytes {
        /// The smallest value allowed.
        min: i64,
        /// The largest value allowed.
        max: i64,
    },
    /// A number, perhaps with a fraction; both bounds included.
    Float {
        /// The smallest value allowed.
        min: f64,
        /// The largest value allowed.
        max: f64,
    },
    /// One of several integers.
    IntChoice(&'static [Choice<i64>]),
    /// One of several texts, compared exactly.
    TextChoice(&'static [Choice<&'static str>]),
    /// Any text.
    Text,
    /// Names with commas between them, in one text. Where choices are given, each name is one of them.
    Names(&'static [Choice<&'static str>]),
    /// The path of a file or directory.
    Path(PathKind),
    /// Anything: the original does not look at it.
    Any,
    /// Shape ranges of inputs, in the syntax of `dynamic_inputs_shape_range`.
    ShapeRange,
    /// A list (or set) of names.
    List,
    /// An object of a class. Its fields are options of their own where the reference documents them;
    /// what else it may be is kept as the expression that the script has.
    Object {
        /// The class.
        class: &'static str,
    },
}

impl OptionKind {
    /// The type's name: `bool`, `int`, `bytes`, `float`, `str`, `path`, `list` or the class.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Int { .. } | Self::IntChoice(_) => "int",
            Self::Bytes { .. } => "bytes",
            Self::Float { .. } => "float",
            Self::TextChoice(_) | Self::Text | Self::Names(_) | Self::ShapeRange => "str",
            Self::Path(_) => "path",
            Self::List => "list",
            Self::Any => "any",
            Self::Object { class } => class,
        }
    }

    /// Smallest and largest integer allowed, where there are such bounds.
    pub const fn range(&self) -> Option<(i64, i64)> {
        match self {
            Self::Int { min, max } | Self::Bytes { min, max } => Some((*min, *max)),
            _ => None,
        }
    }

    /// The allowed values with their meanings, where they are a list.
    pub fn choices(&self) -> Vec<(Value, &'static str)> {
        match self {
            Self::IntChoice(choices) => choices.iter().map(|c| (Value::Int(c.value), c.summary)).collect(),
            Self::TextChoice(choices) | Self::Names(choices) => {
                choices.iter().map(|c| (Value::from(c.value), c.summary)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Reads a text as this kind. A text that does not fit is kept as it is.
    pub fn read(&self, text: &str) -> Value {
        let trimmed = text.trim();
        let kept = || Value::from(text);
        match self {
            Self::Bool => match trimmed {
                "True" | "true" => Value::Bool(true),
                "False" | "false" => Value::Bool(false),
                _ => trimmed.parse().map_or_else(|_| kept(), Value::Int),
            },
            Self::Int { .. } | Self::IntChoice(_) => whole_number(trimmed).unwrap_or_else(kept),
            Self::Bytes { .. } => match size(trimmed) {
                Some(bytes) => Value::Int(bytes),
                None => whole_number(trimmed).unwrap_or_else(kept),
            },
            Self::Float { .. } => number(trimmed).unwrap_or_else(kept),
            Self::List => list(trimmed).unwrap_or_else(kept),
            Self::Any => match trimmed {
                "True" => Value::Bool(true),
                "False" => Value::Bool(false),
                _ => number(trimmed).unwrap_or_else(kept),
            },
            Self::Object { .. } if trimmed.ends_with(')') && trimmed.contains('(') => Value::Python(trimmed.to_owned()),
            Self::TextChoice(_) | Self::Text | Self::Names(_) | Self::Path(_) | Self::ShapeRange => {
                unquoted(trimmed).map_or_else(kept, Value::from)
            }
            Self::Object { .. } => kept(),
        }
    }

    /// Brings a value into the form this kind keeps: sizes written as texts with a unit become bytes.
    /// Any other value stays what it is.
    pub fn normalised(&self, value: Value) -> Value {
        match (self, value) {
            (Self::Bytes { .. }, Value::Text(text)) => size(text.trim()).map_or(Value::Text(text), Value::Int),
            (_, value) => value,
        }
    }

    /// What is wrong with a value, as the end of a sentence; `None` where nothing is. An expression that the
    /// script computes is never wrong by itself: nobody knows its value.
    pub(super) fn problem(&self, value: &Value) -> Option<String> {
        let is = value.quoted();
        if matches!(value, Value::Python(_)) && !matches!(self, Self::Object { .. }) {
            return None;
        }
        match self {
            Self::Bool => (value.as_bool().is_none()).then(|| format!("is {is}, not a bool: write True or False")),
            Self::Int { min, max } => integer(value, &is, *min, *max, ""),
            Self::Bytes { min, max } => match value.as_int() {
                Some(_) => integer(value, &is, *min, *max, " bytes"),
                None => Some(format!(
                    "is {is}, not a size: write bytes (1048576) or a unit (512MiB, 32GiB)"
                )),
            },
            Self::Float { min, max } => match value.as_float() {
                Some(number) if number >= *min && number <= *max => None,
                _ if *max == f64::INFINITY => Some(format!("is {is}: use a number of {min} or more")),
                _ => Some(format!("is {is}: use a number from {min} to {max}")),
            },
            Self::IntChoice(choices) => match value.as_int() {
                Some(number) if choices.iter().any(|c| c.value == number) => None,
                Some(_) => Some(format!("is {is}: use {}", self.listed())),
                None => Some(format!("is {is}, not an integer: use {}", self.listed())),
            },
            Self::TextChoice(choices) => {
                let is_known = value
                    .as_text()
                    .is_some_and(|text| choices.iter().any(|c| c.value == text));
                (!is_known).then(|| format!("is {is}: use {}", self.texts_listed()))
            }
            Self::Names(choices) => match value.as_text() {
                None => Some(format!(
                    "is {is}, not a text: write names with commas between them, in quotes"
                )),
                Some(text) => unknown_name(text, choices)
                    .map(|name| format!("names \"{name}\": use {} with commas between them", self.listed())),
            },
            Self::Any => None,
            Self::Text | Self::Path(_) => {
                (value.as_text().is_none()).then(|| format!("is {is}, not a text: put it in quotes"))
            }
            Self::ShapeRange => match value.as_text() {
                None => Some(format!("is {is}, not a text: put it in quotes")),
                Some(text) => ShapeRanges::parse(text).err().map(|error| format!("is {is}: {error}")),
            },
            Self::List => {
                let is_list = matches!(value, Value::List(items) if items.iter().all(|item| item.as_text().is_some()));
                (!is_list).then(|| format!("is {is}: use a list or set of names, such as [\"a\", \"b\"]"))
            }
            Self::Object { class } => {
                let is_object = matches!(value, Value::Python(text) if !is_call(text) || calls(text, class));
                (!is_object).then(|| format!("is {is}: use an object of the class {class}"))
            }
        }
    }

    /// The allowed values as an English list: `0, 1 or 2`.
    pub fn listed(&self) -> String {
        let names: Vec<String> = self.choices().iter().map(|(value, _)| value.to_string()).collect();
        joined(&names)
    }

    /// The allowed texts, quoted where they look like numbers.
    fn texts_listed(&self) -> String {
        let quote = |value: &Value| match value.as_text() {
            Some(text) if text.parse::<f64>().is_ok() => value.quoted(),
            _ => value.to_string(),
        };
        let names: Vec<String> = self.choices().iter().map(|(value, _)| quote(value)).collect();
        joined(&names)
    }
}

fn joined(names: &[String]) -> String {
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}

fn integer(value: &Value, is: &str, min: i64, max: i64, unit: &str) -> Option<String> {
    match value.as_int() {
        Some(number) if number >= min && number <= max => None,
        Some(_) => Some(format!("is {is}: use {}", between(min, max, unit))),
        None => Some(format!("is {is}, not an integer: use {}", between(min, max, unit))),
    }
}

fn between(min: i64, max: i64, unit: &str) -> String {
    match (min, max) {
        (i64::MIN, i64::MAX) => format!("any number{unit}"),
        (_, i64::MAX) => format!("{min}{unit} or more"),
        _ => format!("{min} to {max}{unit}"),
    }
}

/// What stands between a pair of quotes that was copied from a script; `None` without such a pair.
fn unquoted(text: &str) -> Option<&str> {
    ['"', '\''].into_iter().find_map(|quote| {
        let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
        (!inner.contains(quote)).then_some(inner)
    })
}

/// An integer as Python has it, `True` and `False` included; a number with a fraction stays what it is, so that it
/// can be refused. Digits beyond 64 bits are none.
fn whole_number(text: &str) -> Option<Value> {
    match text {
        "True" => Some(Value::Bool(true)),
        "False" => Some(Value::Bool(false)),
        _ => number(text).filter(|number| matches!(number, Value::Int(_)) || text.contains(['.', 'e', 'E'])),
    }
}

/// A size in bytes: an integer (perhaps negative, which the range refuses), or digits with a unit. There are no
/// fractions of a byte.
fn size(text: &str) -> Option<i64> {
    let digits = text.trim_end_matches(['b', 'B']).trim_end();
    if digits.parse::<i64>().is_err() && digits.parse::<f64>().is_ok() {
        return None;
    }
    text.parse().ok().or_else(|| {
        let bytes = Bytes::parse(text).ok()?;
        i64::try_from(bytes.get()).ok()
    })
}

/// An integer or a number with a fraction.
fn number(text: &str) -> Option<Value> {
    if let Ok(integer) = text.parse() {
        return Some(Value::Int(integer));
    }
    text.parse().ok().and_then(Float::new).map(Value::Float)
}

/// Names in brackets as Python writes them: a list, a set (which is kept as a list), or a tuple where there is a
/// comma in round brackets; without one, the brackets mean nothing.
fn list(text: &str) -> Option<Value> {
    let (inner, is_tuple) = match text.strip_prefix('(') {
        Some(rest) => (rest.strip_suffix(')')?.trim(), true),
        None => (
            text.strip_prefix('[')
                .and_then(|rest| rest.strip_suffix(']'))
                // Empty braces are a dictionary.
                .or_else(|| {
                    text.strip_prefix('{')?
                        .strip_suffix('}')
                        .filter(|rest| !rest.trim().is_empty())
                })?
                .trim(),
            false,
        ),
    };
    let without_comma = inner.strip_suffix(',').unwrap_or(inner);
    let items: Vec<Json> = serde_json::from_str(&format!("[{without_comma}]"))
        .or_else(|_| serde_json::from_str(&format!("[{}]", without_comma.replace('\'', "\""))))
        .ok()?;
    let items: Vec<Value> = items.iter().map(item).collect::<Option<_>>()?;
    match (is_tuple, items.as_slice()) {
        (true, [only]) if without_comma == inner => Some(only.clone()),
        (true, _) => Some(Value::Tuple(items)),
        (false, _) => Some(Value::List(items)),
    }
}

/// A text, number or truth value of a list.
fn item(json: &Json) -> Option<Value> {
    match json {
        Json::String(text) => Some(Value::from(text.as_str())),
        Json::Bool(is_on) => Some(Value::Bool(*is_on)),
        Json::Number(written) => number(&written.to_string()),
        Json::Null | Json::Array(_) | Json::Object(_) => None,
    }
}

/// The first name that is none of the choices; with no choices every name is right.
fn unknown_name<'a>(text: &'a str, choices: &[Choice<&'static str>]) -> Option<&'a str> {
    if choices.is_empty() {
        return None;
    }
    text.split(',')
        .map(str::trim)
        .find(|name| !choices.iter().any(|choice| choice.value == *name))
}

/// Whether an expression is a call.
fn is_call(text: &str) -> bool {
    text.ends_with(')') && text.contains('(')
}

/// Whether an expression calls a class of that name, wherever it stands: `npu_config.DumpConfig(...)`.
fn calls(text: &str, class: &str) -> bool {
    let callee = text.split_once('(').map_or(text, |(callee, _)| callee).trim();
    callee.rsplit('.').next() == Some(class)
}
