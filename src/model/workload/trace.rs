//! Allocation traces: requests to the device, command by command, without a graph.
//!
//! A trace is read from text (one command per line) and replayed under a policy. Ids, graphs and marker texts are
//! interned, so that a command stays small.

use super::names::Names;
use crate::typed_id;
use crate::units::{Bytes, Step};

typed_id!(
    /// The name of a block, a graph or a marker.
    TraceName
);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceCommand {
    /// Subsequent allocations are from this pool, which is created on first use.
    Use(u32),
    /// Allocate in the current pool.
    Allocate {
        id: TraceName,
        bytes: Bytes,
    },
    /// Free a block, in its pool.
    Free {
        id: TraceName,
    },
    /// Wait for the current pool's stream.
    Synchronize,
    Recycle,
    RecycleDevice,
    Destroy(u32),
    /// A marker.
    EndIteration(TraceName),
    /// Load a static graph; its segments are at these positions of [`AllocationTrace::segments`].
    Load {
        graph: TraceName,
        /// First segment.
        first: u32,
        /// Number of segments.
        count: u32,
    },
    /// Run a static graph once.
    Execute(TraceName),
    /// The first half of a run.
    Begin(TraceName),
    /// The second half of a run.
    Finish(TraceName),
    Unload(TraceName),
    Weights {
        id: TraceName,
        bytes: Bytes,
    },
    FreeWeights {
        id: TraceName,
    },
    /// A graph requests fixed feature memory.
    Fixed {
        graph: TraceName,
        bytes: Bytes,
    },
    /// A graph releases its fixed feature memory.
    Unfixed(TraceName),
}

impl TraceCommand {
    /// The command's word in a trace.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Use(_) => "use",
            Self::Allocate { .. } => "a",
            Self::Free { .. } => "f",
            Self::Synchronize => "sync",
            Self::Recycle => "recycle",
            Self::RecycleDevice => "recycle_l1",
            Self::Destroy(_) => "destroy",
            Self::EndIteration(_) => "end_iteration",
            Self::Load { .. } => "load",
            Self::Execute(_) => "exec",
            Self::Begin(_) => "begin",
            Self::Finish(_) => "finish",
            Self::Unload(_) => "unload",
            Self::Weights { .. } => "w",
            Self::FreeWeights { .. } => "wf",
            Self::Fixed { .. } => "fixed",
            Self::Unfixed(_) => "unfixed",
        }
    }
}

/// A piece of a static graph's feature memory, in logical order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArenaSegment {
    /// May be 0.
    pub bytes: Bytes,
    /// Whether the caller supplies the memory.
    pub by_caller: bool,
    /// Whether it is the zero-copy segment of inputs and outputs.
    pub is_zero_copy: bool,
    /// Whether logical addresses leave a gap of 2 MiB before it.
    pub has_gap: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllocationTrace {
    /// The name shown to users.
    pub name: String,
    /// Device memory, where the trace states it.
    pub device_bytes: Option<Bytes>,
    /// The threshold option of page pools, in GiB, where the trace states it.
    pub threshold_gib: Option<u64>,
    /// Whether the driver supports virtual ranges.
    pub can_reserve: bool,
    pub commands: Vec<TraceCommand>,
    /// The line of each command in its file, from 1.
    pub lines: Vec<u32>,
    /// Segments of all loads.
    pub segments: Vec<ArenaSegment>,
    /// Names by [`TraceName`].
    pub names: Names,
}

impl AllocationTrace {
    /// Empty where there is none.
    pub fn name(&self, name: TraceName) -> &str {
        self.names.get(name.0 as usize)
    }

    /// A command as in its line, without sizes: `a x`, `load A`, `use 3`, `sync`.
    pub fn command_text(&self, command: TraceCommand) -> String {
        let word = command.word();
        let name = match command {
            TraceCommand::Use(pool) | TraceCommand::Destroy(pool) => return format!("{word} {pool}"),
            TraceCommand::Synchronize | TraceCommand::Recycle | TraceCommand::RecycleDevice => return word.to_owned(),
            TraceCommand::Allocate { id: name, .. }
            | TraceCommand::Free { id: name }
            | TraceCommand::Weights { id: name, .. }
            | TraceCommand::FreeWeights { id: name }
            | TraceCommand::Load { graph: name, .. }
            | TraceCommand::Fixed { graph: name, .. }
            | TraceCommand::EndIteration(name)
            | TraceCommand::Execute(name)
            | TraceCommand::Begin(name)
            | TraceCommand::Finish(name)
            | TraceCommand::Unload(name)
            | TraceCommand::Unfixed(name) => name,
        };
        format!("{word} {}", self.name(name))
    }

    /// The command of a step with its line, such as `line 14: a x`; `the end` behind the last.
    pub fn step_text(&self, step: Step) -> String {
        let Some(command) = self.commands.get(step.idx()) else {
            return "the end".to_owned();
        };
        let line = self.lines.get(step.idx()).copied().unwrap_or(0);
        format!("line {line}: {}", self.command_text(*command))
    }

    /// The static graph that runs at a step: the one executed there, else the last one begun and not finished. O(commands).
    pub fn running_graph(&self, step: Step) -> Option<TraceName> {
        let mut running: Vec<TraceName> = Vec::new();
        for command in self.commands.iter().take(step.idx() + 1) {
            match *command {
                TraceCommand::Begin(graph) => running.push(graph),
                TraceCommand::Finish(graph) | TraceCommand::Unload(graph) => running.retain(|other| *other != graph),
                _ => {}
            }
        }
        match self.commands.get(step.idx()) {
            Some(TraceCommand::Execute(graph)) => Some(*graph),
            _ => running.last().copied(),
        }
    }

    /// Empty where there are none at those positions.
    pub fn load_segments(&self, first: u32, count: u32) -> &[ArenaSegment] {
        let first = first as usize;
        self.segments.get(first..first + count as usize).unwrap_or(&[])
    }
}
