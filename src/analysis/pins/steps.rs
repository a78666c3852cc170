//! The alignment of the steps of one schedule to the axis of another.
//!
//! ```text
//! own     A0 A1 A2 | B0 B1 | A0 A1 A2        runs pair by graph and iteration, first those with equal values
//! common  A0 A1 A2 | B0 B1 |                 the third run has no place: its steps share the last one
//! ```
//!
//! Runs of one graph in one iteration pair in their order; the longest subsequence that both schedules share aligns
//! with its own steps. Within a run an op aligns with the same op; recomputed ops align with steps right before the
//! next op where the common axis has such steps, else with that op. Runs without a partner are spread over the runs
//! between their neighbours. Invariant: steps never fall. O(runs log runs + steps).

use std::collections::BTreeMap;

use crate::alignment::longest_ascent;
use crate::pin::PinFit;
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::workload::{Axis, AxisRun, GraphIdx};

/// Runs of a graph in an iteration that pair by their values; further ones pair by order.
const MAX_PAIRED_BY_VALUES: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StepMap {
    /// By own step, and one more for the end.
    pub(super) steps: Vec<u32>,
    /// By own run: its number among the runs of the common axis, or behind them where it has no place there.
    pub(super) runs: Vec<u32>,
    /// By that number: the own run.
    pub(super) own: Vec<Option<u32>>,
    pub(super) fit: PinFit,
}

impl StepMap {
    /// Aligns an axis to a common one.
    pub(super) fn new(own: &Axis, common: &Axis, progress: &Progress<'_>) -> Result<Self, Cancelled> {
        let places = longest_ascent(&pairs(own, common), progress)?;
        let mut runs = vec![u32::MAX; own.runs.len()];
        let mut owns: Vec<Option<u32>> = vec![None; common.runs.len()];
        let mut fit = PinFit {
            n_runs: count(own.runs.len()),
            n_placed: count(places.len()),
            n_waiting: count(common.runs.len() - places.len()),
            ..PinFit::default()
        };
        for (run, place) in &places {
            runs[*run as usize] = *place;
            owns[*place as usize] = Some(*run);
            let values = |axis: &Axis, run: u32| axis.runs[run as usize].run.bindings.clone();
            fit.n_other_values += u32::from(values(own, *run) != values(common, *place));
        }
        for (run, number) in (0_u32..).zip(&mut runs) {
            if *number == u32::MAX {
                *number = count(owns.len());
                owns.push(Some(run));
            }
        }
        progress.check()?;
        let steps = steps(own, common, &places);
        fit.shares_steps = steps
            .windows(2)
            .take(own.n_steps.saturating_sub(1) as usize)
            .any(|pair| pair[0] == pair[1]);
        Ok(Self {
            steps,
            runs,
            own: owns,
            fit,
        })
    }

    /// The identity.
    pub(super) fn same(axis: &Axis) -> Self {
        let n_runs = count(axis.runs.len());
        Self {
            steps: (0..=axis.n_steps).collect(),
            runs: (0..n_runs).collect(),
            own: (0..n_runs).map(Some).collect(),
            fit: PinFit {
                n_runs,
                n_placed: n_runs,
                ..PinFit::default()
            },
        }
    }

    /// The common step of an own one.
    pub(super) fn at(&self, step: u32) -> u32 {
        let last = self.steps.len() - 1;
        self.steps[(step as usize).min(last)]
    }
}

fn count(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

/// Runs of both axes that pair, own ones ascending.
fn pairs(own: &Axis, common: &Axis) -> Vec<(u32, u32)> {
    type Key = (u32, GraphIdx);
    let by_key = |axis: &Axis| {
        let mut groups: BTreeMap<Key, Vec<u32>> = BTreeMap::new();
        for (number, run) in (0_u32..).zip(&axis.runs) {
            groups
                .entry((run.run.iteration, run.run.graph))
                .or_default()
                .push(number);
        }
        groups
    };
    let places = by_key(common);
    let mut pairs = Vec::new();
    for (key, runs) in by_key(own) {
        let Some(free) = places.get(&key) else { continue };
        let mut free = free.clone();
        let mut left = Vec::new();
        for run in runs {
            let values = &own.runs[run as usize].run.bindings;
            let is_same = |place: &u32| common.runs[*place as usize].run.bindings == *values;
            let searched = free.len().min(MAX_PAIRED_BY_VALUES);
            match free[..searched].iter().position(is_same) {
                Some(position) => pairs.push((run, free.remove(position))),
                None => left.push(run),
            }
        }
        pairs.extend(left.into_iter().zip(free));
    }
    pairs.sort_unstable();
    pairs
}

/// By op: its step unless recomputed, counted from the begin of the run.
fn turns(run: &AxisRun) -> Vec<u32> {
    match &run.slots {
        None => (0..run.n_steps).collect(),
        Some(slots) => {
            let turns = (0_u32..).zip(slots.iter()).filter(|(_, slot)| !slot.is_recomputed);
            turns.map(|(step, _)| step).collect()
        }
    }
}

/// By own step and for the end: the common step.
fn steps(own: &Axis, common: &Axis, places: &[(u32, u32)]) -> Vec<u32> {
    let mut steps = Vec::with_capacity(own.n_steps as usize + 1);
    // The begin of the part of the common axis that is not filled yet, and the next own run.
    let (mut floor, mut next) = (0_u32, 0_u32);
    let mut known: Option<((u32, u32), Vec<u32>)> = None;
    for (run, place) in places {
        let place = &common.runs[*place as usize];
        spread(&mut steps, floor, place.start.0, unplaced(own, next..*run));
        let run_at = &own.runs[*run as usize];
        let key = (run_at.run.graph.0, place.n_steps);
        let is_plain = run_at.slots.is_none() && place.slots.is_none();
        if known.as_ref().is_none_or(|(known, _)| !is_plain || *known != key) {
            known = Some((key, within(run_at, place)));
        }
        let inside = known.iter().flat_map(|(_, inside)| inside);
        steps.extend(inside.map(|step| place.start.0 + step));
        known = known.filter(|_| is_plain);
        floor = place.start.0 + place.n_steps;
        next = run + 1;
    }
    let behind = unplaced(own, next..count(own.runs.len()));
    let is_last_placed = behind == 0;
    spread(&mut steps, floor, common.n_steps, behind);
    let end = if is_last_placed { floor } else { common.n_steps };
    steps.push(end.max(steps.last().map_or(0, |last| last + 1)).min(common.n_steps));
    steps
}

/// The steps of runs without a place.
fn unplaced(own: &Axis, runs: std::ops::Range<u32>) -> u32 {
    own.runs[runs.start as usize..runs.end as usize]
        .iter()
        .map(|run| run.n_steps)
        .sum()
}

/// Spreads steps over a range; in an empty range they share the step before it.
fn spread(steps: &mut Vec<u32>, start: u32, end: u32, n_own: u32) {
    let width = u64::from(end.saturating_sub(start));
    for step in 0..u64::from(n_own) {
        let inside = step * width / u64::from(n_own);
        let at = start.saturating_add(u32::try_from(inside).unwrap_or(u32::MAX));
        steps.push(if width == 0 { start.saturating_sub(1) } else { at });
    }
}

/// By own step of a run: the step of its place, counted from the begin of that.
fn within(run: &AxisRun, place: &AxisRun) -> Vec<u32> {
    let (own, common) = (turns(run), turns(place));
    let last = place.n_steps.saturating_sub(1);
    let mut turn = 0;
    let mut steps = Vec::with_capacity(run.n_steps as usize);
    for step in 0..run.n_steps {
        while own.get(turn).is_some_and(|at| *at < step) {
            turn += 1;
        }
        // Recomputed ops align before the next op and behind the one before.
        let ahead = own.get(turn).copied().unwrap_or(run.n_steps) - step;
        let target = common.get(turn).copied().unwrap_or(place.n_steps);
        let lowest = turn
            .checked_sub(1)
            .map_or(0, |before| common.get(before).map_or(target, |at| at + 1));
        steps.push(target.saturating_sub(ahead).max(lowest).min(target).min(last));
    }
    steps
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use highwater_model::graph::{Bindings, OpId};
    use highwater_model::progress::Cancel;
    use highwater_model::units::Step;
    use highwater_model::workload::{Run, SlotOp};

    /// `A3 B2:8 A[+.+]`: a graph, its steps (or which of them are recomputed, `+`), a value; `|` begins an iteration.
    fn axis(text: &str) -> Axis {
        let mut axis = Axis::default();
        let mut iteration = 0;
        for word in text.split_whitespace() {
            if word == "|" {
                iteration += 1;
                continue;
            }
            let (word, value) = word
                .split_once(':')
                .map_or((word, None), |(word, value)| (word, Some(value)));
            let graph = u32::from(word.as_bytes()[0] - b'A');
            let marks = word[1..].trim_matches(['[', ']']);
            let slots: Option<Arc<[SlotOp]>> = word.contains('[').then(|| {
                let slot = |mark: char| SlotOp {
                    op: OpId(0),
                    is_recomputed: mark == '+',
                };
                marks.chars().map(slot).collect()
            });
            let n_steps = slots.as_ref().map_or_else(
                || marks.parse().expect("a count"),
                |slots| u32::try_from(slots.len()).expect("few"),
            );
            let mut bindings = Bindings::new();
            bindings.extend(value.map(|value| ("n".to_owned(), value.parse().expect("a value"))));
            axis.runs.push(AxisRun {
                start: Step(axis.n_steps),
                n_steps,
                run: Run {
                    graph: GraphIdx(graph),
                    iteration,
                    bindings,
                },
                slots,
            });
            axis.n_steps += n_steps;
        }
        axis
    }

    fn map(own: &str, common: &str) -> StepMap {
        StepMap::new(&axis(own), &axis(common), &Progress::silent(&Cancel::new())).expect("no cancel")
    }

    #[test]
    fn steps_align_with_the_same_ops() {
        for (own, common, steps) in [
            ("A3 B2", "A3 B2", &[0, 1, 2, 3, 4, 5][..]),
            ("", "A3", &[0]),
            ("A3", "A3 B2", &[0, 1, 2, 3]),
            ("B2", "A3 B2", &[3, 4, 5]),
            // A run that is not there shares the last step, or is spread over what lies between.
            ("A3 | A3", "A3", &[0, 1, 2, 2, 2, 2, 3]),
            ("A2 C2 B2", "A2 B2", &[0, 1, 1, 1, 2, 3, 4]),
            ("A2 C2 B2", "A2 D4 B2", &[0, 1, 2, 4, 6, 7, 8]),
            ("C2", "A2", &[0, 1, 2]),
            // Equal values belong together.
            ("A2:16", "A2:8 A2:16", &[2, 3, 4]),
            ("A2:32", "A2:8 A2:16", &[0, 1, 2]),
            ("A2:16 A2:8", "A2:8 A2:16", &[0, 0, 0, 1, 2]),
            // Recomputed ops come before the next op, where the axis has steps for them.
            ("A[..+.]", "A3", &[0, 1, 2, 2, 3]),
            ("A[..+.]", "A[..++.]", &[0, 1, 3, 4, 5]),
            ("A[..+++.]", "A[..+.]", &[0, 1, 2, 2, 2, 3, 4]),
            ("A3", "A[..++.]", &[0, 1, 4, 5]),
            ("A[..+]", "A2", &[0, 1, 1, 2]),
            ("A[+.]", "A1", &[0, 0, 1]),
        ] {
            let laid = map(own, common);
            assert_eq!(laid.steps, steps, "{own} on {common}");
            assert!(laid.steps.is_sorted(), "{own} on {common}");
        }
    }

    #[test]
    fn runs_without_a_place_are_numbered_behind_the_others() {
        let laid = map("A3 | A3 | A3", "A3:1 B2");
        assert_eq!(laid.runs, [0, 2, 3]);
        assert_eq!(laid.own, [Some(0), None, Some(1), Some(2)]);
        let expected = PinFit {
            n_runs: 3,
            n_placed: 1,
            n_other_values: 1,
            n_waiting: 1,
            shares_steps: true,
        };
        assert_eq!(laid.fit, expected);
        assert_eq!(laid.fit.sentences().len(), 3);
        assert_eq!(StepMap::same(&axis("A3 B2")), map("A3 B2", "A3 B2"));
    }
}
