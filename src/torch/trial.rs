//! What settings do to a few requests on an empty device, to show their effect at once.

use crate::allocator::Allocator;
use crate::device::{DeviceSpec, Order, SimulatedDevice};
use crate::settings::Settings;

/// Requested bytes, one after another.
pub const TRIAL_REQUESTS: [u64; 8] = [
    1500,
    700_000,
    3_000_000,
    33_000_000,
    90_000_000,
    300_000_000,
    700_000_000,
    5_000_000_000,
];

/// The device of the trial.
const DEVICE: DeviceSpec = DeviceSpec {
    total: 80 << 30,
    other: 0,
    order: Order::Up,
};

/// What the requests got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// Bytes of the block of each of [`TRIAL_REQUESTS`]; none: it failed.
    pub blocks: [Option<u64>; TRIAL_REQUESTS.len()],
    /// Bytes reserved afterwards.
    pub reserved: u64,
}

/// Tries settings on an empty device of 80 GiB.
pub fn trial(settings: Settings) -> Trial {
    let mut allocator = Allocator::new(SimulatedDevice::new(DEVICE), (), settings);
    let blocks = TRIAL_REQUESTS.map(|size| allocator.alloc(size, 0).ok().flatten().map(|grant| grant.size));
    Trial {
        blocks,
        reserved: allocator.stats().reserved.current,
    }
}
