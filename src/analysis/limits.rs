//! Limits on figures, such as `peak_reserved>+5%`, and why a figure exceeds one.

use thiserror::Error;

use super::metrics::{Figure, METRICS, Metric};
use highwater_model::units::Bytes;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// More than this.
    Above(Figure),
    /// This much more than before.
    More(Figure),
    /// This many percent more than before.
    Percent(f64),
    /// More bytes than this many percent of the capacity.
    OfCapacity(f64),
}

/// A limit that makes the answer "no": `peak_reserved>+5%`.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// As the user wrote it.
    pub text: String,
    pub metric: &'static Metric,
    /// Whether reaching the bound already exceeds it (`>=`).
    pub is_reached: bool,
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
    /// Reads `METRIC>BOUND` or `METRIC>=BOUND`. The bound is a figure (`16GiB`, `40`, `30%` of a share, `5 ms`), an
    /// increase (`+100MiB`), a relative increase (`+5%`), or a share of the capacity (`90%`).
    ///
    /// # Errors
    /// [`LimitError`] with the known metrics or forms.
    pub fn parse(text: &str) -> Result<Self, LimitError> {
        let fail = |why: String| LimitError {
            text: text.to_owned(),
            why,
        };
        let form =
            || fail("expected METRIC>BOUND, e.g. peak_reserved>+5%, peak_live>+100MiB or peak_reserved>16GiB".into());
        let (name, bound) = text.split_once('>').ok_or_else(form)?;
        let metric = Metric::find(name.trim()).ok_or_else(|| {
            let known: Vec<&str> = METRICS.iter().map(|metric| metric.name).collect();
            fail(format!(
                "unknown metric \"{}\"; known: {}",
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
            None => match (kind, bound.strip_suffix('%')) {
                (Figure::Bytes(_), Some(percent)) => number(percent).map(Bound::OfCapacity),
                _ => figure(bound, kind).map(Bound::Above),
            },
        };
        let wanted = || {
            let example = match kind {
                Figure::Bytes(_) => "16GiB, 90% (of the capacity), +100MiB or +5%",
                Figure::Count(_) => "40, +3 or +5%",
                Figure::Nanos(_) => "5ms, +200us or +5%",
                Figure::Share(_) => "30%, +0.05 or +5%",
            };
            fail(format!(
                "\"{bound}\" is not a bound of {}; expected {example}",
                metric.name
            ))
        };
        Ok(Self {
            text: text.trim().to_owned(),
            metric,
            is_reached,
            bound: parsed.ok_or_else(wanted)?,
        })
    }

    /// Whether it compares with an earlier figure.
    pub const fn needs_before(&self) -> bool {
        !matches!(self.bound, Bound::Above(_) | Bound::OfCapacity(_))
    }

    /// The limit with bytes in place of a share of the capacity.
    ///
    /// # Errors
    /// A sentence, where a share has no capacity.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative; casts of floats saturate"
    )]
    pub fn within(&self, capacity: Option<Bytes>) -> Result<Self, String> {
        let Bound::OfCapacity(percent) = self.bound else {
            return Ok(self.clone());
        };
        let capacity = capacity
            .ok_or_else(|| "no capacity is known: choose a device with --device or --device-memory".to_owned())?;
        let bytes = (capacity.get() as f64 * percent / 100.0).round() as u64;
        Ok(Self {
            bound: Bound::Above(Figure::Bytes(bytes)),
            ..self.clone()
        })
    }

    /// Why the figure exceeds the limit, in a sentence; `None` where it does not. A limit on an increase does not apply
    /// without an earlier figure.
    pub fn broken(&self, now: Figure, before: Option<Figure>) -> Option<String> {
        let since = before.map(|before| (before, now.since(before)));
        let (is_too_much, by, most) = match (self.bound, since) {
            (Bound::Above(most), _) => {
                let (figure, bound) = apart(now, most);
                let text = format!("{} is {figure}, {} {bound}", self.metric.label, self.than());
                return self.is_too_much(&now, &most).then_some(text);
            }
            (Bound::More(most), Some((_, (_, by)))) => {
                let (short, bound) = apart(by, most);
                (self.is_too_much(&by, &most), short, bound)
            }
            (Bound::Percent(most), Some((before, (_, by)))) => {
                let percent = now.percent_since(before);
                let by = format!("{by} ({})", percent_apart(now, before, most));
                let is_too_much = percent.is_none_or(|percent| self.is_too_much(&percent, &most));
                (is_too_much, by, format!("+{most} %"))
            }
            (Bound::More(_) | Bound::Percent(_), None) | (Bound::OfCapacity(_), _) => return None,
        };
        let (before, (is_more, _)) = since?;
        let has_grown = is_more || now == before;
        (has_grown && is_too_much).then(|| self.grew(before, now, &by, &format!("{} {most}", self.than())))
    }

    fn is_too_much<T: PartialOrd>(&self, figure: &T, most: &T) -> bool {
        figure > most || (self.is_reached && figure >= most)
    }

    const fn than(&self) -> &'static str {
        if self.is_reached { "not below" } else { "more than" }
    }

    fn grew(&self, before: Figure, now: Figure, by: &str, than: &str) -> String {
        let label = self.metric.label;
        if before == now {
            return format!("{label} is {now} as before, a growth of {by}, {than}");
        }
        let (before, now) = apart(before, now);
        format!("{label} grew from {before} to {now}, by {by}, {than}")
    }
}

/// Two figures as text; exact where they differ and would look equal.
fn apart(one: Figure, other: Figure) -> (String, String) {
    let short = (one.to_string(), other.to_string());
    if one == other || short.0 != short.1 {
        return short;
    }
    (one.exact(), other.exact())
}

/// The percentage of an increase, with enough digits to differ from the bound.
fn percent_apart(now: Figure, before: Figure, most: f64) -> String {
    let short = now.difference(before).percent();
    match now.percent_since(before) {
        Some(percent) if percent.total_cmp(&most).is_ne() && short == format!("+{most:.1} %") => {
            format!("+{percent} %")
        }
        _ => short,
    }
}

/// A non-negative number.
fn number(text: &str) -> Option<f64> {
    let number: f64 = text.trim().parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number)
}

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
    use super::{Bound, Bytes, Figure, Limit};

    #[test]
    fn limits_are_read() {
        for (text, bound) in [
            ("peak_reserved>+5%", Bound::Percent(5.0)),
            ("peak_reserved > +0.5 %", Bound::Percent(0.5)),
            ("peak_live>=+100MiB", Bound::More(Figure::Bytes(100 << 20))),
            ("peak_reserved>16GiB", Bound::Above(Figure::Bytes(16 << 30))),
            ("peak_reserved>90%", Bound::OfCapacity(90.0)),
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
            ("", "expected METRIC>BOUND"),
            ("peak_reserved", "expected METRIC>BOUND"),
            ("peak>5", "known: peak_reserved, peak_live"),
            ("peak_reserved>", "\"\" is not a bound of peak_reserved; expected 16GiB"),
            ("peak_reserved>+-5%", "is not a bound"),
            ("peak_reserved>+nan%", "is not a bound"),
            ("device_mallocs>1GiB", "expected 40, +3 or +5%"),
            ("estimated_overhead>5 years", "expected 5ms"),
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
            ("peak_live>=+0%", 7, 7, true),
            ("peak_live>=+0%", 7, 6, false),
            ("peak_live>=+0", 7, 7, true),
            ("peak_live>=+0", 7, 6, false),
            ("peak_live>=+0%", 0, 0, true),
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
    fn a_share_of_the_capacity_needs_one() {
        let limit = Limit::parse("peak_reserved>90%").expect("a limit");
        assert!(!limit.needs_before());
        assert!(limit.within(None).is_err_and(|why| why.contains("--device-memory")));
        let limit = limit.within(Some(Bytes(1000))).expect("a capacity");
        assert_eq!(limit.broken(Figure::Bytes(900), None), None);
        assert!(limit.broken(Figure::Bytes(901), None).is_some());
    }

    #[test]
    fn figures_that_look_alike_are_told_exactly() {
        for (text, before, now, why) in [
            (
                "peak_live>197997015",
                Figure::Bytes(0),
                Figure::Bytes(197_997_016),
                "peak live is 197\u{a0}997\u{a0}016\u{a0}B, more than 197\u{a0}997\u{a0}015\u{a0}B",
            ),
            (
                "fragmentation>50%",
                Figure::Share(0.0),
                Figure::Share(0.500_001),
                "fragmentation is 50.0001 %, more than 50 %",
            ),
            (
                "peak_live>+5%",
                Figure::Bytes(1_000_000),
                Figure::Bytes(1_050_001),
                "peak live grew from 976.6\u{a0}KiB to 1.001\u{a0}MiB, by 48.83\u{a0}KiB (+5.0001 %), more than +5 %",
            ),
            (
                "peak_live>=+0%",
                Figure::Bytes(5),
                Figure::Bytes(5),
                "peak live is 5\u{a0}B as before, a growth of 0\u{a0}B (0.0 %), not below +0 %",
            ),
        ] {
            let limit = Limit::parse(text).expect(text);
            assert_eq!(limit.broken(now, Some(before)).as_deref(), Some(why));
        }
    }
}
