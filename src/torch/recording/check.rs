//! A replay under the recording's own settings, compared event by event.

use super::device::RecordedDevice;
use super::play::Playback;
use super::{Inconsistent, Input, Replayable};
use crate::allocator::Allocator;
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
    let mut playback = Playback {
        allocator,
        blocks: start.live.iter().map(|live| held.get(&live.addr).copied()).collect(),
        failed: 0,
    };
    for pool in &replayable.private_pools {
        playback.allocator.use_pool(*pool);
    }
    for (number, input) in replayable.inputs().iter().enumerate() {
        replayable.stop.look(number)?;
        play(&mut playback, input, requests_release);
    }
    let mut got = std::mem::take(playback.allocator.observer_mut());
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
        stats: *playback.allocator.stats(),
    })
}

/// Replays with every order of ties that the framework's versions have; the best comes first, with the newest version
/// that has its order. Settings name the framework.
///
/// # Errors
/// As [`check`].
pub fn check_all_orders(replayable: &Replayable<'_>, settings: &Settings) -> Result<Vec<Check>, Inconsistent> {
    let framework = settings.version.rules().framework;
    let of_framework = |version: &Version| version.rules().framework == framework;
    let mut versions: Vec<Version> = Version::all().filter(of_framework).collect();
    if framework == Framework::Npu {
        versions = vec![settings.version];
    }
    let mut checks = Vec::new();
    for version in newest_by_order(&versions) {
        let settings = Settings {
            version,
            ..settings.clone()
        };
        checks.push(check(replayable, &settings, version.rules().ties)?);
    }
    checks.sort_by_key(|check| std::cmp::Reverse((check.identical, check.version)));
    Ok(checks)
}

/// The newest of some versions, the oldest first, for each order of ties that they have.
pub fn newest_by_order(versions: &[Version]) -> Vec<Version> {
    let newest = |ties: Ties| versions.iter().rfind(|version| version.rules().ties == ties);
    Ties::ALL.into_iter().filter_map(newest).copied().collect()
}

/// Does what the program did, on the device as it was then. With `requests_release`, memory that was given back before new
/// memory was given back by the request, not by the program.
fn play(playback: &mut Playback<RecordedDevice, Vec<Event>>, input: &Input, requests_release: bool) {
    match input {
        Input::Empty(release) if requests_release && release.is_before_request => {
            playback.allocator.device_mut().awaited = release.count;
        }
        Input::Failed { free, .. } => {
            playback.allocator.device_mut().full = Some(*free);
            let grant = playback.play(input);
            debug_assert!(grant.is_none_or(|grant| grant.size > 0), "grants have bytes");
            playback.allocator.device_mut().full = None;
        }
        Input::Alloc { .. } => {
            playback.play(input);
            playback.allocator.device_mut().awaited = 0;
        }
        _ => drop(playback.play(input)),
    }
}
