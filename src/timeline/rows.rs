//! The rows of the lifetimes: one per tensor of a run; runs in order, within a run in order of birth.
//!
//! Rows are read from the session on demand: equal runs share their live ranges, so nothing is copied.
//! [`super::lifetimes`] sorts and shows them.

use std::sync::Arc;

use highwater_model::graph::{Id as _, TensorId};
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{GraphIdx, Lifetime};
use highwater_sim::{BoundGraph, DeviceSession};

use super::{Palette, Selected};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    pub tensor: Selected,
    /// On the common axis.
    pub start: Step,
    /// Exclusive.
    pub end: Step,
    /// Exact.
    pub bytes: Bytes,
    /// Number of live ranges: several where it is evicted and recomputed, or its memory is lent out meanwhile.
    pub n_pieces: u32,
}

#[derive(Clone, Debug, PartialEq)]
struct RunRows {
    bound: Arc<BoundGraph>,
    /// If tensors have several live ranges: those of each row.
    grouped: Option<Arc<Grouped>>,
    /// By tensor: its row in this run.
    positions: Arc<Positions>,
    /// Number of rows before those of this run.
    n_before: usize,
    graph: GraphIdx,
    start: u32,
    n_steps: u32,
}

/// Live ranges by tensor, in the order of first births.
#[derive(Clone, Debug, PartialEq)]
struct Grouped {
    items: Vec<u32>,
    /// The start of each row in `items`, and the end of the last.
    rows: Vec<u32>,
}

/// By tensor: the position of its row.
#[derive(Clone, Debug, PartialEq)]
enum Positions {
    /// Of a recording with so many blocks: tensors are numbered in the order of rows.
    Equal(usize),
    Listed(Vec<u32>),
}

impl Positions {
    fn new(bound: &BoundGraph, grouped: Option<&Grouped>) -> Self {
        if bound.recorded.is_some() {
            return Self::Equal(bound.n_lifetimes());
        }
        let items = &bound.program.lifetimes.items;
        let mut positions = vec![u32::MAX; items.iter().map(|item| item.tensor.idx() + 1).max().unwrap_or(0)];
        let mut put = |row: usize, item: usize| {
            positions[items[item].tensor.idx()] = u32::try_from(row).unwrap_or(u32::MAX);
        };
        match grouped {
            None => (0..items.len()).for_each(|item| put(item, item)),
            Some(grouped) => {
                let firsts = grouped.rows.iter().take(grouped.rows.len().saturating_sub(1));
                for (row, first) in firsts.enumerate() {
                    put(row, grouped.items[*first as usize] as usize);
                }
            }
        }
        Self::Listed(positions)
    }

    fn of(&self, tensor: TensorId) -> Option<usize> {
        match self {
            Self::Equal(n_rows) => Some(tensor.idx()).filter(|position| position < n_rows),
            Self::Listed(positions) => {
                let position = positions.get(tensor.idx()).copied();
                Some(position.filter(|position| *position != u32::MAX)? as usize)
            }
        }
    }
}

impl Grouped {
    /// `None` beyond the last row.
    fn of_row(&self, row: usize) -> Option<&[u32]> {
        let (start, end) = (*self.rows.get(row)?, *self.rows.get(row + 1)?);
        self.items.get(start as usize..end as usize)
    }

    /// `None` if every tensor has one live range.
    fn new(items: &[Lifetime]) -> Option<Self> {
        let n_tensors = items.iter().map(|item| item.tensor.idx() + 1).max()?;
        let mut row_of: Vec<u32> = vec![u32::MAX; n_tensors];
        let mut n_rows = 0_u32;
        for item in items {
            let row = &mut row_of[item.tensor.idx()];
            if *row == u32::MAX {
                *row = n_rows;
                n_rows += 1;
            }
        }
        if n_rows as usize == items.len() {
            return None;
        }
        let mut order: Vec<u32> = (0_u32..).take(items.len()).collect();
        let row = |item: u32| row_of[items[item as usize].tensor.idx()];
        order.sort_by_key(|item| (row(*item), items[*item as usize].birth));
        let begins = |position: &usize| *position == 0 || row(order[*position - 1]) != row(order[*position]);
        let positions = (0..order.len()).filter(begins).chain([order.len()]);
        Some(Self {
            rows: positions.map(|at| u32::try_from(at).unwrap_or(u32::MAX)).collect(),
            items: order,
        })
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    runs: Vec<RunRows>,
    palette: Arc<Palette>,
}

type KnownRun = (*const BoundGraph, Option<Arc<Grouped>>, Arc<Positions>);

impl Rows {
    pub(super) fn new(session: &DeviceSession, palette: Arc<Palette>) -> Self {
        let mut known: Vec<KnownRun> = Vec::new();
        let mut n_before = 0;
        let runs = session.runs.iter().map(|run| {
            let of = Arc::as_ptr(&run.bound);
            let shared = known.iter().find(|(bound, ..)| *bound == of);
            let (grouped, positions) = if let Some((_, grouped, positions)) = shared {
                (grouped.clone(), Arc::clone(positions))
            } else {
                let grouped = Grouped::new(&run.bound.program.lifetimes.items).map(Arc::new);
                let positions = Arc::new(Positions::new(&run.bound, grouped.as_deref()));
                known.push((of, grouped.clone(), Arc::clone(&positions)));
                (grouped, positions)
            };
            let rows = RunRows {
                bound: Arc::clone(&run.bound),
                grouped,
                positions,
                n_before,
                graph: run.graph,
                start: run.start.0,
                n_steps: run.n_steps,
            };
            n_before += rows.len();
            rows
        });
        Self {
            runs: runs.collect(),
            palette,
        }
    }

    pub fn len(&self) -> usize {
        self.runs.last().map_or(0, |run| run.n_before + run.len())
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A row by its number, below [`Self::len`]: runs in order, within a run in order of birth. O(log runs).
    pub fn get(&self, number: usize) -> Option<Row> {
        let run = self.runs.partition_point(|run| run.n_before <= number).checked_sub(1)?;
        let rows = &self.runs[run];
        let position = number - rows.n_before;
        rows.row(u32::try_from(run).ok()?, position)
    }

    /// The number of a tensor's row, for [`Self::get`]. O(1).
    pub fn number(&self, tensor: Selected) -> Option<usize> {
        let run = self.runs.get(tensor.run as usize)?;
        Some(run.n_before + run.position(tensor)?)
    }

    /// In order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = Row> + '_ {
        (0_u32..)
            .zip(&self.runs)
            .flat_map(|(idx, run)| (0..run.len()).filter_map(move |position| run.row(idx, position)))
    }

    /// A tensor's row. O(1).
    pub fn find(&self, tensor: Selected) -> Option<Row> {
        let run = self.runs.get(tensor.run as usize)?;
        run.row(tensor.run, run.position(tensor)?)
    }

    /// The live ranges of a tensor, in order, on the common axis. O(ranges).
    pub fn pieces(&self, tensor: Selected) -> Vec<(Step, Step)> {
        let run = self.runs.get(tensor.run as usize);
        let found = run.and_then(|run| Some((run, run.position(tensor)?)));
        found.map_or_else(Vec::new, |(run, row)| run.pieces(row).collect())
    }

    /// The row born after or before a tensor's; the first row without a tensor.
    pub fn neighbour(&self, tensor: Option<Selected>, is_next: bool) -> Option<Row> {
        let (run, position) = match tensor {
            Some(tensor) => {
                let at = self.runs.get(tensor.run as usize)?.position(tensor)?;
                let to = if is_next { Some(at + 1) } else { at.checked_sub(1) };
                (tensor.run, to?)
            }
            None => (0, 0),
        };
        self.runs.get(run as usize)?.row(run, position)
    }

    /// Visits the live ranges of a tensor, in order, on the common axis. O(ranges).
    pub(super) fn each_piece(&self, tensor: Selected, mut call: impl FnMut(Step, Step)) {
        let run = self.runs.get(tensor.run as usize);
        if let Some((run, row)) = run.and_then(|run| Some((run, run.position(tensor)?))) {
            run.pieces(row).for_each(|(start, end)| call(start, end));
        }
    }

    /// Below [`super::PALETTE_LEN`].
    pub(super) fn color(&self, tensor: Selected) -> u8 {
        self.palette.color(tensor.key())
    }
}

impl RunRows {
    fn len(&self) -> usize {
        match &self.grouped {
            Some(grouped) => grouped.rows.len().saturating_sub(1),
            None => self.bound.n_lifetimes(),
        }
    }

    fn position(&self, tensor: Selected) -> Option<usize> {
        self.positions.of(tensor.tensor)
    }

    fn items(&self, row: usize) -> impl Iterator<Item = Lifetime> {
        let (several, single) = match &self.grouped {
            Some(grouped) => (grouped.of_row(row).unwrap_or(&[]), None),
            None => (&[][..], self.bound.lifetime(row)),
        };
        let several = several.iter().filter_map(|item| self.bound.lifetime(*item as usize));
        several.chain(single)
    }

    fn pieces(&self, row: usize) -> impl Iterator<Item = (Step, Step)> {
        let at = |step: Step| Step(self.start + step.0);
        self.items(row).map(move |item| (at(item.birth), at(item.end)))
    }

    /// `None` beyond the last row.
    fn row(&self, run: u32, row: usize) -> Option<Row> {
        let mut items = self.items(row);
        let first = items.next()?;
        let mut answer = Row {
            tensor: Selected {
                run,
                graph: self.graph,
                tensor: first.tensor,
            },
            start: Step(self.start + first.birth.0),
            end: Step(self.start + first.end.0),
            bytes: first.bytes,
            n_pieces: 1,
        };
        for item in items {
            answer.end = answer.end.max(Step(self.start + item.end.0));
            answer.bytes = answer.bytes.max(item.bytes);
            answer.n_pieces += 1;
        }
        Some(answer)
    }
}
