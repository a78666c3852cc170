//! Environment variables that a script sets or removes.

use std::rc::Rc;

use ruff_python_ast::{ExprCall, IpyEscapeKind, StmtIpyEscapeCommand};
use ruff_text_size::{Ranged as _, TextRange};

use highwater_options::Value;

use super::datum::{Datum, Fact};
use super::reader::Reader;
use super::records::{Variable, VariableText};

impl<'a> Reader<'a> {
    /// `os.environ.update({...})`.
    pub(super) fn update_variables(&mut self, call: &'a ExprCall) {
        let dicts = call.arguments.args.iter();
        let values = dicts.chain(
            call.arguments
                .keywords
                .iter()
                .filter(|k| k.arg.is_none())
                .map(|k| &k.value),
        );
        for value in values {
            if let Datum::Dict(dict) = self.evaluate(value).datum {
                for field in &dict.fields {
                    self.set_variable(&field.name, &field.fact, field.range);
                }
            } else {
                let shown = self.source.shown(value.range());
                let message = format!("variables are computed when the script runs ({shown}); set them by hand");
                self.records.warn(self.source.line(value.start()), message);
            }
        }
        for keyword in &call.arguments.keywords {
            if let Some(name) = &keyword.arg {
                let fact = self.evaluate(&keyword.value);
                self.set_variable(name.as_str(), &fact, keyword.value.range());
            }
        }
    }

    pub(super) fn set_variable(&mut self, name: &str, fact: &Fact, range: TextRange) {
        if !self.is_too_late(name, self.source.line(range.start())) {
            self.bind_variable(name, fact, range);
        }
    }

    /// The same for calls that act at run time.
    pub(super) fn bind_variable(&mut self, name: &str, fact: &Fact, range: TextRange) {
        let line = self.source.line(range.start());
        if let (Some(Value::Unset), Some(note)) = (fact.as_value(), &fact.note) {
            let why = format!("{note}, which is None, and a variable takes no None");
            return self.bind_variable(name, &Fact::unknown(&why), range);
        }
        let unreadable = fact
            .as_value()
            .and_then(|value| self.source.unreadable(&value.to_string()));
        if let Some(why) = unreadable {
            return self.bind_variable(name, &Fact::unknown(&why), range);
        }
        let text = match &fact.datum {
            Datum::Value(value) => {
                let text = value.to_string();
                if let Some(note) = &fact.note {
                    self.records.info(line, format!("{name} {note}"));
                }
                self.environment.insert(name.to_owned(), (text.clone(), line));
                VariableText::Known(text)
            }
            other => {
                let why = self.why(other, range);
                self.environment.remove(name);
                self.records.warn(line, format!("{name} {why}; set it by hand"));
                VariableText::Unread
            }
        };
        self.record_variable(name, text, line, fact.note.clone());
    }

    fn record_variable(&mut self, name: &str, text: VariableText, line: usize, note: Option<Rc<str>>) {
        self.records.variables.push(Variable {
            name: name.to_owned(),
            text,
            line,
            path: self.path.clone(),
            note,
        });
    }

    /// `%env NAME=value` of a notebook, and the releases that its commands install.
    pub(super) fn magic(&mut self, command: &StmtIpyEscapeCommand) {
        let line = self.source.line(command.start());
        let words = command.value.split_whitespace();
        let words: Vec<Option<&str>> = words
            .map(|word| (!word.contains(['$', '{'])).then_some(word.trim_matches(['"', '\''])))
            .collect();
        self.records.pin.command(&words, line);
        let Some((magic, rest)) = command.value.split_once(char::is_whitespace) else {
            return;
        };
        let Some((name, text)) = rest.trim().split_once(['=', ' ']) else {
            return;
        };
        if command.kind != IpyEscapeKind::Magic || !matches!(magic, "env" | "set_env") {
            return;
        }
        let text = text.trim();
        let fact = if text.contains(['$', '{']) {
            Fact::unknown(&format!("is computed when the notebook runs ({text})"))
        } else {
            Fact::value(text)
        };
        self.set_variable(name.trim(), &fact, command.range);
    }

    pub(super) fn unset_variable(&mut self, name: &str, range: TextRange) {
        let line = self.source.line(range.start());
        self.environment.remove(name);
        self.record_variable(name, VariableText::Removed, line, None);
    }
}
