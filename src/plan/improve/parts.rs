//! Which part of a problem is searched: all of a small one, of a large one what decides its footprint.

use std::cmp::Reverse;

use super::eject::Ejection;
use super::peak::Kind;
use super::{Incumbent, Search};
use crate::plan::breadth::Breadth;
use crate::plan::field::Field;
use crate::plan::gaps::{Fit, Placed, Scratch, Windows, fill_on};
use crate::progress::Cancelled;
use crate::workload::Shapes;

/// Up to so many shapes are searched as a whole.
const WHOLE: usize = 1536;

/// Sizes of cores, one after the other.
const CORES: &[usize] = &[1024, 2048, 4096];

/// What is left out of a core for its size may fill this part of the bound at once: a thousandth.
const SMALL: u64 = 500;

/// Placements without a lower plan before a search gives up.
const PATIENCE: u64 = 20_000;

/// The gap to the target that each lower height closes: a third.
const STEP: u64 = 3;

/// Searches until the target, the nodes or patience end it.
pub(super) fn search(search: &mut Search<'_>, field: &Field<'_>, best: &mut Incumbent) -> Result<(), Cancelled> {
    if field.items().len() <= WHOLE {
        return descend(search, field, best);
    }
    let breadth = Breadth::new(field, search.task.progress)?;
    let cut = small_cut(field, search.task.bound / SMALL);
    let by_breadth = field.free_by(search.task.progress, |idx| {
        let item = &field.items()[idx as usize];
        (item.size < cut, breadth.rank(field, idx), Reverse(item.size))
    })?;
    for n_core in CORES {
        if search.is_over()? || best.footprint <= search.target {
            break;
        }
        search_core(search, field, best, &by_breadth[..by_breadth.len().min(*n_core)])?;
    }
    Ok(())
}

/// Lowers a plan step by step.
fn descend(search: &mut Search<'_>, field: &Field<'_>, best: &mut Incumbent) -> Result<(), Cancelled> {
    let mut ejection = Ejection::new(field, best.offsets.clone());
    while best.footprint > search.target && !search.is_over()? {
        let height = best.footprint - ((best.footprint - search.target) / STEP).max(1);
        if !ejection.lower_to(height, PATIENCE, search)? {
            break;
        }
        best.offsets.clone_from(&ejection.offsets);
        best.footprint = field.footprint(&best.offsets);
    }
    Ok(())
}

/// Searches a core on its own and fills in the rest.
fn search_core(
    search: &mut Search<'_>,
    field: &Field<'_>,
    best: &mut Incumbent,
    free: &[u32],
) -> Result<(), Cancelled> {
    let mut members: Vec<u32> = free.to_vec();
    members.extend(
        (0_u32..)
            .zip(field.items())
            .filter(|(_, item)| item.fixed.is_some())
            .map(|(idx, _)| idx),
    );
    members.sort_unstable();
    let shapes = part(field.shapes, &members);
    let core = Field::new(&shapes, search.task.progress)?;
    let offsets: Vec<u64> = members.iter().map(|idx| best.offsets[*idx as usize]).collect();
    let mut lowest = Incumbent {
        footprint: core.footprint(&offsets),
        offsets,
        nodes: 0,
    };
    descend(search, &core, &mut lowest)?;
    if lowest.footprint >= best.footprint {
        return Ok(());
    }
    complete(search, field, best, (&members, &lowest.offsets))
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
        search.nodes += rest.len() as u64;
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

/// The largest size so that all smaller free shapes together never hold more than `most` bytes at once.
fn small_cut(field: &Field<'_>, most: u64) -> u64 {
    let mut sizes: Vec<u64> = field.items().iter().map(|item| item.size).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let peak_below = |cut: u64| {
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
    };
    let fits = sizes.partition_point(|cut| peak_below(*cut) <= most);
    fits.checked_sub(1).map_or(0, |last| sizes[last])
}

/// Some of the shapes, as a problem of their own.
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
