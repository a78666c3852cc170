//! The sweep over births that says who holds each byte, or held it last.
//!
//! In: rectangles. Out: a call for every change, in order of the rectangles' births (then positions) and ascending
//! offsets. Between births the bytes that were ever held are cut into ranges with one last holder each: the one that
//! ends last, the later of equals. A rectangle that ends no later than a live holder leaves that holder in place.
//! O((n + changes) log n).

use std::collections::BTreeMap;

use super::Rectangle;

/// What a birth changes on one range of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// `heir` takes the bytes that `donor` held and let go.
    Taken {
        /// Who held them.
        donor: u32,
        /// Who is born.
        heir: u32,
        /// First byte.
        low: u64,
        /// Last byte, exclusive.
        high: u64,
    },
    /// From `start` to `end` the last holder of these bytes was `holder`; no end for what is so ever after.
    Closed {
        /// Who.
        holder: u32,
        /// The birth that began it.
        start: u32,
        /// The birth that ended it.
        end: u32,
        /// First byte.
        low: u64,
        /// Last byte, exclusive.
        high: u64,
    },
}

/// Bytes with one last holder.
#[derive(Clone, Copy, Debug)]
struct Range {
    high: u64,
    holder: u32,
    since: u32,
}

/// Calls `emit` with every change.
pub(super) fn sweep(rectangles: &[Rectangle], mut emit: impl FnMut(Change)) {
    let mut order: Vec<(u32, u32)> = (0_u32..)
        .zip(rectangles)
        .filter(|(_, rectangle)| !rectangle.is_empty())
        .map(|(idx, rectangle)| (rectangle.start, idx))
        .collect();
    order.sort_unstable();
    let mut ranges: BTreeMap<u64, Range> = BTreeMap::new();
    let mut touched: Vec<(u64, Range)> = Vec::new();
    for (_, heir) in order {
        take(&mut ranges, &mut touched, (rectangles, heir), &mut emit);
    }
    for (low, range) in ranges {
        emit(closed(low, range, u32::MAX));
    }
}

fn closed(low: u64, range: Range, end: u32) -> Change {
    Change::Closed {
        holder: range.holder,
        start: range.since,
        end,
        low,
        high: range.high,
    }
}

/// Gives the heir its bytes, except those of holders that outlive it.
fn take(
    ranges: &mut BTreeMap<u64, Range>,
    touched: &mut Vec<(u64, Range)>,
    (rectangles, heir): (&[Rectangle], u32),
    emit: &mut impl FnMut(Change),
) {
    let rectangle = rectangles[heir as usize];
    let (low, high, born) = (rectangle.offset, rectangle.top(), rectangle.start);
    collect(ranges, touched, (low, high));
    // The heir's bytes from here on are not yet in the map; what it holds stays one range as long as possible.
    let mut from = low;
    for (at, range) in touched.drain(..) {
        let (cut_low, cut_high) = (at.max(low), range.high.min(high));
        let held_until = rectangles[range.holder as usize].end;
        if held_until > born && held_until > rectangle.end {
            hold(ranges, (from, cut_low), (heir, born));
            from = cut_high;
            continue;
        }
        if held_until <= born {
            emit(Change::Taken {
                donor: range.holder,
                heir,
                low: cut_low,
                high: cut_high,
            });
        }
        ranges.remove(&at);
        if at < low {
            ranges.insert(at, Range { high: low, ..range });
        }
        if range.high > high {
            ranges.insert(high, range);
        }
        let cut = Range {
            high: cut_high,
            ..range
        };
        emit(closed(cut_low, cut, born));
    }
    hold(ranges, (from, high), (heir, born));
}

/// The ranges that share bytes with `low..high`, ascending.
fn collect(ranges: &BTreeMap<u64, Range>, touched: &mut Vec<(u64, Range)>, (low, high): (u64, u64)) {
    let before = ranges.range(..low).next_back();
    let reaching = before.filter(|(_, range)| range.high > low);
    let within = ranges.range(low..high);
    touched.extend(reaching.into_iter().chain(within).map(|(at, range)| (*at, *range)));
}

fn hold(ranges: &mut BTreeMap<u64, Range>, (low, high): (u64, u64), (holder, since): (u32, u32)) {
    if low < high {
        ranges.insert(low, Range { high, holder, since });
    }
}
