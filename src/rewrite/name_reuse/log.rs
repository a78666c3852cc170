//! The lines of `print_log=True`, character for character, with their variables.

use std::borrow::Cow;
use std::sync::Arc;

use super::flow::Flow;
use super::versions::LogForm;

/// One line. Constant texts are not copied, and lines share names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// Without the line break.
    pub text: Cow<'static, str>,
    /// The variable that seeks memory and the candidate, where the line names them.
    pub variables: [Option<Arc<str>>; 2],
    pub block: u32,
    pub op: u32,
}

/// The log of a graph, truncated to a limit; all lines are counted.
#[derive(Debug)]
pub(super) struct Log {
    lines: Vec<LogLine>,
    n_lines: u64,
    most: usize,
    /// By number: names shared by lines.
    names: Vec<Option<Arc<str>>>,
}

impl Log {
    /// A log of at most `most` lines about `n_names` names.
    pub(super) fn new(most: usize, n_names: usize) -> Self {
        Self {
            lines: Vec::new(),
            n_lines: 0,
            most,
            names: vec![None; n_names],
        }
    }

    /// Adds a line about two variables of an op (block, position); the text is built only if the line is kept.
    pub(super) fn line(
        &mut self,
        flow: &Flow<'_>,
        block: u32,
        op: u32,
        variables: [u32; 2],
        text: impl FnOnce() -> Cow<'static, str>,
    ) {
        self.n_lines += 1;
        if self.lines.len() < self.most {
            let variables = variables.map(|name| Some(self.shared(flow, name)));
            self.lines.push(LogLine {
                text: text(),
                variables,
                block,
                op,
            });
        }
    }

    /// The kept lines, and the count of all.
    pub(super) fn finish(self) -> (Vec<LogLine>, u64) {
        (self.lines, self.n_lines)
    }

    fn shared(&mut self, flow: &Flow<'_>, name: u32) -> Arc<str> {
        let text = || Arc::from(flow.text(name));
        match self.names.get_mut(name as usize) {
            Some(known) => Arc::clone(known.get_or_insert_with(text)),
            None => text(),
        }
    }
}

/// A hit, as numbered by the original.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit<'a> {
    /// Hits in this graph before it.
    pub(super) number: usize,
    /// The variable and its shape.
    pub(super) variable: (&'a str, &'a [i64]),
    /// The free name and its shape.
    pub(super) cache: (&'a str, &'a [i64]),
    /// Position in the pool.
    pub(super) position: usize,
    /// Entries of the pool, this one included.
    pub(super) n_entries: usize,
}

/// A list in Python's notation.
fn list(shape: &[i64]) -> String {
    let dims: Vec<String> = shape.iter().map(i64::to_string).collect();
    format!("[{}]", dims.join(", "))
}

/// The line of a hit.
pub(super) fn hit(form: LogForm, hit: &Hit<'_>) -> String {
    let Hit {
        number,
        variable,
        cache,
        position,
        n_entries,
    } = hit;
    match form {
        LogForm::HitCache => format!(
            "Hit Cache !!!! cache pool index is {position}, var name is {}, cached var name is {}, var shape is {}",
            variable.0,
            cache.0,
            list(variable.1)
        ),
        LogForm::Numbered => format!(
            "!!! {number},  {}{} => {}{}, cache idx {position}, pool size {n_entries}",
            variable.0,
            list(variable.1),
            cache.0,
            list(cache.1)
        ),
    }
}

/// The line of an entry that the op's block does not declare.
pub(super) fn not_found(cache: &str) -> String {
    format!("cache {cache} not exists!")
}

/// The line of an entry with the variable's own name.
pub(super) fn same_name(name: &str) -> String {
    format!("x :  {name}  cache :  {name}  is same var!")
}

/// The line of an entry with another data type.
pub(super) const OTHER_TYPE: &str = "x_dtype and cache_dtype are different";
