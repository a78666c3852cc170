//! Decimal numbers from text, without a float in between.
//!
//! In: `1700000000000123.450`, `0.211914063`, `-1`, `1.69512E+15`. Out: whole bytes or nanoseconds, rounded to the
//! nearest. An f64 would lose the nanoseconds of a time in microseconds since 1970.

/// Nanoseconds of a text of microseconds, rounded to the nearest. `None` where it is no number, negative, or beyond 64 bits.
pub(super) fn nanos_of_micros(text: &str) -> Option<u64> {
    let text = text.trim().trim_matches('"');
    Decimal::parse(text.as_bytes())
        .filter(|number| !number.is_negative)?
        .scaled(1000)
}

/// The most significant digits that are kept; further ones of a fraction change nothing.
const MOST_DIGITS: u32 = 30;

/// `digits * 10^-scale`, perhaps negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    /// Whether the text begins with a minus.
    pub(super) is_negative: bool,
    digits: u128,
    scale: i32,
}

impl Decimal {
    /// The number of a text without blanks around; `None` where it is none.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let (is_negative, text) = match text {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            _ => (false, text),
        };
        let mut number = Self {
            is_negative,
            digits: 0,
            scale: 0,
        };
        let (mut at, mut kept, mut seen, mut is_fraction) = (0, 0_u32, 0_u32, false);
        while let Some(byte) = text.get(at) {
            match byte {
                b'0'..=b'9' => {
                    seen += 1;
                    let is_kept = kept < MOST_DIGITS;
                    if is_kept {
                        number.digits = number.digits * 10 + u128::from(byte - b'0');
                        kept += u32::from(number.digits > 0);
                    } else if !is_fraction {
                        return None;
                    }
                    number.scale += i32::from(is_fraction && is_kept);
                }
                b'.' if !is_fraction => is_fraction = true,
                b'e' | b'E' => {
                    number.scale = number.scale.checked_sub(exponent(&text[at + 1..])?)?;
                    return (seen > 0).then_some(number);
                }
                _ => return None,
            }
            at += 1;
        }
        (seen > 0).then_some(number)
    }

    /// Whether the text leaves out digits of the whole part: `1.69512E+15`, as spreadsheets write long numbers.
    pub(super) const fn is_rough(self) -> bool {
        self.scale < 0
    }

    /// The magnitude times `factor`, rounded to the nearest (halves up); `None` above 2^64 - 1.
    pub(super) fn scaled(self, factor: u64) -> Option<u64> {
        let product = self.digits.checked_mul(u128::from(factor))?;
        if product == 0 {
            return Some(0);
        }
        let power = 10_u128.checked_pow(self.scale.unsigned_abs());
        if self.scale <= 0 {
            return u64::try_from(product.checked_mul(power?)?).ok();
        }
        // A power beyond 128 bits leaves less than half.
        let Some(power) = power else { return Some(0) };
        let (whole, rest) = (product / power, product % power);
        u64::try_from(whole + u128::from(rest >= power - rest)).ok()
    }
}

fn exponent(text: &[u8]) -> Option<i32> {
    let text = std::str::from_utf8(text).ok()?;
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || digits.len() > 4 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scaled(text: &str, factor: u64) -> Option<u64> {
        Decimal::parse(text.as_bytes())?.scaled(factor)
    }

    #[test]
    fn times_keep_their_nanoseconds() {
        assert_eq!(scaled("1700000000000123.450", 1000), Some(1_700_000_000_000_123_450));
        assert_eq!(scaled("1700000000000123.4506", 1000), Some(1_700_000_000_000_123_451));
        assert_eq!(scaled("5", 1), Some(5));
        assert_eq!(scaled("0.4", 1), Some(0));
        assert_eq!(scaled(".5", 1), Some(1));
        assert_eq!(scaled("00000000000000000000000000000000000000007", 1), Some(7));
    }

    #[test]
    fn sizes_are_rounded_to_whole_bytes() {
        assert_eq!(scaled("10000.5", 1024), Some(10_240_512));
        assert_eq!(scaled("0.200195313", 1024), Some(205));
        assert_eq!(scaled("2.500000477", 1 << 20), Some(2_621_441));
        assert_eq!(scaled("0.30000000000000004", 1 << 20), Some(314_573));
        assert_eq!(scaled("18446744073709551615", 1), Some(u64::MAX));
        assert_eq!(scaled("18446744073709551615", 2), None);
        assert_eq!(scaled("340282366920938463463374607431768211456", 1), None);
        assert_eq!(scaled("1e-99", 1), Some(0));
        assert_eq!(scaled("1e99", 1), None);
        assert_eq!(scaled("0e99", 1), Some(0));
    }

    #[test]
    fn what_a_spreadsheet_cut_is_known() {
        let damaged = Decimal::parse(b"1.69512E+15").expect("a number");
        assert!(damaged.is_rough());
        assert_eq!(damaged.scaled(1000), Some(1_695_120_000_000_000_000));
        let whole = Decimal::parse(b"1.706704429088523e+15").expect("a number");
        assert!(!whole.is_rough());
        assert_eq!(whole.scaled(1000), Some(1_706_704_429_088_523_000));
        assert!(Decimal::parse(b"-1").is_some_and(|number| number.is_negative));
    }

    #[test]
    fn microseconds_become_nanoseconds() {
        for (text, nanos) in [
            ("4384110449278.678", Some(4_384_110_449_278_678)),
            ("1759252584204770.123", Some(1_759_252_584_204_770_123)),
            ("0.0019", Some(2)),
            (".5", Some(500)),
            ("7", Some(7000)),
            ("1.5e3", Some(1_500_000)),
            ("12e-4", Some(1)),
            ("1e-9", Some(0)),
            ("0e9999", Some(0)),
            ("1e999999999", None),
            ("\"12.5\"", Some(12_500)),
            ("-1", None),
            ("99999999999999999999", None),
            ("null", None),
        ] {
            assert_eq!(nanos_of_micros(text), nanos, "{text}");
        }
    }

    #[test]
    fn what_is_no_number_is_none() {
        for text in [
            "", "-", ".", "e5", "1e", "1e+", "1e99999", "1.2.3", "0x12", "1,5", "NaN", "inf", "1 2", "--1",
        ] {
            assert_eq!(Decimal::parse(text.as_bytes()), None, "{text}");
        }
    }
}
