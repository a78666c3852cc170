//! Workload + Plans -> Simulation: the event log of one session on one device under one policy.
//!
//! In: a [`DeviceSession`] (what has to be held, run by run) and [`Params`]. Out: a [`Simulation`], which
//! is an event log with the regions it speaks of, and nothing else: curves, peaks, fragmentation and costs
//! are pure folds over it ([`fold`]). [`verify`] checks any simulation by brute force. One policy is one
//! row of [`POLICIES`].

mod event;
pub mod fold;
mod params;
mod policies;
mod session;

pub use event::{
    Event, EventKind, OutOfMemory, Region, RegionId, RegionKind, Simulation, Subject, SubjectId, SubjectRow,
};
pub use params::{ArenaBehaviour, Params};
pub use policies::{ExtendFlags, POLICIES, PolicyRow, StaticMemoryPolicy};
pub use session::{BoundGraph, DeviceRun, DeviceSession, IoTensor, LoadedGraph, Variable};
