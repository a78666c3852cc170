//! Ops that are computed anew, on the common step axis.
//!
//! ```text
//! ops            0 1 2 3                    lanes may compute different ops anew before an op;
//! lane a         0 1 2 [0] 3                the axis has a step for each of the most that any lane computes there,
//! lane b         0 1 2 [0] [1] 3            and a lane that computes fewer waits
//! axis           0 1 2 3-- 3-- 3
//! ```
//!
//! In: for each lane's variant of a run the executed ops. Out: a [`Layout`]. Linear.

use std::sync::Arc;

use highwater_model::graph::{Id as _, OpId};
use highwater_model::units::{Nanos, Step};
use highwater_model::workload::{Lifetimes, SlotOp};
use highwater_rewrite::name_reuse::NameReuse;
use highwater_rewrite::remat::{GraphTape, RematRun, Sequence};
use highwater_sim::{BoundGraph, Clear};

/// What a run under a budget did.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRemat {
    /// Status, figures, every decision.
    pub answer: RematRun,
    /// What ran, and which of the graph's tensors and ops it is about.
    pub tape: Arc<GraphTape>,
    /// The executed ops.
    pub sequence: Sequence,
    /// By slot of the sequence: its step, counted from the begin of the run; one more entry for the end.
    pub steps: Arc<[u32]>,
    /// Where it was to be given up as thrashing: cost of computing anew over that of the program itself.
    pub thrash_limit: Option<f64>,
}

impl RunRemat {
    /// The slot that is executed on a step, counted from the begin of the run; `None` where the lane waits on it.
    pub fn slot_at(&self, step: u32) -> Option<usize> {
        let slots = self.steps.get(..self.sequence.slots.len())?;
        slots.binary_search(&step).ok()
    }

    /// The step of an event, counted from the begin of the run.
    pub fn step_of_event(&self, event: usize) -> u32 {
        let slot = self.sequence.slot_of_event[event] as usize;
        self.steps[slot.min(self.steps.len() - 1)]
    }
}

/// What rewriting did to a lane.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LaneRewrite {
    /// By position of the run: what its run under a budget did; equal runs share one.
    pub remat: Vec<Option<Arc<RunRemat>>>,
    /// What name reuse did, in lanes that compare it.
    pub names: Option<Arc<NameReuse>>,
}

impl LaneRewrite {
    /// The cost of computing anew, over all runs, and how many ops that are.
    pub fn recomputed(&self) -> (Nanos, u64) {
        let runs = self.remat.iter().flatten();
        runs.fold((Nanos(0), 0), |(time, count), run| {
            let anew = run.sequence.slots.iter().filter(|slot| slot.is_recomputed).count() as u64;
            (time + run.answer.remat_compute, count + anew)
        })
    }
}

/// An executed op of a variant: the graph's op and whether it is computed anew.
pub(super) type Executed = (OpId, bool);

/// The steps of a run, and where each variant's slots lie on them.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    /// How many steps.
    pub(super) n_steps: u32,
    /// What they stand for; `None` where each op has one, in order.
    pub(super) slots: Option<Arc<[SlotOp]>>,
    /// By variant: the step of each slot and of the end; `None` where slots are steps.
    pub(super) steps: Vec<Option<Arc<[u32]>>>,
}

impl Layout {
    /// Lays variants of one run beside each other; `None` is a variant that executes each op once.
    pub(super) fn new(n_ops: u32, variants: &[Option<Vec<Executed>>]) -> Self {
        if variants.iter().all(Option::is_none) {
            return Self {
                n_steps: n_ops,
                slots: None,
                steps: vec![None; variants.len()],
            };
        }
        // By op: how many steps lie before its turn; behind the last op there may be more.
        let mut before = vec![0_u32; n_ops as usize + 1];
        for executed in variants.iter().flatten() {
            let mut anew = 0;
            let mut turn = 0_usize;
            for (_, is_recomputed) in executed {
                if *is_recomputed {
                    anew += 1;
                    before[turn] = before[turn].max(anew);
                } else {
                    anew = 0;
                    turn = (turn + 1).min(n_ops as usize);
                }
            }
        }
        let own_turn = own_turns(&before);
        let n_steps = own_turn[n_ops as usize];
        let steps = variants
            .iter()
            .map(|executed| Some(steps_of(executed.as_deref(), &own_turn, n_ops)))
            .collect();
        Self {
            n_steps,
            slots: Some(slots_of(variants, &before, n_ops)),
            steps,
        }
    }
}

/// By op: the step of its own turn; behind the last op the end.
fn own_turns(before: &[u32]) -> Vec<u32> {
    let mut at = 0_u32;
    let mut turns = Vec::with_capacity(before.len());
    for (op, steps) in before.iter().enumerate() {
        at = at.saturating_add(*steps);
        turns.push(at);
        if op + 1 < before.len() {
            at = at.saturating_add(1);
        }
    }
    turns
}

/// The step of each slot: an op's own turn, or right before the next.
fn steps_of(executed: Option<&[Executed]>, own_turn: &[u32], n_ops: u32) -> Arc<[u32]> {
    let end = own_turn[n_ops as usize];
    let Some(executed) = executed else {
        return own_turn.iter().copied().collect();
    };
    let mut steps = vec![0_u32; executed.len() + 1];
    steps[executed.len()] = end;
    let mut turn = n_ops as usize;
    let mut next = end;
    for (slot, (_, is_recomputed)) in executed.iter().enumerate().rev() {
        if *is_recomputed {
            next = next.saturating_sub(1);
        } else {
            turn = turn.saturating_sub(1);
            next = own_turn[turn];
        }
        steps[slot] = next;
    }
    steps.into()
}

/// What the steps stand for: with one variant the op that is computed anew, else the op whose turn comes.
fn slots_of(variants: &[Option<Vec<Executed>>], before: &[u32], n_ops: u32) -> Arc<[SlotOp]> {
    if let [Some(executed)] = variants {
        let slot = |(op, is_recomputed): &Executed| SlotOp {
            op: *op,
            is_recomputed: *is_recomputed,
        };
        return executed.iter().map(slot).collect();
    }
    let mut slots = Vec::new();
    for (op, steps) in before.iter().enumerate() {
        let known = OpId::from_idx(op.min((n_ops as usize).saturating_sub(1)));
        slots.extend((0..*steps).map(|_| SlotOp {
            op: known,
            is_recomputed: true,
        }));
        if op < n_ops as usize {
            slots.push(SlotOp {
                op: known,
                is_recomputed: false,
            });
        }
    }
    slots.into()
}

/// A bound graph with its lifetimes and clears moved from slots to steps.
pub(super) fn onto_steps(mut bound: BoundGraph, steps: Option<&[u32]>) -> BoundGraph {
    let Some(steps) = steps else { return bound };
    let at = |slot: Step| Step(steps[slot.idx().min(steps.len() - 1)]);
    let lifetimes: &mut Lifetimes = &mut bound.program.lifetimes;
    lifetimes.n_steps = steps[steps.len() - 1];
    for item in &mut lifetimes.items {
        item.birth = at(item.birth);
        item.end = at(item.end);
    }
    for Clear { step, .. } in &mut bound.clears {
        *step = at(*step);
    }
    bound
}

#[cfg(test)]
mod tests {
    use super::*;

    fn executed(text: &str) -> Vec<Executed> {
        let one = |word: &str| {
            let number = word.trim_matches(['[', ']']).parse().expect("a number");
            (OpId(number), word.starts_with('['))
        };
        text.split_whitespace().map(one).collect()
    }

    fn steps(layout: &Layout, variant: usize) -> Vec<u32> {
        layout.steps[variant].as_deref().expect("has steps").to_vec()
    }

    #[test]
    fn lanes_wait_where_others_compute_anew() {
        let variants = [
            None,
            Some(executed("0 1 2 [0] 3")),
            Some(executed("0 1 2 [0] [1] 3 [2]")),
        ];
        let layout = Layout::new(4, &variants);
        assert_eq!(layout.n_steps, 7);
        assert_eq!(steps(&layout, 0), [0, 1, 2, 5, 7]);
        assert_eq!(steps(&layout, 1), [0, 1, 2, 4, 5, 7]);
        assert_eq!(steps(&layout, 2), [0, 1, 2, 3, 4, 5, 6, 7]);
        let slots: Vec<(u32, bool)> = layout
            .slots
            .iter()
            .flat_map(|slots| slots.iter())
            .map(|slot| (slot.op.0, slot.is_recomputed))
            .collect();
        let expected = [
            (0, false),
            (1, false),
            (2, false),
            (3, true),
            (3, true),
            (3, false),
            (3, true),
        ];
        assert_eq!(slots, expected);
    }

    #[test]
    fn a_single_lane_names_the_op_that_is_computed_anew() {
        let layout = Layout::new(3, &[Some(executed("0 1 [0] 2"))]);
        assert_eq!(layout.n_steps, 4);
        assert_eq!(steps(&layout, 0), [0, 1, 2, 3, 4]);
        let ops: Vec<u32> = layout
            .slots
            .iter()
            .flat_map(|slots| slots.iter())
            .map(|slot| slot.op.0)
            .collect();
        assert_eq!(ops, [0, 1, 0, 2]);
    }

    #[test]
    fn without_anything_anew_steps_are_ops() {
        let layout = Layout::new(3, &[None, None]);
        assert_eq!(layout.n_steps, 3);
        assert!(layout.slots.is_none());
    }
}
