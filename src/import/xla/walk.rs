//! Steps through HLO text from statement to statement.
//!
//! Blanks and comments between tokens are stepped over, brackets and quotes respected. Invariants: every byte is looked at
//! a fixed number of times; the cancel flag is read every MiB.

use super::cursor::{Cursor, PlainBytes};
use super::text::error;
use crate::ImportError;
use highwater_model::progress::Progress;

/// Bytes between two checks of the cancel flag.
const BYTES_BETWEEN_CHECKS: usize = 1 << 20;

pub(super) struct Walk<'t> {
    text: &'t str,
    at: usize,
    line: u64,
    progress: &'t Progress<'t>,
    checked_at: usize,
}

/// Whether a letter belongs to the name of a computation or an instruction.
pub(super) fn is_name_letter(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '%' | '_' | '-' | '.' | ':' | '~' | '$')
}

impl<'t> Walk<'t> {
    /// Starts in front of a text whose first line has a number.
    pub(super) const fn new(text: &'t str, line: u64, progress: &'t Progress<'t>) -> Self {
        Self {
            text,
            at: 0,
            line,
            progress,
            checked_at: 0,
        }
    }

    pub(super) const fn at(&self) -> usize {
        self.at
    }

    pub(super) const fn line(&self) -> u64 {
        self.line
    }

    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// The text from a position to here.
    pub(super) fn since(&self, start: usize) -> &'t str {
        &self.text[start..self.at]
    }

    /// The next byte behind blanks and comments, which are stepped over; `None` at the end of the text.
    pub(super) fn peek(&mut self) -> Result<Option<u8>, ImportError> {
        let mut cursor = Cursor::new(self.rest());
        cursor.skip_blanks();
        self.advance(self.text.len() - self.at - cursor.rest().len());
        self.check(self.at)?;
        Ok(self.rest().bytes().next())
    }

    /// Moves behind some bytes.
    pub(super) fn advance(&mut self, n_bytes: usize) {
        let passed = &self.text.as_bytes()[self.at..self.at + n_bytes];
        let line_ends = passed.iter().filter(|byte| **byte == b'\n');
        self.line += line_ends.count() as u64;
        self.at += n_bytes;
    }

    pub(super) fn skip_line(&mut self) {
        let rest = self.rest();
        self.advance(rest.find('\n').map_or(rest.len(), |end| end + 1));
    }

    /// The header of a module without its first word, if it is next.
    pub(super) fn module_header(&mut self) -> Result<Option<&'t str>, ImportError> {
        const WORD: &str = "HloModule";
        let Some(behind) = self.rest().strip_prefix(WORD) else {
            return Ok(None);
        };
        let name = behind.trim_start();
        let is_word = name.len() < behind.len();
        let name_end = name.find(|letter: char| letter == ',' || letter.is_whitespace());
        let start = self.at + self.rest().len() - name.len() + name_end.unwrap_or(name.len());
        if !is_word {
            return Ok(None);
        }
        let end = self.end_of(start, true)?;
        let header = &self.text[self.at + WORD.len()..end];
        self.advance(end - self.at);
        Ok(Some(header))
    }

    /// The instruction that starts here, and its line.
    pub(super) fn statement(&mut self) -> Result<(u64, &'t str), ImportError> {
        let (start, line) = (self.at, self.line);
        let end = self.end_of(start, false)?;
        if end == start {
            return Err(error("a bracket closes that did not open", line));
        }
        let statement = self.text[start..end].trim_end();
        self.advance(end - start);
        Ok((line, statement))
    }

    /// The end of an instruction or of a module's header. Operands are the round brackets directly behind a word; behind
    /// them, a blank ends the statement unless a comma or an equals sign is next to it.
    fn end_of(&mut self, start: usize, is_header: bool) -> Result<usize, ImportError> {
        let joins = |byte: u8| matches!(byte, b',' | b'=' | b'<');
        let (mut depth, mut last) = (0_u32, 0_u8);
        let (mut may_end, mut has_name, mut in_operands) = (is_header, is_header, false);
        // The blanks up to here are within the statement.
        let mut joined_until = start;
        let mut bytes = PlainBytes::new(self.text, start);
        for (at, byte) in bytes.by_ref() {
            self.check(at)?;
            match byte {
                b'(' | b'[' | b'{' => {
                    let is_list = depth == 0 && byte == b'(' && has_name && is_name_letter(char::from(last));
                    in_operands |= is_list && !ends_with_pinned(&self.text[start..at]);
                    depth += 1;
                }
                b')' | b']' | b'}' if depth == 0 => return Ok(at),
                b')' | b']' | b'}' => {
                    depth -= 1;
                    may_end |= depth == 0 && in_operands;
                }
                b'=' if depth == 0 => has_name = true,
                _ if depth == 0 && may_end && byte.is_ascii_whitespace() && at >= joined_until && !joins(last) => {
                    let mut ahead = Cursor::new(&self.text[at..]);
                    ahead.skip_blanks();
                    // `mesh['d'=4] {'d'}` is one value.
                    if !ahead
                        .rest()
                        .bytes()
                        .next()
                        .is_some_and(|byte| joins(byte) || byte == b'{')
                    {
                        return Ok(at);
                    }
                    joined_until = self.text.len() - ahead.rest().len();
                }
                _ => {}
            }
            let is_blank = byte.is_ascii_whitespace();
            // `name (` is no operand list.
            last = if is_blank && (joins(last) || may_end) {
                last
            } else {
                byte
            };
        }
        if depth > 0 || bytes.is_open() {
            return Err(error("a bracket or quote is not closed", self.line));
        }
        Ok(self.text.len())
    }

    fn check(&mut self, at: usize) -> Result<(), ImportError> {
        if at >= self.checked_at + BYTES_BETWEEN_CHECKS {
            self.checked_at = at;
            self.progress.check()?;
        }
        Ok(())
    }
}

/// Whether a text ends with the word `b`, which begins the shape of a pinned buffer: `b(f32[4]{0})`.
fn ends_with_pinned(text: &str) -> bool {
    let before = text.strip_suffix('b');
    before.is_some_and(|before| !before.ends_with(is_name_letter))
}
