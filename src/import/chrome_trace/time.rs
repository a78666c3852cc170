//! Times as they stand in the text: decimal microseconds to whole nanoseconds, exactly.

/// Nanoseconds of a number's text: digits, perhaps a point and digits (beyond the third they are cut), perhaps an exponent.
/// `None` where it is no number, negative, or beyond 64 bits.
pub(super) fn nanos_of_micros(text: &str) -> Option<u64> {
    let text = text.trim().trim_matches('"');
    let (number, exponent) = match text.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let is_digits = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit());
    if whole.is_empty() && fraction.is_empty() || !is_digits(whole) || !is_digits(fraction) {
        return None;
    }
    // The point moves three places to the right for nanoseconds, and as far as the exponent says.
    let shift = exponent.checked_add(3)?;
    let n_whole = i64::try_from(whole.len()).ok()?.checked_add(i64::from(shift))?;
    let mut value = 0_u64;
    let mut digits = whole.bytes().chain(fraction.bytes());
    let mut taken = 0;
    while taken < n_whole {
        let digit = match digits.next() {
            Some(digit) => u64::from(digit - b'0'),
            None if value == 0 => return Some(0),
            None => 0,
        };
        value = value.checked_mul(10)?.checked_add(digit)?;
        taken += 1;
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::nanos_of_micros;

    #[test]
    fn no_nanosecond_is_lost() {
        for (text, nanos) in [
            ("4384110449278.678", Some(4_384_110_449_278_678)),
            ("1759252584204770.123", Some(1_759_252_584_204_770_123)),
            ("22606.893", Some(22_606_893)),
            ("0.0019", Some(1)),
            (".5", Some(500)),
            ("7", Some(7000)),
            ("1.5e3", Some(1_500_000)),
            ("12e-4", Some(1)),
            ("1e-9", Some(0)),
            ("0e999999999", Some(0)),
            ("0e2147483647", None),
            ("1e999999999", None),
            ("\"12.5\"", Some(12_500)),
            ("-1", None),
            ("", None),
            ("1.2.3", None),
            ("99999999999999999999", None),
            ("null", None),
        ] {
            assert_eq!(nanos_of_micros(text), nanos, "{text}");
        }
    }
}
