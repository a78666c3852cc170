//! The line by which the vendor's planner is compared: one JSON object with figures, offsets by op, segments and blocks.

use serde::Serialize;
use serde_json::json;

use crate::json_parts::list;
use crate::record::Record;
use highwater_model::workload::{ListedPlace, OpList};
use highwater_plan::{Assigner, EnginePlan, SEGMENT_LIMIT, SEGMENT_LIMIT_OF_PARTS, Segment};

/// `is_stable` changes only the name of the variant: the sort always keeps the order of equals.
pub fn engine_plan_json<'a>(
    ops: &'a OpList,
    plan: &EnginePlan,
    assigner: Assigner,
    is_stable: bool,
) -> impl Serialize + use<'a> {
    let pairs = |segments: Vec<Segment>| list(segments, |segment| json!([segment.base, segment.size]));
    let blocks = list(&plan.blocks, |block| {
        let (is_child, is_io) = (u64::from(block.is_child), u64::from(block.is_io));
        json!([block.offset, block.size, is_child, is_io])
    });
    Record::new()
        .key("variant", variant(assigner, is_stable))
        .key("winner", winner(assigner, plan.winner))
        .key("arena", plan.arena)
        .key("zero_copy", plan.io)
        .key("total", plan.total())
        .key("theory_min", plan.theory_min)
        .key("no_reuse", plan.no_reuse)
        .key("sum", plan.sum)
        .key("ops", op_offsets(ops, plan))
        .key("segments_512", pairs(plan.segments(SEGMENT_LIMIT)))
        .key("segments_200M", pairs(plan.segments(SEGMENT_LIMIT_OF_PARTS)))
        .key("blocks", blocks)
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

/// By output and by workspace of each op, in the order of the ops; null for an output without bytes.
fn op_offsets<'a>(ops: &'a OpList, plan: &EnginePlan) -> Record<'a> {
    let offset = |place: &ListedPlace| match place {
        ListedPlace::Buffer(buffer) => plan.offsets.get(*buffer as usize).copied(),
        ListedPlace::Io(block) => plan.io_offsets.get(*block as usize).copied(),
        ListedPlace::Nowhere => None,
    };
    let all = |places: &[ListedPlace]| list(places, |place| json!(offset(place)));
    let arena = ops.arena();
    let places = ops.ops.iter().zip(&arena.places).map(|(op, places)| {
        let offsets = json!({"out": all(&places.outputs), "ws": all(&places.workspaces)});
        (&*op.name, offsets)
    });
    places.fold(Record::new(), |record, (name, offsets)| record.key(name, offsets))
}
