//! Texts of files and arguments on their way to a terminal or a window: hidden characters become visible, long quotes short.
//!
//! An escape sequence in a name can recolor or clear a terminal, and a bidirectional override can show another name than the
//! one that is read. Texts keep such characters until they leave the program.

use std::borrow::Cow;

/// Most characters of a quoted token in a message.
const QUOTE: usize = 80;

/// Bytes of a word without quotes that is cut like a quoted one: names of files are shorter.
const WORD: usize = 400;

/// Most characters of a message in one line.
const LINE: usize = 8_000;

/// Whether a character acts on what shows it: control characters but newline and tab, separators of lines and paragraphs,
/// and bidirectional controls.
pub fn is_hidden(letter: char) -> bool {
    match letter {
        '\n' | '\t' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        _ => letter.is_control(),
    }
}

/// A text with hidden characters as `\x1b` or `\u{202e}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, |letter| match u32::from(letter) {
        0x0d => "\\r".to_owned(),
        code @ ..0x80 => format!("\\x{code:02x}"),
        code => format!("\\u{{{code:x}}}"),
    })
}

/// A JSON text with hidden characters as `\u202e`: the same values, because only strings contain them.
pub fn visible_json(text: &str) -> Cow<'_, str> {
    escaped(text, |letter| format!("\\u{:04x}", u32::from(letter)))
}

fn escaped(text: &str, escape: impl Fn(char) -> String) -> Cow<'_, str> {
    let Some(first) = text.find(is_hidden) else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    for letter in text[first..].chars() {
        if is_hidden(letter) {
            out.push_str(&escape(letter));
        } else {
            out.push(letter);
        }
    }
    Cow::Owned(out)
}

/// A token as messages quote it: at most 80 characters.
pub fn excerpt(token: &str) -> Cow<'_, str> {
    match token.char_indices().nth(QUOTE) {
        None => Cow::Borrowed(token),
        Some(_) => Cow::Owned(token.chars().take(QUOTE - 1).chain(['…']).collect()),
    }
}

/// A message as one line: without hidden characters and newlines, with quoted tokens of at most 80 characters.
pub fn one_line(message: &str) -> String {
    let line = visible(message.trim_end()).replace('\n', " ");
    let mut out = String::with_capacity(line.len().min(4 * LINE));
    let mut rest = line.as_str();
    while let Some((before, token, after)) = next_quote(rest) {
        out.extend([before, &excerpt(token), &after[..1]]);
        rest = &after[1..];
    }
    out.push_str(rest);
    let words = out
        .split(' ')
        .map(|word| if word.len() > WORD { excerpt(word) } else { word.into() });
    let out = words.collect::<Vec<_>>().join(" ");
    match out.char_indices().nth(LINE) {
        None => out,
        Some((end, _)) => format!("{} …", &out[..end]),
    }
}

/// The text to the first opening quote, the quoted token, and the text from its closing quote on.
fn next_quote(text: &str) -> Option<(&str, &str, &str)> {
    let start = text.find(['"', '`'])? + 1;
    let quote = text[..start].chars().next_back()?;
    let end = start + text[start..].find(quote)?;
    Some((&text[..start], &text[start..end], &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_become_visible() {
        for (text, expected) in [
            ("plain µs 2\u{202f}B\n\tx", "plain µs 2\u{202f}B\n\tx"),
            ("\u{1b}[31mred\u{7}", "\\x1b[31mred\\x07"),
            ("a\rb\0\u{7f}", "a\\rb\\x00\\x7f"),
            ("\u{9b}2J\u{85}", "\\u{9b}2J\\u{85}"),
            (
                "a\u{202e}b\u{2066}c\u{200f}\u{61c}",
                "a\\u{202e}b\\u{2066}c\\u{200f}\\u{61c}",
            ),
        ] {
            assert_eq!(visible(text), expected);
        }
    }

    #[test]
    fn no_hidden_character_is_left() {
        let all: String = (0..0x3000).filter_map(char::from_u32).collect();
        for text in [visible(&all), visible_json(&all)] {
            assert!(!text.chars().any(is_hidden));
        }
    }

    #[test]
    fn json_keeps_its_values() {
        assert_eq!(
            visible_json("{\"a\u{7f}\": \"\u{202e}\"}\n"),
            "{\"a\\u007f\": \"\\u202e\"}\n"
        );
    }

    #[test]
    fn long_tokens_are_cut() {
        let long = "x".repeat(5_000);
        let cut = format!("{}…", "x".repeat(79));
        assert_eq!(
            one_line(&format!("no \"{long}\" and \"b\", `{long}`\n")),
            format!("no \"{cut}\" and \"b\", `{cut}`")
        );
        assert_eq!(one_line("a \"b\nc"), "a \"b c");
        assert_eq!(one_line(&format!("--set {long}=1: no")), format!("--set {cut} no"));
        assert!(one_line(&"é ".repeat(50_000)).chars().count() < 8_010);
    }
}
