//! What a placement problem alone does not say about a graph's arena, and the vendor's planner looks at: in which order
//! buffers of one step are taken and given back, who is kept apart, and the blocks behind the arena.
//!
//! A list may leave buffers out or name them twice: the last naming counts, and who is not named follows in file order.

use crate::units::Bytes;

/// The order in which one graph's buffers come and go. Positions are those of the problem's buffers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllocationOrder {
    /// In the order in which they are taken; only the order within a step counts, since steps come from the problem.
    /// Of one op: its outputs, then its workspaces.
    pub births: Vec<u32>,
    /// In the order in which they are given back; only the order within a step counts. On one step: the op's inputs,
    /// each where it is read last, then its outputs that nobody reads, then its workspaces.
    pub deaths: Vec<u32>,
    /// Buffers with a region of their own at the end of the arena: what is cleared at once at the start of the graph.
    pub kept_apart: Vec<u32>,
    /// The stream of each buffer; empty where there is one stream. Streams share no memory.
    pub streams: Vec<u32>,
    /// Graph inputs and outputs, in the order in which their ops run. They stand behind the arena and are none of the
    /// problem's buffers.
    pub io: Vec<IoBlock>,
}

/// A graph input or output behind the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoBlock {
    /// How many buffers of `births` come before it.
    pub before: u32,
    /// Its bytes as the engine asks for them.
    pub bytes: Bytes,
    /// Whether it is an input.
    pub is_input: bool,
}
