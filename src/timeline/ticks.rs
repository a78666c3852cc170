//! Axis ticks at round values.

use super::viewport::View;
use highwater_model::units::{Bytes, grouped};

#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    pub value: f64,
    pub label: String,
}

/// Ticks at round byte values within `low..=high`, at most `most`, but always one above the lowest, so that the scale
/// can be read.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a picture needs no more than 53 bits, and values are not negative"
)]
pub fn byte_ticks(low: f64, high: f64, most: u32) -> Vec<Tick> {
    let mut step = 1.0_f64;
    while (high - low) / step > f64::from(most.max(1)) && step < 1e19 {
        step *= 2.0;
    }
    let first = |step: f64| (low.max(0.0) / step).ceil() * step;
    while first(step) + step > high && step > 1.0 {
        step /= 2.0;
    }
    let mut ticks = Vec::new();
    let mut value = first(step);
    while value <= high && ticks.len() <= most.max(1) as usize {
        ticks.push(Tick {
            value,
            label: short_bytes(Bytes(value as u64)),
        });
        value += step;
    }
    ticks
}

/// Ticks at round steps within `t0..t1`, at most `most`; never between two steps.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "steps are whole, fit 53 bits and are not negative"
)]
pub fn step_ticks(t0: f64, t1: f64, most: u32) -> Vec<Tick> {
    let step = round_step(t1 - t0, most);
    let mut ticks = Vec::new();
    let mut value = (t0.max(0.0) / step).ceil() * step;
    while value < t1 {
        ticks.push(Tick {
            value,
            label: grouped(value as u64),
        });
        value += step;
    }
    ticks
}

/// Ticks at round times within `low..=high` nanoseconds, at most `most`. If labels needed many digits, the first is
/// absolute and the others are relative to it.
pub fn time_ticks(low: f64, high: f64, most: u32) -> Vec<Tick> {
    let step = round_step(high - low, most);
    let first = (low.max(0.0) / step).ceil() * step;
    let mut values = vec![first];
    while values.last().is_some_and(|last| last + step <= high) && values.len() <= most as usize {
        values.push(first + step * f64::from(u32::try_from(values.len()).unwrap_or(u32::MAX)));
    }
    values.retain(|value| (low..=high).contains(value));
    let last = values.last().copied().unwrap_or(0.0);
    let is_long = last / step >= 1e4;
    let label = |value: f64| match value - first {
        later if is_long && later > 0.0 => format!("+{}", short_time(later, step)),
        _ => short_time(value, step),
    };
    values
        .iter()
        .map(|value| Tick {
            value: *value,
            label: label(*value),
        })
        .collect()
}

impl View<'_> {
    /// Ticks at round steps or, along a time axis, at the steps that reach round times; at most so many of either.
    pub fn ticks(&self, [most_steps, most_times]: [u32; 2]) -> Vec<Tick> {
        let Some(axis) = self.axis() else {
            return step_ticks(self.t0, self.t1, most_steps);
        };
        let mut ticks = time_ticks(axis.time(self.t0), axis.time(self.t1), most_times);
        for tick in &mut ticks {
            tick.value = axis.step_at_time(tick.value);
        }
        ticks
    }
}

/// The smallest of 1, 2, 5, 10, 20, ... that divides a span into at most `most` parts.
fn round_step(span: f64, most: u32) -> f64 {
    let mut step = 1.0_f64;
    let mut factors = [2.0, 2.5, 2.0].iter().cycle();
    while span / step > f64::from(most.max(1)) {
        step *= factors.next().copied().unwrap_or(2.0);
    }
    step.ceil()
}

/// A time with enough digits to tell it from one `step` later: `0`, `800 ns`, `1.25 ms`.
fn short_time(time: f64, step: f64) -> String {
    let units = [(1e9, "s", 9_i32), (1e6, "ms", 6), (1e3, "µs", 3)];
    let Some((factor, unit, zeros)) = units.into_iter().find(|(factor, ..)| time >= *factor) else {
        return if time == 0.0 {
            "0".to_owned()
        } else {
            format!("{time:.0}\u{a0}ns")
        };
    };
    let mut n_decimals = 0_usize;
    let mut finest = factor;
    while n_decimals < usize::try_from(zeros).unwrap_or(0) && (step / finest).fract() > 1e-9 {
        finest /= 10.0;
        n_decimals += 1;
    }
    let text = format!("{:.n_decimals$}", time / factor);
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    format!("{text}\u{a0}{unit}")
}

/// A size with as few digits as it needs: `2 GiB`, `1.5 GiB`, `512 MiB`, `0`.
#[expect(clippy::cast_precision_loss, reason = "shown with three figures only")]
fn short_bytes(bytes: Bytes) -> String {
    let units = [
        (1_u64 << 40, "TiB"),
        (1 << 30, "GiB"),
        (1 << 20, "MiB"),
        (1 << 10, "KiB"),
    ];
    let n = bytes.get();
    let Some((factor, unit)) = units.into_iter().find(|(factor, _)| n >= *factor) else {
        return if n == 0 { "0".to_owned() } else { format!("{n}\u{a0}B") };
    };
    let text = format!("{:.3}", n as f64 / factor as f64);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text}\u{a0}{unit}")
}
