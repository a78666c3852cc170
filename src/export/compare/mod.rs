//! The answer of `compare` for people: blocks for text, for comments on a change, and for the report.
//!
//! In: a [`CompareAnswer`]. Out: blocks. [`Detail::Short`] leaves out columns, remarks of severity info and what only explains; the
//! verdict comes first there, and last in text, where the end stays on the screen.

mod changes;
mod differences;
mod lanes;
mod notes;

use differences::difference_blocks;
pub(crate) use lanes::{Columns, lanes_table};
pub(crate) use notes::{
    failures, finding_lines, heading, lane_notes, pin_lines, recorded_blocks, run_tables, shortages,
};

use serde::Serialize;

use super::answer::{Answer, Page};
use super::baseline_comparison::{BaselineComparison, LaneBaseline};
use super::blocks::{Block, code, paragraph, text};
use super::comparison::answer_fields;
use highwater_analysis::{Comparison, Configuration, LaneGoal, Recommended};
use highwater_model::diagnostics::Diagnostics;
use highwater_options::Finding;

#[derive(Clone, Debug)]
pub struct CompareAnswer<'a> {
    pub comparison: &'a Comparison,
    /// Positions of the lanes that are written for people.
    pub lanes: Vec<usize>,
    /// The goal of the recommendation.
    pub goal: LaneGoal,
    pub findings: &'a [Finding],
    /// The importers' remarks.
    pub import: &'a Diagnostics,
    /// The configuration that pins are compared with.
    pub options: &'a Configuration,
    /// The active lane compared with an earlier answer, or checked against limits.
    pub baseline_comparison: Option<&'a BaselineComparison<'a>>,
    /// Why the active policy does not run to its end; `None` where it does.
    pub shortage: Option<&'a Shortage>,
    /// All lanes compared with one of them.
    pub lane_baseline: Option<&'a LaneBaseline>,
    /// The number of listed changes of a kind, and for programs of tensors; else the usual ones.
    pub most: Option<usize>,
    /// Whether the peak of each lane is explained.
    pub explains: bool,
    /// Whether each lane has a map of characters.
    pub maps: bool,
}

/// Why the active policy does not run to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortage {
    pub verdict: String,
    /// The sentences of its out-of-memory report.
    pub details: String,
}

/// How much is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    Full,
    /// For a comment on a change.
    Short,
}

impl Answer for CompareAnswer<'_> {
    fn page(&self) -> Page {
        Page(self.blocks(Detail::Full))
    }

    fn comment(&self) -> Page {
        Page(self.blocks(Detail::Short))
    }

    fn json(&self) -> impl Serialize {
        answer_fields(self)
    }
}

impl<'a> CompareAnswer<'a> {
    /// All lanes, without baselines and limits.
    pub fn new(
        comparison: &'a Comparison,
        goal: LaneGoal,
        findings: &'a [Finding],
        import: &'a Diagnostics,
        options: &'a Configuration,
    ) -> Self {
        Self {
            comparison,
            lanes: (0..comparison.lanes.len()).collect(),
            goal,
            findings,
            import,
            options,
            baseline_comparison: None,
            shortage: None,
            lane_baseline: None,
            most: None,
            explains: false,
            maps: false,
        }
    }

    /// The recommended policy; `None` where policies are not compared or none fits.
    pub fn recommended(&self) -> Option<&'a Recommended> {
        self.comparison.recommended(self.goal)
    }

    fn blocks(&self, detail: Detail) -> Vec<Block> {
        let comparison = self.comparison;
        let name = text("Device memory of ").and(code(&comparison.workload.name));
        let mut blocks = vec![Block::Heading(3, name)];
        let verdict = Block::lines(changes::verdict_lines(self, detail));
        if detail == Detail::Short {
            blocks.push(verdict.clone());
        }
        let [runs, device] = heading(comparison);
        blocks.extend([Block::Paragraph(runs), Block::Note(device)]);
        let columns = match detail {
            Detail::Full => Columns::All,
            Detail::Short => Columns::Short,
        };
        let base = self.lane_baseline.map(|baseline| baseline.lane);
        if detail == Detail::Full || base.is_none() {
            blocks.push(lanes_table(self, &self.lanes, columns, None).into());
        }
        if let Some(base) = base {
            blocks.push(paragraph(format!(
                "Lanes compared with {}",
                comparison.lane_title(comparison.lanes[base].id)
            )));
            blocks.push(lanes_table(self, &self.lanes, Columns::Short, Some(base)).into());
        }
        blocks.extend(recorded_blocks(self));
        blocks.extend(difference_blocks(comparison));
        blocks.extend(failures(self));
        blocks.extend(run_tables(comparison));
        blocks.push(Block::lines(lane_notes(self)));
        blocks.push(Block::Lines(pin_lines(self)));
        if detail == Detail::Full {
            blocks.push(Block::Lines(shortages(self)));
        }
        if self.explains {
            blocks.push(Block::Lines(notes::explanations(self)));
        }
        if self.maps {
            blocks.extend(notes::maps(self));
        }
        blocks.extend(changes::baseline_blocks(self));
        let is_kept = |is_info: bool| detail == Detail::Full || !is_info;
        blocks.push(Block::lines(finding_lines(self, is_kept)));
        if detail == Detail::Full {
            blocks.push(verdict);
        }
        blocks.retain(|block| !block.is_empty());
        blocks
    }
}
