//! The tree of a taker as one sequence: each block has a mark where it begins and one where it ends, around those of its
//! children. A block is tried after its children, so marks of ends are in the order in which blocks are tried.
//!
//! A treap with parent pointers: inserting, changing, ranking and searching are O(log n) each.

const NONE: u32 = u32::MAX;

/// The room of a mark that takes nothing.
const NO_ROOM: i64 = i64::MIN;

#[derive(Clone, Copy, Debug)]
struct Mark {
    parent: u32,
    left: u32,
    right: u32,
    /// Marks in its subtree.
    size: u32,
    block: u32,
    room: i64,
    /// The largest room in its subtree.
    most: i64,
}

#[derive(Debug, Default)]
pub(super) struct Tour {
    marks: Vec<Mark>,
    root: u32,
}

impl Tour {
    /// Starts again with one block; its mark is 0.
    pub(super) fn start(&mut self, block: u32, room: i64) {
        self.marks.clear();
        self.root = 0;
        self.push(block, room);
    }

    fn push(&mut self, block: u32, room: i64) -> u32 {
        self.marks.push(Mark {
            parent: NONE,
            left: NONE,
            right: NONE,
            size: 1,
            block,
            room,
            most: room,
        });
        u32::try_from(self.marks.len() - 1).unwrap_or(NONE)
    }

    /// Adds a block as the last child of the block whose end is marked; returns the marks of its begin and end.
    pub(super) fn add(&mut self, end_of_parent: u32, block: u32, room: i64) -> (u32, u32) {
        let begin = self.insert_before(end_of_parent, block, NO_ROOM);
        let end = self.insert_before(end_of_parent, block, room);
        (begin, end)
    }

    fn insert_before(&mut self, at: u32, block: u32, room: i64) -> u32 {
        let new = self.push(block, room);
        let mut above = self.at(at).left;
        if above == NONE {
            self.marks[at as usize].left = new;
            above = at;
        } else {
            while self.at(above).right != NONE {
                above = self.at(above).right;
            }
            self.marks[above as usize].right = new;
        }
        self.marks[new as usize].parent = above;
        self.update_from(above);
        while self.at(new).parent != NONE && weight(self.at(new).parent) < weight(new) {
            self.lift(new);
        }
        new
    }

    pub(super) fn set_room(&mut self, mark: u32, room: i64) {
        self.marks[mark as usize].room = room;
        self.update_from(mark);
    }

    /// The number of marks.
    pub(super) const fn len(&self) -> usize {
        self.marks.len()
    }

    /// The most room of any block.
    pub(super) fn most_room(&self) -> i64 {
        self.most(self.root)
    }

    /// The position of a mark.
    pub(super) fn rank(&self, mark: u32) -> u32 {
        let mut rank = self.size(self.at(mark).left);
        let mut below = mark;
        while self.at(below).parent != NONE {
            let above = self.at(below).parent;
            if self.at(above).right == below {
                rank += self.size(self.at(above).left) + 1;
            }
            below = above;
        }
        rank
    }

    /// The first position from one on whose block has this room, and the block.
    pub(super) fn first_with(&self, room: i64, from: u32) -> Option<(u32, u32)> {
        self.first_below(self.root, 0, room, from)
    }

    fn first_below(&self, mark: u32, start: u32, room: i64, from: u32) -> Option<(u32, u32)> {
        if mark == NONE || self.at(mark).most < room || start + self.at(mark).size <= from {
            return None;
        }
        let here = self.at(mark);
        let position = start + self.size(here.left);
        self.first_below(here.left, start, room, from)
            .or_else(|| (position >= from && here.room >= room).then_some((position, here.block)))
            .or_else(|| self.first_below(here.right, position + 1, room, from))
    }

    fn at(&self, mark: u32) -> &Mark {
        &self.marks[mark as usize]
    }

    fn size(&self, mark: u32) -> u32 {
        if mark == NONE { 0 } else { self.at(mark).size }
    }

    fn most(&self, mark: u32) -> i64 {
        if mark == NONE { NO_ROOM } else { self.at(mark).most }
    }

    fn update(&mut self, mark: u32) {
        let Mark { left, right, room, .. } = *self.at(mark);
        let size = self.size(left) + self.size(right) + 1;
        let most = room.max(self.most(left)).max(self.most(right));
        let here = &mut self.marks[mark as usize];
        (here.size, here.most) = (size, most);
    }

    fn update_from(&mut self, mut mark: u32) {
        while mark != NONE {
            self.update(mark);
            mark = self.at(mark).parent;
        }
    }

    /// Puts a mark in the place of its parent, which becomes its child.
    fn lift(&mut self, mark: u32) {
        let parent = self.at(mark).parent;
        let above = self.at(parent).parent;
        let is_left = self.at(parent).left == mark;
        let moved = if is_left {
            self.at(mark).right
        } else {
            self.at(mark).left
        };
        if is_left {
            self.marks[parent as usize].left = moved;
            self.marks[mark as usize].right = parent;
        } else {
            self.marks[parent as usize].right = moved;
            self.marks[mark as usize].left = parent;
        }
        if moved != NONE {
            self.marks[moved as usize].parent = parent;
        }
        self.marks[parent as usize].parent = mark;
        self.marks[mark as usize].parent = above;
        if above == NONE {
            self.root = mark;
        } else if self.at(above).left == parent {
            self.marks[above as usize].left = mark;
        } else {
            self.marks[above as usize].right = mark;
        }
        self.update(parent);
        self.update(mark);
    }
}

/// A fixed pseudo-random order of marks, which balances the treap.
fn weight(mark: u32) -> u32 {
    let mixed = (mark ^ (mark >> 16)).wrapping_mul(0x7feb_352d);
    let mixed = (mixed ^ (mixed >> 15)).wrapping_mul(0x846c_a68b);
    mixed ^ (mixed >> 16)
}
