//! Phases of a recording: named ranges of events, paired from annotations with a begin and an end.
//!
//! ```text
//! annotations   step START   forward START   forward END   step END
//! phases        step [0, 9)  forward [1, 5)
//! ```
//!
//! In: annotations in order, each with its event. Out: [`RecordedPhases`]. Equal names nest: an end closes the latest
//! begin of its name. A begin without an end lasts to the end of the recording; an end without a begin makes no phase;
//! both are counted.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{RecordedName, Recording};
use crate::units::Step;

/// A named range of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedPhase {
    pub name: RecordedName,
    /// The first event within it.
    pub start: Step,
    /// Exclusive; a phase without an event holds the one after it.
    pub end: Step,
}

/// Pairs annotations.
#[derive(Debug, Default)]
pub struct PhasePairs {
    open: BTreeMap<RecordedName, Vec<u32>>,
    phases: Vec<RecordedPhase>,
    /// Ends without a begin.
    pub unopened: u64,
    /// Begins without an end.
    pub unclosed: u64,
}

impl PhasePairs {
    /// The next annotation begins at an event.
    pub fn begin(&mut self, name: RecordedName, event: u32) {
        self.open.entry(name).or_default().push(event);
    }

    /// The next annotation ends before an event.
    pub fn end(&mut self, name: RecordedName, event: u32) {
        match self.open.get_mut(&name).and_then(Vec::pop) {
            Some(start) => self.add(name, start, event),
            None => self.unopened += 1,
        }
    }

    /// A phase with both ends.
    pub fn add(&mut self, name: RecordedName, start: u32, end: u32) {
        self.phases.push(RecordedPhase {
            name,
            start: Step(start),
            end: Step(end),
        });
    }

    /// Phases by start, the longest first, within `n_steps` events; those behind the last event are left out.
    pub fn finish(&mut self, n_steps: u32) -> Vec<RecordedPhase> {
        for (name, starts) in std::mem::take(&mut self.open) {
            for start in starts {
                self.unclosed += 1;
                self.add(name, start, n_steps);
            }
        }
        let mut phases = std::mem::take(&mut self.phases);
        phases.retain(|phase| phase.start.0 < n_steps);
        for phase in &mut phases {
            phase.end = Step(phase.end.0.clamp(phase.start.0 + 1, n_steps));
        }
        // A stable order: of equal ranges the one that closed last is the outer one.
        phases.reverse();
        phases.sort_by_key(|phase| (phase.start, Reverse(phase.end)));
        phases
    }
}

/// Rows of phases that overlap.
const MOST_ROWS: usize = 64;

impl Recording {
    /// The row of each phase, so that phases of a row never overlap: the lowest row that is free; `None` where
    /// `MOST_ROWS` are taken. O(phases * rows).
    pub fn phase_rows(&self) -> Vec<Option<u32>> {
        let mut free_from: Vec<Step> = Vec::new();
        let rows = self.phases.iter().map(|phase| {
            let free = free_from.iter().position(|free| *free <= phase.start);
            let row = free.unwrap_or(free_from.len());
            match free_from.get_mut(row) {
                Some(free) => *free = phase.end,
                None if row < MOST_ROWS => free_from.push(phase.end),
                None => return None,
            }
            u32::try_from(row).ok()
        });
        rows.collect()
    }

    /// The steps of training or inference that phases mark, in order, without overlap: phases named as steps
    /// (`ProfilerStep#3`, `step 7`, `iteration`), the outermost of each; else one step up to the end of each phase of the
    /// optimizer. Empty where no phase marks steps.
    pub fn step_marks(&self) -> Vec<RecordedPhase> {
        let named = |is_named: fn(&str) -> bool| {
            let mut free_from = Step(0);
            let phases = self.phases.iter().filter(move |phase| is_named(self.text(phase.name)));
            let outer = phases.filter(move |phase| {
                let is_outer = phase.start >= free_from;
                if is_outer {
                    free_from = phase.end;
                }
                is_outer
            });
            outer.copied().collect::<Vec<RecordedPhase>>()
        };
        let steps = named(is_step);
        if !steps.is_empty() {
            return steps;
        }
        let mut start = Step(0);
        let up_to_end = named(is_optimizer_step).into_iter().map(|phase| {
            let step = RecordedPhase { start, ..phase };
            start = phase.end;
            step
        });
        up_to_end.collect()
    }
}

/// Names of one step, in lower case, followed by nothing or by a number.
const STEPS: [&str; 8] = [
    "profilerstep",
    "train_step",
    "training_step",
    "train step",
    "step",
    "iteration",
    "iter",
    "batch",
];

fn is_step(name: &str) -> bool {
    let name = name.trim().to_lowercase();
    let is_number = |rest: &str| {
        let rest = rest.trim_start_matches([' ', '#', '_', ':', '-', '=']);
        rest.chars().all(|letter| letter.is_ascii_digit())
    };
    STEPS.iter().any(|step| name.strip_prefix(step).is_some_and(is_number))
}

fn is_optimizer_step(name: &str) -> bool {
    let name = name.to_lowercase();
    name.starts_with("optimizer.step") || name.starts_with("optimizer_step")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::RecordedNames;

    /// Annotations as `+name` and `-name`, one on each event.
    #[track_caller]
    fn recording(annotations: &str) -> (Recording, PhasePairs) {
        let mut names = RecordedNames::default();
        let mut pairs = PhasePairs::default();
        let mut n_steps = 0;
        for annotation in annotations.split(", ") {
            let name = names.intern(&annotation[1..]);
            if annotation.starts_with('+') {
                pairs.begin(name, n_steps);
            } else {
                pairs.end(name, n_steps);
            }
            n_steps += 1;
        }
        let phases = pairs.finish(n_steps);
        let recording = Recording {
            n_steps,
            phases,
            names: names.finish(),
            ..Recording::default()
        };
        assert_eq!(recording.check(), Ok(()));
        (recording, pairs)
    }

    fn text(recording: &Recording, phases: &[RecordedPhase]) -> String {
        let texts = phases.iter().map(|phase| {
            let (start, end) = (phase.start.0, phase.end.0);
            format!("{} {start}..{end}", recording.text(phase.name))
        });
        texts.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn begins_and_ends_pair_by_name() {
        for (annotations, phases, rows) in [
            ("+a, -a", "a 0..1", vec![0]),
            ("+a, +b, -b, -a", "a 0..3, b 1..2", vec![0, 1]),
            ("+a, +a, -a, -a, +a, -a", "a 0..3, a 1..2, a 4..5", vec![0, 1, 0]),
            ("+a, +b, -a, -b", "a 0..2, b 1..3", vec![0, 1]),
            ("-a, +b", "b 1..2", vec![0]),
        ] {
            let (recording, _) = recording(annotations);
            assert_eq!(text(&recording, &recording.phases), phases, "{annotations}");
            let rows: Vec<Option<u32>> = rows.into_iter().map(Some).collect();
            assert_eq!(recording.phase_rows(), rows, "{annotations}");
        }
        let (_, pairs) = recording("-a, +b, +b");
        assert_eq!((pairs.unopened, pairs.unclosed), (1, 2));
        let (many, _) = recording(&vec!["+a"; MOST_ROWS + 1].join(", "));
        assert_eq!(many.phase_rows()[MOST_ROWS - 1..], [Some(63), None]);
    }

    #[test]
    fn step_marks_are_the_outermost_steps() {
        for (annotations, steps) in [
            (
                "+ProfilerStep#1, +step, -step, -ProfilerStep#1, +ProfilerStep#2, -ProfilerStep#2",
                "ProfilerStep#1 0..3, ProfilerStep#2 4..5",
            ),
            ("+Iteration 7, -Iteration 7", "Iteration 7 0..1"),
            ("+stepping, -stepping, +loss, -loss", ""),
            (
                "+Optimizer.step#AdamW.step, -Optimizer.step#AdamW.step, +x, +Optimizer.step#AdamW.step, -Optimizer.step#AdamW.step",
                "Optimizer.step#AdamW.step 0..1, Optimizer.step#AdamW.step 1..4",
            ),
        ] {
            let (recording, _) = recording(annotations);
            assert_eq!(text(&recording, &recording.step_marks()), steps, "{annotations}");
        }
    }
}
