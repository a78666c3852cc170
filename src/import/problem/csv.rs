//! Comma-separated records: fields are trimmed, quoted ones may hold commas, doubled quotes and line breaks; lines
//! end in LF or CRLF; blank records are skipped. The `'` that keeps a spreadsheet from running a text is taken off. One
//! pass, nothing is copied but such fields and those with doubled quotes.

use std::borrow::Cow;

use crate::text_limits::PROBLEM;

/// A record that breaks the rules of CSV, and its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BadRecord {
    pub(super) what: String,
    /// Counted from 1.
    pub(super) line: u64,
}

fn check(bytes: usize, fields: usize, line: u64) -> Result<(), BadRecord> {
    let long = PROBLEM.long_line(bytes as u64);
    match long.or_else(|| PROBLEM.many_fields(fields)) {
        None => Ok(()),
        Some(what) => Err(BadRecord { what, line }),
    }
}

/// Whether a cell has a `'` that keeps spreadsheets from running it as a formula, as exports write it.
fn is_guarded(field: &str) -> bool {
    field.starts_with('\'')
        && field
            .trim_start_matches('\'')
            .starts_with(['=', '+', '-', '@', '\t', '\r'])
}

#[derive(Clone, Debug)]
pub(super) struct Records<'a> {
    text: &'a str,
    at: usize,
    line: u64,
}

impl<'a> Records<'a> {
    pub(super) const fn new(text: &'a str) -> Self {
        Self { text, at: 0, line: 0 }
    }

    /// Fills `fields` with the next record that is not blank and returns the line on which it starts.
    pub(super) fn next(&mut self, fields: &mut Vec<Cow<'a, str>>) -> Result<Option<u64>, BadRecord> {
        while self.at < self.text.len() {
            fields.clear();
            let line = self.line + 1;
            let rest = &self.text[self.at..];
            let end = rest.as_bytes().iter().position(|byte| *byte == b'\n');
            let record = &rest[..end.unwrap_or(rest.len())];
            if record.as_bytes().contains(&b'"') {
                self.quoted(fields)?;
            } else {
                let few = record.split(',').take(PROBLEM.fields + 1);
                fields.extend(few.map(|field| Cow::Borrowed(field.trim())));
                check(record.len(), fields.len(), line)?;
                self.at += record.len() + usize::from(end.is_some());
                self.line += u64::from(end.is_some());
            }
            for field in fields.iter_mut().filter(|field| is_guarded(field)) {
                *field = Cow::Owned(field[1..].to_owned());
            }
            if fields.iter().any(|field| !field.is_empty()) {
                return Ok(Some(line));
            }
        }
        Ok(None)
    }

    fn quoted(&mut self, fields: &mut Vec<Cow<'a, str>>) -> Result<(), BadRecord> {
        let (start, line) = (self.at, self.line + 1);
        loop {
            check(self.at - start, fields.len(), line)?;
            let rest = &self.text[self.at..];
            let start = rest.trim_start_matches([' ', '\t']);
            self.at += rest.len() - start.len();
            let value = if start.starts_with('"') {
                let value = self.quoted_field()?;
                if !self.plain_field().is_empty() {
                    return Err(BadRecord {
                        what: "a field goes on behind its closing quote".to_owned(),
                        line: self.line + 1,
                    });
                }
                value
            } else {
                Cow::Borrowed(self.plain_field())
            };
            fields.push(value);
            match self.text.as_bytes().get(self.at) {
                Some(b',') => self.at += 1,
                Some(_) => {
                    self.at += 1;
                    self.line += 1;
                    return Ok(());
                }
                None => return Ok(()),
            }
        }
    }

    /// Everything up to the next comma or line break, trimmed.
    fn plain_field(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let end = rest.find([',', '\n']).unwrap_or(rest.len());
        self.at += end;
        rest[..end].trim()
    }

    /// The text between quotes; stops behind the closing one.
    fn quoted_field(&mut self) -> Result<Cow<'a, str>, BadRecord> {
        let first_line = self.line + 1;
        self.at += 1;
        let mut value = Cow::Borrowed("");
        loop {
            let rest = &self.text[self.at..];
            let Some(end) = rest.find('"') else {
                return Err(BadRecord {
                    what: "a quoted field has no closing quote".to_owned(),
                    line: first_line,
                });
            };
            let piece = &rest[..end];
            check(value.len() + piece.len(), 0, first_line)?;
            self.line += piece.bytes().filter(|byte| *byte == b'\n').count() as u64;
            self.at += end + 1;
            let is_doubled = rest.as_bytes().get(end + 1) == Some(&b'"');
            if value.is_empty() && !is_doubled {
                value = Cow::Borrowed(piece);
            } else {
                value.to_mut().push_str(piece);
            }
            if !is_doubled {
                return Ok(value);
            }
            value.to_mut().push('"');
            self.at += 1;
        }
    }
}
