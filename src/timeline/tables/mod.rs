//! Tables of tensors, ops, live blocks, events, evictions and problems; filtered and sorted, as positions of rows.
//!
//! In: a [`TableSpec`] and a [`TableSubject`]. Out: [`TableRows`], the order as a vector of numbers; cells are computed
//! on demand. O(rows log rows) on the worker; equal texts are compared once.
//!
//! Invariants: rows that are equal in the sorted column keep their natural order in both directions; unstated values
//! come last. Not here: widths, colours, files.

mod column;
mod events;
mod evictions;
mod filter;
mod live;
mod ops;
mod order;
mod problems;
mod recorded;
mod tensors;
mod value;

pub use column::{Column, TableKind};
pub use order::natural_order;
pub use problems::ProblemLine;
pub use value::Value;

use std::sync::Arc;

use recorded::Shown;

use super::{QueryError, Rows, Selected, Timeline};
use crate::Tally;
use highwater_analysis::{Comparison, Lane};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::{Bytes, Step};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sort {
    pub column: usize,
    /// The largest first.
    pub is_descending: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableSpec {
    pub kind: TableKind,
    /// By position.
    pub lane: usize,
    /// The step of [`TableKind::Live`]; 0 for other tables, so that they do not depend on it.
    pub step: Step,
    /// `None` for the natural order.
    pub sort: Option<Sort>,
    /// A query for tables of tensors, a part of a text for others.
    pub filter: String,
    /// Whether the table of events includes allocations and frees of tensors.
    pub has_allocations: bool,
}

impl TableSpec {
    pub fn differs_by_step(&self, other: &Self) -> bool {
        self.step != other.step
            && *self
                == Self {
                    step: self.step,
                    ..other.clone()
                }
    }
}

#[derive(Clone, Debug)]
pub struct TableSubject {
    pub comparison: Arc<Comparison>,
    pub timeline: Arc<Timeline>,
    /// The lines of [`TableKind::Problems`].
    pub problems: Arc<[ProblemLine]>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    #[error(transparent)]
    Query(#[from] QueryError),
    /// A newer table replaces this one.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// The selection that a click on a row makes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    pub tensor: Option<Selected>,
    pub step: Option<Step>,
    pub option: Option<String>,
}

#[derive(Debug)]
pub struct TableRows {
    spec: TableSpec,
    subject: TableSubject,
    /// Of [`TableKind::Live`], before the filter: blocks of tensors, and other blocks.
    held: [Tally; 2],
    order: Vec<u32>,
    columns: Vec<Column>,
    /// The columns of a recorded lane.
    recorded: Option<Shown>,
    n_total: usize,
    /// Of a tape: the ops that take steps.
    executed: Vec<u32>,
}

impl TableRows {
    ///
    /// # Errors
    /// [`TableError`].
    pub fn new(spec: TableSpec, subject: TableSubject, progress: &Progress<'_>) -> Result<Self, TableError> {
        let executed = ops::executed(&subject.comparison);
        let lane = subject.comparison.lanes.get(spec.lane);
        let recording = lane.and_then(|lane| subject.comparison.recording(lane.id));
        let recorded = recording.and_then(|recording| Shown::new(spec.kind, recording));
        let (recorded, columns) = match recorded {
            Some((shown, columns)) => (Some(shown), columns),
            None => (None, spec.kind.columns().to_vec()),
        };
        let mut table = Self {
            spec,
            subject,
            held: [Tally::default(); 2],
            order: Vec::new(),
            columns,
            recorded,
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

    fn natural(&self) -> Vec<u32> {
        let view = self.view();
        let count = |count: usize| (0..u32::try_from(count).unwrap_or(u32::MAX)).collect();
        match self.spec.kind {
            TableKind::Tensors => count(view.rows().len()),
            TableKind::Ops => count(ops::count(&view)),
            TableKind::Live => live::natural(&view, self.spec.step),
            TableKind::Events => events::natural(&view, self.spec.has_allocations),
            TableKind::Evictions => count(evictions::count(&view)),
            TableKind::Problems => count(view.problems.len()),
        }
    }

    pub const fn spec(&self) -> &TableSpec {
        &self.spec
    }

    pub const fn subject(&self) -> &TableSubject {
        &self.subject
    }

    /// Without those that the lane leaves empty.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    pub const fn len(&self) -> usize {
        self.order.len()
    }

    pub const fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    pub const fn n_total(&self) -> usize {
        self.n_total
    }

    /// Bytes of all rows of [`TableKind::Live`]; 0 for other tables.
    pub fn total(&self) -> Bytes {
        self.held.iter().map(|tally| tally.bytes).sum()
    }

    /// Of [`TableKind::Live`]: blocks of tensors, and other blocks such as inputs and outputs; zeros for other tables.
    pub const fn held(&self) -> [Tally; 2] {
        self.held
    }

    /// The cell of a row counted from the top. O(1), or O(dimensions) for a shape.
    pub fn value(&self, position: usize, column: usize) -> Value<'_> {
        self.order
            .get(position)
            .map_or(Value::Nothing, |row| self.view().value(*row, column))
    }

    /// The cells of a row counted from the top, instead of those in `cells`.
    pub fn values<'a>(&'a self, position: usize, cells: &mut Vec<Value<'a>>) {
        cells.clear();
        let Some(row) = self.order.get(position) else { return };
        let view = self.view();
        match view.recorded {
            Some(recorded) => recorded.values(&view, *row, cells),
            None => cells.extend((0..self.columns.len()).map(|column| view.value(*row, column))),
        }
    }

    pub fn target(&self, position: usize) -> Target {
        self.order
            .get(position)
            .map_or_else(Target::default, |row| self.view().target(*row))
    }

    /// The first row of a tensor. O(rows).
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
            TableKind::Ops | TableKind::Events | TableKind::Evictions | TableKind::Problems => None,
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
            columns: &self.columns,
            recorded: self.recorded.as_ref(),
        }
    }
}

/// The data that rows are read from.
#[derive(Clone, Copy)]
struct View<'a> {
    kind: TableKind,
    comparison: &'a Comparison,
    timeline: &'a Timeline,
    problems: &'a [ProblemLine],
    lane: usize,
    total: Bytes,
    executed: &'a [u32],
    columns: &'a [Column],
    recorded: Option<&'a Shown>,
}

impl<'a> View<'a> {
    fn rows(&self) -> &'a Rows {
        self.timeline.rows_of(self.lane)
    }

    fn lane(&self) -> Option<&'a Lane> {
        self.comparison.lanes.get(self.lane)
    }

    fn value(&self, row: u32, column: usize) -> Value<'a> {
        if let Some(recorded) = self.recorded {
            return recorded.value(self, row, column);
        }
        match self.kind {
            TableKind::Tensors => tensors::value(self, row, column),
            TableKind::Ops => ops::value(self, row, column),
            TableKind::Live => live::value(self, row, column),
            TableKind::Events => events::value(self, row, column),
            TableKind::Evictions => evictions::value(self, row, column),
            TableKind::Problems => problems::value(self, row, column),
        }
    }

    /// A key: rows with equal keys have the same text in a column.
    fn same(&self, row: u32, column: usize) -> u64 {
        match self.kind {
            TableKind::Tensors if self.recorded.is_some() => u64::from(row),
            TableKind::Tensors => tensors::same(self, row, column),
            TableKind::Ops => ops::same(self, row),
            TableKind::Events => events::same(self, row, column),
            TableKind::Live | TableKind::Evictions | TableKind::Problems => u64::from(row),
        }
    }

    fn target(&self, row: u32) -> Target {
        match self.kind {
            TableKind::Tensors => tensors::target(self, row),
            TableKind::Ops => ops::target(self, row),
            TableKind::Live => live::target(self, row),
            TableKind::Events => events::target(self, row),
            TableKind::Evictions => evictions::target(self, row),
            TableKind::Problems => problems::target(self, row),
        }
    }
}
