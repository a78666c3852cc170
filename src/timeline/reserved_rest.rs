//! The reserved bytes of a moment besides its tensors, by graph: arenas, pools, weights, inputs and outputs.
//!
//! ```text
//! reserved   |== tensors ==|rounding|arena of a|arena of b|pool of c|weights of a|weights of b|in/out of a|...
//! ```
//!
//! In: a lane and a moment. Out: bytes by name. Invariant: with the live bytes they add up to the reserved ones, or
//! more where tensors share a place.

use std::collections::BTreeMap;

use super::peak::ReservedRest;
use super::peak_contributors::ContributorName;
use highwater_analysis::Comparison;
use highwater_model::graph::Id as _;
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::GraphIdx;
use highwater_sim::fold::Moment;
use highwater_sim::{DevicePicture, MemoryChange, RegionKind, Simulation, Subject, picture_after};

const ARENA: &str = "arena: reserved, unused";
const SHARED_ARENA: &str = "shared arena: reserved, unused";
const POOL: &str = "pool: reserved, unused";
const DEVICE_POOL: &str = "device pool: not granted to a graph";
const FIXED: &str = "fixed feature memory: reserved, unused";
const OTHER: &str = "reserved in other places";

/// The non-zero parts, sorted by name. O(events).
pub(super) fn rest_by_graph(
    comparison: &Comparison,
    lane: usize,
    moment: &Moment,
    step: Step,
) -> Vec<(ContributorName, Bytes)> {
    let simulation = &comparison.lanes[lane].simulation;
    let picture = picture_after(simulation, step, moment.n_events);
    let mut rows = Rows {
        names: comparison
            .session
            .graphs
            .iter()
            .map(|graph| graph.name.as_str())
            .collect(),
        bytes: BTreeMap::new(),
    };
    rows.add(
        None,
        ReservedRest::Rounding.words(),
        moment.rounded.saturating_sub(moment.live),
    );
    rows.add_regions(
        simulation,
        &picture,
        moment,
        &tensors_by_region(simulation, moment.n_events),
    );
    rows.add_pools(&picture);
    let known = moment.live + rows.bytes.values().copied().sum();
    rows.add(None, OTHER, moment.parts.total().saturating_sub(known));
    rows.bytes.into_iter().collect()
}

fn tensors_by_region(simulation: &Simulation, n_events: usize) -> Vec<Bytes> {
    let mut sums = vec![Bytes::ZERO; simulation.regions.len()];
    for event in simulation.events.iter().take(n_events) {
        if !matches!(simulation.subject(event.subject).subject, Subject::Tensor { .. }) {
            continue;
        }
        let Some(sum) = sums.get_mut(event.region.0 as usize) else {
            continue;
        };
        match event.kind.block_change() {
            Some(MemoryChange::Take) => *sum += event.bytes,
            Some(MemoryChange::Release) => *sum = sum.saturating_sub(event.bytes),
            None => {}
        }
    }
    sums
}

struct Rows<'a> {
    names: Vec<&'a str>,
    bytes: BTreeMap<ContributorName, Bytes>,
}

impl Rows<'_> {
    fn add(&mut self, graph: Option<GraphIdx>, what: &str, bytes: Bytes) {
        if bytes == Bytes::ZERO {
            return;
        }
        let graph = graph.and_then(|graph| self.names.get(graph.idx()));
        let name = ContributorName {
            graph: graph.map_or_else(String::new, |name| (*name).to_owned()),
            name: what.to_owned(),
            site: None,
        };
        *self.bytes.entry(name).or_default() += bytes;
    }

    /// Adds regions less the bytes of their tensors; those of pools are added by pool.
    fn add_regions(&mut self, simulation: &Simulation, picture: &DevicePicture, moment: &Moment, tensors: &[Bytes]) {
        let has_pools = !picture.pools.is_empty();
        let own_io: Bytes = picture.regions.iter().map(|region| io_of(simulation, region)).sum();
        // Running graphs may have inputs and outputs in a shared arena, which its region does not state.
        let mut shared_io = moment.parts.io.saturating_sub(own_io);
        self.add(None, ReservedRest::InputOutput.words(), shared_io);
        for region in &picture.regions {
            let io = io_of(simulation, region);
            let idle = region.held.saturating_sub(io + tensors[region.region.idx()]);
            self.add(region.graph, ReservedRest::InputOutput.words(), io);
            match region.kind {
                RegionKind::Weights => self.add(region.graph, ReservedRest::Weights.words(), region.held),
                RegionKind::Variables => self.add(region.graph, ReservedRest::Variables.words(), region.held),
                RegionKind::InputOutput => {}
                RegionKind::FixedFeatures => self.add(region.graph, FIXED, idle),
                RegionKind::Arena => {
                    let of_io = idle.min(shared_io);
                    shared_io = shared_io - of_io;
                    let what = if region.graph.is_some() { ARENA } else { SHARED_ARENA };
                    self.add(region.graph, what, idle - of_io);
                }
                RegionKind::PoolBlock | RegionKind::PagedRange | RegionKind::Stitched if has_pools => {}
                RegionKind::PoolBlock
                | RegionKind::PagedRange
                | RegionKind::Stitched
                | RegionKind::Segment
                | RegionKind::ExpandableSegment
                | RegionKind::Unplaced => self.add(region.graph, ReservedRest::Idle.words(), idle),
            }
        }
    }

    fn add_pools(&mut self, picture: &DevicePicture) {
        for pool in &picture.pools {
            let what = if pool.graph.is_some() { POOL } else { DEVICE_POOL };
            self.add(pool.graph, what, pool.occupied.saturating_sub(pool.given));
        }
    }
}

/// Inputs and outputs that lie in a region.
fn io_of(simulation: &Simulation, region: &highwater_sim::RegionPicture) -> Bytes {
    if region.kind == RegionKind::InputOutput {
        region.held
    } else {
        simulation.region(region.region).io.min(region.held)
    }
}
