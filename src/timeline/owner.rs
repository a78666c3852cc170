//! Owners of device memory, as the memory maps tell them apart.

use highwater_model::workload::GraphIdx;
use highwater_sim::{DeviceSession, Region, RegionKind};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    Variables,
    Weights,
    InputOutput,
    Arena,
    SharedArena,
    Fixed,
    /// Blocks that the device pool has not granted to a graph.
    DevicePool,
    Unplaced,
    /// Blocks granted to a graph's pool, or pages of its range.
    Pool(GraphIdx),
    /// Pages of a graph stitched into one range.
    Stitched(GraphIdx),
}

impl Owner {
    /// The owner of what no pool was granted.
    pub fn of(region: &Region) -> Self {
        let graph = region.graph;
        match region.kind {
            RegionKind::Variables => Self::Variables,
            RegionKind::Weights => Self::Weights,
            RegionKind::InputOutput => Self::InputOutput,
            RegionKind::Arena if graph.is_some() => Self::Arena,
            RegionKind::Arena => Self::SharedArena,
            RegionKind::FixedFeatures => Self::Fixed,
            RegionKind::PoolBlock | RegionKind::Segment | RegionKind::ExpandableSegment => Self::DevicePool,
            RegionKind::Unplaced => Self::Unplaced,
            RegionKind::PagedRange => graph.map_or(Self::DevicePool, Self::Pool),
            RegionKind::Stitched => graph.map_or(Self::DevicePool, Self::Stitched),
        }
    }

    /// The label.
    pub fn words(self, session: &DeviceSession) -> String {
        let of = |what: &str, graph: GraphIdx| match session.graph_name(graph) {
            Some(name) => format!("{what} of {name}"),
            None => what.to_owned(),
        };
        match self {
            Self::Variables => "variables".to_owned(),
            Self::Weights => "weights".to_owned(),
            Self::InputOutput => "inputs and outputs".to_owned(),
            Self::Arena => "arena of one graph".to_owned(),
            Self::SharedArena => "shared arena".to_owned(),
            Self::Fixed => "fixed feature memory".to_owned(),
            Self::DevicePool => "device pool".to_owned(),
            Self::Unplaced => "blocks without an address".to_owned(),
            // Graphs of a trace are named after their pools.
            Self::Pool(graph) => match session.graph_name(graph) {
                Some(own) if own.starts_with("pool ") => own.to_owned(),
                _ => of("pool", graph),
            },
            Self::Stitched(graph) => of("stitched pages", graph),
        }
    }
}
