//! How far aligned runs are from the first.

use crate::blocks::{Block, Table, paragraph};
use highwater_analysis::{Comparison, RunDifference};
use highwater_model::units::signed_bytes;

/// A table of the least and largest difference of each run, and how to list what makes one up; nothing where no runs are aligned.
pub(super) fn difference_blocks(comparison: &Comparison) -> Vec<Block> {
    let differences = &comparison.run_differences;
    let title = |lane: usize| comparison.lane_title(comparison.lanes[lane].id);
    let Some(furthest) = differences.iter().max_by_key(|one| one.furthest().bytes.unsigned_abs()) else {
        return Vec::new();
    };
    let caption = format!("Live bytes less those of {}, where both have events", title(0));
    let headings = [
        "run",
        ">least",
        ">at its event",
        ">event of the first",
        ">largest",
        ">at its event",
        ">event of the first",
    ];
    let mut table = Table::new(&headings);
    for one in differences {
        let cells = |difference: RunDifference| {
            let event = |lane: usize| comparison.shown_step(lane, difference.step).to_string();
            [signed_bytes(difference.bytes), event(one.lane), event(0)]
        };
        let cells = [cells(one.least), cells(one.greatest)].concat();
        table.strings(std::iter::once(title(one.lane)).chain(cells).collect());
    }
    let how = format!(
        "what makes it up: `highwater peak` of the same files with the same --align, and --lane {} --against 1 --step {}",
        furthest.lane + 1,
        // Digits that can be typed.
        comparison.shown_step(furthest.lane, furthest.furthest().step).0
    );
    vec![paragraph(caption), table.into(), paragraph(how)]
}
