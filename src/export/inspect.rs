//! The answer of `inspect`: the content of each file.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value as Json, json};

use super::allocator_state::allocator_sums_json;
use super::answer::{Answer, Page, diagnostics_blocks};
use super::blocks::{Block, Table, paragraph};
use super::cann_log::{log_json, plans_json};
use super::explain_log::story_blocks;
use super::failed_requests::{FailureAnswer, failure_blocks};
use super::json_parts::{diagnostics_json, list, numbered_object};
use super::record::{Record, Rows, Value, known};
use highwater_analysis::{
    DumpFigures, GraphFigures, Inspection, LifetimeFigures, LogStory, PoolName, RecordingFigures, log_sentence,
};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::units::{Bytes, Step, counted, first_of};
use highwater_options::dumped_settings;

/// More recordings share one table, a line each.
const MOST_IN_DETAIL: usize = 6;

/// Names of a list in a sentence.
const MOST_NAMES: usize = 12;

/// What was found in a file.
#[derive(Clone, Debug)]
pub struct InspectedFile {
    pub name: String,
    pub format: &'static str,
    pub inspection: Inspection,
    /// The importer's diagnostics.
    pub import: Diagnostics,
}

/// Several files are an object with the list `files`.
#[derive(Clone, Copy, Debug)]
pub struct InspectAnswer<'a> {
    pub files: &'a [InspectedFile],
    /// Whether one file was named, and none of those that were failed.
    pub is_single: bool,
}

impl Answer for InspectAnswer<'_> {
    fn page(&self) -> Page {
        Page(self.files.iter().flat_map(InspectedFile::blocks).collect())
    }

    fn json(&self) -> impl Serialize {
        match self.files {
            [only] if self.is_single => only.fields(Record::new()),
            files => Record::new().key(
                "files",
                Rows::new(files, |file| file.fields(Record::new().key("file", &file.name))),
            ),
        }
    }
}

impl InspectedFile {
    fn diagnostics(&self) -> Diagnostics {
        let mut all = self.import.clone();
        all.extend(&self.inspection.diagnostics);
        all
    }

    fn has_failures(&self) -> bool {
        self.inspection
            .failures
            .iter()
            .any(|(failures, _)| !failures.is_empty())
    }

    /// The failed requests of a recording.
    fn failures(&self, recording: usize) -> Vec<FailureAnswer<'_>> {
        let figures = self.inspection.recordings.get(recording);
        let Some((figures, (failures, total))) = figures.zip(self.inspection.failures.get(recording)) else {
            return Vec::new();
        };
        let answer = |failure| FailureAnswer {
            failure,
            recording: &figures.name,
            step: failure.event,
            word: "event",
            total: *total,
        };
        failures.list.iter().map(answer).collect()
    }

    /// The fields behind those of a head.
    fn fields<'a>(&'a self, head: Record<'a>) -> Record<'a> {
        let inspection = &self.inspection;
        let dumps = inspection.dumps.iter().map(|(graph, dump)| (*graph, dump));
        let dumps: BTreeMap<usize, &DumpFigures> = dumps.collect();
        let graphs = Rows::indexed(inspection.graphs.len(), move |position| {
            let dump = dumps.get(&position).map(|dump| dump_json(dump));
            graph_record(&inspection.graphs[position]).optional("dumped", dump)
        });
        let processes = inspection.processes.iter().map(|process| &**process);
        let is_log = !inspection.processes.is_empty();
        head.key("format", self.format)
            .key("graphs", graphs)
            .key("lifetimes", Rows::new(&inspection.lifetimes, lifetimes_record))
            .key("recordings", list(&inspection.recordings, recording_json))
            .optional(
                "failed_requests",
                self.has_failures().then(|| {
                    let all = (0..inspection.recordings.len()).flat_map(|recording| self.failures(recording));
                    list(all, |failure| json!(failure.record()))
                }),
            )
            .key("diagnostics", diagnostics_json(&self.diagnostics()))
            .optional("cann_log", is_log.then(|| log_json(processes.clone())))
            .optional("plans", is_log.then(|| plans_json(processes)))
    }

    fn blocks(&self) -> Vec<Block> {
        let inspection = &self.inspection;
        let mut blocks = vec![paragraph(format!("{} ({})", self.name, self.format))];
        if !inspection.processes.is_empty() {
            let story = LogStory::new(&inspection.processes);
            blocks.push(paragraph(log_sentence(&inspection.processes)));
            blocks.extend(story_blocks(&story));
        }
        let graphs = inspection.graphs.iter();
        blocks.extend(graphs.map(|graph| graph_record(graph).facts("graph", &graph.name).into()));
        let dumps = inspection.dumps.iter();
        blocks.extend(dumps.map(|(position, dump)| dump_table(&inspection.graphs[*position].name, dump).into()));
        // Live ranges of recordings are among the facts of these.
        let is_recorded = |entry: &LifetimeFigures| inspection.recordings.iter().any(|one| one.name == entry.name);
        let bare = inspection.lifetimes.iter().filter(|entry| !is_recorded(entry));
        let bare: Vec<&LifetimeFigures> = bare.collect();
        blocks.extend(Rows::indexed(bare.len(), |row| lifetimes_record(bare[row])).blocks(usize::MAX));
        // A process has its own story, which tells more than its recording.
        if inspection.processes.is_empty() {
            blocks.extend(recordings(&inspection.recordings));
        }
        for recording in 0..inspection.recordings.len() {
            let n_more = inspection
                .failures
                .get(recording)
                .map_or(0, |(failures, _)| failures.n_more);
            blocks.extend(failure_blocks(&self.failures(recording), n_more));
        }
        blocks.extend(diagnostics_blocks(&self.diagnostics()));
        blocks
    }
}

fn lifetimes_record(entry: &LifetimeFigures) -> Record<'_> {
    Record::new()
        .field("name", "lifetimes", &entry.name)
        .field("count", ">count", entry.count)
        .field("peak_live_bytes", ">peak live", entry.peak)
        .shown(">exact", entry.peak.exact())
        .field("bytes", ">all in sum", Value::Exact(entry.total))
}

fn graph_record(figures: &GraphFigures) -> Record<'_> {
    let bytes = |peak: Option<(Bytes, Option<Step>)>| known(peak.map(|(bytes, _)| bytes));
    let step = |peak: Option<(Bytes, Option<Step>)>| peak.and_then(|(_, step)| step);
    let symbols = figures.symbols.join(", ");
    let above_zero = |count: u64| (count > 0).then_some(count);
    let modelled = figures.modelled_peak.map(|(bytes, _)| bytes);
    let peak = match modelled {
        Some(_) => "peak live, by the compiler, with inputs",
        None => "peak live",
    };
    Record::new()
        .key("name", &figures.name)
        .field("ops", "ops", figures.ops)
        .field("tensors", "tensors", figures.tensors)
        .field("weights_bytes", "weights", figures.weights)
        .field("state_bytes", "optimizer state", figures.state)
        .field("input_bytes", "inputs", known(figures.inputs))
        .field("activation_bytes", "activations", known(figures.activations))
        .field("peak_live_bytes", peak, bytes(figures.naive_peak))
        .field("peak_live_step", "& at step ", step(figures.naive_peak))
        .optional("modelled_peak_live_bytes", modelled)
        .shown("peak live, modelled", modelled)
        .field(
            "aliased_peak_live_bytes",
            "peak live, memory shared by views",
            bytes(figures.aliased_peak),
        )
        .field("aliased_peak_live_step", "& at step ", step(figures.aliased_peak))
        .key("symbolic_dims", json!(figures.symbols))
        .shown("symbolic dims", symbols)
        .key("unknown_shape_tensors", figures.unknown_shapes)
        .shown("unknown shapes", above_zero(figures.unknown_shapes))
        .key("unknown_shape_inputs", figures.unknown_inputs)
        .shown("inputs of unknown shape", above_zero(figures.unknown_inputs))
        .key("dynamic", !figures.symbols.is_empty())
}

/// Facts that a dump states beyond its graph.
fn dump_json(dump: &DumpFigures) -> Json {
    let plan = || json!({"maker": dump.maker, "offsets": dump.offsets, "extent_bytes": dump.extent.get()});
    json!({
        "plan": (!dump.maker.is_empty()).then(plan),
        "options": list(&dump.options, |option| {
            json!({"key": option.key, "value": option.value, "op": option.op, "count": option.count})
        }),
        "facts": texts(&dump.facts),
    })
}

fn dump_table(graph: &str, dump: &DumpFigures) -> Table {
    let mut table = Table::new(&["stated by the dump for", graph]);
    if !dump.maker.is_empty() {
        let plan = format!(
            "by {}, {} with an offset, the last ends at {} ({})",
            dump.maker,
            counted(dump.offsets, "tensor"),
            dump.extent,
            dump.extent.exact()
        );
        table.row(&[&"plan", &plan]);
    }
    for (key, value) in &dump.facts {
        table.row(&[key, value]);
    }
    for option in &dump.options {
        let value = match &*option.value {
            "" => "(empty)",
            value => value,
        };
        let place = match option.count {
            0 | 1 => String::new(),
            count => format!(" (on {})", counted(count, "op")),
        };
        table.row(&[&format!("option {}", option.key), &format!("{value}{place}")]);
    }
    let settings = dumped_settings(&dump.options);
    if !settings.is_empty() {
        table.row(&[&"as settings, where not the defaults", &settings.arguments().join(" ")]);
    }
    table
}

fn texts(pairs: &[(String, String)]) -> Json {
    numbered_object(pairs.iter().map(|(key, value)| (key.as_str(), value.as_str().into())))
}

fn recording_json(figures: &RecordingFigures) -> Json {
    let step = |peak: (Bytes, Option<Step>)| peak.1.map(|step| step.0);
    // Without a step the file states none.
    let bytes = |peak: (Bytes, Option<Step>)| peak.1.map(|_| peak.0.get());
    let counts = figures.counts.iter();
    json!({
        "name": figures.name,
        "memory": if figures.is_host { "host" } else { "device" },
        "recorder": figures.recorder,
        "event_range": figures.range.map(|range| json!({"first": range.first, "end": range.end, "of": range.of})),
        "device_memory_bytes": figures.device_memory.map(|memory| memory.bytes.get()),
        "device_memory_is_lower_bound": figures.device_memory.map(|memory| memory.is_lower_bound),
        "steps": figures.steps,
        "duration_ns": figures.duration.map(|duration| duration.0),
        "blocks": figures.blocks,
        "older_blocks": figures.older_blocks,
        "older_bytes": figures.older_bytes.get(),
        "appeared_blocks": figures.appeared_blocks,
        "never_freed": figures.never_freed,
        "older_freed": figures.older_freed,
        "live_at_end_bytes": figures.live_at_end.get(),
        "older_live_at_end_bytes": figures.older_live_at_end.get(),
        "held_at_end_bytes": figures.held_at_end.get(),
        "peak_live_bytes": bytes(figures.peak),
        "peak_live_step": step(figures.peak),
        "peak_of_blocks_in_recording_bytes": figures.peak_seen.0.get(),
        "peak_reserved_bytes": bytes(figures.reserved),
        "peak_reserved_step": step(figures.reserved),
        "reserved_at_end_bytes": (figures.regions > 0).then_some(figures.reserved_at_end.get()),
        "regions": figures.regions,
        "fragmentation": figures.fragmentation.share(),
        "allocator_at_peak_reserved": figures.fragmentation.at_peak.map(|(_, sums)| allocator_sums_json(&sums)),
        "ops": figures.ops,
        "totals": list(&figures.totals, |(kind, bytes, step)| {
            json!({"kind": kind.name(), "peak_bytes": bytes.get(), "peak_step": step.map(|step| step.0)})
        }),
        "phases": list(&figures.phases, |(name, start, end)| {
            json!({"name": name, "first_event": start.0, "end_event": end.0})
        }),
        "step_marks": figures.step_marks,
        "pools": json!(pools(figures)),
        "categories_at_peak": json!(categories(figures)),
        "settings": texts(&figures.settings),
        "counts": numbered_object(counts.map(|(what, count)| (what.as_str(), (*count).into()))),
    })
}

/// Recordings; empty ones share a line.
fn recordings(all: &[RecordingFigures]) -> Vec<Block> {
    let (empty, full): (Vec<&RecordingFigures>, Vec<&RecordingFigures>) =
        all.iter().partition(|one| all.len() > 1 && holds_nothing(one));
    let mut blocks: Vec<Block> = if full.len() > MOST_IN_DETAIL {
        Rows::indexed(full.len(), |row| short_record(full[row])).blocks(usize::MAX)
    } else {
        full.into_iter()
            .flat_map(|recording| {
                let tables = [categories(recording), pools(recording)];
                let tables = tables.into_iter().flat_map(|rows| rows.blocks(usize::MAX));
                std::iter::once(recording_table(recording).into()).chain(tables)
            })
            .collect()
    };
    if !empty.is_empty() {
        let count = counted(empty.len() as u64, "recording");
        let names = first_of(empty.iter().map(|one| &one.name), MOST_NAMES, ", ");
        blocks.push(paragraph(format!("{count} always at 0 B: {names}")));
    }
    blocks
}

fn holds_nothing(recording: &RecordingFigures) -> bool {
    let blocks = recording.blocks + recording.older_blocks + recording.regions + recording.ops;
    let mut stated = recording.totals.iter().map(|(_, bytes, _)| *bytes);
    blocks == 0 && recording.reserved.0 == Bytes::ZERO && stated.all(|bytes| bytes == Bytes::ZERO)
}

fn recording_table(recording: &RecordingFigures) -> Table {
    let mut table = Table::new(&["recording", &recording.name, ">"]);
    for fact in recording.facts() {
        table.row(&[&fact.label, &fact.value, &fact.exact]);
    }
    table
}

/// Each pool over time.
fn pools(recording: &RecordingFigures) -> Rows<'_> {
    Rows::new(&recording.pools, |pool| {
        let (reserved, live) = (&pool.reserved, &pool.live);
        Record::new()
            .field("stream", ">stream", Value::Digits(pool.stream))
            .shown("pool", pool.pool.to_string())
            .key("private_pool", pool.pool.private())
            .key("is_stated", pool.pool != PoolName::NotStated)
            .field("regions", ">segments", pool.regions)
            .field("blocks", ">blocks", pool.blocks)
            .field("peak_reserved_bytes", ">peak reserved", reserved.peak)
            .field("peak_reserved_event", ">at event", reserved.step)
            .field("peak_live_bytes", ">peak live", live.peak)
            .field("peak_live_event", ">at event", live.step)
            .field(
                "reserved_at_peak_bytes",
                ">reserved at the peak of all",
                reserved.at_peak_of_all,
            )
            .field("reserved_at_end_bytes", ">at the end", reserved.at_end)
            .field("live_at_end_bytes", ">live at the end", live.at_end)
    })
    .captioned("Pools over time", "")
}

/// What the blocks of the live peak are for, as far as it is inferred.
fn categories(recording: &RecordingFigures) -> Rows<'_> {
    Rows::new(&recording.categories, |one| {
        Record::new()
            .field("category", "category, inferred", one.category.name())
            .field("bytes", ">live at the peak", one.bytes)
            .field("blocks", ">blocks", one.blocks)
            .key("rests_on", one.basis.key())
            .field("because", "rests on", one.basis.text())
    })
}

/// A recording among many.
fn short_record(recording: &RecordingFigures) -> Record<'_> {
    let stated = |(bytes, step): (Bytes, Option<Step>)| match step {
        Some(_) => Value::Bytes(bytes),
        None => Value::from("not stated"),
    };
    let exact = |(bytes, step): (Bytes, Option<Step>)| step.map(|_| bytes.exact());
    let (live, reserved) = (recording.peak, recording.reserved);
    Record::new()
        .shown("recording", &recording.name)
        .shown(">events", recording.steps)
        .shown(">blocks", recording.blocks + recording.older_blocks)
        .shown(">peak live", stated(live))
        .shown(">exact", exact(live))
        .shown(">at event", live.1)
        .shown(">peak reserved", stated(reserved))
        .shown(">exact", exact(reserved))
        .shown(">at event", reserved.1)
}
