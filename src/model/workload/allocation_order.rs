//! Facts about a graph's arena that a placement problem lacks and the vendor's planner reads: the order of allocations
//! and frees within a step, buffers without reuse, and the blocks behind the arena.
//!
//! A list may leave buffers out or name them twice: the last mention counts, and buffers that are not named follow in
//! file order.

use crate::units::Bytes;

/// The order of allocations and frees of one graph's buffers. Positions are those of the problem's buffers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllocationOrder {
    /// In allocation order; only the order within a step counts, since steps come from the problem. Of one op: its
    /// outputs, then its workspaces.
    pub births: Vec<u32>,
    /// In the order of frees; only the order within a step counts. On one step: the op's inputs, each at its last read,
    /// then its unread outputs, then its workspaces.
    pub deaths: Vec<u32>,
    /// Buffers with a separate region at the end of the arena, which are cleared once at the start of the graph.
    pub separate: Vec<u32>,
    /// The stream of each buffer; empty where there is one stream. Streams share no memory.
    pub streams: Vec<u32>,
    /// Graph inputs and outputs, in the order in which their ops run. They are behind the arena and no buffers of the
    /// problem.
    pub io: Vec<IoBlock>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoBlock {
    /// Number of buffers of `births` before it.
    pub before: u32,
    /// Bytes that the engine requests.
    pub bytes: Bytes,
    pub is_input: bool,
}
