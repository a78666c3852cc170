//! Whose a piece of device memory is: what the bands of the memory maps tell apart.

use highwater_model::workload::GraphIdx;
use highwater_sim::{Region, RegionKind};

/// Who holds a piece of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// Session variables.
    Variables,
    /// Frozen weights.
    Weights,
    /// Graph inputs and outputs.
    InputOutput,
    /// The arena of one static graph.
    Arena,
    /// The arena that static graphs share.
    SharedArena,
    /// Fixed feature memory.
    Fixed,
    /// The device's pool: in no graph's hands.
    DevicePool,
    /// Blocks whose addresses nobody knows.
    Unplaced,
    /// A graph's pool: granted blocks, or pages of its range.
    Pool(GraphIdx),
    /// The same, where the pages are stitched into a range of their own.
    Stitched(GraphIdx),
}

impl Owner {
    /// Who holds a region where nobody was granted a piece of it.
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

    /// In words; `name` tells the name of a graph.
    pub fn words<'a>(self, name: impl Fn(GraphIdx) -> Option<&'a str>) -> String {
        let of = |what: &str, graph: GraphIdx| match name(graph) {
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
            // Pools of a trace are called so themselves.
            Self::Pool(graph) => match name(graph) {
                Some(own) if own.starts_with("pool ") => own.to_owned(),
                _ => of("pool", graph),
            },
            Self::Stitched(graph) => of("stitched pages", graph),
        }
    }
}
