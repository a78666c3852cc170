//! An explained step for people, in text and in the report: figures, groups, the largest tensors, and the peak without single tensors.

use super::PeakAnswer;
use super::ranks::rank_blocks;
use crate::blocks::{Block, Table, bytes, paragraph, text};
use crate::failed_requests::{FailureAnswer, failure_blocks};
use highwater_model::units::{Bytes, Step, counted, grouped};
use highwater_timeline::{PeakAt, RangeStats, step_facts};

impl PeakAnswer<'_> {
    pub(super) fn blocks(&self) -> Vec<Block> {
        let mut blocks = self.moment();
        let failed = self.failed_here();
        let failed = failed.as_ref();
        blocks.extend(
            failed
                .and_then(|failed| self.failure(failed))
                .iter()
                .flat_map(FailureAnswer::blocks),
        );
        blocks.extend(self.holders());
        if matches!(self.report.ask.at, PeakAt::Peak) {
            let failures = FailureAnswer::of_lane(self.comparison, self.report.ask.lane);
            let n_more = self.comparison.n_more_failures(self.report.ask.lane);
            blocks.extend(failure_blocks(&failures, n_more));
        }
        blocks.extend(self.reductions());
        blocks.extend(self.against().filter(|_| !self.is_empty()));
        blocks.extend(self.against_note().map(paragraph));
        blocks
    }

    /// The step, and the parts of its bytes.
    pub(crate) fn moment(&self) -> Vec<Block> {
        let mut blocks = vec![paragraph(self.title()), self.breakdown().into()];
        blocks.extend(self.report.range.as_ref().map(|stats| self.range_table(stats).into()));
        blocks
    }

    /// Whether no tensor is live. The ranks of a job are compared all the same.
    fn is_empty(&self) -> bool {
        self.report.set.members.is_empty()
    }

    /// Live tensors by group, by size, and by recording of a job.
    pub(crate) fn holders(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        if self.is_empty() {
            blocks.push(paragraph("No live tensors at this step."));
        } else {
            blocks.extend(self.group_blocks());
            blocks.extend(self.category_blocks());
            blocks.extend(self.largest_blocks());
        }
        if let Some(spread) = &self.report.ranks {
            blocks.extend(rank_blocks(spread, self.most));
        }
        blocks
    }

    /// What would lower the peak; nothing where no tensor is live.
    pub(crate) fn reductions(&self) -> Vec<Block> {
        if self.is_empty() {
            return Vec::new();
        }
        let mut blocks = self.uses_blocks();
        blocks.extend(self.without_blocks());
        blocks
    }

    fn title(&self) -> String {
        let Self { comparison, report, .. } = *self;
        let lane = comparison.title_of(report.ask.lane);
        let step = report.set.step;
        let at = comparison.step_text(report.ask.lane, step);
        let what = match report.ask.at {
            PeakAt::Peak => format!("the live peak, {at}"),
            PeakAt::Step(_) => at,
            PeakAt::Range(range) => {
                let ends = comparison.steps_text(report.ask.lane, range.start, range.end);
                format!("{ends}, highest at {at}")
            }
        };
        let facts = step_facts(comparison, step).filter(|_| !comparison.is_measured_lane(report.ask.lane));
        let op = match &*facts.map_or_else(String::new, |facts| facts.kind_and_name()) {
            "" => String::new(),
            op => format!(", {op}"),
        };
        format!("{}, {lane}: {what}{op}", comparison.workload.name)
    }

    /// The parts of the bytes.
    fn breakdown(&self) -> Table {
        let set = &self.report.set;
        let headings = ["what", ">bytes", ">exact"];
        let mut table = Table::captioned("Bytes of the step", &headings).titled("");
        let mut row = |what: &str, held: Bytes| table.cells(vec![text(what), bytes(held), text(held.exact())]);
        if self.comparison.states(self.report.ask.lane).1 {
            row("live", set.live);
        }
        let n_tensors = counted(set.members.len() as u64, self.noun());
        row(
            &format!("live, in {n_tensors}"),
            set.members.iter().map(|member| member.bytes).sum(),
        );
        if set.unlisted > Bytes::ZERO {
            row("live, unlisted tensors", set.unlisted);
        }
        for (rest, held) in &set.rest {
            row(rest.words(), *held);
        }
        if set.surplus > Bytes::ZERO {
            row("minus shared or outside memory", set.surplus);
        }
        if let Some(reserved) = set.reserved {
            row("reserved", reserved);
        }
        if let Some(older) = self.report.alive_before {
            row(&format!("live before the range: {}", grouped(older.count)), older.bytes);
        }
        table
    }

    fn range_table(&self, stats: &RangeStats) -> Table {
        let (comparison, lane) = (self.comparison, self.report.ask.lane);
        let word = comparison.axis_word();
        let at = |step: Step| comparison.step_text(lane, step);
        let mut table = Table::new(&["range", ">bytes", ">exact", ""]);
        let mut row = |what: String, held: Bytes, note: String| table.row(&[&what, &held, &held.exact(), &note]);
        for (name, curve) in [("live", &stats.live), ("reserved", &stats.reserved)] {
            let Some(curve) = curve else { continue };
            let steps = counted(u64::from(curve.n_steps), word);
            row(format!("{name} peak"), curve.peak.0, at(curve.peak.1));
            row(format!("{name} mean"), curve.mean(), steps);
            let (minimum, since) = curve.minimum;
            row(format!("{name} minimum"), minimum, at(since));
        }
        for (name, tally) in [
            ("live before", stats.before),
            ("allocated inside", stats.allocated),
            ("freed inside", stats.freed),
            ("live after", stats.after),
        ] {
            row(name.to_owned(), tally.bytes, counted(tally.count, self.noun()));
        }
        table
    }

    /// That the other run has no event at the step.
    pub(super) fn against_note(&self) -> Option<String> {
        let (other, at) = (self.report.ask.against?, self.report.set.step);
        let own = self.comparison.own_steps(other);
        let where_then = if at.0 < own.start {
            "begins later"
        } else {
            "has ended before"
        };
        (!own.contains(&at.0)).then(|| format!("{} {where_then}: its state then is compared.", self.other_title()))
    }

    /// Tensors that another lane does not have, or has with other bytes.
    fn against(&self) -> Option<Block> {
        let changes = self.report.changes.as_ref()?;
        let title = self.other_title();
        if changes.rows.is_empty() {
            return Some(paragraph(format!("Same live tensors as in {title}.")));
        }
        let heading = format!("against {title}");
        let mut table = Table::new(&[&heading, ">there", ">here", ">difference", "of"]);
        for line in changes.lines(self.most) {
            table.strings(line.cells().into());
        }
        Some(table.into())
    }
}
