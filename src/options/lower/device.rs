//! The device of some options: a profile, and the parameters that options replace.

use super::super::rows::keys;
use super::super::store::Options;
use highwater_model::workload::{Device, DeviceError, DeviceFigure, DeviceProfiles};

/// The option of each parameter.
static FIGURE_OPTIONS: [(DeviceFigure, &str); DeviceFigure::ALL.len()] = [
    (DeviceFigure::MemoryBytes, keys::DEVICE_MEMORY),
    (DeviceFigure::MallocNs, keys::MALLOC_NS),
    (DeviceFigure::FreeNs, keys::FREE_NS),
    (DeviceFigure::MapNs, keys::MAP_NS),
    (DeviceFigure::UnmapNs, keys::UNMAP_NS),
    (DeviceFigure::ReserveNs, keys::RESERVE_NS),
    (DeviceFigure::SyncNs, keys::SYNC_NS),
    (DeviceFigure::LaunchNs, keys::LAUNCH_NS),
    (DeviceFigure::FlopsPerSecond, keys::FLOPS_PER_SECOND),
    (DeviceFigure::MemoryBytesPerSecond, keys::OP_BYTES_PER_SECOND),
    (DeviceFigure::ClearBytesPerSecond, keys::MEMSET_BYTES_PER_SECOND),
    (DeviceFigure::HostBytesPerSecond, keys::RELOAD_BYTES_PER_SECOND),
];

///
/// # Panics
/// Never: a test covers all parameters.
pub fn figure_option(figure: DeviceFigure) -> &'static str {
    let found = FIGURE_OPTIONS.iter().find(|(known, _)| *known == figure);
    found.map(|(_, key)| *key).expect("every figure has an option")
}

/// The profile that the options name, with the parameters that they replace.
///
/// # Errors
/// [`DeviceError::UnknownProfile`] where `simulation.device` names no profile.
pub fn resolve_device(options: &Options) -> Result<Device, DeviceError> {
    let name = options.written(keys::DEVICE).to_string();
    let mut device = DeviceProfiles::bundled()?.find(&name)?;
    for (figure, key) in FIGURE_OPTIONS {
        if let Some(value) = options.number(key) {
            device.set(figure, value);
        }
    }
    Ok(device)
}

pub fn sets_a_figure(key: &str) -> bool {
    FIGURE_OPTIONS.iter().any(|(_, option)| *option == key)
}
