//! A position in a text of HLO: names, numbers, balanced groups, comments.
//!
//! Quotes and `/* */` are respected everywhere: a bracket within them is none.

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

    pub(super) fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            let Some(comment) = trimmed.strip_prefix("/*") else {
                return;
            };
            let end = comment.find("*/").map_or(trimmed.len(), |end| end + 4);
            self.at += end;
        }
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
        let mut marks = Marks::default();
        for (at, byte) in rest.bytes().enumerate() {
            match marks.of(byte) {
                Mark::Opens => depth += 1,
                Mark::Closes => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        self.at += at + 1;
                        return Some(&rest[1..at]);
                    }
                }
                Mark::Other | Mark::Ends => {}
            }
        }
        None
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// A bracket that opens a group.
    Opens,
    Closes,
    Ends,
    /// Anything else, or something within quotes or a comment.
    Other,
}

/// Follows quotes and comments byte by byte.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marks {
    state: State,
    before: u8,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Plain,
    Quoted,
    Escaped,
    Comment,
}

impl Marks {
    pub(super) fn of(&mut self, byte: u8) -> Mark {
        let before = std::mem::replace(&mut self.before, byte);
        match self.state {
            State::Plain => {}
            State::Escaped => {
                self.state = State::Quoted;
                return Mark::Other;
            }
            State::Quoted => {
                match byte {
                    b'\\' => self.state = State::Escaped,
                    b'"' => self.state = State::Plain,
                    _ => {}
                }
                return Mark::Other;
            }
            State::Comment => {
                if before == b'*' && byte == b'/' {
                    self.state = State::Plain;
                    self.before = 0;
                }
                return Mark::Other;
            }
        }
        match byte {
            b'"' => self.state = State::Quoted,
            b'*' if before == b'/' => {
                self.state = State::Comment;
                self.before = 0;
            }
            b'(' | b'[' | b'{' => return Mark::Opens,
            b')' | b']' | b'}' => return Mark::Closes,
            b'\n' => return Mark::Ends,
            _ => {}
        }
        Mark::Other
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
    let mut marks = Marks::default();
    for (at, byte) in text.bytes().enumerate() {
        match marks.of(byte) {
            Mark::Opens => depth += 1,
            Mark::Closes => depth = depth.saturating_sub(1),
            Mark::Other if byte == b',' && depth == 0 && marks.is_plain() => {
                return (&text[..at], Some(&text[at + 1..]));
            }
            Mark::Other | Mark::Ends => {}
        }
    }
    (text, None)
}

impl Marks {
    /// Whether the byte before is in no quote or comment.
    pub(super) fn is_plain(self) -> bool {
        self.state == State::Plain
    }
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
