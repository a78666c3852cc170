//! The caching allocators of PyTorch (settings of 2.0 to 2.15, decisions of 2.9 to 2.15) and `torch_npu`: settings, decisions, memory history.
//!
//! `version` holds what differs between releases, `settings` reads the environment variable's text, `allocator` decides,
//! `device` is what it decides over. `trace` reads a list of commands, `replay` runs it, `answer` is what came out.

mod allocator;
mod answer;
mod block;
mod device;
mod event;
mod free_set;
mod pool;
mod private_pools;
pub mod recording;
mod replay;
mod settings;
mod stats;
mod streams;
mod trace;
mod trial;
mod version;
mod written_by;

pub use allocator::{Allocator, BlockState, Grant, InvalidState, OutOfMemory, SegmentState, StartRange, Use};
pub use answer::{Answer, Closing, Outcome};
pub use block::BlockId;
pub use device::{Call, Device, DeviceSpec, Order, SimulatedDevice};
pub use event::{Action, Event, Observer};
pub use private_pools::Filter;
pub use replay::{Player, Replay, Summary, summary};
pub use settings::{
    Effect, Field, Finding, INTERVALS, Kind, NpuSettings, OPTIONS, OptionRow, Scope, Settings, SettingsError, findings,
    in_force, is_allocator_variable,
};
pub use stats::{Stats, Watermark};
pub use trace::{Command, Trace, TraceError};
pub use trial::{TRIAL_REQUESTS, Trial, trial};
pub use version::{
    Blanks, COMMON_VARIABLE, Capture, Framework, ListRest, OpenPool, Overflow, Rules, Separators, ShortRange,
    SmallestSplit, Ties, VARIABLES, Variables, Version, WholeFraction,
};
pub use written_by::{FieldRow, Place, SNAPSHOT_FIELDS, WrittenBy, range_text};
