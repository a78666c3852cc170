//! From pairs of an event and a step to a step for every event. O(n log n).

use super::{Anchor, BETWEEN_CHECKS};
use highwater_model::progress::{Cancelled, Progress};

/// The longest subsequence of the pairs in which events do not fall and steps rise; of several the one with the
/// earliest pairs. O(n log n).
pub(crate) fn longest_ascent(pairs: &[Anchor], progress: &Progress<'_>) -> Result<Vec<Anchor>, Cancelled> {
    // By length, the pair with the smallest step that ends such a subsequence; and the predecessor of each pair.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (position, (_, step)) in pairs.iter().enumerate() {
        if position.is_multiple_of(BETWEEN_CHECKS) {
            progress.check()?;
        }
        let length = ends.partition_point(|end| pairs[*end].1 < *step);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        if length == ends.len() {
            ends.push(position);
        } else {
            ends[length] = position;
        }
    }
    let mut chain = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(position) = next {
        chain.push(pairs[position]);
        next = before[position];
    }
    chain.reverse();
    Ok(chain)
}

/// A step for every event: that of its anchor, or interpolated between anchors, from the first step of the range to its
/// last. Never falls.
pub(super) fn spread(
    n_events: u32,
    start: u32,
    n_steps: u32,
    anchors: &[Anchor],
    progress: &Progress<'_>,
) -> Result<Vec<u32>, Cancelled> {
    let last = start.saturating_add(n_steps.saturating_sub(1));
    let mut steps = Vec::with_capacity(n_events as usize);
    let (mut from, mut floor) = ((0, start), start);
    let ends = anchors.iter().copied().chain([(n_events.saturating_sub(1), last)]);
    for (event, step) in ends {
        let (first, lowest) = from;
        let (width, rise) = (event.saturating_sub(first), step.saturating_sub(lowest));
        while u32::try_from(steps.len()).is_ok_and(|at| at < event) {
            if steps.len().is_multiple_of(BETWEEN_CHECKS) {
                progress.check()?;
            }
            let passed = u64::try_from(steps.len()).unwrap_or(u64::MAX) - u64::from(first);
            let risen = u64::from(rise) * passed / u64::from(width.max(1));
            floor = floor.max(lowest + u32::try_from(risen).unwrap_or(rise));
            steps.push(floor);
        }
        from = (event.max(first), step.max(lowest));
    }
    if n_events > 0 {
        steps.push(last);
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use highwater_model::progress::Cancel;

    fn longest_ascent(pairs: &[Anchor]) -> Vec<Anchor> {
        super::longest_ascent(pairs, &Progress::silent(&Cancel::new())).expect("no cancel")
    }

    fn spread(n_events: u32, range: (u32, u32), anchors: &[Anchor]) -> Vec<u32> {
        super::spread(n_events, range.0, range.1, anchors, &Progress::silent(&Cancel::new())).expect("no cancel")
    }

    #[test]
    fn a_cancelled_alignment_stops() {
        let cancel = Cancel::new();
        cancel.cancel();
        let progress = Progress::silent(&cancel);
        assert!(super::longest_ascent(&[(0, 1)], &progress).is_err());
        assert!(super::spread(2, 0, 9, &[], &progress).is_err());
    }

    #[test]
    fn the_longest_common_order_anchors_a_recording() {
        let pairs = [(0, 5), (1, 1), (2, 2), (3, 9), (4, 3), (5, 7)];
        assert_eq!(longest_ascent(&pairs), [(1, 1), (2, 2), (4, 3), (5, 7)]);
        assert_eq!(longest_ascent(&[]), []);
        assert_eq!(longest_ascent(&[(0, 3), (1, 3), (2, 3)]).len(), 1);
    }

    #[test]
    fn events_are_spread_between_anchors() {
        assert_eq!(spread(5, (10, 5), &[]), [10, 11, 12, 13, 14]);
        assert_eq!(spread(3, (0, 9), &[]), [0, 4, 8]);
        assert_eq!(spread(6, (0, 10), &[(2, 8)]), [0, 4, 8, 8, 8, 9]);
        assert_eq!(spread(1, (4, 3), &[(0, 5)]), [6]);
        assert_eq!(spread(0, (0, 3), &[]), [0; 0]);
        // Several ops begin at one event.
        assert_eq!(spread(4, (0, 8), &[(1, 2), (1, 5)]), [0, 5, 6, 7]);
    }

    #[test]
    fn steps_never_fall_and_stay_within_the_range() {
        for seed in 0_u32..200 {
            let pairs: Vec<Anchor> = (0..seed % 17).map(|n| (n * 3 / 2, (n * 7 + seed) % 23)).collect();
            let anchors = longest_ascent(&pairs);
            let steps = spread(40, (0, 24), &anchors);
            assert_eq!(steps.len(), 40);
            assert!(
                steps.is_sorted() && steps.iter().all(|step| *step < 24),
                "{seed}: {steps:?}"
            );
        }
    }
}
