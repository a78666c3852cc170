//! What the walk through a script has found.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use ruff_text_size::{TextRange, TextSize};
use serde_json::Value as Json;

use highwater_model::diagnostics::Severity;
use highwater_options::{Group, OptionKind, Value, find};

use super::Reader;
use super::datum::{Datum, Fact, Field, Object};

/// An option that the script sets.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    /// Its key; perhaps of no row.
    pub(super) key: String,
    /// The value as written.
    pub(super) value: Value,
    /// The same as JSON, where it came so.
    pub(super) json: Option<Json>,
    /// The line, from 1.
    pub(super) line: usize,
    /// The place, for the order.
    pub(super) at: TextSize,
    /// Which call of `NPURunConfig` it belongs to.
    pub(super) run: Option<usize>,
    /// The line of the condition that it stands under, where nobody knows whether that holds.
    pub(super) condition: Option<usize>,
}

/// A variable that the script sets or removes.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    /// Its name.
    pub(super) name: String,
    /// What it is set to.
    pub(super) text: VariableText,
    /// The line, from 1.
    pub(super) line: usize,
    /// The line of the condition.
    pub(super) condition: Option<usize>,
}

/// What a script does to a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum VariableText {
    /// It is set to this.
    Known(String),
    /// It is set to what only the running script knows.
    Unread,
    /// It is removed.
    Removed,
}

/// Something to be told.
#[derive(Clone, Debug)]
pub(super) struct Remark {
    /// How much it matters.
    pub(super) severity: Severity,
    /// The line, from 1.
    pub(super) line: usize,
    /// The sentence behind the line.
    pub(super) message: String,
}

/// A configuration: a call of `NPURunConfig` or of a class beside it, or the parameters of one optimizer.
#[derive(Clone, Debug)]
pub(super) struct Run {
    /// The class, or [`PARAMETER_MAP`].
    pub(super) class: &'static str,
    /// Where the call starts; for parameters nowhere.
    pub(super) at: Option<TextSize>,
    /// The line that binds the optimizer.
    pub(super) owner: usize,
    /// The line, from 1.
    pub(super) line: usize,
    /// Groups that it is given an object for.
    pub(super) groups: BTreeSet<&'static str>,
}

/// Everything found so far.
#[derive(Debug, Default)]
pub(super) struct Records {
    /// In the order of the walk.
    pub(super) settings: Vec<Setting>,
    /// In the order of the walk.
    pub(super) variables: Vec<Variable>,
    /// In the order of the walk.
    pub(super) runs: Vec<Run>,
    /// Objects of groups, with the condition around them; perhaps passed to `NPURunConfig`.
    pub(super) objects: Vec<(Rc<Object>, Option<usize>)>,
    /// Places of the objects that were passed, with the call that takes them.
    pub(super) passed: BTreeMap<TextSize, Option<usize>>,
    /// In the order of the walk.
    pub(super) remarks: Vec<Remark>,
}

/// What stands for the class of an optimizer's parameters.
pub(super) const PARAMETER_MAP: &str = "parameter_map";

impl Run {
    /// How messages name it.
    pub(super) fn shown(&self) -> String {
        if self.class == PARAMETER_MAP {
            "this parameter_map".to_owned()
        } else {
            format!("this {}(...)", self.class)
        }
    }
}

impl Records {
    /// The configuration whose call starts there.
    pub(super) fn run_at(&self, at: TextSize) -> Option<usize> {
        self.runs.iter().position(|run| run.at == Some(at))
    }

    /// The parameters of the optimizer that is bound in a line.
    pub(super) fn parameter_map(&mut self, owner: usize, line: usize) -> usize {
        let known = self
            .runs
            .iter()
            .position(|run| run.class == PARAMETER_MAP && run.owner == owner);
        known.unwrap_or_else(|| {
            self.runs.push(Run {
                class: PARAMETER_MAP,
                at: None,
                owner,
                line,
                groups: BTreeSet::new(),
            });
            self.runs.len() - 1
        })
    }

    /// An object has changed since the walk came to its call.
    pub(super) fn replace_object(&mut self, changed: &Rc<Object>) {
        for (object, _) in &mut self.objects {
            if object.range == changed.range {
                *object = Rc::clone(changed);
            }
        }
    }

    pub(super) fn set(&mut self, setting: Setting) {
        self.settings.push(setting);
    }

    pub(super) fn variable(&mut self, name: &str, text: VariableText, line: usize, condition: Option<usize>) {
        self.variables.push(Variable {
            name: name.to_owned(),
            text,
            line,
            condition,
        });
    }

    pub(super) fn warn(&mut self, line: usize, message: String) {
        self.remark(Severity::Warning, line, message);
    }

    pub(super) fn info(&mut self, line: usize, message: String) {
        self.remark(Severity::Info, line, message);
    }

    fn remark(&mut self, severity: Severity, line: usize, message: String) {
        self.remarks.push(Remark {
            severity,
            line,
            message,
        });
    }
}

/// Where in the order of the script a setting stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// The place.
    at: TextSize,
    /// The call of `NPURunConfig` that it belongs to.
    run: Option<usize>,
}

impl Place {
    /// In a configuration.
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
    /// The object of a constructor call that the walk has come to.
    pub(super) fn take_object(&mut self, object: Object) {
        let condition = self.conditions.last().copied();
        if object.group.is_argument {
            self.records.objects.push((Rc::new(object), condition));
        } else {
            let run = self.records.runs.len();
            self.records.runs.push(Run {
                class: object.group.class,
                at: Some(object.range.start()),
                owner: 0,
                line: self.source.line(object.range.start()),
                groups: BTreeSet::new(),
            });
            self.take_fields(&object, Some(run));
        }
    }

    /// Every argument of an object.
    pub(super) fn take_fields(&mut self, object: &Object, run: Option<usize>) {
        for field in &object.fields.fields {
            let at = object.range.start();
            self.take_field(object.group, field, Place { at, run });
        }
        if object.fields.is_partial {
            let message = format!(
                "{}(...) takes arguments that are computed when the script runs; set them by hand",
                object.group.class
            );
            self.records.warn(self.source.line(object.range.start()), message);
        }
    }

    /// One argument.
    pub(super) fn take_field(&mut self, group: &Group, field: &Field, place: Place) {
        let key = if group.key.is_empty() {
            field.name.clone()
        } else {
            format!("{}.{}", group.key, field.name)
        };
        self.take_value(&key, &field.fact, field.range, place);
    }

    /// An option with its value; `place` says where in the order it stands.
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
            // They count where the object is passed, not where it is made.
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
            condition: self.conditions.last().copied(),
        };
        self.records.set(setting);
    }

    /// Why something is no value: words behind a name.
    pub(super) fn why(&self, datum: &Datum, range: TextRange) -> String {
        match datum {
            Datum::Unknown(why) => why.to_string(),
            _ => format!("is an object that has no value here ({})", self.source.shown(range)),
        }
    }
}
