//! CSV for spreadsheets: text cells that a spreadsheet would run as a formula begin with `'`, hidden characters are visible.
//!
//! Such a cell begins with `=`, `+`, `-`, `@`, tab or return and is no number. A text that begins with `'` before one of these gets
//! another `'`, so that readers can take one off and have the text as it was.

use std::borrow::Cow;
use std::io::Write;

use highwater_model::visible::visible;

/// Writes CSV onward, each cell guarded. A record is written when its last cell ends, so the text has to end with a newline.
pub struct GuardedCells<W: Write> {
    out: W,
    /// The cell that is still being written, with its quotation marks.
    cell: Vec<u8>,
    is_quoted: bool,
    /// Cells that go on together.
    ready: Vec<u8>,
}

/// Bytes that go on together.
const PIECE: usize = 1 << 16;

impl<W: Write> GuardedCells<W> {
    pub const fn new(out: W) -> Self {
        Self {
            out,
            cell: Vec::new(),
            is_quoted: false,
            ready: Vec::new(),
        }
    }

    fn end_cell(&mut self) {
        match std::str::from_utf8(&self.cell) {
            Ok(cell) => self.ready.extend_from_slice(guarded_cell(cell).as_bytes()),
            Err(_not_text) => self.ready.extend_from_slice(&self.cell),
        }
        self.cell.clear();
    }

    /// Takes a cell, or the part of it that is there, and returns what follows.
    fn take_cell<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        for (position, byte) in bytes.iter().enumerate() {
            match byte {
                b',' | b'\n' if !self.is_quoted => {
                    self.end_cell();
                    self.ready.push(*byte);
                    return &bytes[position + 1..];
                }
                _ => {
                    // A doubled mark within quotes leaves and enters them again.
                    self.is_quoted ^= *byte == b'"';
                    self.cell.push(*byte);
                }
            }
        }
        &[]
    }
}

/// The bytes of the leading cells that stay as they are: nearly all cells, so that they are copied together.
fn plain_cells(bytes: &[u8]) -> &[u8] {
    let mut end = 0;
    let mut is_first = true;
    for (position, byte) in bytes.iter().enumerate() {
        match byte {
            b',' | b'\n' => {
                end = position + 1;
                is_first = true;
            }
            b'\'' | b'=' | b'+' | b'-' | b'@' if is_first => break,
            b' '..=b'~' if *byte != b'"' => is_first = false,
            _ => break,
        }
    }
    &bytes[..end]
}

impl<W: Write> Write for GuardedCells<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.cell.is_empty() {
                let plain = plain_cells(rest);
                self.ready.extend_from_slice(plain);
                rest = &rest[plain.len()..];
            }
            rest = self.take_cell(rest);
        }
        if self.ready.len() >= PIECE {
            self.out.write_all(&self.ready)?;
            self.ready.clear();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.write_all(&self.ready)?;
        self.ready.clear();
        self.out.flush()
    }
}

/// A whole CSV text with guarded cells.
pub fn guarded_csv(text: &str) -> String {
    let mut out = GuardedCells::new(Vec::with_capacity(text.len()));
    // Writing to memory does not fail.
    drop(out.write_all(text.as_bytes()));
    drop(out.flush());
    String::from_utf8(out.out).unwrap_or_default()
}

/// A cell as CSV has it, with quotation marks where it needs them.
fn guarded_cell(cell: &str) -> Cow<'_, str> {
    let (mark, content) = match cell.strip_prefix('"') {
        Some(content) => ("\"", content),
        None => ("", cell),
    };
    let clean = visible(cell);
    if acts_as_formula(content) {
        let clean = clean.strip_prefix(mark).unwrap_or(&clean);
        return Cow::Owned(format!("{mark}'{clean}"));
    }
    clean
}

fn acts_as_formula(content: &str) -> bool {
    let is_marked = content
        .trim_start_matches('\'')
        .starts_with(['=', '+', '-', '@', '\t', '\r']);
    is_marked && content.trim_end_matches('"').parse::<f64>().is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_become_texts_and_numbers_stay() {
        for (csv, expected) in [
            ("a,b\n1,2\n", "a,b\n1,2\n"),
            ("=1+1,+x,-x,@x,\tx\n", "'=1+1,'+x,'-x,'@x,'\tx\n"),
            ("-5,+5,-1.5e-3,\"-5\"\n", "-5,+5,-1.5e-3,\"-5\"\n"),
            ("\"=a,\"\"b\"\"\",c\n", "\"'=a,\"\"b\"\"\",c\n"),
            ("\"\rx\",\"a\rb\"\n", "\"'\\rx\",\"a\\rb\"\n"),
            ("'=x,''=x,'x\n", "''=x,'''=x,'x\n"),
            ("\u{1b}[2J,\u{202e}x\n", "\\x1b[2J,\\u{202e}x\n"),
            ("\"two\nlines\",=x\n", "\"two\nlines\",'=x\n"),
        ] {
            assert_eq!(guarded_csv(csv), expected, "{csv:?}");
        }
    }

    #[test]
    fn cells_may_come_in_pieces() {
        let csv = "é=x,\"=a\nb\",=c\n".repeat(20_000);
        let mut out = GuardedCells::new(Vec::new());
        for piece in csv.as_bytes().chunks(7) {
            out.write_all(piece).expect("memory");
        }
        out.flush().expect("memory");
        assert_eq!(out.out, guarded_csv(&csv).into_bytes());
    }
}
