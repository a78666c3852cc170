//! Patterns of a condition: parts of a text in any case, or regular expressions.

use regex::{Regex, RegexBuilder};

/// A text matches if one of these does.
#[derive(Clone, Debug, Default)]
pub(super) struct Patterns(Vec<Pattern>);

#[derive(Clone, Debug)]
pub(super) enum Pattern {
    /// A part of a text, in lower case.
    Part(Box<str>),
    /// Ignores case.
    Regex(Regex),
}

/// Size limit of a compiled expression, in bytes.
const MOST_REGEX: usize = 1 << 20;

impl Pattern {
    pub(super) fn part(text: &str) -> Self {
        Self::Part(text.to_lowercase().into())
    }

    /// # Errors
    /// A description of the error in the expression.
    pub(super) fn regex(text: &str) -> Result<Self, String> {
        let mut builder = RegexBuilder::new(text);
        let made = builder.case_insensitive(true).size_limit(MOST_REGEX).build();
        made.map(Self::Regex).map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => "it needs too much memory".to_owned(),
            // The last line has the message; the lines before it draw an arrow below the text.
            error => {
                let text = error.to_string();
                let last = text.lines().last().unwrap_or("");
                last.trim_start_matches("error: ").to_owned()
            }
        })
    }

    fn is_in(&self, text: &str) -> bool {
        match self {
            Self::Part(part) => contains(text, part),
            Self::Regex(regex) => regex.is_match(text),
        }
    }

    fn is_at(&self, text: &str) -> bool {
        match self {
            Self::Part(part) if part.ends_with(|last: char| last.is_ascii_digit()) => {
                let text = text.to_lowercase();
                let mut ends = text.match_indices(&**part).map(|(at, _)| at + part.len());
                ends.any(|end| !text[end..].starts_with(|next: char| next.is_ascii_digit()))
            }
            pattern => pattern.is_in(text),
        }
    }
}

impl Patterns {
    pub(super) fn push(&mut self, pattern: Pattern) {
        self.0.push(pattern);
    }

    pub(super) fn are_in(&self, text: &str) -> bool {
        self.0.iter().any(|pattern| pattern.is_in(text))
    }

    /// As [`Self::are_at`] for a line of a program, but a part without a colon never matches: it may be a number.
    pub(super) fn are_line(&self, text: &str) -> bool {
        let is_line = |pattern: &Pattern| !matches!(pattern, Pattern::Part(part) if !part.contains(':'));
        self.0.iter().any(|pattern| is_line(pattern) && pattern.is_at(text))
    }

    /// As [`Self::are_in`], but a part that ends in a number matches whole numbers: `model.py:13` does not match
    /// `model.py:138`.
    pub(super) fn are_at(&self, text: &str) -> bool {
        self.0.iter().any(|pattern| pattern.is_at(text))
    }

    /// As [`Self::are_in`], but a part that equals a known text matches that text alone: `float16` does not match
    /// `bfloat16`.
    pub(super) fn name(&self, text: &str, known: &[String]) -> bool {
        self.0.iter().any(|pattern| match pattern {
            Pattern::Part(part) if known.iter().any(|known| known.eq_ignore_ascii_case(part)) => {
                text.eq_ignore_ascii_case(part)
            }
            pattern => pattern.is_in(text),
        })
    }
}

/// Whether a text contains a part in any case; `part` is in lower case. O(text x part) at worst, almost always O(text).
pub(crate) fn contains(text: &str, part: &str) -> bool {
    let (text_bytes, part_bytes) = (text.as_bytes(), part.as_bytes());
    let Some((first, rest)) = part_bytes.split_first() else {
        return true;
    };
    if !part.is_ascii() || !text.is_ascii() {
        return text.to_lowercase().contains(part);
    }
    let Some(last) = text_bytes.len().checked_sub(part_bytes.len()) else {
        return false;
    };
    let heads = text_bytes.iter().take(last + 1).enumerate();
    let mut starts = heads.filter(|(_, byte)| byte.to_ascii_lowercase() == *first);
    starts.any(|(at, _)| text_bytes[at + 1..=at + rest.len()].eq_ignore_ascii_case(rest))
}
