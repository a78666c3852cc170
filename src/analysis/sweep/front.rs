//! Who is beaten by nobody, what is the largest that fits, and which device is the smallest that holds it.

use super::{Explorer, Space, SweepPoint};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::{Bytes, Nanos};
use highwater_model::workload::{Device, DeviceProfiles};
use highwater_options::keys;

/// The points that fit and are beaten by no other one that does: none needs less memory in no more time, or less time in no
/// more memory. Points with the same two figures beat one another not, so that all of them are there. Positions in `points`,
/// by peak, then overhead, then number. O(n log n).
pub fn front(points: &[SweepPoint]) -> Vec<usize> {
    front_of(points, 0..points.len())
}

/// The same of the points at some positions: a front that is known and what came since.
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
        // Peaks never fall from here on: a point must be quicker than all before, or equal the last in both.
        let is_kept = kept
            .last()
            .is_none_or(|(best_peak, best, _)| overhead < *best || (peak, overhead) == (*best_peak, *best));
        if is_kept {
            kept.push((peak, overhead, position));
        }
    }
    kept.into_iter().map(|(_, _, position)| position).collect()
}

/// The point that fits with the largest number on an axis; of those the least overhead, then the lowest peak, then the smallest
/// number. A position in `points`; `None` where nothing fits or the axis has no numbers. Linear.
pub fn largest_that_fits(space: &Space, points: &[SweepPoint], axis: usize) -> Option<usize> {
    largest_of(space, points, axis, 0..points.len())
}

/// The same of the points at some positions: the one that is known and what came since.
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

/// The profile with the least memory on which some point runs to its end, and the point that costs least on it.
#[derive(Clone, Debug, PartialEq)]
pub struct SmallestDevice {
    /// The profile.
    pub device: Device,
    /// The point with its figures on it.
    pub point: SweepPoint,
}

/// Most points that are tried on a profile: of more, those with the lowest peaks.
pub const MOST_ON_A_DEVICE: usize = 20_000;

/// The smallest profile for the points of a space: of an axis over devices the best of that axis, otherwise every point is
/// tried on the profiles one after another, each with its own memory and costs, the smallest first, until one fits on one. Of
/// the points that fit on it, the one with the least overhead, then the lowest peak, then the smallest number; of profiles of one
/// size the first of the file. `None` where nothing fits on any.
///
/// # Errors
/// [`Cancelled`].
pub fn smallest_device(
    explorer: &Explorer,
    points: &[SweepPoint],
    progress: &Progress<'_>,
) -> Result<Option<SmallestDevice>, Cancelled> {
    let mut profiles = DeviceProfiles::bundled().map_or_else(|_damaged| Vec::new(), |bundled| bundled.profiles);
    profiles.sort_by_key(|profile| profile.memory_bytes);
    if explorer.space().axis_of(keys::DEVICE).is_some() {
        return Ok(smallest_of_axis(explorer, points, &profiles));
    }
    let mut sorted: Vec<(Option<Bytes>, u64)> = points
        .iter()
        .map(|point| (point.figures().map(|figures| figures.peak_reserved), point.idx))
        .collect();
    // What was not simulated may have other rules on another device; it comes last.
    sorted.sort_unstable_by_key(|(peak, idx)| (peak.is_none(), *peak, *idx));
    let tried: Vec<u64> = sorted.iter().map(|(_, idx)| *idx).take(MOST_ON_A_DEVICE).collect();
    for device in profiles {
        let on_it = explorer.on_device(&device.name);
        let found = on_it.explore(&tried, &mut |_: &SweepPoint| {}, progress)?;
        if let Some(point) = least_slowdown(&found) {
            let point = point.clone();
            return Ok(Some(SmallestDevice { device, point }));
        }
    }
    Ok(None)
}

/// Of an axis over device profiles: the smallest with a point that fits.
fn smallest_of_axis(explorer: &Explorer, points: &[SweepPoint], profiles: &[Device]) -> Option<SmallestDevice> {
    let space = explorer.space();
    let name = |point: &SweepPoint| {
        space
            .configuration(point.idx)
            .options
            .effective(keys::DEVICE)
            .to_string()
    };
    profiles.iter().find_map(|device| {
        let of_it: Vec<SweepPoint> = points
            .iter()
            .filter(|point| name(point) == device.name)
            .cloned()
            .collect();
        let point = least_slowdown(&of_it)?.clone();
        let device = device.clone();
        Some(SmallestDevice { device, point })
    })
}

fn least_slowdown(points: &[SweepPoint]) -> Option<&SweepPoint> {
    let fitting = points.iter().filter_map(|point| Some((point.fitting()?, point)));
    let best = fitting.min_by_key(|(figures, point)| (figures.overhead, figures.peak_reserved, point.idx));
    best.map(|(_, point)| point)
}
