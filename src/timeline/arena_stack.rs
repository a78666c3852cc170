//! The largest arena of a lane: the stack of buffers that defines its size, and its gaps.
//!
//! Made with the answer, as lanes of one plan share the result. O(buffers log buffers) each.

use std::cmp::Reverse;
use std::sync::Arc;

use highwater_analysis::{Comparison, Lane, arena_problem};
use highwater_model::graph::TensorId;
use highwater_model::units::Bytes;
use highwater_model::workload::GraphIdx;
use highwater_plan::{ChainLink, Fragmentation, PeakChain, PlacementProblem, Planned, fragmentation, peak_chain};

use super::Selected;

/// Larger problems are left to the command line: they would delay the answer.
const MAX_BUFFERS: usize = 100_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArenaStack {
    pub graph: GraphIdx,
    pub footprint: Bytes,
    pub chain: PeakChain,
    pub fragmentation: Fragmentation,
    /// Positions of the links, largest first; equal ones from the top down.
    by_size: Vec<usize>,
    /// By buffer.
    tensors: Vec<TensorId>,
    /// The first run of the graph.
    run: u32,
}

/// The first of equally large ones.
fn largest(lane: &Lane) -> Option<&(GraphIdx, Arc<Planned>)> {
    lane.plans
        .iter()
        .rev()
        .max_by_key(|(_, planned)| planned.plan.footprint)
}

/// The lane that has the same stack: itself, or an earlier lane with the same plan of the same session.
pub(super) fn first_alike(comparison: &Comparison, position: usize) -> usize {
    let key = |position: usize| {
        let (_, planned) = largest(&comparison.lanes[position])?;
        Some((
            Arc::as_ptr(planned),
            std::ptr::from_ref(comparison.session_of(position)),
        ))
    };
    let own = key(position);
    (0..position).find(|other| key(*other) == own).unwrap_or(position)
}

impl ArenaStack {
    /// `None` without an arena, or where it is too large.
    pub(super) fn new(comparison: &Comparison, position: usize) -> Option<Self> {
        let (graph, planned) = largest(&comparison.lanes[position])?;
        let runs = &comparison.session_of(position).runs;
        let run = runs.iter().position(|run| run.graph == *graph);
        let made;
        let (problem, tensors): (&PlacementProblem, Vec<TensorId>) = if let Some(entry) = comparison.stated_problem() {
            let n_buffers = u32::try_from(entry.problem.buffers.len()).ok()?;
            (&entry.problem, (0..n_buffers).map(TensorId).collect())
        } else {
            let bound = &runs.get(run?)?.bound;
            made = arena_problem(&bound.program, &bound.engine_sizes);
            let items = &bound.program.lifetimes.items;
            (&made, items.iter().map(|item| item.tensor).collect())
        };
        let plan = &planned.plan;
        if problem.buffers.len() != plan.offsets.len() || problem.buffers.len() > MAX_BUFFERS {
            return None;
        }
        let chain = peak_chain(problem, plan);
        let mut by_size: Vec<usize> = (0..chain.links.len()).collect();
        by_size.sort_by_key(|link| Reverse(chain.links[*link].size));
        Some(Self {
            graph: *graph,
            footprint: plan.footprint,
            fragmentation: fragmentation(problem, plan),
            chain,
            by_size,
            tensors,
            run: u32::try_from(run.unwrap_or(0)).ok()?,
        })
    }

    /// Largest first.
    pub fn links(&self) -> impl ExactSizeIterator<Item = &ChainLink> {
        self.by_size.iter().map(|link| &self.chain.links[*link])
    }

    pub fn tensor(&self, link: &ChainLink) -> Option<Selected> {
        Some(Selected {
            run: self.run,
            graph: self.graph,
            tensor: *self.tensors.get(link.buffer as usize)?,
        })
    }
}
