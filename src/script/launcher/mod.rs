//! Environment variables from launchers' files: YAML of docker compose, Kubernetes, workflow systems and torchx, JSON of
//! editors and schedulers.
//!
//! Variables are `NAME: value`, `- NAME=value`, or `name: NAME` with `value: VALUE`: those with an effect here wherever
//! they are in the file, mistyped ones under a key such as `env` or `environment`. Other texts are read as shell. A value
//! that the launcher computes is reported and not read.

mod json;
mod yaml;

use std::collections::BTreeMap;

use highwater_options::ENVIRONMENT;

use super::neighbours::{is_variable, mistyped, of_variable, remarks};
use super::reading::Reading;
use super::shell::{from_shell, is_name};

pub(super) use json::from_launcher_json;
pub(super) use yaml::from_yaml;

/// Keys whose value is an environment, in lower case without `_` and `-`.
const ENVIRONMENTS: [&str; 7] = [
    "env",
    "envs",
    "environ",
    "environment",
    "envvars",
    "envvariables",
    "environmentvariables",
];

/// Larger files are no launcher's.
pub(super) const MAX_LAUNCHER_BYTES: usize = 1 << 20;

fn is_environment(key: &str) -> bool {
    let plain: String = key
        .chars()
        .filter(|letter| !matches!(letter, '_' | '-'))
        .flat_map(char::to_lowercase)
        .collect();
    ENVIRONMENTS.contains(&&*plain)
}

/// Collects the variables of a file.
#[derive(Default)]
struct Collector {
    reading: Reading,
    /// Whether what follows is below a key of [`ENVIRONMENTS`].
    is_inside: bool,
    /// Line and text of each variable.
    seen: BTreeMap<String, (usize, String)>,
}

impl Collector {
    /// `NAME=value` of a list; whether it is one.
    fn assignment(&mut self, text: &str, line: usize) -> bool {
        match text.split_once('=') {
            // Outside of an environment a text with blanks is a command: `NAME=value python train.py`.
            Some((name, value)) if is_name(name) && (self.is_inside || !value.contains(' ')) => {
                self.variable(name, value, line);
                true
            }
            _ => false,
        }
    }

    /// A variable with an effect here, or, in an environment, with a similar name.
    fn variable(&mut self, name: &str, value: &str, line: usize) {
        let is_neighbour = of_variable(name).is_some();
        let is_mistyped = self.is_inside && mistyped(name).is_some();
        if !(is_variable(name) || is_neighbour || is_mistyped) {
            return;
        }
        self.reading.is_found = true;
        for (severity, said) in remarks(name, Some(value)) {
            self.reading
                .warnings
                .counted(severity, format!("line {line}: {said}"), name, 1);
        }
        if is_neighbour {
            return;
        }
        if value.contains("${") || value.contains("$(") || value.contains("{{") {
            return self.unread(name, line, &format!("is computed when the job starts ({value})"));
        }
        if let Some((earlier, text)) = self.seen.get(name)
            && text != value
        {
            let message = format!("{name} is set again, to another value than on line {earlier}; this one counts");
            self.warn(line, name, &message);
        }
        self.seen.insert(name.to_owned(), (line, value.to_owned()));
        self.reading.document.environment.set(name, value);
    }

    /// `NAME=value`, or a script.
    fn text(&mut self, text: &str, line: usize) {
        if !self.assignment(text, line) {
            self.script(text, line);
        }
    }

    /// A text that may be a script, which begins on a line of the file.
    fn script(&mut self, text: &str, line: usize) {
        if !ENVIRONMENT.iter().any(|row| text.contains(row.name)) {
            return;
        }
        let placed = format!("{}{text}", "\n".repeat(line.saturating_sub(1)));
        let read = from_shell(&placed);
        if read.is_found {
            self.reading.is_found = true;
            for (name, value) in read.document.environment.iter() {
                self.seen.insert(name.to_owned(), (line, value.to_owned()));
            }
            self.reading.document.environment.extend(&read.document.environment);
            self.reading.warnings.extend(&read.warnings);
        }
    }

    /// A line that is not read.
    fn left_out(&mut self, text: &str, line: usize, why: &str) {
        match ENVIRONMENT.iter().find(|row| text.contains(row.name)) {
            Some(row) => self.unread(row.name, line, &format!("is in a line that {why}")),
            None if self.reading.is_found => self.warn(line, "", &format!("this line {why}, and is not read")),
            None => {}
        }
    }

    /// A variable whose value is not read.
    fn unread(&mut self, name: &str, line: usize, why: &str) {
        self.reading.is_found = true;
        self.warn(line, name, &format!("{name} {why}; set it by hand"));
        self.reading.document.environment.set_unread(name);
    }

    fn warn(&mut self, line: usize, name: &str, message: &str) {
        self.reading.warnings.warning(format!("line {line}: {message}"), name);
    }
}

#[cfg(test)]
mod tests;
