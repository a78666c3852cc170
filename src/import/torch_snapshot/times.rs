//! The order of a trace's times, and the times that are out of order.
//!
//! In: the events of a device. Out: [`Times`]. A few times that go back, as where several threads write or a clock was set,
//! do not spoil the others: the fewest events that leave the rest in order keep their positions and take the time of the
//! event before them. Where that would be half or more, no time is claimed.

use super::device::Device;
use super::rows::has;
use super::value::{Heap, narrow};
use highwater_model::progress::{Cancelled, Progress};

const EVENTS_BETWEEN_CHECKS: usize = 1 << 13;

const NONE: u32 = u32::MAX;

/// The order of a trace's times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Times {
    Ordered,
    /// No event has one.
    Absent,
    /// Some events have none.
    Some,
    /// They are in order but for the events at these positions, ascending.
    Mended(Vec<u32>),
    /// They go back too often.
    Unordered,
}

impl Times {
    pub(super) const fn are_known(&self) -> bool {
        matches!(self, Self::Ordered | Self::Mended(_))
    }

    /// The events whose times are out of order, ascending.
    pub(super) fn mended(&self) -> &[u32] {
        match self {
            Self::Mended(events) => events,
            _ => &[],
        }
    }
}

/// Whether every event has a time, and which of these go back. O(n), where they do O(n log n).
pub(super) fn times(heap: &Heap, device: &Device, progress: &Progress<'_>) -> Result<Times, Cancelled> {
    let entries = || {
        let rows = device.trace.rows();
        rows.filter_map(|row| heap.rows.entries.get(row))
    };
    let with = entries().filter(|entry| entry.has(has::TIME)).count();
    if with == 0 {
        return Ok(Times::Absent);
    }
    if with < device.trace.len() {
        return Ok(Times::Some);
    }
    if entries().is_sorted_by_key(|entry| entry.time_us) {
        return Ok(Times::Ordered);
    }
    let times: Vec<u64> = entries().map(|entry| entry.time_us).collect();
    let out_of_order = out_of_order(&times, progress)?;
    Ok(if out_of_order.len() * 2 < times.len() {
        Times::Mended(out_of_order)
    } else {
        Times::Unordered
    })
}

/// The fewest positions without which the times never go back, ascending. O(n log n).
fn out_of_order(times: &[u64], progress: &Progress<'_>) -> Result<Vec<u32>, Cancelled> {
    // By length of an ordered sequence: the earliest time that one of that length can end with, and where.
    let mut ends: Vec<(u64, u32)> = Vec::new();
    let mut before = Vec::with_capacity(times.len());
    for (position, time) in times.iter().enumerate() {
        if position.is_multiple_of(EVENTS_BETWEEN_CHECKS) {
            progress.check()?;
        }
        let at = ends.partition_point(|(end, _)| end <= time);
        before.push(match at {
            0 => NONE,
            at => ends[at - 1].1,
        });
        let end = (*time, narrow(position));
        match ends.get_mut(at) {
            Some(known) => *known = end,
            None => ends.push(end),
        }
    }
    let mut out = Vec::with_capacity(times.len() - ends.len());
    let mut kept = ends.last().map_or(NONE, |(_, position)| *position);
    for position in (0..narrow(times.len())).rev() {
        if position == kept {
            kept = before[position as usize];
        } else {
            out.push(position);
        }
    }
    out.reverse();
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use highwater_model::progress::Cancel;

    #[test]
    fn as_few_events_as_possible_are_out_of_order() {
        let cancel = Cancel::new();
        for (times, expected) in [
            (&[][..], &[][..]),
            (&[1, 1, 2], &[]),
            (&[1, 2, 9, 3, 3, 4], &[2]),
            (&[5, 1, 2, 3], &[0]),
            (&[1, 2, 3, 0], &[3]),
            (&[1, 9, 2, 8, 3], &[1, 3]),
        ] {
            let found = out_of_order(times, &Progress::silent(&cancel));
            assert_eq!(found.ok().as_deref(), Some(expected), "{times:?}");
        }
    }
}
