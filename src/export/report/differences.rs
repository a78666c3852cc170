//! Differences from the base lane, in words.

use highwater_model::units::{Bytes, percents};

/// A signed percentage with one decimal, such as `+3.4 %`; below 0.05 % it is "less than 0.1 %".
fn signed_percent(percent: f64) -> String {
    if percent.abs() < 0.05 {
        return "less than 0.1\u{a0}%".to_owned();
    }
    // No line break within a cell.
    let digits = percents(percent.abs(), 1).replace(' ', "\u{a0}");
    format!("{}{digits}", sign(percent < 0.0))
}

pub(super) const fn sign(is_negative: bool) -> &'static str {
    if is_negative { "\u{2212}" } else { "+" }
}

/// By how much a size differs from its base: `+1.2 GiB (+3.4 %)`.
pub(super) fn difference(now: Bytes, base: Bytes) -> String {
    count_difference(now.get(), base.get(), |bytes| Bytes(bytes).to_string())
}

/// By how much a count differs from its base; `text` writes the difference.
#[expect(clippy::cast_precision_loss, reason = "a percentage")]
pub(super) fn count_difference(now: u64, base: u64, text: impl Fn(u64) -> String) -> String {
    if now == base {
        return "the same".to_owned();
    }
    let by = format!("{}{}", sign(now < base), text(now.abs_diff(base)));
    if base == 0 {
        return by;
    }
    let percent = (now as f64 / base as f64 - 1.0) * 100.0;
    format!("{by} ({})", signed_percent(percent))
}

#[cfg(test)]
mod tests {
    use super::{count_difference, difference};
    use highwater_model::units::Bytes;

    #[test]
    fn differences_have_a_sign_and_a_share() {
        let cases = [
            (Bytes::mib(2), Bytes::mib(2), "the same"),
            (Bytes::mib(3), Bytes::mib(2), "+1.000 MiB (+50.0 %)"),
            (Bytes::mib(1), Bytes::mib(2), "−1.000 MiB (−50.0 %)"),
            (Bytes::mib(1), Bytes::ZERO, "+1.000 MiB"),
            (Bytes::mib(9999), Bytes::mib(10000), "−1.000 MiB (less than 0.1 %)"),
        ];
        for (now, base, text) in cases {
            assert_eq!(difference(now, base).replace('\u{a0}', " "), text);
        }
        assert_eq!(
            count_difference(5, 10, |count| count.to_string()).replace('\u{a0}', " "),
            "−5 (−50.0 %)"
        );
    }
}
