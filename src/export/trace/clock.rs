//! The times of a trace: the start of each step, and the time of each instant on it.
//!
//! Viewers stack simultaneous instants of a thread, hundreds of rows high. Calls of one step are therefore a nanosecond apart, and a
//! step with many calls is as many nanoseconds longer, the same for all lanes. In: the axes of an answer. Out: nanoseconds from the
//! start of the first step, ascending.

use std::cmp::Reverse;

use crate::subject::ExportSubject;
use highwater_analysis::Comparison;
use highwater_timeline::{AxisKind, TimeAxis};

pub(super) struct Clock<'a> {
    axis: Option<&'a TimeAxis>,
    kind: AxisKind,
    added: Added,
    n_steps: u32,
}

/// Nanoseconds of a step without a time.
const PLAIN_STEP: u64 = 1000;

impl<'a> Clock<'a> {
    /// `threads` are the steps of the instants of each thread, ascending. O(steps + instants).
    pub(super) fn new(subject: &'a ExportSubject, threads: impl Iterator<Item = Vec<u32>>) -> Self {
        let axes = &subject.timeline.axes;
        // Times of a run that is aligned to a graph are not those of the lanes.
        let mut known = [AxisKind::Estimated, AxisKind::Wall].into_iter();
        let is_own = |kind: &AxisKind| *kind == AxisKind::Estimated || axes.wall_run().is_none();
        let found = known.find_map(|kind| Some((kind, &**axes.get(kind)?)).filter(|_| is_own(&kind)));
        let n_steps = subject.comparison.axis.n_steps;
        Self {
            axis: found.map(|(_, axis)| axis),
            kind: found.map_or(AxisKind::Order, |(kind, _)| kind),
            added: Added::new(n_steps, threads),
            n_steps,
        }
    }

    pub(super) const fn is_wall(&self) -> bool {
        matches!(self.kind, AxisKind::Wall)
    }

    pub(super) const fn is_estimated(&self) -> bool {
        matches!(self.kind, AxisKind::Estimated)
    }

    fn added_before(&self, step: u32) -> u64 {
        self.added.before(step).saturating_add(u64::from(step))
    }

    /// The start of a step; the end for steps after the last.
    pub(super) fn at(&self, step: u32) -> u64 {
        let step = step.min(self.n_steps);
        let time = match self.axis {
            Some(axis) => axis.time_at(step),
            None => u64::from(step) * (PLAIN_STEP - 1),
        };
        time.saturating_add(self.added_before(step))
    }

    /// A time of the axis with the added nanoseconds.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "steps of an axis are positive and fit"
    )]
    pub(super) fn at_time(&self, time: u64) -> u64 {
        let step = self.axis.map_or(0, |axis| axis.step_at_time(time as f64) as u32);
        time.saturating_add(self.added_before(step))
    }

    pub(super) fn words(&self, comparison: &Comparison) -> String {
        let word = comparison.axis_word();
        let longer = format!("one nanosecond is added to each {word}, and one for each further device call on it");
        match (self.kind, self.axis) {
            (AxisKind::Estimated, Some(axis)) => format!(
                "estimated: ops one after another, each as long as its source states ({} of {} {word}s) or as launch, \
                 operations and bytes over the device's rates give; {longer}",
                axis.n_stated(),
                comparison.axis.n_steps
            ),
            (AxisKind::Wall, Some(_)) => format!("wall time as recorded, from the first {word}; {longer}"),
            _ => format!(
                "not known: every {word} is drawn as one microsecond, and one nanosecond for each further device call on it"
            ),
        }
    }
}

/// Nanoseconds that further calls add: a step adds the largest number of instants on one thread, less one.
struct Added {
    /// Steps that add some, ascending, each with the sum up to its end.
    sums: Vec<(u32, u64)>,
}

impl Added {
    fn new(n_steps: u32, threads: impl Iterator<Item = Vec<u32>>) -> Self {
        let mut sums: Vec<(u32, u64)> = Vec::new();
        for steps in threads {
            let same = steps.chunk_by(|one, next| one == next);
            let further = same.map(|same| (same[0].min(n_steps), same.len() as u64 - 1));
            sums.extend(further.filter(|(_, further)| *further > 0));
        }
        // Of several threads the one with most instants counts.
        sums.sort_unstable_by_key(|(step, further)| (*step, Reverse(*further)));
        sums.dedup_by_key(|(step, _)| *step);
        let mut sum = 0_u64;
        for (_, added) in &mut sums {
            sum = sum.saturating_add(*added);
            *added = sum;
        }
        Self { sums }
    }

    /// The sum of all steps before a step. O(log steps that add some).
    fn before(&self, step: u32) -> u64 {
        let after = self.sums.partition_point(|(known, _)| *known < step);
        after.checked_sub(1).map_or(0, |last| self.sums[last].1)
    }
}

/// Times of the instants of a thread.
#[derive(Default)]
pub(super) struct InOrder {
    next: u64,
}

impl InOrder {
    /// The time of the next instant: that of its step, or a nanosecond after the instant before.
    pub(super) fn next(&mut self, clock: &Clock<'_>, step: u32) -> u64 {
        let at = clock.at(step).max(self.next);
        self.next = at.saturating_add(1);
        at
    }
}

#[cfg(test)]
mod tests {
    use super::Added;

    #[test]
    fn a_step_is_longer_by_what_else_happens_on_it() {
        let threads: [(&[&[u32]], [u64; 4]); 4] = [
            (&[], [0, 0, 0, 0]),
            (&[&[0, 1, 2]], [0, 0, 0, 0]),
            (&[&[0, 0, 0, 2, 2]], [0, 2, 2, 3]),
            (&[&[0, 0], &[0, 0, 0, 1], &[7, 7]], [0, 2, 2, 2]),
        ];
        for (threads, sums) in threads {
            let added = Added::new(3, threads.iter().map(|steps| steps.to_vec()));
            assert_eq!([0, 1, 2, 3].map(|step| added.before(step)), sums, "{threads:?}");
        }
    }
}
