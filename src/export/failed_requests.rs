//! Failed requests of recordings: the same fields in every answer, for programs and for people.
//!
//! In: the facts of a failed request, the numbers by which people find it, and the device's memory where it is known. Out: a record,
//! and blocks. Figures that the file does not state are null.

use serde_json::Value as Json;

use super::allocator_state::sums_fields;
use super::answer::lines_blocks;
use super::blocks::{Block, Table, paragraph};
use super::record::{Record, Rows, Value, known};
use highwater_analysis::{
    Comparison, DeviceTotal, FailureFact, Outside, PoolAtFailure, RecordedFailure, ServingSetting, SiteAtFailure,
};
use highwater_model::units::{Step, counted};

/// Failed requests of a recording that are told in full; others share a table.
const MOST_IN_DETAIL: usize = 2;

/// Failed requests that a table lists.
const MOST_ROWS: usize = 16;

/// Letters of a cell; longer values are below the table.
const WIDEST_CELL: usize = 40;

/// Call sites in a page.
const MOST_SITES: usize = 5;

/// A failed request in an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FailureAnswer<'a> {
    pub(crate) failure: &'a RecordedFailure,
    /// The recording's name.
    pub(crate) recording: &'a str,
    /// The number that `peak --step` takes, and what it counts.
    pub(crate) step: Step,
    pub(crate) word: &'static str,
    pub(crate) total: Option<DeviceTotal>,
}

impl<'a> FailureAnswer<'a> {
    /// The failed requests of a lane.
    pub(crate) fn of_lane(comparison: &'a Comparison, lane: usize) -> Vec<Self> {
        let failures = comparison.failures(lane).iter();
        failures
            .filter_map(|failure| Self::new(comparison, lane, failure))
            .collect()
    }

    pub(crate) fn new(comparison: &'a Comparison, lane: usize, failure: &'a RecordedFailure) -> Option<Self> {
        let recording = comparison.recording(comparison.lanes.get(lane)?.id)?;
        let step = comparison.failure_step(lane, failure);
        Some(Self {
            failure,
            recording: &recording.name,
            step: comparison.shown_step(lane, step),
            word: comparison.axis_word(),
            total: comparison.device_total(lane),
        })
    }

    /// `event 450`; of a recording on the steps of a graph `step 17 (event 450)`.
    fn at(&self) -> String {
        let event = self.failure.event;
        if self.step == event {
            format!("{} {event}", self.word)
        } else {
            format!("{} {} (event {event})", self.word, self.step)
        }
    }

    pub(crate) fn record(&self) -> Record<'a> {
        let failure = self.failure;
        let outside = failure.outside(self.total);
        let verdict = failure.verdict.as_ref();
        let known_outside = match outside {
            Outside::Known { bytes, .. } => Some(bytes),
            _ => None,
        };
        Record::new()
            .key("recording", self.recording)
            .key("event", failure.event)
            .key("step", self.step)
            .key("requested_bytes", failure.requested)
            .key("stream", failure.stream)
            .key("call_site", known_text(&failure.site))
            .key("line", known_text(failure.line()))
            .key("stack", Json::from(failure.frames.clone()))
            .key("device_free_bytes", failure.free)
            .key("largest_free_bytes", failure.sums.map(|sums| sums.largest_free))
            .key("reserved_bytes", failure.reserved)
            .key("allocated_bytes", failure.allocated)
            .key("live_bytes", failure.live.1)
            .key("live_blocks", failure.live.0)
            .key("allocator", failure.sums.map(|sums| sums_fields(Record::new(), &sums)))
            .key("pools", Rows::new(&failure.pools, pool_record))
            .key("call_sites", Rows::new(&failure.sites, site_record))
            .key("more_call_sites", failure.n_more_sites)
            .key("device_total_bytes", self.total.map(|total| total.bytes))
            .key("device_total_from", self.total.map(|total| total.from.name()))
            .key("device_at_least_bytes", failure.at_least())
            .key("outside_allocator_bytes", known_outside)
            .key("served", verdict.map(|verdict| verdict.served.name()))
            .key("served_why", verdict.map(|verdict| verdict.why.as_str()))
            .key("settings", Rows::new(&failure.settings, setting_record))
    }

    /// All that is known of it.
    pub(crate) fn blocks(&self) -> Vec<Block> {
        let failure = self.failure;
        let title = format!("failed request at {}", self.at());
        let mut table = Table::new(&[&title, "", ">"]);
        let (long, short): (Vec<FailureFact>, Vec<FailureFact>) = failure
            .facts(self.total)
            .into_iter()
            .partition(|fact| fact.value.chars().count() > WIDEST_CELL);
        for fact in short {
            table.row(&[&fact.label, &fact.value, &fact.exact]);
        }
        let long = long.iter().map(|fact| format!("{}: {}", fact.label, fact.value));
        let mut blocks: Vec<Block> = vec![table.into()];
        blocks.extend(lines_blocks(long.chain(failure.answers())));
        if failure.pools.len() > 1 || failure.pools.iter().any(|pool| pool.name != "default pool") {
            let pools = Rows::new(&failure.pools, pool_record).captioned("Pools then", "pool");
            blocks.extend(pools.blocks(usize::MAX));
        }
        let sites = Rows::new(&failure.sites, site_record).captioned("Live then by call site", "live then");
        blocks.extend(sites.blocks(MOST_SITES));
        blocks
    }

    /// A line among many.
    fn row(&self) -> Record<'a> {
        let failure = self.failure;
        Record::new()
            .shown("failed requests", self.at())
            .shown(">requested", known(failure.requested))
            .shown("call site", failure.site.as_str())
            .shown(">free", known(failure.free))
            .shown(">reserved", known(failure.reserved))
            .shown(">live", failure.live.1)
            .shown(
                "served by a setting",
                failure.verdict.as_ref().map(|verdict| verdict.served.name()),
            )
    }
}

/// The failed requests of a recording, `n_more` of which are not listed: a table where they are several, the first ones in full.
pub(crate) fn failure_blocks(answers: &[FailureAnswer<'_>], n_more: usize) -> Vec<Block> {
    let mut blocks = Vec::new();
    if answers.len() > 1 {
        blocks.extend(Rows::indexed(answers.len(), |row| answers[row].row()).blocks(MOST_ROWS));
    }
    if n_more > 0 {
        let more = counted(n_more as u64, "more request");
        blocks.push(paragraph(format!(
            "{more} failed after these; `highwater peak --step EVENT` explains each."
        )));
    }
    let mut detailed = answers.iter().take(MOST_IN_DETAIL);
    blocks.extend(detailed.by_ref().flat_map(FailureAnswer::blocks));
    if answers.len() > MOST_IN_DETAIL {
        blocks.push(paragraph("`highwater peak --step EVENT` explains the others."));
    }
    blocks
}

fn known_text(words: &str) -> Option<&str> {
    Some(words).filter(|words| !words.is_empty())
}

fn pool_record(pool: &PoolAtFailure) -> Record<'_> {
    let record = Record::new()
        .field("pool", "pool", &pool.name)
        .field("kind", "kind", &pool.kind)
        .field("stream", ">stream", Value::Digits(pool.stream));
    sums_fields(record, &pool.sums)
}

fn site_record(site: &SiteAtFailure) -> Record<'_> {
    Record::new()
        .field("call_site", "call site", &site.name)
        .field("blocks", ">blocks", site.blocks)
        .field("bytes", ">live", site.bytes)
        .shown(">exact", site.bytes.exact())
}

fn setting_record(setting: &ServingSetting) -> Record<'_> {
    Record::new()
        .key("setting", setting.text())
        .key("needs_version", setting.needs_version.as_ref())
        .key("peak_reserved_bytes", setting.peak)
}
