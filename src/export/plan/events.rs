//! The line by which the vendor's planner is compared: one JSON object with figures, offsets by op, segments and blocks.

use serde::{Serialize, Serializer};

use highwater_model::workload::{ListedPlace, OpList};
use highwater_plan::{Assigner, EnginePlan, SEGMENT_LIMIT, SEGMENT_LIMIT_OF_PARTS, Segment};

#[derive(Serialize, Debug)]
pub struct WireEnginePlan<'a> {
    pub variant: String,
    pub winner: &'static str,
    pub arena: u64,
    pub zero_copy: u64,
    pub total: u64,
    pub theory_min: u64,
    pub no_reuse: u64,
    pub sum: u64,
    pub ops: WireOps<'a>,
    #[serde(rename = "segments_512")]
    pub segments: Vec<[u64; 2]>,
    #[serde(rename = "segments_200M")]
    pub segments_of_parts: Vec<[u64; 2]>,
    pub blocks: Vec<[u64; 4]>,
}

/// Offsets by op, in the order of the ops.
#[derive(Debug)]
pub struct WireOps<'a>(Vec<(&'a str, WireOp)>);

/// Offsets of one op by output and by workspace; null for an output without bytes.
#[derive(Serialize, Debug)]
pub struct WireOp {
    pub out: Vec<Option<u64>>,
    pub ws: Vec<Option<u64>>,
}

impl Serialize for WireOps<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, op)| (name, op)))
    }
}

impl<'a> WireEnginePlan<'a> {
    /// `is_stable` changes only the name of the variant: the sort always keeps the order of equals.
    pub fn new(ops: &'a OpList, plan: &EnginePlan, assigner: Assigner, is_stable: bool) -> Self {
        let pairs = |segments: Vec<Segment>| segments.iter().map(|segment| [segment.base, segment.size]).collect();
        Self {
            variant: variant(assigner, is_stable),
            winner: winner(assigner, plan.winner),
            arena: plan.arena.get(),
            zero_copy: plan.io.get(),
            total: plan.total().get(),
            theory_min: plan.theory_min.get(),
            no_reuse: plan.no_reuse.get(),
            sum: plan.sum.get(),
            ops: wire_ops(ops, plan),
            segments: pairs(plan.segments(SEGMENT_LIMIT)),
            segments_of_parts: pairs(plan.segments(SEGMENT_LIMIT_OF_PARTS)),
            blocks: plan
                .blocks
                .iter()
                .map(|block| {
                    [
                        block.offset,
                        block.size,
                        u64::from(block.is_child),
                        u64::from(block.is_io),
                    ]
                })
                .collect(),
        }
    }
}

fn variant(assigner: Assigner, is_stable: bool) -> String {
    let (name, has_sort) = match assigner {
        Assigner::Default => ("default", true),
        Assigner::Binary => ("only_binary", true),
        Assigner::Max => ("only_max", false),
        Assigner::NoReuse => ("no_reuse", false),
    };
    let prefix = if is_stable && has_sort { "stable_" } else { "" };
    format!("{prefix}{name}")
}

/// An assigner that competes with others has a longer name.
fn winner(assigner: Assigner, winner: Assigner) -> &'static str {
    let is_alone = matches!(assigner, Assigner::Binary | Assigner::Max);
    match (winner, is_alone) {
        (Assigner::Max, true) => "max",
        (Assigner::Max, false) => "max-block",
        (_, true) => "binary",
        (_, false) => "binary-block",
    }
}

fn wire_ops<'a>(ops: &'a OpList, plan: &EnginePlan) -> WireOps<'a> {
    let offset = |place: &ListedPlace| match place {
        ListedPlace::Buffer(buffer) => plan.offsets.get(*buffer as usize).copied(),
        ListedPlace::Io(block) => plan.io_offsets.get(*block as usize).copied(),
        ListedPlace::Nowhere => None,
    };
    let places = ops.arena().places;
    let of_ops = ops.ops.iter().zip(&places).map(|(op, places)| {
        let op_offsets = WireOp {
            out: places.outputs.iter().map(offset).collect(),
            ws: places.workspaces.iter().map(offset).collect(),
        };
        (&*op.name, op_offsets)
    });
    WireOps(of_ops.collect())
}
