//! Quotation marks of printed text, which editors and web pages put in place of those of a programming language.

/// Marks of U+2018 to U+201F, guillemets, acute accents, full-width and corner ones, with what to write.
const MARKS: [(char, char); 20] = [
    ('\u{2018}', '\''),
    ('\u{2019}', '\''),
    ('\u{201a}', '\''),
    ('\u{201b}', '\''),
    ('\u{201c}', '"'),
    ('\u{201d}', '"'),
    ('\u{201e}', '"'),
    ('\u{201f}', '"'),
    ('\u{ab}', '"'),
    ('\u{bb}', '"'),
    ('\u{2039}', '\''),
    ('\u{203a}', '\''),
    ('\u{ff02}', '"'),
    ('\u{ff07}', '\''),
    ('\u{b4}', '\''),
    ('\u{2032}', '\''),
    ('\u{2033}', '"'),
    ('\u{300c}', '"'),
    ('\u{300d}', '"'),
    ('\u{301d}', '"'),
];

fn plain(letter: char) -> Option<char> {
    MARKS.iter().find(|(mark, _)| *mark == letter).map(|(_, plain)| *plain)
}

/// The first such mark of a text: its position in bytes and itself.
pub(super) fn first_mark(text: &str) -> Option<(usize, char)> {
    text.char_indices().find(|(_, letter)| plain(*letter).is_some())
}

/// A text between two marks, with the first of them.
pub(super) fn marked(text: &str) -> Option<(char, &str)> {
    let mark = text.chars().next().filter(|mark| plain(*mark).is_some())?;
    let inner = text.strip_prefix(mark)?;
    let last = inner.chars().next_back().filter(|mark| plain(*mark).is_some())?;
    Some((mark, inner.strip_suffix(last)?))
}

/// What a mark is to a reader (`Python takes it for no quotation mark`), and what to write.
pub(super) fn named(mark: char, effect: &str) -> String {
    let plain = plain(mark).unwrap_or('"');
    format!("{}, and {effect}: write {plain}", title(mark))
}

/// What a mark is in the text of a variable, which it is a part of, and what to write.
pub(super) fn named_in_text(mark: char, inner: &str, name: &str) -> String {
    format!(
        "{}, and a part of the text of {name} here: write {inner} without such marks",
        title(mark)
    )
}

fn title(mark: char) -> String {
    format!("{mark} (U+{:04X}) is a typographic quotation mark", u32::from(mark))
}

/// The first mark of JSON outside of its texts: line and column, from 1, and the mark.
pub(super) fn first_in_json(text: &str) -> Option<(usize, usize, char)> {
    let (mut line, mut column) = (1, 0);
    let mut is_in_text = false;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        column += 1;
        match letter {
            '\n' => (line, column) = (line + 1, 0),
            '"' => is_in_text = !is_in_text,
            '\\' if is_in_text => column += usize::from(letters.next().is_some()),
            mark if !is_in_text && plain(mark).is_some() => return Some((line, column, mark)),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_named_with_what_to_write() {
        for (position, (mark, _)) in MARKS.iter().enumerate() {
            assert!(MARKS[..position].iter().all(|(other, _)| other != mark));
            assert_eq!(first_mark(&format!("ab{mark}")), Some((2, *mark)));
        }
        assert_eq!(first_mark("'\"`"), None);
        let said = named('\u{201c}', "Python takes it for no quote");
        assert_eq!(
            said,
            "\u{201c} (U+201C) is a typographic quotation mark, and Python takes it for no quote: write \""
        );
    }

    #[test]
    fn marks_within_texts_of_json_are_its_content() {
        assert_eq!(first_in_json("{\"a\": \"\u{201c}x\u{201d} \\\" \u{2018}\"}"), None);
        assert_eq!(first_in_json("{\n  \u{201c}a\u{201d}: 1}"), Some((2, 3, '\u{201c}')));
    }
}
