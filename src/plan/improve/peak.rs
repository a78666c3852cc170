//! Plans that fill the fullest steps first: shapes on a step with at least a given part of the peak load go before all
//! others, so that the stack is dense where it is high. Within both parts the orders of the portfolio apply.

use std::cmp::Reverse;

use super::{Incumbent, Search};
use crate::breadth::Breadth;
use crate::field::Field;
use crate::gaps::{Fit, fill};
use highwater_model::progress::Cancelled;

/// Parts of the peak load, in percent, from which a step counts as full.
const FULL: &[u64] = &[95, 80];

/// Fills the peaks first in several orders; keeps smaller plans.
pub(super) fn fill_peaks(search: &mut Search<'_>, field: &Field<'_>, best: &mut Incumbent) -> Result<(), Cancelled> {
    let breadth = Breadth::new(field, search.task.progress)?;
    let cost = cost_of_filling(field);
    let peak = breadth.load.iter().copied().max().unwrap_or(0);
    for percent in FULL {
        let full = u64::try_from(u128::from(peak) * u128::from(*percent) / 100).unwrap_or(peak);
        for kind in [Kind::Width, Kind::Size] {
            if best.footprint <= search.target || search.nodes + cost > search.left || search.is_over()? {
                return Ok(());
            }
            search.nodes += cost;
            let order = field.free_by(search.task.progress, |idx| {
                (breadth.largest(field, idx) < full, kind.key(field, idx))
            })?;
            let fit = if kind == Kind::Size { Fit::First } else { Fit::Best };
            let offsets = fill(field, &order, fit, search.task.progress)?;
            let footprint = field.footprint(&offsets);
            if footprint < best.footprint {
                *best = Incumbent {
                    offsets,
                    footprint,
                    nodes: 0,
                };
                search.offer(field, best);
            }
        }
    }
    Ok(())
}

/// Each shape costs one more node per this many shapes, because of cache misses.
const SHAPES_PER_NODE: u64 = 1 << 17;

/// Nodes of filling a whole field into gaps.
pub(super) fn cost_of_filling(field: &Field<'_>) -> u64 {
    let n_shapes = field.items().len() as u64;
    field.meetings() / (2 * super::NODE) + n_shapes.saturating_mul(1 + n_shapes / SHAPES_PER_NODE)
}

/// Order of shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The longest first.
    Width,
    /// The largest first, the earlier on a tie.
    Size,
}

impl Kind {
    /// Ascending.
    pub(super) fn key(self, field: &Field<'_>, idx: u32) -> (Reverse<u128>, Reverse<u64>, u32) {
        let item = &field.items()[idx as usize];
        let (size, life) = (u128::from(item.size), field.life(idx));
        match self {
            Self::Width => (Reverse(u128::from(life)), Reverse(item.size), item.lower),
            Self::Size => (Reverse(size), Reverse(0), item.lower),
        }
    }
}
