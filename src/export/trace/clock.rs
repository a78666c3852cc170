//! The times of a trace: when steps begin, and where what happens on one step stands.
//!
//! Viewers stack what happens on a thread at one time, hundreds of rows high, so calls of one step stand a nanosecond apart, and
//! a step with many calls is as many nanoseconds longer, the same for all lanes. In: the axes of an answer. Out: nanoseconds
//! from the beginning of the first step; they rise with steps and with times.

use super::lane;
use crate::subject::ExportSubject;
use highwater_analysis::Comparison;
use highwater_timeline::{AxisKind, TimeAxis};

/// When steps begin, in nanoseconds of the trace.
pub(super) struct Clock<'a> {
    axis: Option<&'a TimeAxis>,
    kind: AxisKind,
    /// Nanoseconds that further calls add before each step, and at last before the end.
    added: Vec<u64>,
    n_steps: u32,
}

/// Where nobody knows times, a step takes so long.
const PLAIN_STEP: u64 = 1000;

impl<'a> Clock<'a> {
    /// The times of a trace of some lanes. O(steps + events).
    pub(super) fn new(subject: &'a ExportSubject, lanes: &[usize]) -> Self {
        let axes = &subject.timeline.axes;
        // The times of a run beside a graph are not those of the lanes.
        let mut known = [AxisKind::Estimated, AxisKind::Wall].into_iter();
        let is_own = |kind: &AxisKind| *kind == AxisKind::Estimated || axes.wall_run().is_none();
        let found = known.find_map(|kind| Some((kind, &**axes.get(kind)?)).filter(|_| is_own(&kind)));
        let n_steps = subject.comparison.axis.n_steps;
        let threads = lanes.iter().flat_map(|lane| lane::instants(subject, *lane));
        Self {
            axis: found.map(|(_, axis)| axis),
            kind: found.map_or(AxisKind::Order, |(kind, _)| kind),
            added: added(n_steps, threads),
            n_steps,
        }
    }

    /// Whether times are those of a recording.
    pub(super) const fn is_wall(&self) -> bool {
        matches!(self.kind, AxisKind::Wall)
    }

    /// Whether times are estimates.
    pub(super) const fn is_estimated(&self) -> bool {
        matches!(self.kind, AxisKind::Estimated)
    }

    /// What is added to the times before a step.
    fn added_before(&self, step: u32) -> u64 {
        let further = self.added.get(step as usize).copied().unwrap_or_default();
        further.saturating_add(u64::from(step))
    }

    /// When a step begins; of steps behind the last the end.
    pub(super) fn at(&self, step: u32) -> u64 {
        let step = step.min(self.n_steps);
        let time = match self.axis {
            Some(axis) => axis.time_at(step),
            None => u64::from(step) * (PLAIN_STEP - 1),
        };
        time.saturating_add(self.added_before(step))
    }

    /// Where a time of the axis stands, among the steps that are longer than they took.
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

    /// What times are, in a sentence.
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

/// The sums of what each step is longer by: the most that happens on it on one thread, but for the first.
fn added(n_steps: u32, threads: impl Iterator<Item = Vec<u32>>) -> Vec<u64> {
    let mut longer = vec![0_u64; n_steps as usize + 1];
    for steps in threads {
        for same in steps.chunk_by(|one, next| one == next) {
            let further = same.len() as u64 - 1;
            if let Some(known) = longer.get_mut(same[0] as usize) {
                *known = further.max(*known);
            }
        }
    }
    let mut sum = 0_u64;
    for added in &mut longer {
        let before = sum;
        sum = sum.saturating_add(*added);
        *added = before;
    }
    longer
}

/// The times of the instants of a thread, one after another.
#[derive(Default)]
pub(super) struct InOrder {
    next: u64,
}

impl InOrder {
    /// When the next of them is, on its step or as soon behind the one before as can be told apart.
    pub(super) fn next(&mut self, clock: &Clock<'_>, step: u32) -> u64 {
        let at = clock.at(step).max(self.next);
        self.next = at.saturating_add(1);
        at
    }
}

#[cfg(test)]
mod tests {
    use super::added;

    #[test]
    fn a_step_is_longer_by_what_else_happens_on_it() {
        let threads: [(&[&[u32]], [u64; 4]); 4] = [
            (&[], [0, 0, 0, 0]),
            (&[&[0, 1, 2]], [0, 0, 0, 0]),
            (&[&[0, 0, 0, 2, 2]], [0, 2, 2, 3]),
            (&[&[0, 0], &[0, 0, 0, 1], &[7, 7]], [0, 2, 2, 2]),
        ];
        for (threads, sums) in threads {
            assert_eq!(
                added(3, threads.iter().map(|steps| steps.to_vec())),
                sums,
                "{threads:?}"
            );
        }
    }
}
