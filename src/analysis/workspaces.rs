//! Scratch memory of kernels: whether figures include it, and the names of estimated workspaces, which are no tensors
//! of their graph.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use highwater_model::graph::{Graph, Id as _, OpId, Role, TensorId};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::workload::{Axis, GraphIdx, Workload};
use highwater_rewrite::{control_flow_workspace, op_of_workspace};
use highwater_sim::{BoundGraph, DeviceSession};

/// The source of the scratch memory in figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScratchSource {
    /// The file states it.
    #[default]
    Stated,
    /// It is missing: figures are lower bounds.
    Missing,
    /// Estimated by op type where the file states none.
    Estimated,
}

impl ScratchSource {
    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stated => "stated",
            Self::Missing => "missing",
            Self::Estimated => "estimated",
        }
    }

    /// A note next to figures; `None` where the file states it.
    pub const fn note(self) -> Option<&'static str> {
        match self {
            Self::Stated => None,
            Self::Missing => Some("Figures are lower bounds: kernel scratch not included."),
            Self::Estimated => Some(
                "Kernel scratch is an estimate by op type (simulation.workspace_table) where the source states none.",
            ),
        }
    }
}

/// Names of estimated workspaces, by graph and tensor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EstimatedWorkspaces {
    names: BTreeMap<(GraphIdx, TensorId), Arc<str>>,
    /// Workspaces of loops and branches; the others are estimated by op type.
    of_bodies: usize,
}

impl EstimatedWorkspaces {
    /// O(live ranges of runs that differ).
    pub(super) fn of(workload: &Workload, session: &DeviceSession) -> Self {
        let mut estimated = Self::default();
        let mut seen: Vec<(GraphIdx, *const BoundGraph)> = Vec::new();
        for run in &session.runs {
            let what = (run.graph, Arc::as_ptr(&run.bound));
            let Some(entry) = workload.graphs().get(run.graph.idx()) else {
                continue;
            };
            if seen.contains(&what) {
                continue;
            }
            seen.push(what);
            let runs: BTreeSet<OpId> = entry
                .uses
                .iter()
                .filter(|one| one.graph == 0)
                .map(|one| one.op)
                .collect();
            for item in &run.bound.program.lifetimes.items {
                if let Some(op) = op_of_workspace(&entry.graph, item.tensor) {
                    let key = (run.graph, item.tensor);
                    let is_body = runs.contains(&op);
                    if let Entry::Vacant(slot) = estimated.names.entry(key) {
                        slot.insert(name_of(&entry.graph, op, is_body).into());
                        estimated.of_bodies += usize::from(is_body);
                    }
                }
            }
        }
        estimated
    }

    /// Adds the names of another session; the counts stay.
    pub(super) fn extend(&mut self, other: Self) {
        for (key, name) in other.names {
            self.names.entry(key).or_insert(name);
        }
    }

    /// `None` where the tensor is no estimated workspace.
    pub fn name(&self, graph: GraphIdx, tensor: TensorId) -> Option<&str> {
        self.names.get(&(graph, tensor)).map(|name| &**name)
    }

    /// The name of a tensor of a graph or of an estimated workspace; empty where it has none.
    pub(super) fn tensor_name<'a>(&'a self, workload: &'a Workload, graph: GraphIdx, tensor: TensorId) -> &'a str {
        let entry = workload.graphs().get(graph.idx());
        match entry.filter(|entry| entry.graph.tensors().get(tensor).is_some()) {
            Some(entry) => entry.graph.tensor_name(tensor),
            None => self.name(graph, tensor).unwrap_or(""),
        }
    }

    pub fn len(&self) -> usize {
        self.names.len()
    }

    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

fn name_of(graph: &Graph, op: OpId, is_body: bool) -> String {
    let subject = match (graph.op_name(op), graph.op_kind(op)) {
        ("", "") => format!("op {}", op.0),
        ("", kind) => format!("{kind} of step {}", op.0),
        (name, _) => name.to_owned(),
    };
    let what = if is_body { "memory within" } else { "workspace of" };
    format!("{what} {subject} (estimate)")
}

/// Whether figures are lower bounds: no graph states scratch memory, or a run has tensors of unknown size, which count
/// 0 bytes, in a graph or its bodies. O(tensors of the graphs that run) for each combination of values.
///
/// # Errors
/// Cancelled by the user.
pub(super) fn is_lower_bound(workload: &Workload, axis: &Axis, progress: &Progress<'_>) -> Result<bool, Cancelled> {
    Ok(!states_workspaces(workload) || misses_sizes(workload, axis, progress)?)
}

/// Whether a graph that runs has a tensor of unknown size.
fn misses_sizes(workload: &Workload, axis: &Axis, progress: &Progress<'_>) -> Result<bool, Cancelled> {
    let mut seen = BTreeSet::new();
    for one in &axis.runs {
        let run = &one.run;
        let entry = workload.graphs().get(run.graph.idx());
        let Some(entry) = entry.filter(|_| seen.insert((run.graph, &run.bindings))) else {
            continue;
        };
        progress.check()?;
        let sizes = entry.graph.sizes(&run.bindings);
        if entry.graph.unknown_activations(&sizes).next().is_some()
            || control_flow_workspace(entry, &run.bindings, progress)?
                .iter()
                .any(|one| one.is_lower_bound)
        {
            return Ok(true);
        }
    }
    Ok(false)
}

pub(super) fn scratch(workload: &Workload, estimated: &EstimatedWorkspaces) -> ScratchSource {
    let is_none_by_type = estimated.len() == estimated.of_bodies;
    match (is_none_by_type, states_workspaces(workload)) {
        (false, _) => ScratchSource::Estimated,
        (true, true) => ScratchSource::Stated,
        (true, false) => ScratchSource::Missing,
    }
}

/// Whether some graph states scratch memory; a plan of all that the engine asks for would have it.
pub(super) fn states_workspaces(workload: &Workload) -> bool {
    workload.graphs().iter().any(|entry| {
        let dumped = entry.dumped.as_ref().and_then(|dumped| dumped.offsets.as_ref());
        if dumped.is_some_and(|offsets| !offsets.sizes.is_empty()) {
            return true;
        }
        let mut tensors = entry.graph.tensors().iter();
        tensors.any(|tensor| tensor.role == Role::Workspace)
    })
}
