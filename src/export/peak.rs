//! A step explained, as it leaves the program: one JSON object, a table of the live tensors as CSV, a text for people.
//!
//! In: a comparison and a report. Out: texts. Fields and columns are a contract: bytes and steps are integers, shares are parts
//! of the live bytes (1.0 is all), ends are exclusive; what is not known is null with a sentence beside it.

mod text;

use serde::Serialize;

use super::contributors::WireOther;
use super::inspect::WireDiagnostic;
use highwater_analysis::{Comparison, LaneId};
use highwater_model::diagnostics::Diagnostics;
use highwater_timeline::{
    CurveStats, IdleTensor, LiveGroup, OpUse, PeakAt, PeakReport, PeakWithout, RangeStats, RetainingOp, Selected,
    Tally, tensor_label,
};

pub use text::peak_text;

/// A step explained.
#[derive(Serialize, Debug)]
pub struct WirePeak<'a> {
    lane: String,
    policy: Option<u8>,
    asked: &'static str,
    axis: &'static str,
    step: u32,
    live_bytes: Option<u64>,
    reserved_bytes: Option<u64>,
    unlisted_bytes: u64,
    surplus_bytes: u64,
    rest: Vec<WireRest>,
    peak_live_bytes: u64,
    peak_live_step: Option<u32>,
    lower_bound: bool,
    range: Option<WireRange<'a>>,
    group_by: &'static str,
    groups: Vec<WireGroup<'a>>,
    tensors_total: usize,
    tensors: Vec<WireMember<'a>>,
    idle: Option<Vec<WireIdle<'a>>>,
    held_for: Option<Vec<WireContributor<'a>>>,
    unread: Option<WireTally>,
    uses_unknown: Option<&'static str>,
    without: Option<Vec<WireWithout<'a>>>,
    without_unknown: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<WireOther>,
    diagnostics: Vec<WireDiagnostic>,
}

#[derive(Serialize, Debug)]
struct WireRest {
    what: &'static str,
    bytes: u64,
}

#[derive(Serialize, Debug)]
struct WireGroup<'a> {
    name: &'a str,
    bytes: u64,
    share: f64,
    count: u64,
    largest: String,
    largest_bytes: u64,
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
}

#[derive(Serialize, Debug)]
struct WireIdle<'a> {
    tensor: String,
    bytes: u64,
    idle_steps: u32,
    byte_steps: u128,
    since: Option<WireUse<'a>>,
    until: Option<WireUse<'a>>,
}

#[derive(Serialize, Debug)]
struct WireUse<'a> {
    step: u32,
    op: &'a str,
}

#[derive(Serialize, Debug)]
struct WireContributor<'a> {
    step: u32,
    op: &'a str,
    bytes: u64,
    count: u64,
}

#[derive(Serialize, Debug)]
struct WireTally {
    count: u64,
    bytes: u64,
}

#[derive(Serialize, Debug)]
struct WireWithout<'a> {
    tensor: String,
    graph: &'a str,
    bytes: u64,
    peak_live_bytes: u64,
    peak_live_step: Option<u32>,
    lowers_by_bytes: u64,
}

#[derive(Serialize, Debug)]
struct WireRange<'a> {
    start: u32,
    end: u32,
    live: Option<WireCurve>,
    reserved: Option<WireCurve>,
    before: WireTally,
    allocated: WireTally,
    freed: WireTally,
    after: WireTally,
    groups: Vec<WireGroup<'a>>,
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

/// A report beside what it is of.
#[derive(Clone, Copy, Debug)]
pub struct PeakAnswer<'a> {
    /// The comparison.
    pub comparison: &'a Comparison,
    /// A report of one of its lanes.
    pub report: &'a PeakReport,
    /// How many tensors are listed at most.
    pub most: usize,
}

impl<'a> PeakAnswer<'a> {
    fn tensor(&self, member: u32) -> Option<Selected> {
        Some(self.report.set.members.get(member as usize)?.tensor)
    }

    fn name(&self, member: u32) -> String {
        let tensor = self.tensor(member);
        tensor.map_or_else(String::new, |tensor| tensor_label(self.comparison, tensor).into_owned())
    }

    fn bytes(&self, member: u32) -> u64 {
        let member = self.report.set.members.get(member as usize);
        member.map_or(0, |member| member.bytes.get())
    }

    fn graph(&self, tensor: Option<Selected>) -> &'a str {
        let session = self.comparison.session_of(self.report.ask.lane);
        let graph = tensor.and_then(|tensor| session.graphs.get(tensor.graph.0 as usize));
        graph.map_or("", |graph| graph.name.as_str())
    }

    /// Parts of the live bytes, from 0 to 1.
    fn share(&self, bytes: highwater_model::units::Bytes) -> f64 {
        self.report.share(bytes) / 100.0
    }

    fn members(&self) -> Vec<WireMember<'a>> {
        let report = self.report;
        let uses = report.uses.as_ref().ok();
        let range = report.range.as_ref().map(|stats| stats.range);
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
        });
        wire.collect()
    }

    fn groups(&self, groups: &'a [LiveGroup]) -> Vec<WireGroup<'a>> {
        let wire = groups.iter().map(|group| WireGroup {
            name: &group.text,
            bytes: group.bytes.get(),
            share: self.share(group.bytes),
            count: group.count,
            largest: tensor_label(self.comparison, group.largest.0).into_owned(),
            largest_bytes: group.largest.1.get(),
        });
        wire.collect()
    }

    fn range(&self, stats: &'a RangeStats) -> WireRange<'a> {
        WireRange {
            start: stats.range.start.0,
            end: stats.range.end.0,
            live: stats.live.as_ref().map(WireCurve::new),
            reserved: stats.reserved.as_ref().map(WireCurve::new),
            before: WireTally::new(stats.before),
            allocated: WireTally::new(stats.allocated),
            freed: WireTally::new(stats.freed),
            after: WireTally::new(stats.after),
            groups: self.groups(&stats.groups),
        }
    }

    fn idle(&self, row: &'a IdleTensor) -> WireIdle<'a> {
        WireIdle {
            tensor: self.name(row.member),
            bytes: self.bytes(row.member),
            idle_steps: row.idle.n_steps,
            byte_steps: row.idle.weight,
            since: row.since.as_ref().map(WireUse::new),
            until: row.until.as_ref().map(WireUse::new),
        }
    }

    fn without(&self, row: &PeakWithout) -> WireWithout<'a> {
        WireWithout {
            tensor: self.name(row.member),
            graph: self.graph(self.tensor(row.member)),
            bytes: self.bytes(row.member),
            peak_live_bytes: row.peak.get(),
            peak_live_step: row.step.map(|step| step.0),
            lowers_by_bytes: row.lowers_by.get(),
        }
    }
}

impl<'a> WireUse<'a> {
    fn new(by: &'a OpUse) -> Self {
        Self {
            step: by.step.0,
            op: &by.op,
        }
    }
}

impl<'a> WireContributor<'a> {
    fn new(holder: &'a RetainingOp) -> Self {
        Self {
            step: holder.by.step.0,
            op: &holder.by.op,
            bytes: holder.bytes.get(),
            count: holder.count,
        }
    }
}

impl WireTally {
    fn new(tally: Tally) -> Self {
        Self {
            count: tally.count,
            bytes: tally.bytes.get(),
        }
    }
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

impl<'a> WirePeak<'a> {
    /// The wire form of a report.
    pub fn new(answer: &PeakAnswer<'a>, import: &Diagnostics) -> Self {
        let PeakAnswer { comparison, report, .. } = *answer;
        let set = &report.set;
        let id = comparison.lanes.get(report.ask.lane).map(|lane| lane.id);
        let states_live = comparison.states(report.ask.lane).1;
        let mut diagnostics = WireDiagnostic::all(import);
        diagnostics.extend(WireDiagnostic::all(&comparison.diagnostics));
        let uses = report.uses.as_ref();
        let idle = |row| answer.idle(row);
        let without = |row| answer.without(row);
        let rest = set.rest.iter().map(|(rest, bytes)| WireRest {
            what: rest.words(),
            bytes: bytes.get(),
        });
        Self {
            lane: id.map_or_else(String::new, |id| comparison.lane_title(id)),
            policy: match id {
                Some(LaneId::Policy(policy)) => Some(policy.number()),
                _ => None,
            },
            asked: asked(report.ask.at),
            axis: comparison.axis_word(),
            step: set.step.0,
            live_bytes: states_live.then_some(set.live.get()),
            reserved_bytes: set.reserved.map(highwater_model::units::Bytes::get),
            unlisted_bytes: set.unlisted.get(),
            surplus_bytes: set.surplus.get(),
            rest: rest.collect(),
            peak_live_bytes: report.peak.0.get(),
            peak_live_step: report.peak.1.map(|step| step.0),
            lower_bound: comparison.is_lower_bound(report.ask.lane),
            range: report.range.as_ref().map(|stats| answer.range(stats)),
            group_by: report.ask.by.key(),
            groups: answer.groups(&report.groups),
            tensors_total: set.members.len(),
            tensors: answer.members(),
            idle: uses.ok().map(|uses| uses.longest.iter().map(idle).collect()),
            held_for: uses
                .ok()
                .map(|uses| uses.holders.iter().map(WireContributor::new).collect()),
            unread: uses.ok().map(|uses| WireTally {
                count: uses.unread.0,
                bytes: uses.unread.1.get(),
            }),
            uses_unknown: uses.err().copied(),
            without: report
                .without
                .as_ref()
                .ok()
                .map(|rows| rows.iter().map(without).collect()),
            without_unknown: report.without.as_ref().err().copied(),
            against: report.changes.as_ref().map(|changes| {
                let lane = report.ask.against.and_then(|lane| comparison.lanes.get(lane));
                let title = lane.map_or_else(String::new, |lane| comparison.lane_title(lane.id));
                WireOther::new(title, changes, answer.most)
            }),
            diagnostics,
        }
    }
}

const fn asked(at: PeakAt) -> &'static str {
    match at {
        PeakAt::Peak => "peak",
        PeakAt::Step(_) => "step",
        PeakAt::Range(_) => "range",
    }
}

/// The live tensors as CSV with a header, one a row, largest first.
pub fn peak_csv(answer: &PeakAnswer<'_>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in answer.members() {
        // Writing to memory does not fail.
        drop(writer.serialize(row));
    }
    let bytes = writer.into_inner().unwrap_or_default();
    let text = String::from_utf8(bytes).unwrap_or_default();
    if text.is_empty() { CSV_HEADER.to_owned() } else { text }
}

/// What stands above no rows.
const CSV_HEADER: &str = "tensor,graph,run,bytes,share,birth,end,copies,group,alive_before,idle_steps\n";

/// Extensions that a path to write a step explained may have, in words.
pub const PEAK_FORMS: &str = "name a file that ends in .json, .csv or .txt";

/// The text of a report by the extension of a file; `None` for another one.
pub fn peak_file(name: &str, answer: &PeakAnswer<'_>) -> Option<String> {
    let (_, extension) = name.rsplit_once('.')?;
    match extension.to_ascii_lowercase().as_str() {
        "json" => {
            let wire = WirePeak::new(answer, &Diagnostics::new());
            let mut text = serde_json::to_string_pretty(&wire).unwrap_or_default();
            text.push('\n');
            Some(text)
        }
        "csv" => Some(peak_csv(answer)),
        "txt" => Some(peak_text(answer)),
        _ => None,
    }
}
