//! Where an option acts: on which kinds of sources, on bytes or on times alone, with which other options.

/// Kinds of sources, by the options that change their lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionSubject {
    Graphs,
    /// Allocation traces.
    Traces,
    /// Logs of eager runs, which run under budgets.
    Tapes,
    /// Programs of blocks, whose variables share names.
    Programs,
}

use OptionSubject::{Graphs, Programs, Tapes, Traces};

/// Where an option acts that affects memory.
#[derive(Clone, Copy, Debug)]
pub struct Acts {
    pub on: &'static [OptionSubject],
    /// Whether it changes bytes, or the limit that they are compared with; otherwise estimated times or the drawing.
    pub changes_bytes: bool,
    /// The options of which one has to be set for it to act on graphs; empty where it acts alone.
    pub with: &'static [&'static str],
}

impl Acts {
    pub(super) const ON_GRAPHS: Self = Self {
        on: &[Graphs],
        changes_bytes: true,
        with: &[],
    };
    pub(super) const ON_GRAPHS_AND_TRACES: Self = Self {
        on: &[Graphs, Traces],
        ..Self::ON_GRAPHS
    };
    /// The memory of the device.
    pub(super) const ON_DEVICE: Self = Self {
        on: &[Graphs, Traces, Tapes],
        ..Self::ON_GRAPHS
    };
    pub(super) const ON_BUDGETS: Self = Self {
        on: &[Graphs, Tapes],
        ..Self::ON_GRAPHS
    };
    pub(super) const ON_NAMES: Self = Self {
        on: &[Graphs, Programs],
        ..Self::ON_GRAPHS
    };
    pub(super) const ON_TIMES: Self = Self {
        changes_bytes: false,
        ..Self::ON_GRAPHS_AND_TRACES
    };

    pub(super) const fn with(self, with: &'static [&'static str]) -> Self {
        Self { with, ..self }
    }
}
