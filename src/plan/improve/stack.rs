//! Plans without a gap on the fullest step.
//!
//! The shapes of the fullest step are stacked without gaps, in the order of a known plan, and stay there. No other shape
//! crosses that step, so those before it and those after it are two problems, one per thread. In each, the shapes take
//! the lowest gap in the order of the known plan, and ejections make room for those that fit nowhere: first the core,
//! then the rest. All other steps have room to spare, so this often succeeds at the bound itself, where a search over
//! everything leaves gaps between the shapes of the fullest step.
//!
//! Only for rectangles without fixed offsets. One plan costs as much as filling gaps once; one that fails mostly fails
//! within the core.

use std::cmp::Reverse;

use super::Search;
use super::eject::{Ejection, OUTSIDE};
use super::peak::cost_of_filling;
use crate::breadth::Breadth;
use crate::field::Field;
use crate::gaps::{Align, Placed, Windows};
use crate::problem::Task;
use highwater_model::progress::Cancelled;
use highwater_model::threads::both;

/// Placements by ejection after which fewer shapes must be outside than before, or the side gives up.
const ROUND: u64 = 2_000;

/// Shapes of the core besides the stack: the largest on the fullest steps.
const CORE: usize = 2_048;

/// Shapes below one part in this many of the height are never in the core.
const SMALL: u64 = 10_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Live on the fullest step.
    Stacked,
    /// One of the core.
    Core,
    Rest,
}

/// The fullest step of a field, and the role of each shape.
pub(crate) struct Stack<'a> {
    field: &'a Field<'a>,
    step: u32,
    roles: Vec<Role>,
    /// The height of the plans.
    height: u64,
}

/// A plan, if one was found, and the nodes used.
pub(crate) type Stacked = (Option<Vec<u64>>, u64);

impl<'a> Stack<'a> {
    /// `None` where shapes are more than rectangles or fixed, or too many for the nodes.
    pub(crate) fn new(task: &Task<'_>, field: &'a Field<'a>, nodes: u64) -> Result<Option<Self>, Cancelled> {
        if !field.shapes.is_plain || cost_of_filling(field) > nodes {
            return Ok(None);
        }
        let breadth = Breadth::new(field, task.progress)?;
        let step = (0_u32..).zip(&breadth.load);
        let step = step.max_by_key(|(step, load)| (**load, Reverse(*step)));
        let (step, height) = (step.map_or(0, |(step, _)| step), task.target());
        let by_breadth = field.free_by(task.progress, |idx| {
            let size = field.items()[idx as usize].size;
            (size < height / SMALL, breadth.rank(field, idx), Reverse(size))
        })?;
        let mut roles = vec![Role::Rest; field.items().len()];
        let mut n_core = 0;
        for idx in by_breadth {
            let is_stacked = field.lower[idx as usize] <= step && step < field.upper[idx as usize];
            if is_stacked {
                roles[idx as usize] = Role::Stacked;
            } else if n_core < CORE {
                roles[idx as usize] = Role::Core;
                n_core += 1;
            }
        }
        Ok(Some(Self {
            field,
            step,
            roles,
            height,
        }))
    }

    /// A plan at the target from the order of another plan, with at most `nodes` nodes, half for each side.
    pub(crate) fn plan(&self, task: &Task<'_>, known: &[u64], nodes: u64) -> Result<Stacked, Cancelled> {
        let mut order: Vec<u32> = (0_u32..)
            .zip(self.field.items())
            .filter(|(_, item)| item.n_pieces > 0)
            .map(|(idx, _)| idx)
            .collect();
        order.sort_unstable_by_key(|idx| (known[*idx as usize], *idx));
        let Some(stacked) = self.stacked(&order) else {
            return Ok((None, 0));
        };
        let (before, after): (Vec<u32>, Vec<u32>) = order
            .into_iter()
            .filter(|idx| self.roles[*idx as usize] != Role::Stacked)
            .partition(|idx| self.field.upper[*idx as usize] <= self.step);
        let side = |task: &Task<'_>, order: &[u32]| self.place_side(task, &stacked, order, nodes / 2);
        let quiet = task.quiet();
        let second = || quiet.run(|task| side(task, &after));
        let (first, second) = both(task.progress, || side(task, &before), second);
        let ((first, first_nodes), (second, second_nodes)) = (first?, second?);
        let both = first.zip(second).map(|(mut offsets, other)| {
            for idx in &after {
                offsets[*idx as usize] = other[*idx as usize];
            }
            for (offset, item) in offsets.iter_mut().zip(self.field.items()) {
                if item.n_pieces == 0 {
                    *offset = 0;
                }
            }
            offsets
        });
        Ok((both, first_nodes + second_nodes))
    }

    /// Offsets of the stacked shapes; `None` where alignments leave gaps that make the stack too high.
    fn stacked(&self, order: &[u32]) -> Option<Vec<u64>> {
        let mut offsets = vec![OUTSIDE; self.roles.len()];
        let mut end = 0;
        for idx in order.iter().filter(|idx| self.roles[**idx as usize] == Role::Stacked) {
            let item = &self.field.items()[*idx as usize];
            let offset = Align(item.alignment).up(end);
            offsets[*idx as usize] = offset;
            end = offset + item.size;
        }
        (end <= self.height).then_some(offsets)
    }

    /// Places the shapes of one side around the stack.
    fn place_side(&self, task: &Task<'_>, stacked: &[u64], order: &[u32], nodes: u64) -> Result<Stacked, Cancelled> {
        let mut search = Search {
            task,
            target: self.height,
            left: nodes,
            nodes: 0,
        };
        let is_stacked = |idx: u32| self.roles[idx as usize] == Role::Stacked;
        let mut placed = Windows::new(self.field);
        for (idx, offset) in (0_u32..).zip(stacked).filter(|(idx, _)| is_stacked(*idx)) {
            placed.add(Placed::new(self.field, idx, *offset));
        }
        let mut ejection = Ejection::around(self.field, stacked.to_vec(), placed, is_stacked);
        for role in [Role::Core, Role::Rest] {
            for idx in order.iter().filter(|idx| self.roles[**idx as usize] == role) {
                if search.is_over()? {
                    return Ok((None, search.nodes));
                }
                ejection.put_lowest(*idx, self.height, &mut search);
            }
            let mut least = usize::MAX;
            while !ejection.put_outside(self.height, ROUND, &mut search)? {
                if ejection.n_outside() >= least {
                    return Ok((None, search.nodes));
                }
                least = ejection.n_outside();
            }
        }
        Ok((Some(ejection.offsets), search.nodes))
    }
}
