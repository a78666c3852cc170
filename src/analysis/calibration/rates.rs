//! The rates at which a device computes and moves bytes, from measured times.
//!
//! Each op takes the larger of its operations over one rate and its bytes over the other. So ops fall into two classes, and
//! the rate of a class is the one with the smallest sum of errors: the median of time by work, in which each op counts by its
//! work. A few ops that took far longer, as those of a first run do, do not move it. The classes follow from the rates and
//! the rates from the classes; they are taken in turn until they stay, at most [`MOST_ROUNDS`] times, and the rates with the
//! smallest sum of errors are kept.

use super::{Calibration, LearnedSetting, Measured};
use crate::options::keys;
use crate::rewrite::remat::{OpRates, OpWork, op_work};
use crate::units::Nanos;

/// Most turns between classes and rates.
const MOST_ROUNDS: u32 = 32;

/// Work and the time that it took, in nanoseconds.
type Sample = (OpWork, u64);

/// Adds the rates, where enough was measured.
pub(super) fn learn(calibration: &mut Calibration, measured: &Measured<'_>, now: OpRates) {
    let samples: Vec<Sample> = measured
        .ops
        .iter()
        .filter_map(|one| Some((op_work(measured.graph, &measured.sizes, one.op), one.time?.0)))
        .filter(|(work, time)| *time > 0 && (work.flops > 0 || work.bytes > 0))
        .collect();
    if samples.is_empty() {
        calibration.notes.push(
            "Of no measured op both the time and what it computes are known, so rates cannot be learned.".to_owned(),
        );
        return;
    }
    let rates = fitted(&samples, now);
    let (before, after) = (median_error(&samples, now), median_error(&samples, rates));
    let total = Nanos(samples.iter().map(|(_, time)| *time).fold(0, u64::saturating_add));
    let estimated = |rates: OpRates| {
        let times = samples.iter().map(|(work, _)| rates.time(*work).0);
        Nanos(times.fold(0, u64::saturating_add))
    };
    let n_compute = samples.iter().filter(|(work, _)| rates.is_compute_bound(*work)).count();
    let fit = format!(
        "{} ops took {total}; estimated {} with these rates ({} before), an op off by {after:.0} % in the median \
         ({before:.0} % before)",
        samples.len(),
        estimated(rates),
        estimated(now),
    );
    if n_compute > 0 {
        calibration.settings.push(LearnedSetting {
            key: keys::FLOPS_PER_SECOND,
            now: now.flops_per_second.to_string(),
            learned: rates.flops_per_second.to_string(),
            from: format!("{n_compute} ops whose operations take longer than their bytes. {fit}."),
        });
    } else {
        calibration.notes.push(
            if samples.iter().all(|(work, _)| work.flops == 0) {
                "No measured op states its floating point operations, so their rate cannot be learned."
            } else {
                "No measured op is bound by its floating point operations, so their rate cannot be learned."
            }
            .to_owned(),
        );
    }
    if n_compute < samples.len() {
        calibration.settings.push(LearnedSetting {
            key: keys::OP_BYTES_PER_SECOND,
            now: now.bytes_per_second.to_string(),
            learned: rates.bytes_per_second.to_string(),
            from: format!(
                "{} ops whose bytes take longer than their operations. {fit}.",
                samples.len() - n_compute
            ),
        });
    } else {
        calibration
            .notes
            .push("No measured op is bound by the bytes that it moves, so their rate cannot be learned.".to_owned());
    }
}

/// The rates of the smallest sum of errors that taking turns finds. O(rounds x samples).
fn fitted(samples: &[Sample], now: OpRates) -> OpRates {
    let mut best = (total_error(samples, now), now);
    let mut rates = start(samples, now);
    for _ in 0..MOST_ROUNDS {
        let error = total_error(samples, rates);
        if error < best.0 {
            best = (error, rates);
        }
        let next = of_classes(samples, rates);
        if next == rates {
            break;
        }
        rates = next;
    }
    best.1
}

/// Where the turns begin: every op counts for both rates, so that no class begins empty.
fn start(samples: &[Sample], now: OpRates) -> OpRates {
    let all = |work: fn(&OpWork) -> u64| rate(samples.iter().map(|(one, time)| (work(one), *time)));
    OpRates {
        flops_per_second: all(|work| work.flops).unwrap_or(now.flops_per_second),
        bytes_per_second: all(|work| work.bytes).unwrap_or(now.bytes_per_second),
    }
}

/// The rates of the classes under some rates; a class without ops keeps its own.
fn of_classes(samples: &[Sample], rates: OpRates) -> OpRates {
    let class = |is_compute: bool| {
        samples
            .iter()
            .filter(move |(work, _)| rates.is_compute_bound(*work) == is_compute)
    };
    let compute = rate(class(true).map(|(work, time)| (work.flops, *time)));
    let moving = rate(class(false).map(|(work, time)| (work.bytes, *time)));
    OpRates {
        flops_per_second: compute.unwrap_or(rates.flops_per_second),
        bytes_per_second: moving.unwrap_or(rates.bytes_per_second),
    }
}

/// The work a second under which estimates are off least in sum; `None` where there is no work. O(samples), a sort.
fn rate(samples: impl Iterator<Item = (u64, u64)>) -> Option<u64> {
    let mut samples: Vec<(u64, u64)> = samples.filter(|(amount, time)| *amount > 0 && *time > 0).collect();
    // By time a unit of work, compared as cross products, so that nothing is rounded.
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
    let (work, time) = middle?;
    let rate = u128::from(*work) * 1_000_000_000 / u128::from(*time);
    // The options take signed numbers.
    u64::try_from(rate.clamp(1, u128::from(i64::MAX.unsigned_abs()))).ok()
}

/// The sum of what estimates are off by, in nanoseconds.
fn total_error(samples: &[Sample], rates: OpRates) -> u128 {
    let off = samples.iter().map(|(work, time)| rates.time(*work).0.abs_diff(*time));
    off.map(u128::from).sum()
}

/// The median of what estimates are off by, in percent of the measured time.
fn median_error(samples: &[Sample], rates: OpRates) -> f64 {
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
    use super::*;

    const NOW: OpRates = OpRates {
        flops_per_second: 1_000,
        bytes_per_second: 1_000,
    };

    /// Works of every mixture, with the times that some rates give.
    fn samples(rates: OpRates) -> Vec<Sample> {
        let works = (0..60_u64).map(|n| OpWork {
            flops: (n * 7_919 % 61) * 1_000_000_000,
            bytes: (1 + n * 104_729 % 53) * 1_000_000,
        });
        works.map(|work| (work, rates.time(work).0)).collect()
    }

    #[test]
    fn rates_are_found_again_in_the_times_that_they_give() {
        for (flops_per_second, bytes_per_second) in [
            (300_000_000_000_000, 1_000_000_000_000),
            (10_000_000_000_000, 100_000_000_000),
            (1_000_000_000_000, 30_000_000_000),
        ] {
            let rates = OpRates {
                flops_per_second,
                bytes_per_second,
            };
            let samples = samples(rates);
            let found = fitted(&samples, NOW);
            assert!(median_error(&samples, found) < 2.0, "{rates:?} {found:?}");
        }
    }

    #[test]
    fn rates_are_never_worse_than_those_before() {
        let samples: Vec<Sample> = (1..40_u64)
            .map(|n| {
                let work = OpWork {
                    flops: n * n % 17 * 1_000,
                    bytes: n * 31 % 13 * 1_000,
                };
                (work, 1 + n * 37 % 101)
            })
            .collect();
        for flops_per_second in [1, 1_000, 1_000_000_000_000] {
            let now = OpRates {
                flops_per_second,
                bytes_per_second: 1_000_000_000_000,
            };
            assert!(total_error(&samples, fitted(&samples, now)) <= total_error(&samples, now));
        }
    }

    #[test]
    fn work_without_time_has_no_rate() {
        assert_eq!(rate([(0, 5)].into_iter()), None);
        assert_eq!(rate([(10, 0)].into_iter()), None);
        assert_eq!(rate([(10, 1_000_000_000), (0, 7)].into_iter()), Some(10));
        // One that took long does not move the others.
        let late = [(10, 1_000_000_000), (10, 1_100_000_000), (11, 900_000_000_000)];
        assert_eq!(rate(late.into_iter()), Some(9));
    }
}
