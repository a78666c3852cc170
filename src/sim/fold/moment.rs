//! The moment of a step with the most live bytes, and peaks of live bytes without selected subjects.
//!
//! ```text
//! step 7    free a   alloc b   alloc c   free b        the moment is behind "alloc c"
//! live         3        5         9         7
//! ```
//!
//! In: a log. Out: a [`Moment`], or peaks. As in the curves, frees at the beginning of a step are applied first, and
//! from the first allocation on the largest value counts. One pass.

use super::parts::{ReservedParts, State, requested};
use crate::event::{Event, EventKind, MemoryChange, Simulation};
use highwater_model::units::{Bytes, Step};

/// The moment of a step with the most live bytes; the last of equal ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// Events of the log up to the moment.
    pub n_events: usize,
    /// Exact bytes of live tensors: the value of the step's live curve.
    pub live: Bytes,
    /// Live bytes after the allocators' rounding.
    pub rounded: Bytes,
    /// Reserved bytes by use; less than the curve where the step's reserved peak is at another moment.
    pub parts: ReservedParts,
}

impl Moment {
    fn of(n_events: usize, state: &State) -> Self {
        Self {
            n_events,
            live: state.live,
            rounded: state.rounded,
            parts: state.parts(),
        }
    }
}

/// O(events up to the step).
pub fn moment(simulation: &Simulation, step: Step) -> Moment {
    highest(simulation, step, |moment| moment.live)
}

/// The moment of a step with the most reserved bytes; of equal ones the one with the most live bytes, the last of
/// these. Its `live` may be less than the step's live curve. O(events up to the step).
pub fn most_reserved_moment(simulation: &Simulation, step: Step) -> Moment {
    highest(simulation, step, |moment| (moment.parts.total(), moment.live))
}

/// The last of the moments with the highest rank, after the frees at the beginning of the step.
fn highest<R: Ord>(simulation: &Simulation, step: Step, rank: impl Fn(&Moment) -> R) -> Moment {
    let mut state = State::default();
    let before = simulation.events.partition_point(|event| event.step < step);
    for event in simulation.events.iter().take(before) {
        state.apply(simulation, &event);
    }
    let mut found = Moment::of(before, &state);
    let mut is_growing = false;
    let within = simulation.events.from(before);
    for (position, event) in within.take_while(|event| event.step == step).enumerate() {
        state.apply(simulation, &event);
        is_growing |= grows(&event);
        let now = Moment::of(before + position + 1, &state);
        if !is_growing || rank(&now) >= rank(&found) {
            found = now;
        }
    }
    found
}

/// From such an event on, a step counts its largest value.
pub(super) const fn grows(event: &Event) -> bool {
    matches!(
        event.kind,
        EventKind::Alloc | EventKind::DeviceMalloc | EventKind::PageAlloc
    )
}

/// Running live bytes of a step: total, and without each group of subjects.
struct Running {
    now: Vec<u64>,
    shown: Vec<u64>,
    best: Vec<(Bytes, Option<Step>)>,
}

impl Running {
    fn new(n_sums: usize, first: Option<Step>) -> Self {
        Self {
            now: vec![0; n_sums],
            shown: vec![0; n_sums],
            best: vec![(Bytes::ZERO, first); n_sums],
        }
    }

    fn show(&mut self, is_growing: bool) {
        for (shown, now) in self.shown.iter_mut().zip(&self.now) {
            *shown = if is_growing { (*shown).max(*now) } else { *now };
        }
    }

    fn end_step(&mut self, step: Step) {
        for (best, shown) in self.best.iter_mut().zip(&self.shown) {
            if *shown > best.0.get() {
                *best = (Bytes(*shown), Some(step));
            }
        }
        self.shown.clone_from(&self.now);
    }
}

/// The largest live bytes with their first step: in total, then without each of `n_groups` groups of subjects.
/// `left_out` gives the group by subject; none beyond its end and at `u32::MAX`. O(events * groups).
pub fn live_peaks_without(simulation: &Simulation, left_out: &[u32], n_groups: usize) -> Vec<(Bytes, Option<Step>)> {
    let first = (simulation.n_steps > 0).then_some(Step(0));
    let mut running = Running::new(n_groups + 1, first);
    let within = simulation.events.iter();
    let mut within = within.take_while(|event| event.step.0 < simulation.n_steps).peekable();
    while let Some(first) = within.peek() {
        let step = first.step;
        let mut is_growing = false;
        while let Some(event) = within.next_if(|event| event.step == step) {
            is_growing |= grows(&event);
            let change = event.kind.block_change().zip(requested(simulation, &event));
            if let Some((change, bytes)) = change {
                let without = left_out.get(event.subject.0 as usize).copied();
                for (group, now) in (0_u32..).zip(&mut running.now[1..]) {
                    if without != Some(group) {
                        *now = changed(*now, change, bytes);
                    }
                }
                running.now[0] = changed(running.now[0], change, bytes);
            }
            running.show(is_growing);
        }
        running.end_step(step);
    }
    running.best
}

fn changed(sum: u64, change: MemoryChange, bytes: Bytes) -> u64 {
    match change {
        MemoryChange::Take => sum.saturating_add(bytes.get()),
        MemoryChange::Release => sum.saturating_sub(bytes.get()),
    }
}
