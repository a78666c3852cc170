//! The lines of a log, one in memory at a time: bytes that mean nothing (NUL, colours, the end of DOS lines) are taken out, what is
//! no UTF-8 is replaced, and a line that is longer than any record is read on in parts.

use std::borrow::Cow;
use std::io::BufRead;

use super::super::lines::each_read;
use super::super::{ImportError, Input};
use super::head::records;
use highwater_model::progress::Progress;

/// Bytes of a line, or of a part of a longer one.
const LINE_BYTES: usize = 64 << 10;

/// Calls `take` with every line, with a `\n` at its end where the file has one, or where the text is no record.
///
/// # Errors
/// Those of the reader, and [`ImportError::Cancelled`].
pub(super) fn each_line(
    input: &mut Input<'_>,
    progress: &Progress<'_>,
    mut take: impl FnMut(&str),
) -> Result<(), ImportError> {
    each_read(input, progress, read_line, |line, _| {
        let bytes = plain(line);
        let text = String::from_utf8_lossy(&bytes);
        // A pasted text often ends without a newline; a record that does is cut, and so may be its last number.
        let is_whole = text.ends_with('\n') || line.len() >= LINE_BYTES || !records(&text).1.is_empty();
        if is_whole {
            take(&text);
        } else {
            take(&format!("{text}\n"));
        }
        Ok(())
    })?;
    Ok(())
}

/// Appends one line, or the next part of a long one; returns the bytes that were read.
fn read_line(source: &mut dyn BufRead, line: &mut Vec<u8>) -> std::io::Result<u64> {
    let mut read = 0;
    loop {
        let piece = match source.fill_buf() {
            Ok(piece) => piece,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if piece.is_empty() {
            return Ok(read);
        }
        let end = piece.iter().position(|byte| *byte == b'\n');
        let used = end
            .map_or(piece.len(), |end| end + 1)
            .min(LINE_BYTES.saturating_sub(line.len()));
        line.extend_from_slice(&piece[..used]);
        source.consume(used);
        read += used as u64;
        if line.ends_with(b"\n") || line.len() >= LINE_BYTES {
            return Ok(read);
        }
    }
}

/// Without NUL, escape sequences of colours, and `\r` at the end.
fn plain(line: &[u8]) -> Cow<'_, [u8]> {
    if !line.iter().any(|byte| matches!(byte, 0 | 0x1b | b'\r')) {
        return Cow::Borrowed(line);
    }
    let mut kept = Vec::with_capacity(line.len());
    let mut rest = line;
    while let [byte, after @ ..] = rest {
        rest = after;
        match byte {
            0 => {}
            0x1b if after.first() == Some(&b'[') => {
                let end = after[1..].iter().position(u8::is_ascii_alphabetic);
                rest = end.map_or(&[][..], |end| &after[end + 2..]);
            }
            b'\r' if matches!(after, [] | [b'\n' | b'\r', ..]) => {}
            other => kept.push(*other),
        }
    }
    Cow::Owned(kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use highwater_model::progress::Cancel;

    fn lines(text: &[u8]) -> Vec<String> {
        let mut input = Input::from_bytes("log", text).expect("memory");
        let cancel = Cancel::new();
        let mut lines = Vec::new();
        each_line(&mut input, &Progress::silent(&cancel), |line| {
            lines.push(line.to_owned());
        })
        .expect("readable");
        lines
    }

    #[test]
    fn colours_nuls_and_dos_ends_are_taken_out() {
        assert_eq!(
            lines(b"a\0b\r\n\x1b[32mc\x1b[0m\nd\xffe"),
            ["ab\n", "c\n", "d\u{fffd}e\n"]
        );
        assert_eq!(lines(b"x\x1b[31"), ["x\n"]);
        // A record without its end may have lost more.
        let record = "[INFO] GE(7,p):2026-07-13-08:00:00.580.598 size=12";
        assert_eq!(lines(record.as_bytes()), [record]);
    }

    #[test]
    fn a_long_line_is_read_in_parts() {
        let mut text = vec![b'x'; 2 * LINE_BYTES];
        text.extend(b" end\nnext\n");
        let lines = lines(&text);
        let lengths: Vec<usize> = lines.iter().map(String::len).collect();
        assert_eq!(lengths, [LINE_BYTES, LINE_BYTES, 5, 5]);
        assert_eq!((lines[2].as_str(), lines[3].as_str()), (" end\n", "next\n"));
    }
}
