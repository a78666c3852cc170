//! What is known about an expression without running the script.

use std::rc::Rc;

use ruff_text_size::TextRange;

use highwater_options::{Group, Value};

/// Lists and objects within each other are followed down to this depth.
const MAX_DEPTH: usize = 8;

/// Larger lists are not followed.
pub(super) const MAX_ITEMS: usize = 4096;

/// Longer texts are not put together.
pub(super) const MAX_TEXT: usize = 64 * 1024;

/// What an expression stands for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Datum {
    /// A literal, or what follows from literals.
    Value(Value),
    /// A dictionary with texts as keys.
    Dict(Rc<Fields>),
    /// The object of a constructor call.
    Object(Rc<Object>),
    /// `npu.global_options()` or one of its fields, whose name with a dot stands here.
    GlobalOptions(Rc<str>),
    /// `custom_op.parameter_map`.
    ParameterMap,
    /// `os.environ`.
    Environ,
    /// An object of a class that the script declares.
    Instance(Rc<Instance>),
    /// Not known, and why: words behind the name of an option.
    Unknown(Rc<str>),
}

/// A datum with something to be said about it where it is used.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fact {
    /// What it is.
    pub(super) datum: Datum,
    /// What was assumed: words behind the name of an option.
    pub(super) note: Option<Rc<str>>,
}

/// Arguments or entries with names.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields {
    /// In order; a later one of the same name wins.
    pub(super) fields: Vec<Field>,
    /// Whether there are more that cannot be read.
    pub(super) is_partial: bool,
}

/// One argument.
#[derive(Clone, Debug)]
pub(super) struct Field {
    /// Its name.
    pub(super) name: String,
    /// Its value.
    pub(super) fact: Fact,
    /// Where the value stands.
    pub(super) range: TextRange,
}

/// A call of a class that the script declares.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Instance {
    /// The class.
    pub(super) class: String,
    /// Its arguments with names.
    pub(super) fields: Fields,
}

/// A constructor call.
#[derive(Clone, Debug)]
pub(super) struct Object {
    /// The class.
    pub(super) group: &'static Group,
    /// The whole call.
    pub(super) range: TextRange,
    /// Its arguments.
    pub(super) fields: Fields,
}

impl Fact {
    /// A datum about which nothing was assumed.
    pub(super) const fn plain(datum: Datum) -> Self {
        Self { datum, note: None }
    }

    /// A value.
    pub(super) fn value(value: impl Into<Value>) -> Self {
        Self::plain(Datum::Value(value.into()))
    }

    /// Something that is not known, with why.
    pub(super) fn unknown(why: &str) -> Self {
        Self::plain(Datum::Unknown(why.into()))
    }

    /// The value, where it is one.
    pub(super) const fn as_value(&self) -> Option<&Value> {
        match &self.datum {
            Datum::Value(value) => Some(value),
            _ => None,
        }
    }

    /// Whether Python takes it for true, where that is known.
    pub(super) fn truth(&self) -> Option<bool> {
        match &self.datum {
            Datum::Value(value) => truth(value),
            Datum::Object(_) | Datum::ParameterMap | Datum::Instance(_) => Some(true),
            Datum::Dict(dict) if !dict.is_partial => Some(!dict.fields.is_empty()),
            Datum::Dict(_) | Datum::Environ | Datum::GlobalOptions(_) | Datum::Unknown(_) => None,
        }
    }

    /// The same with the first of two notes.
    pub(super) fn with_note(mut self, note: Option<&Rc<str>>) -> Self {
        self.note = self.note.or_else(|| note.cloned());
        self
    }

    /// The same if it may be held by another datum, else something unknown: trees stay shallow.
    pub(super) fn held(self) -> Self {
        if depth(&self.datum) >= MAX_DEPTH {
            Self::unknown("is nested too deep")
        } else {
            self
        }
    }
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        self.group.class == other.group.class && self.fields == other.fields
    }
}

impl PartialEq for Fields {
    /// Places do not count: the same arguments in two branches are equal.
    fn eq(&self, other: &Self) -> bool {
        let is_same = |(a, b): (&Field, &Field)| a.name == b.name && a.fact == b.fact;
        self.is_partial == other.is_partial
            && self.fields.len() == other.fields.len()
            && self.fields.iter().zip(&other.fields).all(is_same)
    }
}

/// Whether Python takes a value for true.
fn truth(value: &Value) -> Option<bool> {
    Some(match value {
        Value::Unset => false,
        Value::Bool(is_true) => *is_true,
        Value::Int(number) => *number != 0,
        Value::Float(number) => number.get() != 0.0,
        Value::Text(text) => !text.is_empty(),
        Value::List(items) | Value::Tuple(items) => !items.is_empty(),
        Value::Python(_) => return None,
    })
}

/// How deep a datum is nested; what is held is shallow, so this is cheap enough.
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
        _ => 0,
    }
}

fn depth_of_value(value: &Value) -> usize {
    value
        .items()
        .map_or(0, |items| 1 + items.iter().map(depth_of_value).max().unwrap_or(0))
}

/// How many values a list holds, with all lists in it.
pub(super) fn count(value: &Value) -> usize {
    1 + value.items().map_or(0, |items| items.iter().map(count).sum())
}
