//! The rates with the smallest sum of errors of estimated against measured times.
//!
//! An op takes the launch time plus the larger of operations and bytes over their rates. For a given launch time, ops
//! fall into two classes; the rate of a class that minimizes its errors is the median of time by work, weighted by
//! work, which a few slow ops (as in a first run) do not move. Classes and rates are computed in turn until they are
//! stable, at most [`MAX_ROUNDS`] times. Launch times are tried at even parts of the measured times, then in ever
//! smaller thirds around the best.
//!
//! A few large ops dominate the sum of errors, so it hardly separates launch times: among those within a hundredth of
//! the smallest sum, the one with the smallest median error wins. It is never worse in sum than the current values.
//! O(tries x rounds x n log n) with n at most [`MAX_SEARCHED`], and a few rounds over all.

use highwater_model::units::Nanos;
use highwater_rewrite::remat::{OpRates, OpWork};

/// Most iterations between classes and rates.
const MAX_ROUNDS: u32 = 32;

/// Ops that the search for a launch time uses; of more ones an even selection by work.
const MAX_SEARCHED: usize = 1 << 10;

/// Even parts of the measured times that are tried as launch times.
const LAUNCH_PARTS: usize = 48;

/// Most trisections around the best launch time.
const MAX_THIRDS: u32 = 40;

/// The tolerance of sums of errors: one of so many parts.
const NEAR: u128 = 100;

/// Work and its time, in nanoseconds.
pub(super) type Sample = (OpWork, u64);

/// The values that the search finds; the current ones where none is better.
pub(super) fn fitted(samples: &[Sample], now: OpRates) -> OpRates {
    let part = thinned(samples);
    let launches = tried_launches(&part, now);
    let found = launches.iter().map(|launch| settled(&part, *launch, now));
    let on_part: Vec<OpRates> = std::iter::once(now).chain(found).collect();
    // Values from a part of the samples are compared on all of them. Simpler ones first: the first of equals wins.
    let launches = [Nanos(0), now.launch, chosen(&part, &on_part).launch];
    let found = launches.map(|launch| settled(samples, launch, now));
    let on_all: Vec<OpRates> = std::iter::once(now).chain(found).collect();
    chosen(samples, &on_all)
}

/// Of values whose sum of errors is near the smallest and no worse than the first, those with the smallest median
/// error; the first of equals.
fn chosen(samples: &[Sample], tried: &[OpRates]) -> OpRates {
    let errors: Vec<u128> = tried.iter().map(|rates| total_error(samples, *rates)).collect();
    let least = errors.iter().min().copied().unwrap_or(0);
    let most = errors[0].min(least + least / NEAR);
    let near = tried.iter().zip(&errors).filter(|(_, error)| **error <= most);
    let best = near.min_by(|(left, left_error), (right, right_error)| {
        let (left, right) = (median_error(samples, **left), median_error(samples, **right));
        left.total_cmp(&right).then(left_error.cmp(right_error))
    });
    best.map_or(tried[0], |(rates, _)| *rates)
}

/// The rates with the smallest sum of errors for a launch time. O(rounds x n log n).
pub(super) fn settled(samples: &[Sample], launch: Nanos, now: OpRates) -> OpRates {
    let mut rates = start(samples, OpRates { launch, ..now });
    let mut best = (total_error(samples, rates), rates);
    for _ in 0..MAX_ROUNDS {
        let next = of_classes(samples, rates);
        if next == rates {
            break;
        }
        rates = next;
        let error = total_error(samples, rates);
        if error < best.0 {
            best = (error, rates);
        }
    }
    best.1
}

/// Candidate launch times: even parts of the times, and ever nearer to the one with the smallest sum of errors.
fn tried_launches(samples: &[Sample], now: OpRates) -> Vec<Nanos> {
    let error = |launch: u64| total_error(samples, settled(samples, Nanos(launch), now));
    let mut times: Vec<u64> = samples.iter().map(|(_, time)| *time).collect();
    times.sort_unstable();
    let Some(last) = times.len().checked_sub(1) else {
        return Vec::new();
    };
    let mut tried: Vec<u64> = vec![0];
    tried.extend((0..=LAUNCH_PARTS).map(|part| times[last * part / LAUNCH_PARTS]));
    tried.dedup();
    let errors: Vec<u128> = tried.iter().map(|launch| error(*launch)).collect();
    let at = (0..tried.len()).min_by_key(|at| errors[*at]).unwrap_or(0);
    let (mut low, mut high) = (tried[at.saturating_sub(1)], tried[(at + 1).min(tried.len() - 1)]);
    for _ in 0..MAX_THIRDS {
        let third = (high - low) / 3;
        if third == 0 {
            break;
        }
        let (lower, higher) = (low + third, high - third);
        tried.extend([lower, higher]);
        if error(lower) <= error(higher) {
            high = higher;
        } else {
            low = lower;
        }
    }
    tried.into_iter().map(Nanos).collect()
}

/// Samples of every amount of work, few enough for a quick search; all where there are few.
fn thinned(samples: &[Sample]) -> Vec<Sample> {
    let mut sorted = samples.to_vec();
    if sorted.len() <= MAX_SEARCHED {
        return sorted;
    }
    sorted.sort_unstable_by_key(|(work, time)| (work.bytes, work.flops, *time));
    (0..MAX_SEARCHED)
        .map(|part| sorted[part * sorted.len() / MAX_SEARCHED])
        .collect()
}

/// The first rates: every op counts for both, so that no class is empty.
fn start(samples: &[Sample], now: OpRates) -> OpRates {
    let all = |work: fn(&OpWork) -> u64| rate(samples.iter().map(|(one, time)| (work(one), *time)), now.launch);
    OpRates {
        flops_per_second: all(|work| work.flops).unwrap_or(now.flops_per_second),
        bytes_per_second: all(|work| work.bytes).unwrap_or(now.bytes_per_second),
        launch: now.launch,
    }
}

/// The rates of the classes under some values; a class without ops, or whose ops take no longer than the launch time,
/// keeps its rate.
fn of_classes(samples: &[Sample], rates: OpRates) -> OpRates {
    let class = |is_compute: bool| {
        samples
            .iter()
            .filter(move |(work, _)| rates.is_compute_bound(*work) == is_compute)
    };
    let compute = rate(class(true).map(|(work, time)| (work.flops, *time)), rates.launch);
    let moving = rate(class(false).map(|(work, time)| (work.bytes, *time)), rates.launch);
    OpRates {
        flops_per_second: compute.unwrap_or(rates.flops_per_second),
        bytes_per_second: moving.unwrap_or(rates.bytes_per_second),
        launch: rates.launch,
    }
}

/// The rate with the smallest sum of errors behind a launch time; `None` where there is no work or it takes no longer
/// than the launch time. O(samples), a sort.
fn rate(samples: impl Iterator<Item = (u64, u64)>, launch: Nanos) -> Option<u64> {
    let rest = samples.map(|(work, time)| (work, time.saturating_sub(launch.0)));
    let mut samples: Vec<(u64, u64)> = rest.filter(|(work, _)| *work > 0).collect();
    // By time per unit of work, compared as cross products to avoid rounding.
    samples.sort_unstable_by(|(work, time), (other_work, other_time)| {
        let (left, right) = (
            u128::from(*time) * u128::from(*other_work),
            u128::from(*other_time) * u128::from(*work),
        );
        left.cmp(&right).then(work.cmp(other_work))
    });
    let whole: u128 = samples.iter().map(|(work, _)| u128::from(*work)).sum();
    let mut passed = 0_u128;
    let middle = samples.iter().find(|(work, _)| {
        passed += u128::from(*work);
        passed * 2 >= whole
    });
    let (work, time) = middle.filter(|(_, time)| *time > 0)?;
    let rate = u128::from(*work) * 1_000_000_000 / u128::from(*time);
    // The options take signed numbers.
    u64::try_from(rate.clamp(1, u128::from(i64::MAX.unsigned_abs()))).ok()
}

/// The sum of errors, in nanoseconds.
pub(super) fn total_error(samples: &[Sample], rates: OpRates) -> u128 {
    let off = samples.iter().map(|(work, time)| rates.time(*work).0.abs_diff(*time));
    off.map(u128::from).sum()
}

/// The median error, in percent of the measured time.
pub(super) fn median_error(samples: &[Sample], rates: OpRates) -> f64 {
    let off = samples.iter().map(|(work, time)| {
        #[expect(clippy::cast_precision_loss, reason = "percents without decimals")]
        let percent = rates.time(*work).0.abs_diff(*time) as f64 * 100.0 / *time as f64;
        percent
    });
    let mut off: Vec<f64> = off.collect();
    off.sort_unstable_by(f64::total_cmp);
    off[off.len() / 2]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: OpRates = OpRates {
        flops_per_second: 1_000,
        bytes_per_second: 1_000,
        launch: Nanos(0),
    };

    /// Works of every mixture, with the times that some figures give; at least 1.
    fn samples(rates: OpRates, n_samples: u64) -> Vec<Sample> {
        let works = (0..n_samples).map(|n| OpWork {
            flops: (n * 7_919 % 61) * 1_000_000_000,
            bytes: (1 + n * 104_729 % 53) * 1_000_000,
        });
        works.map(|work| (work, rates.time(work).0.max(1))).collect()
    }

    proptest! {
        #[test]
        fn figures_are_found_again_in_the_times_that_they_give(
            flops_per_second in 1_000_000_000_000_u64..300_000_000_000_000,
            bytes_per_second in 30_000_000_000_u64..1_000_000_000_000,
            launch in prop_oneof![Just(0_u64), 1_000_u64..2_000_000],
            n_samples in 40_u64..90,
        ) {
            let rates = OpRates { flops_per_second, bytes_per_second, launch: Nanos(launch) };
            let mut samples = samples(rates, n_samples);
            let found = fitted(&samples, NOW);
            prop_assert!(median_error(&samples, found) < 2.0, "{rates:?} {found:?}");
            prop_assert!(
                found.launch.0.abs_diff(launch) <= 1_000 + launch / 20,
                "{rates:?} {found:?}"
            );
            // Some that took far longer, as those of a first run do.
            let others = median_error(&samples, found);
            for late in samples.iter_mut().step_by(9) {
                late.1 = late.1 * 40 + 50_000_000;
            }
            let found = fitted(&samples, NOW);
            prop_assert!(median_error(&samples, found) < others + 5.0, "{rates:?} {found:?}");
        }

        #[test]
        fn figures_are_never_worse_than_those_before(
            samples in prop::collection::vec(
                ((0_u64..1_000_000_000_000, 1_u64..1_000_000_000), 1_u64..100_000_000),
                1..60,
            ),
            now in (1_u64..1_000_000_000_000_000, 1_u64..1_000_000_000_000, 0_u64..10_000_000),
        ) {
            let samples: Vec<Sample> = samples
                .into_iter()
                .map(|((flops, bytes), time)| (OpWork { flops, bytes }, time))
                .collect();
            let now = OpRates { flops_per_second: now.0, bytes_per_second: now.1, launch: Nanos(now.2) };
            let found = fitted(&samples, now);
            let error = total_error(&samples, found);
            prop_assert!(error <= total_error(&samples, now));
            let without = total_error(&samples, settled(&samples, Nanos(0), now));
            prop_assert!(error <= without + without / NEAR, "nor more than a hundredth than without a launch");
        }
    }

    #[test]
    fn of_many_ops_a_part_tells_the_launch() {
        let rates = OpRates {
            flops_per_second: 10_000_000_000_000,
            bytes_per_second: 100_000_000_000,
            launch: Nanos(20_000),
        };
        let found = fitted(&samples(rates, 5_000), NOW);
        assert!(found.launch.0.abs_diff(20_000) < 100, "{found:?}");
    }

    #[test]
    fn work_without_time_has_no_rate() {
        let rate = |samples: &[(u64, u64)], launch| rate(samples.iter().copied(), Nanos(launch));
        assert_eq!(rate(&[(0, 5)], 0), None);
        assert_eq!(rate(&[(10, 0)], 0), None);
        assert_eq!(rate(&[(10, 1_000_000_000), (0, 7)], 0), Some(10));
        // One that took long does not move the others.
        let late = [(10, 1_000_000_000), (10, 1_100_000_000), (11, 900_000_000_000)];
        assert_eq!(rate(&late, 0), Some(9));
        assert_eq!(rate(&late, 600_000_000), Some(20));
        assert_eq!(rate(&late[..1], 1_000_000_000), None, "the launch is all that it takes");
    }
}
