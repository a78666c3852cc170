//! Numbers and names in the text of a record.
//!
//! A number counts only where the character after it was printed too: `size[240` may be the head of a longer one.

/// The text after a mark.
pub(super) fn after<'a>(text: &'a str, mark: &str) -> Option<&'a str> {
    // Most texts lack the mark, which `contains` sees several times faster than `find`.
    if !text.contains(mark) {
        return None;
    }
    let first = *mark.as_bytes().first()?;
    let starts = text.bytes().enumerate().filter(|(_, byte)| *byte == first);
    let ends = starts.map(|(at, _)| at + mark.len());
    ends.filter_map(|end| text.get(..end))
        .find(|head| head.ends_with(mark))
        .map(|head| &text[head.len()..])
}

/// The number after a mark, with or without spaces between.
pub(super) fn number(text: &str, mark: &str) -> Option<u64> {
    leading(after(text, mark)?)
}

/// The number after the first mark that has one.
pub(super) fn first_number(text: &str, marks: &[&str]) -> Option<u64> {
    marks.iter().find_map(|mark| number(text, mark))
}

/// The number that a text begins with.
pub(super) fn leading(text: &str) -> Option<u64> {
    leading_and_rest(text).map(|(number, _)| number)
}

/// The number that a text begins with, and the text after it.
pub(super) fn leading_and_rest(text: &str) -> Option<(u64, &str)> {
    let text = text.trim_start_matches(' ');
    let end = text.find(|char: char| !char.is_ascii_digit())?;
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// The text after a mark, up to an end that was printed.
pub(super) fn enclosed<'a>(text: &'a str, mark: &str, end: &[char]) -> Option<&'a str> {
    let text = after(text, mark)?;
    text.find(end).map(|at| &text[..at])
}

/// A printed number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Amount {
    digits: u128,
    decimals: u32,
    shift: u32,
}

impl Amount {
    /// Of digits, perhaps with decimals, and the power of two of their unit; `None` where it is none.
    pub(super) fn new(digits: &str, shift: u32) -> Option<Self> {
        let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
        if whole.is_empty() || part.len() > 9 || whole.len() > 18 {
            return None;
        }
        Some(Self {
            digits: format!("{whole}{part}").parse().ok()?,
            decimals: u32::try_from(part.len()).ok()?,
            shift,
        })
    }

    pub(super) fn exact(bytes: u64) -> Self {
        Self {
            digits: bytes.into(),
            decimals: 0,
            shift: 0,
        }
    }

    pub(super) const fn is_exact(self) -> bool {
        self.shift == 0
    }

    /// Rounded to the nearest byte.
    pub(super) fn bytes(self) -> u64 {
        let scale = 10_u128.pow(self.decimals);
        let bytes = ((self.digits << self.shift) + scale / 2) / scale;
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }

    /// Whether both are the same to the digits that were printed.
    pub(super) fn agrees(self, other: Self) -> bool {
        match (self.is_exact(), other.is_exact()) {
            (true, false) => other.rounds(self.bytes()),
            (false, true) => self.rounds(other.bytes()),
            _ => self.bytes() == other.bytes(),
        }
    }

    /// Whether a number of bytes would be printed like this one.
    fn rounds(self, bytes: u64) -> bool {
        let scaled = u128::from(bytes) * 10_u128.pow(self.decimals);
        let half = (1_u128 << self.shift) >> 1;
        (scaled + half) >> self.shift == self.digits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_counts_only_with_the_character_behind_it() {
        assert_eq!(number("size[240]", "size["), Some(240));
        assert_eq!(number("size[240", "size["), None);
        assert_eq!(number("size=\n", "size="), None);
        assert_eq!(number("device_id = 3.", "device_id ="), Some(3));
        assert_eq!(number("a99999999999999999999 ", "a"), None);
        assert_eq!(after("aab\u{e9}ab", "ab"), Some("\u{e9}ab"));
    }

    #[test]
    fn units_are_rounded_to_bytes() {
        let bytes = |digits, shift| Amount::new(digits, shift).map(Amount::bytes);
        assert_eq!(bytes("1.19", 30), Some(1_277_752_771));
        assert_eq!(bytes("7.47", 20), Some(7_832_863));
        assert_eq!(bytes("512", 0), Some(512));
        assert_eq!(bytes(".5", 30), None);
        let printed = Amount::new("3.00", 30).expect("a size");
        assert!(printed.agrees(Amount::exact(3_221_291_008)));
        assert!(!printed.agrees(Amount::exact(3_300_000_000)));
    }
}
