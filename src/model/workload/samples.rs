//! Values of a range: both ends and points between, evenly spread on a logarithmic scale.
//!
//! Integer arithmetic only, so that every machine gives the same values.

use std::ops::Range;

/// Fraction bits of a logarithm.
const FRACTION: u32 = 32;

/// `n` values from `min` to `max`, ascending, perhaps repeated; a single value is the largest. O(n * 64 * 32).
pub fn samples(min: u64, max: u64, n: u32) -> Vec<u64> {
    if n <= 1 || min >= max {
        return vec![max; n.max(1) as usize];
    }
    let (low, high) = (log2(min), log2(max));
    let steps = u64::from(n - 1);
    let mut values: Vec<u64> = (1..steps)
        .map(|step| {
            let offset = u128::from(high - low) * u128::from(step) / u128::from(steps);
            nearest(low + u64::try_from(offset).unwrap_or(0), min, max)
        })
        .collect();
    values.push(min);
    values.push(max);
    values.sort_unstable();
    values
}

/// A value from `min` to `max`, at least 1, with a uniform logarithm: `draw` / 2^64 of the way from the logarithm of
/// `min` to that of `max + 1`, rounded down. O(64 * 32).
pub(super) fn log_uniform(min: u64, max: u64, draw: u64) -> u64 {
    let (low, high) = (log2(min), log2(max.saturating_add(1)));
    let offset = (u128::from(high - low) * u128::from(draw)) >> 64;
    let target = low + u64::try_from(offset).unwrap_or(0);
    last_not_above(target, min..max.saturating_add(1))
}

/// The value whose logarithm is nearest to `target`; the smaller one on a tie.
fn nearest(target: u64, min: u64, max: u64) -> u64 {
    let below = last_not_above(target, min..max);
    let above = max.min(below.saturating_add(1));
    if target.abs_diff(log2(below)) <= target.abs_diff(log2(above)) {
        below
    } else {
        above
    }
}

/// The last value of a range whose logarithm is at most `target`; the first where there is none.
fn last_not_above(target: u64, values: Range<u64>) -> u64 {
    let (mut below, mut above) = (values.start, values.end);
    while above - below > 1 {
        let middle = below + (above - below) / 2;
        if log2(middle) <= target {
            below = middle;
        } else {
            above = middle;
        }
    }
    below
}

/// The logarithm to base 2, with [`FRACTION`] fraction bits, rounded down; that of 0 counts as that of 1.
fn log2(value: u64) -> u64 {
    let value = value.max(1);
    let whole = value.ilog2();
    // 1.0 is 2^63; squaring doubles the logarithm, so each overflow of 2.0 is one more bit.
    let mut mantissa = u128::from(value) << (63 - whole);
    let mut log = u64::from(whole);
    for _ in 0..FRACTION {
        mantissa = (mantissa * mantissa) >> 63;
        log <<= 1;
        if mantissa >= 1 << 64 {
            mantissa >>= 1;
            log |= 1;
        }
    }
    log
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_spread_evenly_by_ratio() {
        for (min, max, n, expected) in [
            (1, 1000, 4, &[1, 10, 100, 1000][..]),
            (8, 128, 5, &[8, 16, 32, 64, 128]),
            (3, 5, 4, &[3, 4, 4, 5]),
            (3, 6, 1, &[6]),
            (7, 7, 4, &[7, 7, 7, 7]),
            (0, 4, 3, &[0, 2, 4]),
            (1, 1 << 62, 3, &[1, 1 << 31, 1 << 62]),
        ] {
            assert_eq!(samples(min, max, n), expected, "{min}~{max}, {n}");
        }
    }

    #[test]
    fn values_ascend_within_the_range() {
        for (min, max, n) in [(0, u64::MAX, 1000), (5, 17, 1000), (2, 3, 2), (9, 4_000_000_000, 7)] {
            let values = samples(min, max, n);
            assert!(values.is_sorted() && values.len() == n as usize);
            assert_eq!((values.first(), values.last()), (Some(&min), Some(&max)));
        }
    }
}
