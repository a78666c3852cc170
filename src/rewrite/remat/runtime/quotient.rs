//! Correctly rounded quotients of large integers, which are costs.

/// Integers up to here are exact as floats.
const EXACT: u128 = 1 << 53;

/// `numerator / denominator`, the nearest float (ties to even); infinite where the denominator is 0.
#[expect(
    clippy::cast_precision_loss,
    reason = "the first cast is exact, the second rounds once, as it shall"
)]
pub(super) fn quotient(numerator: i128, denominator: u128) -> f64 {
    if denominator == 0 {
        return f64::INFINITY;
    }
    let size = numerator.unsigned_abs();
    let value = if size <= EXACT && denominator <= EXACT {
        size as f64 / denominator as f64
    } else if size == 0 {
        0.0
    } else {
        rounded(size, denominator)
    };
    if numerator < 0 { -value } else { value }
}

/// Takes at least 55 bits of the quotient and sets the last of them if the remainder is not zero: rounding that to a
/// float rounds the quotient correctly.
#[expect(clippy::cast_precision_loss, reason = "rounds once, as it shall")]
fn rounded(numerator: u128, denominator: u128) -> f64 {
    let bits = |number: u128| 128 - number.leading_zeros();
    let shift = (55 + bits(denominator)).saturating_sub(bits(numerator));
    let (mut whole, mut rest);
    if shift < numerator.leading_zeros() {
        let shifted = numerator << shift;
        (whole, rest) = (shifted / denominator, shifted % denominator);
    } else {
        (whole, rest) = (numerator / denominator, numerator % denominator);
        for _ in 0..shift {
            let overflows = rest >> 127 == 1;
            rest <<= 1;
            whole <<= 1;
            if overflows || rest >= denominator {
                rest = rest.wrapping_sub(denominator);
                whole |= 1;
            }
        }
    }
    let sticky = u128::from(rest != 0);
    (whole | sticky) as f64 * 0.5_f64.powi(shift.cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers_are_divided_as_floats() {
        assert!((quotient(1, 3) - 1.0 / 3.0).abs() < f64::EPSILON);
        assert!((quotient(-6, 4) + 1.5).abs() < f64::EPSILON);
        assert!(quotient(7, 0).is_infinite() && quotient(0, 0).is_infinite());
        assert!(quotient(0, u128::MAX).abs() < f64::MIN_POSITIVE);
    }

    #[test]
    fn big_numbers_are_rounded_once() {
        // Expected values by Python, whose integer division is correctly rounded.
        let big = (1_i128 << 64) + 1;
        for (numerator, denominator, expected) in [
            (big, 3_u128, 6.148_914_691_236_517e18),
            (1, u128::MAX, 2.938_735_877_055_719e-39),
            (i128::MAX, u128::MAX, 0.5),
            (i128::MAX, 7, 2.430_588_335_149_560_3e37),
            (9_007_199_254_740_993, 1, 9_007_199_254_740_992.0),
            (9_007_199_254_740_995, 1, 9_007_199_254_740_996.0),
            (9_007_199_254_740_993, 9_007_199_254_740_995, 0.999_999_999_999_999_8),
            (123_456_789, 36_893_488_147_419_103_233, 3.346_302_971_047_113e-12),
        ] {
            let got = quotient(numerator, denominator);
            assert!(
                got.to_bits() == f64::to_bits(expected),
                "{numerator} / {denominator}: {got:e}"
            );
        }
    }
}
