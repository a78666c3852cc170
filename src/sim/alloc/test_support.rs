//! Shared by unit tests of allocators: a device, plain segments, the names of calls.

use super::{ArenaSegment, Call, DriverRules, SimulatedDevice};
use highwater_model::units::Bytes;

pub(super) fn device(capacity: Bytes) -> SimulatedDevice {
    SimulatedDevice::new(DriverRules {
        capacity,
        can_reserve: true,
        has_notes: false,
    })
}

/// Adjacent segments of these sizes in MiB.
pub(super) fn plain(mib: &[u64]) -> Vec<ArenaSegment> {
    let segment = |mib: &u64| ArenaSegment {
        bytes: Bytes::mib(*mib),
        by_caller: false,
        is_zero_copy: false,
        has_gap: false,
    };
    mib.iter().map(segment).collect()
}

/// Names of the calls since the last clear.
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
