//! Workload + Plans -> Simulation: the event log of one session on one device under one policy.
//!
//! In: a [`DeviceSession`] (requirements, run by run) and [`Params`]. Out: a [`Simulation`]: an event log with its
//! regions; curves, peaks, fragmentation and costs are pure folds over it ([`fold`]). [`verify`] checks any simulation
//! by brute force. One policy is one row of [`POLICIES`].
//!
//! ```
//! use highwater_model::progress::{Cancel, Progress};
//! use highwater_sim::{DeviceSession, POLICIES, Params, fold, simulate, verify};
//! use highwater_model::workload::DeviceProfiles;
//!
//! let profiles = DeviceProfiles::bundled().expect("bundled profiles");
//! let device = profiles.find(DeviceProfiles::DEFAULT).expect("the default profile");
//! let (session, params, cancel) = (DeviceSession::default(), Params::for_device(&device), Cancel::new());
//! for row in POLICIES {
//!     let simulation = simulate(&session, row.policy, &params, &Progress::silent(&cancel)).expect("not cancelled");
//!     assert_eq!(verify(&simulation, &session), Ok(()));
//!     assert!(fold::curves(&simulation).reserved.is_empty());
//! }
//! ```

pub mod alloc;
mod buckets;
mod device;
mod event;
mod event_log;
pub mod fold;
mod params;
mod picture;
mod placement;
mod policies;
mod recorded_log;
mod recorder;
pub mod replay;
mod residents;
mod session;
mod simulate;
mod simulate_trace;
mod trace_session;
mod verify;
pub mod what_if;

pub use event::{
    Event, EventKind, MemoryChange, MemoryUnit, OutOfMemory, PoolRow, Region, RegionAddress, RegionId, RegionKind,
    Simulation, SpanCounts, Subject, SubjectId, SubjectRow,
};
pub use event_log::{EventLog, Events, Subjects};
pub use params::{ArenaBehaviour, Params, VariablePages};
pub use picture::{DevicePicture, PagesPicture, PoolPicture, RegionPicture, picture, picture_after};
pub use policies::{POLICIES, PolicyRow, StaticMemoryPolicy};
pub use recorded_log::{EventSteps, RecordedLog, recorded_log};
pub use session::{
    BoundGraph, Clear, DeviceRun, DeviceSession, IoTensor, LoadedGraph, RecordedRanges, Segment, Variable,
};
pub use simulate::simulate;
pub use simulate_trace::{MAX_TRACE_EVENTS, Refusals, TraceStop, simulate_trace};
pub use trace_session::{TraceRequest, TraceSession};
pub use verify::{SimulationDefect, verify, verify_log, verify_recorded_log};
