//! Lifetimes of a graph after a run under a budget: evicted storages have gaps, and steps are slots of the run.
//!
//! In: lifetimes by op, the graph's tape and a run of it. Out: lifetimes by slot of the run's [`Sequence`]. Storages
//! that were not among the lifetimes (graph outputs, host storages) are left out; scratch memory is repeated with every
//! execution of its op. The static planner's program is held by plain liveness of its final sequence, as by its own
//! allocator; a runtime's program is held from event to event.

use super::graph_tape::GraphTape;
use super::heuristics::Engine;
use super::run::{RematKind, RematRun};
use super::sequence::{Held, Sequence, live, resident};
use highwater_model::graph::{Graph, Id as _, Role, TensorId};
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{Lifetime, Lifetimes, Tape};

/// Intervals in which a run holds storages, by slot.
pub fn held(tape: &Tape, run: &RematRun, sequence: &Sequence) -> Vec<Held> {
    match run.heuristic.engine {
        Engine::StaticPlanner => live(tape, sequence),
        Engine::Runtime(_) | Engine::Eager => resident(tape, run, sequence),
    }
}

/// Whether a run executes every op once and evicts nothing.
pub fn is_unchanged(run: &RematRun, sequence: &Sequence) -> bool {
    let is_eviction = |kind| kind == RematKind::Evict;
    sequence.ended_at.is_none()
        && sequence.slots.iter().all(|slot| !slot.is_recomputed)
        && !run.events.iter().any(|event| is_eviction(event.kind))
}

/// O((lifetimes + slots) log).
pub fn rewritten_lifetimes(
    lifetimes: &Lifetimes,
    graph: &Graph,
    tape: &GraphTape,
    run: &RematRun,
    sequence: &Sequence,
) -> Lifetimes {
    let mut bytes: Vec<Option<Bytes>> = vec![None; graph.tensors().len()];
    let mut scratch: Vec<Vec<(TensorId, Bytes)>> = vec![Vec::new(); graph.ops().len()];
    for item in &lifetimes.items {
        let is_scratch = graph
            .tensors()
            .get(item.tensor)
            .is_none_or(|tensor| tensor.role == Role::Workspace);
        if !is_scratch {
            bytes[item.tensor.idx()] = Some(item.bytes);
        } else if let Some(of_op) = scratch.get_mut(item.birth.idx()) {
            of_op.push((item.tensor, item.bytes));
        }
    }
    let mut items: Vec<Lifetime> = Vec::with_capacity(lifetimes.items.len());
    for held in held(&tape.tape, run, sequence) {
        let tensor = tape.tensors[held.tensor as usize];
        if let Some(bytes) = bytes[tensor.idx()] {
            items.push(Lifetime {
                birth: Step(held.start),
                end: Step(held.end),
                bytes,
                tensor,
            });
        }
    }
    let executed = sequence.ended_at.unwrap_or(u32::MAX);
    for (slot, executed_op) in (0_u32..executed).zip(&sequence.slots) {
        let Some(op) = tape.ops[executed_op.op as usize] else {
            continue;
        };
        items.extend(scratch[op.idx()].iter().map(|(tensor, bytes)| Lifetime {
            birth: Step(slot),
            end: Step(slot + 1),
            bytes: *bytes,
            tensor: *tensor,
        }));
    }
    items.sort_unstable_by_key(|item| (item.birth, item.tensor, item.end));
    Lifetimes {
        n_steps: u32::try_from(sequence.slots.len()).unwrap_or(u32::MAX),
        items,
    }
}
