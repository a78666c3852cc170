//! Shape ranges of graph inputs, in the syntax of `dynamic_inputs_shape_range`.
//!
//! ```text
//! getnext:[128, 3~5, -1],[];data:[64]
//! ranges = group (';' group)*      group = ("getnext" | "data") ':' shape (',' shape)*
//! shape  = '[' (dim (',' dim)*)? ']'      dim = N | N~M | N~-1 | -1
//! ```
//!
//! `[]` is a scalar and must not follow a blank; elsewhere blanks are ignored. Source: NPURunConfig option reference.

use std::fmt;

/// The source of the inputs of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputSource {
    /// The dataset (`getnext`).
    GetNext,
    /// Placeholders (`data`), in alphabetical order of their names.
    Data,
}

/// The values of a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DimRange {
    pub min: u64,
    /// `None` where there is no bound.
    pub max: Option<u64>,
}

impl DimRange {
    /// Any value (`-1`).
    pub const ANY: Self = Self { min: 0, max: None };

    pub fn is_fixed(&self) -> bool {
        self.max == Some(self.min)
    }

    pub fn contains(&self, value: u64) -> bool {
        value >= self.min && self.max.is_none_or(|max| value <= max)
    }
}

impl fmt::Display for DimRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.max {
            Some(max) if max == self.min => write!(f, "{max}"),
            Some(max) => write!(f, "{}~{max}", self.min),
            None if self.min == 0 => f.write_str("-1"),
            None => write!(f, "{}~-1", self.min),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeGroup {
    pub source: InputSource,
    /// One entry per input.
    pub shapes: Vec<Vec<DimRange>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShapeRanges {
    /// Each source at most once.
    pub groups: Vec<RangeGroup>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at character {}, {reason}", position + 1)]
pub struct ShapeRangeError {
    /// Characters before the error.
    pub position: usize,
    /// The end of a sentence.
    pub reason: String,
}

impl ShapeRanges {
    /// Linear.
    ///
    /// # Errors
    /// [`ShapeRangeError`] at the first invalid character.
    pub fn parse(text: &str) -> Result<Self, ShapeRangeError> {
        let letters: Vec<char> = text.chars().collect();
        let mut parser = Parser { letters, at: 0 };
        let mut groups: Vec<RangeGroup> = Vec::new();
        loop {
            let start = parser.skip_blanks();
            let group = parser.group()?;
            if groups.iter().any(|earlier| earlier.source == group.source) {
                return Err(error(start, "this group is listed twice: merge its shapes"));
            }
            groups.push(group);
            parser.skip_blanks();
            if parser.at == parser.letters.len() {
                return Ok(Self { groups });
            }
            if !parser.take(';') {
                return Err(error(
                    parser.at,
                    "expected \",\" and a shape, \";\" and a group, or the end",
                ));
            }
        }
    }

    /// The shapes of the inputs from one source.
    pub fn of(&self, source: InputSource) -> &[Vec<DimRange>] {
        self.groups
            .iter()
            .find(|group| group.source == source)
            .map_or(&[], |group| &group.shapes)
    }
}

fn error(position: usize, reason: &str) -> ShapeRangeError {
    ShapeRangeError {
        position,
        reason: reason.to_owned(),
    }
}

struct Parser {
    letters: Vec<char>,
    at: usize,
}

impl Parser {
    fn peek(&self) -> Option<char> {
        self.letters.get(self.at).copied()
    }

    fn take(&mut self, letter: char) -> bool {
        let is_there = self.peek() == Some(letter);
        self.at += usize::from(is_there);
        is_there
    }

    /// Skips blanks and returns the position behind them.
    fn skip_blanks(&mut self) -> usize {
        while self.peek().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
        self.at
    }

    fn group(&mut self) -> Result<RangeGroup, ShapeRangeError> {
        let start = self.at;
        let name: String = self.letters[start..]
            .iter()
            .take_while(|letter| letter.is_alphanumeric() || **letter == '_')
            .collect();
        let source = match name.as_str() {
            "getnext" => InputSource::GetNext,
            "data" => InputSource::Data,
            _ => return Err(error(start, "expected \"getnext:\" or \"data:\"")),
        };
        self.at += name.chars().count();
        self.skip_blanks();
        if !self.take(':') {
            return Err(error(self.at, "expected \":\""));
        }
        let mut shapes = vec![self.shape()?];
        loop {
            let before = self.skip_blanks();
            if !self.take(',') {
                self.at = before;
                return Ok(RangeGroup { source, shapes });
            }
            shapes.push(self.shape()?);
        }
    }

    fn shape(&mut self) -> Result<Vec<DimRange>, ShapeRangeError> {
        let before = self.at;
        let start = self.skip_blanks();
        if !self.take('[') {
            return Err(error(self.at, "expected \"[\"; a scalar is []"));
        }
        self.skip_blanks();
        if self.take(']') {
            return if start == before {
                Ok(Vec::new())
            } else {
                Err(error(before, "no blank is allowed before the [] of a scalar"))
            };
        }
        let mut dims = vec![self.dim()?];
        loop {
            self.skip_blanks();
            if self.take(']') {
                return Ok(dims);
            }
            if !self.take(',') {
                return Err(error(self.at, "expected \",\" and a dimension, or \"]\""));
            }
            dims.push(self.dim()?);
        }
    }

    fn dim(&mut self) -> Result<DimRange, ShapeRangeError> {
        let start = self.skip_blanks();
        let Some(min) = self.number()? else {
            return Ok(DimRange::ANY);
        };
        self.skip_blanks();
        if !self.take('~') {
            return Ok(DimRange { min, max: Some(min) });
        }
        self.skip_blanks();
        let max = self.number()?;
        if max.is_some_and(|max| max < min) {
            return Err(error(
                start,
                "the range ends before it starts: put the smaller number first",
            ));
        }
        Ok(DimRange { min, max })
    }

    /// `None` for -1.
    fn number(&mut self) -> Result<Option<u64>, ShapeRangeError> {
        let start = self.at;
        let is_negative = self.take('-');
        let digits: String = self.letters[self.at..]
            .iter()
            .take_while(|letter| letter.is_ascii_digit())
            .collect();
        self.at += digits.len();
        match (is_negative, digits.as_str()) {
            (true, "1") => Ok(None),
            (true, _) => Err(error(start, "the only negative size is -1, which means any size")),
            (false, "") => Err(error(start, "expected a size, a range (2~128) or -1")),
            (false, _) => digits
                .parse()
                .ok()
                .filter(|size| i64::try_from(*size).is_ok())
                .map(Some)
                .ok_or_else(|| error(start, "the number is too large")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(shape: &[DimRange]) -> String {
        shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_references_examples_are_read() {
        let text = "getnext:[128 ,3~5, 2~128, -1],[64 ,3~5, 2~128, -1];data:[128 ,3~5, 2~128, -1]";
        let read = ShapeRanges::parse(text).expect("the reference's own example");
        assert_eq!(read.groups.len(), 2);
        let shapes = read.of(InputSource::GetNext);
        assert_eq!(ranges(&shapes[1]), "64 3~5 2~128 -1");
        assert_eq!(read.of(InputSource::Data).len(), 1);
        let scalar = ShapeRanges::parse("data:[],[3~6]").expect("a scalar");
        assert_eq!(scalar.of(InputSource::Data)[0], []);
        for text in [
            "getnext:[3,3,4,10],[-1,3,2~1000,-1],[-1,-1,-1,-1]",
            "getnext:[3~5],[3~6]",
        ] {
            assert!(ShapeRanges::parse(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn errors_name_their_character() {
        for (text, position) in [
            ("", 0),
            ("dat:[1]", 0),
            ("data[1]", 4),
            ("data:1", 5),
            ("data:[1", 7),
            ("data:[a]", 6),
            ("data:[5~3]", 6),
            ("data:[-2]", 6),
            ("data: []", 5),
            ("data:[1];", 9),
            ("data:[1] x", 9),
            ("data:[1];data:[2]", 9),
            ("data:[1,]", 8),
            ("data:[99999999999999999999]", 6),
        ] {
            let error = ShapeRanges::parse(text).expect_err(text);
            assert_eq!(error.position, position, "{text}: {error}");
        }
    }
}
