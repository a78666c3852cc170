//! What single commands of a shell script do to variables, and what the programs that they start get.

use super::ShellReader;
use super::chosen::Run;
use super::functions::LEADING;
use super::runs::{Runs, passing, runs};
use super::word::{Command, Piece, Word, is_name};
use super::words::steps;
use crate::neighbours::is_variable;

/// The most commands with different environments.
const MAX_RUNS: usize = 1 << 14;

/// The most variables that are looked up for commands, all together.
const MAX_LOOKED_UP: usize = 1 << 24;

impl ShellReader {
    /// Reads a command; whether it only sets variables.
    pub(super) fn command(&mut self, command: &Command) -> bool {
        let is_leading = |word: &&Word| word.plain().is_some_and(|text| LEADING.contains(&text));
        let n_leading = command.words.iter().take_while(is_leading).count();
        let words = &command.words[n_leading..];
        let texts: Vec<Option<&str>> = words.iter().map(Word::plain).collect();
        let line = command.line;
        self.pin.command(&texts, line);
        self.substitutions(words, line);
        if command.words[..n_leading]
            .iter()
            .any(|word| word.plain() == Some("case"))
        {
            return false;
        }
        let n_assignments = words.iter().take_while(|word| word.assignment().is_some()).count();
        let (prefix, rest) = words.split_at(n_assignments);
        let Some(first) = rest.first() else {
            for (name, value) in prefix.iter().filter_map(Word::assignment) {
                let is_exported = self.shell.exports_all || self.shell.is_exported(&name);
                self.assign(&name, &value, line, is_exported);
            }
            return !prefix.is_empty();
        };
        let arguments = &rest[1..];
        match first.plain() {
            Some(own @ ("export" | "declare" | "typeset" | "readonly" | "local")) => self.declare(own, arguments, line),
            Some("set") => self.shell.set_options(arguments),
            Some("ENV" | "setenv") => self.set_exported(arguments, line),
            Some("unset") => {
                for name in arguments.iter().filter_map(Word::plain).filter(|name| is_name(name)) {
                    self.shell.variables.remove(name);
                    self.set.remove(name);
                    self.branches.removed(name);
                }
            }
            Some("eval") => {
                let text: Option<Vec<&str>> = arguments.iter().map(Word::plain).collect();
                if let Some(text) = text {
                    self.follow_deeper(&steps(&text.join(" "), line).steps);
                }
            }
            Some("bash" | "sh" | "zsh") if arguments.first().and_then(Word::plain).is_some_and(is_command_flag) => {
                if let Some(text) = arguments.get(1).and_then(Word::plain) {
                    self.in_front(prefix, line, |reader| reader.follow_deeper(&steps(text, line).steps));
                }
            }
            Some(name) if let Some(body) = self.functions.get(name).cloned() => {
                self.shell.enter_function();
                self.in_front(prefix, line, |reader| reader.follow_deeper(&body));
                self.shell.leave_function();
            }
            _ => self.external(prefix, rest, line),
        }
        matches!(first.plain(), Some("export" | "declare" | "readonly" | "local"))
    }

    /// Commands within `$(...)`, which run in a subshell.
    fn substitutions(&mut self, words: &[Word], line: usize) {
        for piece in words.iter().flat_map(|word| &word.pieces) {
            let Piece::Computed(text) = piece else { continue };
            let inner = text.strip_prefix("$(").and_then(|text| text.strip_suffix(')'));
            let inner = inner.or_else(|| text.strip_prefix('`')?.strip_suffix('`'));
            if let Some(inner) = inner.filter(|inner| inner.contains("python") || inner.contains(".py")) {
                self.shell.open();
                self.follow_deeper(&steps(inner, line).steps);
                self.shell.close();
            }
        }
    }

    /// Runs steps with the assignments in front of a command.
    fn in_front(&mut self, prefix: &[Word], line: usize, run: impl FnOnce(&mut Self)) {
        if prefix.is_empty() {
            return run(self);
        }
        self.shell.open();
        for (name, value) in prefix.iter().filter_map(Word::assignment) {
            self.assign(&name, &value, line, true);
        }
        run(self);
        self.shell.close();
    }

    /// A program: what it gets in its environment.
    fn external(&mut self, prefix: &[Word], words: &[Word], line: usize) {
        let runs = runs(words);
        let passing = passing(words);
        let own = prefix.iter().chain(&passing.words);
        if runs == Runs::Nothing {
            // Told where it is a mistake; it reaches nothing else.
            for (name, _) in own.filter_map(Word::assignment) {
                self.note_set(&name, line);
            }
            return;
        }
        let is_changed =
            !prefix.is_empty() || !passing.words.is_empty() || !passing.without.is_empty() || !passing.inherits;
        if is_changed {
            self.shell.open();
        }
        if !passing.inherits {
            let is_named = |name: &str| passing.words.iter().any(|word| word.plain() == Some(name));
            self.shell.variables.retain(|name, _| is_named(name));
        }
        for name in &passing.without {
            self.shell.variables.remove(*name);
        }
        for (name, value) in own.filter_map(Word::assignment) {
            self.assign(&name, &value, line, true);
        }
        self.take_run(runs, line);
        if is_changed {
            self.shell.close();
        }
    }

    /// Records a command with its environment, unless it is like the one before.
    fn take_run(&mut self, runs: Runs, line: usize) {
        self.n_looked_up += self.names.len();
        if self.n_looked_up > MAX_LOOKED_UP {
            return;
        }
        let run = Run {
            runs,
            line,
            environment: self.shell.environment(&self.names, false),
            unexported: self.unexported(),
        };
        let is_like =
            |last: &Run| last.runs == runs && last.environment == run.environment && last.unexported == run.unexported;
        if self.runs.last().is_some_and(is_like) {
            return;
        }
        if self.runs.len() >= MAX_RUNS {
            self.runs.pop();
        }
        self.runs.push(run);
    }

    /// Variables with an effect that are set and not exported, with their lines.
    pub(super) fn unexported(&self) -> Vec<(String, usize)> {
        let known = self.names.iter().filter(|name| is_variable(name));
        let of_shell = known.filter_map(|name| Some((name, self.shell.variables.get(name)?)));
        let unexported = of_shell.filter(|(_, variable)| !variable.is_exported);
        unexported
            .map(|(name, variable)| (name.clone(), variable.line))
            .collect()
    }

    /// `export`, `declare` and the like.
    fn declare(&mut self, own: &str, words: &[Word], line: usize) {
        let has = |flag: char| {
            let mut flags = words
                .iter()
                .filter_map(Word::plain)
                .filter(|text| text.starts_with('-'));
            flags.any(|text| text.contains(flag))
        };
        let is_export = own == "export" || own != "readonly" && has('x');
        let is_unexport = own == "export" && has('n');
        self.exports |= is_export;
        let is_local = own == "local" || own != "export" && own != "readonly" && self.branches.is_in_braces();
        for word in words {
            match word.assignment() {
                Some((name, value)) => {
                    if is_local {
                        self.shell.keep_outer(&name);
                    }
                    let is_exported = is_export || self.shell.exports_all || self.shell.is_exported(&name);
                    if is_local && !is_exported {
                        let text = self.expand(&value.pieces, &name, line).ok();
                        self.shell.set(&name, text, line, false);
                    } else {
                        self.assign(&name, &value, line, is_exported && !is_unexport);
                    }
                }
                None => match word.plain().filter(|text| is_name(text)) {
                    Some(name) if is_export => {
                        if let Some(line) = self.shell.export(name, !is_unexport) {
                            self.note_set(name, line);
                        }
                    }
                    Some(_) => {}
                    None if word.plain().is_some_and(|text| text.starts_with('-')) => {}
                    None => break,
                },
            }
        }
    }

    /// `ENV NAME=value`, `ENV NAME value`, `setenv NAME value`.
    fn set_exported(&mut self, words: &[Word], line: usize) {
        self.exports = true;
        if let [name, value] = words
            && name.assignment().is_none()
        {
            if let Some(name) = name.plain().filter(|name| is_name(name)) {
                self.assign(name, value, line, true);
            }
            return;
        }
        for (name, value) in words.iter().map_while(Word::assignment) {
            self.assign(&name, &value, line, true);
        }
    }
}

/// `-c`, `-lc`.
fn is_command_flag(text: &str) -> bool {
    text.starts_with('-') && !text.starts_with("--") && text.ends_with('c')
}
