//! The plan that `TFLite` Micro prints (`GreedyMemoryPlanner::PrintMemoryPlan`), a line for each buffer.
//!
//! ```text
//! 0 (id=0): size=9216, offset=0, first_used=0 last_used=1
//! ```
//!
//! In: text of a terminal; other lines, and what a log puts before a line, are skipped. Out: the buffers, with the offsets
//! as a recorded plan. Ends are inclusive. Where an id occurs again with other numbers, another plan begins, as of a second
//! model; the same line again is the same buffer.

use super::banks::Banks;
use super::draft::Row;
use crate::ImportError;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_model::workload::ProblemEntry;

/// `MicroArenaBufferAlignment` of `TFLite` Micro.
const ALIGNMENT: u64 = 16;

const MAKER: &str = "TFLite Micro";

pub(super) fn detect(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    text.lines().any(|line| line_of(line).is_some())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Line {
    id: u64,
    size: u64,
    offset: u64,
    first: u64,
    last: u64,
}

/// The numbers of a line; `None` where it is no line of a plan.
fn line_of(line: &str) -> Option<Line> {
    let (_, rest) = line.split_once("(id=")?;
    let (id, rest) = rest.split_once("): size=")?;
    let (size, rest) = rest.split_once(", offset=")?;
    let (offset, rest) = rest.split_once(", first_used=")?;
    let (first, rest) = rest.split_once(" last_used=")?;
    let end = rest.find(|letter: char| !letter.is_ascii_digit());
    let number = |text: &str| super::number::parse(text).ok();
    Some(Line {
        id: number(id)?,
        size: number(size)?,
        offset: number(offset)?,
        first: number(first)?,
        last: number(&rest[..end.unwrap_or(rest.len())])?,
    })
}

pub(super) fn read(
    text: &str,
    name: String,
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Vec<ProblemEntry>, ImportError> {
    let mut banks = Banks::new(name, "plan");
    banks.maker = Some(MAKER.to_owned());
    let mut places = Vec::new();
    let mut plan: std::collections::BTreeMap<u64, Line> = std::collections::BTreeMap::new();
    let mut n_plans = 1;
    for (number, line) in (1_u64..).zip(text.lines()) {
        if number.is_multiple_of(4096) {
            progress.check()?;
        }
        let Some(found) = line_of(line) else { continue };
        match plan.get(&found.id) {
            Some(before) if *before == found => continue,
            Some(_) => {
                plan.clear();
                n_plans += 1;
            }
            None => {}
        }
        plan.insert(found.id, found);
        places.push(number);
        // A size of 0 takes no memory, and a buffer that nothing uses has no life.
        if found.size == 0 || found.last < found.first {
            places.pop();
            diagnostics.skipped("a buffer without bytes or without a use", &format!("line {number}"));
            continue;
        }
        let row = Row {
            id: &found.id.to_string(),
            lower: found.first,
            upper: found.last,
            is_inclusive: true,
            size: found.size,
            alignment: ALIGNMENT,
            offset: Some(found.offset),
        };
        let bank = n_plans.to_string();
        let pushed = banks.next(&bank).and_then(|draft| draft.push(&row));
        pushed.map_err(|what| ImportError::at(what, format!("line {number}"), "correct the row"))?;
    }
    if banks.is_empty() {
        return Err(ImportError::at(
            "no buffer of the printed plan is used",
            "the end of the file",
            "print the plan after AllocateTensors()",
        ));
    }
    let line = |row: usize| format!("line {}", places.get(row).copied().unwrap_or(0));
    banks.finish(&line, diagnostics)
}
