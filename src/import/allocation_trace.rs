//! Allocation traces: text, one command a line (docs/text-formats.md has the whole description).
//!
//! ```text
//! # a comment                       device 32G            the device, before the first command
//! a block 1.5M                      use 1                 pool 1 is the current one
//! f block                           load G 200M 20M:nz    a static graph and its segments
//! ```
//!
//! In: text, read line by line, so that only the commands are held. Out: one
//! [`AllocationTrace`](highwater_model::workload::AllocationTrace). Every error names its line. What the commands mean together
//! (a free without an allocation) is the replay's business.

mod commands;
mod limits;

use std::sync::Arc;

use super::lines::each_line;
use super::{ImportError, Input};
use commands::Reader;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_model::workload::Source;

const LINES_LOOKED_AT: usize = 32;

/// At least one whole command among the first lines, and more lines that begin like a command than others.
pub(super) fn detect(input: &Input<'_>) -> bool {
    let head = input.head();
    let is_cut = (head.len() as u64) < input.len();
    let mut lines: Vec<&[u8]> = head.split(|byte| *byte == b'\n').collect();
    if is_cut && lines.len() > 1 {
        lines.pop();
    }
    let (mut whole, mut alike, mut other) = (0_usize, 0_usize, 0_usize);
    for line in lines {
        let Ok(line) = std::str::from_utf8(line) else {
            return false;
        };
        match commands::resemblance(line) {
            commands::Resemblance::Nothing => {}
            commands::Resemblance::Command => whole += 1,
            commands::Resemblance::Word => alike += 1,
            commands::Resemblance::Other => other += 1,
        }
        if whole + alike + other == LINES_LOOKED_AT {
            break;
        }
    }
    whole > 0 && whole + alike > other
}

pub(super) fn import(
    input: &mut Input<'_>,
    progress: &Progress<'_>,
    _diagnostics: &mut Diagnostics,
) -> Result<Source, ImportError> {
    let mut reader = Reader::new(input.name());
    let advice = "a trace has one command a line; check that the file is one";
    each_line(input, progress, advice, |line, number| {
        let text = std::str::from_utf8(line).map_err(|error| {
            ImportError::at(
                "the text is not UTF-8",
                format!("line {number} byte {}", error.valid_up_to() + 1),
                "save the file as UTF-8",
            )
        })?;
        reader.line(text, number)
    })?;
    Ok(Source::Traces(vec![Arc::new(reader.finish())]))
}

#[cfg(test)]
mod tests;
