//! A replay under other settings on a simulated device.

use super::play::Playback;
use super::{Input, Replayable, Stopped};
use crate::allocator::Allocator;
use crate::device::{DeviceSpec, SimulatedDevice};
use crate::event::Observer;
use crate::settings::Settings;
use crate::stats::Stats;
use crate::version::Rules;

/// What the settings would have done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WhatIf {
    /// Counters with their peaks.
    pub stats: Stats,
    /// Calls that reached the device.
    pub device_calls: u64,
    /// Requests that failed, those of the recording included.
    pub failed: usize,
    /// Of them those that fail by [`Replayable::refusing`].
    pub refused: usize,
}

impl WhatIf {
    /// Requests that failed although they might have been served.
    pub fn lost(&self) -> usize {
        self.failed.saturating_sub(self.refused)
    }
}

/// Replays what the program asked for. Live blocks of the start are allocated first, by address; caches that the
/// program emptied are emptied, those that a full device emptied are not.
///
/// # Errors
/// [`Stopped`].
pub fn what_if<O: Observer>(
    replayable: &Replayable<'_>,
    (settings, rules): (Settings, Rules),
    device: DeviceSpec,
    observer: O,
) -> Result<(WhatIf, O), Stopped> {
    let mut allocator = Allocator::with_rules(SimulatedDevice::new(device), observer, settings, rules);
    for pool in &replayable.private_pools {
        allocator.use_pool(*pool);
    }
    let start = &replayable.start;
    allocator.observer_mut().input(None);
    let mut playback = Playback {
        allocator,
        blocks: Vec::with_capacity(start.live.len() + replayable.inputs().len() / 2),
        failed: 0,
    };
    for (id, live) in (0_u32..).zip(&start.live) {
        playback.allocate(id, live.requested, live.stream, live.pool);
    }
    for (live, block) in start.live.iter().zip(&playback.blocks) {
        if live.state == crate::allocator::Use::Pending {
            block.map(|block| playback.allocator.free_later(block));
        }
    }
    let mut refused = 0;
    let inputs = replayable.inputs().iter().zip(replayable.positions());
    for (number, (input, position)) in inputs.enumerate() {
        replayable.stop.look(number)?;
        playback.allocator.observer_mut().input(Some(*position));
        if matches!(input, Input::Empty(release) if release.is_full) {
            continue;
        }
        let is_refused = matches!(input, Input::Failed { .. }) && replayable.refused.contains(position);
        playback.allocator.device_mut().is_full = is_refused;
        // What the program did not get then, whoever gets it now gives back at once.
        let got = playback.play(input);
        if is_refused {
            refused += 1;
            // Cached memory that serves it counts as refused, too.
            playback.failed += usize::from(got.is_some());
        }
        got.map(|grant| playback.allocator.free(grant.block));
    }
    let Playback { allocator, failed, .. } = playback;
    let summary = WhatIf {
        stats: *allocator.stats(),
        device_calls: allocator.device().count(),
        failed,
        refused,
    };
    Ok((summary, allocator.into_observer()))
}
