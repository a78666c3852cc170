//! The wire forms of explanations, with the names and times of the file.

use serde::Serialize;

use super::{WireEdge, wire_edges};
use highwater_model::units::Step;
use highwater_model::workload::ProblemEntry;
use highwater_plan::{Fragmentation, PeakChain, PlacementReason, ReuseEdge};

#[derive(Serialize, Debug)]
pub struct WireChain {
    pub peak_live_bytes: u64,
    pub peak_live_step: Option<u64>,
    pub live_at_peak_bytes: u64,
    pub hole_bytes: u64,
    pub links: Vec<WireLink>,
}

#[derive(Serialize, Debug)]
pub struct WireLink {
    pub buffer: String,
    pub offset: u64,
    pub bytes: u64,
    pub lower: u64,
    pub upper: u64,
    pub hole_below_bytes: u64,
    pub live_at_peak: bool,
}

#[derive(Serialize, Debug)]
pub struct WireFragmentation {
    pub footprint_bytes: u64,
    pub peak_live_bytes: u64,
    pub peak_live_step: Option<u64>,
    pub lost_bytes: u64,
    /// The step of the footprint.
    pub at_footprint: Option<WireStep>,
    pub holes: Vec<WireHole>,
    pub steps: Vec<WireStep>,
}

/// From one step to the next change of the live set.
#[derive(Serialize, Debug)]
pub struct WireStep {
    pub step: u64,
    pub live_bytes: u64,
    pub top_bytes: u64,
    pub hole_bytes: u64,
    pub holes: u32,
    pub largest_hole_bytes: u64,
}

#[derive(Serialize, Debug)]
pub struct WireHole {
    pub offset: u64,
    pub bytes: u64,
    pub below: Option<String>,
    pub above: String,
}

/// The reasons for the offset of a buffer.
#[derive(Serialize, Debug)]
pub struct WireWhy {
    pub buffer: String,
    pub offset: u64,
    pub bytes: u64,
    pub lower: u64,
    pub upper: u64,
    pub fixed: bool,
    pub moves_with: Vec<String>,
    pub could_stand_at: Option<u64>,
    pub blockers: Vec<WireBlocker>,
    #[serde(rename = "donors")]
    pub reuses: Vec<WireEdge>,
    #[serde(rename = "heirs")]
    pub reused_by: Vec<WireEdge>,
}

#[derive(Serialize, Debug)]
pub struct WireBlocker {
    pub buffer: String,
    pub against: String,
    pub offset: u64,
    pub bytes: u64,
    pub lower: u64,
    pub upper: u64,
    pub refuses_from: u64,
    pub refuses_below: u64,
}

fn id(entry: &ProblemEntry, position: u32) -> String {
    entry.ids.get(position as usize).to_owned()
}

impl WireChain {
    pub fn new(chain: &PeakChain, entry: &ProblemEntry) -> Self {
        Self {
            peak_live_bytes: chain.peak_live.get(),
            peak_live_step: chain.peak_step.map(|step| entry.time(step)),
            live_at_peak_bytes: chain.live_at_peak.get(),
            hole_bytes: chain.gap_bytes.get(),
            links: chain
                .links
                .iter()
                .map(|link| {
                    let buffer = &entry.problem.buffers[link.buffer as usize];
                    WireLink {
                        buffer: id(entry, link.buffer),
                        offset: link.offset,
                        bytes: link.size.get(),
                        lower: entry.time(buffer.lower),
                        upper: entry.time(buffer.upper),
                        hole_below_bytes: link.gap_below.get(),
                        live_at_peak: link.is_live_at_peak,
                    }
                })
                .collect(),
        }
    }
}

impl WireFragmentation {
    pub fn new(fragmentation: &Fragmentation, entry: &ProblemEntry) -> Self {
        let wire_step = |at: &highwater_plan::StepGaps| WireStep {
            step: entry.time(at.step),
            live_bytes: at.live.get(),
            top_bytes: at.top.get(),
            hole_bytes: at.gap_bytes().get(),
            holes: at.n_gaps,
            largest_hole_bytes: at.largest_gap.get(),
        };
        Self {
            footprint_bytes: fragmentation.footprint.get(),
            peak_live_bytes: fragmentation.peak_live.get(),
            peak_live_step: fragmentation.peak_step.map(|step: Step| entry.time(step)),
            lost_bytes: fragmentation.lost().get(),
            at_footprint: fragmentation
                .at_footprint
                .map(|position| wire_step(&fragmentation.steps[position])),
            holes: fragmentation
                .gaps
                .iter()
                .map(|hole| WireHole {
                    offset: hole.offset,
                    bytes: hole.size.get(),
                    below: hole.below.map(|below| id(entry, below)),
                    above: id(entry, hole.above),
                })
                .collect(),
            steps: fragmentation.steps.iter().map(wire_step).collect(),
        }
    }
}

impl WireWhy {
    /// `edges` are those of the whole plan.
    pub fn new(why: &PlacementReason, edges: &[ReuseEdge], entry: &ProblemEntry) -> Self {
        let buffer = &entry.problem.buffers[why.buffer as usize];
        let chosen = |wanted: &dyn Fn(&ReuseEdge) -> bool| {
            let edges: Vec<ReuseEdge> = edges.iter().copied().filter(|edge| wanted(edge)).collect();
            wire_edges(&edges, entry)
        };
        Self {
            buffer: id(entry, why.buffer),
            offset: why.offset,
            bytes: buffer.size.get(),
            lower: entry.time(buffer.lower),
            upper: entry.time(buffer.upper),
            fixed: why.is_fixed,
            moves_with: why.moves_with.iter().map(|member| id(entry, *member)).collect(),
            could_stand_at: why.lowest_offset,
            blockers: why
                .blockers
                .iter()
                .map(|blocker| WireBlocker {
                    buffer: id(entry, blocker.buffer),
                    against: id(entry, blocker.against),
                    offset: blocker.offset,
                    bytes: blocker.size.get(),
                    lower: entry.time(blocker.lower),
                    upper: entry.time(blocker.upper),
                    refuses_from: blocker.from,
                    refuses_below: blocker.to,
                })
                .collect(),
            reuses: chosen(&|edge| edge.later == why.buffer),
            reused_by: chosen(&|edge| edge.earlier == why.buffer),
        }
    }
}
