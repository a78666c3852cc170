//! Bytes by step.
//!
//! In: a log. Out: [`Curves`]; the value of a step is the largest at any moment of the step, so that no peak between
//! two events is lost. One pass.

use super::moment::grows;
use super::parts::State;
use super::step_bytes::{StepBytes, StepBytesBuilder};
use crate::event::Simulation;
use highwater_model::units::Bytes;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Curves {
    /// Device bytes in use: mallocs and physical pages.
    pub reserved: StepBytes,
    /// Part of `reserved` that serves feature memory (arenas and pools).
    pub features: StepBytes,
    /// Exact bytes of live tensors (feature memory).
    pub live: StepBytes,
    /// Live bytes after the allocator's rounding.
    pub rounded: StepBytes,
    /// Part of `reserved` in physical pages.
    pub physical: StepBytes,
    /// Address space of virtual ranges, which is no memory.
    pub virtual_space: StepBytes,
}

/// Values of one step.
#[derive(Clone, Copy)]
struct StepValues {
    reserved: Bytes,
    features: Bytes,
    live: Bytes,
    rounded: Bytes,
    physical: Bytes,
    virtual_space: Bytes,
}

impl StepValues {
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

/// Curves under construction.
struct CurvesBuilder {
    reserved: StepBytesBuilder,
    /// `None` while equal to `reserved`.
    features: Option<StepBytesBuilder>,
    live: StepBytesBuilder,
    /// `None` while equal to `live`.
    rounded: Option<StepBytesBuilder>,
    physical: StepBytesBuilder,
    virtual_space: StepBytesBuilder,
}

impl CurvesBuilder {
    fn new(n_steps: usize) -> Self {
        let none = || StepBytesBuilder::new(n_steps);
        Self {
            reserved: none(),
            features: None,
            live: none(),
            rounded: None,
            physical: none(),
            virtual_space: none(),
        }
    }

    fn push(&mut self, values: StepValues) {
        push_if_different(&mut self.features, &self.reserved, values.features, values.reserved);
        push_if_different(&mut self.rounded, &self.live, values.rounded, values.live);
        self.reserved.push(values.reserved);
        self.live.push(values.live);
        self.physical.push(values.physical);
        self.virtual_space.push(values.virtual_space);
    }

    fn finish(self) -> Curves {
        let (reserved, live) = (self.reserved.finish(), self.live.finish());
        let or_shared = |own: Option<StepBytesBuilder>, other: &StepBytes| match own {
            Some(own) => own.finish(),
            None => other.clone(),
        };
        Curves {
            features: or_shared(self.features, &reserved),
            rounded: or_shared(self.rounded, &live),
            reserved,
            live,
            physical: self.physical.finish(),
            virtual_space: self.virtual_space.finish(),
        }
    }
}

/// Adds a value to a curve that shares the values of another one until they differ.
fn push_if_different(own: &mut Option<StepBytesBuilder>, other: &StepBytesBuilder, value: Bytes, others: Bytes) {
    if own.is_none() && value == others {
        return;
    }
    own.get_or_insert_with(|| other.clone()).push(value);
}

/// O(events + steps).
pub fn curves(simulation: &Simulation) -> Curves {
    folded(simulation, |values| values)
}

/// As [`curves`], with the live bytes also as the rounded ones, so that both share their memory.
pub fn curves_without_rounding(simulation: &Simulation) -> Curves {
    folded(simulation, |values| StepValues {
        rounded: values.live,
        ..values
    })
}

fn folded(simulation: &Simulation, shown: impl Fn(StepValues) -> StepValues) -> Curves {
    let mut curves = CurvesBuilder::new(simulation.n_steps as usize);
    let mut state = State::default();
    let mut events = simulation.events.iter().peekable();
    for step in 0..simulation.n_steps {
        let mut values = StepValues::of(&state);
        let mut is_growing = false;
        while let Some(event) = events.next_if(|event| event.step.0 <= step) {
            state.apply(simulation, &event);
            // Frees at the beginning of a step do not count on it.
            is_growing |= grows(&event);
            let now = StepValues::of(&state);
            values = if is_growing { values.max(now) } else { now };
        }
        curves.push(shown(values));
    }
    curves.finish()
}
