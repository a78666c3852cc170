//! An explained step: one JSON object, a table of the live tensors as CSV, and a page for people.
//!
//! In: a comparison and a report. Fields and columns are a contract: bytes and steps are integers, shares are parts of the live bytes
//! from 0 to 1, ends are exclusive; unknown values are null with a sentence that says why.

mod categories;
mod page;
mod ranks;
mod recorded;
mod rows;

use serde::Serialize;
use serde_json::Value as Json;

use self::ranks::{rank_rows, spread_rows};
use super::answer::{Answer, Page, diagnostics_blocks};
use super::blocks::paragraph;
use super::cells::guarded_csv;
use super::contributors::other_record;
use super::failed_requests::FailureAnswer;
use super::flame::FlameAnswer;
use super::json_parts::{entries_json, list};
use super::record::{Record, Value};
use highwater_analysis::{Comparison, LaneId, RecordedFailure};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::units::Bytes;
use highwater_timeline::{CurveStats, PeakAt, PeakReport, RangeStats, Selected, Tally, tensor_label};

/// A report of one lane of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct PeakAnswer<'a> {
    pub comparison: &'a Comparison,
    pub report: &'a PeakReport,
    /// The number of listed tensors.
    pub most: usize,
    /// The file that the changes of the report are from; without it they are from another lane.
    pub baseline: Option<&'a str>,
    /// The call stacks of the live bytes, for programs.
    pub tree: Option<FlameAnswer<'a>>,
    /// The importer's diagnostics.
    pub import: Option<&'a Diagnostics>,
}

impl Answer for PeakAnswer<'_> {
    fn page(&self) -> Page {
        let comparison = self.comparison;
        let mut blocks = self.blocks();
        blocks.extend(
            comparison
                .scratch
                .note()
                .filter(|_| comparison.lower_bound)
                .map(paragraph),
        );
        for entries in self.import.into_iter().chain([&comparison.diagnostics]) {
            blocks.extend(diagnostics_blocks(entries));
        }
        Page(blocks)
    }

    fn json(&self) -> impl Serialize {
        self.record()
    }

    fn csv(&self) -> Option<String> {
        let is_recorded = self.comparison.is_measured_lane(self.report.ask.lane);
        let rows = if is_recorded {
            self.recorded_rows()
        } else {
            self.members()
        };
        Some(rows.first(self.most).csv(CSV_HEADER))
    }
}

/// The header of a table without rows.
const CSV_HEADER: &str = "tensor,graph,run,bytes,share,birth,end,copies,group,alive_before,idle_steps";

impl<'a> PeakAnswer<'a> {
    pub const fn new(comparison: &'a Comparison, report: &'a PeakReport, most: usize) -> Self {
        Self {
            comparison,
            report,
            most,
            baseline: None,
            tree: None,
            import: None,
        }
    }

    fn tensor(&self, member: u32) -> Option<Selected> {
        Some(self.report.set.members.get(member as usize)?.tensor)
    }

    /// The label of a member; empty for an unknown one.
    fn name(&self, member: u32) -> Value<'a> {
        let tensor = self.tensor(member);
        tensor.map_or("".into(), |tensor| tensor_label(self.comparison, tensor).into())
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

    /// The request that failed on the explained step.
    fn failed_here(&self) -> Option<RecordedFailure> {
        let PeakAt::Step(step) = self.report.ask.at else {
            return None;
        };
        self.comparison.failure_at(self.report.ask.lane, step)
    }

    fn failure<'f>(&'f self, failed: &'f RecordedFailure) -> Option<FailureAnswer<'f>> {
        FailureAnswer::new(self.comparison, self.report.ask.lane, failed)
    }

    /// The failed requests of the lane; of an explained step its own.
    fn failed_requests(&self) -> Option<Json> {
        let record = |answer: &FailureAnswer<'_>| answer.record().to_json();
        if let Some(failed) = self.failed_here() {
            return self.failure(&failed).map(|answer| Json::from(vec![record(&answer)]));
        }
        let failures = FailureAnswer::of_lane(self.comparison, self.report.ask.lane);
        let is_listed = matches!(self.report.ask.at, PeakAt::Peak) && !failures.is_empty();
        is_listed.then(|| list(&failures, record))
    }

    /// The part of the live bytes, from 0 to 1.
    fn share(&self, bytes: Bytes) -> f64 {
        self.report.share(bytes) / 100.0
    }

    /// The lane that changes are from.
    fn other_title(&self) -> String {
        let lane = self.report.ask.against;
        let title = lane.map_or_else(String::new, |lane| self.comparison.title_of(lane));
        self.baseline.map_or(title, str::to_owned)
    }

    fn record(&self) -> Record<'a> {
        let Self {
            comparison,
            report,
            most,
            ..
        } = *self;
        let (set, ask) = (&report.set, report.ask);
        let id = comparison.lanes.get(ask.lane).map(|lane| lane.id);
        let is_recorded = comparison.is_measured_lane(ask.lane);
        let import = self.import.into_iter().flat_map(Diagnostics::entries);
        let (uses, without) = (report.uses.as_ref(), report.without.as_ref());
        Record::new()
            .key("lane", comparison.title_of(ask.lane))
            .key(
                "policy",
                match id {
                    Some(LaneId::Policy(policy)) => Some(u32::from(policy.number())),
                    Some(LaneId::Problem(_) | LaneId::Pass(_) | LaneId::Pinned(_) | LaneId::Measured(_)) | None => None,
                },
            )
            .key(
                "asked",
                match ask.at {
                    PeakAt::Peak => "peak",
                    PeakAt::Step(_) => "step",
                    PeakAt::Range(_) => "range",
                },
            )
            .key("axis", comparison.axis_word())
            .key("step", set.step)
            // Of a recording: the number of the event there, which `--step` takes; `step` counts the common axis.
            .key("event", is_recorded.then(|| comparison.shown_step(ask.lane, set.step)))
            .key("live_bytes", comparison.states(ask.lane).1.then_some(set.live))
            .key("reserved_bytes", set.reserved)
            .key("unlisted_bytes", set.unlisted)
            .key("surplus_bytes", set.surplus)
            .key(
                "rest",
                list(
                    &set.rest,
                    |(rest, bytes)| serde_json::json!({"what": rest.words(), "bytes": bytes.get()}),
                ),
            )
            .key("peak_live_bytes", report.peak.0)
            .key("peak_live_step", report.peak.1)
            .key("lower_bound", comparison.is_lower_bound(ask.lane))
            .key("range", report.range.as_ref().map(|stats| self.range(stats)))
            .key("group_by", ask.by.key())
            .key("groups_total", report.groups.len())
            .key("groups", self.groups(&report.groups).first(most))
            .optional("categories", self.unknown().map(|_| self.categories()))
            .key("unknown_bytes", self.unknown().map(|(unknown, _)| unknown))
            .key(
                "undecided_parameter_bytes",
                self.unknown().map(|(_, parameters)| parameters),
            )
            .key("tensors_total", set.members.len())
            .key("tensors", self.members().first(most))
            .key("idle", uses.ok().map(|uses| self.idle(uses)))
            .key("held_for", uses.ok().map(Self::next_uses))
            .key("unread", uses.ok().map(|uses| tally(uses.unread.0, uses.unread.1)))
            .key("uses_unknown", uses.err().copied())
            .key("without", without.ok().map(|rows| self.without(rows)))
            .key("without_unknown", without.err().copied())
            .optional(
                "against",
                report
                    .changes
                    .as_ref()
                    .map(|changes| other_record(self.other_title(), changes, most)),
            )
            .optional("against_note", self.against_note())
            .optional(
                "ranks",
                report.ranks.as_ref().map(|spread| {
                    Record::new()
                        .key("count", spread.ranks.len())
                        .key("median_live_bytes", spread.median)
                        .key("sentence", spread.sentence())
                        .key("recordings", rank_rows(spread).first(most))
                        .key("groups", spread_rows(spread).first(most))
                }),
            )
            .optional("failed_requests", self.failed_requests())
            .optional("tree", self.tree.map(|tree| tree.record()))
            .key(
                "diagnostics",
                entries_json(import.chain(comparison.diagnostics.entries())),
            )
    }

    fn range(&self, stats: &'a RangeStats) -> Record<'a> {
        let sums = |sums: Tally| tally(sums.count, sums.bytes);
        Record::new()
            .key("start", stats.range.start)
            .key("end", stats.range.end)
            .key("live", stats.live.as_ref().map(curve))
            .key("reserved", stats.reserved.as_ref().map(curve))
            .key("before", sums(stats.before))
            .key("allocated", sums(stats.allocated))
            .key("freed", sums(stats.freed))
            .key("after", sums(stats.after))
            .key("groups", self.groups(&stats.groups).first(self.most))
    }
}

fn curve<'a>(stats: &CurveStats) -> Record<'a> {
    Record::new()
        .key("peak_bytes", stats.peak.0)
        .key("peak_step", stats.peak.1)
        .key("minimum_bytes", stats.minimum.0)
        .key("minimum_step", stats.minimum.1)
        .key("sum_byte_steps", stats.sum)
        .key("steps", stats.n_steps)
        .key("mean_bytes", stats.mean())
}

fn tally<'a>(count: u64, bytes: Bytes) -> Record<'a> {
    Record::new().key("count", count).key("bytes", bytes)
}

/// The extensions of [`peak_file`], for a message.
pub const PEAK_FORMS: &str = "name a file that ends in .csv, .md, .json or .txt";

/// The rows of each list of a page for people, where no number is chosen.
pub const PEAK_ROWS: usize = 10;

/// The content of a file with an explained step, by the file's extension; `None` for an unknown extension.
pub fn peak_file(name: &str, answer: &PeakAnswer<'_>) -> Option<String> {
    let (_, extension) = name.rsplit_once('.')?;
    let extension = extension.to_ascii_lowercase();
    let text = peak_text(&extension, answer)?;
    Some(if extension == "csv" { guarded_csv(&text) } else { text })
}

/// As [`peak_file`], with cells of tables as they are.
pub(crate) fn peak_text(extension: &str, answer: &PeakAnswer<'_>) -> Option<String> {
    match extension {
        "json" => {
            let mut text = serde_json::to_string_pretty(&answer.record()).unwrap_or_default();
            text.push('\n');
            Some(text)
        }
        "csv" => answer.csv(),
        "txt" => Some(answer.page().text()),
        "md" => {
            let most = answer.most.min(PEAK_ROWS);
            Some(PeakAnswer { most, ..*answer }.page().markdown())
        }
        _ => None,
    }
}
