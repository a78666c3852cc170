//! An explained step: one JSON object, a table of the live tensors as CSV, and a text for people.
//!
//! In: a comparison and a report. Fields and columns are a contract: bytes and steps are integers, shares are parts of the live bytes
//! from 0 to 1, ends are exclusive; unknown values are null with a sentence that says why.

mod ranks;
mod recorded;
mod sections;
mod text;

use serde::Serialize;
use serde_json::{Value as Json, json};

use self::ranks::ranks_json;
use self::recorded::{BlockRow, RecordedFields, RecordedSegments};
use super::cells::guarded_csv;
use super::contributors::WireOther;
use super::flame::WireTree;
use super::json_parts::{entries_json, list};
use highwater_analysis::{Comparison, LaneId};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::units::Bytes;
use highwater_timeline::{
    CurveStats, IdleTensor, LeftOut, LiveGroup, OpUse, PeakAt, PeakReport, PeakWithout, RangeStats, Selected, Tally,
    tensor_label,
};

pub(crate) use ranks::rank_blocks;
pub use ranks::ranks_text;
pub use text::peak_text;

/// An explained step.
#[derive(Serialize, Debug)]
pub struct WirePeak<'a> {
    lane: String,
    policy: Option<u8>,
    asked: &'static str,
    axis: &'static str,
    step: u32,
    /// Of a recording: the number of the event there, which `--step` takes; `step` counts the common axis.
    event: Option<u32>,
    live_bytes: Option<u64>,
    reserved_bytes: Option<u64>,
    unlisted_bytes: u64,
    surplus_bytes: u64,
    rest: Json,
    peak_live_bytes: u64,
    peak_live_step: Option<u32>,
    lower_bound: bool,
    range: Option<WireRange>,
    group_by: &'static str,
    groups_total: usize,
    groups: Json,
    tensors_total: usize,
    tensors: Vec<WireMember<'a>>,
    idle: Option<Vec<WireIdle>>,
    held_for: Option<Json>,
    unread: Option<Json>,
    uses_unknown: Option<&'static str>,
    without: Option<Json>,
    without_unknown: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<WireOther>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ranks: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tree: Option<WireTree<'a>>,
    diagnostics: Json,
}

#[derive(Serialize, Debug)]
struct WireMember<'a> {
    tensor: String,
    graph: &'a str,
    run: u32,
    bytes: u64,
    share: f64,
    birth: u32,
    end: u32,
    copies: u32,
    group: &'a str,
    alive_before: Option<bool>,
    idle_steps: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded: Option<RecordedFields>,
}

// JSON values have no integers of 128 bits.
#[derive(Serialize, Debug)]
struct WireIdle {
    tensor: String,
    bytes: u64,
    idle_steps: u32,
    byte_steps: u128,
    since: Option<Json>,
    until: Option<Json>,
}

#[derive(Serialize, Debug)]
struct WireRange {
    start: u32,
    end: u32,
    live: Option<WireCurve>,
    reserved: Option<WireCurve>,
    before: Json,
    allocated: Json,
    freed: Json,
    after: Json,
    groups: Json,
}

#[derive(Serialize, Debug)]
struct WireCurve {
    peak_bytes: u64,
    peak_step: u32,
    minimum_bytes: u64,
    minimum_step: u32,
    sum_byte_steps: u128,
    steps: u32,
    mean_bytes: u64,
}

impl WireCurve {
    fn new(stats: &CurveStats) -> Self {
        Self {
            peak_bytes: stats.peak.0.get(),
            peak_step: stats.peak.1.0,
            minimum_bytes: stats.minimum.0.get(),
            minimum_step: stats.minimum.1.0,
            sum_byte_steps: stats.sum,
            steps: stats.n_steps,
            mean_bytes: stats.mean().get(),
        }
    }
}

/// Distinct sizes of a group in JSON.
const MOST_SIZES: usize = 16;

/// A report of one lane of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct PeakAnswer<'a> {
    pub comparison: &'a Comparison,
    pub report: &'a PeakReport,
    /// The number of listed tensors.
    pub most: usize,
    /// The file that the changes of the report are from; without it they are from another lane.
    pub baseline: Option<&'a str>,
}

impl<'a> PeakAnswer<'a> {
    fn tensor(&self, member: u32) -> Option<Selected> {
        Some(self.report.set.members.get(member as usize)?.tensor)
    }

    /// The label of a member; empty for an unknown one.
    pub(crate) fn name(&self, member: u32) -> String {
        let tensor = self.tensor(member);
        tensor.map_or_else(String::new, |tensor| tensor_label(self.comparison, tensor).into_owned())
    }

    fn bytes(&self, member: u32) -> Bytes {
        let member = self.report.set.members.get(member as usize);
        member.map_or(Bytes::ZERO, |member| member.bytes)
    }

    fn graph(&self, tensor: Option<Selected>) -> &'a str {
        let session = self.comparison.session_of(self.report.ask.lane);
        let graph = tensor.and_then(|tensor| session.graphs.get(tensor.graph.0 as usize));
        graph.map_or("", |graph| graph.name.as_str())
    }

    /// The part of the live bytes, from 0 to 1.
    fn share(&self, bytes: Bytes) -> f64 {
        self.report.share(bytes) / 100.0
    }

    fn members(&self) -> Vec<WireMember<'a>> {
        let report = self.report;
        let uses = report.uses.as_ref().ok();
        let range = report.range.as_ref().map(|stats| stats.range);
        let recorded = RecordedSegments::new(self.comparison, report);
        let members = report.set.members.iter().zip(&report.group_of).enumerate();
        let wire = members.take(self.most).map(|(position, (member, group))| WireMember {
            tensor: tensor_label(self.comparison, member.tensor).into_owned(),
            graph: self.graph(Some(member.tensor)),
            run: member.tensor.run,
            bytes: member.bytes.get(),
            share: self.share(member.bytes),
            birth: member.birth.0,
            end: member.end.0,
            copies: member.n_copies,
            group: &report.groups[*group as usize].text,
            alive_before: range.map(|range| member.birth < range.start),
            idle_steps: uses.and_then(|uses| Some((*uses.idle.get(position)?)?.n_steps)),
            recorded: recorded.of(member),
        });
        wire.collect()
    }

    fn groups(&self, groups: &[LiveGroup]) -> Json {
        list(groups, |group| {
            json!({
                "name": &*group.text,
                "bytes": group.bytes.get(),
                "share": self.share(group.bytes),
                "count": group.count,
                "largest": tensor_label(self.comparison, group.largest.0),
                "largest_bytes": group.largest.1.get(),
                "sizes": list(group.sizes.iter().take(MOST_SIZES), |(bytes, count)| json!({"bytes": bytes.get(), "count": count})),
                "sizes_total": group.sizes.len(),
                "forward": self.forward(group),
            })
        })
    }

    fn range(&self, stats: &RangeStats) -> WireRange {
        let tally = |tally: Tally| tally_json(tally.count, tally.bytes);
        WireRange {
            start: stats.range.start.0,
            end: stats.range.end.0,
            live: stats.live.as_ref().map(WireCurve::new),
            reserved: stats.reserved.as_ref().map(WireCurve::new),
            before: tally(stats.before),
            allocated: tally(stats.allocated),
            freed: tally(stats.freed),
            after: tally(stats.after),
            groups: self.groups(&stats.groups[..stats.groups.len().min(self.most)]),
        }
    }

    fn idle(&self, row: &IdleTensor) -> WireIdle {
        let used = |by: &OpUse| json!({"step": by.step.0, "op": by.op});
        WireIdle {
            tensor: self.name(row.member),
            bytes: self.bytes(row.member).get(),
            idle_steps: row.idle.n_steps,
            byte_steps: row.idle.weight,
            since: row.since.as_ref().map(used),
            until: row.until.as_ref().map(used),
        }
    }

    fn without(&self, row: &PeakWithout) -> Json {
        let (name, bytes) = self.report.left_out(self.comparison, row.left_out);
        let mut json = json!({
            "bytes": bytes.get(),
            "peak_live_bytes": row.peak.get(),
            "peak_live_step": row.step.map(|step| step.0),
            "lowers_by_bytes": row.lowers_by.get(),
        });
        match row.left_out {
            LeftOut::Member(member) => {
                json["tensor"] = name.into();
                json["graph"] = self.graph(self.tensor(member)).into();
            }
            LeftOut::Group(_) => json["group"] = name.into(),
        }
        json
    }
}

fn tally_json(count: u64, bytes: Bytes) -> Json {
    json!({"count": count, "bytes": bytes.get()})
}

impl<'a> WirePeak<'a> {
    pub fn new(answer: &PeakAnswer<'a>, import: &Diagnostics) -> Self {
        let PeakAnswer { comparison, report, .. } = *answer;
        let set = &report.set;
        let id = comparison.lanes.get(report.ask.lane).map(|lane| lane.id);
        let states_live = comparison.states(report.ask.lane).1;
        let diagnostics = import.entries().iter().chain(comparison.diagnostics.entries());
        let uses = report.uses.as_ref();
        let without = report.without.as_ref();
        Self {
            lane: id.map_or_else(String::new, |id| comparison.lane_title(id)),
            policy: match id {
                Some(LaneId::Policy(policy)) => Some(policy.number()),
                Some(LaneId::Problem(_) | LaneId::Pass(_) | LaneId::Pinned(_) | LaneId::Measured(_)) | None => None,
            },
            asked: match report.ask.at {
                PeakAt::Peak => "peak",
                PeakAt::Step(_) => "step",
                PeakAt::Range(_) => "range",
            },
            axis: comparison.axis_word(),
            step: set.step.0,
            event: comparison
                .is_measured_lane(report.ask.lane)
                .then(|| comparison.shown_step(report.ask.lane, set.step).0),
            live_bytes: states_live.then_some(set.live.get()),
            reserved_bytes: set.reserved.map(Bytes::get),
            unlisted_bytes: set.unlisted.get(),
            surplus_bytes: set.surplus.get(),
            rest: list(
                &set.rest,
                |(rest, bytes)| json!({"what": rest.words(), "bytes": bytes.get()}),
            ),
            peak_live_bytes: report.peak.0.get(),
            peak_live_step: report.peak.1.map(|step| step.0),
            lower_bound: comparison.is_lower_bound(report.ask.lane),
            range: report.range.as_ref().map(|stats| answer.range(stats)),
            group_by: report.ask.by.key(),
            groups_total: report.groups.len(),
            groups: answer.groups(&report.groups[..report.groups.len().min(answer.most)]),
            tensors_total: set.members.len(),
            tensors: answer.members(),
            idle: uses
                .ok()
                .map(|uses| uses.longest.iter().map(|row| answer.idle(row)).collect()),
            held_for: uses.ok().map(|uses| {
                list(
                    &uses.holders,
                    |row| json!({"step": row.by.step.0, "op": row.by.op, "bytes": row.bytes.get(), "count": row.count}),
                )
            }),
            unread: uses.ok().map(|uses| tally_json(uses.unread.0, uses.unread.1)),
            uses_unknown: uses.err().copied(),
            without: without.ok().map(|rows| list(rows, |row| answer.without(row))),
            without_unknown: without.err().copied(),
            against: report.changes.as_ref().map(|changes| {
                let lane = report.ask.against.and_then(|lane| comparison.lanes.get(lane));
                let title = lane.map_or_else(String::new, |lane| comparison.lane_title(lane.id));
                let title = answer.baseline.map_or(title, str::to_owned);
                WireOther::new(title, changes, answer.most)
            }),
            ranks: report.ranks.as_ref().map(|spread| ranks_json(spread, answer.most)),
            tree: None,
            diagnostics: entries_json(diagnostics),
        }
    }

    /// Adds the tree of call stacks.
    #[must_use]
    pub fn with_tree(self, tree: WireTree<'a>) -> Self {
        Self {
            tree: Some(tree),
            ..self
        }
    }
}

/// The live tensors as CSV with a header, largest first.
pub fn peak_csv(answer: &PeakAnswer<'_>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory does not fail.
    if answer.comparison.is_measured_lane(answer.report.ask.lane) {
        let rows = answer.members().into_iter().filter_map(BlockRow::new);
        rows.for_each(|row| drop(writer.serialize(row)));
    } else {
        for row in answer.members() {
            drop(writer.serialize(row));
        }
    }
    let bytes = writer.into_inner().unwrap_or_default();
    let text = String::from_utf8(bytes).unwrap_or_default();
    if text.is_empty() { CSV_HEADER.to_owned() } else { text }
}

/// The header of a table without rows.
const CSV_HEADER: &str = "tensor,graph,run,bytes,share,birth,end,copies,group,alive_before,idle_steps\n";

/// The extensions of [`peak_file`], for a message.
pub const PEAK_FORMS: &str = "name a file that ends in .json, .csv or .txt";

/// The content of a file with an explained step, by the file's extension; `None` for an unknown extension.
pub fn peak_file(name: &str, answer: &PeakAnswer<'_>) -> Option<String> {
    let (_, extension) = name.rsplit_once('.')?;
    match extension.to_ascii_lowercase().as_str() {
        "json" => {
            let wire = WirePeak::new(answer, &Diagnostics::new());
            let mut text = serde_json::to_string_pretty(&wire).unwrap_or_default();
            text.push('\n');
            Some(text)
        }
        "csv" => Some(guarded_csv(&peak_csv(answer))),
        "txt" => Some(peak_text(answer)),
        _ => None,
    }
}
