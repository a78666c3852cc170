//! Numbers as the C++ library reads them: the longest beginning that is one.

/// An integer of 64 bits without a sign. A minus wraps around, what follows the digits is ignored; none: there are no
/// digits, or too many.
pub(super) fn unsigned(text: &str) -> Option<u64> {
    let (is_negative, digits) = sign(text);
    let length = digits.bytes().take_while(u8::is_ascii_digit).count();
    let value: u64 = digits[..length].parse().ok()?;
    Some(if is_negative { value.wrapping_neg() } else { value })
}

/// A real number: decimal, hexadecimal (`0x.8`), `inf` or `nan`. None: no number, or one that no double can hold.
pub(super) fn real(text: &str) -> Option<f64> {
    let (is_negative, rest) = sign(text);
    let lower = rest.to_ascii_lowercase();
    let size = if lower.starts_with("nan") {
        f64::NAN
    } else if lower.starts_with("inf") {
        f64::INFINITY
    } else if let Some(value) = lower.strip_prefix("0x").and_then(hexadecimal) {
        value
    } else {
        let digits = &lower[..decimal_length(&lower)];
        let value: f64 = digits.parse().ok()?;
        let mantissa = digits.split('e').next().unwrap_or(digits);
        let is_nothing = !mantissa.bytes().any(|digit| matches!(digit, b'1'..=b'9'));
        if value.is_infinite() || value < f64::MIN_POSITIVE && !is_nothing {
            return None;
        }
        value
    };
    Some(if is_negative { -size } else { size })
}

fn sign(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// Length of the digits with a point and an exponent that a decimal number starts with; 0: it is none.
fn decimal_length(text: &str) -> usize {
    let digits = |from: usize| text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(0);
    let mut length = whole;
    if text[length..].starts_with('.') {
        let part = digits(length + 1);
        if whole + part == 0 {
            return 0;
        }
        length += 1 + part;
    }
    if length > 0 && text[length..].starts_with('e') {
        let after = &text[length + 1..];
        let signs = usize::from(after.starts_with(['+', '-']));
        let exponent = digits(length + 1 + signs);
        if exponent > 0 {
            length += 1 + signs + exponent;
        }
    }
    length
}

/// The value of hexadecimal digits with a point and a binary exponent; none: there are no digits.
fn hexadecimal(text: &str) -> Option<f64> {
    let mut value = 0.0;
    let mut scale = 1.0;
    let mut is_after_point = false;
    let mut count = 0;
    let mut rest = "";
    for (at, letter) in text.char_indices() {
        rest = &text[at..];
        if let Some(digit) = letter.to_digit(16) {
            value = value * 16.0 + f64::from(digit);
            scale = if is_after_point { scale / 16.0 } else { scale };
            count += 1;
        } else if letter == '.' && !is_after_point {
            is_after_point = true;
        } else {
            break;
        }
        rest = "";
    }
    let exponent = rest.strip_prefix('p').map_or(0, |digits| {
        let signs = usize::from(digits.starts_with(['+', '-']));
        let length = digits[signs..].bytes().take_while(u8::is_ascii_digit).count();
        digits[..signs + length].parse().unwrap_or(0)
    });
    (count > 0).then(|| value * scale * f64::exp2(f64::from(exponent)))
}
