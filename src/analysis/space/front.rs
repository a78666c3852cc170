//! Who is beaten by nobody, what is the largest that fits, and which device is the smallest that holds it.

use super::{AxisOf, Explorer, SpacePoint};
use crate::analysis::Configuration;
use crate::options::{Value, keys};
use crate::progress::{Cancelled, Progress};
use crate::units::{Bytes, Nanos};
use crate::workload::{Device, DeviceProfiles};

/// The points that fit and are beaten by no other one that does: none needs less memory in no more time, or less time in no
/// more memory. Points with the same two figures beat one another not, so that all of them are there. Positions in `points`,
/// by peak, then overhead, then number. O(n log n).
pub fn front(points: &[SpacePoint]) -> Vec<usize> {
    front_of(points, 0..points.len())
}

/// The same of the points at some positions: a front that is known and what came since.
pub fn front_of(points: &[SpacePoint], positions: impl Iterator<Item = usize>) -> Vec<usize> {
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
pub fn largest_that_fits(explorer: &Explorer, points: &[SpacePoint], axis: usize) -> Option<usize> {
    let value = |point: &SpacePoint| {
        explorer
            .space()
            .values(point.idx)
            .get(axis)
            .and_then(|value| value.as_int())
    };
    let fitting = points.iter().enumerate().filter_map(|(position, point)| {
        let figures = point.fitting()?;
        let rank = (
            std::cmp::Reverse(value(point)?),
            figures.overhead,
            figures.peak_reserved,
            point.idx,
        );
        Some((rank, position))
    });
    fitting.min().map(|(_, position)| position)
}

/// The profile with the least memory on which a configuration runs to its end, each tried with its own memory and costs; the
/// first of the file on a tie. `None` where it fits on none.
///
/// # Errors
/// [`Cancelled`].
pub fn smallest_device(
    explorer: &Explorer,
    configuration: &Configuration,
    progress: &Progress<'_>,
) -> Result<Option<Device>, Cancelled> {
    let mut profiles = DeviceProfiles::bundled().map_or_else(|_damaged| Vec::new(), |bundled| bundled.profiles);
    profiles.sort_by_key(|profile| profile.memory_bytes);
    for profile in profiles {
        let mut tried = configuration.clone();
        tried.options.reset(keys::DEVICE_MEMORY);
        // The key is a row of the table.
        drop(tried.options.set(keys::DEVICE, Value::from(profile.name.as_str())));
        if explorer.beside(0, &tried, progress)?.fitting().is_some() {
            return Ok(Some(profile));
        }
    }
    Ok(None)
}

/// Of an axis over device profiles: the point that fits on the profile with the least memory; ties as
/// [`largest_that_fits`] has them. `None` where no axis varies the device, or nothing fits.
pub fn smallest_device_of(explorer: &Explorer, points: &[SpacePoint]) -> Option<usize> {
    let space = explorer.space();
    let is_of = |axis: &super::SpaceAxis| matches!(axis.of, AxisOf::Option(key) if key == keys::DEVICE);
    space.axes().iter().find(|axis| is_of(axis))?;
    let fitting = points.iter().enumerate().filter_map(|(position, point)| {
        let figures = point.fitting()?;
        Some((
            (figures.capacity, figures.overhead, figures.peak_reserved, point.idx),
            position,
        ))
    });
    fitting.min().map(|(_, position)| position)
}
