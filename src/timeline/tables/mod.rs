//! Tables: tensors, ops, what is live on a step, events, problems; filtered and sorted, as positions of rows.
//!
//! In: a [`TableSpec`] and what it is a table of. Out: [`TableRows`], the order as a vector of numbers; what a visible row says
//! is made when it is asked for. Made on the worker: O(rows log rows), and equal texts are compared once.
//!
//! Invariants: rows that are equal in the sorted column stay in their natural order, whichever way it is sorted; what is not
//! stated comes last. Deliberately not here: widths, colours, files.

mod column;
mod events;
mod filter;
mod live;
mod ops;
mod order;
mod problems;
mod tensors;
mod value;

pub use column::{Column, TableKind};
pub use problems::ProblemLine;
pub use value::Value;

use std::sync::Arc;

use super::{QueryError, Rows, Selected, Timeline};
use crate::Tally;
use highwater_analysis::{Comparison, Lane};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::{Bytes, Step};

/// By what a table is sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sort {
    /// The column, by position.
    pub column: usize,
    /// Whether the largest comes first.
    pub is_descending: bool,
}

/// Which table, of what, in which order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableSpec {
    /// Which table.
    pub kind: TableKind,
    /// The lane, by position.
    pub lane: usize,
    /// The step of [`TableKind::Live`]; 0 elsewhere, so that other tables do not change with it.
    pub step: Step,
    /// The order; `None` is the natural one.
    pub sort: Option<Sort>,
    /// What must match: a query for tensors, a part of a text in other tables.
    pub filter: String,
    /// Whether events are also those of single tensors that come and go.
    pub has_allocations: bool,
}

impl TableSpec {
    /// Whether only the step differs.
    pub fn differs_by_step(&self, other: &Self) -> bool {
        self.step != other.step
            && *self
                == Self {
                    step: self.step,
                    ..other.clone()
                }
    }
}

/// What tables are of.
#[derive(Clone, Debug)]
pub struct TableSubject {
    /// The answer.
    pub comparison: Arc<Comparison>,
    /// Its view-model.
    pub timeline: Arc<Timeline>,
    /// The lines of [`TableKind::Problems`].
    pub problems: Arc<[ProblemLine]>,
}

/// Why there is no table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// The filter cannot be read.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// A newer table is wanted.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// Where a row leads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// The tensor that it is about.
    pub tensor: Option<Selected>,
    /// The step that it is about.
    pub step: Option<Step>,
    /// The option that it is about.
    pub option: Option<String>,
}

/// A table: the rows in their order.
#[derive(Debug)]
pub struct TableRows {
    spec: TableSpec,
    subject: TableSubject,
    /// Of [`TableKind::Live`], before the filter: rows of tensors with their bytes, and those of nobody or of the session.
    held: [Tally; 2],
    /// Rows by number, in their order.
    order: Vec<u32>,
    n_total: usize,
    /// Of a tape: the ops that take steps.
    executed: Vec<u32>,
}

impl TableRows {
    /// Makes a table.
    ///
    /// # Errors
    /// [`TableError`].
    pub fn new(spec: TableSpec, subject: TableSubject, progress: &Progress<'_>) -> Result<Self, TableError> {
        let executed = ops::executed(&subject.comparison);
        let mut table = Self {
            spec,
            subject,
            held: [Tally::default(); 2],
            order: Vec::new(),
            n_total: 0,
            executed,
        };
        let all = table.natural();
        table.n_total = all.len();
        if table.spec.kind == TableKind::Live {
            table.held = live::held(&table.view(), &all);
        }
        let kept = filter::kept(&table.view(), &table.spec, all, progress)?;
        table.order = order::sorted(&table.view(), table.spec.sort, kept, progress)?;
        Ok(table)
    }

    /// Every row in the natural order.
    fn natural(&self) -> Vec<u32> {
        let view = self.view();
        let count = |count: usize| (0..u32::try_from(count).unwrap_or(u32::MAX)).collect();
        match self.spec.kind {
            TableKind::Tensors => count(view.rows().len()),
            TableKind::Ops => count(ops::count(&view)),
            TableKind::Live => live::natural(&view, self.spec.step),
            TableKind::Events => events::natural(&view, self.spec.has_allocations),
            TableKind::Problems => count(view.problems.len()),
        }
    }

    /// What was asked for.
    pub const fn spec(&self) -> &TableSpec {
        &self.spec
    }

    /// What it is of.
    pub const fn subject(&self) -> &TableSubject {
        &self.subject
    }

    /// Rows that the filter leaves.
    pub const fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether none is left.
    pub const fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Rows without the filter.
    pub const fn n_total(&self) -> usize {
        self.n_total
    }

    /// Bytes of all rows of [`TableKind::Live`] together; 0 elsewhere.
    pub fn total(&self) -> Bytes {
        self.held.iter().map(|tally| tally.bytes).sum()
    }

    /// Of [`TableKind::Live`]: how many blocks of tensors there are and what they hold, and the same of other blocks, such as
    /// that of inputs and outputs; zeros elsewhere.
    pub const fn held(&self) -> [Tally; 2] {
        self.held
    }

    /// What stands in a column of a row, counted from the top. O(1), or O(dimensions) for a shape.
    pub fn value(&self, position: usize, column: usize) -> Value<'_> {
        self.order
            .get(position)
            .map_or(Value::Nothing, |row| self.view().value(*row, column))
    }

    /// Where a row leads.
    pub fn target(&self, position: usize) -> Target {
        self.order
            .get(position)
            .map_or_else(Target::default, |row| self.view().target(*row))
    }

    /// The first row that is about a tensor. O(rows).
    pub fn position_of(&self, tensor: Selected) -> Option<usize> {
        let view = self.view();
        match self.spec.kind {
            TableKind::Tensors => {
                let number = u32::try_from(view.rows().number(tensor)?).ok()?;
                self.order.iter().position(|row| *row == number)
            }
            TableKind::Live => {
                let lane = view.timeline.lanes.get(view.lane)?;
                let blocks: Vec<u32> = lane.blocks_of(tensor).collect();
                self.order.iter().position(|row| blocks.contains(row))
            }
            TableKind::Ops | TableKind::Events | TableKind::Problems => None,
        }
    }

    fn view(&self) -> View<'_> {
        View {
            kind: self.spec.kind,
            comparison: &self.subject.comparison,
            timeline: &self.subject.timeline,
            problems: &self.subject.problems,
            lane: self.spec.lane,
            total: self.total(),
            executed: &self.executed,
        }
    }
}

/// What rows are read from.
#[derive(Clone, Copy)]
struct View<'a> {
    kind: TableKind,
    comparison: &'a Comparison,
    timeline: &'a Timeline,
    problems: &'a [ProblemLine],
    lane: usize,
    total: Bytes,
    executed: &'a [u32],
}

impl<'a> View<'a> {
    fn rows(&self) -> &'a Rows {
        self.timeline.rows_of(self.lane)
    }

    fn lane(&self) -> Option<&'a Lane> {
        self.comparison.lanes.get(self.lane)
    }

    /// What stands in a column of a row.
    fn value(&self, row: u32, column: usize) -> Value<'a> {
        match self.kind {
            TableKind::Tensors => tensors::value(self, row, column),
            TableKind::Ops => ops::value(self, row, column),
            TableKind::Live => live::value(self, row, column),
            TableKind::Events => events::value(self, row, column),
            TableKind::Problems => problems::value(self, row, column),
        }
    }

    /// Rows of which this is equal have the same text in a column.
    fn same(&self, row: u32, column: usize) -> u64 {
        match self.kind {
            TableKind::Tensors => tensors::same(self, row, column),
            TableKind::Ops => ops::same(self, row),
            TableKind::Events => events::same(self, row, column),
            TableKind::Live | TableKind::Problems => u64::from(row),
        }
    }

    fn target(&self, row: u32) -> Target {
        match self.kind {
            TableKind::Tensors => tensors::target(self, row),
            TableKind::Ops => ops::target(self, row),
            TableKind::Live => live::target(self, row),
            TableKind::Events => events::target(self, row),
            TableKind::Problems => problems::target(self, row),
        }
    }
}
