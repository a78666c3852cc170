//! A compiled graph as input of a memory planner: ops in execution order with the bytes that each requests.
//!
//! In: ops whose inputs name earlier ops. Out: the problem of the graph's arena with the order of allocations and
//! frees. An op allocates its outputs, then its workspaces, on its own step; an output is freed after its last reader,
//! and on one step in this order: the op's inputs, its unread outputs, its workspaces. An output gathered by the last
//! op is held to the end; outputs that are gathered once, and graph inputs, are behind the arena.

use super::allocation_order::{AllocationOrder, IoBlock};
use super::names::Names;
use super::problem::{Buffer, PlacementProblem};
use crate::units::{Bytes, Step};

/// The type of ops that represent graph inputs.
pub const DATA: &str = "Data";

/// The type of the last op, which gathers the graph's outputs.
pub const NET_OUTPUT: &str = "NetOutput";

/// Divisor of the offsets and the sizes in an arena.
const ARENA_ALIGNMENT: u64 = 512;

/// One output of an op of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedInput {
    /// Position of the producing op.
    pub op: u32,
    /// Index among its outputs.
    pub output: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedOp {
    pub name: String,
    /// Its type; [`DATA`] and [`NET_OUTPUT`] are special.
    pub kind: String,
    pub inputs: Vec<ListedInput>,
    /// Bytes that the engine requests; an output of 0 bytes gets no memory.
    pub outputs: Vec<Bytes>,
    /// Bytes of its scratch memory.
    pub workspaces: Vec<Bytes>,
    pub stream: u32,
}

/// Ops in execution order. Inputs name outputs of earlier ops; only the last op gathers outputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpList {
    pub ops: Vec<ListedOp>,
}

/// The place of an op's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListedPlace {
    /// A buffer of the arena's problem, by position.
    Buffer(u32),
    /// A block behind the arena, by position in [`AllocationOrder::io`].
    Io(u32),
    /// No bytes.
    Nowhere,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedPlaces {
    pub outputs: Vec<ListedPlace>,
    pub workspaces: Vec<ListedPlace>,
}

/// The arena of an op list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedArena {
    /// In allocation order.
    pub problem: PlacementProblem,
    /// Names: `op:output`, `op:ws0`.
    pub ids: Names,
    pub order: AllocationOrder,
    /// By op.
    pub places: Vec<ListedPlaces>,
}

/// Readers of an output.
#[derive(Clone, Copy, Debug, Default)]
struct Readers {
    /// Inputs of the last op that gather it.
    gathering: u32,
    /// The last op that reads it.
    last: u32,
}

impl OpList {
    /// The problem of the arena. Sizes are rounded up to 512. O(n log n).
    pub fn arena(&self) -> ListedArena {
        let readers = self.readers();
        let mut arena = ListedArena::default();
        for (step, op) in (0_u32..).zip(&self.ops) {
            let readers = &readers[step as usize];
            let outputs = op.outputs.iter().zip(readers);
            let outputs = (0_usize..).zip(outputs).map(|(number, (bytes, readers))| {
                let last = if readers.gathering > 0 {
                    u32::try_from(self.ops.len() - 1).unwrap_or(u32::MAX)
                } else {
                    readers.last.max(step)
                };
                let is_io = op.kind == DATA || readers.gathering == 1;
                if is_io {
                    return arena.take_io(op, *bytes);
                }
                arena.take(op, step, last, *bytes, &|| format!("{}:{number}", op.name))
            });
            let outputs = outputs.collect();
            let workspaces = op
                .workspaces
                .iter()
                .enumerate()
                .map(|(number, bytes)| arena.take(op, step, step, *bytes, &|| format!("{}:ws{number}", op.name)));
            let workspaces = workspaces.collect();
            arena.places.push(ListedPlaces { outputs, workspaces });
        }
        arena.order.births = (0..u32::try_from(arena.problem.buffers.len()).unwrap_or(u32::MAX)).collect();
        arena.order.deaths = self.deaths(&arena.places);
        if arena.order.streams.iter().all(|stream| *stream == 0) {
            arena.order.streams.clear();
        }
        arena
    }

    /// By op and output.
    fn readers(&self) -> Vec<Vec<Readers>> {
        let mut readers: Vec<Vec<Readers>> = self
            .ops
            .iter()
            .map(|op| vec![Readers::default(); op.outputs.len()])
            .collect();
        for (step, op) in (0_u32..).zip(&self.ops) {
            for input in &op.inputs {
                let of = readers.get_mut(input.op as usize);
                let Some(read) = of.and_then(|of| of.get_mut(input.output as usize)) else {
                    continue;
                };
                read.gathering += u32::from(op.kind == NET_OUTPUT);
                read.last = step;
            }
        }
        readers
    }

    /// Buffers in the order of their frees: an op frees the buffers that no later op names.
    fn deaths(&self, places: &[ListedPlaces]) -> Vec<u32> {
        let mut touched = Vec::new();
        for (op, own) in self.ops.iter().zip(places) {
            let read = op.inputs.iter().filter_map(|input| {
                let outputs = &places.get(input.op as usize)?.outputs;
                outputs.get(input.output as usize)
            });
            let all = read.chain(&own.outputs).chain(&own.workspaces);
            touched.extend(all.filter_map(|place| match place {
                ListedPlace::Buffer(buffer) => Some(*buffer),
                ListedPlace::Io(_) | ListedPlace::Nowhere => None,
            }));
        }
        touched
    }
}

impl ListedArena {
    /// Adds a graph input or output.
    fn take_io(&mut self, op: &ListedOp, bytes: Bytes) -> ListedPlace {
        if bytes == Bytes::ZERO {
            return ListedPlace::Nowhere;
        }
        self.order.io.push(IoBlock {
            before: position(self.problem.buffers.len()),
            bytes,
            is_input: op.kind == DATA,
        });
        ListedPlace::Io(position(self.order.io.len() - 1))
    }

    /// Adds an output or workspace of the arena.
    fn take(&mut self, op: &ListedOp, first: u32, last: u32, bytes: Bytes, id: &dyn Fn() -> String) -> ListedPlace {
        if bytes == Bytes::ZERO {
            return ListedPlace::Nowhere;
        }
        self.ids.push(&id());
        self.order.streams.push(op.stream);
        self.problem.buffers.push(Buffer {
            lower: Step(first),
            upper: Step(last.saturating_add(1)),
            size: bytes.align_up(ARENA_ALIGNMENT),
            alignment: ARENA_ALIGNMENT,
            offset: None,
        });
        ListedPlace::Buffer(position(self.problem.buffers.len() - 1))
    }
}

fn position(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}
