//! `AllocationTrace` + policy -> the effect of every command: the engine's allocators, call for call.
//!
//! ```text
//! command --> dynamic pools | static graphs | fixed memory | weights --> one simulated device
//!         <-- address, driver calls, bytes in use, figures of pools and of the arena
//! ```
//!
//! In: a trace and [`ReplayRules`]. Out: an [`Answer`] per command ([`Replay::step`]) with a [`Finish`] at the end, or
//! only figures ([`Replay::run`]). A failed request is an answer. Contradictory commands (allocating a live block,
//! freeing an unknown one, running a graph that is not loaded) have no effect and are answered as [`Outcome::Skipped`].

mod answer;
mod state;

pub use answer::{Answer, Finish, Outcome, ReplaySummary, RunStatus};

use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::Bytes;
use highwater_model::workload::{AllocationTrace, TraceCommand};

use super::alloc::{Call, PagePoolRules, StaticMemory};
use super::{ArenaBehaviour, StaticMemoryPolicy};
use state::State;

/// For traces that state no device.
pub const DEFAULT_DEVICE: Bytes = Bytes::gib(32);

/// The largest device that can be replayed: every page ever used has a record.
pub const LARGEST_DEVICE: Bytes = Bytes::gib(4096);

/// Commands between two checks of the cancel flag.
const COMMANDS_BETWEEN_CHECKS: usize = 1 << 12;

/// The allocators of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayRules {
    pub policy: StaticMemoryPolicy,
    /// Whether dynamic requests go to the legacy bins instead of the policy's pools.
    pub is_legacy: bool,
    /// Whether policy 2 has one arena as documented by the vendor, instead of the engine's list of blocks.
    pub is_documented: bool,
    pub device_bytes: Bytes,
    /// Bytes above which a request to the pools fails.
    pub threshold: Bytes,
    /// Whether the driver supports virtual ranges.
    pub can_reserve: bool,
}

impl ReplayRules {
    /// `device_bytes` overrides the trace's device.
    pub fn new(trace: &AllocationTrace, policy: StaticMemoryPolicy, device_bytes: Option<Bytes>) -> Self {
        let device_bytes = device_bytes.or(trace.device_bytes).unwrap_or(DEFAULT_DEVICE);
        let device_bytes = device_bytes.min(LARGEST_DEVICE);
        let own = trace.threshold_gib.map(|gib| Bytes(gib.saturating_mul(1 << 30)));
        Self {
            policy,
            is_legacy: false,
            is_documented: false,
            device_bytes,
            threshold: PagePoolRules::of_device(device_bytes, own, false).threshold,
            can_reserve: trace.can_reserve,
        }
    }

    /// Behaviour of policy 2's shared arena; `None` under other policies.
    pub fn arena_behaviour(&self) -> Option<ArenaBehaviour> {
        let row = self.policy.row();
        (row.shares_static_arena && !row.expands_pools && !self.is_legacy).then_some(if self.is_documented {
            ArenaBehaviour::Documented
        } else {
            ArenaBehaviour::Engine
        })
    }

    /// The name of the dynamic allocator.
    pub fn allocator(&self) -> &'static str {
        match (self.is_legacy, self.policy.row().expands_pools) {
            (true, _) => "legacy",
            (false, true) => "expandable_pools",
            (false, false) => "page_pools",
        }
    }
}

/// A trace being replayed.
#[derive(Debug)]
pub struct Replay<'t> {
    trace: &'t AllocationTrace,
    rules: ReplayRules,
    next: usize,
    answered: u32,
    failed: u64,
    first_failure: Option<u32>,
    state: State,
}

/// An executed command with its effects.
#[derive(Clone, Copy, Debug)]
pub(super) struct Advanced<'a> {
    pub(super) command: TraceCommand,
    pub(super) outcome: &'a Outcome,
    /// The driver's calls.
    pub(super) calls: &'a [Call],
    /// The memory of static graphs after it.
    pub(super) statics: &'a dyn StaticMemory,
}

impl<'t> Replay<'t> {
    pub fn new(trace: &'t AllocationTrace, rules: ReplayRules) -> Self {
        Self::with(trace, rules, false)
    }

    /// With the pools' notes among the calls, for the event log.
    pub(super) fn with_notes(trace: &'t AllocationTrace, rules: ReplayRules) -> Self {
        Self::with(trace, rules, true)
    }

    fn with(trace: &'t AllocationTrace, rules: ReplayRules, has_notes: bool) -> Self {
        Self {
            trace,
            rules,
            next: 0,
            answered: 0,
            failed: 0,
            first_failure: None,
            state: State::new(trace.names.len(), &rules, has_notes),
        }
    }

    pub fn rules(&self) -> &ReplayRules {
        &self.rules
    }

    /// Executes the next command and answers it with all figures; `None` at the end.
    pub fn step(&mut self) -> Option<Answer<'_>> {
        let (index, command) = self.execute_next()?;
        Some(self.state.answer(index, command))
    }

    /// Executes the next command; `None` at the end.
    pub(super) fn advance(&mut self) -> Option<Advanced<'_>> {
        let (_, command) = self.execute_next()?;
        Some(Advanced {
            command,
            outcome: self.state.outcome(),
            calls: self.state.device().driver.calls(),
            statics: self.state.statics(),
        })
    }

    /// Executes all remaining commands, without answers.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn run(&mut self, progress: &Progress<'_>) -> Result<ReplaySummary, Cancelled> {
        let total = self.trace.commands.len() as u64;
        loop {
            progress.set("replaying", self.next as u64, total)?;
            for _ in 0..COMMANDS_BETWEEN_CHECKS {
                if self.execute_next().is_none() {
                    return Ok(self.summary());
                }
            }
        }
    }

    /// Counts so far.
    pub fn summary(&self) -> ReplaySummary {
        ReplaySummary {
            commands: self.answered,
            failed: self.failed,
            first_failure: self.first_failure,
            peak_reserved: self.state.device().driver.peak(),
            reserved: self.state.device().driver.in_use(),
            peak_live: self.state.peak_live(),
            calls: *self.state.device().driver.counts(),
        }
    }

    /// Figures of all pools and of the driver.
    pub fn finish(&self) -> Finish {
        self.state.finish()
    }

    /// Executes the next command of this allocator; returns its index among those, and the command.
    fn execute_next(&mut self) -> Option<(u32, TraceCommand)> {
        loop {
            let position = self.next;
            let command = *self.trace.commands.get(position)?;
            self.next += 1;
            if self.rules.is_legacy && is_of_pools(&command) {
                continue;
            }
            let index = self.answered;
            self.answered += 1;
            self.state.execute(self.trace, command);
            if self.state.outcome().is_failure() {
                self.failed += 1;
                self.first_failure
                    .get_or_insert(u32::try_from(position).unwrap_or(u32::MAX));
            }
            return Some((index, command));
        }
    }
}

/// Commands without effect in the legacy allocator, which has no pools.
fn is_of_pools(command: &TraceCommand) -> bool {
    matches!(
        command,
        TraceCommand::Use(_) | TraceCommand::Destroy(_) | TraceCommand::Synchronize | TraceCommand::RecycleDevice
    )
}
