//! Rates of computing and of moving bytes, and the launch time of ops, from measured times. [`fit`] finds the values.

mod fit;

use super::{Calibration, LearnedSetting, Measured};
use fit::{Sample, fitted, median_error, settled, total_error};
use highwater_model::units::Nanos;
use highwater_options::keys;
use highwater_rewrite::remat::{OpRates, op_work};

/// Adds rates and launch time, where enough was measured.
pub(super) fn learn(calibration: &mut Calibration, measured: &Measured<'_>, now: OpRates) {
    let samples: Vec<Sample> = measured
        .ops
        .iter()
        .filter_map(|one| Some((op_work(measured.graph, &measured.sizes, one.op), one.time?.0)))
        .filter(|(work, time)| *time > 0 && (work.flops > 0 || work.bytes > 0))
        .collect();
    if samples.is_empty() {
        calibration.note("No measured op has both a time and a known amount of work, so rates cannot be learned.");
        return;
    }
    let rates = fitted(&samples, now);
    calibration.note(note(&samples, now, rates));
    let poor = poor_fit(&samples, rates);
    let n_compute = samples.iter().filter(|(work, _)| rates.is_compute_bound(*work)).count();
    let mut learn_rate = |key, now: u64, learned: u64, from: (usize, &str), why_not: &str| match from {
        (0, _) => calibration.note(format!("No measured op {why_not}, so their rate cannot be learned.")),
        (count, which) => calibration.settings.push(LearnedSetting {
            key,
            now: now.to_string(),
            learned: learned.to_string(),
            from: format!("{count} ops whose {which}."),
            poor_fit: poor.clone(),
        }),
    };
    learn_rate(
        keys::FLOPS_PER_SECOND,
        now.flops_per_second,
        rates.flops_per_second,
        (n_compute, "operations take longer than their bytes"),
        if samples.iter().all(|(work, _)| work.flops == 0) {
            "states its floating point operations"
        } else {
            "is bound by its floating point operations"
        },
    );
    learn_rate(
        keys::OP_BYTES_PER_SECOND,
        now.bytes_per_second,
        rates.bytes_per_second,
        (samples.len() - n_compute, "bytes take longer than their operations"),
        "is bound by the bytes that it moves",
    );
    learn_launch(calibration, &samples, now, rates, poor);
}

/// The median error of ops, in percent, above which learned rates are called a poor fit.
const MOST_ERROR: f64 = 30.0;

/// Fewest ops that a fit rests on.
const FEWEST_OPS: usize = 10;

/// Why the rates should not be used.
fn poor_fit(samples: &[Sample], rates: OpRates) -> Option<String> {
    let error = median_error(samples, rates);
    if samples.len() < FEWEST_OPS {
        return Some(format!("poor fit: only {} ops were measured", samples.len()));
    }
    (error > MOST_ERROR).then(|| format!("poor fit: the time of half of the ops is off by {error:.0} % or more"))
}

/// The error of all learned values together, and that of the current ones.
fn note(samples: &[Sample], now: OpRates, rates: OpRates) -> String {
    let total = Nanos(samples.iter().map(|(_, time)| *time).fold(0, u64::saturating_add));
    let estimated = |rates: OpRates| {
        let times = samples.iter().map(|(work, _)| rates.time(*work).0);
        Nanos(times.fold(0, u64::saturating_add))
    };
    format!(
        "{} ops took {total}; with the learned settings the estimate is {} (before: {}), the total error {} (before: \
         {}) and the median error per op {:.0} % (before: {:.0} %).",
        samples.len(),
        estimated(rates),
        estimated(now),
        error(samples, rates),
        error(samples, now),
        median_error(samples, rates),
        median_error(samples, now),
    )
}

/// The sum of estimation errors.
fn error(samples: &[Sample], rates: OpRates) -> Nanos {
    Nanos(u64::try_from(total_error(samples, rates)).unwrap_or(u64::MAX))
}

fn learn_launch(calibration: &mut Calibration, samples: &[Sample], now: OpRates, rates: OpRates, poor: Option<String>) {
    if rates.launch == Nanos(0) && now.launch == Nanos(0) {
        calibration.note("A fixed time per op does not improve the estimates, so none is learned.");
        return;
    }
    let without = error(samples, settled(samples, Nanos(0), now));
    calibration.settings.push(LearnedSetting {
        key: keys::OP_LAUNCH_NS,
        now: now.launch.0.to_string(),
        learned: rates.launch.0.to_string(),
        from: format!(
            "Fixed time of each of {} ops; without it the best rates have a total error of {without}.",
            samples.len()
        ),
        poor_fit: poor,
    });
}
