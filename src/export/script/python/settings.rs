//! Constructor calls and values of options, as records.

use std::rc::Rc;

use ruff_text_size::{TextRange, TextSize};

use highwater_model::diagnostics::Severity;
use highwater_options::{Group, OptionKind, Value, find};

use super::constructors::refusal;
use super::datum::{Datum, Fact, Field, Object};
use super::reader::Reader;
use super::records::{Run, Setting};

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

impl Reader<'_> {
    /// A constructor call of the walk.
    pub(super) fn take_object(&mut self, object: Object) {
        if object.group.is_argument {
            self.records.objects.push((Rc::new(object), self.path.clone()));
        } else {
            let run = self.records.runs.len();
            self.records.runs.push(Run {
                class: object.group.class,
                at: Some(object.range.start()),
                line: self.source.line(object.range.start()),
                ..Run::default()
            });
            self.take_fields(&object, Some(run));
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
            if let Some(problem) = text_for_number(object.group, field) {
                let line = self.source.line(field.range.start());
                self.records.remark(Severity::Error, line, problem);
            }
            self.take_field(object.group, field, Place { at, run });
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
        let line = self.source.line(range.start());
        if let Datum::Object(object) = &fact.datum
            && object.group.key == key
            && !(object.fields.is_partial && object.fields.fields.is_empty())
        {
            self.records.passed.insert(object.range.start(), place.run);
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
            self.records.passed.insert(object.range.start(), place.run);
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

/// The `TypeError` of a text where `MemoryConfig` takes a number.
fn text_for_number(group: &Group, field: &Field) -> Option<String> {
    let row = find(&format!("{}.{}", group.key, field.name))?;
    let takes_number = matches!(row.kind, OptionKind::Int { .. } | OptionKind::IntChoice(_));
    let is = field
        .fact
        .as_value()
        .filter(|value| value.as_text().is_some())?
        .quoted();
    (group.class == "MemoryConfig" && takes_number).then(|| {
        format!(
            "{} is {is}, a text, for which {} raises a TypeError: write the number without quotes",
            field.name, group.class
        )
    })
}
