//! What unit tests of allocators share: a device, plain segments, the names of calls.

use super::{ArenaSegment, Call, DriverRules, SimulatedDevice};
use highwater_model::units::Bytes;

/// A device that can reserve ranges.
pub(super) fn device(capacity: Bytes) -> SimulatedDevice {
    SimulatedDevice::new(DriverRules {
        capacity,
        can_reserve: true,
        has_notes: false,
    })
}

/// Segments of so many MiB, one behind the other.
pub(super) fn plain(mib: &[u64]) -> Vec<ArenaSegment> {
    let segment = |mib: &u64| ArenaSegment {
        bytes: Bytes::mib(*mib),
        by_caller: false,
        is_zero_copy: false,
        has_gap: false,
    };
    mib.iter().map(segment).collect()
}

/// The calls since they were cleared last, by name.
pub(super) fn calls(device: &SimulatedDevice) -> Vec<&'static str> {
    let name = |call: &Call| match call {
        Call::Malloc { .. } => "malloc",
        Call::MallocFailed { .. } => "malloc_fail",
        Call::Free { .. } => "free",
        Call::Reserve { .. } => "reserve",
        Call::Release { .. } => "release",
        Call::PageAlloc { .. } => "palloc",
        Call::PageFree { .. } => "pfree",
        Call::Map { .. } => "map",
        Call::Unmap { .. } => "unmap",
        Call::Memset { .. } => "memset",
        _ => "other",
    };
    device.driver.calls().iter().map(name).collect()
}
