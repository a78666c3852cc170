//! The lines of `print_log=True`, character for character, with what they are about.

use std::borrow::Cow;
use std::sync::Arc;

use super::flow::Flow;
use super::versions::LogForm;

/// One line. Texts that are always the same are not copied, and lines share names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// The text, without its line break.
    pub text: Cow<'static, str>,
    /// The variable that looked for memory and the one whose memory was looked at, as far as the line is about them.
    pub variables: [Option<Arc<str>>; 2],
    /// The block of the op.
    pub block: u32,
    /// The op's position there.
    pub op: u32,
}

/// The lines of a graph, as far as they are wanted; all of them are counted.
#[derive(Debug)]
pub(super) struct Log {
    lines: Vec<LogLine>,
    n_lines: u64,
    most: usize,
    /// By number: names that lines share.
    names: Vec<Option<Arc<str>>>,
}

impl Log {
    /// A log for at most so many lines about so many names.
    pub(super) fn new(most: usize, n_names: usize) -> Self {
        Self {
            lines: Vec::new(),
            n_lines: 0,
            most,
            names: vec![None; n_names],
        }
    }

    /// One more line about two variables of an op (block, position); its text is asked for only where it is kept.
    pub(super) fn line(
        &mut self,
        flow: &Flow<'_>,
        (block, op): (u32, u32),
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

    /// The lines that were kept, and how many there were.
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

/// A hit, as the original counts it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit<'a> {
    /// Hits in this graph before.
    pub(super) number: usize,
    /// The variable and its shape.
    pub(super) variable: (&'a str, &'a [i64]),
    /// The free name and its shape.
    pub(super) cache: (&'a str, &'a [i64]),
    /// Its position in the pool.
    pub(super) position: usize,
    /// How many entries the pool has, this one included.
    pub(super) n_entries: usize,
}

/// A list as Python writes it.
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

/// The line of an entry that the op's block does not know.
pub(super) fn not_found(cache: &str) -> String {
    format!("cache {cache} not exists!")
}

/// The line of an entry that is the variable itself.
pub(super) fn same_name(name: &str) -> String {
    format!("x :  {name}  cache :  {name}  is same var!")
}

/// The line of an entry of another data type.
pub(super) const OTHER_TYPE: &str = "x_dtype and cache_dtype are different";
