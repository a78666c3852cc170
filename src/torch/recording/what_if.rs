//! A replay under other settings on a simulated device.

use super::{Input, Replayable, Stopped};
use crate::allocator::Allocator;
use crate::block::BlockId;
use crate::device::{DeviceSpec, SimulatedDevice};
use crate::event::Observer;
use crate::settings::Settings;
use crate::stats::Stats;
use crate::version::Rules;

/// What the settings would have done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WhatIf {
    /// Counters with their peaks.
    pub stats: Stats,
    /// Calls that reached the device.
    pub device_calls: u64,
    /// Requests that failed, those of the recording included.
    pub failed: usize,
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
    let mut blocks: Vec<Option<BlockId>> = Vec::with_capacity(start.live.len() + replayable.inputs().len() / 2);
    let mut failed = 0;
    let mut ask = |allocator: &mut Allocator<SimulatedDevice, O>, requested, stream, pool| {
        let granted = allocator.alloc_in(requested, stream, pool);
        failed += usize::from(granted.is_err());
        granted.ok().flatten()
    };
    allocator.observer_mut().input(None);
    for (id, live) in (0_u32..).zip(&start.live) {
        let grant = ask(&mut allocator, live.requested, live.stream, live.pool);
        blocks.push(grant.map(|grant| grant.block));
        if let Some(grant) = grant {
            allocator.observer_mut().granted(id, &grant);
        }
    }
    for (live, block) in start.live.iter().zip(&blocks) {
        if live.state == crate::allocator::Use::Pending {
            block.map(|block| allocator.free_later(block));
        }
    }
    let inputs = replayable.inputs().iter().zip(replayable.positions());
    for (number, (input, position)) in inputs.enumerate() {
        replayable.stop.look(number)?;
        allocator.observer_mut().input(Some(*position));
        let block = |id: u32| blocks.get(id as usize).copied().flatten();
        match *input {
            Input::Alloc {
                requested,
                stream,
                pool,
                id,
            } => {
                let grant = ask(&mut allocator, requested, stream, pool);
                blocks.push(grant.map(|grant| grant.block));
                if let Some(grant) = grant {
                    allocator.observer_mut().granted(id, &grant);
                }
            }
            Input::Free(id) => {
                block(id).map(|block| allocator.free(block));
            }
            Input::FreeLater(id) => {
                block(id).map(|block| allocator.free_later(block));
            }
            Input::Complete(id) => {
                block(id).map(|block| allocator.complete(block));
            }
            Input::Used(pool) => allocator.use_pool(pool),
            Input::Unused(pool) => allocator.release_pool_use(pool),
            Input::Empty(release) if release.is_full => {}
            Input::Empty(_) => allocator.empty_cache(),
            Input::Failed { size, stream, pool, .. } => {
                // The program did not get it then; whoever gets it now gives it back at once.
                let requested = size.saturating_sub(allocator.rules().spare_bytes);
                let got = ask(&mut allocator, requested, stream, pool);
                got.map(|grant| allocator.free(grant.block));
            }
        }
    }
    let summary = WhatIf {
        stats: *allocator.stats(),
        device_calls: allocator.device().count(),
        failed,
    };
    Ok((summary, allocator.into_observer()))
}
