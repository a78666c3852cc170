//! The searched part of a problem: all of a small one, the core of a large one.

use std::cmp::Reverse;

use super::eject::Ejection;
use super::peak::{Kind, cost_of_filling};
use super::{Incumbent, Search};
use crate::breadth::Breadth;
use crate::field::Field;
use crate::gaps::{Fit, Placed, Scratch, Windows, fill_on};
use crate::problem::Task;
use highwater_model::progress::Cancelled;
use highwater_model::workload::Shapes;

/// Most shapes that are searched as a whole.
pub(super) const WHOLE: usize = 1536;

/// Sizes of cores, one after the other.
const CORES: &[usize] = &[1024, 2048, 4096];

/// Shapes left out of a core for their size may hold at most one part in this many of the bound at once, and at most a
/// quarter of the plan's distance to it.
const SMALL: u64 = 500;

/// Orders in which the rest is filled in after a core.
const ORDERS: &[(Kind, Fit)] = &[
    (Kind::Size, Fit::Best),
    (Kind::Size, Fit::First),
    (Kind::Width, Fit::Best),
];

/// Most repairs of a core.
const REPAIRS: usize = 8;

/// Most shapes that join a core at once.
const MAX_LATE: usize = 512;

/// Placements without a lower plan before a search gives up.
const PATIENCE: u64 = 20_000;

/// The part of the gap to the target that each lower height closes: a third, where that fails a tenth, and so on.
const STEPS: &[u64] = &[3, 10, 30, 100];

/// Searches until the target, the nodes or patience end it.
pub(super) fn search(search: &mut Search<'_>, field: &Field<'_>, best: &mut Incumbent) -> Result<(), Cancelled> {
    if field.items().len() <= WHOLE {
        return descend(search, field, best);
    }
    let breadth = Breadth::new(field, search.task.progress)?;
    let gap = best.footprint - search.task.bound.min(best.footprint);
    let cut = small_cut(search.task, field, (search.task.bound / SMALL).min(gap / 4))?;
    let by_breadth = field.free_by(search.task.progress, |idx| {
        let item = &field.items()[idx as usize];
        (item.size < cut, breadth.rank(field, idx), Reverse(item.size))
    })?;
    for n_core in CORES {
        if search.is_over()? || best.footprint <= search.target {
            break;
        }
        let free = &by_breadth[..by_breadth.len().min(*n_core)];
        let members = members(field.shapes, free);
        let shapes = part(field.shapes, &members);
        // A core far below the height of the whole is no guide for it.
        let gap = best.footprint - search.task.bound.min(best.footprint);
        if search.task.bound.saturating_sub(shapes.lower_bound().get()) <= gap / 2 {
            search_core(search, field, best, members, shapes)?;
        }
    }
    Ok(())
}

/// Lowers a plan step by step. Where a step fails, smaller ones are tried from the lowest plan on.
fn descend(search: &mut Search<'_>, field: &Field<'_>, best: &mut Incumbent) -> Result<(), Cancelled> {
    for (seed, step) in (1_u64..).zip(STEPS.iter().copied()) {
        let mut ejection = Ejection::new(field, best.offsets.clone(), seed);
        while best.footprint > search.target && !search.is_over()? {
            let height = best.footprint - ((best.footprint - search.target) / step).max(1);
            if !ejection.lower_to(height, PATIENCE, search)? {
                break;
            }
            best.offsets.clone_from(&ejection.offsets);
            best.footprint = field.footprint(&best.offsets);
            search.offer(field, best);
        }
    }
    Ok(())
}

/// Searches a core alone and fills in the rest. Shapes that then end too high join the core, which is repaired, and the
/// rest is filled in again.
fn search_core(
    search: &mut Search<'_>,
    field: &Field<'_>,
    best: &mut Incumbent,
    mut members: Vec<u32>,
    mut shapes: Shapes,
) -> Result<(), Cancelled> {
    let reserve = ORDERS.len() as u64 * cost_of_filling(field);
    let mut lowest = restricted(&shapes, &members, &best.offsets);
    let core = Field::new(&shapes, search.task.progress)?;
    search.leaving(reserve, |search| descend(search, &core, &mut lowest))?;
    for _ in 0..REPAIRS {
        if lowest.footprint >= best.footprint || search.is_over()? {
            return Ok(());
        }
        let filled = complete(search.task, field, &members, &lowest.offsets)?;
        search.nodes += filled.nodes;
        if filled.footprint < best.footprint {
            *best = filled;
            search.offer(field, best);
            return Ok(());
        }
        // A little room above the core for the rest.
        let height = best.footprint - (best.footprint - lowest.footprint).div_ceil(4);
        members.extend(late(field, &filled, height));
        members.sort_unstable();
        members.dedup();
        shapes = part(field.shapes, &members);
        let core = Field::new(&shapes, search.task.progress)?;
        let mut ejection = Ejection::new(&core, restricted(&shapes, &members, &filled.offsets).offsets, 1);
        if !search.leaving(reserve, |search| ejection.lower_to(height, PATIENCE, search))? {
            return Ok(());
        }
        lowest.footprint = core.footprint(&ejection.offsets);
        lowest.offsets = ejection.offsets;
    }
    Ok(())
}

/// A problem without its smallest shapes.
pub(crate) struct Core {
    /// Shapes of the whole, ascending.
    pub(crate) members: Vec<u32>,
    pub(crate) shapes: Shapes,
}

impl Core {
    /// Leaves out the smallest shapes, which together hold at most `most` bytes at once; `None` where there are none.
    pub(crate) fn new(task: &Task<'_>, field: &Field<'_>, most: u64) -> Result<Option<Self>, Cancelled> {
        let cut = small_cut(task, field, most)?;
        let all = (0_u32..).zip(field.items());
        let large = all.filter(|(idx, item)| field.is_free(*idx) && item.size >= cut);
        let large: Vec<u32> = large.map(|(idx, _)| idx).collect();
        let members = members(field.shapes, &large);
        let is_smaller = members.len() < field.items().iter().filter(|item| item.n_pieces > 0).count();
        Ok(is_smaller.then(|| Self {
            shapes: part(field.shapes, &members),
            members,
        }))
    }
}

/// The part of a plan that places some shapes.
fn restricted(shapes: &Shapes, members: &[u32], offsets: &[u64]) -> Incumbent {
    let offsets: Vec<u64> = members.iter().map(|idx| offsets[*idx as usize]).collect();
    let ends = offsets
        .iter()
        .zip(&shapes.items)
        .map(|(offset, item)| offset + item.size);
    Incumbent {
        footprint: ends.max().unwrap_or(0),
        offsets,
        nodes: 0,
    }
}

/// The largest shapes that end above a height.
fn late(field: &Field<'_>, plan: &Incumbent, height: u64) -> Vec<u32> {
    let all = (0_u32..).zip(field.items());
    let mut late: Vec<(u64, u32)> = all
        .filter(|(idx, item)| plan.offsets[*idx as usize] + item.size > height)
        .map(|(idx, item)| (item.size, idx))
        .collect();
    late.sort_unstable_by_key(|(size, idx)| (Reverse(*size), *idx));
    late.truncate(MAX_LATE);
    late.into_iter().map(|(_, idx)| idx).collect()
}

/// Fills in everything outside a core, in several orders; the smallest plan, the earlier one on a tie.
pub(crate) fn complete(
    task: &Task<'_>,
    field: &Field<'_>,
    members: &[u32],
    core: &[u64],
) -> Result<Incumbent, Cancelled> {
    let progress = task.progress;
    let mut best: Option<Incumbent> = None;
    for (kind, fit) in ORDERS.iter().copied() {
        let mut offsets = field.blank_offsets();
        let mut placed = Windows::new(field);
        let mut is_core = vec![false; offsets.len()];
        for (idx, offset) in members.iter().zip(core) {
            offsets[*idx as usize] = *offset;
            is_core[*idx as usize] = true;
            if field.items()[*idx as usize].n_pieces > 0 {
                placed.add(Placed::new(field, *idx, *offset));
            }
        }
        let mut rest = field.free_by(progress, |idx| kind.key(field, idx))?;
        rest.retain(|idx| !is_core[*idx as usize]);
        let scratch = &mut Scratch::default();
        fill_on(field, &mut placed, &rest, fit, &mut offsets, scratch, progress)?;
        let footprint = field.footprint(&offsets);
        if best.as_ref().is_none_or(|best| footprint < best.footprint) {
            best = Some(Incumbent {
                offsets,
                footprint,
                nodes: ORDERS.len() as u64 * cost_of_filling(field),
            });
        }
    }
    Ok(best.unwrap_or(Incumbent {
        offsets: Vec::new(),
        footprint: u64::MAX,
        nodes: 0,
    }))
}

/// The largest size such that all smaller shapes together never hold more than `most` bytes at once.
fn small_cut(task: &Task<'_>, field: &Field<'_>, most: u64) -> Result<u64, Cancelled> {
    let mut sizes: Vec<u64> = field.items().iter().map(|item| item.size).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let (mut fits, mut exceeds) = (0, sizes.len());
    while exceeds - fits > 1 {
        task.progress.check()?;
        let middle = fits + (exceeds - fits) / 2;
        if peak_below(field, sizes[middle]) <= most {
            fits = middle;
        } else {
            exceeds = middle;
        }
    }
    Ok(sizes.get(fits).copied().unwrap_or(0))
}

/// The peak of shapes smaller than `cut`.
fn peak_below(field: &Field<'_>, cut: u64) -> u64 {
    let mut change = vec![(0_u64, 0_u64); field.n_steps as usize + 1];
    for (idx, item) in field.items().iter().enumerate().filter(|(_, item)| item.size < cut) {
        change[field.lower[idx] as usize].0 += item.size;
        change[field.upper[idx] as usize].1 += item.size;
    }
    let mut live = 0;
    let lives = change.iter().map(|(born, dead)| {
        live = live + born - dead;
        live
    });
    lives.max().unwrap_or(0)
}

/// Some of the free shapes and all fixed ones, ascending.
fn members(shapes: &Shapes, free: &[u32]) -> Vec<u32> {
    let all = (0_u32..).zip(&shapes.items);
    let fixed = all.filter(|(_, item)| item.fixed.is_some()).map(|(idx, _)| idx);
    let mut members: Vec<u32> = free.iter().copied().chain(fixed).collect();
    members.sort_unstable();
    members
}

/// Some of the shapes as a separate problem.
fn part(shapes: &Shapes, members: &[u32]) -> Shapes {
    let mut part = Shapes {
        is_plain: shapes.is_plain,
        ..Shapes::default()
    };
    for idx in members {
        let mut item = shapes.items[*idx as usize];
        item.first_piece = u32::try_from(part.pieces.len()).unwrap_or(u32::MAX);
        part.pieces.extend_from_slice(shapes.pieces_of(*idx));
        part.items.push(item);
    }
    part
}
