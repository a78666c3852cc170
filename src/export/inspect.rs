//! The wire form of `highwater inspect --format json`.

use serde::Serialize;
use serde_json::Value as Json;

use highwater_analysis::{DumpFigures, GraphFigures, Inspection, RecordingFigures};
use highwater_model::diagnostics::{Diagnostic, Diagnostics};
use highwater_model::units::{Bytes, Step};

/// One diagnostic.
#[derive(Serialize, Debug)]
pub struct WireDiagnostic {
    severity: &'static str,
    message: String,
    place: String,
    count: u64,
}

impl WireDiagnostic {
    /// The wire form of all entries, in order.
    pub fn all(diagnostics: &Diagnostics) -> Vec<Self> {
        diagnostics.entries().iter().map(Self::new).collect()
    }

    fn new(diagnostic: &Diagnostic) -> Self {
        Self {
            severity: diagnostic.severity.name(),
            message: diagnostic.message.clone(),
            place: diagnostic.place.clone(),
            count: diagnostic.count,
        }
    }
}

#[derive(Serialize, Debug)]
struct WireGraph {
    name: String,
    ops: u64,
    tensors: u64,
    weights_bytes: u64,
    state_bytes: u64,
    input_bytes: Option<u64>,
    activation_bytes: Option<u64>,
    peak_live_bytes: Option<u64>,
    peak_live_step: Option<u32>,
    aliased_peak_live_bytes: Option<u64>,
    aliased_peak_live_step: Option<u32>,
    symbolic_dims: Vec<String>,
    unknown_shape_tensors: u64,
    unknown_shape_inputs: u64,
    dynamic: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    dumped: Option<WireDump>,
}

/// What a dump says beyond its graph.
#[derive(Serialize, Debug)]
struct WireDump {
    plan: Option<WireDumpedPlan>,
    options: Vec<WireDumpedOption>,
    facts: serde_json::Map<String, Json>,
}

#[derive(Serialize, Debug)]
struct WireDumpedPlan {
    maker: String,
    offsets: u64,
    extent_bytes: u64,
}

#[derive(Serialize, Debug)]
struct WireDumpedOption {
    key: String,
    value: String,
    op: String,
    count: u64,
}

#[derive(Serialize, Debug)]
struct WireRecording {
    name: String,
    recorder: String,
    steps: u32,
    duration_ns: Option<u64>,
    blocks: u64,
    older_blocks: u64,
    older_bytes: u64,
    appeared_blocks: u64,
    never_freed: u64,
    older_freed: u64,
    live_at_end_bytes: u64,
    older_live_at_end_bytes: u64,
    held_at_end_bytes: u64,
    peak_live_bytes: u64,
    peak_live_step: Option<u32>,
    peak_of_blocks_in_recording_bytes: u64,
    peak_reserved_bytes: u64,
    peak_reserved_step: Option<u32>,
    reserved_at_end_bytes: u64,
    regions: u64,
    ops: u64,
    totals: Vec<WireTotal>,
    settings: serde_json::Map<String, Json>,
    counts: serde_json::Map<String, Json>,
}

#[derive(Serialize, Debug)]
struct WireTotal {
    kind: &'static str,
    peak_bytes: u64,
    peak_step: Option<u32>,
}

#[derive(Serialize, Debug)]
struct WireLifetimes {
    name: String,
    count: u64,
    peak_live_bytes: u64,
    bytes: u64,
}

/// What was read.
#[derive(Serialize, Debug)]
pub struct WireInspection {
    format: &'static str,
    graphs: Vec<WireGraph>,
    lifetimes: Vec<WireLifetimes>,
    recordings: Vec<WireRecording>,
    diagnostics: Vec<WireDiagnostic>,
}

impl WireInspection {
    /// The wire form of an inspection; `import` are the importer's own diagnostics.
    pub fn new(format: &'static str, inspection: &Inspection, import: &Diagnostics) -> Self {
        let mut diagnostics = import.clone();
        diagnostics.extend(&inspection.diagnostics);
        Self {
            format,
            graphs: wire_graphs(inspection),
            recordings: inspection.recordings.iter().map(wire_recording).collect(),
            lifetimes: inspection
                .lifetimes
                .iter()
                .map(|entry| WireLifetimes {
                    name: entry.name.clone(),
                    count: entry.count,
                    peak_live_bytes: entry.peak.get(),
                    bytes: entry.total.get(),
                })
                .collect(),
            diagnostics: WireDiagnostic::all(&diagnostics),
        }
    }
}

/// What was read of several files.
#[derive(Serialize, Debug)]
pub struct WireFiles {
    files: Vec<WireFile>,
}

#[derive(Serialize, Debug)]
struct WireFile {
    file: String,
    #[serde(flatten)]
    inspection: WireInspection,
}

impl WireFiles {
    /// The wire form of answers, each with the name of its file.
    pub fn new(answers: Vec<(String, WireInspection)>) -> Self {
        let files = answers.into_iter();
        Self {
            files: files.map(|(file, inspection)| WireFile { file, inspection }).collect(),
        }
    }
}

fn wire_graphs(inspection: &Inspection) -> Vec<WireGraph> {
    let mut graphs: Vec<WireGraph> = inspection.graphs.iter().map(wire_graph).collect();
    for (position, dump) in &inspection.dumps {
        graphs[*position].dumped = Some(wire_dump(dump));
    }
    graphs
}

fn wire_dump(dump: &DumpFigures) -> WireDump {
    let has_plan = !dump.maker.is_empty();
    WireDump {
        plan: has_plan.then(|| WireDumpedPlan {
            maker: dump.maker.clone(),
            offsets: dump.offsets,
            extent_bytes: dump.extent.get(),
        }),
        options: dump
            .options
            .iter()
            .map(|option| WireDumpedOption {
                key: option.key.clone(),
                value: option.value.clone(),
                op: option.op.clone(),
                count: option.count,
            })
            .collect(),
        facts: texts(&dump.facts),
    }
}

fn texts(pairs: &[(String, String)]) -> serde_json::Map<String, Json> {
    object(
        pairs
            .iter()
            .map(|(key, value)| (key.as_str(), Json::from(value.as_str()))),
    )
}

/// An object of these pairs. A key that stands again with another value gets a number, so that nothing is lost: `key`,
/// `key (2)`, `key (3)` in the order of the pairs.
fn object<'a>(pairs: impl Iterator<Item = (&'a str, Json)>) -> serde_json::Map<String, Json> {
    let mut object = serde_json::Map::new();
    for (key, value) in pairs {
        let mut name = key.to_owned();
        let mut number = 2;
        while object.get(&name).is_some_and(|known| *known != value) {
            name = format!("{key} ({number})");
            number += 1;
        }
        object.insert(name, value);
    }
    object
}

fn wire_recording(figures: &RecordingFigures) -> WireRecording {
    let step = |peak: (Bytes, Option<Step>)| peak.1.map(|step| step.0);
    WireRecording {
        name: figures.name.clone(),
        recorder: figures.recorder.clone(),
        steps: figures.steps,
        duration_ns: figures.duration.map(|duration| duration.0),
        blocks: figures.blocks,
        older_blocks: figures.older_blocks,
        older_bytes: figures.older_bytes.get(),
        appeared_blocks: figures.appeared_blocks,
        never_freed: figures.never_freed,
        older_freed: figures.older_freed,
        live_at_end_bytes: figures.live_at_end.get(),
        older_live_at_end_bytes: figures.older_live_at_end.get(),
        held_at_end_bytes: figures.held_at_end.get(),
        peak_live_bytes: figures.peak.0.get(),
        peak_live_step: step(figures.peak),
        peak_of_blocks_in_recording_bytes: figures.peak_seen.0.get(),
        peak_reserved_bytes: figures.reserved.0.get(),
        peak_reserved_step: step(figures.reserved),
        reserved_at_end_bytes: figures.reserved_at_end.get(),
        regions: figures.regions,
        ops: figures.ops,
        totals: figures
            .totals
            .iter()
            .map(|(kind, bytes, step)| WireTotal {
                kind: kind.name(),
                peak_bytes: bytes.get(),
                peak_step: step.map(|step| step.0),
            })
            .collect(),
        settings: texts(&figures.settings),
        counts: object(
            figures
                .counts
                .iter()
                .map(|(what, count)| (what.as_str(), Json::from(*count))),
        ),
    }
}

fn wire_graph(figures: &GraphFigures) -> WireGraph {
    let bytes = |peak: Option<(Bytes, Option<Step>)>| peak.map(|(bytes, _)| bytes.get());
    let step = |peak: Option<(Bytes, Option<Step>)>| peak.and_then(|(_, step)| step).map(|step| step.0);
    WireGraph {
        name: figures.name.clone(),
        ops: figures.ops,
        tensors: figures.tensors,
        weights_bytes: figures.weights.get(),
        state_bytes: figures.state.get(),
        input_bytes: figures.inputs.map(Bytes::get),
        activation_bytes: figures.activations.map(Bytes::get),
        peak_live_bytes: bytes(figures.naive_peak),
        peak_live_step: step(figures.naive_peak),
        aliased_peak_live_bytes: bytes(figures.aliased_peak),
        aliased_peak_live_step: step(figures.aliased_peak),
        symbolic_dims: figures.symbols.clone(),
        unknown_shape_tensors: figures.unknown_shapes,
        unknown_shape_inputs: figures.unknown_inputs,
        dynamic: !figures.symbols.is_empty(),
        dumped: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_stands_twice_loses_nothing() {
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let facts = texts(&[
            pair("a", "1"),
            pair("a", "2"),
            pair("b", "1"),
            pair("a", "2"),
            pair("a", "3"),
        ]);
        let facts: Vec<String> = facts.iter().map(|(key, value)| format!("{key}={value}")).collect();
        assert_eq!(facts, [r#"a="1""#, r#"a (2)="2""#, r#"b="1""#, r#"a (3)="3""#]);
    }
}
