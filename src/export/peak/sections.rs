//! Tables of an explained step that its text and the report share.

use super::PeakAnswer;
use super::recorded::sizes_text;
use crate::blocks::{Block, Line, Span, Table, bytes, step, text};
use highwater_model::units::{Bytes, Step, counted, grouped, percent_text};
use highwater_timeline::{OpUse, Uses, tensor_label};

impl PeakAnswer<'_> {
    /// The parts of the bytes; `listed` is in front of the number of listed tensors.
    pub(crate) fn breakdown(&self, listed: &str) -> Table {
        let set = &self.report.set;
        let headings = ["what", ">bytes", ">exact"];
        let mut table = Table::captioned("Bytes of the step", &headings).titled("");
        let mut row = |what: &str, held: Bytes| table.cells(vec![text(what), bytes(held), text(held.exact())]);
        if self.comparison.states(self.report.ask.lane).1 {
            row("live", set.live);
        }
        let n_tensors = counted(set.members.len() as u64, self.noun());
        row(
            &format!("{listed} {n_tensors}"),
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
        table
    }

    /// The groups of live tensors, most bytes first; those beyond `most` are one row.
    pub(crate) fn group_table(&self, most: usize) -> Table {
        let report = self.report;
        let by = format!("by {}", report.ask.by.words());
        let noun = format!(">{}s", self.noun());
        let is_recorded = self.comparison.is_measured_lane(report.ask.lane);
        let last = if is_recorded { "sizes" } else { "largest" };
        let headings = [by.as_str(), &noun, ">live", ">share", last];
        let mut table = Table::captioned(format!("Live {}s at peak", self.noun()), &headings);
        for group in report.groups.iter().take(most) {
            table.cells(vec![
                text(match self.forward(group) {
                    Some(forward) => format!("{} for {forward}", group.text),
                    None => group.text.to_string(),
                }),
                text(grouped(group.count)),
                bytes(group.bytes),
                Span::Share(report.share(group.bytes)).into(),
                if is_recorded {
                    text(sizes_text(&group.sizes))
                } else {
                    text(tensor_label(self.comparison, group.largest.0))
                },
            ]);
        }
        let others = report.groups.iter().skip(most);
        let (count, held) = others.fold((0, Bytes::ZERO), |(count, held), group| {
            (count + group.count, held + group.bytes)
        });
        if report.groups.len() > most {
            table.cells(vec![
                text(format!("{} more", grouped((report.groups.len() - most) as u64))),
                text(grouped(count)),
                bytes(held),
                text(percent_text(report.share(held))),
                text(""),
            ]);
        }
        table
    }

    pub(super) fn noun(&self) -> &'static str {
        let first = self.report.set.members.first();
        let study = first.map(|member| self.comparison.study_of_graph(member.tensor.graph));
        study.unwrap_or_else(|| self.comparison.study()).words().tensor
    }

    /// The largest tensors, or rows of equal blocks of a recording; `from` and `to` are over their first and last steps.
    pub(crate) fn largest(&self, from: &str, to: &str) -> Table {
        let set = &self.report.set;
        if !self.report.equal.is_empty() {
            return self.equal_table();
        }
        let caption = if set.members.len() > self.most {
            let total = counted(set.members.len() as u64, "tensor");
            format!("{} largest of {total} tensors at peak", self.most)
        } else {
            "Tensors at peak, largest first".to_owned()
        };
        let headings = ["tensor", ">live", ">exact", ">share", from, to];
        let mut table = Table::captioned(caption, &headings).titled("largest");
        for member in set.members.iter().take(self.most) {
            table.cells(vec![
                text(tensor_label(self.comparison, member.tensor)),
                bytes(member.bytes),
                text(member.bytes.exact()),
                text(percent_text(self.report.share(member.bytes))),
                self.at_step(Some(member.birth)),
                self.at_step(Some(Step(member.end.0.saturating_sub(1)))),
            ]);
        }
        table
    }

    /// Equal blocks as one row each, the largest sum first.
    fn equal_table(&self) -> Table {
        let rows = &self.report.equal;
        let noun = self.noun();
        let caption = if rows.len() > self.most {
            let total = counted(self.report.set.members.len() as u64, noun);
            format!("{} largest sums of equal {noun}s, of {total} at peak", self.most)
        } else {
            format!("Equal {noun}s at peak, largest sum first")
        };
        let count = format!(">{noun}s");
        let headings = ["call site", &count, ">each", ">live", ">exact", ">share"];
        let mut table = Table::captioned(caption, &headings).titled("largest");
        for row in rows.iter().take(self.most) {
            table.cells(vec![
                text(self.name(row.first)),
                text(grouped(row.count)),
                bytes(self.bytes(row.first)),
                bytes(row.bytes),
                text(row.bytes.exact()),
                text(percent_text(self.report.share(row.bytes))),
            ]);
        }
        table
    }

    /// Live tensors that no op uses for the largest number of steps.
    pub(crate) fn idle_table(&self, uses: &Uses) -> Table {
        let by = |by: Option<&OpUse>, unused: &str| match by {
            None => text(unused),
            Some(OpUse { step, op }) => Line::from(Span::Op {
                step: step.0,
                name: op.clone(),
            }),
        };
        let caption = "Idle live tensors: candidates for eviction, offloading or recomputation";
        let headings = ["tensor", ">live", ">idle steps", "last used", "next used"];
        let mut table = Table::captioned(caption, &headings).titled("longest idle");
        for row in uses.longest.iter().take(self.most) {
            table.cells(vec![
                text(self.name(row.member)),
                bytes(self.bytes(row.member)),
                text(grouped(u64::from(row.idle.n_steps))),
                by(row.since.as_ref(), "not yet"),
                by(row.until.as_ref(), "never again"),
            ]);
        }
        table
    }

    /// The next ops that read live tensors, most bytes first.
    pub(crate) fn next_use_table(&self, uses: &Uses) -> Table {
        let headings = ["op", ">step", ">tensors", ">live"];
        let mut table = Table::captioned("Next readers of live tensors", &headings).titled("kept for");
        for row in uses.holders.iter().take(self.most) {
            let count = text(grouped(row.count));
            table.cells(vec![text(&row.by.op), step(row.by.step.0), count, bytes(row.bytes)]);
        }
        table
    }

    pub(crate) fn unread_note(uses: &Uses) -> Option<Block> {
        let (count, held) = uses.unread;
        let note = || format!("{held} in {} without further use.", counted(count, "tensor"));
        (count > 0).then(|| Block::Note(text(note())))
    }

    /// The last cell of a row without the tensor.
    pub(crate) fn at_step(&self, at: Option<Step>) -> Line {
        let Some(at) = at else { return text("") };
        if self.comparison.has_common_axis() {
            return text(self.comparison.shown_step(self.report.ask.lane, at).to_string());
        }
        step(at.0)
    }
}
