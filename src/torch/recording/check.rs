//! A replay under the recording's own settings, compared event by event.

use super::device::RecordedDevice;
use super::{Inconsistent, Input, Replayable};
use crate::allocator::Allocator;
use crate::block::BlockId;
use crate::event::{Action, Event};
use crate::settings::Settings;
use crate::stats::Stats;
use crate::version::{Framework, Rules, Ties, Version};

/// Where a replay left the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Position in the history.
    pub index: usize,
    /// What was recorded.
    pub want: Option<Event>,
    /// What the replay did.
    pub got: Option<Event>,
}

/// How a replay compares.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// The version whose rules were used.
    pub version: Version,
    /// The order of ties that was used.
    pub ties: Ties,
    /// Events of the recording.
    pub events: usize,
    /// Events that are equal at the same position.
    pub identical: usize,
    /// The first that is not.
    pub first_difference: Option<Difference>,
    /// Counters of the replay.
    pub stats: Stats,
}

/// Replays a recording under its settings and compares.
///
/// # Errors
/// A start state that no allocator can have, or [`Stopped`](super::Stopped).
pub fn check(replayable: &Replayable<'_>, settings: &Settings, ties: Ties) -> Result<Check, Inconsistent> {
    let first = check_once(replayable, settings, ties, false)?;
    // With these settings a request gives back a part of what is cached, which emptying the cache does not reproduce.
    let gives_parts = settings.max_split < u64::MAX || settings.collection_threshold > 0.0;
    if first.first_difference.is_none() || !gives_parts {
        return Ok(first);
    }
    let second = check_once(replayable, settings, ties, true)?;
    Ok(if second.identical > first.identical {
        second
    } else {
        first
    })
}

fn check_once(
    replayable: &Replayable<'_>,
    settings: &Settings,
    ties: Ties,
    requests_release: bool,
) -> Result<Check, Inconsistent> {
    let rules = Rules {
        ties,
        ..settings.version.rules()
    };
    let events = &replayable.recording.events;
    let device = RecordedDevice::new(events, 1 << 40);
    let start = &replayable.start;
    let settings = settings.clone();
    let version = settings.version;
    let (allocator, held) =
        Allocator::from_state((device, Vec::new()), (settings, rules), &start.segments, &start.ranges)?;
    let mut run = Run {
        allocator,
        blocks: start.live.iter().map(|live| held.get(&live.addr).copied()).collect(),
        spare: rules.spare_bytes,
        requests_release,
    };
    for pool in &replayable.private_pools {
        run.allocator.use_pool(*pool);
    }
    for (number, input) in replayable.inputs().iter().enumerate() {
        replayable.stop.look(number)?;
        run.play(input);
    }
    let mut got = std::mem::take(run.allocator.observer_mut());
    if !replayable.recording.tells_requests() {
        got.retain(|event| event.action != Action::FreeRequested);
    }
    let same = events.iter().zip(&got).filter(|(want, got)| want == got).count();
    let length = events.len().max(got.len());
    let differing = (0..length).find(|at| events.get(*at) != got.get(*at));
    Ok(Check {
        version,
        ties,
        events: events.len(),
        identical: same,
        first_difference: differing.map(|index| Difference {
            index,
            want: events.get(index).copied(),
            got: got.get(index).copied(),
        }),
        stats: *run.allocator.stats(),
    })
}

/// Replays with every order of ties that the framework's versions have; the best comes first, with the newest version
/// that has its order. Settings name the framework.
///
/// # Errors
/// As [`check`].
pub fn check_all_orders(replayable: &Replayable<'_>, settings: &Settings) -> Result<Vec<Check>, Inconsistent> {
    let framework = settings.version.rules().framework;
    let mut checks = Vec::new();
    for ties in Ties::ALL {
        let mut versions: Vec<Version> = Version::all()
            .filter(|version| version.rules().framework == framework && version.rules().ties == ties)
            .collect();
        let Some(version) = versions.pop() else {
            continue;
        };
        let is_fixed = framework == Framework::Npu;
        let mut settings = settings.clone();
        settings.version = if is_fixed { settings.version } else { version };
        checks.push(check(replayable, &settings, ties)?);
    }
    checks.sort_by_key(|check| std::cmp::Reverse((check.identical, check.version)));
    Ok(checks)
}

/// An allocator and the blocks of the allocations.
struct Run {
    allocator: Allocator<RecordedDevice, Vec<Event>>,
    blocks: Vec<Option<BlockId>>,
    /// Bytes that the allocator adds to requests.
    spare: u64,
    /// Memory given back before new memory was given back by the request, not by the program.
    requests_release: bool,
}

impl Run {
    fn play(&mut self, input: &Input) {
        let block = |id: u32| self.blocks.get(id as usize).copied().flatten();
        match *input {
            Input::Alloc {
                requested,
                stream,
                pool,
                ..
            } => {
                let grant = self.allocator.alloc_in(requested, stream, pool).ok().flatten();
                self.blocks.push(grant.map(|grant| grant.block));
                self.allocator.device_mut().awaited = 0;
            }
            Input::Free(id) => {
                block(id).map(|block| self.allocator.free(block));
            }
            Input::FreeLater(id) => {
                block(id).map(|block| self.allocator.free_later(block));
            }
            Input::Complete(id) => {
                block(id).map(|block| self.allocator.complete(block));
            }
            Input::Used(pool) => self.allocator.use_pool(pool),
            Input::Unused(pool) => self.allocator.release_pool_use(pool),
            Input::Empty(release) if self.requests_release && release.is_before_request => {
                self.allocator.device_mut().awaited = release.count;
            }
            Input::Empty(_) => self.allocator.empty_cache(),
            Input::Failed {
                size,
                stream,
                pool,
                free,
            } => {
                self.allocator.device_mut().full = Some(free);
                let requested = size.saturating_sub(self.spare);
                let grant = self.allocator.alloc_in(requested, stream, pool).ok().flatten();
                debug_assert!(grant.is_none_or(|grant| grant.size > 0), "grants have bytes");
                self.allocator.device_mut().full = None;
            }
        }
    }
}
