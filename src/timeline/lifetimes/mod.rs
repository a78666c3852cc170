//! The lifetimes view of a lane: one row per tensor of a run, in an order, with scopes that fold.
//!
//! In: a timeline, a lane, an order. Out: an immutable [`LaneRows`], built once on the worker in O(rows log rows). Per
//! frame: [`LaneRows::layout`] (rows alive within a viewport, and their places), [`LaneRows::items`] (rectangles to
//! draw), [`LaneRows::raster`] (a picture instead, for many rows), [`RowLayout::at`] (the row or scope at a height).
//!
//! ```text
//! v encoder            2 scopes, 41 rows     an open scope: its rows, then its inner scopes
//!   ========                                 a row per tensor
//!      ====   ======                         evicted in between
//! > encoder/layer_0    12 rows, 3.1 MiB      a folded scope: live bytes of its tensors, as an area
//!   ..--''--..___
//! ```

mod items;
mod layout;
mod picture;
mod scopes;

pub use items::RowItems;
pub use layout::{FOLDED, HEADER, RowLayout, RowPlace, RowWindow, ScopeBand, ScopeFolds};
pub use picture::{RowsFrame, RowsRaster};
pub use scopes::Scope;

use std::cmp::Reverse;

use super::index::{Least, RectColumns};
use super::rows::{Row, Rows};
use super::{Selected, Timeline, Viewport};
use crate::amounts::Amounts;
use highwater_analysis::Comparison;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RowOrder {
    #[default]
    Birth,
    Size,
    Lifetime,
    /// By name of the scope; of recorded blocks by call site.
    Scope,
    /// Nested scopes in the order of their first tensor; each can be folded.
    Tree,
}

impl RowOrder {
    /// In the order of menus.
    pub const ALL: [Self; 5] = [Self::Birth, Self::Size, Self::Lifetime, Self::Scope, Self::Tree];

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

#[derive(Clone, Debug, PartialEq)]
pub struct LaneRows {
    pub lane: usize,
    pub by: RowOrder,
    rows: Rows,
    /// Live ranges in order of first steps, without addresses; `numbers` maps to row numbers.
    rects: RectColumns,
    numbers: Vec<u32>,
    /// Row numbers by place, from top to bottom.
    order: Vec<u32>,
    places: Vec<u32>,
    /// By row number: the first block of the tensor in the lane; `u32::MAX` where it has none.
    blocks: Vec<u32>,
    /// Outer scopes first; empty unless sorted as a tree.
    scopes: Vec<Scope>,
    usual_depth: u16,
}

impl LaneRows {
    pub fn new(comparison: &Comparison, timeline: &Timeline, lane: usize, by: RowOrder) -> Self {
        let rows = timeline.rows_of(lane).clone();
        let all: Vec<Row> = rows.iter().collect();
        let mut numbers: Vec<u32> = (0_u32..).take(all.len()).collect();
        let of = |number: u32| &all[number as usize];
        numbers.sort_by_key(|number| of(*number).start);
        let sorted = || numbers.iter().map(|number| of(*number));
        let rects = RectColumns::new(
            sorted().map(|row| row.start.0).collect(),
            sorted().map(|row| row.end.0).collect(),
            Amounts::default(),
            Amounts::of(sorted().map(|row| row.bytes.get())),
        );
        let mut order = numbers.clone();
        let mut scopes = Vec::new();
        match by {
            RowOrder::Birth => {}
            RowOrder::Size => order.sort_by_key(|number| Reverse(of(*number).bytes)),
            RowOrder::Lifetime => order.sort_by_key(|number| Reverse(of(*number).end.0 - of(*number).start.0)),
            RowOrder::Scope => {
                let ranks = scopes::ranks(comparison, &all);
                order.sort_by_key(|number| ranks[*number as usize]);
            }
            RowOrder::Tree => (scopes, order) = scopes::tree(comparison, &all, &order),
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
            rects,
            numbers,
            order,
            places,
            usual_depth: layout::usual_depth(&scopes),
            scopes,
            rows,
        }
    }

    pub fn len(&self) -> usize {
        self.order.len()
    }

    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Outer scopes first; empty unless sorted as a tree.
    pub fn scopes(&self) -> &[Scope] {
        &self.scopes
    }

    pub fn row(&self, number: u32) -> Option<Row> {
        self.rows.get(number as usize)
    }

    /// The first block of a row's tensor in the lane.
    pub fn block(&self, number: u32) -> Option<u32> {
        let block = self.blocks.get(number as usize).copied();
        block.filter(|block| *block != u32::MAX)
    }

    /// The row below or above a tensor's; the first row without a tensor.
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

    /// Number of rows alive within the steps of a viewport. O(log rows).
    pub fn n_alive(&self, viewport: &Viewport) -> usize {
        self.rects.count(viewport.t0, viewport.t1)
    }

    /// The places of all rows alive within the steps of a viewport, from top to bottom.
    fn alive(&self, viewport: &Viewport) -> Vec<u32> {
        let met = self.rects.met((viewport.t0, viewport.t1), Least::default());
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
