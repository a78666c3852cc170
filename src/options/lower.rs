//! Options become engine parameters: the only place that knows both.
//!
//! In: options, environment, a device. Out: [`Lowered`]. Values that are invalid act as their defaults,
//! or clamped where the vendor clamps, so lowering never fails; [`super::check`] reports them.

use crate::sim::{Params, StaticMemoryPolicy};
use crate::units::Bytes;
use crate::workload::{Device, DeviceError, DeviceProfiles};

use super::environment::Environment;
use super::policy::{clears_separately, effective_policy};
use super::rows::keys;
use super::store::Options;
use super::value::Value;

/// What the engine is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lowered {
    /// Sizes and costs of the simulation.
    pub params: Params,
    /// The policy in force.
    pub policy: StaticMemoryPolicy,
    /// Whether each op clears its own outputs, so that these live and share memory as any other.
    /// Otherwise outputs that are cleared together stay apart for the whole graph.
    pub atomic_clean_separate: bool,
}

/// The engine's parameters under these settings on this device. `simulation.device_memory` replaces the
/// device's own size.
pub fn lower(options: &Options, environment: &Environment, device: &Device) -> Lowered {
    let mut params = Params::for_device(device);
    if let Some(bytes) = device_memory(options) {
        params.device_bytes = bytes;
    }
    params.feature_copies = options
        .acting(keys::GRAPH_MAX_PARALLEL_MODEL_NUM)
        .as_int()
        .and_then(|copies| u32::try_from(copies).ok())
        .map_or(1, |copies| copies.max(1));
    params.share_weights = options.acting(keys::EXTERNAL_WEIGHT) == Value::Bool(true);
    params.variables_on_host = options.acting(keys::VARIABLE_PLACEMENT).as_text() == Some("Host");
    Lowered {
        params,
        policy: effective_policy(options, environment),
        atomic_clean_separate: clears_separately(options),
    }
}

/// The device that the options name, with its memory replaced by `simulation.device_memory` where that is
/// set.
///
/// # Errors
/// [`DeviceError::UnknownProfile`] where `simulation.device` names no profile.
pub fn resolve_device(options: &Options) -> Result<Device, DeviceError> {
    let name = options.effective(keys::DEVICE).to_string();
    let mut device = DeviceProfiles::bundled()?.find(&name)?;
    if let Some(bytes) = device_memory(options) {
        device.memory_bytes = bytes.get();
    }
    Ok(device)
}

fn device_memory(options: &Options) -> Option<Bytes> {
    let bytes = options.acting(keys::DEVICE_MEMORY).as_int()?;
    u64::try_from(bytes).ok().map(Bytes)
}
