//! Recomputed ops on the common step axis.
//!
//! ```text
//! ops            0 1 2 3                    lanes may recompute different ops before an op;
//! lane a         0 1 2 [0] 3                the axis has as many steps there as the lane that recomputes most,
//! lane b         0 1 2 [0] [1] 3            and a lane that recomputes fewer waits
//! axis           0 1 2 3-- 3-- 3
//! ```
//!
//! Linear in executed ops and lanes.

use std::sync::Arc;

use highwater_model::graph::{Id as _, OpId};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::{Nanos, Step};
use highwater_model::workload::{Lifetimes, SlotOp};
use highwater_rewrite::name_reuse::NameReuse;
use highwater_rewrite::remat::{GraphTape, RematRequest, RematRun, Sequence, Slot, is_unchanged, remat, sequence};
use highwater_sim::{BoundGraph, Clear};

/// The run of a graph under a budget.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRemat {
    /// Status, figures and all decisions.
    pub answer: RematRun,
    /// The tape, with the tensors and ops of the graph.
    pub tape: Arc<GraphTape>,
    pub sequence: Sequence,
    /// By slot of the sequence: its step, counted from the begin of the run; one more entry for the end.
    pub steps: Arc<[u32]>,
    /// The ratio of recomputation to base cost above which a run counts as thrashing.
    pub thrash_limit: Option<f64>,
}

impl RunRemat {
    /// The slot executed on a step of the run; `None` where the lane waits.
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

#[derive(Clone, Debug, Default, PartialEq)]
pub struct LaneRewrite {
    /// By position of the run; equal runs share one.
    pub remat: Vec<Option<Arc<RunRemat>>>,
    /// In lanes that compare name reuse.
    pub names: Option<Arc<NameReuse>>,
}

impl LaneRewrite {
    /// The cost of recomputation over the runs from one on, and the number of recomputed ops.
    pub fn recomputed(&self, first_run: usize) -> (Nanos, u64) {
        let runs = self.remat.iter().skip(first_run).flatten();
        runs.fold((Nanos(0), 0), |(time, count), run| {
            let n_recomputed = run.sequence.slots.iter().filter(|slot| slot.is_recomputed).count() as u64;
            (time + run.answer.remat_compute, count + n_recomputed)
        })
    }
}

/// The run of a tape under a budget, before it is on the common steps.
#[derive(Clone, Debug)]
pub(super) struct TapeRun {
    pub(super) answer: RematRun,
    pub(super) tape: Arc<GraphTape>,
    pub(super) sequence: Sequence,
}

impl TapeRun {
    pub(super) fn new(
        tape: Arc<GraphTape>,
        settings: &RematRequest,
        progress: &Progress<'_>,
    ) -> Result<Self, Cancelled> {
        let answer = remat(&tape.tape, settings, progress)?;
        let sequence = sequence(&tape.tape, &answer);
        Ok(Self { answer, tape, sequence })
    }

    /// Whether every op is executed once and nothing is evicted.
    pub(super) fn is_unchanged(&self) -> bool {
        is_unchanged(&self.answer, &self.sequence)
    }

    /// The executed ops; `None` where each op is executed once.
    pub(super) fn executed(&self) -> Option<Vec<SlotOp>> {
        let op = |slot: &Slot| {
            Some(SlotOp {
                op: self.tape.ops[slot.op as usize]?,
                is_recomputed: slot.is_recomputed,
            })
        };
        (!self.is_unchanged()).then(|| self.sequence.slots.iter().filter_map(op).collect())
    }

    /// With the step of each slot and of the end; `None` where slots are steps.
    pub(super) fn on_steps(&self, steps: Option<Arc<[u32]>>, thrash_limit: Option<f64>) -> RunRemat {
        let n_slots = u32::try_from(self.sequence.slots.len()).unwrap_or(u32::MAX);
        RunRemat {
            answer: self.answer.clone(),
            tape: Arc::clone(&self.tape),
            sequence: self.sequence.clone(),
            steps: steps.unwrap_or_else(|| (0..=n_slots).collect()),
            thrash_limit,
        }
    }
}

/// The steps of a run, and the position of each variant's slots on them.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    pub(super) n_steps: u32,
    /// The op of each step; `None` where each op has one step, in order.
    pub(super) slots: Option<Arc<[SlotOp]>>,
    /// By variant: the step of each slot and of the end; `None` where slots are steps.
    pub(super) steps: Vec<Option<Arc<[u32]>>>,
}

impl Layout {
    /// Aligns variants of one run; `None` is a variant that executes each op once.
    pub(super) fn new(n_ops: u32, variants: &[Option<Vec<SlotOp>>]) -> Self {
        if variants.iter().all(Option::is_none) {
            return Self {
                n_steps: n_ops,
                slots: None,
                steps: vec![None; variants.len()],
            };
        }
        // By op: the recomputations before it; the last entry is for those behind the last op.
        let mut before = vec![0_u32; n_ops as usize + 1];
        for executed in variants.iter().flatten() {
            let mut n_recomputed = 0;
            let mut turn = 0_usize;
            for slot in executed {
                if slot.is_recomputed {
                    n_recomputed += 1;
                    before[turn] = before[turn].max(n_recomputed);
                } else {
                    n_recomputed = 0;
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

/// By op: the step of its first execution; the last entry is the end.
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

/// The step of each slot: that of the op itself, or of a recomputation right before the next op.
fn steps_of(executed: Option<&[SlotOp]>, own_turn: &[u32], n_ops: u32) -> Arc<[u32]> {
    let end = own_turn[n_ops as usize];
    let Some(executed) = executed else {
        return own_turn.iter().copied().collect();
    };
    let mut steps = vec![0_u32; executed.len() + 1];
    steps[executed.len()] = end;
    let mut turn = n_ops as usize;
    let mut next = end;
    for (slot, executed) in executed.iter().enumerate().rev() {
        if executed.is_recomputed {
            next = next.saturating_sub(1);
        } else {
            turn = turn.saturating_sub(1);
            next = own_turn[turn];
        }
        steps[slot] = next;
    }
    steps.into()
}

/// The op of each step: with one variant the recomputed op, else the op that follows.
fn slots_of(variants: &[Option<Vec<SlotOp>>], before: &[u32], n_ops: u32) -> Arc<[SlotOp]> {
    if let [Some(executed)] = variants {
        return executed.as_slice().into();
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

/// Moves lifetimes and clears from slots to steps.
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

    fn executed(text: &str) -> Vec<SlotOp> {
        let one = |word: &str| SlotOp {
            op: OpId(word.trim_matches(['[', ']']).parse().expect("a number")),
            is_recomputed: word.starts_with('['),
        };
        text.split_whitespace().map(one).collect()
    }

    fn steps(layout: &Layout, variant: usize) -> Vec<u32> {
        layout.steps[variant].as_deref().expect("has steps").to_vec()
    }

    #[test]
    fn lanes_wait_where_others_recompute() {
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
    fn a_single_lane_names_the_recomputed_op() {
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
    fn without_recomputation_steps_are_ops() {
        let layout = Layout::new(3, &[None, None]);
        assert_eq!(layout.n_steps, 3);
        assert!(layout.slots.is_none());
    }
}
