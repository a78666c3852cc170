//! Lists of an explained step: live tensors, their groups, their uses, and savings.

use super::PeakAnswer;
use super::recorded::{RecordedSegments, sizes_text};
use crate::blocks::{Block, Line, Span, paragraph, step, text};
use crate::json_parts::list;
use crate::record::{MORE_WITH_TOP, Record, Rows, Value};
use highwater_model::units::{Bytes, Step, counted, grouped, percent_text};
use highwater_timeline::{LeftOut, LiveGroup, OpUse, PeakWithout, Uses, tensor_label};
use serde_json::{Value as Json, json};

/// Distinct sizes of a group in JSON.
const MOST_SIZES: usize = 16;

impl<'a> PeakAnswer<'a> {
    pub(super) fn noun(&self) -> &'static str {
        let first = self.report.set.members.first();
        let study = first.map(|member| self.comparison.study_of_graph(member.tensor.graph));
        study.unwrap_or_else(|| self.comparison.study()).words().tensor
    }

    /// The last cell of a row without the tensor.
    fn at_step(&self, at: Option<Step>) -> Line {
        let Some(at) = at else { return text("") };
        if self.comparison.has_common_axis() {
            return text(self.comparison.shown_step(self.report.ask.lane, at).to_string());
        }
        step(at.0)
    }

    /// All live tensors, largest first.
    pub(super) fn members(&self) -> Rows<'a> {
        let (answer, recorded) = (*self, RecordedSegments::new(self.comparison, self.report));
        let n_members = self.report.set.members.len();
        let caption = if n_members > self.most {
            let total = counted(n_members as u64, "tensor");
            format!("{} largest of {total} at peak", self.most)
        } else {
            "Tensors at peak, largest first".to_owned()
        };
        Rows::indexed(n_members, move |position| answer.member(position, &recorded))
            .captioned(caption, "largest")
            .more_with(MORE_WITH_TOP)
    }

    fn member(&self, position: usize, recorded: &RecordedSegments<'a>) -> Record<'a> {
        let report = self.report;
        let member = &report.set.members[position];
        let word = self.comparison.axis_word();
        let range = report.range.as_ref().map(|stats| stats.range);
        let idle = report.uses.as_ref().ok().and_then(|uses| *uses.idle.get(position)?);
        Record::new()
            .field("tensor", "tensor", tensor_label(self.comparison, member.tensor))
            .key("graph", self.graph(Some(member.tensor)))
            .key("run", member.tensor.run)
            .field("bytes", ">live", member.bytes)
            .shown(">exact", member.bytes.exact())
            .key("share", self.share(member.bytes))
            .shown(">share", Value::Percent(report.share(member.bytes)))
            .key("birth", member.birth)
            .shown(format!(">from {word}"), self.at_step(Some(member.birth)))
            .key("end", member.end)
            .shown(
                format!(">to {word}"),
                self.at_step(Some(Step(member.end.0.saturating_sub(1)))),
            )
            .key("copies", member.n_copies)
            .key("group", &*report.groups[report.group_of[position] as usize].text)
            .key("alive_before", range.map(|range| member.birth < range.start))
            .key("idle_steps", idle.map(|idle| idle.n_steps))
            .optional("recorded", recorded.of(member))
    }

    /// Equal blocks as one row each, the largest sum first.
    pub(super) fn equal(&self) -> Rows<'a> {
        let (answer, noun) = (*self, self.noun());
        let caption = if self.report.equal.len() > self.most {
            let total = counted(self.report.set.members.len() as u64, noun);
            format!("{} largest sums of equal {noun}s, of {total} at peak", self.most)
        } else {
            format!("Equal {noun}s at peak, largest sum first")
        };
        let row = move |row: &'a highwater_timeline::EqualMembers| {
            Record::new()
                .shown("call site", answer.name(row.first))
                .shown(format!(">{noun}s"), row.count)
                .shown(">each", answer.bytes(row.first))
                .shown(">live", row.bytes)
                .shown(">exact", row.bytes.exact())
                .shown(">share", Value::Percent(answer.report.share(row.bytes)))
        };
        Rows::new(&self.report.equal, row)
            .captioned(caption, "largest")
            .more_with(MORE_WITH_TOP)
    }

    pub(super) fn groups(&self, groups: &'a [LiveGroup]) -> Rows<'a> {
        let (answer, noun, by) = (*self, self.noun(), self.report.ask.by.words());
        let is_recorded = self.comparison.is_measured_lane(self.report.ask.lane);
        let row = move |group: &'a LiveGroup| {
            let forward = answer.forward(group);
            let largest = tensor_label(answer.comparison, group.largest.0);
            let (last, sizes) = if is_recorded {
                ("sizes", sizes_text(&group.sizes).into())
            } else {
                ("largest", Value::from(largest.clone()))
            };
            let name = match forward {
                Some(forward) => format!("{} for {forward}", group.text),
                None => group.text.to_string(),
            };
            Record::new()
                .shown(format!("by {by}"), name)
                .shown(format!(">{noun}s"), group.count)
                .key("name", &*group.text)
                .field("bytes", ">live", group.bytes)
                .key("share", answer.share(group.bytes))
                .shown(">share", Line::from(Span::Share(answer.report.share(group.bytes))))
                .key("count", group.count)
                .key("largest", largest)
                .key("largest_bytes", group.largest.1)
                .key(
                    "sizes",
                    list(
                        group.sizes.iter().take(MOST_SIZES),
                        |(bytes, count)| json!({"bytes": bytes.get(), "count": count}),
                    ),
                )
                .key("sizes_total", group.sizes.len())
                .optional("parts", answer.report.ask.within.map(|_| answer.parts(group)))
                .key("forward", forward)
                .shown(last, sizes)
        };
        Rows::new(groups, row).captioned(format!("Live {noun}s at peak"), "")
    }

    /// The groups with most bytes, and the sum of the others.
    pub(super) fn group_blocks(&self) -> Vec<Block> {
        let groups = &self.report.groups;
        let left = groups.get(self.most..).unwrap_or_default();
        let (count, held) = left.iter().fold((0, Bytes::ZERO), |(count, held), group| {
            (count + group.count, held + group.bytes)
        });
        let more = format!(
            "and {} with {}, {held}, {}",
            counted(left.len() as u64, "more group"),
            counted(count, self.noun()),
            percent_text(self.report.share(held))
        );
        let more = (!left.is_empty()).then(|| Block::Note(text(more)));
        let table = if self.report.ask.within.is_some() {
            self.divided_groups().table(usize::MAX)
        } else {
            self.groups(groups).table(self.most)
        };
        std::iter::once(table.into()).chain(more).collect()
    }

    /// The groups within a group.
    fn parts(&self, group: &LiveGroup) -> Json {
        list(
            group.parts.iter().take(self.most),
            |part| json!({"name": part.text, "bytes": part.bytes.get(), "count": part.count}),
        )
    }

    /// For people: each of the largest groups in front of its parts.
    fn divided_groups(&self) -> Rows<'a> {
        let (answer, noun) = (*self, self.noun());
        let groups = &self.report.groups;
        let mut lines: Vec<(usize, Option<usize>)> = Vec::new();
        for (group, row) in groups.iter().enumerate().take(self.most) {
            lines.push((group, None));
            lines.extend((0..row.parts.len().min(self.most + 1)).map(|part| (group, Some(part))));
        }
        let by = self.report.ask.by.words();
        Rows::indexed(lines.len(), move |line| {
            let (group, part) = lines[line];
            let group = &answer.report.groups[group];
            let (name, count, held) = match part {
                None => (group.text.to_string(), group.count, group.bytes),
                Some(part) if part == answer.most => {
                    let left = &group.parts[part..];
                    let name = format!("  and {} more", grouped(left.len() as u64));
                    let count = left.iter().map(|part| part.count).sum();
                    (name, count, left.iter().map(|part| part.bytes).sum())
                }
                Some(part) => {
                    let part = &group.parts[part];
                    (format!("  {}", part.text), part.count, part.bytes)
                }
            };
            Record::new()
                .shown(format!("by {by}"), name)
                .shown(format!(">{noun}s"), count)
                .shown(">live", held)
                .shown(">exact", held.exact())
                .shown(">share", Line::from(Span::Share(answer.report.share(held))))
        })
        .captioned(format!("Live {noun}s at peak"), "")
    }

    /// Live tensors that no op uses for the largest number of steps.
    pub(super) fn idle(&self, uses: &'a Uses) -> Rows<'a> {
        let answer = *self;
        let wire = |by: &OpUse| json!({"step": by.step.0, "op": by.op});
        let by = |by: Option<&OpUse>, unused: &str| match by {
            None => text(unused),
            Some(by) => Span::Op {
                step: by.step.0,
                name: by.op.clone(),
            }
            .into(),
        };
        let caption = "Idle live tensors: candidates for eviction, offloading or recomputation";
        Rows::new(&uses.longest, move |row| {
            Record::new()
                .field("tensor", "tensor", answer.name(row.member))
                .field("bytes", ">live", answer.bytes(row.member))
                .field("idle_steps", ">idle steps", row.idle.n_steps)
                .key("byte_steps", row.idle.weight)
                .key("since", row.since.as_ref().map(wire))
                .shown("last used", by(row.since.as_ref(), "not yet"))
                .key("until", row.until.as_ref().map(wire))
                .shown("next used", by(row.until.as_ref(), "never again"))
        })
        .captioned(caption, "longest idle")
    }

    /// The next ops that read live tensors, most bytes first.
    pub(super) fn next_uses(uses: &'a Uses) -> Rows<'a> {
        Rows::new(&uses.holders, |row| {
            Record::new()
                .shown("op", &row.by.op)
                .field("step", ">step", row.by.step)
                .key("op", &row.by.op)
                .field("bytes", ">live", row.bytes)
                .field("count", ">tensors", row.count)
        })
        .captioned("Next readers of live tensors", "kept for")
    }

    /// The uses of live tensors, or why they are unknown.
    pub(super) fn uses_blocks(&self) -> Vec<Block> {
        let uses = match &self.report.uses {
            Ok(uses) => uses,
            Err(why) => return vec![paragraph(why)],
        };
        let (count, held) = uses.unread;
        let unread = format!("{held} in {} without further use.", counted(count, "tensor"));
        let mut blocks = self.idle(uses).blocks(self.most);
        if blocks.is_empty() {
            blocks.push(paragraph("No live tensor is idle."));
        }
        blocks.extend(Self::next_uses(uses).blocks(self.most));
        blocks.extend((count > 0).then(|| Block::Note(text(unread))));
        blocks
    }

    /// The peak without single tensors or groups.
    pub(super) fn without(&self, rows: &'a [PeakWithout]) -> Rows<'a> {
        let answer = *self;
        let what = match rows.first().map(|row| row.left_out) {
            Some(LeftOut::Group(_)) => self.report.ask.by.words(),
            Some(LeftOut::Member(_)) | None => self.comparison.study().words().tensor,
        };
        let at = format!(">at {}", self.comparison.axis_word());
        let row = move |row: &'a PeakWithout| {
            let (name, bytes) = answer.report.left_out(answer.comparison, row.left_out);
            let record = Record::new()
                .shown("without", name.clone())
                .key("bytes", bytes)
                .shown(">lower by", row.lowers_by)
                .shown(">exact", row.lowers_by.exact())
                .field("peak_live_bytes", ">peak live", row.peak)
                .key("peak_live_step", row.step)
                .key("lowers_by_bytes", row.lowers_by)
                .shown(at.clone(), answer.at_step(row.step));
            match row.left_out {
                LeftOut::Member(member) => record
                    .key("tensor", name)
                    .key("graph", answer.graph(answer.tensor(member))),
                LeftOut::Group(_) => record.key("group", name),
            }
        };
        Rows::new(rows, row).captioned(format!("Peak live if one {what} is removed"), "savings if removed")
    }

    /// Savings, or why they are unknown.
    pub(super) fn without_blocks(&self) -> Vec<Block> {
        match &self.report.without {
            Ok(rows) => self.without(rows).blocks(usize::MAX),
            Err(why) => vec![paragraph(why)],
        }
    }

    /// The largest live tensors, or equal blocks of a recording.
    pub(super) fn largest_blocks(&self) -> Vec<Block> {
        if self.report.equal.is_empty() {
            self.members().blocks(self.most)
        } else {
            self.equal().blocks(self.most)
        }
    }
}
