//! The variables of a shell at a point of a script.

use std::collections::{BTreeMap, BTreeSet};

use highwater_options::Environment;

use super::word::Word;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Variable {
    /// `None` where only the running shell knows it.
    pub(super) text: Option<String>,
    pub(super) line: usize,
    /// Whether commands get it.
    pub(super) is_exported: bool,
}

/// The most variables that subshells copy, all together.
const MAX_COPIED: usize = 1 << 22;

/// Variables before a function made local ones of them.
type Outer = BTreeMap<String, Option<Variable>>;

/// A shell with the shells around it.
#[derive(Debug, Default)]
pub(super) struct Shell {
    pub(super) variables: BTreeMap<String, Variable>,
    /// `set -a`.
    pub(super) exports_all: bool,
    /// The variables of the shells around subshells; `None` where there were too many to copy.
    around: Vec<Option<(BTreeMap<String, Variable>, bool)>>,
    functions: Vec<Outer>,
    n_copied: usize,
}

impl Shell {
    /// A subshell starts with a copy.
    pub(super) fn open(&mut self) {
        self.n_copied += self.variables.len() + 1;
        let copy = (self.n_copied <= MAX_COPIED).then(|| (self.variables.clone(), self.exports_all));
        self.around.push(copy);
    }

    /// Its changes end with it.
    pub(super) fn close(&mut self) {
        if let Some(Some((variables, exports_all))) = self.around.pop() {
            self.variables = variables;
            self.exports_all = exports_all;
        }
    }

    pub(super) fn enter_function(&mut self) {
        self.functions.push(Outer::new());
    }

    /// Local variables end with their function.
    pub(super) fn leave_function(&mut self) {
        for (name, outer) in self.functions.pop().unwrap_or_default() {
            match outer {
                Some(outer) => drop(self.variables.insert(name, outer)),
                None => drop(self.variables.remove(&name)),
            }
        }
    }

    /// A variable becomes local.
    pub(super) fn keep_outer(&mut self, name: &str) {
        let outer = self.variables.get(name).cloned();
        if let Some(function) = self.functions.last_mut() {
            function.entry(name.to_owned()).or_insert(outer);
        }
    }

    pub(super) fn set(&mut self, name: &str, text: Option<String>, line: usize, is_exported: bool) {
        let variable = Variable {
            text,
            line,
            is_exported,
        };
        self.variables.insert(name.to_owned(), variable);
    }

    pub(super) fn is_exported(&self, name: &str) -> bool {
        self.variables.get(name).is_some_and(|variable| variable.is_exported)
    }

    /// Exports a variable, or no longer; the line that set it, where the file did.
    pub(super) fn export(&mut self, name: &str, is_exported: bool) -> Option<usize> {
        let variable = self.variables.get_mut(name)?;
        variable.is_exported = is_exported;
        Some(variable.line)
    }

    /// `set -a`, `set +o allexport`.
    pub(super) fn set_options(&mut self, words: &[Word]) {
        let mut words = words.iter().map_while(Word::plain);
        while let Some(word) = words.next() {
            let is_on = word.starts_with('-');
            if !is_on && !word.starts_with('+') || word == "--" {
                return;
            }
            let is_all = word.contains('a') || word.ends_with('o') && words.next() == Some("allexport");
            if is_all {
                self.exports_all = is_on;
            }
        }
    }

    /// The environment of a command: of these variables the exported ones, or all of them.
    pub(super) fn environment(&self, names: &BTreeSet<String>, is_plain: bool) -> Environment {
        let mut environment = Environment::new();
        let known = names.iter().filter_map(|name| Some((name, self.variables.get(name)?)));
        for (name, variable) in known.filter(|(_, variable)| is_plain || variable.is_exported) {
            match &variable.text {
                Some(text) => environment.set(name, text),
                None => environment.set_unread(name),
            }
        }
        environment
    }
}
