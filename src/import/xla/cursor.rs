//! A position in a text of HLO: names, numbers, balanced groups, comments.
//!
//! Quotes and comments (`/* */`, `//`) are respected everywhere: a bracket within them is none.

#[derive(Clone, Debug)]
pub(super) struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Cursor<'t> {
    pub(super) const fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Steps over a letter if it is next.
    pub(super) fn eat(&mut self, letter: char) -> bool {
        let is_next = self.peek() == Some(letter);
        if is_next {
            self.at += letter.len_utf8();
        }
        is_next
    }

    /// Steps over blanks and comments.
    pub(super) fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            let Some(end) = comment_end(trimmed) else { return };
            self.at += end;
        }
    }

    /// The text up to the first letter that is wanted.
    pub(super) fn until(&mut self, is_wanted: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let end = rest.find(is_wanted).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// Letters of a name; may be empty.
    pub(super) fn word(&mut self) -> &'t str {
        let rest = self.rest();
        let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | ':');
        let end = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// A number; `None` where there is none or it does not fit.
    pub(super) fn number(&mut self) -> Option<u64> {
        let rest = self.rest();
        let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
        let number = rest[..end].parse::<u64>().ok()?;
        self.at += end;
        (number <= i64::MAX.unsigned_abs()).then_some(number)
    }

    /// The text between the next bracket and the one that closes it. `None` where it does not end.
    pub(super) fn balanced(&mut self) -> Option<&'t str> {
        let rest = self.rest();
        let mut depth = 0_u32;
        for (at, byte) in PlainBytes::new(rest, 0) {
            match byte {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        self.at += at + 1;
                        return Some(&rest[1..at]);
                    }
                }
                _ => {}
            }
        }
        None
    }
}

/// The length of the comment that starts a text; `None` where none does.
fn comment_end(text: &str) -> Option<usize> {
    if let Some(comment) = text.strip_prefix("/*") {
        return Some(comment.find("*/").map_or(text.len(), |end| end + 4));
    }
    text.strip_prefix("//")
        .map(|comment| comment.find('\n').map_or(text.len(), |end| end + 2))
}

/// The bytes of a text that are in no quote and no comment, with their positions. A quote counts as its first byte.
#[derive(Clone, Debug)]
pub(super) struct PlainBytes<'t> {
    text: &'t str,
    at: usize,
    is_open: bool,
}

impl<'t> PlainBytes<'t> {
    pub(super) const fn new(text: &'t str, from: usize) -> Self {
        Self {
            text,
            at: from,
            is_open: false,
        }
    }

    /// Whether the text ended within a quote.
    pub(super) const fn is_open(&self) -> bool {
        self.is_open
    }

    fn quote_end(&mut self, start: usize) -> usize {
        let bytes = self.text.as_bytes();
        let mut at = start + 1;
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'\\' => at += 2,
                b'"' => return at + 1,
                _ => at += 1,
            }
        }
        self.is_open = true;
        bytes.len()
    }
}

impl Iterator for PlainBytes<'_> {
    type Item = (usize, u8);

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.text.as_bytes();
        loop {
            let (at, byte) = (self.at, *bytes.get(self.at)?);
            if byte == b'/'
                && let Some(length) = comment_end(&self.text[at..])
            {
                self.at += length;
                continue;
            }
            self.at = if byte == b'"' { self.quote_end(at) } else { at + 1 };
            return Some((at, byte));
        }
    }
}

/// The parts of a list, split at the commas that are in no group, quote or comment; without blanks and comments around them.
pub(super) fn parts(list: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(list);
    std::iter::from_fn(move || {
        loop {
            let text = rest?;
            let (part, behind) = split(text);
            rest = behind;
            let mut cursor = Cursor::new(part);
            cursor.skip_blanks();
            let part = cursor.rest().trim_end();
            if !part.is_empty() {
                return Some(part);
            }
        }
    })
}

fn split(text: &str) -> (&str, Option<&str>) {
    let mut depth = 0_u32;
    for (at, byte) in PlainBytes::new(text, 0) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => return (&text[..at], Some(&text[at + 1..])),
            _ => {}
        }
    }
    (text, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_quotes_and_comments_are_respected() {
        let mut cursor = Cursor::new("{a, \"}\\\"\", /*}*/ (b)} rest");
        assert_eq!(cursor.balanced(), Some("a, \"}\\\"\", /*}*/ (b)"));
        assert_eq!(cursor.rest(), " rest");
        let found: Vec<&str> = parts("%a, f32[2]{0,1} %b, /*index=5*/%c, x={1,2}, s=\",\"").collect();
        assert_eq!(found, ["%a", "f32[2]{0,1} %b", "%c", "x={1,2}", "s=\",\""]);
        assert_eq!(Cursor::new("(a").balanced(), None);
    }
}
