//! Where the steps of one schedule stand on the axis of another.
//!
//! ```text
//! own     A0 A1 A2 | B0 B1 | A0 A1 A2        runs are told by graph and iteration, those with the same values first
//! common  A0 A1 A2 | B0 B1 |                 the third run has no place: its steps share the last one
//! ```
//!
//! In: two axes over the same graphs. Out: [`StepMap`]. Rules: runs of one graph in one iteration belong together in their
//! order; of these the longest part that both schedules have in the same order stands at its own steps. Within a run an op
//! stands at the same op's step; what is computed anew before an op stands right before it where the common axis has steps
//! for that, else with it. Runs without a partner are spread over the runs between which they happen. Invariant: steps never
//! fall. O(runs log runs + steps).

use std::collections::BTreeMap;

use crate::alignment::spread::longest_ascent;
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::workload::{Axis, AxisRun, GraphIdx};

/// Runs of a graph in an iteration that are paired by their values; of more only the order counts.
const MOST_PAIRED_BY_VALUES: usize = 64;

/// How the steps of a pinned lane stand on the common axis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PinFit {
    /// Runs of its own schedule.
    pub n_runs: u32,
    /// Those that stand at a run of the common axis.
    pub n_placed: u32,
    /// Those of them whose dimensions have other values there.
    pub n_other_values: u32,
    /// Runs of the common axis during which the lane waits.
    pub n_waiting: u32,
    /// Whether several of its steps share one.
    pub shares_steps: bool,
}

impl PinFit {
    /// What is to say about it; nothing where its steps are those of the common axis.
    pub fn sentences(&self) -> Vec<String> {
        let mut texts = Vec::new();
        let n_left = self.n_runs - self.n_placed;
        if n_left > 0 {
            texts.push(format!(
                "Its schedule is another: {} of its {} runs stand{} at runs of the axis, and what happens in the other{} shares steps there.",
                self.n_placed,
                self.n_runs,
                if self.n_placed == 1 { "s" } else { "" },
                if n_left == 1 { "" } else { "s" },
            ));
        } else if self.shares_steps {
            texts.push(
                "It computes ops anew that the axis has no steps of their own for: these share the step of the op that follows."
                    .to_owned(),
            );
        }
        if self.n_waiting > 0 {
            texts.push(match self.n_waiting {
                1 => "It waits during a run that its schedule does not have.".to_owned(),
                count => format!("It waits during {count} runs that its schedule does not have."),
            });
        }
        if self.n_other_values > 0 {
            texts.push(match (self.n_other_values, self.n_runs) {
                (_, 1) => "Its dimensions have other values than the axis names.".to_owned(),
                (1, _) => "In one run its dimensions have other values than the axis names.".to_owned(),
                (count, _) => format!("In {count} runs its dimensions have other values than the axis names."),
            });
        }
        texts
    }
}

/// Where the steps of one axis stand on another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StepMap {
    /// By own step, and one more for the end.
    pub(super) steps: Vec<u32>,
    /// By own run: its number among the runs of the common axis and, behind these, runs that have no place there.
    pub(super) runs: Vec<u32>,
    /// By that number: the own run.
    pub(super) own: Vec<Option<u32>>,
    /// How they fit.
    pub(super) fit: PinFit,
}

impl StepMap {
    /// Lays an axis onto a common one.
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

    /// A map between axes that are the same.
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

    /// Where an own step stands.
    pub(super) fn at(&self, step: u32) -> u32 {
        let last = self.steps.len() - 1;
        self.steps[(step as usize).min(last)]
    }
}

fn count(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

/// Runs of both axes that belong together, own ones ascending.
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
            let searched = free.len().min(MOST_PAIRED_BY_VALUES);
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

/// By op: the step of its own turn, counted from the begin of the run.
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
    // The begin of what is not filled yet on the common axis, and the next own run.
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

/// Steps of runs that have no place.
fn unplaced(own: &Axis, runs: std::ops::Range<u32>) -> u32 {
    own.runs[runs.start as usize..runs.end as usize]
        .iter()
        .map(|run| run.n_steps)
        .sum()
}

/// Spreads so many steps over a range; with nothing in the range they share the step before it.
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
        // What is computed anew stands before the turn of the next op, behind that of the one before.
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

    /// `A3 B2:8 A[+.+]`: a graph, its steps (or which of them are computed anew, `+`), a value; `|` begins an iteration.
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
        StepMap::new(&axis(own), &axis(common), &Progress::silent(&Cancel::new())).expect("nobody cancels")
    }

    #[test]
    fn steps_stand_at_the_same_ops() {
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
            // What is computed anew stands before the op that follows, where there is a step for it.
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
