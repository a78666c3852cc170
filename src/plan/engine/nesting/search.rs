//! The search of a taker's tree for the first block that takes an offered one.

use super::super::block_reuse::{Block, Member};
use super::{Offers, least_room, room_of};

/// A walk of the tree is needed: there are more blocks to look at than it is worth, or more than one member.
struct TooMany;

impl Offers<'_> {
    /// Offers a block to a taker and its descendants.
    pub(super) fn offer(&mut self, offered: u32, taker: u32) {
        if !self.enters(offered, taker) {
            return;
        }
        if !self.list_met(offered) {
            match self.roomy_apart(offered) {
                Ok(Some(block)) => self.take(offered, block),
                Ok(None) => {}
                Err(TooMany) => self.walk(offered, taker),
            }
        } else if self.blocks.all[offered as usize].members.len() == 1 {
            if let Some(block) = self.first_room(offered) {
                self.take(offered, block);
            }
        } else {
            self.search(offered);
        }
    }

    /// Lists the blocks of the tree that a block meets, as ranks of their marks; `false` where there are too many.
    fn list_met(&mut self, offered: u32) -> bool {
        self.found.clear();
        for member in &self.blocks.all[offered as usize].members {
            if !self.lives.meeting(member, self.limits.met, &mut self.found) {
                return false;
            }
        }
        self.work += 8 * self.found.len();
        self.met.clear();
        for block in &self.found {
            let (begin, end) = self.places[*block as usize].marks;
            self.met.push((self.tour.rank(begin), self.tour.rank(end), *block));
        }
        true
    }

    /// The least room that a block needs.
    fn least_room(&self, offered: u32) -> i64 {
        least_room(self.demand, self.blocks.all[offered as usize].align)
    }

    /// The first block of the taker's tree with room for a single member, outside of the blocks that it meets.
    fn first_room(&self, offered: u32) -> Option<u32> {
        let room = self.least_room(offered);
        let mut from = 0;
        loop {
            let (position, block) = self.tour.first_with(room, from)?;
            let behind = self.met.iter();
            let behind = behind.filter(|(begin, end, _)| (*begin..=*end).contains(&position));
            match behind.map(|(_, end, _)| end + 1).max() {
                None => return Some(block),
                Some(behind) => from = behind,
            }
        }
    }

    /// As [`Self::first_room`], where the blocks that a single member meets are too many to be listed: of the blocks with room,
    /// each is looked at with those around it. In a tree that has few of them, a walk would pass over all others in vain.
    fn roomy_apart(&mut self, offered: u32) -> Result<Option<u32>, TooMany> {
        let [member] = self.blocks.all[offered as usize].members[..] else {
            return Err(TooMany);
        };
        let room = self.least_room(offered);
        let mut left = 16 + self.tour.len() / 64;
        let mut from = 0;
        while let Some((_, block)) = self.tour.first_with(room, from) {
            let mut met = None;
            let mut around = block;
            loop {
                left = left.checked_sub(1).ok_or(TooMany)?;
                self.work += 4;
                if crosses(&member, &self.blocks.all[around as usize]) {
                    met = Some(around);
                }
                let parent = self.places[around as usize].parent;
                // Where the block itself is met, those around it matter little.
                if parent == around || met == Some(block) {
                    break;
                }
                around = parent;
            }
            match met {
                None => return Ok(Some(block)),
                Some(met) => from = self.tour.rank(self.places[met as usize].marks.1) + 1,
            }
        }
        Ok(None)
    }

    /// Offers a block of several members to the taker's tree: from one block that it meets to the next, which splits it
    /// or takes none of it, until there is room before the next one.
    fn search(&mut self, offered: u32) {
        let mut from = 0;
        loop {
            self.work += 16;
            let found = self.tour.first_with(self.least_room(offered), from);
            let next = self.met.iter().filter(|(begin, ..)| *begin >= from).min().copied();
            match (found, next) {
                (Some((position, block)), next) if next.is_none_or(|(begin, ..)| position < begin) => {
                    self.take(offered, block);
                    return;
                }
                (_, None) => return,
                (_, Some((begin, _, block))) if self.enters(offered, block) => {
                    from = begin + 1;
                    self.list_met(offered);
                }
                (_, Some((_, end, _))) => from = end + 1,
            }
        }
    }

    /// Tries the blocks of a tree one by one, from its root on, which the block has entered.
    fn walk(&mut self, offered: u32, taker: u32) {
        self.path.clear();
        self.path.push((taker, 0));
        while let Some((block, next)) = self.path.last().copied() {
            self.work += 1;
            let below = self.entered_child(offered, block, next);
            if let Some(last) = self.path.last_mut() {
                last.1 = below.map_or(usize::MAX, |at| at + 1);
            }
            if let Some(at) = below {
                let child = self.blocks.all[block as usize].children[at].block;
                self.path.push((child, 0));
            } else if self.has_room(offered, block) {
                self.take(offered, block);
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
            self.work += children.len() / 8;
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

    /// Whether the children of a block leave room.
    fn has_room(&self, offered: u32, taker: u32) -> bool {
        room_of(&self.blocks.all[taker as usize]) >= self.least_room(offered)
    }
}

/// Whether a member lives while some member of a block does. O(log members).
fn crosses(member: &Member, taker: &Block) -> bool {
    // The first member that has not ended before.
    let first = taker.members.partition_point(|other| other.end < member.begin);
    taker.members.get(first).is_some_and(|first| first.begin <= member.end)
}
