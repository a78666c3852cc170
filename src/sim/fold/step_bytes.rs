//! Bytes by step, compact and shared.
//!
//! ```text
//! step     0 1 2 3 4 5 6 7          as runs     0: 5   4: 9   5: 7          few changes
//! bytes    5 5 5 5 9 7 7 7          each        5 5 5 5 9 7 7 7             many changes
//! ```
//!
//! In: a value per step, in order. Out: the values by step. A curve of reserved bytes changes seldom, one of live bytes
//! on nearly every step, so the form is chosen while values are added. Clones share the values; curves are equal where
//! all values are, whatever the form.

use std::ops::{Index, Range};
use std::sync::Arc;

use highwater_model::units::{Bytes, Step};

/// Runs that are always kept as runs.
const FEW_RUNS: usize = 256;

/// A value per step.
#[derive(Clone, Debug, Default)]
pub struct StepBytes(Arc<Form>);

#[derive(Clone, Debug, Default)]
struct Form {
    n_steps: usize,
    /// First steps of the runs; empty where every step has its own value.
    starts: Vec<u32>,
    values: Vec<Bytes>,
}

impl Form {
    /// The index of a step's value.
    fn position(&self, step: usize) -> usize {
        if self.starts.is_empty() {
            return step;
        }
        let step = u32::try_from(step).unwrap_or(u32::MAX);
        self.starts.partition_point(|start| *start <= step).saturating_sub(1)
    }

    /// Appends a step; `n_steps` is the final number.
    fn push(&mut self, value: Bytes, n_steps: usize) {
        let step = self.n_steps;
        self.n_steps += 1;
        let is_each = self.starts.is_empty() && step > 0;
        if is_each {
            return self.values.push(value);
        }
        if self.values.last() == Some(&value) {
            return;
        }
        // A run costs 12 bytes, a single step 8, and growing vectors up to twice that.
        if self.starts.len() >= FEW_RUNS && self.starts.len() > step / 3 {
            let mut each = Vec::with_capacity(n_steps.max(step + 1));
            each.extend(self.iter(0..step));
            each.push(value);
            (self.starts, self.values) = (Vec::new(), each);
            return;
        }
        self.starts.push(u32::try_from(step).unwrap_or(u32::MAX));
        self.values.push(value);
    }

    fn iter(&self, steps: Range<usize>) -> impl Iterator<Item = &Bytes> + Clone {
        let first = self.position(steps.start);
        let mut position = first;
        steps.map_while(move |step| {
            let next = self.starts.get(position + 1).map(|start| *start as usize);
            if self.starts.is_empty() {
                position = step;
            } else if next.is_some_and(|next| next <= step) {
                position += 1;
            }
            self.values.get(position)
        })
    }
}

impl StepBytes {
    pub fn len(&self) -> usize {
        self.0.n_steps
    }

    pub fn is_empty(&self) -> bool {
        self.0.n_steps == 0
    }

    /// `None` beyond the last step. O(log runs).
    pub fn get(&self, step: usize) -> Option<&Bytes> {
        if step >= self.0.n_steps {
            return None;
        }
        self.0.values.get(self.0.position(step))
    }

    pub fn last(&self) -> Option<&Bytes> {
        self.0.values.last()
    }

    /// One value per step.
    pub fn iter(&self) -> impl Iterator<Item = &Bytes> + Clone {
        self.0.iter(0..self.0.n_steps)
    }

    /// The largest value and its first step; zero without steps.
    pub fn first_maximum(&self) -> (Bytes, Option<Step>) {
        let mut best: Option<(usize, Bytes)> = None;
        for (position, bytes) in self.0.values.iter().enumerate() {
            if best.is_none_or(|(_, most)| *bytes > most) {
                best = Some((position, *bytes));
            }
        }
        let Some((position, most)) = best else {
            return (Bytes::ZERO, None);
        };
        let step = match self.0.starts.get(position) {
            Some(start) => *start,
            None => u32::try_from(position).unwrap_or(u32::MAX),
        };
        (most, Some(Step(step)))
    }

    /// One value per run.
    pub fn values(&self) -> &[Bytes] {
        &self.0.values
    }

    /// The positions of the steps' values in [`Self::values`]. O(log runs).
    pub fn positions(&self, steps: Range<usize>) -> Range<usize> {
        let end = steps.end.min(self.0.n_steps);
        if steps.start >= end {
            return 0..0;
        }
        self.0.position(steps.start)..self.0.position(end - 1) + 1
    }

    /// The first step of the run at a position of [`Self::values`].
    pub fn first_step(&self, position: usize) -> usize {
        self.0.starts.get(position).map_or(position, |start| *start as usize)
    }

    /// Whether two curves share their memory.
    pub fn is_shared_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl PartialEq for StepBytes {
    fn eq(&self, other: &Self) -> bool {
        self.is_shared_with(other) || self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl Eq for StepBytes {}

impl<const N: usize> PartialEq<[Bytes; N]> for StepBytes {
    fn eq(&self, other: &[Bytes; N]) -> bool {
        self.iter().eq(other)
    }
}

impl Index<usize> for StepBytes {
    type Output = Bytes;

    fn index(&self, step: usize) -> &Bytes {
        assert!(step < self.len(), "step {step} of {}", self.len());
        &self.0.values[self.0.position(step)]
    }
}

impl FromIterator<Bytes> for StepBytes {
    fn from_iter<T: IntoIterator<Item = Bytes>>(values: T) -> Self {
        let values = values.into_iter();
        let mut builder = StepBytesBuilder::new(values.size_hint().0);
        for value in values {
            builder.push(value);
        }
        builder.finish()
    }
}

/// A curve under construction.
#[derive(Clone, Debug)]
pub(crate) struct StepBytesBuilder {
    form: Form,
    /// The final number of steps.
    n_steps: usize,
}

impl StepBytesBuilder {
    pub(crate) fn new(n_steps: usize) -> Self {
        Self {
            form: Form::default(),
            n_steps,
        }
    }

    pub(crate) fn push(&mut self, value: Bytes) {
        self.form.push(value, self.n_steps);
    }

    pub(crate) fn finish(self) -> StepBytes {
        StepBytes(Arc::new(self.form))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(numbers: &[u64]) {
        let bytes: Vec<Bytes> = numbers.iter().copied().map(Bytes).collect();
        let curve: StepBytes = bytes.iter().copied().collect();
        assert_eq!(curve.len(), bytes.len());
        assert_eq!(curve.iter().copied().collect::<Vec<_>>(), bytes);
        assert_eq!((curve.last(), curve.get(bytes.len())), (bytes.last(), None));
        for (step, value) in bytes.iter().enumerate() {
            assert_eq!((curve[step], curve.get(step)), (*value, Some(value)));
        }
        let most = bytes.iter().copied().max();
        let first = bytes.iter().position(|value| Some(*value) == most);
        let step = first.and_then(|step| u32::try_from(step).ok()).map(Step);
        assert_eq!(curve.first_maximum(), (most.unwrap_or_default(), step));
        for (start, end) in [(0, 0), (0, 1), (1, 3), (2, 9_000), (5, 700), (7, 3)] {
            let wanted = bytes.iter().take(end).skip(start).max();
            assert_eq!(curve.values()[curve.positions(start..end)].iter().max(), wanted);
        }
    }

    #[test]
    fn both_forms_hold_every_value() {
        check(&[]);
        check(&[7]);
        check(&[7, 7, 7, 9, 9, 1]);
        check(&(0..5_000).collect::<Vec<u64>>());
        check(&(0..5_000).map(|step| step / 100).collect::<Vec<u64>>());
        // Changes come early or late.
        check(&(0..9_000).map(|step: u64| step.min(4_000)).collect::<Vec<u64>>());
        check(&(0..9_000).map(|step: u64| step.max(4_000)).collect::<Vec<u64>>());
        check(&(0..2_000).map(|step| step % 2).collect::<Vec<u64>>());
    }

    #[test]
    fn few_changes_take_little_room_and_equal_curves_are_equal_in_any_form() {
        let seldom: StepBytes = (0..100_000).map(|step| Bytes(step / 10_000)).collect();
        assert_eq!(seldom.values().len(), 10);
        // Many changes first, then none.
        let of = |first: u64| {
            let values = (0..3_000_u64).map(|step| Bytes(if step < first { step % 2 } else { 5 }));
            values.collect::<StepBytes>()
        };
        let one = of(900);
        assert_eq!(one, of(900));
        assert_ne!(one, of(901));
        assert!(one.is_shared_with(&one.clone()) && !one.is_shared_with(&of(900)));
    }
}
