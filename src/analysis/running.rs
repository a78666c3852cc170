//! The graphs that run: in inference mode the forward parts of training graphs, and shape reads perhaps without their
//! operands; with the values that the options give to their dimensions.
//!
//! Diagnostics name each graph that was cut or could not be. Graphs without training phases are unchanged.

use std::sync::Arc;

use super::error::AnalysisError;
use super::request::Request;
use super::{bodies, shapes};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::{Graph, Phase};
use highwater_model::progress::Progress;
use highwater_model::workload::{GraphEntry, Source, Workload, evaluation_entry};
use highwater_options::Lowered;

/// The request with the graphs that run and the values that the options give to dimensions.
pub(super) fn running_request(
    request: &Request,
    lowered: &Lowered,
    progress: &Progress<'_>,
) -> Result<(Request, Diagnostics), AnalysisError> {
    check_names(request)?;
    let renamed;
    let request = if request.plan.names.is_empty() {
        request
    } else {
        renamed = Request {
            workload: Arc::new(request.workload.renamed(&request.plan)?),
            ..request.clone()
        };
        &renamed
    };
    let (mut plan, mut diagnostics) = shapes::bind(&request.workload, &request.plan, lowered);
    let workload = running_workload(request, lowered, &mut diagnostics);
    bodies::report(&workload, &plan, progress, &mut diagnostics)?;
    // Ops that were cut off may have had further dimensions.
    let symbols = workload.symbols();
    plan.dims.retain(|name, _| symbols.contains(name));
    let running = Request {
        workload,
        plan,
        ..request.clone()
    };
    Ok((running, diagnostics))
}

/// Checks that there is a graph, and that every value has a dimension.
pub(super) fn check_names(request: &Request) -> Result<(), AnalysisError> {
    if request.workload.graphs().is_empty() {
        return Err(AnalysisError::NoGraph);
    }
    let known = request.workload.symbols();
    if let Some(name) = request.plan.dims.keys().find(|name| !known.contains(name)) {
        let known = if known.is_empty() {
            "no dimension has a name".to_owned()
        } else {
            format!("known: {}", known.join(", "))
        };
        return Err(AnalysisError::UnknownSymbol {
            name: name.clone(),
            known,
        });
    }
    Ok(())
}

/// The workload that runs under these settings.
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
        schedule: request.workload.schedule.clone(),
    });
    released(&workload, lowered)
}

/// The workload whose shape reads keep no tensor alive, where the settings say so.
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
            "the run mode is inference, but the forward part of this training graph cannot be separated: the whole \
             graph runs"
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
