//! Text files that are read line by line, so that at most one line is in memory.

use std::io::{BufRead as _, BufReader, Read as _};

use super::{ImportError, Input};
use highwater_model::progress::Progress;

/// The longest line in bytes; a line with a hundred thousand items fits.
const LINE_BYTES: u64 = 4 << 20;

const LINES_BETWEEN_CHECKS: u64 = 1 << 12;

/// Calls `take` with every line and its number, from 1, and returns the number of lines.
///
/// # Errors
/// A line that is too long, with `advice`; errors of `take`, of the reader, and [`ImportError::Cancelled`].
pub(super) fn each_line(
    input: &mut Input<'_>,
    progress: &Progress<'_>,
    advice: &'static str,
    mut take: impl FnMut(&[u8], u64) -> Result<(), ImportError>,
) -> Result<u64, ImportError> {
    let total = input.len();
    let mut source = BufReader::with_capacity(1 << 16, input.reader()?);
    let mut line = Vec::new();
    let (mut at, mut number) = (0_u64, 0_u64);
    loop {
        line.clear();
        let read = source.by_ref().take(LINE_BYTES + 1).read_until(b'\n', &mut line)? as u64;
        if read == 0 {
            return Ok(number);
        }
        number += 1;
        if number % LINES_BETWEEN_CHECKS == 1 {
            progress.set("reading", at, total)?;
        }
        at += read;
        if read > LINE_BYTES {
            return Err(ImportError::at(
                format!("the line is longer than {LINE_BYTES} bytes, the limit"),
                format!("line {number}"),
                advice,
            ));
        }
        take(&line, number)?;
    }
}
