//! Evaluation of a query over the rows of all lanes.
//!
//! Terms are evaluated in order of cost: amounts, then groups, then names.

use super::matches::{Bits, Match, Matches, Part};
use super::parse::full_dtype;
use super::pattern::Patterns;
use super::syntax::Condition;
use super::text::{Place, TextTest};
use super::{Amounts, Query, Term, Test};
use crate::{Attribute, Grouping, HeldTensor, Row, Rows, Timeline};
use highwater_analysis::Comparison;
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{BlockAddress, RecordedBlock};

/// Rows between two checks for cancellation.
const CHUNK: usize = 4096;

impl Query {
    /// Evaluates the rows of all lanes; those of `lane` are asked first. O(rows + tensors + text of the names visited).
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
        let own = |lane: usize| timeline.lane_rows.get(lane).and_then(Option::as_ref);
        let lanes = 0..timeline.lane_rows.len().max(lane + 1);
        // Lanes without rows of their own share one part.
        let sharing = match own(lane) {
            None => Some(lane),
            Some(_) => lanes.clone().find(|lane| own(*lane).is_none()),
        };
        let (mut parts, mut main, mut bytes) = (Vec::new(), 0, Bytes::ZERO);
        let mut largest: Option<Match> = None;
        for other in lanes {
            if own(other).is_none() && sharing != Some(other) {
                continue;
            }
            if other == lane {
                main = parts.len();
            }
            let found = asked.all(other, timeline.rows_of(other), progress)?;
            bytes = Bytes(bytes.get().saturating_add(found.bytes));
            let row = found
                .largest
                .filter(|row| largest.is_none_or(|known| row.bytes > known.row.bytes));
            largest = row.map(|row| Match { lane: other, row }).or(largest);
            parts.push(found.part);
        }
        Ok(Matches {
            parts,
            main,
            bytes,
            largest,
        })
    }
}

/// What a query finds in a lane.
struct Found {
    part: Part,
    /// Sum over the matches.
    bytes: u64,
    /// The first of the largest.
    largest: Option<Row>,
}

/// A query under evaluation, with cached results by group and name.
struct Asked<'a> {
    comparison: &'a Comparison,
    /// The lane whose rows are asked.
    lane: usize,
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
        Self {
            comparison,
            lane: 0,
            terms,
        }
    }

    /// Evaluates all rows of a lane.
    fn all(&mut self, lane: usize, rows: &Rows, progress: &Progress<'_>) -> Result<Found, Cancelled> {
        self.lane = lane;
        let mut bits = Bits::new(rows.clone());
        let (mut count, mut bytes, mut largest) = (0, 0_u64, None::<Row>);
        for (number, row) in rows.iter().enumerate() {
            if number % CHUNK == 0 {
                progress.check()?;
            }
            if self.holds(&row, rows) {
                bits.set(number);
                count += 1;
                bytes = bytes.saturating_add(row.bytes.get());
                if largest.is_none_or(|known| row.bytes > known.bytes) {
                    largest = Some(row);
                }
            }
        }
        Ok(Found {
            part: Part { lane, bits, count },
            bytes,
            largest,
        })
    }

    fn holds(&mut self, row: &Row, rows: &Rows) -> bool {
        let (comparison, lane) = (self.comparison, self.lane);
        self.terms
            .iter_mut()
            .all(|term| term.test.holds(row, rows, (comparison, lane)) != term.is_not)
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
            Condition::Pool => Attribute::Pool,
            Condition::File => Attribute::File,
            Condition::Annotation => Attribute::Annotation,
            Condition::Compile => Attribute::CompileContext,
            Condition::Metadata => Attribute::UserMetadata,
            Condition::Role
            | Condition::Name
            | Condition::Scope
            | Condition::At
            | Condition::Stack
            | Condition::Stream
            | Condition::Address
            | Condition::Size
            | Condition::Life
            | Condition::Live
            | Condition::Run
            | Condition::Lane => Attribute::Role,
        };
        let grouping = Grouping::new(comparison, attribute);
        let groups = 0..u32::try_from(grouping.len()).unwrap_or(u32::MAX);
        let texts = groups.map(|group| grouping.text(group));
        let fits = if condition == Condition::DType {
            // Data types match by their full or short name; other texts match by any part.
            let texts: Vec<String> = texts.map(full_dtype).collect();
            texts.iter().map(|text| patterns.name(text, &texts)).collect()
        } else {
            texts.map(|text| patterns.are_in(text)).collect()
        };
        Self::Group(grouping, fits)
    }

    fn holds(&mut self, row: &Row, rows: &Rows, (comparison, lane): (&Comparison, usize)) -> bool {
        // In the numbers that people read.
        let meets = |amounts: &Amounts, start: Step, end: Step| {
            let (start, end) = (comparison.shown_step(lane, start), comparison.shown_end(lane, end));
            amounts.meet(u64::from(start.0), u64::from(end.0))
        };
        match self {
            Self::Amount(condition, amounts) => match condition {
                Condition::Size => amounts.contain(row.bytes.get()),
                Condition::Run => amounts.contain(u64::from(row.tensor.run)),
                Condition::Lane => amounts.contain(lane as u64 + 1),
                Condition::Live if row.n_pieces == 1 => meets(amounts, row.start, row.end),
                Condition::Live => {
                    let pieces = rows.pieces(row.tensor);
                    pieces.iter().any(|(start, end)| meets(amounts, *start, *end))
                }
                Condition::Stream => {
                    let stream = recorded(comparison, row).and_then(RecordedBlock::stated_stream);
                    stream.is_some_and(|stream| amounts.contain(stream))
                }
                Condition::Address => recorded(comparison, row).is_some_and(|block| {
                    let start = block.address.map(BlockAddress::get);
                    start.is_some_and(|start| amounts.meet(start, start.saturating_add(block.held.get().max(1))))
                }),
                Condition::Life
                | Condition::Name
                | Condition::Op
                | Condition::DType
                | Condition::Role
                | Condition::Phase
                | Condition::Pool
                | Condition::File
                | Condition::Annotation
                | Condition::Compile
                | Condition::Metadata
                | Condition::At
                | Condition::Stack
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

fn recorded<'a>(comparison: &'a Comparison, row: &Row) -> Option<&'a RecordedBlock> {
    let (_, block) = comparison.recorded_block(row.tensor.graph, row.tensor.tensor)?;
    Some(block)
}

/// Number of steps on which a row's tensor is live.
pub(crate) fn n_held(row: &Row, rows: &Rows) -> u32 {
    if row.n_pieces == 1 {
        return row.end.0.saturating_sub(row.start.0);
    }
    let pieces = rows.pieces(row.tensor);
    pieces.iter().map(|(start, end)| end.0.saturating_sub(start.0)).sum()
}
