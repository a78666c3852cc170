//! Level 2: blocks within blocks.
//!
//! Every block (the taker), the largest first, is offered all blocks that follow in the list. Members of the offered
//! block that live while the taker's own members do are split off into a clone after it; the rest goes into the first
//! of the taker's children (recursively) that takes it, otherwise into the taker itself where its children leave room:
//! its own size, plus one unit for blocks larger than a unit. A split remains even where no block takes the rest.
//!
//! Where a clone (or the taker) is smaller than the block after the clones, the list after the offered block is
//! sorted again: size descending, members ascending, first begin ascending, stable.
//!
//! The next block to offer is one that some block of the taker's tree may take: that block is free on its steps and has room
//! ([`Cursors`], [`Gaps`], [`NextOffer`]). Within the tree, the search goes to the first room before the next block that the offered
//! one meets ([`Tour`], [`Lives`]): O(log n) each per member. For a block of one member that meets many, those with room are looked
//! at, where they are few; otherwise the tree is walked block by block. A block that is split moves what follows it in the list.

mod cursors;
mod entry;
mod gaps;
mod lives;
mod next_offer;
#[cfg(test)]
mod reference;
mod search;
mod streams;
#[cfg(test)]
mod tests;
mod tour;

use self::cursors::Cursors;
use self::entry::Entry;
use self::gaps::{GapRange, Gaps};
use self::lives::Lives;
use self::next_offer::{Free, NextOffer};
use self::tour::Tour;
use super::block_reuse::{Block, Blocks, Child, Member};
use super::demand::Demand;
use highwater_model::progress::{Cancelled, Progress};

/// Entries and children that are looked at between two checks of the cancel flag: about 5 ms.
const WORK_PER_CHECK: usize = 1 << 18;

/// Limits of the searches. They change the time, not the result.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// The most members that a search by time lists for a block; where it meets more, the blocks with room are looked at or the
    /// tree is walked.
    met: usize,
    /// The most gaps of a block.
    gaps: usize,
}

const LIMITS: Limits = Limits { met: 48, gaps: 16 };

/// Nests blocks; the list ends up in its final order.
pub(super) fn nest(demand: &Demand, blocks: &mut Blocks, progress: &Progress<'_>) -> Result<(), Cancelled> {
    nest_with(demand, blocks, LIMITS, progress)
}

fn nest_with(demand: &Demand, blocks: &mut Blocks, limits: Limits, progress: &Progress<'_>) -> Result<(), Cancelled> {
    let list: Vec<u32> = std::mem::take(&mut blocks.list);
    let mut offers = Offers {
        demand,
        clones: Vec::new(),
        path: Vec::new(),
        list: Vec::with_capacity(list.len()),
        blocks,
        next: NextOffer::default(),
        cursors: Cursors::default(),
        gaps: Gaps::default(),
        tour: Tour::default(),
        places: Vec::new(),
        lives: Lives::new(demand),
        found: Vec::new(),
        met: Vec::new(),
        limits,
        crossing: Vec::new(),
        work: 0,
        progress,
    };
    for block in &list {
        offers.list.push(offers.entry(*block));
    }
    offers.list.sort_by(Entry::order);
    offers.rebuild(0);
    let mut taker_at = 0;
    while let Some(taker) = offers.list.get(taker_at).copied() {
        offers.count(1, taker_at)?;
        if taker.is_open {
            offers.offer_all(taker_at, &taker)?;
        }
        taker_at += 1;
    }
    let list: Vec<u32> = offers.list.iter().map(|entry| entry.block).collect();
    blocks.list = list;
    Ok(())
}

/// A block in the tree of a taker.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// Marks of begin and end in the tour.
    marks: (u32, u32),
    /// The block that it is a child of; the taker itself for the taker.
    parent: u32,
    gaps: GapRange,
}

struct Offers<'a> {
    demand: &'a Demand,
    blocks: &'a mut Blocks,
    /// The engine's list of blocks.
    list: Vec<Entry>,
    /// Blocks split off by the current offer.
    clones: Vec<u32>,
    /// From the taker down: blocks, and the next child of each.
    path: Vec<(u32, usize)>,
    /// Positions of the list; out of date within a pass that split a block.
    next: NextOffer,
    /// Where each block of the tree goes on in the list; valid until the first split of a pass.
    cursors: Cursors,
    gaps: Gaps,
    /// The tree of the current taker.
    tour: Tour,
    /// By block of that tree.
    places: Vec<Place>,
    /// Members of the tree, without the taker's own.
    lives: Lives,
    /// Blocks of the tree that the offered block meets, and the same with the ranks of their marks.
    found: Vec<u32>,
    met: Vec<(u32, u32, u32)>,
    limits: Limits,
    /// Runs of members that live while the taker's members do.
    crossing: Vec<(usize, usize)>,
    /// What was looked at since the last check of the cancel flag.
    work: usize,
    progress: &'a Progress<'a>,
}

impl Offers<'_> {
    fn entry(&self, number: u32) -> Entry {
        let block = &self.blocks.all[number as usize];
        Entry {
            align: block.align,
            begin: block.members.first().map_or(0, |member| member.begin),
            end: block.members.last().map_or(0, |member| member.end),
            block: number,
            n_members: u32::try_from(block.members.len()).unwrap_or(u32::MAX),
            stream: block.stream,
            is_open: !block.is_child && !block.is_io,
        }
    }

    fn count(&mut self, work: usize, taker_at: usize) -> Result<(), Cancelled> {
        self.work += work;
        if self.work > WORK_PER_CHECK {
            self.work = 0;
            self.progress.set("nesting", taker_at as u64, self.list.len() as u64)?;
        }
        Ok(())
    }

    /// Updates what is known of the list from a position on.
    fn rebuild(&mut self, first: usize) {
        let list = &self.list;
        self.next
            .rebuild(first, list.len(), |at| list[at].span(self.demand), |at| list[at].stream);
    }

    /// Offers a taker all that follows it.
    fn offer_all(&mut self, taker_at: usize, taker: &Entry) -> Result<(), Cancelled> {
        self.start_tree(taker.block, taker_at + 1);
        let mut first_split = None;
        let mut at = taker_at;
        loop {
            let from = at + 1;
            let found = if first_split.is_some() {
                // Positions have moved: the rest of the list is read entry by entry.
                self.list.get(from).map(|_| from)
            } else {
                self.next_offer(taker, from)
            };
            let Some(found) = found else { break };
            at = found;
            self.count(16, taker_at)?;
            let entry = self.list[at];
            let is_met = entry.begin <= taker.end && taker.begin <= entry.end;
            let is_refused = is_met && taker.is_single() && entry.is_single();
            if entry.is_open && !is_refused && entry.stream == taker.stream {
                self.offer(entry.block, taker.block);
                if self.update(at, taker.block) {
                    first_split.get_or_insert(at);
                } else if first_split.is_none() && !self.list[at].is_open {
                    self.next.close(at);
                }
            }
        }
        if let Some(first) = first_split {
            self.count(self.list.len() - first, taker_at)?;
            self.rebuild(first);
        }
        Ok(())
    }

    /// Starts a tree of the taker alone, which is offered the list from a position on.
    fn start_tree(&mut self, taker: u32, from: usize) {
        let block = &self.blocks.all[taker as usize];
        self.lives.clear();
        self.tour.start(taker, room_of(block));
        self.cursors.clear();
        self.gaps.clear();
        let gaps = self.gaps.add(None, &block.members, self.limits.gaps);
        let place = Place {
            marks: (0, 0),
            parent: taker,
            gaps,
        };
        self.put(taker, place);
        self.cursors.add(taker, from);
    }

    /// The first position at or after `from` that some block of a taker's tree may take, or one before it.
    fn next_offer(&mut self, taker: &Entry, from: usize) -> Option<usize> {
        // Nothing before it: the taker is free wherever a block of its tree is.
        let roomiest = Free {
            gaps: self.gaps.of(self.places[taker.block as usize].gaps),
            room: self.tour.most_room(),
            stream: taker.stream,
            is_taker: true,
        };
        let (least, n_looks) = self.next.from(from, &roomiest);
        self.work += n_looks;
        let least = least?;
        let (all, places, gaps) = (&self.blocks.all, &self.places, &self.gaps);
        let free = |block: u32| Free {
            gaps: gaps.of(places[block as usize].gaps),
            room: room_of(&all[block as usize]),
            stream: taker.stream,
            is_taker: block == taker.block,
        };
        self.cursors.next(least, &mut self.next, free, &mut self.work)
    }

    fn put(&mut self, block: u32, place: Place) {
        if self.places.len() <= block as usize {
            let n_blocks = self.blocks.all.len().max(block as usize + 1);
            self.places.resize(n_blocks, Place::default());
        }
        self.places[block as usize] = place;
    }

    /// Whether a member of the offered block is disjoint in time from the taker's members; the others are split off.
    fn enters(&mut self, offered: u32, taker: u32) -> bool {
        let into = &self.blocks.all[taker as usize];
        let Block { members, align, .. } = &self.blocks.all[offered as usize];
        list_crossing(members, &into.members, &mut self.crossing);
        if self.crossing.is_empty() {
            return true;
        }
        if self.crossing[..] == [(0, members.len())] {
            return false;
        }
        let n_off = self.crossing.iter().map(|(from, to)| to - from).sum();
        // Exact capacities: blocks are split again and again.
        let (mut off, mut kept) = (Vec::with_capacity(n_off), Vec::with_capacity(members.len() - n_off));
        let mut at = 0;
        for (from, to) in &self.crossing {
            kept.extend_from_slice(&members[at..*from]);
            off.extend_from_slice(&members[*from..*to]);
            at = *to;
        }
        kept.extend_from_slice(&members[at..]);
        self.work += members.len() / 64;
        let (off_align, kept_align) = (self.largest(&off, *align), self.largest(&kept, *align));
        let stream = into.stream;
        self.clones
            .push(u32::try_from(self.blocks.all.len()).unwrap_or(u32::MAX));
        self.blocks.all.push(Block {
            align: off_align,
            members: off,
            stream,
            ..Block::default()
        });
        let block = &mut self.blocks.all[offered as usize];
        (block.members, block.align) = (kept, kept_align);
        true
    }

    /// The bytes of the largest of a block's members; none is larger than `most`.
    fn largest(&self, members: &[Member], most: u64) -> u64 {
        let mut largest = 0;
        for member in members {
            largest = self.demand.requests[member.request as usize].bytes.max(largest);
            if largest >= most {
                break;
            }
        }
        largest
    }

    fn take(&mut self, offered: u32, taker: u32) {
        let entry = self.entry(offered);
        let into = &mut self.blocks.all[taker as usize];
        into.used += entry.align;
        into.children.push(Child {
            begin: entry.begin,
            end: entry.end,
            block: offered,
            is_single: entry.is_single(),
        });
        let room = room_of(into);
        let (_, end) = self.places[taker as usize].marks;
        self.tour.set_room(end, room);
        let child = &mut self.blocks.all[offered as usize];
        child.is_child = true;
        let marks = self.tour.add(end, offered, room_of(child));
        for member in &child.members {
            self.lives.add(member, offered);
        }
        let around = self.places[taker as usize].gaps;
        let gaps = self.gaps.add(Some(around), &child.members, self.limits.gaps);
        let place = Place {
            marks,
            parent: taker,
            gaps,
        };
        self.put(offered, place);
        self.cursors.add(offered, 0);
        self.blocks.nested.push((offered, taker));
    }

    /// Updates the list after an offer: the block itself, and behind it its clones; sorts the following blocks where
    /// one is out of order. Returns whether there are clones.
    fn update(&mut self, at: usize, taker: u32) -> bool {
        let block = self.list[at].block;
        if self.clones.is_empty() {
            self.list[at].is_open = !self.blocks.all[block as usize].is_child;
            return false;
        }
        self.work += self.list.len() / 4;
        self.list[at] = self.entry(block);
        let clones: Vec<Entry> = self.clones.iter().map(|clone| self.entry(*clone)).collect();
        self.clones.clear();
        let least = clones.iter().map(|clone| clone.align).min().unwrap_or(0);
        let least = least.min(self.blocks.all[taker as usize].align);
        let behind = at + 1;
        let is_out_of_order = self.list.get(behind).is_some_and(|entry| least < entry.align);
        self.list.splice(behind..behind, clones);
        if is_out_of_order {
            self.list[behind..].sort_by(Entry::order);
        }
        true
    }
}

/// The least room that a block of these bytes needs: blocks larger than a unit may exceed the room by one.
fn least_room(demand: &Demand, align: u64) -> i64 {
    let spare = if align == demand.unit { 0 } else { demand.unit };
    signed(align) - signed(spare)
}

/// The bytes that children leave; below 0 where they exceed the block by a unit.
fn room_of(block: &Block) -> i64 {
    signed(block.align) - signed(block.used)
}

/// Sums of a demand are below 2^62.
fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// Lists the runs of members that live while one of others does; both are disjoint and ascend. O(fewer x log more).
fn list_crossing(members: &[Member], others: &[Member], runs: &mut Vec<(usize, usize)>) {
    runs.clear();
    let mut add = |from: usize, to: usize| match runs.last_mut() {
        Some(last) if from <= last.1 => last.1 = to,
        _ => runs.push((from, to)),
    };
    if members.len() <= others.len() {
        for (at, member) in members.iter().enumerate() {
            let first = others.partition_point(|other| other.end < member.begin);
            if others.get(first).is_some_and(|first| first.begin <= member.end) {
                add(at, at + 1);
            }
        }
        return;
    }
    for other in others {
        let from = members.partition_point(|member| member.end < other.begin);
        let to = members.partition_point(|member| member.begin <= other.end);
        if from < to {
            add(from, to);
        }
    }
}
