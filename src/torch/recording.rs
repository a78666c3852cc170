//! From a recorded memory history to requests that can be replayed: under its own settings, to prove the rules, or
//! under others, to see what they would do.
//!
//! `start` walks back from the final state to the state before the first event (`pages`: what is mapped), `inputs` finds what the program asked
//! for, `check` replays it and compares every event, `what_if` replays it under other settings.

mod check;
mod device;
mod inputs;
mod pages;
mod play;
mod start;
mod stop;
mod what_if;

pub use check::{Check, Difference, check, check_all_orders, newest_by_order};
pub use inputs::{Input, Release};
pub use start::{Live, Start};
pub use stop::{Stop, Stopped};
pub use what_if::{WhatIf, what_if};

use std::collections::BTreeSet;

use crate::allocator::{InvalidState, SegmentState};
use crate::event::{Action, Event};
use crate::settings::Settings;

/// A memory history of one device with the state after its last event.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// In order; entries of other kinds (`snapshot`, annotations) left out.
    pub events: Vec<Event>,
    /// The final segments.
    pub segments: Vec<SegmentState>,
}

impl Recording {
    /// Numbers of its private pools, ascending. Each counts as used until a release of its memory is recorded.
    fn private_pools(&self) -> BTreeSet<u64> {
        let of_events = self.events.iter().filter_map(|event| event.pool);
        let of_segments = self.segments.iter().filter_map(|segment| segment.pool);
        of_events.chain(of_segments).collect()
    }

    /// Whether it says when frees were requested; some tools write completions alone. One completion alone may be the
    /// end of a block whose request came before the first event.
    fn tells_requests(&self) -> bool {
        let count = |action| self.events.iter().filter(|event| event.action == action).count();
        count(Action::FreeRequested) > 0 || count(Action::FreeCompleted) < 2
    }
}

/// A history that no allocator writes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Inconsistent {
    /// An event contradicts what came after it.
    #[error("event {index} ({action} at {addr:#x}) contradicts the events after it and the final state: {what}")]
    Event {
        /// Position in the history.
        index: usize,
        /// Name of its action.
        action: &'static str,
        /// Its address.
        addr: u64,
        /// What does not fit.
        what: &'static str,
    },
    /// A block of the start state has no room.
    #[error("the block at {addr:#x} of the state before the first event does not fit into its segment")]
    Block {
        /// Its address.
        addr: u64,
    },
    /// An address or a size that no device has.
    #[error("the {size} bytes at {addr:#x} end beyond all device addresses")]
    Address {
        /// The address.
        addr: u64,
        /// Bytes.
        size: u64,
    },
    /// The start state is none.
    #[error("the state before the first event is not possible: {0}")]
    State(#[from] InvalidState),
    /// The work was cancelled; the recording may be valid.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

impl Inconsistent {
    fn event(index: usize, event: &Event, what: &'static str) -> Self {
        Self::Event {
            index,
            action: event.action.name(),
            addr: event.addr,
            what,
        }
    }
}

/// A history, its state before the first event and what the program asked for.
#[derive(Clone, Debug)]
pub struct Replayable<'r> {
    recording: &'r Recording,
    start: Start,
    inputs: inputs::Inputs,
    private_pools: BTreeSet<u64>,
    refused: BTreeSet<u32>,
    stop: Stop<'r>,
}

impl<'r> Replayable<'r> {
    /// Reconstructs start state and requests. The settings are those of the recording; `total` bytes is the device,
    /// as far as known, which says how long reserved address ranges are and which releases were retries. `stop` cancels this and all replays.
    ///
    /// # Errors
    /// The first contradiction, or [`Stopped`].
    pub fn new(
        recording: &'r Recording,
        settings: &Settings,
        total: Option<u64>,
        stop: Stop<'r>,
    ) -> Result<Self, Inconsistent> {
        let start = Start::of(recording, settings, total, stop)?;
        let inputs = inputs::of(recording, &start, total, stop)?;
        Ok(Self {
            recording,
            start,
            inputs,
            private_pools: recording.private_pools(),
            refused: BTreeSet::new(),
            stop,
        })
    }

    /// Requests that failed in the recording and fail in [`what_if`] too, whatever the device has: positions in the history.
    #[must_use]
    pub fn refusing(mut self, positions: impl IntoIterator<Item = u32>) -> Self {
        self.refused.extend(positions);
        self
    }

    /// The state before the first event.
    pub fn start(&self) -> &Start {
        &self.start
    }

    /// What the program asked for, in order.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs.inputs
    }

    /// By input: the position in the history of its first event.
    pub fn positions(&self) -> &[u32] {
        &self.inputs.positions
    }

    /// Bytes reserved before the first event, and the most while it was recorded. If the recording starts by emptying
    /// the cache, what was cached before does not count, as it does not in [`what_if`].
    pub fn recorded_reserved(&self) -> (u64, u64) {
        let first = self.start.reserved();
        let mut now = first;
        let mut peak = 0;
        let is_release = |action| matches!(action, Action::SegmentFree | Action::SegmentUnmap);
        let mut is_leading = true;
        for event in &self.recording.events {
            is_leading &= is_release(event.action);
            if !is_leading {
                peak = peak.max(now);
            }
            now = now.saturating_add_signed(event.reserved_change());
        }
        (first, peak.max(now))
    }
}
