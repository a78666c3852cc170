//! The known value of an expression, without running the script.

use std::rc::Rc;

use ruff_text_size::{TextRange, TextSize};

use highwater_options::{Group, Value};

use super::arms::{Arm, Basis, Path};

/// The largest depth of nested lists and objects.
const MAX_DEPTH: usize = 8;

/// The largest number of items of a followed list.
pub(super) const MAX_ITEMS: usize = 4096;

pub(super) const MAX_TEXT: usize = 64 * 1024;

/// The start of the reason of a name that `from ... import` binds.
pub(super) const OF_MODULE: &str = "comes from the module";

/// The reason of a name that `import` binds to a module, or that the script sets to `None` only where the import fails.
pub(super) const IMPORTED: &str = "comes from an import";

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Datum {
    /// A literal, or the result of operations on literals.
    Value(Value),
    /// A dictionary with texts as keys.
    Dict(Rc<Fields>),
    Object(Rc<Object>),
    /// `npu.global_options()`, or a field of it with its dotted name.
    GlobalOptions(Rc<str>),
    /// A list or tuple with objects or dictionaries.
    Items(Rc<[Fact]>),
    Message(Rc<Message>),
    /// `custom_op.parameter_map`, and its optimizer where that is known.
    ParameterMap(Option<Rc<Message>>),
    /// An entry of a parameter map.
    Entry(Rc<Entry>),
    /// `os.environ`.
    Environ,
    /// The flags of the command line as a dictionary: `vars(args)`.
    Flags,
    /// An object of a class that the script declares.
    Instance(Rc<Instance>),
    /// Why it is unknown, as words after the name of an option.
    Unknown(Rc<str>),
}

/// The identity of an object: the start of its call, and the round of the loop or the call of the function around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Made {
    pub(super) at: TextSize,
    pub(super) round: u32,
}

/// A message of protobuf: a session configuration, a part of it, or an optimizer in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Message {
    /// The configuration; `None` where it comes from elsewhere.
    pub(super) config: Option<Made>,
    /// The name of a configuration that comes from elsewhere.
    pub(super) name: Option<String>,
    /// The name of the last field behind the configuration.
    pub(super) field: String,
    pub(super) optimizer: Option<Made>,
}

/// An entry of a parameter map: `custom_op.parameter_map["name"]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) name: String,
    /// The name of the optimizer, or of the map where that has a name.
    pub(super) owner: Option<String>,
    /// The optimizer, where it is known.
    pub(super) optimizer: Option<Rc<Message>>,
    /// The line of the map.
    pub(super) line: usize,
}

/// A datum and the assumption behind it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fact {
    pub(super) datum: Datum,
    /// The assumption, as words after the name of an option.
    pub(super) note: Option<Rc<str>>,
}

/// Named arguments or entries.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields {
    /// In order; the last one of a name wins.
    pub(super) fields: Vec<Field>,
    /// Whether there are further unreadable ones.
    pub(super) is_partial: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) fact: Fact,
    /// The place of the value.
    pub(super) range: TextRange,
    /// The conditions around the change of a dictionary that adds the entry.
    pub(super) path: Path,
}

/// A call of a class that the script declares.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Instance {
    pub(super) class: String,
    pub(super) fields: Fields,
    /// Why its attributes may have changed.
    pub(super) changed: Option<Rc<str>>,
}

#[derive(Clone, Debug)]
pub(super) struct Object {
    pub(super) group: &'static Group,
    pub(super) range: TextRange,
    pub(super) round: u32,
    pub(super) fields: Fields,
}

impl Object {
    pub(super) const fn made(&self) -> Made {
        Made {
            at: self.range.start(),
            round: self.round,
        }
    }
}

impl Fact {
    /// A datum without an assumption.
    pub(super) const fn plain(datum: Datum) -> Self {
        Self { datum, note: None }
    }

    pub(super) fn value(value: impl Into<Value>) -> Self {
        Self::plain(Datum::Value(value.into()))
    }

    pub(super) fn unknown(why: &str) -> Self {
        Self::plain(Datum::Unknown(why.into()))
    }

    pub(super) const fn as_value(&self) -> Option<&Value> {
        match &self.datum {
            Datum::Value(value) => Some(value),
            _ => None,
        }
    }

    /// Python's truth value, where it is known.
    pub(super) fn truth(&self) -> Option<bool> {
        match &self.datum {
            Datum::Value(value) => truth(value),
            Datum::Object(_) | Datum::ParameterMap(_) | Datum::Instance(_) => Some(true),
            Datum::Items(items) => Some(!items.is_empty()),
            Datum::Dict(dict) if !dict.is_partial => Some(!dict.fields.is_empty()),
            Datum::Dict(_)
            | Datum::Entry(_)
            | Datum::Environ
            | Datum::Flags
            | Datum::GlobalOptions(_)
            | Datum::Message(_) => None,
            Datum::Unknown(why) => (&**why == IMPORTED).then_some(true),
        }
    }

    /// Whether it is `None` or a name of a module: what a script may set to `None` where an import fails.
    pub(super) fn is_absent_or_imported(&self) -> bool {
        match &self.datum {
            Datum::Value(value) => *value == Value::Unset,
            Datum::Unknown(why) => why.starts_with(OF_MODULE),
            _ => false,
        }
    }

    /// Adds a note, unless there is one.
    pub(super) fn with_note(mut self, note: Option<&Rc<str>>) -> Self {
        self.note = self.note.or_else(|| note.cloned());
        self
    }

    /// Itself as a part of another datum; unknown where it is nested too deep.
    pub(super) fn held(self) -> Self {
        if depth(&self.datum) >= MAX_DEPTH {
            Self::unknown("is nested too deep")
        } else {
            self
        }
    }
}

impl Fields {
    /// The last entry of that name.
    pub(super) fn get(&self, name: &str) -> Option<&Fact> {
        self.entry(name).map(|field| &field.fact)
    }

    pub(super) fn entry(&self, name: &str) -> Option<&Field> {
        self.fields.iter().rev().find(|field| field.name == name)
    }

    /// Whether all entries hold in every run that reaches a place with these conditions.
    pub(super) fn is_certain(&self, path: &[Arm]) -> bool {
        self.fields.iter().all(|field| field.is_certain(path))
    }
}

impl Field {
    /// Whether the entry holds in every run that reaches a place with these conditions.
    pub(super) fn is_certain(&self, path: &[Arm]) -> bool {
        self.path
            .iter()
            .all(|arm| arm.basis == Basis::Implied || path.contains(arm))
    }
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        self.group.class == other.group.class && self.fields == other.fields
    }
}

impl PartialEq for Fields {
    /// Ignores places: the same arguments in two branches are equal.
    fn eq(&self, other: &Self) -> bool {
        let is_same = |(a, b): (&Field, &Field)| a.name == b.name && a.fact == b.fact;
        self.is_partial == other.is_partial
            && self.fields.len() == other.fields.len()
            && self.fields.iter().zip(&other.fields).all(is_same)
    }
}

/// A set; an empty one acts as an empty list.
pub(super) fn set_of(items: Vec<Value>) -> Value {
    if items.is_empty() {
        Value::List(items)
    } else {
        Value::Set(items)
    }
}

fn truth(value: &Value) -> Option<bool> {
    Some(match value {
        Value::Unset => false,
        Value::Bool(is_true) => *is_true,
        Value::Int(number) => *number != 0,
        Value::Float(number) => number.get() != 0.0,
        Value::Text(text) => !text.is_empty(),
        Value::List(items) | Value::Set(items) | Value::Tuple(items) => !items.is_empty(),
        Value::Python(_) => return None,
    })
}

/// The depth of a datum, which is at most [`MAX_DEPTH`].
fn depth(datum: &Datum) -> usize {
    let of_fields = |fields: &Fields| {
        1 + fields
            .fields
            .iter()
            .map(|field| depth(&field.fact.datum))
            .max()
            .unwrap_or(0)
    };
    match datum {
        Datum::Value(value) => depth_of_value(value),
        Datum::Dict(dict) => of_fields(dict),
        Datum::Object(object) => of_fields(&object.fields),
        Datum::Instance(instance) => of_fields(&instance.fields),
        Datum::Items(items) => 1 + items.iter().map(|item| depth(&item.datum)).max().unwrap_or(0),
        _ => 0,
    }
}

fn depth_of_value(value: &Value) -> usize {
    value
        .items()
        .map_or(0, |items| 1 + items.iter().map(depth_of_value).max().unwrap_or(0))
}

/// The number of values in a list and in all lists within it.
pub(super) fn count(value: &Value) -> usize {
    1 + value.items().map_or(0, |items| items.iter().map(count).sum())
}
