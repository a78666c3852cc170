//! What other allocator settings would have done to a recorded run.
//!
//! ```text
//! recording  ->  history (one event per step, final segments)  ->  requests  ->  allocator  ->  recording
//! blocks, regions                                                  replayed under settings      simulated
//! ```
//!
//! In: a [`Recording`](highwater_model::workload::Recording) of PyTorch or `torch_npu`. Out: a recording of the same
//! steps, names and stacks, whose addresses and segments are those of the simulated allocator, so that every view of
//! recordings shows it.

mod history;
mod simulated;

pub use history::{History, NoHistory, missing_history};
pub use simulated::{SimulatedRun, simulated};
