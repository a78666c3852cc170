//! Evaluation of a query over the rows of a lane.
//!
//! Terms are evaluated in order of cost: amounts, then groups, then names.

use super::matches::{Bits, Matches};
use super::parse::full_dtype;
use super::pattern::Patterns;
use super::syntax::Condition;
use super::text::{Place, TextTest};
use super::{Amounts, Query, Term, Test};
use crate::{Attribute, Grouping, HeldTensor, Row, Rows, Timeline};
use highwater_analysis::Comparison;
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::Bytes;

/// Rows between two checks for cancellation.
const CHUNK: usize = 4096;

impl Query {
    /// Evaluates every row of a lane, and those of lanes with other tensors, for [`Matches::contains`]. O(rows +
    /// tensors + text of the names visited).
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn matches(
        &self,
        comparison: &Comparison,
        timeline: &Timeline,
        lane: usize,
        progress: &Progress<'_>,
    ) -> Result<Matches, Cancelled> {
        let mut asked = Asked::new(self, comparison);
        let main = timeline.rows_of(lane);
        let lanes = timeline.lane_rows.iter().enumerate();
        let others = lanes.filter(|(other, _)| *other != lane);
        let has_own = timeline.lane_rows.get(lane).is_some_and(Option::is_some);
        let shared = has_own.then_some(&timeline.rows);
        let others = others.filter_map(|(_, rows)| rows.as_ref()).chain(shared);
        let (main, sums) = asked.all(main, progress)?;
        let mut parts = vec![main];
        for rows in others {
            parts.push(asked.all(rows, progress)?.0);
        }
        Ok(Matches {
            lane,
            parts,
            count: sums.0,
            bytes: sums.1,
        })
    }
}

/// A query under evaluation, with cached results by group and name.
struct Asked<'a> {
    comparison: &'a Comparison,
    terms: Vec<AskedTerm<'a>>,
}

struct AskedTerm<'a> {
    is_not: bool,
    test: AskedTest<'a>,
}

enum AskedTest<'a> {
    Amount(Condition, &'a Amounts),
    Group(Grouping, Vec<bool>),
    Text(TextTest<'a>),
}

impl<'a> Asked<'a> {
    fn new(query: &'a Query, comparison: &'a Comparison) -> Self {
        let mut terms: Vec<AskedTerm<'a>> = query
            .terms
            .iter()
            .map(|term| AskedTerm::new(term, comparison))
            .collect();
        terms.sort_by_key(|term| match term.test {
            AskedTest::Amount(..) => 0,
            AskedTest::Group(..) => 1,
            AskedTest::Text(_) => 2,
        });
        Self { comparison, terms }
    }

    /// Evaluates all rows; returns the matches with their count and bytes.
    fn all(&mut self, rows: &Rows, progress: &Progress<'_>) -> Result<(Bits, (usize, Bytes)), Cancelled> {
        let mut bits = Bits::new(rows.clone());
        let (mut count, mut bytes) = (0, 0_u64);
        for (number, row) in rows.iter().enumerate() {
            if number % CHUNK == 0 {
                progress.check()?;
            }
            if self.holds(&row, rows) {
                bits.set(number);
                count += 1;
                bytes = bytes.saturating_add(row.bytes.get());
            }
        }
        Ok((bits, (count, Bytes(bytes))))
    }

    fn holds(&mut self, row: &Row, rows: &Rows) -> bool {
        let comparison = self.comparison;
        self.terms
            .iter_mut()
            .all(|term| term.test.holds(row, rows, comparison) != term.is_not)
    }
}

impl<'a> AskedTerm<'a> {
    fn new(term: &'a Term, comparison: &Comparison) -> Self {
        let test = match &term.test {
            Test::Amount(condition, amounts) => AskedTest::Amount(*condition, amounts),
            Test::Anywhere(patterns) => AskedTest::Text(TextTest::new(patterns, Place::Anywhere)),
            Test::Text(condition, patterns) => match Place::of(*condition) {
                Some(place) => AskedTest::Text(TextTest::new(patterns, place)),
                None => AskedTest::of_groups(*condition, patterns, comparison),
            },
        };
        Self {
            is_not: term.is_not,
            test,
        }
    }
}

impl AskedTest<'_> {
    fn of_groups(condition: Condition, patterns: &Patterns, comparison: &Comparison) -> Self {
        let attribute = match condition {
            Condition::Op => Attribute::OpType,
            Condition::DType => Attribute::DType,
            Condition::Phase => Attribute::Phase,
            Condition::At => Attribute::CallSite,
            Condition::Role
            | Condition::Name
            | Condition::Scope
            | Condition::Size
            | Condition::Life
            | Condition::Live
            | Condition::Run => Attribute::Role,
        };
        let grouping = Grouping::new(comparison, attribute);
        let groups = 0..u32::try_from(grouping.len()).unwrap_or(u32::MAX);
        let texts = groups.map(|group| grouping.text(group));
        let fits = if condition == Condition::DType {
            // Data types match by their full or short name; other texts match by any part.
            let texts: Vec<String> = texts.map(full_dtype).collect();
            texts.iter().map(|text| patterns.name(text, &texts)).collect()
        } else if condition == Condition::At {
            texts.map(|text| patterns.are_at(text)).collect()
        } else {
            texts.map(|text| patterns.are_in(text)).collect()
        };
        Self::Group(grouping, fits)
    }

    fn holds(&mut self, row: &Row, rows: &Rows, comparison: &Comparison) -> bool {
        match self {
            Self::Amount(condition, amounts) => match condition {
                Condition::Size => amounts.contain(row.bytes.get()),
                Condition::Run => amounts.contain(u64::from(row.tensor.run)),
                Condition::Live if row.n_pieces == 1 => meets(amounts, row.start.0, row.end.0),
                Condition::Live => {
                    let pieces = rows.pieces(row.tensor);
                    pieces.iter().any(|(start, end)| meets(amounts, start.0, end.0))
                }
                Condition::Life
                | Condition::Name
                | Condition::Op
                | Condition::DType
                | Condition::Role
                | Condition::Phase
                | Condition::At
                | Condition::Scope => amounts.contain(u64::from(n_held(row, rows))),
            },
            Self::Group(grouping, fits) => {
                let held = HeldTensor {
                    tensor: row.tensor,
                    bytes: row.bytes,
                    n_steps: 0,
                };
                let group = grouping.group(&held);
                group.is_some_and(|group| fits.get(group as usize).copied().unwrap_or(false))
            }
            Self::Text(test) => test.holds(comparison, row.tensor),
        }
    }
}

fn meets(amounts: &Amounts, start: u32, end: u32) -> bool {
    amounts.meet(u64::from(start), u64::from(end))
}

/// Number of steps on which a row's tensor is live.
pub(crate) fn n_held(row: &Row, rows: &Rows) -> u32 {
    if row.n_pieces == 1 {
        return row.end.0.saturating_sub(row.start.0);
    }
    let pieces = rows.pieces(row.tensor);
    pieces.iter().map(|(start, end)| end.0.saturating_sub(start.0)).sum()
}
