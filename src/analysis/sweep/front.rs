//! The Pareto front, the largest value that fits, and the smallest device that holds a point.

use super::{Explorer, Goal, Space, SweepPoint};
use crate::selection::LaneGoal;
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::{Bytes, Nanos};
use highwater_model::workload::{Device, DeviceProfiles};
use highwater_options::keys;

/// The Pareto-optimal points among those that fit: no other one needs less memory in no more time, or less time in no
/// more memory. Points with equal figures are all included. Positions in `points`, by peak, then overhead, then number.
/// O(n log n).
pub fn front(points: &[SweepPoint]) -> Vec<usize> {
    front_of(points, 0..points.len())
}

/// As [`front`], of some positions: those of a known front and those of later points.
pub fn front_of(points: &[SweepPoint], positions: impl Iterator<Item = usize>) -> Vec<usize> {
    let fitting = positions.filter_map(|position| {
        let point = points.get(position)?;
        let figures = point.fitting()?;
        Some((figures.peak_reserved, figures.overhead, point.idx, position))
    });
    let mut sorted: Vec<(Bytes, Nanos, u64, usize)> = fitting.collect();
    sorted.sort_unstable();
    let mut kept: Vec<(Bytes, Nanos, usize)> = Vec::new();
    for (peak, overhead, _, position) in sorted {
        // Peaks ascend: a point must be quicker than all before, or equal the last in both figures.
        let is_kept = kept
            .last()
            .is_none_or(|(best_peak, best, _)| overhead < *best || (peak, overhead) == (*best_peak, *best));
        if is_kept {
            kept.push((peak, overhead, position));
        }
    }
    kept.into_iter().map(|(_, _, position)| position).collect()
}

/// Of some positions the point that fits with the largest value of an axis; on a tie the least overhead, then the lowest
/// peak, then the smallest number. A position in `points`; `None` where nothing fits or the axis has no numbers. Linear.
pub fn largest_of(
    space: &Space,
    points: &[SweepPoint],
    axis: usize,
    positions: impl Iterator<Item = usize>,
) -> Option<usize> {
    let fitting = positions.filter_map(|position| {
        let point = points.get(position)?;
        let figures = point.fitting()?;
        let value = space.values(point.idx).get(axis).and_then(|value| value.as_int())?;
        let rank = (
            std::cmp::Reverse(value),
            figures.overhead,
            figures.peak_reserved,
            point.idx,
        );
        Some((rank, position))
    });
    fitting.min().map(|(_, position)| position)
}

/// The profile with the least memory on which some point runs to its end, and the point with the least overhead on it.
#[derive(Clone, Debug, PartialEq)]
pub struct SmallestDevice {
    pub device: Device,
    /// The point with its figures on that profile.
    pub point: SweepPoint,
}

/// Most points that are simulated on a profile; of more, those with the lowest peaks.
pub const MAX_ON_A_DEVICE: usize = 20_000;

/// The smallest profile for the points of a space. With an axis over devices it is a value of that axis; otherwise
/// every point is simulated on the profiles, the smallest first, each with its own memory and costs, until one fits. The
/// point is that of [`LaneGoal::LeastOverhead`]; of equal profiles the first of the file. `None` where nothing fits.
///
/// # Errors
/// [`Cancelled`].
pub fn smallest_device(
    explorer: &Explorer,
    points: &[SweepPoint],
    progress: &Progress<'_>,
) -> Result<Option<SmallestDevice>, Cancelled> {
    let mut profiles = DeviceProfiles::bundled().map_or_else(|_damaged| Vec::new(), |bundled| bundled.profiles);
    profiles.sort_by_key(|profile| profile.memory().get());
    if explorer.space().axis_of(keys::DEVICE).is_some() {
        return Ok(smallest_of_axis(explorer, points, &profiles));
    }
    let mut sorted: Vec<(Option<Bytes>, u64)> = points
        .iter()
        .map(|point| (point.figures().map(|figures| figures.peak_reserved), point.idx))
        .collect();
    // Points that were not simulated may have other rules on another device; they come last.
    sorted.sort_unstable_by_key(|(peak, idx)| (peak.is_none(), *peak, *idx));
    let tried: Vec<u64> = sorted.iter().map(|(_, idx)| *idx).take(MAX_ON_A_DEVICE).collect();
    for device in profiles {
        let on_it = explorer.on_device(&device.name);
        let found = on_it.explore(&tried, &mut |_: &SweepPoint| {}, progress)?;
        if let Some(point) = least_overhead(explorer.space(), &found) {
            let point = point.clone();
            return Ok(Some(SmallestDevice { device, point }));
        }
    }
    Ok(None)
}

/// With an axis over device profiles: the smallest with a point that fits.
fn smallest_of_axis(explorer: &Explorer, points: &[SweepPoint], profiles: &[Device]) -> Option<SmallestDevice> {
    let space = explorer.space();
    let name = |point: &SweepPoint| space.configuration(point.idx).options.written(keys::DEVICE).to_string();
    profiles.iter().find_map(|device| {
        let of_it: Vec<SweepPoint> = points
            .iter()
            .filter(|point| name(point) == device.name)
            .cloned()
            .collect();
        let point = least_overhead(space, &of_it)?.clone();
        let device = device.clone();
        Some(SmallestDevice { device, point })
    })
}

fn least_overhead<'a>(space: &Space, points: &'a [SweepPoint]) -> Option<&'a SweepPoint> {
    Goal::Lane(LaneGoal::LeastOverhead).select(space, &points.iter().collect::<Vec<_>>())
}
