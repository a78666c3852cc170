//! Constructor calls and values of options, as records.

use std::borrow::Cow;
use std::rc::Rc;

use ruff_text_size::{TextRange, TextSize};

use highwater_model::diagnostics::Severity;
use highwater_options::{EngineName, Group, OptionKind, Value, engine_name, find};

use super::arms::Arm;
use super::constructors::refusal;
use super::datum::{Datum, Fact, Field, Object};
use super::eager_dtr::bytes_of;
use super::reader::Reader;
use super::records::{Owner, Run, Setting};

/// The position of a setting in the order of the script.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    at: TextSize,
    /// The position of its configuration.
    run: Option<usize>,
}

impl Place {
    pub(super) const fn of_run(at: TextSize, run: usize) -> Self {
        Self { at, run: Some(run) }
    }
}

impl From<TextRange> for Place {
    fn from(range: TextRange) -> Self {
        Self {
            at: range.start(),
            run: None,
        }
    }
}

/// The most configurations of a script: each is compared with each.
const MOST_RUNS: usize = 1_000;

impl Reader<'_> {
    /// A constructor call of the walk.
    pub(super) fn take_object(&mut self, object: Object) {
        if object.group.is_argument {
            self.records.objects.push((Rc::new(object), self.path.clone()));
        } else if self.records.runs.len() < MOST_RUNS {
            let run = self.records.runs.len();
            self.records.runs.push(Run {
                class: object.group.class,
                owner: Owner::Call(object.made()),
                line: self.source.line(object.range.start()),
                ..Run::default()
            });
            self.take_fields(&object, Some(run));
            self.take_called_field(&object, run);
        } else if !self.records.leaves_out_runs {
            self.records.leaves_out_runs = true;
            let line = self.source.line(object.range.start());
            let message = format!("at most {MOST_RUNS} configurations are read; this one and later ones are left out");
            self.records.remark(Severity::Error, line, message);
        }
    }

    /// The default that acts by the call alone: `memory_optimize(program)` is a call with level 0.
    fn take_called_field(&mut self, object: &Object, run: usize) {
        let Some(name) = object.group.called_field else {
            return;
        };
        let key = format!("{}.{name}", object.group.key);
        // Any argument tells that there is a call.
        if object.fields.is_partial || !object.fields.fields.is_empty() {
            return;
        }
        if let Some(row) = find(&key) {
            let fact = Fact::value(row.default_value());
            let place = Place::of_run(object.range.start(), run);
            self.take_value(&key, &fact, object.range, place);
        }
    }

    pub(super) fn take_fields(&mut self, object: &Object, run: Option<usize>) {
        for field in &object.fields.fields {
            let at = object.range.start();
            if let Some(refusal) = refusal(object.group, &field.name) {
                let line = self.source.line(field.range.start());
                self.records.remark(Severity::Error, line, refusal);
                continue;
            }
            let mut field = Cow::Borrowed(field);
            if let Some((problem, bytes)) = text_for_number(object.group, &field) {
                let line = self.source.line(field.range.start());
                self.records.remark(Severity::Error, line, problem);
                if let Some(bytes) = bytes {
                    field.to_mut().fact = Fact::value(bytes);
                }
            }
            let depth = self.path.len();
            let further = field.path.iter().filter(|arm| !self.path.contains(arm)).cloned();
            let further: Vec<Arm> = further.collect();
            self.path.extend(further);
            self.take_field(object.group, &field, Place { at, run });
            self.path.truncate(depth);
        }
        if object.fields.is_partial {
            if let Some(run) = run {
                self.records.runs[run].is_partial = true;
            }
            let message = format!(
                "{}(...) takes arguments that are computed when the script runs; set them by hand",
                object.group.class
            );
            self.records.warn(self.source.line(object.range.start()), message);
        }
    }

    pub(super) fn take_field(&mut self, group: &Group, field: &Field, place: Place) {
        let key = if group.key.is_empty() {
            field.name.clone()
        } else {
            format!("{}.{}", group.key, field.name)
        };
        self.take_value(&key, &field.fact, field.range, place);
    }

    /// An option with its value at a position in the order.
    pub(super) fn take_value(&mut self, key: &str, fact: &Fact, range: TextRange, place: Place) {
        if let Some(row) = engine_name(key).and_then(EngineName::acting) {
            let converted = fact.as_value().map(|value| EngineName::value(row, value));
            let fact = converted.map_or_else(
                || fact.clone(),
                |value| Fact::value(value).with_note(fact.note.as_ref()),
            );
            return self.take_value(row.key, &fact, range, place);
        }
        let line = self.source.line(range.start());
        if let Datum::Object(object) = &fact.datum
            && object.group.key == key
            && !(object.fields.is_partial && object.fields.fields.is_empty())
        {
            self.records.passed.insert(object.made(), place.run);
            if let Some(run) = place.run {
                self.records.runs[run].groups.insert(object.group.key);
            }
            let before = self.records.settings.len();
            self.take_fields(object, place.run);
            // Settings have the position where the object is passed, not where it is made.
            for setting in &mut self.records.settings[before..] {
                setting.at = place.at;
            }
            return;
        }
        if let Datum::Object(object) = &fact.datum {
            self.records.passed.insert(object.made(), place.run);
        }
        let value = match &fact.datum {
            Datum::Value(value) => {
                if let Some(note) = &fact.note {
                    self.records.info(line, format!("{key} {note}"));
                }
                value.clone()
            }
            other => {
                if let Some(run) = place.run {
                    self.records.runs[run].open.insert(key.to_owned());
                }
                let takes_anything =
                    find(key).is_some_and(|row| matches!(row.kind, OptionKind::Object { .. } | OptionKind::Any));
                if !takes_anything {
                    let why = self.why(other, range);
                    self.records.warn(line, format!("{key} {why}; set it by hand"));
                }
                Value::Python(self.source.expression(range))
            }
        };
        if let Some(why) = self.source.unreadable(&value.to_string()) {
            return self.records.warn(line, format!("{key} {why}; set it by hand"));
        }
        let setting = Setting {
            key: key.to_owned(),
            value,
            json: None,
            line,
            at: place.at,
            run: place.run,
            path: self.path.clone(),
            note: fact.note.clone(),
            is_unread: false,
        };
        self.records.set(setting);
    }

    /// Why a datum is no value, as words after a name.
    pub(super) fn why(&self, datum: &Datum, range: TextRange) -> String {
        match datum {
            Datum::Unknown(why) => why.to_string(),
            _ => format!("is an object that has no value here ({})", self.source.shown(range)),
        }
    }
}

/// Classes that compare their arguments with numbers, so that a text raises a `TypeError`.
const COMPARING: [&str; 2] = ["MemoryConfig", "DTRConfig"];

/// The `TypeError` of a text where a class takes a number, and the bytes that the text means in MegEngine.
fn text_for_number(group: &Group, field: &Field) -> Option<(String, Option<i64>)> {
    let row = find(&format!("{}.{}", group.key, field.name))?;
    let text = field.fact.as_value().and_then(Value::as_text)?;
    let write = match row.kind {
        _ if !COMPARING.contains(&group.class) => return None,
        OptionKind::Int { .. } | OptionKind::IntChoice(_) | OptionKind::Float { .. } => {
            "write the number without quotes".to_owned()
        }
        OptionKind::Bytes { .. } => match bytes_of(text) {
            Some(bytes) => format!("write the bytes, {bytes} (KB, MB and GB are powers of 1024 in MegEngine)"),
            None => "write the bytes as a number".to_owned(),
        },
        _ => return None,
    };
    let bytes = matches!(row.kind, OptionKind::Bytes { .. }).then(|| bytes_of(text));
    let (name, class) = (&field.name, group.class);
    let is = Value::from(text).quoted();
    let problem = format!("{name} is {is}, a text, for which {class} raises a TypeError: {write}");
    Some((problem, bytes.flatten()))
}
