//! Alignment by phases: notes of the run (`forward begins`, `ProfilerStep#3`) align with the phases of the graph.
//!
//! ```text
//! marks     step 0   forward    backward     optimizer   step 1   ...
//! axis      run 0    first step of each phase of run 0   run 1    ...
//! ```
//!
//! The nth mark of a kind pairs with the nth such place of the axis; the longest part of these pairs with one order is
//! kept, and events between are spread evenly. A run without notes is aligned by its beginning, its peak and its end.
//! O(steps + marks log marks).

use std::collections::BTreeMap;

use super::spread::{longest_ascent, spread};
use super::{Aligned, Anchor, How};
use crate::comparison::Comparison;
use highwater_model::graph::Phase;
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::Step;
use highwater_model::workload::{MarkKind, Recording, TotalKind};

/// The kind of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Begins {
    /// An iteration, or a run of a graph.
    Iteration,
    Forward,
    Backward,
    Optimizer,
}

impl Begins {
    const fn name(self) -> &'static str {
        match self {
            Self::Iteration => "iteration",
            Self::Forward => "forward",
            Self::Backward => "backward",
            Self::Optimizer => "optimizer",
        }
    }

    /// The kind that a note names; `None` for other notes and for ends.
    pub(super) fn of_text(text: &str) -> Option<Self> {
        let text = text.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
        // A range has notes at both ends; only its begin is a mark.
        if text.ends_with(" ends")
            || text.ends_with("_end")
            || text.ends_with(" end")
            || has(&["zero_grad", "range_end"])
        {
            return None;
        }
        if has(&["backward", "bwd"]) {
            return Some(Self::Backward);
        }
        if has(&["optim", "apply_grad", "update_weights", "weight update"]) {
            return Some(Self::Optimizer);
        }
        if has(&["forward", "fwd"]) {
            return Some(Self::Forward);
        }
        has(&["step", "iter"]).then_some(Self::Iteration)
    }
}

pub(super) fn by_phases(
    comparison: &Comparison,
    recording: &Recording,
    progress: &Progress<'_>,
) -> Result<Aligned, Cancelled> {
    let marks = marks(recording);
    let pairs = pairs(&marks, &places(comparison, progress)?);
    let kept = longest_ascent(&pairs.iter().map(|(_, pair)| *pair).collect::<Vec<_>>(), progress)?;
    let (anchors, how) = if kept.is_empty() {
        let peak = peaks(comparison, recording);
        let is_known = peak.is_some();
        (Vec::from_iter(peak), How::Peak { is_known })
    } else {
        let mut names: Vec<&'static str> = Vec::new();
        for (begins, pair) in &pairs {
            if kept.contains(pair) && !names.contains(&begins.name()) {
                names.push(begins.name());
            }
        }
        let (n_kept, n_marks) = (kept.len(), marks.len());
        (kept, How::Phases { n_kept, n_marks, names })
    };
    Ok(Aligned {
        steps: spread(recording.n_steps, 0, comparison.axis.n_steps, &anchors, progress)?,
        how,
    })
}

/// The notes of a known kind, in order.
fn marks(recording: &Recording) -> Vec<(Begins, u32)> {
    let notes = recording.marks.iter().filter(|mark| mark.kind == MarkKind::Note);
    let marks = notes.filter_map(|mark| Some((Begins::of_text(recording.text(mark.text))?, mark.step.0)));
    marks.collect()
}

/// The begins of runs and phases, in the order of the axis.
fn places(comparison: &Comparison, progress: &Progress<'_>) -> Result<Vec<(Begins, u32)>, Cancelled> {
    let graphs = comparison.workload.graphs();
    let mut places = Vec::new();
    for run in &comparison.axis.runs {
        progress.check()?;
        places.push((Begins::Iteration, run.start.0));
        let Some(entry) = graphs.get(run.run.graph.0 as usize) else {
            continue;
        };
        let mut seen: Vec<Begins> = Vec::new();
        let end = run.start.0.saturating_add(run.n_steps).min(comparison.axis.n_steps);
        for step in run.start.0..end {
            let Some((_, op)) = comparison.axis.locate(Step(step)) else {
                continue;
            };
            let begins = match entry.graph.ops()[op].phase {
                Phase::Unknown => continue,
                Phase::Forward => Begins::Forward,
                Phase::Backward => Begins::Backward,
                Phase::Optimizer => Begins::Optimizer,
            };
            if !seen.contains(&begins) {
                seen.push(begins);
                places.push((begins, step));
            }
            if seen.len() == 3 {
                break;
            }
        }
    }
    Ok(places)
}

/// Pairs the nth mark of a kind with the nth place of it, in the order of the marks.
fn pairs(marks: &[(Begins, u32)], places: &[(Begins, u32)]) -> Vec<(Begins, Anchor)> {
    let mut steps: BTreeMap<Begins, std::collections::VecDeque<u32>> = BTreeMap::new();
    for (begins, step) in places {
        steps.entry(*begins).or_default().push_back(*step);
    }
    let pair = |(begins, event): &(Begins, u32)| {
        let step = steps.get_mut(begins)?.pop_front()?;
        Some((*begins, (*event, step)))
    };
    marks.iter().filter_map(pair).collect()
}

/// The event of the measured peak with the step of the simulated one.
fn peaks(comparison: &Comparison, recording: &Recording) -> Option<Anchor> {
    let lane = &comparison.lanes[comparison.main_lane()?];
    let step = lane.summary.peak_live_step?;
    let event = if recording.blocks.is_empty() {
        recording.total(TotalKind::Allocated)?.peak().1
    } else {
        recording.peaks().live.1
    };
    Some((event?.0, step.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_told_apart() {
        for (text, expected) in [
            ("ProfilerStep#3 begins", Some(Begins::Iteration)),
            ("ProfilerStep#3 ends", None),
            ("iteration 7", Some(Begins::Iteration)),
            ("## forward ## begins", Some(Begins::Forward)),
            ("fwd", Some(Begins::Forward)),
            ("autograd::engine::backward begins", Some(Begins::Backward)),
            ("Optimizer.step#AdamW.step begins", Some(Begins::Optimizer)),
            ("Optimizer.zero_grad#AdamW.zero_grad begins", None),
            ("MSTX range_end step", None),
            ("loading data", None),
            ("", None),
        ] {
            assert_eq!(Begins::of_text(text), expected, "{text}");
        }
    }

    #[test]
    fn the_nth_mark_belongs_to_the_nth_place_of_its_kind() {
        use Begins::{Backward, Forward, Iteration};
        let marks = [
            (Iteration, 0),
            (Forward, 1),
            (Backward, 5),
            (Iteration, 9),
            (Forward, 10),
        ];
        let places = [(Iteration, 0), (Forward, 0), (Backward, 20), (Iteration, 40)];
        assert_eq!(
            pairs(&marks, &places),
            [
                (Iteration, (0, 0)),
                (Forward, (1, 0)),
                (Backward, (5, 20)),
                (Iteration, (9, 40))
            ]
        );
    }
}
