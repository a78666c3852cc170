//! Events on steps, counted by kind: exact counts per pixel column as differences of running sums.

use super::viewport::View;
use highwater_model::units::Step;

/// Counts of `N` kinds on the steps with events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventTally<const N: usize> {
    /// Steps with events, ascending.
    steps: Vec<u32>,
    /// Counts before each of these steps, and the total.
    before: Vec<[u32; N]>,
}

/// A pixel column with events, counted by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventColumn<const N: usize> {
    /// From the left edge.
    pub column: u32,
    /// The first and the last step with events.
    pub steps: (Step, Step),
    pub counts: [u32; N],
}

impl<const N: usize> EventColumn<N> {
    pub fn total(&self) -> u32 {
        self.counts.iter().sum()
    }
}

impl<const N: usize> Default for EventTally<N> {
    fn default() -> Self {
        Self {
            steps: Vec::new(),
            before: vec![[0; N]],
        }
    }
}

impl<const N: usize> EventTally<N> {
    /// Adds an event; steps must not descend. Returns whether it is the first on its step.
    pub(super) fn add(&mut self, step: u32, kind: usize) -> bool {
        let is_first = self.steps.last() != Some(&step);
        let sum = self.totals();
        if is_first {
            self.steps.push(step);
            self.before.push(sum);
        }
        if let Some(count) = self.before.last_mut().and_then(|counts| counts.get_mut(kind)) {
            *count = count.saturating_add(1);
        }
        is_first
    }

    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    pub fn totals(&self) -> [u32; N] {
        self.before.last().copied().unwrap_or([0; N])
    }

    /// Counts up to and including a step.
    pub(super) fn until(&self, step: u32) -> [u32; N] {
        let position = self.steps.partition_point(|known| *known <= step);
        self.before.get(position).copied().unwrap_or([0; N])
    }

    /// The position of the first step with events that is not before `step`.
    pub(super) fn position(&self, step: Step) -> usize {
        self.steps.partition_point(|known| *known < step.0)
    }

    /// The columns that contain events, for a picture of `width` columns. An event belongs to the start of its step;
    /// later ones than the last step belong to the last column. O(width log steps).
    pub fn columns<'v>(&self, view: impl Into<View<'v>>, width: u32) -> Vec<EventColumn<N>> {
        let view = view.into();
        let edge = |column: u32| view.step_from_x(f64::from(column), f64::from(width));
        let before = |edge: f64| self.steps.partition_point(|step| f64::from(*step) < edge);
        let mut first = before(edge(0));
        let mut columns = Vec::new();
        for column in 0..width {
            let behind = if column + 1 == width {
                self.steps.partition_point(|step| f64::from(*step) <= view.t1)
            } else {
                before(edge(column + 1))
            };
            if behind > first {
                columns.push(self.column(column, first, behind));
                first = behind;
            }
        }
        columns
    }

    fn column(&self, column: u32, first: usize, behind: usize) -> EventColumn<N> {
        let mut counts = self.before[behind];
        for (count, before) in counts.iter_mut().zip(&self.before[first]) {
            *count -= before;
        }
        EventColumn {
            column,
            steps: (Step(self.steps[first]), Step(self.steps[behind - 1])),
            counts,
        }
    }

    /// The nearest step with events after or before a step.
    pub fn neighbour(&self, step: u32, is_next: bool) -> Option<u32> {
        let position = if is_next {
            self.steps.partition_point(|known| *known <= step)
        } else {
            self.steps.partition_point(|known| *known < step).checked_sub(1)?
        };
        self.steps.get(position).copied()
    }
}
