//! Decoding of scripts by their declared encoding.

use std::borrow::Cow;

/// The number of lines that may declare an encoding.
const MAX_LINES: usize = 2;

pub(super) struct Decoded<'a> {
    /// Unreadable letters are U+FFFD.
    pub(super) text: Cow<'a, str>,
    /// Whether there are unreadable letters.
    pub(super) is_lossy: bool,
}

/// Decodes UTF-8, UTF-16 with a byte order mark, and declared Latin-1.
pub(super) fn decode(bytes: &[u8]) -> Decoded<'_> {
    match bytes {
        [0xff, 0xfe, rest @ ..] => return of_utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => return of_utf16(rest, u16::from_be_bytes),
        _ => {}
    }
    let text = String::from_utf8_lossy(bytes);
    if let Cow::Borrowed(_) = text {
        return Decoded { text, is_lossy: false };
    }
    let name = declared(&text).unwrap_or("").to_ascii_lowercase().replace('_', "-");
    if matches!(name.as_str(), "latin-1" | "latin1" | "l1" | "iso-8859-1" | "iso8859-1") {
        let text = bytes.iter().map(|byte| char::from(*byte)).collect();
        return Decoded {
            text: Cow::Owned(text),
            is_lossy: false,
        };
    }
    Decoded { text, is_lossy: true }
}

/// The declaration in a comment of the first lines.
pub(super) fn declared(text: &str) -> Option<&str> {
    let comments = text
        .lines()
        .take(MAX_LINES)
        .filter(|line| line.trim_start().starts_with('#'));
    let mut names = comments.filter_map(|line| {
        let (_, rest) = line.split_once("coding")?;
        let rest = rest.strip_prefix([':', '='])?.trim_start();
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c)));
        Some(&rest[..end.unwrap_or(rest.len())])
    });
    names.next().filter(|name| !name.is_empty())
}

fn of_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Decoded<'static> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let letters = char::decode_utf16(pairs.iter().map(|pair| unit(*pair)));
    let mut is_lossy = !rest.is_empty();
    let text = letters
        .map(|letter| {
            is_lossy |= letter.is_err();
            letter.unwrap_or(char::REPLACEMENT_CHARACTER)
        })
        .collect();
    Decoded {
        text: Cow::Owned(text),
        is_lossy,
    }
}
