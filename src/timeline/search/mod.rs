//! The query language: text -> [`Query`] -> the tensors of a lane that match ([`Matches`]).
//!
//! ```text
//! relu conv|gemm            each word occurs in the name of the tensor or of its op, or in its call stack
//! /layer\d+\/out$/          a regular expression instead of a word
//! op:conv dtype:f16         conditions; `a|b` is one of several, `-op:conv` leaves out what matches
//! size:>1MiB live:100..200  amounts: < <= > >= and ranges, both ends included
//! "two words"               quotes keep blanks, colons and bars
//! ```
//!
//! In: a text, a comparison with its timeline, a lane. Out: a bit per row of the lane, count, bytes, and the next or
//! previous match. Parsing is O(text) and reports errors with their position. Matching is O(rows): a condition on
//! groups is evaluated once per group, one on names once per tensor of a graph instead of once per run. Not here:
//! selection and drawing.

mod amount;
mod error;
mod evaluate;
mod matches;
mod parse;
mod pattern;
mod syntax;
mod text;

pub use error::QueryError;
pub use matches::{Match, Matches};
pub use syntax::{CONDITIONS, Condition, ConditionRow, FORMS};

pub(super) use evaluate::n_held;
pub(super) use pattern::contains;
pub(super) use text::op_name;
pub use text::shown_name;

use amount::Amounts;
use pattern::Patterns;

#[derive(Clone, Debug, Default)]
pub struct Query {
    text: String,
    terms: Vec<Term>,
}

/// All terms of a query must hold.
#[derive(Clone, Debug)]
struct Term {
    /// Negates the test.
    is_not: bool,
    test: Test,
}

#[derive(Clone, Debug)]
enum Test {
    /// In the tensor's name, its op's name, or its call stack.
    Anywhere(Patterns),
    Text(Condition, Patterns),
    Amount(Condition, Amounts),
}

impl Query {
    /// Blank text matches everything.
    ///
    /// # Errors
    /// [`QueryError`] with the problem, its position, and a hint.
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        Ok(Self {
            terms: parse::terms(text)?,
            text: text.to_owned(),
        })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }
}

impl PartialEq for Query {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Query {}
