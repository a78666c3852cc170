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

/// Whether the number after a mark is the wanted one.
pub(super) fn states(text: &str, mark: &str, wanted: u64) -> bool {
    number(text, mark) == Some(wanted)
}

/// A number of bytes with a unit, such as `1.19 GiB`, and the unit's bytes and decimals: `None` where it is none.
pub(super) fn with_unit(text: &str) -> Option<(Amount, &str)> {
    let text = text.trim_start_matches(' ');
    let end = text.find(|char: char| !char.is_ascii_digit() && char != '.')?;
    let (digits, rest) = text.split_at(end);
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let rest = rest.trim_start_matches(' ');
    let units = [
        ("GiB", 30),
        ("MiB", 20),
        ("KiB", 10),
        ("TiB", 40),
        ("bytes", 0),
        ("byte", 0),
        ("GB", 30),
        ("MB", 20),
        ("KB", 10),
        ("B", 0),
    ];
    let (unit, shift) = units.into_iter().find(|(unit, _)| rest.starts_with(unit))?;
    if whole.is_empty() || part.len() > 9 || whole.len() > 18 {
        return None;
    }
    let amount = Amount {
        digits: format!("{whole}{part}").parse().ok()?,
        decimals: u32::try_from(part.len()).ok()?,
        shift,
    };
    Some((amount, &rest[unit.len()..]))
}

/// A printed number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Amount {
    digits: u128,
    decimals: u32,
    shift: u32,
}

impl Amount {
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
        let bytes = |text| with_unit(text).map(|(amount, _)| amount.bytes());
        assert_eq!(bytes("1.19 GiB (NPU"), Some(1_277_752_771));
        assert_eq!(bytes("7.47 MiB free"), Some(7_832_863));
        assert_eq!(bytes("512 bytes "), Some(512));
        assert_eq!(bytes("6.00 GiB("), Some(6 << 30));
        assert_eq!(bytes("1.19"), None);
        let printed = with_unit("3.00 GiB").expect("a size").0;
        assert!(printed.agrees(Amount::exact(3_221_291_008)));
        assert!(!printed.agrees(Amount::exact(3_300_000_000)));
    }
}
