//! Which graphs run: of training steps in online inference the forward part alone, and reads of shapes perhaps without
//! their operands.
//!
//! In: the workload as it was read. Out: the workload that runs, with a word about each graph that was cut or that
//! could not be. Graphs without training phases run as they are.

use std::sync::Arc;

use super::Request;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::{Graph, Phase};
use highwater_model::workload::{GraphEntry, Source, Workload, evaluation_entry};
use highwater_options::Lowered;

/// The workload that runs under these settings; the same one where nothing is cut.
pub(super) fn running_workload(request: &Request, lowered: &Lowered, diagnostics: &mut Diagnostics) -> Arc<Workload> {
    let graphs = request.workload.graphs();
    if !lowered.inference || !graphs.iter().any(|entry| trains(&entry.graph)) {
        return released(&request.workload, lowered);
    }
    let entries = graphs.iter().map(|entry| forward_part(entry, diagnostics)).collect();
    let workload = Arc::new(Workload {
        name: request.workload.name.clone(),
        source: Source::Graphs(entries),
        measured: request.workload.measured.clone(),
    });
    released(&workload, lowered)
}

/// The workload whose reads of shapes keep nothing alive, where the settings say so.
fn released(workload: &Arc<Workload>, lowered: &Lowered) -> Arc<Workload> {
    if lowered.shapes_keep_alive || workload.graphs().is_empty() {
        return Arc::clone(workload);
    }
    Arc::new(workload.without_shape_reads())
}

fn trains(graph: &Graph) -> bool {
    let mut phases = graph.ops().iter().map(|op| op.phase);
    phases.any(|phase| matches!(phase, Phase::Backward | Phase::Optimizer))
}

fn forward_part(entry: &GraphEntry, diagnostics: &mut Diagnostics) -> GraphEntry {
    if !trains(&entry.graph) {
        return entry.clone();
    }
    let Some(cut) = evaluation_entry(entry, entry.graph.name()) else {
        diagnostics.warning(
            "the run mode is inference, but the forward part of this training graph does not stand alone: all of it runs"
                .to_owned(),
            &entry.name,
        );
        return entry.clone();
    };
    let n_dropped = entry.graph.ops().len() - cut.graph.ops().len();
    diagnostics.info(
        format!(
            "the run mode is inference: only the forward part of this training graph runs, without {n_dropped} ops"
        ),
        &entry.name,
    );
    GraphEntry {
        name: entry.name.clone(),
        ..cut
    }
}
