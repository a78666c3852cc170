//! Comparisons: recordings, passes and pins as lanes, parts of a session, device profiles.

mod alignment;
mod allocator_state;
mod curves;
mod device_figures;
mod forbidden;
mod kernels;
mod parts;
mod passes;
mod per_iteration;
mod pins;
pub(crate) mod settings;
mod verified;
