//! The rule by which a goal selects one of several configurations, whoever compares them.
//!
//! Candidates fit on their device and no rule forbids them. Overheads within 1 % or 0.1 ms of the least one count as
//! equal, and so do peaks within 0.5 % or the granule of the lowest one, never within more than 5 % of it: the simulation is not
//! more exact than that.
//!
//! ```text
//! least overhead    overheads near the least -> peaks near the lowest of these -> active, else lowest peak
//! lowest peak       peaks near the lowest -> overheads near the least of these -> active, else lowest peak
//! ```
//!
//! The active candidate stays where the selected one differs from it neither in peak nor in overhead, although it may not
//! be near the lowest peak of all.

use highwater_model::units::{Bytes, Nanos};
use highwater_sim::StaticMemoryPolicy;
use highwater_sim::alloc::PAGE_BYTES;

/// The smallest granule: device blocks are rounded to it.
pub(crate) const LEAST_GRANULE: Bytes = Bytes::mib(2);

/// A difference of overheads that is not significant.
const LEAST_TIME: Nanos = Nanos(100_000);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum LaneGoal {
    /// The least estimated overhead among the configurations that fit; of near-equal ones the lowest peak.
    #[default]
    LeastOverhead,
    /// The lowest peak; of near-equal ones the least overhead.
    LowestPeak,
}

impl LaneGoal {
    pub const ALL: [Self; 2] = [Self::LeastOverhead, Self::LowestPeak];

    /// The name in files and flags.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LeastOverhead => "least-overhead",
            Self::LowestPeak => "lowest-peak",
        }
    }

    pub const fn label(self) -> &'static str {
        match self {
            Self::LeastOverhead => "least overhead that fits",
            Self::LowestPeak => "lowest peak",
        }
    }

    /// Reads a name; `least-slowdown` is the first edition's name of the least overhead.
    pub fn parse(text: &str) -> Option<Self> {
        match text.trim() {
            "least-slowdown" => Some(Self::LeastOverhead),
            name => Self::ALL.into_iter().find(|goal| goal.name() == name),
        }
    }
}

/// A configuration that fits and that no rule forbids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub peak: Bytes,
    pub overhead: Nanos,
    /// Pages or blocks that its allocators take from the device.
    pub granule: Bytes,
    pub is_active: bool,
    /// Smaller is preferred among equal peaks.
    pub order: (u64, u64),
}

/// The position of the selected candidate; `None` where there is none. Linear.
pub(super) fn select(goal: LaneGoal, candidates: &[Candidate]) -> Option<usize> {
    let granule = largest_granule(candidates);
    let mut left: Vec<usize> = (0..candidates.len()).collect();
    match goal {
        LaneGoal::LeastOverhead => {
            keep_least_overhead(&mut left, candidates);
            keep_lowest_peaks(&mut left, candidates, granule);
        }
        LaneGoal::LowestPeak => {
            keep_lowest_peaks(&mut left, candidates, granule);
            keep_least_overhead(&mut left, candidates);
        }
    }
    let rank = |position: &usize| {
        let one = &candidates[*position];
        (!one.is_active, one.peak, one.order)
    };
    let selected = left.into_iter().min_by_key(rank)?;
    let is_needless = |active: &usize| {
        let (own, other) = (&candidates[*active], &candidates[selected]);
        let is_as_fast = own.overhead <= other.overhead || are_overheads_equivalent(own.overhead, other.overhead);
        is_as_fast && are_peaks_equivalent(own.peak, other.peak, granule)
    };
    let active = (0..candidates.len()).find(|position| candidates[*position].is_active);
    Some(active.filter(is_needless).unwrap_or(selected))
}

/// The largest granule of the candidates, at least [`LEAST_GRANULE`].
pub(super) fn largest_granule(candidates: &[Candidate]) -> Bytes {
    let granules = candidates.iter().map(|one| one.granule);
    granules.fold(LEAST_GRANULE, Bytes::max)
}

/// The pages or blocks that a policy's allocators take.
pub(super) fn granule(policy: StaticMemoryPolicy) -> Bytes {
    if policy.row().expands_pools {
        PAGE_BYTES
    } else {
        LEAST_GRANULE
    }
}

/// The bytes by which a peak may be above a lower one without a significant difference: 0.5 % of the lower one or the granule,
/// and never more than 5 % of it, because on a small graph a granule is much.
pub(crate) fn peak_tolerance(lower: Bytes, granule: Bytes) -> Bytes {
    let share = Bytes(lower.get() / 200);
    share.max(granule).min(Bytes(lower.get() / 20))
}

/// Whether the difference of two peaks is not significant.
pub(super) fn are_peaks_equivalent(one: Bytes, other: Bytes, granule: Bytes) -> bool {
    Bytes(one.get().abs_diff(other.get())) <= peak_tolerance(one.min(other), granule)
}

/// Whether the difference of two overheads is not significant: at most 1 % of the lower one, or 0.1 ms.
pub fn are_overheads_equivalent(one: Nanos, other: Nanos) -> bool {
    let share = one.min(other).0 / 100;
    one.0.abs_diff(other.0) <= share.max(LEAST_TIME.0)
}

fn keep_least_overhead(left: &mut Vec<usize>, candidates: &[Candidate]) {
    let least = left.iter().map(|position| candidates[*position].overhead).min();
    left.retain(|position| least.is_some_and(|least| are_overheads_equivalent(candidates[*position].overhead, least)));
}

fn keep_lowest_peaks(left: &mut Vec<usize>, candidates: &[Candidate], granule: Bytes) {
    let lowest = left.iter().map(|position| candidates[*position].peak).min();
    left.retain(|position| {
        lowest.is_some_and(|lowest| are_peaks_equivalent(candidates[*position].peak, lowest, granule))
    });
}

#[cfg(test)]
mod tests {
    use super::{Candidate, LaneGoal, are_peaks_equivalent, peak_tolerance, select};
    use highwater_model::units::{Bytes, Nanos};

    /// `MIB MICROSECONDS GRANULE_MIB`, with a star behind the active one.
    fn selected(goal: LaneGoal, rows: &str) -> Option<usize> {
        let candidate = |(order, row): (u64, &str)| {
            let number = |position: usize| {
                row.trim_end_matches('*')
                    .split_whitespace()
                    .nth(position)?
                    .parse::<u64>()
                    .ok()
            };
            Candidate {
                peak: Bytes::mib(number(0).expect("a peak")),
                overhead: Nanos(number(1).expect("an overhead") * 1_000),
                granule: Bytes::mib(number(2).expect("a granule")),
                is_active: row.ends_with('*'),
                order: (0, order),
            }
        };
        let candidates: Vec<Candidate> = (0..).zip(rows.split(',')).map(candidate).collect();
        select(goal, &candidates)
    }

    #[test]
    fn goals_select_by_significant_differences() {
        let least = LaneGoal::LeastOverhead;
        let lowest = LaneGoal::LowestPeak;
        for (rows, by_overhead, by_peak) in [
            // Policy 4 saves little for much time.
            ("3811 6700 2*, 3485 6700 2, 3684 7100 8, 3358 56900 8", 1, 3),
            // Within 0.1 ms overheads are equal, within a page peaks are.
            ("200 50 2*, 194 140 8, 199 0 2", 0, 0),
            ("200 50 2*, 190 140 8, 199 0 2", 0, 1),
            // Within 1 % overheads are equal, within 0.5 % peaks are.
            ("10000 20000 2, 9960 20150 2, 9900 20150 2*", 2, 2),
            ("10000 20000 2, 9960 20150 2, 9920 20150 2", 2, 2),
            // The one near the lowest peak that takes no more time is equal to the active one.
            ("200 1000 8, 206 50 2, 212 50 2*", 2, 2),
            // The lower number wins among equal ones.
            ("100 50 2, 100 50 2", 0, 0),
            ("102 50 2, 100 50 2", 1, 1),
        ] {
            let found = (selected(least, rows), selected(lowest, rows));
            assert_eq!(found, (Some(by_overhead), Some(by_peak)), "{rows}");
        }
        assert_eq!(select(least, &[]), None);
    }

    #[test]
    fn peaks_differ_in_proportion() {
        for (lower, granule, expected) in [
            // A granule is 73 % of this graph, so 5 % count.
            (2_720, 2_048, 136),
            (10_700, 2_048, 535),
            (100 << 10, 2_048, 2_048),
            (100 << 10, 8 << 10, 5 << 10),
            (1 << 20, 2_048, 5_242),
            (0, 2_048, 0),
        ] {
            let tolerance = peak_tolerance(Bytes(lower << 10), Bytes(granule << 10));
            assert_eq!(tolerance.get() >> 10, expected, "{lower} KiB");
            let above = |more: u64| {
                are_peaks_equivalent(
                    Bytes(lower << 10),
                    Bytes(lower << 10) + Bytes(more),
                    Bytes(granule << 10),
                )
            };
            assert!(above(tolerance.get()) && !above(tolerance.get() + 1), "{lower} KiB");
        }
    }

    #[test]
    fn goals_have_names() {
        for goal in LaneGoal::ALL {
            assert_eq!(LaneGoal::parse(goal.name()), Some(goal));
        }
        assert_eq!(LaneGoal::parse("least-slowdown"), Some(LaneGoal::LeastOverhead));
        assert_eq!(LaneGoal::parse("fastest"), None);
    }
}
