//! The query language: text -> [`Query`] -> the tensors of a lane that it finds ([`Matches`]).
//!
//! ```text
//! relu conv|gemm            each word stands in the name of the tensor or of its op, or in its calling stack
//! /layer\d+\/out$/          a regular expression instead of a word
//! op:conv dtype:f16         conditions; `a|b` is one of several, `-op:conv` leaves out what matches
//! size:>1MiB live:100..200  amounts: < <= > >= and ranges, both ends included
//! "two words"               quotes keep blanks, colons and bars
//! ```
//!
//! In: a text, a comparison with its timeline, a lane. Out: a bit per row of the lane, the count, the bytes, and the next or
//! previous match. Reading is O(text) and says exactly what is wrong and where. Finding is O(rows): a condition on groups is
//! answered once a group, one on names once a tensor of a graph and not once a run.
//! Deliberately not here: which of them is selected, and how they are drawn.

mod amount;
mod error;
mod evaluate;
mod matches;
mod parse;
mod pattern;
mod syntax;
mod text;

pub use error::QueryError;
pub use matches::Matches;
pub use syntax::{CONDITIONS, Condition, ConditionRow, FORMS};

pub(super) use evaluate::n_held;
pub(super) use pattern::contains;
pub(super) use text::{op_name, shown_name};

use amount::Amounts;
use pattern::Patterns;

/// What a search asks for, read and understood.
#[derive(Clone, Debug, Default)]
pub struct Query {
    text: String,
    terms: Vec<Term>,
}

/// One term; all terms of a query must hold.
#[derive(Clone, Debug)]
struct Term {
    /// Whether what matches is left out.
    is_not: bool,
    test: Test,
}

/// What a term asks.
#[derive(Clone, Debug)]
enum Test {
    /// A word: in the tensor's name, its op's name, or its calling stack.
    Anywhere(Patterns),
    /// A condition on a text.
    Text(Condition, Patterns),
    /// A condition on an amount.
    Amount(Condition, Amounts),
}

impl Query {
    /// Reads a query. Blank text asks for nothing and matches everything.
    ///
    /// # Errors
    /// [`QueryError`] with what is wrong, the character at which, and what to write instead.
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        Ok(Self {
            terms: parse::terms(text)?,
            text: text.to_owned(),
        })
    }

    /// The text as it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it asks for nothing.
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
