//! What the stated totals tell: the order of events, and the bytes that were allocated before the trace.
//!
//! ```text
//! event               +100   +50   -100        Bytes
//! sum of the events    100   150     50
//! Total Allocated     1100  1150   1050        differs by 1000 everywhere: so much was allocated before
//! ```
//!
//! In: events of one device by time. Clocks of threads may differ: where the totals follow the order of the file and not that of the
//! times, the file's is taken.

use super::event::MemoryEvent;

/// Events of equal times that are put in order; more stay in the order of the file.
const MOST_EQUAL: usize = 256;

/// The difference of the stated totals from the sums of the events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// An event states no total, or there is none.
    Unknown,
    Constant(u64),
    /// The least and the most; also where it is negative.
    Varies(i128, i128),
}

/// O(events).
pub(super) fn before<'a>(events: impl Iterator<Item = &'a MemoryEvent>) -> Before {
    let mut sum = 0_i128;
    let mut ends: Option<(i128, i128)> = None;
    for event in events {
        sum += i128::from(event.bytes);
        let Some(stated) = event.allocated else {
            return Before::Unknown;
        };
        let difference = i128::from(stated) - sum;
        let (least, most) = ends.unwrap_or((difference, difference));
        ends = Some((least.min(difference), most.max(difference)));
    }
    match ends {
        None => Before::Unknown,
        Some((least, most)) if least == most => {
            u64::try_from(least).map_or(Before::Varies(least, most), Before::Constant)
        }
        Some((least, most)) => Before::Varies(least, most),
    }
}

/// The order of events: by time, or where the totals tell so, that of the file. O(events log events).
pub(super) fn in_order(all: &[MemoryEvent], events: Vec<u32>) -> Vec<u32> {
    let before_all = |events: &[u32]| before(events.iter().map(|position| &all[*position as usize]));
    let by_time = equal_times_in_order(all, events);
    if !matches!(before_all(&by_time), Before::Varies(..)) {
        return by_time;
    }
    let mut by_file = by_time.clone();
    by_file.sort_by_key(|position| all[*position as usize].number);
    match before_all(&by_file) {
        Before::Constant(_) => by_file,
        Before::Varies(..) | Before::Unknown => by_time,
    }
}

/// The position of a total in a chain: what was allocated before an event.
fn total_before(event: &MemoryEvent) -> Option<i128> {
    Some(i128::from(event.allocated?) - i128::from(event.bytes))
}

/// Puts events of equal times in the order in which each continues the total of the one before. O(events x equal times).
fn equal_times_in_order(all: &[MemoryEvent], mut events: Vec<u32>) -> Vec<u32> {
    let event = |position: u32| &all[position as usize];
    let mut total: Option<i128> = None;
    let mut start = 0;
    while start < events.len() {
        let at = event(events[start]).at;
        let n_equal = events[start..]
            .iter()
            .take_while(|position| event(**position).at == at)
            .count();
        let group = &mut events[start..start + n_equal];
        if (2..=MOST_EQUAL).contains(&n_equal) {
            // Without a total before, the chain begins with the event that no other one leads to.
            total = total.or_else(|| first_total(all, group));
            for next in 0..n_equal {
                let found = group[next..]
                    .iter()
                    .position(|position| total_before(event(*position)) == total);
                if let Some(found) = found {
                    group[next..=next + found].rotate_right(1);
                }
                total = event(group[next]).allocated.map(i128::from);
            }
        } else if let Some(last) = group.last() {
            total = event(*last).allocated.map(i128::from);
        }
        start += n_equal;
    }
    events
}

fn first_total(all: &[MemoryEvent], group: &[u32]) -> Option<i128> {
    let events = || group.iter().map(|position| &all[*position as usize]);
    let leads = |total: i128| events().any(|event| event.allocated.map(i128::from) == Some(total));
    events().filter_map(total_before).find(|total| !leads(*total))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Time, bytes, stated total.
    type Row = (u64, i64, i64);

    fn events(rows: &[Row]) -> Vec<MemoryEvent> {
        let event = |(number, (at, bytes, allocated)): (u64, &Row)| MemoryEvent {
            number,
            at: *at,
            address: 1,
            bytes: *bytes,
            allocated: u64::try_from(*allocated).ok(),
            reserved: None,
            device: (1, 0),
            thread: 0,
            is_out_of_memory: false,
        };
        (0_u64..).zip(rows).map(event).collect()
    }

    #[test]
    fn a_constant_difference_was_allocated_before() {
        let cases: [(&[Row], Before); 6] = [
            (
                &[(1, 100, 1100), (2, 50, 1150), (3, -100, 1050)],
                Before::Constant(1000),
            ),
            (&[(1, 100, 100), (2, -100, 0)], Before::Constant(0)),
            (&[(1, 100, 1100), (2, 50, 1151)], Before::Varies(1000, 1001)),
            (&[(1, 100, 40)], Before::Varies(-60, -60)),
            (&[(1, 100, 1100), (2, 50, -1)], Before::Unknown),
            (&[], Before::Unknown),
        ];
        for (rows, wanted) in cases {
            assert_eq!(before(events(rows).iter()), wanted, "{rows:?}");
        }
    }

    #[test]
    fn totals_order_events() {
        let cases: [(&[Row], &[u32]); 7] = [
            // The file has the allocation before the free that made room for it.
            (&[(1, 10, 110), (2, 10, 110), (2, -10, 100)], &[0, 2, 1]),
            (&[(1, 10, 110), (2, -10, 100), (2, 10, 110)], &[0, 1, 2]),
            (&[(1, 10, 130), (1, 20, 120), (1, 5, 135)], &[1, 0, 2]),
            // No event continues the total.
            (&[(1, 10, 110), (2, 1, 500), (2, 2, 700)], &[0, 1, 2]),
            (&[(1, 10, -1), (1, 20, -1)], &[0, 1]),
            // The clock of the thread that frees is early: the totals follow the file.
            (&[(3, 10, 110), (2, -10, 100), (4, 5, 105)], &[0, 1, 2]),
            (&[(3, 10, 110), (2, -10, 100), (4, 5, 106)], &[1, 0, 2]),
        ];
        for (rows, wanted) in cases {
            let events = events(rows);
            let mut by_time: Vec<u32> = (0_u32..).take(rows.len()).collect();
            by_time.sort_by_key(|position| events[*position as usize].at);
            assert_eq!(in_order(&events, by_time), wanted, "{rows:?}");
        }
    }
}
