//! Environment variables from a shell script, a Dockerfile or a file of `NAME=value` lines.
//!
//! The file is read from top to bottom and nothing is run: bodies of `if`, `for`, `case` and functions count as run once, and variables
//! that only some branches set are reported. Values that only a running shell knows are reported and left out. No parser crate for
//! shells fits: they refuse a whole file for one unknown construct, or split words without expanding them. This module reads the part
//! of the grammar that assignments use.

mod branches;
mod word;
mod words;

use std::collections::BTreeMap;

use highwater_options::{ENVIRONMENT, nearest_within};

use super::neighbours;
use super::reading::Reading;
use super::torch_pin::TorchPin;
use branches::Branches;
use word::{Command, Piece, Word};
use words::commands;

pub(super) use word::is_name;

/// The first line of written files; of a file with it all variables are read.
pub(super) const HEADER: &str = "# Environment variables, written by highwater";

const MAX_TEXT: usize = 64 * 1024;

/// The largest edit distance from a mistyped name to a known one.
pub(super) const MAX_TYPOS: usize = 2;

/// Words in front of a command that do not change its assignments.
const LEADING: &[&str] = &[
    "if", "then", "else", "elif", "do", "while", "until", "{", "}", "!", "time", "case", "exec",
];

/// Reads the variables with an effect, and those with a similar name.
pub(super) fn from_shell(text: &str) -> Reading {
    let mut reader = ShellReader {
        reading: Reading::default(),
        variables: BTreeMap::new(),
        takes_all: text.trim_start().starts_with(HEADER),
        branches: Branches::default(),
        pin: TorchPin::default(),
    };
    let cut = commands(text);
    let mut is_behind_assignment = false;
    for command in &cut.commands {
        reader.branches.enter(command, is_behind_assignment);
        is_behind_assignment = reader.command(command);
    }
    let warnings = &mut reader.reading.warnings;
    for (name, message) in reader.branches.remarks() {
        warnings.warning(message, name);
    }
    for (severity, line, message) in reader.pin.remarks(&reader.reading.document.environment) {
        warnings.counted(severity, format!("line {line}: {message}"), "", 1);
    }
    if let Some(line) = cut.open_quote {
        let message = format!("line {line}: nothing closes the quote that starts here; what follows may be missing");
        warnings.warning(message, "");
    }
    reader.reading
}

struct ShellReader {
    reading: Reading,
    /// Every variable of the file; `None` where its text is unknown.
    variables: BTreeMap<String, Option<String>>,
    takes_all: bool,
    branches: Branches,
    pin: TorchPin,
}

/// Why a text is unknown.
enum Unresolved {
    Unset(String),
    Computed(String),
}

impl ShellReader {
    /// Reads a command; whether it only sets variables.
    fn command(&mut self, command: &Command) -> bool {
        let is_leading = |word: &&Word| word.plain().is_some_and(|text| LEADING.contains(&text));
        let n_leading = command.words.iter().take_while(is_leading).count();
        let words = &command.words[n_leading..];
        let texts: Vec<Option<&str>> = words.iter().map(Word::plain).collect();
        self.pin.command(&texts, command.line);
        let Some(first) = words.first() else {
            return false;
        };
        match first.plain() {
            Some(own @ ("declare" | "typeset" | "readonly" | "local"))
                if own == "local" || self.branches.is_in_braces() =>
            {
                let is_exported = |word: &Word| {
                    word.plain()
                        .is_some_and(|text| text.starts_with('-') && text.contains('x'))
                };
                if words[1..].iter().any(is_exported) {
                    self.assignments(&words[1..], command.line);
                } else {
                    self.local_variables(&words[1..], command.line);
                }
            }
            Some("export" | "declare" | "typeset" | "readonly" | "env" | "set") => {
                if first.plain() == Some("export") {
                    self.exported(&words[1..], command.line);
                }
                self.assignments(&words[1..], command.line);
            }
            Some("ENV" | "setenv") => match words {
                [_, name, value] if name.assignment().is_none() => {
                    if let Some(name) = name.plain().filter(|name| is_name(name)) {
                        self.assign(name, value, command.line);
                    }
                }
                _ => self.assignments(&words[1..], command.line),
            },
            Some("unset") => {
                for name in words[1..].iter().filter_map(Word::plain) {
                    self.variables.remove(name);
                    self.reading.document.environment.remove(name);
                    self.branches.removed(name);
                }
            }
            // Assignments alone, or in front of a command.
            _ => {
                let n_assignments = words.iter().take_while(|word| word.assignment().is_some()).count();
                self.assignments(&words[..n_assignments], command.line);
                return n_assignments == words.len();
            }
        }
        matches!(first.plain(), Some("export" | "declare" | "readonly" | "local"))
    }

    fn local_variables(&mut self, words: &[Word], line: usize) {
        for (name, value) in words.iter().filter_map(Word::assignment) {
            let expanded = self.expand(&value.pieces, &name, line);
            self.variables.insert(name, expanded.ok());
        }
    }

    /// Exports variables that were set before.
    fn exported(&mut self, words: &[Word], line: usize) {
        for name in words.iter().filter_map(Word::plain) {
            let is_new = !self.reading.document.environment.is_set(name);
            if let Some(Some(text)) = self.variables.get(name).filter(|_| is_new).cloned() {
                let value = Word {
                    pieces: vec![Piece::Text(text)],
                };
                self.assign(name, &value, line);
            }
        }
    }

    /// Reads assignments, up to the first word that is neither an assignment nor a flag nor a name.
    fn assignments(&mut self, words: &[Word], line: usize) {
        for word in words {
            match word.assignment() {
                Some((name, value)) => self.assign(&name, &value, line),
                None if word.plain().is_some_and(|text| text.starts_with('-') || is_name(text)) => {}
                None => break,
            }
        }
    }

    fn assign(&mut self, name: &str, value: &Word, line: usize) {
        let expanded = self.expand(&value.pieces, name, line);
        let near = || nearest_within(name, MAX_TYPOS, ENVIRONMENT.iter().map(|row| row.name));
        let is_known = ENVIRONMENT.iter().any(|row| row.name == name);
        let near = if is_known || self.takes_all || neighbours::of_variable(name).is_some() {
            None
        } else {
            near()
        };
        if is_known || self.takes_all || near.is_some() {
            self.reading.is_found = true;
            if let Some(near) = near {
                let message =
                    format!("line {line}: no variable \"{name}\" has an effect here; did you mean \"{near}\"?");
                self.reading.warnings.warning(message, name);
            }
            self.branches.assigned(name, line, expanded.as_deref().ok());
            match &expanded {
                Ok(text) => self.reading.document.environment.set(name, text),
                Err(problem) => {
                    let why = match problem {
                        Unresolved::Unset(other) => format!("depends on ${other}, which this file does not set"),
                        Unresolved::Computed(text) => format!("is computed when the script runs ({text})"),
                    };
                    let message = format!("line {line}: {name} {why}; set it by hand");
                    self.reading.warnings.warning(message, name);
                    self.reading.document.environment.set_unread(name);
                }
            }
        }
        if let Some(said) = neighbours::of_variable(name) {
            self.reading.is_found = true;
            self.reading.warnings.info(format!("line {line}: {said}"), name);
        }
        self.variables.insert(name.to_owned(), expanded.ok());
    }

    fn expand(&mut self, pieces: &[Piece], target: &str, line: usize) -> Result<String, Unresolved> {
        let mut text = String::new();
        for piece in pieces {
            match piece {
                Piece::Text(part) => text.push_str(part),
                Piece::Computed(command) => return Err(Unresolved::Computed(command.clone())),
                Piece::Variable(name, default) => {
                    let known = self.variables.get(name).cloned();
                    match (known, default) {
                        (Some(None), _) => return Err(Unresolved::Computed(format!("${name}"))),
                        (Some(Some(known)), None) => text.push_str(&known),
                        (Some(Some(known)), Some(_)) if !known.is_empty() => text.push_str(&known),
                        (None, None) => return Err(Unresolved::Unset(name.clone())),
                        (known, Some(default)) => {
                            let default = self.expand(default, target, line)?;
                            if known.is_none() && ENVIRONMENT.iter().any(|row| row.name == target) {
                                self.reading.warnings.info(
                                    format!(
                                        "line {line}: {target} takes the default \"{default}\", since this file does \
                                         not set ${name}"
                                    ),
                                    target,
                                );
                            }
                            text.push_str(&default);
                        }
                    }
                }
            }
            if text.len() > MAX_TEXT {
                return Err(Unresolved::Computed("a very long text".to_owned()));
            }
        }
        Ok(text)
    }
}
