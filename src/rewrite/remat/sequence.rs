//! Executed sequence of a run under a budget, and the storages held during it.
//!
//! ```text
//! tape     op 0   op 1   op 2                 op 3
//! run      [0]    [1]    [2]   [0 again] [1 again] [3]    slots: one op each, in the order of execution
//! ```
//!
//! In: a tape and the events of a run. Out: a [`Sequence`]. Ops without an event (views, in-place updates of externals)
//! are executed in order; ops that bring in external tensors take no slot. Where a run ended early, later ops keep
//! their slots and hold nothing. O(events + ops + inputs).

use super::run::{RematEvent, RematKind, RematRun, RematStatus};
use highwater_model::units::Bytes;
use highwater_model::workload::Tape;

/// One executed op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    pub op: u32,
    pub is_recomputed: bool,
    /// The result that it is recomputed for; otherwise its first.
    pub wanted: Option<u32>,
}

/// A storage held over some slots. Half-open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Held {
    pub start: u32,
    /// Greater than `start`.
    pub end: u32,
    /// The root tensor of the storage.
    pub tensor: u32,
    /// Its version.
    pub copy: u32,
}

/// Ops in the order of execution, with the slots of events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sequence {
    pub slots: Vec<Slot>,
    /// By event: the slot on which it takes effect. Evictions are on the slot of the op that they make room for, ends
    /// of life on the slot after the last use; both may be one beyond the last slot.
    pub slot_of_event: Vec<u32>,
    /// By slot: the highest usage, as the engine counts it.
    pub usage: Vec<Bytes>,
    /// The first slot that was not executed, where the run ended early.
    pub ended_at: Option<u32>,
}

/// Assigns a run's events to slots.
pub fn sequence(tape: &Tape, run: &RematRun) -> Sequence {
    let mut maker = SequenceBuilder {
        tape,
        next_op: 0,
        used: Bytes::ZERO,
        answer: Sequence::default(),
    };
    for event in &run.events {
        maker.event(event);
    }
    if run.status != RematStatus::Ok {
        maker.answer.ended_at = Some(maker.here());
        maker.used = Bytes::ZERO;
    }
    maker.run_up_to(u32::try_from(tape.ops.len()).unwrap_or(u32::MAX));
    maker.answer
}

struct SequenceBuilder<'a> {
    tape: &'a Tape,
    next_op: u32,
    used: Bytes,
    answer: Sequence,
}

impl SequenceBuilder<'_> {
    fn event(&mut self, event: &RematEvent) {
        // A life ends after its last op, even where that op has no event.
        let is_end = matches!(event.kind, RematKind::Free | RematKind::Drop | RematKind::EagerEvict);
        let is_behind = is_end && !self.has_event(event.step);
        let end = event.step.saturating_add(u32::from(is_behind));
        self.run_up_to(end.min(u32::try_from(self.tape.ops.len()).unwrap_or(u32::MAX)));
        let op = self.tape.tensors[event.tensor as usize].op;
        let is_source = self.tape.ops[op as usize].is_source;
        let executes = matches!(event.kind, RematKind::Compute | RematKind::Rematerialize) && !is_source;
        if executes && !event.is_sibling {
            let is_recomputed = event.kind == RematKind::Rematerialize;
            self.execute(op, is_recomputed, Some(event.tensor));
            if !is_recomputed {
                self.next_op = self.next_op.max(op + 1);
            }
        }
        self.used = event.memory_after;
        let here = self.here();
        if executes {
            let slot = here.saturating_sub(1);
            self.answer.slot_of_event.push(slot);
            let usage = &mut self.answer.usage[slot as usize];
            *usage = (*usage).max(event.memory_after);
        } else {
            self.answer.slot_of_event.push(here);
        }
    }

    /// Whether an op has a `Compute` event.
    fn has_event(&self, op: u32) -> bool {
        let outputs = self.tape.ops.get(op as usize).map_or(&[][..], |op| &op.outputs);
        outputs.iter().any(|output| {
            let tensor = &self.tape.tensors[*output as usize];
            tensor.storage == *output && !tensor.is_external
        })
    }

    /// Executes ops without events.
    fn run_up_to(&mut self, end: u32) {
        while self.next_op < end {
            let op = self.next_op;
            self.next_op += 1;
            if !self.tape.ops[op as usize].is_source {
                self.execute(op, false, None);
            }
        }
    }

    fn execute(&mut self, op: u32, is_recomputed: bool, wanted: Option<u32>) {
        self.answer.slots.push(Slot {
            op,
            is_recomputed,
            wanted,
        });
        self.answer.usage.push(self.used);
    }

    fn here(&self) -> u32 {
        u32::try_from(self.answer.slots.len()).unwrap_or(u32::MAX)
    }
}

/// Storages held from event to event, as by a runtime.
pub fn resident(tape: &Tape, run: &RematRun, sequence: &Sequence) -> Vec<Held> {
    let n_slots = u32::try_from(sequence.slots.len()).unwrap_or(u32::MAX);
    let end = sequence.ended_at.unwrap_or(n_slots);
    let mut open: Vec<Option<(u32, u32)>> = vec![None; tape.tensors.len()];
    let mut held = Vec::new();
    for (event, slot) in run.events.iter().zip(&sequence.slot_of_event) {
        let root = tape.tensors[event.tensor as usize].storage;
        let is_own = root == event.tensor && !tape.tensors[root as usize].is_external;
        if event.kind.begins() && is_own && open[root as usize].is_none() {
            open[root as usize] = Some((*slot, event.copy));
        } else if event.kind.ends()
            && let Some((start, copy)) = open[root as usize].take()
        {
            let end = (*slot).max(start + 1);
            held.push(Held {
                start,
                end,
                tensor: root,
                copy,
            });
        }
    }
    for (root, open) in (0_u32..).zip(&open) {
        if let Some((start, copy)) = *open {
            let end = end.max(start + 1);
            held.push(Held {
                start,
                end,
                tensor: root,
                copy,
            });
        }
    }
    held.sort_unstable();
    held
}

/// Storages held by plain liveness of the executed ops: each version from its op to its last reader, as by a compiler
/// that knows the whole sequence.
pub fn live(tape: &Tape, sequence: &Sequence) -> Vec<Held> {
    let n_slots = u32::try_from(sequence.slots.len()).unwrap_or(u32::MAX);
    let mut current: Vec<Option<Held>> = vec![None; tape.tensors.len()];
    let mut held = Vec::new();
    let mut unasked: Vec<Held> = Vec::new();
    for (slot, executed) in (0_u32..).zip(&sequence.slots) {
        let op = &tape.ops[executed.op as usize];
        for input in &op.inputs {
            let root = tape.tensors[*input as usize].storage as usize;
            if let Some(version) = &mut current[root] {
                version.end = slot + 1;
            }
        }
        for output in &op.outputs {
            let root = tape.tensors[*output as usize].storage;
            if tape.tensors[root as usize].is_external {
                continue;
            }
            if root != *output {
                // A view keeps its base.
                if let Some(version) = &mut current[root as usize] {
                    version.end = slot + 1;
                }
                continue;
            }
            let copy = current[root as usize].as_ref().map_or(0, |version| version.copy + 1);
            let fresh = Held {
                start: slot,
                end: slot + 1,
                tensor: root,
                copy,
            };
            if executed.is_recomputed && executed.wanted != Some(root) {
                // Not requested: computed and dropped.
                unasked.push(fresh);
            } else {
                held.extend(current[root as usize].replace(fresh));
            }
        }
    }
    for kept in &tape.kept {
        let root = tape.tensors[*kept as usize].storage as usize;
        if let Some(version) = &mut current[root] {
            version.end = n_slots.max(version.start + 1);
        }
    }
    held.extend(current.into_iter().flatten());
    held.sort_unstable_by_key(|held| (held.tensor, held.start));
    // An unrequested result is indistinguishable from another held version.
    unasked.retain(|fresh| {
        let behind = held.partition_point(|held| (held.tensor, held.start) <= (fresh.tensor, fresh.start));
        let before = behind.checked_sub(1).map(|idx| held[idx]);
        before.is_none_or(|held| held.tensor != fresh.tensor || held.end <= fresh.start)
    });
    held.append(&mut unasked);
    held.sort_unstable();
    held
}

#[cfg(test)]
mod tests {
    use super::super::heuristics::HEURISTICS;
    use super::super::run::{NO_CHOICE, RematCounts};
    use super::*;
    use highwater_model::units::Nanos;
    use highwater_model::workload::{TapeCall, TapeOp, TapeTensor};

    /// `x` from outside, then a chain `a`, `b`, `c`, and `d` that reads `c` and `a`.
    fn chain() -> Tape {
        let ops: [(&str, &[u32]); 5] = [("x", &[]), ("a", &[0]), ("b", &[1]), ("c", &[2]), ("d", &[3, 1])];
        let mut tape = Tape::default();
        for (number, (name, inputs)) in (0_u32..).zip(ops) {
            tape.tensors.push(TapeTensor {
                name: name.into(),
                storage: number,
                bytes: Bytes(10),
                op: number,
                is_external: number == 0,
            });
            tape.ops.push(TapeOp {
                name: name.into(),
                time: Nanos(1),
                inputs: inputs.to_vec(),
                outputs: vec![number],
                is_source: number == 0,
                is_non_recomputable: false,
            });
            tape.calls.push(TapeCall::Call(number));
        }
        tape
    }

    fn event(step: u32, kind: RematKind, tensor: u32, memory: u64) -> RematEvent {
        RematEvent {
            step,
            kind,
            tensor,
            copy: u32::from(kind == RematKind::Rematerialize),
            chain: 0,
            clock: 0,
            memory_after: Bytes(memory),
            choice: NO_CHOICE,
            is_sibling: false,
        }
    }

    fn run(events: Vec<RematEvent>, status: RematStatus) -> RematRun {
        RematRun {
            heuristic: &HEURISTICS[0],
            budget: None,
            status,
            base_compute: Nanos(4),
            remat_compute: Nanos(1),
            peak: Bytes(40),
            peak_step: 0,
            counts: RematCounts::default(),
            events,
            choices: Vec::new(),
        }
    }

    fn evicting() -> Vec<RematEvent> {
        use RematKind::{Compute, Evict, Free, Rematerialize};
        vec![
            event(1, Compute, 1, 20),
            event(2, Compute, 2, 30),
            event(3, Evict, 1, 20),
            event(3, Compute, 3, 30),
            event(3, Free, 2, 20),
            event(4, Rematerialize, 1, 30),
            event(4, Compute, 4, 40),
        ]
    }

    #[test]
    fn a_recomputed_op_has_a_separate_slot() {
        let sequence = sequence(&chain(), &run(evicting(), RematStatus::Ok));
        let slots: Vec<(u32, bool)> = sequence
            .slots
            .iter()
            .map(|slot| (slot.op, slot.is_recomputed))
            .collect();
        assert_eq!(slots, [(1, false), (2, false), (3, false), (1, true), (4, false)]);
        assert_eq!(sequence.slot_of_event, [0, 1, 2, 2, 3, 3, 4]);
        assert_eq!(sequence.usage, [20, 30, 30, 30, 40].map(Bytes));
    }

    #[test]
    fn an_evicted_tensor_has_a_gap() {
        let tape = chain();
        let run = run(evicting(), RematStatus::Ok);
        let sequence = sequence(&tape, &run);
        let ranges = |held: &[Held]| -> Vec<(u32, u32, u32)> {
            held.iter().map(|held| (held.tensor, held.start, held.end)).collect()
        };
        let by_events = resident(&tape, &run, &sequence);
        assert_eq!(
            ranges(&by_events),
            [(1, 0, 2), (2, 1, 3), (3, 2, 5), (1, 3, 5), (4, 4, 5)]
        );
        let by_liveness = live(&tape, &sequence);
        assert_eq!(
            ranges(&by_liveness),
            [(1, 0, 2), (2, 1, 3), (3, 2, 5), (1, 3, 5), (4, 4, 5)]
        );
    }

    #[test]
    fn what_lies_behind_an_early_end_holds_nothing() {
        let tape = chain();
        let mut events = evicting();
        events.truncate(4);
        let run = run(events, RematStatus::Thrash);
        let sequence = sequence(&tape, &run);
        assert_eq!(sequence.slots.len(), 4);
        assert_eq!(sequence.ended_at, Some(3));
        assert!(resident(&tape, &run, &sequence).iter().all(|held| held.end <= 3));
    }
}
