//! The lifetimes view of a lane: a row per tensor of a run, in an order, with scopes that fold.
//!
//! In: a timeline, a lane, an order. Out: an immutable [`LaneRows`], made once on the worker: O(rows log rows). From it, per
//! frame: [`LaneRows::layout`] (which rows are alive within a viewport, and where they stand), [`LaneRows::items`] (what
//! to draw of them), [`LaneRows::raster`] (the same as a picture, where there are many), [`RowLayout::at`] (what lies under
//! the pointer).
//!
//! ```text
//! v encoder            2 scopes, 41 rows     an open scope: its own rows, then the scopes within it
//!   ========                                 a row per tensor
//!      ====   ======                         away in between
//! > encoder/layer_0    12 rows, 3.1 MiB      a folded one: what its tensors hold, as an area
//!   ..--''--..___
//! ```

mod items;
mod layout;
mod picture;
mod scopes;

pub use items::RowItems;
pub use layout::{FOLDED, Folds, HEADER, RowLayout, RowPlace, RowWindow, ScopeBand};
pub use picture::RowsRaster;
pub use scopes::Scope;

use std::cmp::Reverse;

use super::index::{Columns, Least, RectIndex};
use super::rows::{Row, Rows};
use super::{Selected, Timeline, Viewport};
use highwater_analysis::Comparison;

/// What rows are sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RowsBy {
    /// What is born first stands on top.
    #[default]
    Birth,
    /// The largest on top.
    Size,
    /// What is held for the most steps on top.
    Lifetime,
    /// Scopes in the order of their names; of recorded blocks the place in the source that asked.
    Scope,
    /// Scopes within scopes, in the order in which they are met; each can be folded.
    Tree,
}

impl RowsBy {
    /// Every order, in the order of menus.
    pub const ALL: [Self; 5] = [Self::Birth, Self::Size, Self::Lifetime, Self::Scope, Self::Tree];

    /// Its name as users see it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Birth => "birth",
            Self::Size => "size",
            Self::Lifetime => "lifetime",
            Self::Scope => "scope",
            Self::Tree => "scope tree",
        }
    }
}

/// The rows of a lane in one order.
#[derive(Clone, Debug, PartialEq)]
pub struct LaneRows {
    /// The lane, by position.
    pub lane: usize,
    /// What they are sorted by.
    pub by: RowsBy,
    rows: Rows,
    /// Columns in order of first steps; `numbers` says which row.
    start: Vec<u32>,
    end: Vec<u32>,
    bytes: Vec<u64>,
    numbers: Vec<u32>,
    index: RectIndex,
    /// Row numbers by place, from top to bottom.
    order: Vec<u32>,
    /// Places by row number.
    places: Vec<u32>,
    /// By row number: the first block of the tensor in the lane; `u32::MAX` where it has none.
    blocks: Vec<u32>,
    /// Scopes before those within them; only where they can be folded.
    scopes: Vec<Scope>,
    usual_depth: u16,
}

impl LaneRows {
    /// Sorts the rows of a lane.
    pub fn new((comparison, timeline): (&Comparison, &Timeline), lane: usize, by: RowsBy) -> Self {
        let rows = timeline.rows_of(lane).clone();
        let all: Vec<Row> = rows.iter().collect();
        let mut numbers: Vec<u32> = (0_u32..).take(all.len()).collect();
        let of = |number: u32| &all[number as usize];
        numbers.sort_by_key(|number| of(*number).start);
        let start: Vec<u32> = numbers.iter().map(|number| of(*number).start.0).collect();
        let end: Vec<u32> = numbers.iter().map(|number| of(*number).end.0).collect();
        let bytes: Vec<u64> = numbers.iter().map(|number| of(*number).bytes.get()).collect();
        let mut order = numbers.clone();
        let mut scopes = Vec::new();
        match by {
            RowsBy::Birth => {}
            RowsBy::Size => order.sort_by_key(|number| Reverse(of(*number).bytes)),
            RowsBy::Lifetime => order.sort_by_key(|number| Reverse(of(*number).end.0 - of(*number).start.0)),
            RowsBy::Scope => {
                let ranks = scopes::ranks(comparison, &all);
                order.sort_by_key(|number| ranks[*number as usize]);
            }
            RowsBy::Tree => (scopes, order) = scopes::tree(comparison, &all, &order),
        }
        let mut places = vec![0; order.len()];
        for (place, number) in (0_u32..).zip(&order) {
            places[*number as usize] = place;
        }
        let view = timeline.lanes.get(lane);
        let block_of = |row: &Row| view.and_then(|view| view.blocks_of(row.tensor).next());
        Self {
            lane,
            by,
            blocks: all.iter().map(|row| block_of(row).unwrap_or(u32::MAX)).collect(),
            index: RectIndex::new(&start, &end, &bytes),
            start,
            end,
            bytes,
            numbers,
            order,
            places,
            usual_depth: layout::usual_depth(&scopes),
            scopes,
            rows,
        }
    }

    /// How many rows there are in all.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The scopes, each before those within it; empty where rows stand in no tree.
    pub fn scopes(&self) -> &[Scope] {
        &self.scopes
    }

    /// A row by its number, below [`Self::len`].
    pub fn row(&self, number: u32) -> Option<Row> {
        self.rows.get(number as usize)
    }

    /// The first block of a row's tensor in the lane.
    pub fn block(&self, number: u32) -> Option<u32> {
        let block = self.blocks.get(number as usize).copied();
        block.filter(|block| *block != u32::MAX)
    }

    /// The row below a tensor's (or above it) in this order; the first one where none is given.
    pub fn neighbour(&self, tensor: Option<Selected>, is_next: bool) -> Option<Row> {
        let place = match tensor {
            None => 0,
            Some(tensor) => {
                let place = self.places.get(self.rows.number(tensor)?).copied()? as usize;
                if is_next { place + 1 } else { place.checked_sub(1)? }
            }
        };
        self.row(*self.order.get(place)?)
    }

    /// How many rows are alive within the steps of a viewport. O(log rows).
    pub fn n_alive(&self, viewport: &Viewport) -> usize {
        self.columns().count(viewport.t0, viewport.t1)
    }

    fn columns(&self) -> Columns<'_> {
        Columns {
            start: &self.start,
            end: &self.end,
            base: &self.bytes,
            bytes: &self.bytes,
            index: &self.index,
        }
    }

    /// The places of all rows that are alive within the steps of a viewport, from top to bottom.
    fn alive(&self, viewport: &Viewport) -> Vec<u32> {
        let met = self.columns().met((viewport.t0, viewport.t1), Least::default());
        let mut places: Vec<u32> = met
            .map(|position| self.places[self.numbers[position] as usize])
            .collect();
        places.sort_unstable();
        places
    }

    fn number_at(&self, place: u32) -> u32 {
        self.order.get(place as usize).copied().unwrap_or(u32::MAX)
    }
}
