//! Live ranges of a trace's requests: from the command to the one that ends it.
//!
//! In: an [`AllocationTrace`]. Out: one [`TraceLifetime`] per request, in order; steps are positions of commands.
//! Contradictory commands (allocating a live block, freeing an unknown one) have no effect, as in the replay.
//! Independent of allocators; every request counts as met.

use std::collections::{BTreeMap, BTreeSet};

use super::trace::{AllocationTrace, TraceCommand, TraceName};
use crate::units::{Bytes, Step};

/// The kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TraceOwner {
    Block,
    Weights,
    /// Fixed feature memory of a graph.
    Fixed,
    /// A loaded static graph, without memory supplied by the caller.
    Graph,
}

impl TraceOwner {
    pub const fn command(self) -> &'static str {
        match self {
            Self::Block => "a",
            Self::Weights => "w",
            Self::Fixed => "fixed",
            Self::Graph => "load",
        }
    }
}

/// One request, held on steps `birth..end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceLifetime {
    pub owner: TraceOwner,
    pub name: TraceName,
    /// The requesting command.
    pub birth: Step,
    /// The command that ended it, or the number of commands.
    pub end: Step,
    /// Requested bytes.
    pub bytes: Bytes,
}

impl AllocationTrace {
    /// In the order of requests. O(commands log names).
    pub fn lifetimes(&self) -> Vec<TraceLifetime> {
        let mut open = Open::default();
        for (step, command) in self.commands.iter().enumerate() {
            open.step = Step(u32::try_from(step).unwrap_or(u32::MAX));
            open.follow(self, command);
        }
        let end = Step(u32::try_from(self.commands.len()).unwrap_or(u32::MAX));
        for (position, _) in open.live.into_values() {
            open.all[position].end = end;
        }
        open.all
    }

    /// The peak of live bytes if every request is met. Saturates.
    pub fn peak_live(&self) -> Bytes {
        let lifetimes = self.lifetimes();
        let mut change = vec![0_i128; self.commands.len() + 1];
        for one in &lifetimes {
            change[one.birth.idx()] += i128::from(one.bytes.get());
            change[one.end.idx()] -= i128::from(one.bytes.get());
        }
        let (mut live, mut peak) = (0_i128, 0_i128);
        for step in change {
            live += step;
            peak = peak.max(live);
        }
        Bytes(u64::try_from(peak).unwrap_or(u64::MAX))
    }

    /// A request in the file's words, for lists: the block's name, or the command with its name.
    pub fn label(&self, lifetime: &TraceLifetime) -> String {
        let name = self.name(lifetime.name);
        match lifetime.owner {
            TraceOwner::Block => name.to_owned(),
            owner => format!("{} {name}", owner.command()),
        }
    }

    /// Bytes of a load that the engine must allocate.
    pub fn load_bytes(&self, first: u32, count: u32) -> Bytes {
        let segments = self.load_segments(first, count).iter();
        segments.filter(|one| !one.by_caller).map(|one| one.bytes).sum()
    }
}

/// Live requests.
#[derive(Debug, Default)]
struct Open {
    all: Vec<TraceLifetime>,
    /// Position in `all`, and the pool of a block.
    live: BTreeMap<(TraceOwner, TraceName), (usize, u32)>,
    /// Live blocks of each pool.
    pools: BTreeMap<u32, BTreeSet<TraceName>>,
    step: Step,
    pool: u32,
}

impl Open {
    fn follow(&mut self, trace: &AllocationTrace, command: &TraceCommand) {
        match *command {
            TraceCommand::Use(pool) => self.pool = pool,
            TraceCommand::Allocate { id, bytes } => self.begin(TraceOwner::Block, id, bytes),
            TraceCommand::Weights { id, bytes } => self.begin(TraceOwner::Weights, id, bytes),
            TraceCommand::Fixed { graph, bytes } => self.begin(TraceOwner::Fixed, graph, bytes),
            TraceCommand::Load { graph, first, count } => {
                self.begin(TraceOwner::Graph, graph, trace.load_bytes(first, count));
            }
            TraceCommand::Free { id } => self.end(TraceOwner::Block, id),
            TraceCommand::FreeWeights { id } => self.end(TraceOwner::Weights, id),
            TraceCommand::Unfixed(graph) => self.end(TraceOwner::Fixed, graph),
            TraceCommand::Unload(graph) => self.end(TraceOwner::Graph, graph),
            TraceCommand::Destroy(pool) => self.destroy(pool),
            TraceCommand::Synchronize
            | TraceCommand::Recycle
            | TraceCommand::RecycleDevice
            | TraceCommand::EndIteration(_)
            | TraceCommand::Execute(_)
            | TraceCommand::Begin(_)
            | TraceCommand::Finish(_) => {}
        }
    }

    fn begin(&mut self, owner: TraceOwner, name: TraceName, bytes: Bytes) {
        if self.live.contains_key(&(owner, name)) {
            return;
        }
        self.live.insert((owner, name), (self.all.len(), self.pool));
        if owner == TraceOwner::Block {
            self.pools.entry(self.pool).or_default().insert(name);
        }
        self.all.push(TraceLifetime {
            owner,
            name,
            birth: self.step,
            end: self.step,
            bytes,
        });
    }

    fn end(&mut self, owner: TraceOwner, name: TraceName) {
        let Some((position, pool)) = self.live.remove(&(owner, name)) else {
            return;
        };
        self.all[position].end = self.step;
        if let Some(blocks) = self.pools.get_mut(&pool).filter(|_| owner == TraceOwner::Block) {
            blocks.remove(&name);
        }
    }

    fn destroy(&mut self, pool: u32) {
        for name in self.pools.remove(&pool).unwrap_or_default() {
            self.end(TraceOwner::Block, name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{ArenaSegment, Names};

    fn trace(commands: Vec<TraceCommand>) -> AllocationTrace {
        AllocationTrace {
            name: "trace".to_owned(),
            device_bytes: None,
            threshold_gib: None,
            can_reserve: true,
            lines: (0..u32::try_from(commands.len()).expect("few")).collect(),
            commands,
            segments: vec![
                ArenaSegment {
                    bytes: Bytes(7),
                    by_caller: false,
                    is_zero_copy: false,
                    has_gap: false,
                },
                ArenaSegment {
                    bytes: Bytes(5),
                    by_caller: true,
                    is_zero_copy: true,
                    has_gap: false,
                },
            ],
            names: ["x", "y"].into_iter().collect::<Names>(),
        }
    }

    fn allocate(id: u32, bytes: u64) -> TraceCommand {
        TraceCommand::Allocate {
            id: TraceName(id),
            bytes: Bytes(bytes),
        }
    }

    #[test]
    fn requests_live_from_their_command_to_the_one_that_ends_them() {
        let trace = trace(vec![
            allocate(0, 10),
            TraceCommand::Load {
                graph: TraceName(0),
                first: 0,
                count: 2,
            },
            TraceCommand::Free { id: TraceName(0) },
            TraceCommand::Free { id: TraceName(0) },
            allocate(0, 4),
            allocate(0, 100),
        ]);
        let found: Vec<(String, u32, u32, u64)> = trace
            .lifetimes()
            .iter()
            .map(|one| (trace.label(one), one.birth.0, one.end.0, one.bytes.get()))
            .collect();
        let expected = [("x", 0, 2, 10), ("load x", 1, 6, 7), ("x", 4, 6, 4)];
        assert_eq!(
            found,
            expected.map(|(name, birth, end, bytes)| (name.to_owned(), birth, end, bytes))
        );
        assert_eq!(trace.peak_live(), Bytes(17));
    }

    #[test]
    fn blocks_go_with_their_pool() {
        let trace = trace(vec![
            TraceCommand::Use(3),
            allocate(0, 10),
            TraceCommand::Use(0),
            allocate(1, 10),
            TraceCommand::Destroy(3),
            TraceCommand::Recycle,
        ]);
        let ends: Vec<u32> = trace.lifetimes().iter().map(|one| one.end.0).collect();
        assert_eq!(ends, [4, 6]);
    }

    #[test]
    fn absurd_sizes_saturate() {
        let trace = trace(vec![allocate(0, u64::MAX), allocate(1, u64::MAX)]);
        assert_eq!(trace.peak_live(), Bytes(u64::MAX));
    }
}
