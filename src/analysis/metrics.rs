//! The figures by which lanes are compared, declared once, and their differences. A difference is exact; there is no
//! percentage of nothing.

use std::cmp::Ordering;
use std::fmt;

use super::lane::Lane;
use highwater_model::units::{Bytes, Nanos, grouped, percent_text, signed, signed_percent_text};
use highwater_sim::fold::Summary;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Figure {
    Bytes(u64),
    Count(u64),
    /// Estimated.
    Nanos(u64),
    /// 1 is the whole.
    Share(f64),
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "{}", Bytes(*bytes)),
            Self::Count(count) => f.write_str(&grouped(*count)),
            Self::Nanos(nanos) => write!(f, "{}", Nanos(*nanos)),
            Self::Share(share) => f.write_str(&percent_text(share * 100.0)),
        }
    }
}

impl Figure {
    /// Rounded above 2^53.
    #[expect(clippy::cast_precision_loss, reason = "percentages need no more than 53 bits")]
    pub const fn number(self) -> f64 {
        match self {
            Self::Bytes(whole) | Self::Count(whole) | Self::Nanos(whole) => whole as f64,
            Self::Share(share) => share,
        }
    }

    /// All digits, with the unit.
    pub fn exact(self) -> String {
        match self {
            Self::Bytes(bytes) => Bytes(bytes).exact(),
            Self::Count(count) => grouped(count),
            Self::Nanos(nanos) => format!("{} ns", grouped(nanos)),
            Self::Share(share) => format!("{} %", share * 100.0),
        }
    }

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

    /// Whether it exceeds another figure of its kind, and the absolute difference. Exact.
    pub fn since(self, before: Self) -> (bool, Self) {
        let is_more = self > before;
        let whole = self.whole().zip(before.whole());
        let whole = whole.map_or(0, |(now, before)| now.abs_diff(before));
        let share = (self.number() - before.number()).abs();
        (is_more, self.with(whole, share))
    }

    /// The difference in percent of `before`; `None` where `before` is 0 and this is not.
    pub fn percent_since(self, before: Self) -> Option<f64> {
        let (now, before) = (self.number(), before.number());
        if now.to_bits() == before.to_bits() {
            return Some(0.0);
        }
        (before > 0.0).then(|| (now - before) / before * 100.0)
    }

    /// The difference from an earlier figure, or from that of another lane.
    pub const fn difference(self, before: Self) -> FigureDifference {
        FigureDifference { now: self, before }
    }
}

/// A figure and the figure that it is compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FigureDifference {
    pub now: Figure,
    pub before: Figure,
}

impl FigureDifference {
    fn order(self) -> Ordering {
        self.now.partial_cmp(&self.before).unwrap_or(Ordering::Equal)
    }

    pub fn is_more(self) -> bool {
        self.order() == Ordering::Greater
    }

    /// `+80.0 MiB`, `−3`, `0`.
    pub fn amount(self) -> String {
        let (_, by) = self.now.since(self.before);
        match by {
            _ if self.order() == Ordering::Equal => "0".to_owned(),
            // Percentage points.
            Figure::Share(share) if share < 5e-4 => signed(self.order(), "<0.1 points"),
            Figure::Share(share) => signed(self.order(), format!("{:.1} points", share * 100.0)),
            by => signed(self.order(), by),
        }
    }

    /// `+49.0 %`, `−0.3 %`, `0.0 %`; `new` where there was nothing.
    pub fn percent(self) -> String {
        let percent = self.now.percent_since(self.before);
        percent.map_or_else(|| "new".to_owned(), signed_percent_text)
    }

    /// All digits, with the sign.
    pub fn exact(self) -> String {
        let (_, by) = self.now.since(self.before);
        signed(self.order(), by.exact())
    }

    /// `+80.0 MiB (+3.4 %)`; of shares the points alone.
    pub fn text(self) -> String {
        match self.now {
            Figure::Share(_) => self.amount(),
            _ => format!("{} ({})", self.amount(), self.percent()),
        }
    }
}

impl PartialOrd for Figure {
    /// Exact for figures of one kind; by number for two kinds.
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
    /// The name in limits.
    pub name: &'static str,
    /// The name in tables.
    pub label: &'static str,
    of: fn(&Summary) -> Figure,
}

impl Metric {
    pub fn of(&self, lane: &Lane) -> Figure {
        (self.of)(&lane.summary)
    }

    pub fn is_estimate(&self) -> bool {
        matches!(self.kind(), Figure::Nanos(_))
    }

    /// The zero of its kind.
    pub fn kind(&self) -> Figure {
        (self.of)(&Summary::default())
    }

    pub fn find(name: &str) -> Option<&'static Self> {
        METRICS.iter().find(|metric| metric.name == name)
    }
}

impl PartialEq for Metric {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// Rows of a name in limits, a name in tables, a kind of figure and its value.
macro_rules! metrics {
    ($($name:literal $label:literal $kind:ident |$summary:ident| $value:expr;)*) => {
        &[$(Metric { name: $name, label: $label, of: |$summary| Figure::$kind($value) }),*]
    };
}

/// All metrics, in the order of tables.
pub const METRICS: &[Metric] = metrics! {
    "peak_reserved" "peak reserved" Bytes |of| of.peak_reserved.get();
    "peak_live" "peak live" Bytes |of| of.peak_live.get();
    "features" "feature memory at peak" Bytes |of| of.reserved.features.get();
    "weights" "weights" Bytes |of| of.reserved.weights.get();
    "variables" "variables" Bytes |of| of.reserved.variables.get();
    "io" "inputs and outputs" Bytes |of| of.reserved.io.get();
    "fragmentation" "fragmentation" Share |of| of.fragmentation;
    "device_mallocs" "device mallocs" Count |of| of.device_mallocs;
    "device_frees" "device frees" Count |of| of.device_frees;
    "device_calls" "device calls" Count |of| of.device_calls();
    "reallocations" "reallocations" Count |of| of.reallocations;
    "pages_mapped" "pages mapped" Count |of| of.pages_mapped;
    "unloads" "graphs unloaded" Count |of| of.unloads;
    "estimated_overhead" "overhead (estimate)" Nanos |of| of.estimated_overhead.0;
};

/// The metrics of side-by-side tables, before the column that tells whether a lane fits.
pub const COMPARED: [&str; 5] = [
    "peak_reserved",
    "peak_live",
    "fragmentation",
    "device_calls",
    "estimated_overhead",
];

#[cfg(test)]
mod tests {
    use super::{Figure, METRICS};

    #[test]
    fn differences_are_said_with_a_sign() {
        for (before, now, text, percent) in [
            (
                Figure::Bytes(1 << 20),
                Figure::Bytes(3 << 19),
                "+512.0\u{a0}KiB",
                "+50.0 %",
            ),
            (Figure::Count(5), Figure::Count(2), "−3", "−60.0 %"),
            (Figure::Count(0), Figure::Count(2), "+2", "new"),
            (Figure::Count(2), Figure::Count(2), "0", "0.0 %"),
            (Figure::Count(1_000_000), Figure::Count(1_000_001), "+1", "+<0.1 %"),
            (Figure::Share(0.25), Figure::Share(0.5), "+25.0 points", "+100.0 %"),
        ] {
            assert_eq!(
                (now.difference(before).amount(), now.difference(before).percent()),
                (text.into(), percent.into())
            );
        }
        let mut names: Vec<&str> = METRICS.iter().map(|metric| metric.name).collect();
        names.dedup();
        assert_eq!(names.len(), METRICS.len());
    }
}
