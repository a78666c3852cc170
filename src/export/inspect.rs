//! The wire form of `highwater inspect --format json`.

use serde::Serialize;

use crate::analysis::{GraphFigures, Inspection};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::units::{Bytes, Step};

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
    dynamic: bool,
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
    diagnostics: Vec<WireDiagnostic>,
}

impl WireInspection {
    /// The wire form of an inspection; `import` are the importer's own diagnostics.
    pub fn new(format: &'static str, inspection: &Inspection, import: &Diagnostics) -> Self {
        let mut diagnostics = import.clone();
        diagnostics.extend(&inspection.diagnostics);
        Self {
            format,
            graphs: inspection.graphs.iter().map(wire_graph).collect(),
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
        dynamic: !figures.symbols.is_empty(),
    }
}
