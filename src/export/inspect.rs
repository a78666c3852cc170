//! The answer of `inspect` as JSON.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use super::allocator_state::allocator_sums_json;
use super::cann_log::{log_json, plans_json};
use super::json_parts::{diagnostics_json, fields_of, list, numbered_object};
use highwater_analysis::{DumpFigures, GraphFigures, Inspection, RecordingFigures};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::units::{Bytes, Step};

/// One file; `import` are the importer's diagnostics.
pub fn inspection_fields(format: &str, inspection: &Inspection, import: &Diagnostics) -> Map<String, Json> {
    let mut diagnostics = import.clone();
    diagnostics.extend(&inspection.diagnostics);
    let dumps: BTreeMap<usize, &DumpFigures> = inspection.dumps.iter().map(|(graph, dump)| (*graph, dump)).collect();
    let graphs = inspection.graphs.iter().enumerate();
    let object = json!({
        "format": format,
        "graphs": list(graphs, |(position, graph)| graph_json(graph, dumps.get(&position).copied())),
        "lifetimes": list(&inspection.lifetimes, |entry| {
            json!({
                "name": entry.name,
                "count": entry.count,
                "peak_live_bytes": entry.peak.get(),
                "bytes": entry.total.get(),
            })
        }),
        "recordings": list(&inspection.recordings, recording_json),
        "diagnostics": diagnostics_json(&diagnostics),
    });
    let mut fields = fields_of(object, &[]);
    if !inspection.processes.is_empty() {
        let processes = inspection.processes.iter().map(|process| &**process);
        fields.insert("cann_log".to_owned(), log_json(processes.clone()));
        fields.insert("plans".to_owned(), plans_json(processes));
    }
    fields
}

/// Several files, each with its name.
pub fn inspections_json(files: Vec<(String, Map<String, Json>)>) -> Json {
    let files = list(files, |(name, inspection)| {
        let mut file = Map::from_iter([("file".to_owned(), name.into())]);
        file.extend(inspection);
        Json::Object(file)
    });
    json!({ "files": files })
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

fn texts(pairs: &[(String, String)]) -> Json {
    numbered_object(pairs.iter().map(|(key, value)| (key.as_str(), value.as_str().into())))
}

fn recording_json(figures: &RecordingFigures) -> Json {
    let step = |peak: (Bytes, Option<Step>)| peak.1.map(|step| step.0);
    let counts = figures.counts.iter();
    json!({
        "name": figures.name,
        "recorder": figures.recorder,
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
        "peak_live_bytes": figures.peak.0.get(),
        "peak_live_step": step(figures.peak),
        "peak_of_blocks_in_recording_bytes": figures.peak_seen.0.get(),
        "peak_reserved_bytes": figures.reserved.0.get(),
        "peak_reserved_step": step(figures.reserved),
        "reserved_at_end_bytes": figures.reserved_at_end.get(),
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
        "settings": texts(&figures.settings),
        "counts": numbered_object(counts.map(|(what, count)| (what.as_str(), (*count).into()))),
    })
}

fn graph_json(figures: &GraphFigures, dump: Option<&DumpFigures>) -> Json {
    let bytes = |peak: Option<(Bytes, Option<Step>)>| peak.map(|(bytes, _)| bytes.get());
    let step = |peak: Option<(Bytes, Option<Step>)>| peak.and_then(|(_, step)| step).map(|step| step.0);
    let object = json!({
        "name": figures.name,
        "ops": figures.ops,
        "tensors": figures.tensors,
        "weights_bytes": figures.weights.get(),
        "state_bytes": figures.state.get(),
        "input_bytes": figures.inputs.map(Bytes::get),
        "activation_bytes": figures.activations.map(Bytes::get),
        "peak_live_bytes": bytes(figures.naive_peak),
        "peak_live_step": step(figures.naive_peak),
        "aliased_peak_live_bytes": bytes(figures.aliased_peak),
        "aliased_peak_live_step": step(figures.aliased_peak),
        "symbolic_dims": figures.symbols,
        "unknown_shape_tensors": figures.unknown_shapes,
        "unknown_shape_inputs": figures.unknown_inputs,
        "dynamic": !figures.symbols.is_empty(),
        "dumped": dump.map(dump_json),
    });
    Json::Object(fields_of(object, &["dumped"]))
}
