//! Units: newtypes of bytes, steps and nanoseconds.
//!
//! In: numbers and texts such as `1.5 GiB`. Out: newtypes with exact and readable text. Invariants: sums saturate (16
//! EiB is above every device, so a saturated sum still compares as "too large"); parsing never guesses a unit. Rounding
//! rules of allocators belong to `sim`.

use std::cmp::Ordering;
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// A position in the execution order (logical time), counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Step(pub u32);

/// A duration in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const TIB: u64 = 1 << 40;

impl Bytes {
    pub const ZERO: Self = Self(0);

    /// 1024 bytes each.
    pub const fn kib(n: u64) -> Self {
        Self(n * KIB)
    }

    /// 1024 KiB each.
    pub const fn mib(n: u64) -> Self {
        Self(n * MIB)
    }

    /// 1024 MiB each.
    pub const fn gib(n: u64) -> Self {
        Self(n * GIB)
    }

    pub const fn get(self) -> u64 {
        self.0
    }

    /// Rounded up to a multiple of `alignment` (bytes, at least 1); saturates.
    #[must_use]
    pub const fn align_up(self, alignment: u64) -> Self {
        let alignment = if alignment == 0 { 1 } else { alignment };
        let rest = self.0 % alignment;
        if rest == 0 {
            self
        } else {
            Self(self.0.saturating_add(alignment - rest))
        }
    }

    /// Zero where `other` is larger.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The largest total that is counted; figures above it would overflow.
    pub const MOST: Self = Self(1 << 62);

    /// A sum; `None` above [`Self::MOST`].
    pub fn total(mut parts: impl Iterator<Item = Self>) -> Option<Self> {
        parts.try_fold(Self::ZERO, |sum, part| {
            sum.checked_add(part).filter(|sum| *sum <= Self::MOST)
        })
    }

    /// `None` above 2^64 - 1.
    pub const fn checked_add(self, other: Self) -> Option<Self> {
        match self.0.checked_add(other.0) {
            Some(sum) => Some(Self(sum)),
            None => None,
        }
    }

    /// How much larger than `bound`, in percent; 0 where the bound is 0.
    pub fn percent_over(self, bound: Self) -> f64 {
        self.saturating_sub(bound).percent_of(bound)
    }

    /// The difference from another amount in percent of that; 0 where that is 0.
    #[expect(clippy::cast_precision_loss, reason = "a percentage")]
    pub fn percent_above(self, other: Self) -> f64 {
        match other {
            Self::ZERO => 0.0,
            _ => (self.get() as f64 - other.get() as f64) / other.get() as f64 * 100.0,
        }
    }

    /// 0 where the whole is 0.
    #[expect(clippy::cast_precision_loss, reason = "a percentage")]
    pub fn percent_of(self, whole: Self) -> f64 {
        if whole == Self::ZERO {
            return 0.0;
        }
        self.get() as f64 / whole.get() as f64 * 100.0
    }

    /// The number in its largest binary unit; `None` below 1 KiB.
    #[expect(clippy::cast_precision_loss, reason = "shown with four figures only")]
    fn scaled(self) -> Option<(f64, &'static str)> {
        let units = [(TIB, "TiB"), (GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")];
        let (factor, unit) = units.into_iter().find(|(factor, _)| self.0 >= *factor)?;
        Some((self.0 as f64 / factor as f64, unit))
    }

    /// Three significant figures and the unit, for narrow columns, rounded once: `4.97 GiB`, `512 B`.
    pub fn short(self) -> String {
        let Some((value, unit)) = self.scaled() else {
            return self.exact();
        };
        let decimals = if value >= 100.0 {
            0
        } else if value >= 10.0 {
            1
        } else {
            2
        };
        format!("{value:.decimals$}\u{a0}{unit}")
    }

    /// Exact digits in groups of three: `2 763 672 996 B`, with thin spaces as separators.
    pub fn exact(self) -> String {
        format!("{}\u{a0}B", grouped(self.0))
    }

    /// Parses `1048576`, `1MiB`, `1.5 GiB`, `2GB` (decimal units are powers of 1000).
    ///
    /// # Errors
    /// [`ParseUnitError`] names the text and the known units. Fractions are rounded towards zero.
    pub fn parse(text: &str) -> Result<Self, ParseUnitError> {
        parse_with_unit(text, unit_factor)
            .map(Self)
            .ok_or_else(|| ParseUnitError { text: text.to_owned() })
    }
}

/// A size text that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is not a size; write bytes (1048576) or a unit (1.5GiB, 512MiB, 64KiB, 2GB)")]
pub struct ParseUnitError {
    pub text: String,
}

fn unit_factor(unit: &str) -> Option<u64> {
    Some(match unit.to_ascii_lowercase().as_str() {
        "" | "b" | "byte" | "bytes" => 1,
        "k" | "kib" => KIB,
        "m" | "mib" => MIB,
        "g" | "gib" => GIB,
        "t" | "tib" => TIB,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        _ => return None,
    })
}

/// Digits (with at most one point; `_` separates groups) before a unit, times the unit's factor; `None` where either is
/// unknown, or above 2^64 - 1. Rounded down.
pub fn parse_with_unit(text: &str, factor_of: impl Fn(&str) -> Option<u64>) -> Option<u64> {
    let text = text.trim();
    let is_digit = |c: char| c.is_ascii_digit() || c == '.' || c == '_';
    let (digits, unit) = text.split_at(text.find(|c| !is_digit(c)).unwrap_or(text.len()));
    parse_scaled(&digits.replace('_', ""), factor_of(unit.trim())?)
}

/// `digits` (with at most one point) times `factor`, exact in integers; `None` above 2^64 - 1.
fn parse_scaled(digits: &str, factor: u64) -> Option<u64> {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
        return None;
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let mut total = u128::from(whole) * u128::from(factor);
    if !fraction.is_empty() {
        let kept = &fraction[..fraction.len().min(18)];
        let numerator: u128 = kept.parse().ok()?;
        total += numerator * u128::from(factor) / 10u128.pow(u32::try_from(kept.len()).ok()?);
    }
    u64::try_from(total).ok()
}

/// Digits in groups of three, separated by no-break spaces.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() * 2);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            out.push('\u{a0}');
        }
        out.push(digit);
    }
    out
}

/// A number with its noun: `1 op`, `2 ops`, `10 000 ops`.
pub fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(count))
}

/// Texts in one line; of many the first `most`, and how many there are besides: `a, b and 58 more`.
pub fn first_of(texts: impl ExactSizeIterator<Item: ToString>, most: usize, separator: &str) -> String {
    let left = texts.len().saturating_sub(most);
    let shown: Vec<String> = texts.take(most).map(|text| text.to_string()).collect();
    let shown = shown.join(separator);
    match left {
        0 => shown,
        left => format!("{shown} and {} more", grouped(left as u64)),
    }
}

impl fmt::Display for Bytes {
    /// Readable text with at most four significant figures: `2.574 GiB`, `1 023 MiB`, `512 B`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((value, unit)) = self.scaled() else {
            return write!(f, "{}\u{a0}B", self.0);
        };
        if value >= 999.95 {
            return write!(f, "{}\u{a0}{unit}", grouped(whole(value)));
        }
        let decimals = if value >= 100.0 {
            1
        } else if value >= 10.0 {
            2
        } else {
            3
        };
        write!(f, "{value:.decimals$}\u{a0}{unit}")
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Bytes {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.saturating_sub(other)
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

impl Step {
    pub const fn idx(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&grouped(u64::from(self.0)))
    }
}

impl fmt::Display for Nanos {
    /// Readable text with at most four significant figures below 10 000 s: `1.25 ms`, `205.6 ms`, `800 ns`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (factor, unit) = match self.0 {
            n if n >= 1_000_000_000 => (1e9, "s"),
            n if n >= 1_000_000 => (1e6, "ms"),
            n if n >= 1_000 => (1e3, "µs"),
            n => return write!(f, "{n}\u{a0}ns"),
        };
        #[expect(clippy::cast_precision_loss, reason = "shown with three figures only")]
        let value = self.0 as f64 / factor;
        if value >= 999.95 {
            return write!(f, "{}\u{a0}{unit}", grouped(whole(value)));
        }
        let decimals = if value >= 99.995 { 1 } else { 2 };
        write!(f, "{value:.decimals$}\u{a0}{unit}")
    }
}

impl Add for Nanos {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

/// A share for people: a percentage with one decimal, without decimals from 1000 % on; a positive value never reads as
/// 0.0 %.
pub fn percent_text(percent: f64) -> String {
    if percent > 0.0 && percent < 0.05 {
        "< 0.1 %".to_owned()
    } else {
        percents(percent, 1)
    }
}

/// The absolute value of a difference behind its sign: `+x`, `−x`, and `x` where there is no difference.
pub fn signed(difference: Ordering, text: impl fmt::Display) -> String {
    match difference {
        Ordering::Less => format!("\u{2212}{text}"),
        Ordering::Equal => text.to_string(),
        Ordering::Greater => format!("+{text}"),
    }
}

/// A difference in bytes: `+80.0 MiB`, `0 B`, `−1.5 GiB`.
pub fn signed_bytes(bytes: i128) -> String {
    let size = Bytes(u64::try_from(bytes.unsigned_abs()).unwrap_or(u64::MAX));
    signed(bytes.cmp(&0), size)
}

/// A difference in percent with its sign and one decimal: `+3.4 %`, `0.0 %`, `−10.5 %`, `+<0.1 %`.
pub fn signed_percent_text(percent: f64) -> String {
    let difference = percent.partial_cmp(&0.0).unwrap_or(Ordering::Equal);
    signed(difference, percent_text(percent.abs()).replace("< ", "<"))
}

/// A non-negative percentage with this many decimals; without decimals and with separated thousands from 1000 % on:
/// `3.4 %`, `22 133 %`.
pub fn percents(percent: f64, decimals: usize) -> String {
    if percent < 1000.0 {
        return format!("{percent:.decimals$} %");
    }
    format!("{} %", grouped(whole(percent)))
}

/// The nearest whole number of a value that is not negative.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative, and held at the end of the range"
)]
const fn whole(value: f64) -> u64 {
    value.round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percents_have_decimals_or_thousands() {
        for (percent, decimals, text) in [
            (3.44, 1, "3.4 %"),
            (999.96, 1, "1000.0 %"),
            (1000.4, 1, "1\u{a0}000 %"),
            (22_133.4, 2, "22\u{a0}133 %"),
            (0.0, 0, "0 %"),
            (
                f64::INFINITY,
                1,
                "18\u{a0}446\u{a0}744\u{a0}073\u{a0}709\u{a0}551\u{a0}615 %",
            ),
        ] {
            assert_eq!(percents(percent, decimals), text);
        }
        assert_eq!(percent_text(0.001), "< 0.1 %");
        assert_eq!(percent_text(12.345), "12.3 %");
    }

    #[test]
    fn every_difference_has_its_sign() {
        for (percent, text) in [
            (49.0, "+49.0 %"),
            (-0.3, "−0.3 %"),
            (0.0, "0.0 %"),
            (0.04, "+<0.1 %"),
            (-0.04, "−<0.1 %"),
            (-100.0, "−100.0 %"),
        ] {
            assert_eq!(signed_percent_text(percent), text);
        }
        let bytes = [0, -1, 2048, i128::MIN].map(signed_bytes);
        assert_eq!(bytes[..3], ["0\u{a0}B", "−1\u{a0}B", "+2.000\u{a0}KiB"]);
        assert!(bytes[3].starts_with('−'), "{}", bytes[3]);
    }

    #[test]
    fn short_texts_are_rounded_once() {
        for (bytes, text) in [
            (5_331_267_632, "4.97\u{a0}GiB"),
            (1023, "1\u{a0}023\u{a0}B"),
            (1024, "1.00\u{a0}KiB"),
            (12 << 20, "12.0\u{a0}MiB"),
            (345 << 30, "345\u{a0}GiB"),
        ] {
            assert_eq!(Bytes(bytes).short(), text);
        }
    }

    #[test]
    fn sizes_are_parsed_exactly() {
        for (text, bytes) in [
            ("1048576", 1 << 20),
            ("1MiB", 1 << 20),
            ("1.5 GiB", 3 << 29),
            ("2GB", 2_000_000_000),
            ("0.5k", 512),
            (".25 MiB", 1 << 18),
            ("32 gib", 32 << 30),
        ] {
            assert_eq!(Bytes::parse(text), Ok(Bytes(bytes)), "{text}");
        }
        for text in ["", "GiB", "1.2.3", "-1", "1 parsec", "99999999999 TiB"] {
            assert!(Bytes::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn texts_carry_units() {
        assert_eq!(Bytes(512).to_string(), "512\u{a0}B");
        assert_eq!(Bytes(2_763_672_996).to_string(), "2.574\u{a0}GiB");
        assert_eq!(Bytes(1_234_567).exact(), "1\u{a0}234\u{a0}567\u{a0}B");
    }

    #[test]
    fn texts_have_four_figures_at_most() {
        for (bytes, text) in [
            (1_073_741_823, "1\u{a0}024\u{a0}MiB"),
            (1_048_524_000, "1\u{a0}000\u{a0}MiB"),
            (1_048_470_000, "999.9\u{a0}MiB"),
        ] {
            assert_eq!(Bytes(bytes).to_string(), text);
        }
        for (nanos, text) in [
            (205_581_000, "205.6\u{a0}ms"),
            (99_994_000, "99.99\u{a0}ms"),
            (99_996_000, "100.0\u{a0}ms"),
            (999_960_000, "1\u{a0}000\u{a0}ms"),
            (56_935_480_000_000, "56\u{a0}935\u{a0}s"),
        ] {
            assert_eq!(Nanos(nanos).to_string(), text);
        }
    }
}
