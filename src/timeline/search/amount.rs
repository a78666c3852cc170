//! Amounts: `>1MiB`, `4096`, `100..200`, several with `|`.

use highwater_model::units::Bytes;

use super::syntax::Condition;

/// Closed ranges; a value must lie in one of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Amounts(Vec<(u64, u64)>);

/// Matches nothing: less than 0, more than the maximum.
const NONE: (u64, u64) = (1, 0);

impl Amounts {
    pub(super) fn push(&mut self, range: (u64, u64)) {
        self.0.push(range);
    }

    pub(super) fn contain(&self, value: u64) -> bool {
        self.0.iter().any(|(low, high)| (*low..=*high).contains(&value))
    }

    /// Whether a half-open range meets one of them.
    pub(super) fn meet(&self, start: u64, end: u64) -> bool {
        self.0
            .iter()
            .any(|(low, high)| low <= high && start <= *high && end > *low)
    }
}

pub(super) enum AmountError {
    /// Not a number, at this position in the text.
    NoNumber(usize),
    Backwards,
}

pub(super) fn amount(condition: Condition, text: &str) -> Result<(u64, u64), AmountError> {
    let number = |text: &str, at: usize| number(condition, text).ok_or(AmountError::NoNumber(at));
    for sign in [">=", "<=", ">", "<", "="] {
        let Some(rest) = text.strip_prefix(sign) else { continue };
        let value = number(rest, sign.len())?;
        return Ok(match sign {
            ">=" => (value, u64::MAX),
            "<=" => (0, value),
            ">" => value.checked_add(1).map_or(NONE, |low| (low, u64::MAX)),
            "<" => value.checked_sub(1).map_or(NONE, |high| (0, high)),
            _ => (value, value),
        });
    }
    if let Some((from, to)) = text.split_once("..") {
        if from.is_empty() && to.is_empty() {
            return Err(AmountError::NoNumber(0));
        }
        let low = if from.is_empty() { 0 } else { number(from, 0)? };
        let high = if to.is_empty() {
            u64::MAX
        } else {
            number(to, from.len() + 2)?
        };
        return if low <= high {
            Ok((low, high))
        } else {
            Err(AmountError::Backwards)
        };
    }
    let value = number(text, 0)?;
    Ok((value, value))
}

/// Digits, optionally grouped; of a size with a unit, of an address also hexadecimal.
fn number(condition: Condition, text: &str) -> Option<u64> {
    let is_separator = |letter: char| matches!(letter, ',' | '_' | '\u{a0}' | '\u{2009}');
    let text: String = text.chars().filter(|letter| !is_separator(*letter)).collect();
    if condition == Condition::Size {
        return Bytes::parse(&text).ok().map(Bytes::get);
    }
    if let Some(digits) = text.strip_prefix("0x").filter(|_| condition == Condition::Address) {
        return u64::from_str_radix(digits, 16).ok();
    }
    let is_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_digits)
}
