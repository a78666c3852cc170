//! The wire forms of explanations, with the names and times of the file.

use serde::Serialize;
use serde_json::{Value as Json, json};

use super::WireEdge;
use crate::json_parts::list;
use highwater_model::units::Step;
use highwater_model::workload::ProblemEntry;
use highwater_plan::{Fragmentation, PeakChain, PlacementReason, ReuseEdge};

#[derive(Serialize, Debug)]
pub(super) struct WireFragmentation {
    footprint_bytes: u64,
    peak_live_bytes: u64,
    peak_live_step: Option<u64>,
    lost_bytes: u64,
    /// The step of the footprint.
    at_footprint: Option<WireStep>,
    holes: Vec<WireHole>,
    steps: Vec<WireStep>,
}

/// From one step to the next change of the live set.
#[derive(Serialize, Debug)]
struct WireStep {
    step: u64,
    live_bytes: u64,
    top_bytes: u64,
    hole_bytes: u64,
    holes: u32,
    largest_hole_bytes: u64,
}

#[derive(Serialize, Debug)]
struct WireHole {
    offset: u64,
    bytes: u64,
    below: Option<String>,
    above: String,
}

fn id(entry: &ProblemEntry, position: u32) -> &str {
    entry.ids.get(position as usize)
}

pub(super) fn chain_json(chain: &PeakChain, entry: &ProblemEntry) -> Json {
    json!({
        "peak_live_bytes": chain.peak_live.get(),
        "peak_live_step": chain.peak_step.map(|step| entry.time(step)),
        "live_at_peak_bytes": chain.live_at_peak.get(),
        "hole_bytes": chain.gap_bytes.get(),
        "links": list(&chain.links, |link| {
            let buffer = &entry.problem.buffers[link.buffer as usize];
            json!({
                "buffer": id(entry, link.buffer),
                "offset": link.offset,
                "bytes": link.size.get(),
                "lower": entry.time(buffer.lower),
                "upper": entry.time(buffer.upper),
                "hole_below_bytes": link.gap_below.get(),
                "live_at_peak": link.is_live_at_peak,
            })
        }),
    })
}

impl WireFragmentation {
    pub(super) fn new(fragmentation: &Fragmentation, entry: &ProblemEntry) -> Self {
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
                    below: hole.below.map(|below| id(entry, below).to_owned()),
                    above: id(entry, hole.above).to_owned(),
                })
                .collect(),
            steps: fragmentation.steps.iter().map(wire_step).collect(),
        }
    }
}

/// The reasons for the offset of a buffer; `edges` are those of the whole plan.
pub(super) fn reason_json(why: &PlacementReason, edges: &[ReuseEdge], entry: &ProblemEntry) -> Json {
    let buffer = &entry.problem.buffers[why.buffer as usize];
    let (earlier, later) = reused(why, edges);
    json!({
        "buffer": id(entry, why.buffer),
        "offset": why.offset,
        "bytes": buffer.size.get(),
        "lower": entry.time(buffer.lower),
        "upper": entry.time(buffer.upper),
        "fixed": why.is_fixed,
        "moves_with": list(&why.moves_with, |member| id(entry, *member).into()),
        "could_stand_at": why.lowest_offset,
        "blockers": list(&why.blockers, |blocker| {
            json!({
                "buffer": id(entry, blocker.buffer),
                "against": id(entry, blocker.against),
                "offset": blocker.offset,
                "bytes": blocker.size.get(),
                "lower": entry.time(blocker.lower),
                "upper": entry.time(blocker.upper),
                "refuses_from": blocker.from,
                "refuses_below": blocker.to,
            })
        }),
        "donors": list(earlier, |edge| json!(WireEdge::new(edge, entry))),
        "heirs": list(later, |edge| json!(WireEdge::new(edge, entry))),
    })
}

/// The edges to a buffer, and those from it.
pub fn reused<'a>(why: &PlacementReason, edges: &'a [ReuseEdge]) -> (Vec<&'a ReuseEdge>, Vec<&'a ReuseEdge>) {
    let chosen = |is_it: &dyn Fn(&ReuseEdge) -> bool| edges.iter().filter(|edge| is_it(edge)).collect();
    (
        chosen(&|edge| edge.later == why.buffer),
        chosen(&|edge| edge.earlier == why.buffer),
    )
}
