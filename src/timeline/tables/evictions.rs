//! The table of evictions: when and why a tensor was evicted, and what its recomputation cost.

use super::column::{amount, number, text};
use super::{Column, Target, Value, View};
use crate::LaneRemat;
use crate::remat::Eviction;
use crate::search::shown_name;

pub(super) const COLUMNS: [Column; 8] = [
    text("tensor", "evicted tensor", 30),
    number("evicted", "evicted_step", "step of the eviction"),
    text("for op", "op that needed the room", 26),
    text(
        "reason",
        "score of the heuristic: the candidate with the lowest is evicted",
        34,
    ),
    amount("freed", "freed_bytes", "bytes that the eviction freed"),
    number(
        "recomputed",
        "recomputed_step",
        "step of the recomputation; empty if none followed",
    ),
    number(
        "ops",
        "recomputed_ops",
        "ops recomputed to get the tensor back; empty if it came with another result of its op",
    ),
    amount(
        "cost",
        "cost_ns",
        "time of these ops, an estimate unless the source states it; ops that several evictions need count in each",
    ),
];

fn remat<'a>(view: &View<'a>) -> Option<&'a LaneRemat> {
    view.timeline.lanes.get(view.lane)?.remat.as_deref()
}

pub(super) fn count(view: &View<'_>) -> usize {
    remat(view).map_or(0, |remat| remat.evictions.len())
}

fn eviction<'a>(view: &View<'a>, row: u32) -> Option<(&'a LaneRemat, &'a Eviction)> {
    let remat = remat(view)?;
    Some((remat, remat.evictions.get(row as usize)?))
}

pub(super) fn value<'a>(view: &View<'a>, row: u32, column: usize) -> Value<'a> {
    let Some((remat, eviction)) = eviction(view, row) else {
        return Value::Nothing;
    };
    let evicted = remat.evicted_mark(eviction);
    match column {
        0 => Value::text(
            evicted
                .tensor
                .map(|tensor| shown_name(view.comparison, tensor))
                .unwrap_or_default(),
        ),
        1 => Value::Count(u64::from(evicted.step.0)),
        2 => Value::text(remat.facts(evicted).for_op),
        3 => Value::text(remat.reason(evicted)),
        4 => Value::Bytes(evicted.bytes),
        5 => Value::count(remat.recomputed_mark(eviction).map(|mark| u64::from(mark.step.0))),
        6 => Value::count(remat.cost(eviction).map(|cost| u64::from(cost.n_ops))),
        7 => remat
            .cost(eviction)
            .map_or(Value::Nothing, |cost| Value::Time(cost.time)),
        _ => Value::Nothing,
    }
}

pub(super) fn target(view: &View<'_>, row: u32) -> Target {
    let evicted = eviction(view, row).map(|(remat, eviction)| remat.evicted_mark(eviction));
    Target {
        tensor: evicted.and_then(|mark| mark.tensor),
        step: evicted.map(|mark| mark.step),
        option: None,
    }
}
