//! The types of options: their allowed values, and how texts become values.
//!
//! Reading a text never fails; errors of values are phrases that complete the sentence "the option ...". As in Python,
//! `True` is an integer.

use serde_json::Value as Json;

use highwater_model::units::Bytes;

use super::groups::GROUPS;
use super::shape_range::ShapeRanges;
use super::value::{Float, Value};

/// An allowed value and its meaning in a few words.
pub type Choice<T> = (T, &'static str);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathKind {
    /// A file that has to exist.
    File,
    Directory,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OptionKind {
    Bool,
    /// Inclusive bounds.
    Int {
        min: i64,
        max: i64,
    },
    /// A size in bytes with inclusive bounds; texts may carry a unit.
    Bytes {
        min: i64,
        max: i64,
    },
    /// A number with inclusive bounds.
    Float {
        min: f64,
        max: f64,
    },
    IntChoice(&'static [Choice<i64>]),
    /// Compared exactly.
    TextChoice(&'static [Choice<&'static str>]),
    Text,
    /// Names in one text, separated by commas. Where choices are given, each name is one of them.
    Names(&'static [Choice<&'static str>]),
    Path(PathKind),
    /// Anything: the original does not check it.
    Any,
    /// Shape ranges of inputs, in the syntax of `dynamic_inputs_shape_range`.
    ShapeRange,
    /// A list (or set) of names.
    List,
    /// An object of a class. Documented fields are options; anything else is kept as the expression of the script.
    Object {
        class: &'static str,
    },
}

impl OptionKind {
    pub(super) const ANY_INT: Self = Self::Int {
        min: i64::MIN,
        max: i64::MAX,
    };
    pub(super) const NOT_NEGATIVE: Self = Self::Float {
        min: 0.0,
        max: f64::INFINITY,
    };

    /// `bool`, `int`, `bytes`, `float`, `str`, `path`, `list` or the class.
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

    /// Smallest and largest allowed integer.
    pub const fn range(&self) -> Option<(i64, i64)> {
        match self {
            Self::Int { min, max } | Self::Bytes { min, max } => Some((*min, *max)),
            _ => None,
        }
    }

    /// The allowed values with their meanings, where they are listed.
    pub fn choices(&self) -> Vec<(Value, &'static str)> {
        match self {
            Self::IntChoice(choices) => choices
                .iter()
                .map(|(value, meaning)| (Value::Int(*value), *meaning))
                .collect(),
            Self::TextChoice(choices) | Self::Names(choices) => choices
                .iter()
                .map(|(value, meaning)| (Value::from(*value), *meaning))
                .collect(),
            _ => Vec::new(),
        }
    }

    /// Reads a text. A text that does not fit is kept.
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

    /// Normalizes a value: sizes written as texts with a unit become bytes; other values are unchanged.
    pub fn normalised(&self, value: Value) -> Value {
        match (self, value) {
            (Self::Bytes { .. }, Value::Text(text)) => size(text.trim()).map_or(Value::Text(text), Value::Int),
            (_, value) => value,
        }
    }

    /// The error of a value, as the end of a sentence. An expression that the script computes has none: its value is
    /// unknown.
    pub(super) fn problem(&self, value: &Value) -> Option<String> {
        let is = value.quoted();
        if matches!(value, Value::Python(_)) && !matches!(self, Self::Object { .. }) {
            return None;
        }
        match self {
            Self::Bool => (value.as_bool().is_none()).then(|| format!("is {is}, not a bool: expected True or False")),
            Self::Int { min, max } => integer(value, &is, *min, *max, ""),
            Self::Bytes { min, max } => match value.as_int() {
                Some(_) => integer(value, &is, *min, *max, " bytes"),
                None => Some(format!(
                    "is {is}, not a size: expected bytes (1048576) or a unit (512MiB, 32GiB)"
                )),
            },
            Self::Float { min, max } => match value.as_float() {
                Some(number) if number >= *min && number <= *max => None,
                _ if *max == f64::INFINITY => Some(format!("is {is}: use a number of {min} or more")),
                _ => Some(format!("is {is}: use a number from {min} to {max}")),
            },
            Self::IntChoice(choices) => match value.as_int() {
                Some(number) if choices.iter().any(|(value, _)| *value == number) => None,
                Some(_) => Some(format!("is {is}: use {}", self.listed())),
                None => Some(format!("is {is}, not an integer: use {}", self.listed())),
            },
            Self::TextChoice(choices) => {
                let is_known = value
                    .as_text()
                    .is_some_and(|text| choices.iter().any(|(value, _)| *value == text));
                (!is_known).then(|| format!("is {is}: use {}", self.texts_listed()))
            }
            Self::Names(choices) => match value.as_text() {
                None => Some(format!("is {is}, not a text: expected comma-separated names in quotes")),
                Some(text) => unknown_name(text, choices)
                    .map(|name| format!("names \"{name}\": expected {}, comma-separated", self.listed())),
            },
            Self::Any => None,
            Self::Text | Self::Path(_) => {
                (value.as_text().is_none()).then(|| format!("is {is}, not a text: add quotes"))
            }
            Self::ShapeRange => match value.as_text() {
                None => Some(format!("is {is}, not a text: add quotes")),
                Some(text) => ShapeRanges::parse(text).err().map(|error| format!("is {is}: {error}")),
            },
            Self::List => {
                let is_list = matches!(value, Value::List(items) | Value::Set(items) if items.iter().all(|item| item.as_text().is_some()));
                (!is_list).then(|| format!("is {is}: expected a list or set of names, e.g. [\"a\", \"b\"]"))
            }
            Self::Object { class } => {
                let is_object = matches!(value, Value::Python(text) if !is_literal(text) && !calls_other(text, class));
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

pub(super) fn joined(names: &[String]) -> String {
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

/// The content of a pair of quotes copied from a script.
fn unquoted(text: &str) -> Option<&str> {
    ['"', '\''].into_iter().find_map(|quote| {
        let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
        (!inner.contains(quote)).then_some(inner)
    })
}

/// An integer as in Python, `True` and `False` included; a number with a fraction is kept, so that it is refused.
/// `None` beyond 64 bits.
fn whole_number(text: &str) -> Option<Value> {
    match text {
        "True" => Some(Value::Bool(true)),
        "False" => Some(Value::Bool(false)),
        _ => number(text).filter(|number| matches!(number, Value::Int(_)) || text.contains(['.', 'e', 'E'])),
    }
}

/// A size in bytes: an integer (a negative one is refused by the range), or digits with a unit. No fractions of a byte.
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

fn number(text: &str) -> Option<Value> {
    if let Ok(integer) = text.parse() {
        return Some(Value::Int(integer));
    }
    text.parse().ok().and_then(Float::new).map(Value::Float)
}

/// Names in brackets as Python writes them: a list, a set, or a tuple, which needs a comma in its parentheses.
fn list(text: &str) -> Option<Value> {
    let within = |open: char, close: char, value: fn(Vec<Value>) -> Value| {
        let inner = text.strip_prefix(open)?.strip_suffix(close)?;
        Some((inner.trim(), value))
    };
    // Empty braces are a dictionary.
    let set = || within('{', '}', Value::Set).filter(|(inner, _)| !inner.is_empty());
    let tuple = || within('(', ')', Value::Tuple);
    let (inner, value) = within('[', ']', Value::List).or_else(set).or_else(tuple)?;
    let without_comma = inner.strip_suffix(',').unwrap_or(inner);
    let items: Vec<Json> = serde_json::from_str(&format!("[{without_comma}]"))
        .or_else(|_| serde_json::from_str(&format!("[{}]", without_comma.replace('\'', "\""))))
        .ok()?;
    let items: Vec<Value> = items.iter().map(item).collect::<Option<_>>()?;
    match (value(items), inner == without_comma) {
        (Value::Tuple(items), true) if items.len() == 1 => items.into_iter().next(),
        (value, _) => Some(value),
    }
}

fn item(json: &Json) -> Option<Value> {
    match json {
        Json::String(text) => Some(Value::from(text.as_str())),
        Json::Bool(is_on) => Some(Value::Bool(*is_on)),
        Json::Number(written) => number(&written.to_string()),
        Json::Null | Json::Array(_) | Json::Object(_) => None,
    }
}

/// The first name that is no choice; without choices every name is valid.
fn unknown_name<'a>(text: &'a str, choices: &[Choice<&'static str>]) -> Option<&'a str> {
    // An empty text names nothing.
    if choices.is_empty() || text.is_empty() {
        return None;
    }
    text.split(',')
        .map(str::trim)
        .find(|name| !choices.iter().any(|(value, _)| value == name))
}

/// Whether an expression is a dictionary, list or text.
fn is_literal(text: &str) -> bool {
    text.starts_with(['{', '[', '"', '\''])
}

/// Classes of TensorFlow that scripts pass where another class is wanted.
const OTHER_CLASSES: &[&str] = &[
    "CentralStorageStrategy",
    "CollectiveAllReduceStrategy",
    "MirroredStrategy",
    "MultiWorkerMirroredStrategy",
    "OneDeviceStrategy",
    "ParameterServerStrategy",
    "TPUStrategy",
];

/// Whether an expression calls another known class than that: `npu_config.DumpConfig(...)`. The result of any other call is
/// unknown.
fn calls_other(text: &str, class: &str) -> bool {
    let Some((callee, _)) = text.split_once('(').filter(|_| text.ends_with(')')) else {
        return false;
    };
    let name = callee.trim().rsplit('.').next().unwrap_or("");
    let is_known = GROUPS.iter().any(|group| group.class == name) || OTHER_CLASSES.contains(&name);
    is_known && name != class
}
