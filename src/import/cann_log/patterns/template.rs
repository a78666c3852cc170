//! Texts with gaps, found in sentences however these are broken over lines.
//!
//! A literal's blank agrees with any number of blanks and line breaks, also none; a line break may be inside any word. A blank
//! at a literal's begin is the begin of a word.

use super::super::field::Amount;

/// Between lines of one sentence.
pub(in super::super) const BREAK: char = '\u{1}';
pub(super) const BREAK_BYTE: u8 = 1;

/// Bytes in front of a literal that can be a figure.
const MOST_FIGURE: usize = 48;

/// What may be between a literal and its figure: `size: 3`, `size = 3`, `size[3]`.
const IN_FRONT: [char; 6] = [' ', '\t', '=', ':', '[', '\''];

/// Bytes of a name, at most.
pub(super) const MOST_NAME: usize = 160;

/// Where a literal ends that begins at a byte.
pub(super) fn literal_end(text: &[u8], mut at: usize, literal: &str) -> Option<usize> {
    for wanted in literal.bytes() {
        if wanted == b' ' {
            at += text[at..].iter().take_while(|byte| is_blank(**byte)).count();
            continue;
        }
        while text.get(at) == Some(&BREAK_BYTE) {
            at += 1;
        }
        if text.get(at) != Some(&wanted) {
            return None;
        }
        at += 1;
    }
    Some(at)
}

const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | BREAK_BYTE)
}

/// The first place of a literal from a byte on: its begin and end.
pub(in super::super) fn find(text: &str, literal: &str, from: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let (literal, is_word) = literal.strip_prefix(' ').map_or((literal, false), |rest| (rest, true));
    let first = *literal.as_bytes().first()?;
    let mut at = from;
    loop {
        at += bytes.get(at..)?.iter().position(|byte| *byte == first)?;
        let begins = !is_word || at == 0 || !is_word_byte(bytes[at - 1]);
        if let Some(end) = literal_end(bytes, at, literal).filter(|_| begins) {
            return Some((at, end));
        }
        at += 1;
    }
}

pub(super) const fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

pub(super) fn has(text: &str, literal: &str) -> bool {
    find(text, literal, 0).is_some()
}

/// The texts in the gaps (`{}`) of a template at its first place from a byte on, and where it ends.
///
/// A gap ends at the literal after it; a gap at the end of the template has the rest of the text, a gap at its begin has
/// what is in front of it, as far as a figure can go.
pub(super) fn gaps<'a>(text: &'a str, template: &str, from: usize) -> Option<(Vec<&'a str>, usize)> {
    let mut parts = template.split("{}");
    let first = parts.next()?;
    let mut found = Vec::new();
    let mut at = if first.is_empty() {
        let (begin, end) = find(text, parts.next()?, from)?;
        found.push(figure_before(text, from, begin));
        end
    } else {
        find(text, first, from)?.1
    };
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        if part.is_empty() && parts.peek().is_none() {
            found.push(text.get(at..)?);
            break;
        }
        let (begin, end) = find(text, part, at)?;
        found.push(text.get(at..begin)?);
        at = end;
    }
    Some((found, at))
}

/// The figure that ends in front of a byte: digits, and perhaps a unit.
fn figure_before(text: &str, from: usize, end: usize) -> &str {
    let bytes = text.as_bytes();
    let least = from.max(end.saturating_sub(MOST_FIGURE));
    let back = |end: usize, is_part: fn(u8) -> bool| {
        let part = bytes[least..end].iter().rev().take_while(|byte| is_part(**byte));
        end - part.count()
    };
    let unit = back(back(end, is_blank), |byte| {
        byte.is_ascii_alphabetic() || byte == BREAK_BYTE
    });
    let mut digits = back(back(unit, is_blank), |byte| {
        byte.is_ascii_digit() || matches!(byte, b'.' | b',' | BREAK_BYTE)
    });
    // The end of a line may be the end of another figure: `GPU 0,` before `9.87GB`.
    while let Some(at) = bytes[digits..unit].iter().position(|byte| *byte == BREAK_BYTE) {
        let points = bytes[digits..unit].split(|byte| *byte == b'.').count() - 1;
        let is_other = bytes[digits..digits + at].ends_with(b",") || points > 1;
        if !is_other {
            break;
        }
        digits += at + 1;
    }
    text.get(digits..end).unwrap_or("")
}

/// Whether a sentence that begins at a byte has its end: a literal, or one with its figure (`{}`), which was printed whole.
pub(in super::super) fn has_end(text: &str, end: &str, from: usize) -> bool {
    match end.strip_suffix("{}") {
        Some(literal) => find(text, literal, from).is_some_and(|(_, at)| size(&text[at..]).is_some()),
        None => find(text, end, from).is_some(),
    }
}

/// Without line breaks.
pub(super) fn joined(text: &str) -> String {
    text.chars().filter(|char| *char != BREAK).collect()
}

/// A number of bytes that a text begins with, with its unit; without a unit it is of bytes. The number counts only where the
/// character after it was printed too.
pub(super) fn size(text: &str) -> Option<Amount> {
    let (digits, rest) = figure(text)?;
    if rest.is_empty() || digits.contains(',') && !is_grouped(&digits) || digits.starts_with('-') {
        return None;
    }
    let shift = match unit(rest) {
        Some((_, shift)) => shift,
        // A part of a byte is no size: the unit was lost.
        None if digits.contains('.') => return None,
        None => 0,
    };
    Amount::new(&digits.replace(',', ""), shift)
}

/// The same of a sentence that always prints units.
pub(super) fn size_with_unit(text: &str) -> Option<Amount> {
    let (_, rest) = figure(text)?;
    unit(rest).and_then(|_| size(text))
}

/// The digits that a text begins with, perhaps with a sign, and the text after them.
fn figure(text: &str) -> Option<(String, &str)> {
    let text = text.trim_start_matches(IN_FRONT);
    let is_part = |char: char| char.is_ascii_digit() || matches!(char, '.' | ',' | '-' | BREAK);
    let end = text.find(|char| !is_part(char)).unwrap_or(text.len()).min(MOST_FIGURE);
    let printed = text.get(..end)?.trim_end_matches(['.', ',', '-', BREAK]);
    let digits = joined(printed);
    let rest = &text[printed.len()..];
    // numpy prints `201. GiB`.
    let rest = rest.strip_prefix(". ").unwrap_or(rest);
    digits
        .contains(|char: char| char.is_ascii_digit())
        .then_some((digits, rest))
}

/// Whether commas separate thousands.
fn is_grouped(digits: &str) -> bool {
    let mut groups = digits.split(',');
    groups.next().is_some_and(|first| (1..=3).contains(&first.len())) && groups.all(|group| group.len() == 3)
}

/// Units and their powers of two; all libraries mean powers of 1024, however they spell them.
const UNITS: [(&str, u32); 26] = [
    ("TiB", 40),
    ("GiB", 30),
    ("MiB", 20),
    ("KiB", 10),
    ("bytes", 0),
    ("Bytes", 0),
    ("byte", 0),
    ("TB", 40),
    ("GB", 30),
    ("MB", 20),
    ("KB", 10),
    ("kB", 10),
    ("Gb", 30),
    ("Mb", 20),
    ("kb", 10),
    ("Ti", 40),
    ("Gi", 30),
    ("Mi", 20),
    ("Ki", 10),
    ("T", 40),
    ("G", 30),
    ("M", 20),
    ("K", 10),
    ("g", 30),
    ("m", 20),
    ("B", 0),
];

/// The unit that a text begins with. A line may break inside of it, and the next word may follow at once.
fn unit(rest: &str) -> Option<(&'static str, u32)> {
    let rest = rest.trim_start_matches([' ', BREAK]);
    let begins = |unit: &str| {
        let end = literal_end(rest.as_bytes(), 0, unit)?;
        let is_letter = rest[end..].starts_with(|char: char| char.is_ascii_alphabetic());
        (unit.len() > 1 || !is_letter).then_some(())
    };
    UNITS.into_iter().find(|(unit, _)| begins(unit).is_some())
}

/// A number without a unit, with the same rule.
pub(super) fn number(text: &str) -> Option<u64> {
    let text = text.trim_start_matches(IN_FRONT);
    let end = text.find(|char: char| !char.is_ascii_digit() && char != BREAK)?;
    joined(text.get(..end.min(MOST_FIGURE))?).parse().ok()
}

/// A figure as it is printed, with its sign and unit: `-0.87 GiB`.
pub(super) fn quantity(text: &str) -> Option<String> {
    let (digits, rest) = figure(text.trim_start_matches([' ', '`']))?;
    Some(match unit(rest) {
        Some((unit, _)) => format!("{digits} {unit}"),
        None => digits,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str, template: &str) -> Option<u64> {
        let (found, _) = gaps(text, template, 0)?;
        size(found.first()?).map(Amount::bytes)
    }

    #[test]
    fn figures_are_found_over_line_breaks() {
        let text =
            "CUDA out of me\u{1}mory. Tried to\u{1}allocate 1.1\u{1}9 GiB (GPU 0; 60.97\u{1}GiB total cap\u{1}acity;\n";
        assert!(has(text, "CUDA out of memory"));
        assert_eq!(bytes(text, "Tried to allocate {}"), Some(1_277_752_771));
        assert_eq!(bytes(text, "{} total capacity"), Some(65_466_039_009));
        assert_eq!(bytes(text, "{} free"), None);
    }

    #[test]
    fn a_number_counts_only_with_the_character_behind_it() {
        assert_eq!(bytes("size: 240,\n", "size: {}"), Some(240));
        assert_eq!(bytes("size: 240", "size: {}"), None);
        assert_eq!(bytes("bytesize=240 size =7 ", " size ={}"), Some(7));
        assert_eq!(
            bytes("to allocate 200,000,000 bytes (", "allocate {}"),
            Some(200_000_000)
        );
        assert_eq!(bytes("Used 63.80G of", "Used {}"), with_unit("63.80 GiB "));
        assert_eq!(number("[3]"), Some(3));
        assert_eq!(quantity(" -0.87 GiB\n").as_deref(), Some("-0.87 GiB"));
        assert_eq!(quantity("none"), None);
    }

    fn with_unit(text: &str) -> Option<u64> {
        size(text).map(Amount::bytes)
    }

    #[test]
    fn several_gaps_are_read() {
        let (found, end) = gaps(
            "Process 60 has 14.91 GiB memory in use. x",
            "Process {} has {} memory in use",
            0,
        )
        .expect("it");
        assert_eq!((&found[..], end), (&["60 ", "14.91 GiB "][..], 38));
    }
}
