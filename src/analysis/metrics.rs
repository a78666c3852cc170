//! The figures by which lanes are compared, declared once, and limits on them.
//!
//! In: a lane, or the figure of an earlier answer. Out: figures, differences in words, whether a limit holds. A difference is
//! exact; a percentage of nothing is none.

use std::fmt;

use thiserror::Error;

use super::Lane;
use crate::sim::fold::Summary;
use crate::units::{Bytes, Nanos, grouped};

/// One figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Figure {
    /// Bytes.
    Bytes(u64),
    /// A count.
    Count(u64),
    /// Nanoseconds, estimated.
    Nanos(u64),
    /// A share of 1.
    Share(f64),
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "{}", Bytes(*bytes)),
            Self::Count(count) => f.write_str(&grouped(*count)),
            Self::Nanos(nanos) => write!(f, "{}", Nanos(*nanos)),
            Self::Share(share) => write!(f, "{:.2} %", share * 100.0),
        }
    }
}

impl Figure {
    /// The number alone. Rounded above 2^53.
    #[expect(clippy::cast_precision_loss, reason = "percentages need no more than 53 bits")]
    pub const fn number(self) -> f64 {
        match self {
            Self::Bytes(whole) | Self::Count(whole) | Self::Nanos(whole) => whole as f64,
            Self::Share(share) => share,
        }
    }

    /// A figure of the same kind.
    const fn with(self, whole: u64, share: f64) -> Self {
        match self {
            Self::Bytes(_) => Self::Bytes(whole),
            Self::Count(_) => Self::Count(whole),
            Self::Nanos(_) => Self::Nanos(whole),
            Self::Share(_) => Self::Share(share),
        }
    }

    const fn whole(self) -> Option<u64> {
        match self {
            Self::Bytes(whole) | Self::Count(whole) | Self::Nanos(whole) => Some(whole),
            Self::Share(_) => None,
        }
    }

    /// What it is more than another of its kind: whether it grew, and by how much. Exact.
    pub fn since(self, before: Self) -> (bool, Self) {
        let is_more = self > before;
        let whole = self.whole().zip(before.whole());
        let whole = whole.map_or(0, |(now, before)| now.abs_diff(before));
        let share = (self.number() - before.number()).abs();
        (is_more, self.with(whole, share))
    }

    /// The difference in percent of what it was; `None` where it was nothing and is something.
    pub fn percent_since(self, before: Self) -> Option<f64> {
        let (now, before) = (self.number(), before.number());
        if now.to_bits() == before.to_bits() {
            return Some(0.0);
        }
        (before > 0.0).then(|| (now - before) / before * 100.0)
    }

    /// The difference in words: `+80.0 MiB`, `-3`, `0`.
    pub fn difference_text(self, before: Self) -> String {
        let (is_more, by) = self.since(before);
        if by.number() <= 0.0 {
            return "0".to_owned();
        }
        let sign = if is_more { '+' } else { '-' };
        match by {
            // Percent of what would be open.
            Self::Share(share) if share < 5e-5 => format!("{sign}<0.01 points"),
            Self::Share(share) => format!("{sign}{:.2} points", share * 100.0),
            by => format!("{sign}{by}"),
        }
    }

    /// The difference in percent, in words.
    pub fn percent_text(self, before: Self) -> String {
        match self.percent_since(before) {
            Some(percent) if percent > 0.0 && percent < 0.005 => "+<0.01 %".to_owned(),
            Some(percent) if percent < 0.0 && percent > -0.005 => "-<0.01 %".to_owned(),
            Some(percent) if percent > 0.0 => format!("+{percent:.2} %"),
            Some(percent) => format!("{percent:.2} %"),
            None => "new".to_owned(),
        }
    }
}

impl PartialOrd for Figure {
    /// Figures of one kind are compared exactly; of two kinds by their numbers.
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        match self.whole().zip(other.whole()) {
            Some((one, other)) => Some(one.cmp(&other)),
            None => self.number().partial_cmp(&other.number()),
        }
    }
}

/// A figure by which lanes are compared.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// As in limits.
    pub name: &'static str,
    /// As in tables.
    pub label: &'static str,
    /// Whether it is an estimate wherever it stands.
    pub is_estimate: bool,
    of: fn(&Summary) -> Figure,
}

impl Metric {
    /// The figure of a lane.
    pub fn of(&self, lane: &Lane) -> Figure {
        (self.of)(&lane.summary)
    }

    /// A figure of its kind: nothing.
    pub fn kind(&self) -> Figure {
        (self.of)(&Summary::default())
    }

    /// The metric of a name.
    pub fn find(name: &str) -> Option<&'static Self> {
        METRICS.iter().find(|metric| metric.name == name)
    }
}

impl PartialEq for Metric {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

const fn metric(name: &'static str, label: &'static str, of: fn(&Summary) -> Figure) -> Metric {
    Metric {
        name,
        label,
        is_estimate: false,
        of,
    }
}

/// All metrics, in the order of tables.
pub const METRICS: &[Metric] = &[
    metric("peak_reserved", "peak reserved", |summary| {
        Figure::Bytes(summary.peak_reserved.get())
    }),
    metric("peak_live", "peak live", |summary| {
        Figure::Bytes(summary.peak_live.get())
    }),
    metric("features", "features at the peak", |summary| {
        Figure::Bytes(summary.reserved.features.get())
    }),
    metric("weights", "weights", |summary| {
        Figure::Bytes(summary.reserved.weights.get())
    }),
    metric("variables", "variables", |summary| {
        Figure::Bytes(summary.reserved.variables.get())
    }),
    metric("io", "inputs and outputs", |summary| {
        Figure::Bytes(summary.reserved.io.get())
    }),
    metric("fragmentation", "fragmentation", |summary| {
        Figure::Share(summary.fragmentation)
    }),
    metric("device_mallocs", "device mallocs", |summary| {
        Figure::Count(summary.device_mallocs)
    }),
    metric("device_frees", "device frees", |summary| {
        Figure::Count(summary.device_frees)
    }),
    metric("reallocations", "reallocations", |summary| {
        Figure::Count(summary.reallocations)
    }),
    metric("pages_mapped", "pages mapped", |summary| {
        Figure::Count(summary.pages_mapped)
    }),
    metric("unloads", "graphs unloaded", |summary| Figure::Count(summary.unloads)),
    Metric {
        name: "estimated_overhead",
        label: "overhead (estimate)",
        is_estimate: true,
        of: |summary| Figure::Nanos(summary.estimated_overhead.0),
    },
];

/// What a metric may not be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// More than this.
    Above(Figure),
    /// More than this above what it was.
    More(Figure),
    /// More than so many percent above what it was.
    Percent(f64),
}

/// A limit that makes the answer "no": `peak_reserved>+5%`.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// As it was written.
    pub text: String,
    /// Of what.
    pub metric: &'static Metric,
    /// Whether reaching the bound is too much already.
    pub is_reached: bool,
    /// The bound.
    pub bound: Bound,
}

/// Why a limit cannot be read.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{text}: {why}")]
pub struct LimitError {
    text: String,
    why: String,
}

impl Limit {
    /// Reads `METRIC>BOUND` or `METRIC>=BOUND`; the bound is a figure (`16GiB`, `40`, `30%` of a share, `5 ms`), one more than
    /// before (`+100MiB`), or a part of what it was (`+5%`).
    ///
    /// # Errors
    /// [`LimitError`] with what is known or wanted.
    pub fn parse(text: &str) -> Result<Self, LimitError> {
        let fail = |why: String| LimitError {
            text: text.to_owned(),
            why,
        };
        let form =
            || fail("write METRIC>BOUND, such as peak_reserved>+5%, peak_live>+100MiB or peak_reserved>16GiB".into());
        let (name, bound) = text.split_once('>').ok_or_else(form)?;
        let metric = Metric::find(name.trim()).ok_or_else(|| {
            let known: Vec<&str> = METRICS.iter().map(|metric| metric.name).collect();
            fail(format!(
                "there is no metric \"{}\"; known: {}",
                name.trim(),
                known.join(", ")
            ))
        })?;
        let (is_reached, bound) = bound.strip_prefix('=').map_or((false, bound), |bound| (true, bound));
        let bound = bound.trim();
        let kind = metric.kind();
        let parsed = match bound.strip_prefix('+') {
            Some(more) => match more.trim().strip_suffix('%') {
                Some(percent) => number(percent).map(Bound::Percent),
                None => figure(more, kind).map(Bound::More),
            },
            None => figure(bound, kind).map(Bound::Above),
        };
        let wanted = || {
            let example = match kind {
                Figure::Bytes(_) => "16GiB, +100MiB or +5%",
                Figure::Count(_) => "40, +3 or +5%",
                Figure::Nanos(_) => "5ms, +200us or +5%",
                Figure::Share(_) => "30%, +0.05 or +5%",
            };
            fail(format!("\"{bound}\" is no bound of {}; write {example}", metric.name))
        };
        Ok(Self {
            text: text.trim().to_owned(),
            metric,
            is_reached,
            bound: parsed.ok_or_else(wanted)?,
        })
    }

    /// Whether it speaks of what was before.
    pub const fn needs_before(&self) -> bool {
        !matches!(self.bound, Bound::Above(_))
    }

    /// Whether the figure is too much, and why, in a sentence with figures; `None` where it is not. A limit that speaks of
    /// what was before holds for nothing where that is not known.
    pub fn broken(&self, now: Figure, before: Option<Figure>) -> Option<String> {
        let exceeds = |most: &Figure| now > *most || (self.is_reached && now >= *most);
        let label = self.metric.label;
        let than = if self.is_reached { "not below" } else { "more than" };
        match (self.bound, before) {
            (Bound::Above(most), _) => exceeds(&most).then(|| format!("{label} is {now}, {than} {most}")),
            (Bound::More(most), Some(before)) => {
                let (is_more, by) = now.since(before);
                let is_too_much = (is_more && by > most) || (self.is_reached && is_more && by >= most);
                is_too_much.then(|| format!("{label} grew from {before} to {now}, by {by}, {than} {most}"))
            }
            (Bound::Percent(most), Some(before)) => {
                let (is_more, by) = now.since(before);
                let percent = now.percent_since(before);
                let is_too_much =
                    is_more && percent.is_none_or(|percent| percent > most || (self.is_reached && percent >= most));
                is_too_much.then(|| {
                    let share = now.percent_text(before);
                    format!("{label} grew from {before} to {now}, by {by} ({share}), {than} +{most} %")
                })
            }
            (Bound::More(_) | Bound::Percent(_), None) => None,
        }
    }
}

/// A number that is not negative.
fn number(text: &str) -> Option<f64> {
    let number: f64 = text.trim().parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number)
}

/// A figure of a kind.
fn figure(text: &str, kind: Figure) -> Option<Figure> {
    let text = text.trim();
    match kind {
        Figure::Bytes(_) => Bytes::parse(text).ok().map(|bytes| Figure::Bytes(bytes.get())),
        Figure::Count(_) => text.parse().ok().map(Figure::Count),
        Figure::Nanos(_) => nanos(text).map(Figure::Nanos),
        Figure::Share(_) => match text.strip_suffix('%') {
            Some(percent) => number(percent).map(|percent| Figure::Share(percent / 100.0)),
            None => number(text).map(Figure::Share),
        },
    }
}

/// A time with its unit; nanoseconds without one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative; casts of floats saturate"
)]
fn nanos(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|letter: char| letter.is_alphabetic() || letter.is_whitespace());
    let per_unit = match text[digits.len()..].trim() {
        "" | "ns" => 1.0,
        "us" | "µs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    };
    number(digits).map(|number| (number * per_unit).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::{Bound, Figure, Limit, METRICS};

    #[test]
    fn limits_are_read() {
        for (text, bound) in [
            ("peak_reserved>+5%", Bound::Percent(5.0)),
            ("peak_reserved > +0.5 %", Bound::Percent(0.5)),
            ("peak_live>=+100MiB", Bound::More(Figure::Bytes(100 << 20))),
            ("peak_reserved>16GiB", Bound::Above(Figure::Bytes(16 << 30))),
            ("device_mallocs>40", Bound::Above(Figure::Count(40))),
            ("fragmentation>30%", Bound::Above(Figure::Share(0.3))),
            ("fragmentation>+0.05", Bound::More(Figure::Share(0.05))),
            ("estimated_overhead>+2 ms", Bound::More(Figure::Nanos(2_000_000))),
        ] {
            let limit = Limit::parse(text).expect(text);
            assert_eq!(limit.bound, bound, "{text}");
            assert_eq!(limit.is_reached, text.contains(">="), "{text}");
        }
    }

    #[test]
    fn what_is_no_limit_says_what_is_wanted() {
        for (text, part) in [
            ("", "write METRIC>BOUND"),
            ("peak_reserved", "write METRIC>BOUND"),
            ("peak>5", "known: peak_reserved, peak_live"),
            ("peak_reserved>", "\"\" is no bound of peak_reserved; write 16GiB"),
            ("peak_reserved>+-5%", "is no bound"),
            ("peak_reserved>+nan%", "is no bound"),
            ("device_mallocs>1GiB", "write 40, +3 or +5%"),
            ("estimated_overhead>5 years", "write 5ms"),
        ] {
            let error = Limit::parse(text).expect_err(text).to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn limits_hold_exactly_at_their_edge() {
        let bytes = Figure::Bytes;
        for (text, before, now, is_broken) in [
            ("peak_live>+5%", 100, 105, false),
            ("peak_live>=+5%", 100, 105, true),
            ("peak_live>+5%", 100, 106, true),
            ("peak_live>+5%", 100, 50, false),
            ("peak_live>+0%", 0, 1, true),
            ("peak_live>+0%", 0, 0, false),
            ("peak_live>=+0%", 7, 7, false),
            ("peak_live>+10", 100, 110, false),
            ("peak_live>=+10", 100, 110, true),
            ("peak_live>+0", u64::MAX - 1, u64::MAX, true),
            ("peak_live>110", 0, 110, false),
            ("peak_live>=110", 0, 110, true),
        ] {
            let limit = Limit::parse(text).expect(text);
            let why = limit.broken(bytes(now), Some(bytes(before)));
            assert_eq!(why.is_some(), is_broken, "{text}: {before} -> {now}: {why:?}");
            assert_eq!(
                limit.broken(bytes(now), None).is_some(),
                is_broken && !limit.needs_before()
            );
        }
    }

    #[test]
    fn differences_are_said_with_a_sign() {
        for (before, now, text, percent) in [
            (
                Figure::Bytes(1 << 20),
                Figure::Bytes(3 << 19),
                "+512.0\u{a0}KiB",
                "+50.00 %",
            ),
            (Figure::Count(5), Figure::Count(2), "-3", "-60.00 %"),
            (Figure::Count(0), Figure::Count(2), "+2", "new"),
            (Figure::Count(2), Figure::Count(2), "0", "0.00 %"),
            (Figure::Count(1_000_000), Figure::Count(1_000_001), "+1", "+<0.01 %"),
            (Figure::Share(0.25), Figure::Share(0.5), "+25.00 points", "+100.00 %"),
        ] {
            assert_eq!(
                (now.difference_text(before), now.percent_text(before)),
                (text.into(), percent.into())
            );
        }
        let mut names: Vec<&str> = METRICS.iter().map(|metric| metric.name).collect();
        names.dedup();
        assert_eq!(names.len(), METRICS.len());
    }
}
