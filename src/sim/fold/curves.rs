//! Bytes on each step.
//!
//! In: a log. Out: [`Curves`], one value a step: the largest that held at any moment of the step, so that a peak can
//! never hide between two events. One pass.

use super::parts::State;
use crate::sim::event::{EventKind, Simulation};
use crate::units::Bytes;

/// Bytes on each step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Curves {
    /// Device bytes in use: mallocs and physical pages.
    pub reserved: Vec<Bytes>,
    /// The share of `reserved` that serves feature memory (arenas and pools).
    pub features: Vec<Bytes>,
    /// Exact bytes that graphs asked for and hold (feature memory).
    pub live: Vec<Bytes>,
    /// The same after the rounding of whoever gave them.
    pub rounded: Vec<Bytes>,
    /// The share of `reserved` that is physical pages.
    pub physical: Vec<Bytes>,
    /// Address space that is reserved as virtual ranges; it holds no memory of its own.
    pub virtual_space: Vec<Bytes>,
}

impl Curves {
    /// Empty curves with room for so many steps: they are as long as that in the end, and never stand in memory twice.
    fn with_capacity(n_steps: usize) -> Self {
        let room = || Vec::with_capacity(n_steps);
        Self {
            reserved: room(),
            features: room(),
            live: room(),
            rounded: room(),
            physical: room(),
            virtual_space: room(),
        }
    }
}

/// What a step shows of the sums.
#[derive(Clone, Copy)]
struct Shown {
    reserved: Bytes,
    features: Bytes,
    live: Bytes,
    rounded: Bytes,
    physical: Bytes,
    virtual_space: Bytes,
}

impl Shown {
    fn of(state: &State) -> Self {
        Self {
            reserved: state.reserved.total(),
            features: state.parts().features,
            live: state.live,
            rounded: state.rounded,
            physical: state.physical,
            virtual_space: state.virtual_space,
        }
    }

    fn max(self, other: Self) -> Self {
        Self {
            reserved: self.reserved.max(other.reserved),
            features: self.features.max(other.features),
            live: self.live.max(other.live),
            rounded: self.rounded.max(other.rounded),
            physical: self.physical.max(other.physical),
            virtual_space: self.virtual_space.max(other.virtual_space),
        }
    }
}

impl Curves {
    fn push(&mut self, shown: Shown) {
        self.reserved.push(shown.reserved);
        self.features.push(shown.features);
        self.live.push(shown.live);
        self.rounded.push(shown.rounded);
        self.physical.push(shown.physical);
        self.virtual_space.push(shown.virtual_space);
    }
}

/// Curves with one value a step. O(events + steps).
pub fn curves(simulation: &Simulation) -> Curves {
    let mut curves = Curves::with_capacity(simulation.n_steps as usize);
    let mut state = State::default();
    let mut events = simulation.events.iter().peekable();
    for step in 0..simulation.n_steps {
        let mut shown = Shown::of(&state);
        let mut is_growing = false;
        while let Some(event) = events.next_if(|event| event.step.0 <= step) {
            state.apply(simulation, event);
            // Frees come first within a step: what they give back does not count on it any more.
            is_growing |= matches!(
                event.kind,
                EventKind::Alloc | EventKind::DeviceMalloc | EventKind::PageAlloc
            );
            let now = Shown::of(&state);
            shown = if is_growing { shown.max(now) } else { now };
        }
        curves.push(shown);
    }
    curves
}
