//! Where the peak comes from: who is live there, with shares, and what would lower it.

use super::Report;
use super::page::{Page, Table, bytes};
use crate::subject::ExportError;
use crate::svg::text::escaped;
use highwater_model::units::{Bytes, counted, grouped, percent_text};
use highwater_timeline::{
    Attribute, IdleTensor, LiveGroup, OpUse, PeakAt, PeakReport, PeakRequest, PeakWithout, RetainingOp, Uses,
    step_facts, tensor_label,
};

/// How many entries lists have.
const FEW: usize = 12;

impl Report<'_> {
    /// The peak of the lane that others are compared with.
    pub(super) fn peak(&self, page: &mut Page) -> Result<(), ExportError> {
        let comparison = self.comparison;
        let by = if comparison.workload.graphs().is_empty() {
            Attribute::Scope
        } else {
            Attribute::OpType
        };
        let ask = PeakRequest {
            lane: self.base,
            at: PeakAt::Peak,
            by,
            n_first: FEW,
            against: None,
        };
        let Some(report) = PeakReport::new(comparison, ask) else {
            page.line("p", "There is no step whose bytes could be explained.");
            return Ok(());
        };
        self.moment(page, &report);
        if let Some(shown) = self.close_up() {
            self.figure(page, self.lanes().len(), &shown)?;
        }
        self.story(page);
        if report.set.members.is_empty() {
            page.line("p", "No tensor is listed as live there.");
            return Ok(());
        }
        page.table(&self.groups(&report));
        page.table(&self.largest(&report));
        page.line("h3", "What would lower the peak of live bytes");
        match &report.uses {
            Ok(uses) => self.uses(page, &report, uses),
            Err(why) => page.line("p", why),
        }
        match &report.without {
            Ok(rows) => page.table(&self.without(&report, rows)),
            Err(why) => page.line("p", why),
        }
        Ok(())
    }

    /// When it is, and what it consists of.
    fn moment(&self, page: &mut Page, report: &PeakReport) {
        let comparison = self.comparison;
        let step = report.set.step;
        let word = comparison.axis_word();
        let facts = step_facts(comparison, step).filter(|_| !comparison.is_measured_lane(self.base));
        let op = facts.map_or_else(String::new, |facts| match (facts.op_kind.as_str(), facts.op.as_str()) {
            ("", "") => String::new(),
            (kind, name) => format!(", {kind} {name}"),
        });
        let text = format!(
            "{}: the live bytes are largest on {word} {}{op}.",
            self.lane_name(self.base),
            grouped(u64::from(step.0))
        );
        page.line("p", &text);
        page.line(
            "p",
            "Where the reserved bytes of each lane are largest, and why, stands under its picture.",
        );
        let mut table = Table::new("The bytes of that step", &["what", ">bytes", ">exact"]);
        let mut row = |what: &str, held: Bytes| table.row(vec![escaped(what), bytes(held), escaped(&held.exact())]);
        let set = &report.set;
        if comparison.states(self.base).1 {
            row("live", set.live);
        }
        let listed: Bytes = set.members.iter().map(|member| member.bytes).sum();
        row(
            &format!("live, in {}", counted(set.members.len() as u64, "tensor")),
            listed,
        );
        if set.unlisted > Bytes::ZERO {
            row("live, of no listed tensor", set.unlisted);
        }
        for (rest, held) in &set.rest {
            row(rest.words(), *held);
        }
        if set.surplus > Bytes::ZERO {
            row("less what shares a place, or stands outside", set.surplus);
        }
        if let Some(reserved) = set.reserved {
            row("reserved", reserved);
        }
        page.table(&table);
    }

    /// Why the run ended early, where it did.
    fn story(&self, page: &mut Page) {
        let lanes = self.lanes().into_iter();
        for lane in lanes {
            let Some(story) = &self.comparison.lanes[lane].out_of_memory_report else {
                continue;
            };
            page.line("h3", &format!("{} runs out of memory", self.lane_name(lane)));
            let mut text = format!(
                "At step {} {} asks for {} while {} are in use.",
                story.step, story.who, story.asked, story.in_use
            );
            if let Some(enough) = story.enough {
                text.push_str(&format!(" {enough} would be enough."));
            }
            page.line("p", &text);
            let mut table = Table::new("Who holds the device then", &["who", ">bytes"]);
            for (who, held) in story.holders.iter().take(FEW) {
                table.row(vec![escaped(who), bytes(*held)]);
            }
            page.table(&table);
        }
    }

    fn groups(&self, report: &PeakReport) -> Table {
        let by = format!("by {}", report.ask.by.words());
        let mut table = Table::new(
            "Who is live when most bytes are",
            &[&by, ">tensors", ">live", ">share", "largest"],
        );
        let row = |group: &LiveGroup| {
            let share = report.share(group.bytes);
            vec![
                escaped(&group.text),
                grouped(group.count),
                bytes(group.bytes),
                format!(
                    "{}<span class=\"bar\" aria-hidden=\"true\" style=\"width:{:.1}%\"></span>",
                    percent_text(share),
                    share.clamp(0.0, 100.0)
                ),
                escaped(&tensor_label(self.comparison, group.largest.0)),
            ]
        };
        for group in report.groups.iter().take(FEW) {
            table.row(row(group));
        }
        Self::rest_row(
            &mut table,
            report.groups.iter().skip(FEW).map(|group| (group.count, group.bytes)),
            report,
        );
        table
    }

    /// What is left out of a table, in sum.
    fn rest_row(table: &mut Table, left: impl Iterator<Item = (u64, Bytes)>, report: &PeakReport) {
        let (mut n_rows, mut count, mut held) = (0_u64, 0_u64, Bytes::ZERO);
        for (tensors, bytes) in left {
            (n_rows, count, held) = (n_rows + 1, count + tensors, held + bytes);
        }
        if n_rows > 0 {
            table.row(vec![
                format!("{} more", grouped(n_rows)),
                grouped(count),
                bytes(held),
                percent_text(report.share(held)),
                String::new(),
            ]);
        }
    }

    fn largest(&self, report: &PeakReport) -> Table {
        let word = self.comparison.axis_word();
        let (from, to) = (format!(">from {word}"), format!(">to {word}"));
        let total = report.set.members.len() as u64;
        let caption = if total > FEW as u64 {
            format!("The {FEW} largest of {} at the peak", counted(total, "tensor"))
        } else {
            "The tensors at the peak, largest first".to_owned()
        };
        let mut table = Table::new(&caption, &["tensor", ">live", ">exact", ">share", &from, &to]);
        for member in report.set.members.iter().take(FEW) {
            table.row(vec![
                escaped(&tensor_label(self.comparison, member.tensor)),
                bytes(member.bytes),
                escaped(&member.bytes.exact()),
                percent_text(report.share(member.bytes)),
                grouped(u64::from(member.birth.0)),
                grouped(u64::from(member.end.0.saturating_sub(1))),
            ]);
        }
        table
    }

    /// The name of a member, and its bytes.
    fn member(&self, report: &PeakReport, member: u32) -> (String, Bytes) {
        let member = report.set.members.get(member as usize);
        member.map_or_else(Default::default, |member| {
            (escaped(&tensor_label(self.comparison, member.tensor)), member.bytes)
        })
    }

    fn uses(&self, page: &mut Page, report: &PeakReport, uses: &Uses) {
        let by = |by: Option<&OpUse>, nobody: &str| {
            by.map_or_else(
                || nobody.to_owned(),
                |by| format!("step {}, {}", grouped(u64::from(by.step.0)), escaped(&by.op)),
            )
        };
        let headings = ["tensor", ">live", ">idle steps", "last used", "next used"];
        let mut idle = Table::new(
            "Live and waiting: what could be evicted, offloaded or computed anew",
            &headings,
        );
        let row = |row: &IdleTensor| {
            let (name, held) = self.member(report, row.member);
            vec![
                name,
                bytes(held),
                grouped(u64::from(row.idle.n_steps)),
                by(row.since.as_ref(), "not yet"),
                by(row.until.as_ref(), "never again"),
            ]
        };
        uses.longest.iter().take(FEW).map(row).for_each(|cells| idle.row(cells));
        page.table(&idle);
        let mut held = Table::new(
            "The ops that tensors are kept for",
            &["op", ">step", ">tensors", ">live"],
        );
        let row = |row: &RetainingOp| {
            let step = grouped(u64::from(row.by.step.0));
            vec![escaped(&row.by.op), step, grouped(row.count), bytes(row.bytes)]
        };
        uses.holders.iter().take(FEW).map(row).for_each(|cells| held.row(cells));
        page.table(&held);
        if uses.unread.0 > 0 {
            let (count, bytes) = uses.unread;
            page.line(
                "p",
                &format!("{bytes} in {} nobody uses any more.", counted(count, "tensor")),
            );
        }
    }

    fn without(&self, report: &PeakReport, rows: &[PeakWithout]) -> Table {
        let headings = ["without", ">peak live is lower by", ">peak live", ">at step"];
        let mut table = Table::new(
            "The peak of live bytes without one tensor, all else being as it is",
            &headings,
        );
        for row in rows {
            table.row(vec![
                self.member(report, row.member).0,
                bytes(row.lowers_by),
                bytes(row.peak),
                row.step.map_or_else(String::new, |step| grouped(u64::from(step.0))),
            ]);
        }
        table
    }
}
