//! Environment variables from a shell script, a Dockerfile or a file of `NAME=value` lines.
//!
//! The file is read from top to bottom and nothing is run: bodies of `if`, `for`, `case` and functions count as run once, and variables
//! that only some branches set are reported. Values that only a running shell knows are reported and left out. A variable counts where
//! the command that runs Python gets it: exported, or in front of that command ([`state`], [`runs`]). No parser crate for shells fits:
//! they refuse a whole file for one unknown construct, or split words without expanding them. This module reads the part of the grammar
//! that assignments use.

mod branches;
mod chosen;
mod commands;
mod functions;
mod runs;
mod state;
mod word;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use highwater_model::diagnostics::Severity;

use super::neighbours::{is_variable, mistyped, of_variable, remarks};
use super::reading::Reading;
use super::torch_pin::TorchPin;
use branches::Branches;
use chosen::{Run, choose};
use functions::{body_length, called, idle};
use runs::Runs;
use state::Shell;
use word::{Piece, Step, Word};
use words::steps;

pub(super) use word::is_name;

/// The first line of written files; of a file with it all variables are read.
pub(super) const HEADER: &str = "# Environment variables, written by highwater";

const MAX_TEXT: usize = 64 * 1024;

/// The depth of functions and of texts that are run as commands.
const MAX_DEPTH: usize = 8;

/// The most steps that are followed besides those of the file: functions at each of their calls.
const MAX_FURTHER_STEPS: usize = 1 << 20;

/// Reads the variables with an effect, and those with a similar name.
pub(super) fn from_shell(text: &str) -> Reading {
    let mut reader = ShellReader {
        reading: Reading::default(),
        shell: Shell::default(),
        takes_all: text.trim_start().starts_with(HEADER),
        branches: Branches::default(),
        pin: TorchPin::default(),
        runs: Vec::new(),
        functions: BTreeMap::new(),
        set: BTreeMap::new(),
        names: BTreeSet::new(),
        n_looked_up: 0,
        told: BTreeSet::new(),
        exports: false,
        depth: 0,
        n_steps: 0,
        max_steps: 0,
        is_behind_assignment: false,
    };
    let cut = steps(text, 1);
    reader.max_steps = cut.steps.len().saturating_add(MAX_FURTHER_STEPS);
    reader.follow(&cut.steps);
    reader.finish(cut.open_quote)
}

struct ShellReader {
    reading: Reading,
    shell: Shell,
    takes_all: bool,
    branches: Branches,
    pin: TorchPin,
    /// Commands that run something, in the order of the file.
    runs: Vec<Run>,
    /// Bodies of functions that the file calls.
    functions: BTreeMap<String, Rc<[Step]>>,
    /// By variable with an effect the last line that sets it, until it is unset.
    set: BTreeMap<String, usize>,
    /// All variables with an effect.
    names: BTreeSet<String>,
    n_looked_up: usize,
    told: BTreeSet<String>,
    /// Whether the file exports variables, so that the others are the shell's own.
    exports: bool,
    depth: usize,
    n_steps: usize,
    max_steps: usize,
    is_behind_assignment: bool,
}

/// Why a text is unknown.
enum Unresolved {
    Unset(String),
    Computed(String),
}

impl ShellReader {
    fn follow(&mut self, steps: &[Step]) {
        let called: BTreeSet<&str> = steps
            .iter()
            .filter_map(|step| match step {
                Step::Run(command) => called(command),
                _ => None,
            })
            .collect();
        let idle = idle(steps);
        let mut rest = steps;
        while let Some((step, behind)) = rest.split_first() {
            rest = behind;
            self.n_steps += 1;
            if self.n_steps > self.max_steps {
                return;
            }
            match step {
                Step::Open => self.shell.open(),
                Step::Close => self.shell.close(),
                Step::Define(name) => {
                    let Some(length) = body_length(rest) else { continue };
                    let (body, behind) = rest.split_at(length);
                    rest = behind;
                    if idle.contains(name.as_str()) {
                        self.never_called(name, body);
                    } else if called.contains(name.as_str()) {
                        self.functions.insert(name.clone(), body.into());
                    } else {
                        self.shell.enter_function();
                        self.follow_deeper(body);
                        self.shell.leave_function();
                    }
                }
                Step::Run(command) => {
                    self.branches.enter(command, self.is_behind_assignment);
                    if command.is_piped {
                        self.shell.open();
                    }
                    self.is_behind_assignment = self.command(command);
                    if command.is_piped {
                        self.shell.close();
                    }
                }
            }
        }
    }

    /// Names the variables that a function sets which nothing calls.
    fn never_called(&mut self, function: &str, body: &[Step]) {
        for step in body {
            let Step::Run(command) = step else { continue };
            let is_local = matches!(called(command), Some("local" | "declare" | "typeset"));
            let names = command.words.iter().filter_map(Word::assignment).filter(|_| !is_local);
            for (name, _) in names {
                if self.takes(&name) {
                    self.reading.is_found = true;
                    let message = format!("{name} is set in {function}(), which nothing in this file calls");
                    self.tell(Severity::Info, command.line, &message, &name);
                }
            }
        }
    }

    /// Follows steps one level deeper: a function, or a text that is run as commands.
    fn follow_deeper(&mut self, steps: &[Step]) {
        if self.depth < MAX_DEPTH {
            self.depth += 1;
            self.follow(steps);
            self.depth -= 1;
        }
    }

    /// Whether a variable is one of the reading's.
    fn takes(&self, name: &str) -> bool {
        self.takes_all || is_variable(name) || mistyped(name).is_some() || of_variable(name).is_some()
    }

    fn note_set(&mut self, name: &str, line: usize) {
        if self.takes(name) {
            self.reading.is_found = true;
            self.set.insert(name.to_owned(), line);
            self.names.insert(name.to_owned());
        }
    }

    fn assign(&mut self, name: &str, value: &Word, line: usize, is_exported: bool) {
        let expanded = self.expand(&value.pieces, name, line);
        if self.takes(name) {
            self.note_set(name, line);
            self.branches.assigned(name, line, expanded.as_deref().ok());
            if let Err(problem) = &expanded {
                let why = match problem {
                    Unresolved::Unset(other) => format!("depends on ${other}, which this file does not set"),
                    Unresolved::Computed(text) => format!("is computed when the script runs ({text})"),
                };
                self.tell(Severity::Warning, line, &format!("{name} {why}; set it by hand"), name);
            }
        }
        if !self.takes_all {
            for (severity, said) in remarks(name, expanded.as_deref().ok()) {
                self.reading.is_found = true;
                self.tell(severity, line, &said, name);
            }
        }
        self.shell.set(name, expanded.ok(), line, is_exported);
    }

    /// Says something once: functions are followed at each of their calls.
    fn tell(&mut self, severity: Severity, line: usize, message: &str, place: &str) {
        let message = format!("line {line}: {message}");
        if self.told.insert(message.clone()) {
            self.reading.warnings.counted(severity, message, place, 1);
        }
    }

    fn expand(&mut self, pieces: &[Piece], target: &str, line: usize) -> Result<String, Unresolved> {
        let mut text = String::new();
        for piece in pieces {
            match piece {
                Piece::Text(part) => text.push_str(part),
                Piece::Computed(command) => return Err(Unresolved::Computed(command.clone())),
                Piece::Variable(name, default) => {
                    let known = self.shell.variables.get(name).map(|variable| variable.text.clone());
                    match (known, default) {
                        (Some(None), _) => return Err(Unresolved::Computed(format!("${name}"))),
                        (Some(Some(known)), None) => text.push_str(&known),
                        (Some(Some(known)), Some(_)) if !known.is_empty() => text.push_str(&known),
                        (None, None) => return Err(Unresolved::Unset(name.clone())),
                        (known, Some(default)) => {
                            let default = self.expand(default, target, line)?;
                            if known.is_none() && is_variable(target) {
                                let message = format!(
                                    "{target} takes the default \"{default}\", since this file does not set ${name}"
                                );
                                self.tell(Severity::Info, line, &message, target);
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

    /// The reading: the environment of the command that counts.
    fn finish(mut self, open_quote: Option<usize>) -> Reading {
        // A file of assignments alone is no script of a shell: a launcher passes all of them on.
        let is_plain = !self.exports && !self.shell.exports_all && self.runs.is_empty();
        let last = Run {
            runs: Runs::Nothing,
            line: 0,
            environment: self.shell.environment(&self.names, is_plain),
            unexported: if is_plain { Vec::new() } else { self.unexported() },
        };
        let choice = choose(&self.runs, last, &self.set);
        for (severity, line, message) in choice.remarks {
            self.tell(severity, line, &message, "");
        }
        self.reading.document.environment = choice.environment;
        let Self {
            mut reading,
            branches,
            pin,
            ..
        } = self;
        let environment = &reading.document.environment;
        let warnings = &mut reading.warnings;
        for (name, message) in branches.remarks() {
            if environment.names().any(|known| known == name) {
                warnings.warning(message, name);
            }
        }
        for (severity, line, message) in pin.remarks(environment) {
            warnings.counted(severity, format!("line {line}: {message}"), "", 1);
        }
        if let Some(line) = open_quote {
            let message =
                format!("line {line}: nothing closes the quote that starts here; what follows may be missing");
            warnings.warning(message, "");
        }
        reading
    }
}
