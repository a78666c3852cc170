//! Text files that are read line by line, so that at most one line is in memory.

use std::io::{BufRead, BufReader, Read as _};

use super::text_limits::LINES;
use super::{ImportError, Input};
use highwater_model::progress::Progress;

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
    let read = |source: &mut dyn BufRead, line: &mut Vec<u8>| {
        let read = source.take(LINES.line_bytes + 1).read_until(b'\n', line)?;
        Ok(read as u64)
    };
    each_read(input, progress, read, |line, number| {
        if line.len() as u64 > LINES.line_bytes {
            LINES.check(line.len() as u64, 0, format!("line {number}"), advice)?;
        }
        take(line, number)
    })
}

/// Calls `take` with every line as `read` appends it, and its number, from 1, and returns the number of lines; `read`
/// returns the bytes that it consumed, 0 at the end.
///
/// # Errors
/// Errors of `take` and `read`, and [`ImportError::Cancelled`].
pub(super) fn each_read(
    input: &mut Input<'_>,
    progress: &Progress<'_>,
    read: impl Fn(&mut dyn BufRead, &mut Vec<u8>) -> std::io::Result<u64>,
    mut take: impl FnMut(&[u8], u64) -> Result<(), ImportError>,
) -> Result<u64, ImportError> {
    let total = input.len();
    let mut source = BufReader::with_capacity(1 << 16, input.reader()?);
    let mut line = Vec::new();
    let (mut at, mut number) = (0_u64, 0_u64);
    loop {
        line.clear();
        let bytes = read(&mut source, &mut line)?;
        if bytes == 0 {
            return Ok(number);
        }
        number += 1;
        if number % LINES_BETWEEN_CHECKS == 1 {
            progress.set("reading", at, total)?;
        }
        at += bytes;
        take(&line, number)?;
    }
}
