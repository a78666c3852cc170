//! Entries as texts, for the command line: one entry per text.
//!
//! ```text
//! entry  = name dims? repeats? group? | ("load" | "unload") blank name
//! dims   = '[' dim '=' generator (';' dim '=' generator)* ']'
//! repeats = '*' number          group = '@' number
//! name   = characters except [ ] * @ ; ", or anything in quotes ("), with \" and \\ as escapes
//! ```
//!
//! `resnet50*3`, `bert[seq=8..64 step 8; batch=4]*2 @1`, `load "a [b]"`. Invariant: text round-trips.

use std::fmt;
use std::str::FromStr;

use super::entries::{EntryKind, ScheduleEntry};
use crate::workload::generator::Generator;

/// Why a text is no entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at character {}, {reason}", position + 1)]
pub struct EntryTextError {
    /// Characters before the place.
    pub position: usize,
    /// The error, and the accepted form.
    pub reason: String,
}

/// Characters that end a name without quotes.
const SPECIAL: &str = "[]*@;\"\\";

impl fmt::Display for ScheduleEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.kind != EntryKind::Run {
            return write!(f, "{} {}", self.kind.name(), quoted(&self.graph, ""));
        }
        f.write_str(&quoted(&self.graph, ""))?;
        if !self.dims.is_empty() {
            let dims = self.dims.iter();
            let dims: Vec<String> = dims.map(|(dim, from)| format!("{}={from}", quoted(dim, "="))).collect();
            write!(f, "[{}]", dims.join("; "))?;
        }
        if self.repeats != 1 {
            write!(f, "*{}", self.repeats)?;
        }
        match self.group {
            Some(group) => write!(f, " @{group}"),
            None => Ok(()),
        }
    }
}

/// A name, in quotes where it is ambiguous.
fn quoted(name: &str, also: &str) -> String {
    let is_special = |letter: char| SPECIAL.contains(letter) || also.contains(letter);
    let is_plain = !name.is_empty() && name.trim() == name && !name.contains(is_special);
    // A blank may follow the name.
    let is_word = |kind: EntryKind| {
        let rest = name.strip_prefix(kind.name());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
    };
    if is_plain && !is_word(EntryKind::Load) && !is_word(EntryKind::Unload) {
        return name.to_owned();
    }
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}

impl FromStr for ScheduleEntry {
    type Err = EntryTextError;

    fn from_str(text: &str) -> Result<Self, EntryTextError> {
        let mut reader = Reader {
            letters: text.chars().collect(),
            at: 0,
        };
        reader.skip_blanks();
        for kind in [EntryKind::Load, EntryKind::Unload] {
            if reader.take_word(kind.name()) {
                let graph = reader.name("")?;
                reader.end()?;
                return Ok(Self {
                    kind,
                    ..Self::run(graph)
                });
            }
        }
        let mut entry = Self::run(reader.name("")?);
        if reader.take('[') {
            reader.dims(&mut entry)?;
        }
        if reader.take('*') {
            entry.repeats = reader.number("a number of repeats from 1 belongs behind *")?;
            if entry.repeats == 0 {
                return Err(reader.error("the repeats must be at least 1"));
            }
        }
        if reader.take('@') {
            entry.group = Some(reader.number("a number of a group belongs behind @")?);
        }
        reader.end()?;
        Ok(entry)
    }
}

struct Reader {
    letters: Vec<char>,
    at: usize,
}

impl Reader {
    fn error(&self, reason: &str) -> EntryTextError {
        EntryTextError {
            position: self.at,
            reason: reason.to_owned(),
        }
    }

    fn peek(&self) -> Option<char> {
        self.letters.get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
    }

    /// Takes a character with surrounding blanks.
    fn take(&mut self, letter: char) -> bool {
        self.skip_blanks();
        let is_there = self.peek() == Some(letter);
        if is_there {
            self.at += 1;
            self.skip_blanks();
        }
        is_there
    }

    /// Takes a word followed by a blank.
    fn take_word(&mut self, word: &str) -> bool {
        let n_letters = word.chars().count();
        let rest = self.letters.get(self.at..).unwrap_or_default();
        let is_there = rest.iter().copied().take(n_letters).eq(word.chars());
        let is_word = is_there && rest.get(n_letters).is_some_and(|letter| letter.is_whitespace());
        if is_word {
            self.at += n_letters;
            self.skip_blanks();
        }
        is_word
    }

    /// A name up to a special character, or in quotes.
    fn name(&mut self, also: &str) -> Result<String, EntryTextError> {
        self.skip_blanks();
        if self.peek() == Some('"') {
            return self.quoted();
        }
        let start = self.at;
        while let Some(letter) = self.peek()
            && !SPECIAL.contains(letter)
            && !also.contains(letter)
        {
            self.at += 1;
        }
        let name: String = self.letters[start..self.at].iter().collect();
        let name = name.trim();
        if name.is_empty() {
            return Err(self.error("a name belongs here; within quotes where it holds one of []*@;"));
        }
        Ok(name.to_owned())
    }

    fn quoted(&mut self) -> Result<String, EntryTextError> {
        self.at += 1;
        let mut name = String::new();
        while let Some(letter) = self.peek() {
            self.at += 1;
            match letter {
                '"' if name.is_empty() => return Err(self.error("a name belongs between the quotes")),
                '"' => return Ok(name),
                '\\' => {
                    let escaped = self.peek().ok_or_else(|| self.error("a quote is missing"))?;
                    name.push(escaped);
                    self.at += 1;
                }
                other => name.push(other),
            }
        }
        Err(self.error("a quote is missing"))
    }

    fn number(&mut self, reason: &str) -> Result<u32, EntryTextError> {
        let start = self.at;
        while self.peek().is_some_and(|letter| letter.is_ascii_digit()) {
            self.at += 1;
        }
        let digits: String = self.letters[start..self.at].iter().collect();
        digits.parse().map_err(|_reported| self.error(reason))
    }

    fn dims(&mut self, entry: &mut ScheduleEntry) -> Result<(), EntryTextError> {
        loop {
            let name = self.name("=")?;
            if !self.take('=') {
                return Err(self.error("= and the values of the dimension belong here, such as [seq=8,16]"));
            }
            let start = self.at;
            while self.peek().is_some_and(|letter| !"[];".contains(letter)) {
                self.at += 1;
            }
            let text: String = self.letters[start..self.at].iter().collect();
            let generator: Generator =
                text.parse()
                    .map_err(|error: crate::workload::GeneratorError| EntryTextError {
                        position: start,
                        reason: error.to_string(),
                    })?;
            if entry.dims.insert(name.clone(), generator).is_some() {
                return Err(self.error(&format!("\"{name}\" has values already; write them in one list")));
            }
            if self.take(']') {
                return Ok(());
            }
            if !self.take(';') {
                return Err(self.error("; and another dimension, or ] belongs here"));
            }
        }
    }

    fn end(&mut self) -> Result<(), EntryTextError> {
        self.skip_blanks();
        match self.peek() {
            None => Ok(()),
            Some(letter) => Err(self.error(&format!(
                "nothing belongs here but [dim=values], *repeats and @group, in this order; it is \"{letter}\""
            ))),
        }
    }
}
