//! Which part of a problem is searched: all of a small one, of a large one what decides its footprint.

use std::cmp::Reverse;

use super::eject::Ejection;
use super::peak::{Kind, cost_of_filling};
use super::{Incumbent, Search};
use crate::plan::breadth::Breadth;
use crate::plan::field::Field;
use crate::plan::gaps::{Fit, Placed, Scratch, Windows, fill_on};
use crate::progress::Cancelled;
use crate::workload::Shapes;

/// Up to so many shapes are searched as a whole.
pub(super) const WHOLE: usize = 1536;

/// Sizes of cores, one after the other.
const CORES: &[usize] = &[1024, 2048, 4096];

/// What is left out of a core for its size may fill this part of the bound at once: a thousandth.
const SMALL: u64 = 500;

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
    let cut = small_cut(search, field, search.task.bound / SMALL)?;
    let by_breadth = field.free_by(search.task.progress, |idx| {
        let item = &field.items()[idx as usize];
        (item.size < cut, breadth.rank(field, idx), Reverse(item.size))
    })?;
    for n_core in CORES {
        if search.is_over()? || best.footprint <= search.target {
            break;
        }
        let free = &by_breadth[..by_breadth.len().min(*n_core)];
        let (members, shapes) = part(field.shapes, free);
        // A core that could sink far below what the whole needs says nothing about it.
        let gap = best.footprint - search.task.bound.min(best.footprint);
        if search.task.bound.saturating_sub(shapes.lower_bound().get()) <= gap / 2 {
            search_core(search, field, best, (&members, &shapes))?;
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
        }
    }
    Ok(())
}

/// Searches a core on its own and fills in the rest.
fn search_core(
    search: &mut Search<'_>,
    field: &Field<'_>,
    best: &mut Incumbent,
    (members, shapes): (&[u32], &Shapes),
) -> Result<(), Cancelled> {
    let core = Field::new(shapes, search.task.progress)?;
    let offsets: Vec<u64> = members.iter().map(|idx| best.offsets[*idx as usize]).collect();
    let mut lowest = Incumbent {
        footprint: core.footprint(&offsets),
        offsets,
        nodes: 0,
    };
    let reserve = 3 * cost_of_filling(field);
    search.leaving(reserve, |search| descend(search, &core, &mut lowest))?;
    if lowest.footprint >= best.footprint {
        return Ok(());
    }
    complete(search, field, best, (members, &lowest.offsets))
}

/// Fills in everything that a core leaves out, by several orders, and keeps the smallest plan.
fn complete(
    search: &mut Search<'_>,
    field: &Field<'_>,
    best: &mut Incumbent,
    (members, core): (&[u32], &[u64]),
) -> Result<(), Cancelled> {
    let progress = search.task.progress;
    for (kind, fit) in [
        (Kind::Size, Fit::Best),
        (Kind::Size, Fit::First),
        (Kind::Width, Fit::Best),
    ] {
        if search.is_over()? {
            return Ok(());
        }
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
        search.nodes += cost_of_filling(field);
        fill_on(
            field,
            &mut placed,
            (&rest, fit),
            (&mut offsets, &mut Scratch::default()),
            progress,
        )?;
        let footprint = field.footprint(&offsets);
        if footprint < best.footprint {
            *best = Incumbent {
                offsets,
                footprint,
                nodes: 0,
            };
        }
    }
    Ok(())
}

/// The largest size so that all smaller shapes together never hold more than `most` bytes at once.
fn small_cut(search: &Search<'_>, field: &Field<'_>, most: u64) -> Result<u64, Cancelled> {
    let mut sizes: Vec<u64> = field.items().iter().map(|item| item.size).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let (mut fits, mut exceeds) = (0, sizes.len());
    while exceeds - fits > 1 {
        search.task.progress.check()?;
        let middle = fits + (exceeds - fits) / 2;
        if peak_below(field, sizes[middle]) <= most {
            fits = middle;
        } else {
            exceeds = middle;
        }
    }
    Ok(sizes.get(fits).copied().unwrap_or(0))
}

/// The most bytes that shapes smaller than `cut` hold at once.
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

/// Some of the free shapes and all fixed ones, as a problem of their own, and which they are.
fn part(shapes: &Shapes, free: &[u32]) -> (Vec<u32>, Shapes) {
    let mut members = free.to_vec();
    let all = (0_u32..).zip(&shapes.items);
    members.extend(all.filter(|(_, item)| item.fixed.is_some()).map(|(idx, _)| idx));
    members.sort_unstable();
    let mut part = Shapes {
        is_plain: shapes.is_plain,
        ..Shapes::default()
    };
    for idx in &members {
        let mut item = shapes.items[*idx as usize];
        item.first_piece = u32::try_from(part.pieces.len()).unwrap_or(u32::MAX);
        part.pieces.extend_from_slice(shapes.pieces_of(*idx));
        part.items.push(item);
    }
    (members, part)
}
