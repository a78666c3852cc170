//! The oracle of the tests: every offer is made one by one, as the engine does. O(blocks^2) and more.
//!
//! It shares no code with the search on purpose, so that a defect of either shows as a difference.

use super::super::block_reuse::{Block, Blocks, Child, Member};
use super::super::demand::Demand;

/// Nests blocks; the list ends up in its final order.
pub(super) fn nest(demand: &Demand, blocks: &mut Blocks) {
    let list: Vec<u32> = std::mem::take(&mut blocks.list);
    let mut offers = Offers {
        demand,
        clones: Vec::new(),
        path: Vec::new(),
        list: Vec::with_capacity(list.len()),
        blocks,
    };
    for block in &list {
        offers.list.push(offers.entry(*block));
    }
    offers.list.sort_by(Entry::order);
    let mut taker_at = 0;
    while let Some(taker) = offers.list.get(taker_at).copied() {
        if taker.is_open {
            offers.offer_all(taker_at, &taker);
        }
        taker_at += 1;
    }
    let list: Vec<u32> = offers.list.iter().map(|entry| entry.block).collect();
    blocks.list = list;
}

/// A block in the list, with its sort key and quick rejection data.
#[derive(Clone, Copy, Debug)]
struct Entry {
    align: u64,
    begin: u32,
    /// Last end, inclusive.
    end: u32,
    block: u32,
    n_members: u32,
    /// Whether it may still be offered, or take: no child, and not after the arena.
    is_open: bool,
}

impl Entry {
    fn order(&self, other: &Self) -> std::cmp::Ordering {
        let ascending = (self.n_members, self.begin).cmp(&(other.n_members, other.begin));
        other.align.cmp(&self.align).then(ascending)
    }

    const fn is_single(&self) -> bool {
        self.n_members == 1
    }
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
            is_open: !block.is_child && !block.is_io,
        }
    }

    /// Offers a taker all that follows it.
    fn offer_all(&mut self, taker_at: usize, taker: &Entry) {
        let stream = self.blocks.all[taker.block as usize].stream;
        let mut at = taker_at + 1;
        while let Some(entry) = self.list.get(at).copied() {
            let is_met = entry.begin <= taker.end && taker.begin <= entry.end;
            let is_refused = is_met && taker.is_single() && entry.is_single();
            if entry.is_open && !is_refused && self.blocks.all[entry.block as usize].stream == stream {
                self.offer(entry.block, taker.block);
                self.update(at, taker.block);
            }
            at += 1;
        }
    }

    /// Offers a block to a taker and its descendants.
    fn offer(&mut self, offered: u32, taker: u32) {
        self.path.clear();
        if self.enters(offered, taker) {
            self.path.push((taker, 0));
        }
        while let Some((block, next)) = self.path.last().copied() {
            let below = self.entered_child(offered, block, next);
            if let Some(last) = self.path.last_mut() {
                last.1 = below.map_or(usize::MAX, |at| at + 1);
            }
            if let Some(at) = below {
                let child = self.blocks.all[block as usize].children[at].block;
                self.path.push((child, 0));
            } else if self.is_taken(offered, block) {
                return;
            } else {
                self.path.pop();
            }
        }
    }

    /// The first child, from a position on, that takes the block or the rest of it.
    fn entered_child(&mut self, offered: u32, taker: u32, from: usize) -> Option<usize> {
        if let [member] = self.blocks.all[offered as usize].members[..] {
            let children = self.blocks.all[taker as usize].children.get(from..)?;
            let found = children.iter().position(|child| {
                let is_disjoint = member.end < child.begin || child.end < member.begin;
                is_disjoint || (!child.is_single && !crosses(&member, &self.blocks.all[child.block as usize]))
            });
            return found.map(|found| from + found);
        }
        let n_children = self.blocks.all[taker as usize].children.len();
        (from..n_children).find(|at| {
            let child = self.blocks.all[taker as usize].children[*at].block;
            self.enters(offered, child)
        })
    }

    /// Whether a member of the offered block is disjoint in time from the taker's members; the others are split off.
    fn enters(&mut self, offered: u32, taker: u32) -> bool {
        let into = &self.blocks.all[taker as usize];
        let members = &self.blocks.all[offered as usize].members;
        let Some(first) = members.iter().position(|member| crosses(member, into)) else {
            return true;
        };
        let (off, kept): (Vec<Member>, Vec<Member>) = members[first..].iter().partition(|member| crosses(member, into));
        if first == 0 && kept.is_empty() {
            return false;
        }
        let align = self.largest(&off);
        let stream = into.stream;
        self.clones
            .push(u32::try_from(self.blocks.all.len()).unwrap_or(u32::MAX));
        self.blocks.all.push(Block {
            align,
            members: off,
            stream,
            ..Block::default()
        });
        let members = &mut self.blocks.all[offered as usize].members;
        members.truncate(first);
        members.extend(kept);
        let align = self.largest(&self.blocks.all[offered as usize].members);
        self.blocks.all[offered as usize].align = align;
        true
    }

    fn largest(&self, members: &[Member]) -> u64 {
        let bytes = members
            .iter()
            .map(|member| self.demand.requests[member.request as usize].bytes);
        bytes.max().unwrap_or(0)
    }

    /// Takes the block where the children leave room.
    fn is_taken(&mut self, offered: u32, taker: u32) -> bool {
        let unit = self.demand.unit;
        let entry = self.entry(offered);
        let spare = if entry.align == unit { 0 } else { unit };
        let into = &mut self.blocks.all[taker as usize];
        if into.used + entry.align > into.align + spare {
            return false;
        }
        into.used += entry.align;
        into.children.push(Child {
            begin: entry.begin,
            end: entry.end,
            block: offered,
            is_single: entry.is_single(),
        });
        self.blocks.all[offered as usize].is_child = true;
        self.blocks.nested.push((offered, taker));
        true
    }

    /// Updates the list after an offer: the block itself, and behind it its clones; sorts the following blocks where
    /// one is out of order.
    fn update(&mut self, at: usize, taker: u32) {
        let block = self.list[at].block;
        if self.clones.is_empty() {
            self.list[at].is_open = !self.blocks.all[block as usize].is_child;
            return;
        }
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
    }
}

/// Whether a member lives while some member of a block does. O(log members).
fn crosses(member: &Member, taker: &Block) -> bool {
    // The first member that has not ended before.
    let first = taker.members.partition_point(|other| other.end < member.begin);
    taker.members.get(first).is_some_and(|first| first.begin <= member.end)
}
