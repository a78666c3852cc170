//! Diagnostics: oddities that do not stop the work, with a place and a count.
//!
//! In: one named constructor call per kind of message. Out: a list in the order of first appearance; equal messages are
//! counted, not repeated. Errors that end the work have an error type per stage.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The figures cannot be trusted or the configuration is refused.
    Error,
    Warning,
    Info,
}

impl Severity {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub severity: Severity,
    /// A sentence without a final period; says what to do where there is something to do.
    pub message: String,
    /// The first place, such as a tensor name or `byte 1042`; empty where there is none.
    pub place: String,
    /// At least 1.
    pub count: u64,
}

impl Diagnostic {
    /// How often, what, and where.
    pub fn words(&self) -> String {
        let (times, first) = match self.count {
            0 | 1 => (String::new(), ""),
            count => (format!("{count} times: "), "first: "),
        };
        let place = match &*self.place {
            "" => String::new(),
            place => format!(" ({first}{place})"),
        };
        format!("{times}{}{place}", self.message)
    }
}

/// Most different messages that are kept, which bounds the search for equal ones.
const MAX_MESSAGES: usize = 500;

/// The message for those beyond the limit.
const LEFT_OUT: &str = "further messages are left out";

/// A sink that stages pass along.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    entries: Vec<Diagnostic>,
    /// Messages beyond the limit.
    left_out: u64,
}

impl Diagnostics {
    pub fn new() -> Self {
        Self::default()
    }

    /// In the order of first appearance.
    pub fn entries(&self) -> &[Diagnostic] {
        &self.entries
    }

    pub fn extend(&mut self, other: &Self) {
        for entry in &other.entries {
            self.push_counted(entry.clone());
        }
    }

    /// A copy whose messages begin with a name.
    #[must_use]
    pub fn prefixed(&self, name: &str) -> Self {
        let mut all = Self::new();
        for entry in &self.entries {
            let message = format!("{name}: {}", entry.message);
            all.push_counted(Diagnostic {
                message,
                ..entry.clone()
            });
        }
        all
    }

    /// A copy whose places begin with a file: equal messages of several files stay one.
    #[must_use]
    pub fn placed_in(&self, file: &str) -> Self {
        let mut all = self.clone();
        for entry in &mut all.entries {
            entry.place = match entry.place.as_str() {
                "" => file.to_owned(),
                place if place == file => file.to_owned(),
                place => format!("{file}: {place}"),
            };
        }
        all
    }

    /// Unknown shapes, counted as 0 bytes. `example` is the first tensor's name.
    pub fn unknown_shapes(&mut self, example: &str, count: u64) {
        self.counted(
            Severity::Warning,
            "the shape of a tensor stays unknown, it counts 0 bytes: the figures are lower bounds",
            example,
            count,
        );
    }

    /// An op type without a shape rule; `op` is the first of `count` ops.
    pub fn op_without_shape_rule(&mut self, kind: &str, op: &str, count: u64) {
        self.counted(
            Severity::Info,
            format!("op type {kind} has no shape rule here; its outputs keep the shapes given in the file, if any"),
            op,
            count,
        );
    }

    pub fn unbound_symbol(&mut self, symbol: &str) {
        self.info(
            format!("dimension \"{symbol}\" has no value, so there is no peak; give one with --dim {symbol}=VALUE"),
            symbol,
        );
    }

    /// Ops that the file does not store in execution order; `first` is the first that needs a later one.
    pub fn sorted(&mut self, first: &str, n_ops: u64) {
        self.info(
            format!(
                "{n_ops} ops are not stored in execution order; they were sorted (the ready op with the smallest file \
                 position first); the first of them needs what comes later in the file"
            ),
            first,
        );
    }

    /// Input that the importer leaves out on purpose.
    pub fn skipped(&mut self, what: &str, place: &str) {
        self.info(format!("{what} is not read"), place);
    }

    /// Prefer a named constructor where a message is used twice.
    pub fn warning(&mut self, message: impl Into<String>, place: &str) {
        self.counted(Severity::Warning, message, place, 1);
    }

    pub fn info(&mut self, message: impl Into<String>, place: &str) {
        self.counted(Severity::Info, message, place, 1);
    }

    /// An error that still leaves an answer.
    pub fn error(&mut self, message: impl Into<String>, place: &str) {
        self.counted(Severity::Error, message, place, 1);
    }

    /// `place` is the first of `count`. Nothing is reported where the count is 0.
    pub fn counted(&mut self, severity: Severity, message: impl Into<String>, place: &str, count: u64) {
        if count > 0 {
            self.push_counted(Diagnostic {
                severity,
                message: message.into(),
                place: place.to_owned(),
                count,
            });
        }
    }

    /// O(number of *different* messages), which importers keep small.
    pub fn push_counted(&mut self, new: Diagnostic) {
        let is_same = |old: &Diagnostic| old.severity == new.severity && old.message == new.message;
        let position = if self.left_out == 0 {
            self.entries.iter().position(is_same)
        } else {
            None
        };
        match position {
            Some(position) => self.entries[position].count += new.count,
            None if self.entries.len() < MAX_MESSAGES => self.entries.push(new),
            None => {
                if self.left_out == 0 {
                    self.entries.push(Diagnostic {
                        severity: Severity::Warning,
                        message: LEFT_OUT.to_owned(),
                        place: String::new(),
                        count: 0,
                    });
                }
                self.left_out += new.count;
                if let Some(last) = self.entries.last_mut() {
                    last.count = self.left_out;
                }
            }
        }
    }
}

/// The text of a reader's error without names of Rust types: `expected struct WireNode` becomes `expected an object`.
pub fn without_type_names(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, kind, behind)) = next_type(rest) {
        plain.push_str(before);
        plain.push_str(kind);
        rest = behind.trim_start_matches(|letter: char| letter.is_alphanumeric() || letter == '_');
    }
    plain.push_str(rest);
    plain
}

/// The text before the first name of a type, the word for its kind, and the text from the name on.
fn next_type(text: &str) -> Option<(&str, &'static str, &str)> {
    const KINDS: [(&str, &str); 3] = [
        ("tuple struct ", "a list"),
        ("struct ", "an object"),
        ("enum ", "one of its names"),
    ];
    let found = KINDS.iter().filter_map(|(word, kind)| {
        let at = text.find(word)?;
        Some((at, *kind, at + word.len()))
    });
    let (at, kind, end) = found.min_by_key(|(at, _, _)| *at)?;
    Some((&text[..at], kind, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::without_type_names;

    #[test]
    fn errors_have_no_names_of_types() {
        for (text, plain) in [
            (
                "invalid type: integer `3`, expected struct WireNode",
                "invalid type: integer `3`, expected an object",
            ),
            ("expected tuple struct Pair_2 here", "expected a list here"),
            ("expected struct A or enum B", "expected an object or one of its names"),
            ("missing field `op`", "missing field `op`"),
            ("", ""),
        ] {
            assert_eq!(without_type_names(text), plain);
        }
    }
}
