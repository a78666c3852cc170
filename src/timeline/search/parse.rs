//! Text -> terms, or an error with its position.
//!
//! ```text
//! query := term*                        separated by blanks
//! term  := ["-"] [condition ":"] value ("|" value)*
//! value := "/" expression "/" | (letter | quoted)+
//! ```
//!
//! A slash opens an expression only if a slash before a blank, a bar or the end closes it: `/layer1/conv` is a name. A
//! word before a colon is a condition only if it consists of letters: `dense_1:0` is a name.

use super::amount::{AmountError, Amounts, amount};
use super::error::QueryError;
use super::pattern::{Pattern, Patterns};
use super::syntax::{CONDITIONS, Condition};
use super::{Term, Test};

pub(super) fn terms(text: &str) -> Result<Vec<Term>, QueryError> {
    let mut reader = Reader { text, at: 0 };
    let mut terms = Vec::new();
    while reader.skip_blanks() {
        terms.push(reader.term()?);
    }
    Ok(terms)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

struct Value {
    at: usize,
    text: String,
    is_regex: bool,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Consumes a letter if it is next.
    fn eat(&mut self, letter: char) -> bool {
        let is_next = self.peek() == Some(letter);
        if is_next {
            self.at += letter.len_utf8();
        }
        is_next
    }

    /// Skips to the next term; false at the end.
    fn skip_blanks(&mut self) -> bool {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
        self.at < self.text.len()
    }

    /// An error at a byte of the text.
    fn error(&self, at: usize, what: impl Into<String>, help: impl Into<String>) -> QueryError {
        QueryError {
            at: self.text.get(..at).map_or(0, |before| before.chars().count()) + 1,
            what: what.into(),
            help: help.into(),
        }
    }

    fn term(&mut self) -> Result<Term, QueryError> {
        let start = self.at;
        let is_not = self.eat('-');
        if is_not && is_end(self.peek()) {
            return Err(self.error(
                start,
                "nothing follows \"-\"",
                "write -op:conv to leave out what matches",
            ));
        }
        let condition = self.condition()?;
        let values = self.values(condition)?;
        let test = match condition {
            Some(condition) if condition.is_amount() => Test::Amount(condition, self.amounts(condition, &values)?),
            Some(condition) => Test::Text(condition, self.patterns(Some(condition), &values)?),
            None => Test::Anywhere(self.patterns(None, &values)?),
        };
        Ok(Term { is_not, test })
    }

    /// The condition at the start of a term.
    fn condition(&mut self) -> Result<Option<Condition>, QueryError> {
        let rest = self.rest();
        let end = rest.find(|letter: char| !letter.is_ascii_alphabetic());
        // `size>1MiB` is meant as `size:>1MiB`.
        let amount = end.filter(|end| rest[*end..].starts_with(['<', '>']));
        let amount = amount.and_then(|end| Some((end, Condition::find(&rest[..end])?)));
        if let Some((end, condition)) = amount.filter(|(_, condition)| condition.is_amount()) {
            self.at += end;
            return Ok(Some(condition));
        }
        let Some(end) = end.filter(|end| *end > 0 && rest[*end..].starts_with(':')) else {
            return Ok(None);
        };
        let word = &rest[..end];
        let Some(condition) = Condition::find(word) else {
            let words: Vec<String> = CONDITIONS.iter().map(|row| format!("{}:", row.word)).collect();
            let near = Condition::near(word).map(|near| format!("did you mean {near}:?"));
            let help = near.unwrap_or_else(|| format!("there are {}", words.join(" ")));
            let help = format!("{help}; to find the text itself write it in quotes");
            return Err(self.error(self.at, format!("there is no condition \"{word}:\""), help));
        };
        self.at += end + 1;
        Ok(Some(condition))
    }

    /// The values of a term, separated by bars.
    fn values(&mut self, condition: Option<Condition>) -> Result<Vec<Value>, QueryError> {
        let start = self.at;
        let mut values = Vec::new();
        loop {
            let value = self.value()?;
            if value.text.is_empty() {
                let example = condition.map_or("relu|gelu", |condition| condition.row().example);
                let before = self.text.get(..self.at).unwrap_or("");
                let what = match (before.ends_with('|'), condition) {
                    (true, _) => "nothing follows \"|\"".to_owned(),
                    (false, Some(condition)) => format!("nothing follows \"{}:\"", condition.row().word),
                    (false, None) if self.peek() == Some('|') => "there is nothing before \"|\"".to_owned(),
                    (false, None) => "there is nothing between the quotes".to_owned(),
                };
                return Err(self.error(self.at.max(start), what, format!("write {example}")));
            }
            values.push(value);
            if !self.eat('|') {
                return Ok(values);
            }
        }
    }

    /// One value, up to the next blank or bar outside quotes.
    fn value(&mut self) -> Result<Value, QueryError> {
        let at = self.at;
        if let Some(end) = closing_slash(self.rest()) {
            let text = self.rest()[1..end].to_owned();
            self.at += end + 1;
            return Ok(Value {
                at,
                text,
                is_regex: true,
            });
        }
        let mut text = String::new();
        while let Some(letter) = self.peek() {
            if letter == '"' {
                self.quoted(&mut text)?;
            } else if is_end(Some(letter)) || letter == '|' {
                break;
            } else {
                text.push(letter);
                self.at += letter.len_utf8();
            }
        }
        Ok(Value {
            at,
            text,
            is_regex: false,
        })
    }

    fn quoted(&mut self, text: &mut String) -> Result<(), QueryError> {
        let inside = self.at + 1;
        let rest = self.text.get(inside..).unwrap_or("");
        let Some(end) = rest.find('"') else {
            return Err(self.error(self.at, "the quote is not closed", "add a second \" behind the text"));
        };
        text.push_str(&rest[..end]);
        self.at = inside + end + 1;
        Ok(())
    }

    fn patterns(&self, condition: Option<Condition>, values: &[Value]) -> Result<Patterns, QueryError> {
        let mut patterns = Patterns::default();
        for value in values {
            patterns.push(if value.is_regex {
                let help = "fix it, or write the text in quotes";
                let wrong = |why: String| self.error(value.at, format!("the expression cannot be read: {why}"), help);
                Pattern::regex(&value.text).map_err(wrong)?
            } else if condition == Some(Condition::DType) {
                Pattern::part(&full_dtype(&value.text))
            } else {
                Pattern::part(&value.text)
            });
        }
        Ok(patterns)
    }

    fn amounts(&self, condition: Condition, values: &[Value]) -> Result<Amounts, QueryError> {
        let (word, kind, examples) = match condition {
            Condition::Size => ("size", "a size", "size:>1MiB, size:4096 or size:1KiB..1.5MiB"),
            Condition::Life => ("life", "a number of steps", "life:>100, life:1 or life:2..10"),
            Condition::Live => ("live", "a step", "live:123 or live:100..200"),
            Condition::Stream => ("stream", "a number of a stream", "stream:7 or stream:0..3"),
            Condition::Address => (
                "address",
                "an address",
                "address:0x7f1c00000000 or address:0x7f10..0x7f20",
            ),
            Condition::Lane => ("lane", "a number of a lane", "lane:2 or lane:1..3"),
            _ => ("run", "a number of a run", "run:2 or run:0..3"),
        };
        let mut amounts = Amounts::default();
        for value in values {
            let found = amount(condition, &value.text).map_err(|error| match error {
                AmountError::NoNumber(at) => {
                    let rest = value.text.get(at..).filter(|rest| !rest.is_empty());
                    let what = rest.map_or_else(
                        || format!("a number is missing behind \"{word}:{}\"", value.text),
                        |rest| format!("\"{rest}\" is not {kind}"),
                    );
                    self.error(value.at + at, what, format!("write {examples}"))
                }
                AmountError::Backwards => {
                    let what = format!("the range \"{}\" ends before it begins", value.text);
                    self.error(value.at, what, format!("write {examples}"))
                }
            });
            amounts.push(found?);
        }
        Ok(amounts)
    }
}

const fn is_end(letter: Option<char>) -> bool {
    match letter {
        None => true,
        Some(letter) => letter.is_whitespace(),
    }
}

/// Position of the slash that closes an expression at the start of a text.
fn closing_slash(text: &str) -> Option<usize> {
    let mut letters = text.char_indices().peekable();
    letters.next_if(|(_, letter)| *letter == '/')?;
    let mut is_escaped = false;
    while let Some((at, letter)) = letters.next() {
        let next = letters.peek().map(|(_, next)| *next);
        if letter == '/' && !is_escaped && at > 1 && (is_end(next) || next == Some('|')) {
            return Some(at);
        }
        is_escaped = letter == '\\' && !is_escaped;
    }
    None
}

/// Expands short data types: `f16`, `bf16`, `i8`, `u8`.
pub(super) fn full_dtype(text: &str) -> String {
    let short = text.to_ascii_lowercase();
    let digits = short
        .find(|letter: char| letter.is_ascii_digit())
        .unwrap_or(short.len());
    let (letters, bits) = short.split_at(digits);
    let full = match letters {
        _ if bits.is_empty() => return short,
        "f" | "fp" => "float",
        "bf" => "bfloat",
        "i" | "s" => "int",
        "u" => "uint",
        "c" => "complex",
        _ => return short,
    };
    format!("{full}{bits}")
}
