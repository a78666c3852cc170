//! Which placed shapes may be in a shape's way, by ascending offset.
//!
//! ```text
//! steps    0        w        2w       3w
//! level 0  [------------------------------...   one window over everything
//! level 1  [ window 0       ][ window 2       ]
//!                   [ window 1       ]          windows of 2w steps, every w steps
//! ```
//!
//! Each level halves the windows of the one before. A placed shape stands in every window that it meets, by ascending
//! offset; a shape of at most w steps lies within one window of that level, so one list holds all that it can meet,
//! few others, and is in order already. Finer levels are kept while a shape stands in at most
//! [`MOST_WINDOWS`] windows of them on average: memory O(n * levels), and never the graph of who meets whom.
//! Adding and removing: O(windows * list), a short move of memory each; a look: O(list).

use crate::plan::field::Field;

/// Windows of one level in which a shape stands on average, at most.
const MOST_WINDOWS: u64 = 4;

/// Levels at most.
const MOST_LEVELS: u32 = 12;

/// A shape with its offset. `lower..upper` are compressed steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::plan) struct Placed {
    pub(in crate::plan) offset: u64,
    /// Offset plus size.
    pub(in crate::plan) end: u64,
    pub(in crate::plan) lower: u32,
    pub(in crate::plan) upper: u32,
    pub(in crate::plan) item: u32,
}

impl Placed {
    /// A shape at an offset.
    pub(in crate::plan) fn new(field: &Field<'_>, item: u32, offset: u64) -> Self {
        let idx = item as usize;
        Self {
            offset,
            end: offset + field.items()[idx].size,
            lower: field.lower[idx],
            upper: field.upper[idx],
            item,
        }
    }
}

/// The index.
#[derive(Debug)]
pub(in crate::plan) struct Windows {
    levels: Vec<Level>,
}

#[derive(Debug)]
struct Level {
    /// Steps from one window to the next; a window is twice as long.
    stride: u32,
    lists: Vec<Vec<Placed>>,
}

impl Level {
    fn new(n_steps: u32, stride: u32) -> Self {
        Self {
            stride,
            lists: vec![Vec::new(); (n_steps / stride) as usize + 1],
        }
    }

    /// The windows that meet `lower..upper`.
    fn meeting(&mut self, lower: u32, upper: u32) -> &mut [Vec<Placed>] {
        let first = (lower / self.stride).saturating_sub(1) as usize;
        let last = ((upper - 1) / self.stride) as usize;
        &mut self.lists[first..=last]
    }
}

impl Windows {
    /// An empty index for the shapes of a field.
    pub(in crate::plan) fn new(field: &Field<'_>) -> Self {
        let n_items = field.items().len() as u64;
        let total_life: u64 = (0_u32..)
            .zip(field.items())
            .map(|(idx, _)| u64::from(field.life(idx)))
            .sum();
        let mut levels = vec![Level::new(field.n_steps, field.n_steps)];
        for level in 1..MOST_LEVELS {
            let stride = field.n_steps >> level;
            if stride < 4 || total_life / u64::from(stride) > n_items * (MOST_WINDOWS - 2) {
                break;
            }
            levels.push(Level::new(field.n_steps, stride));
        }
        Self { levels }
    }

    /// One list only: the quickest to change, for small fields in which most shapes meet.
    pub(in crate::plan) fn flat(field: &Field<'_>) -> Self {
        Self {
            levels: vec![Level::new(field.n_steps, field.n_steps)],
        }
    }

    /// An index that holds the fixed shapes of a field.
    pub(in crate::plan) fn with_fixed(field: &Field<'_>) -> Self {
        let mut placed = Self::new(field);
        placed.add_fixed(field);
        placed
    }

    /// Adds the fixed shapes.
    pub(in crate::plan) fn add_fixed(&mut self, field: &Field<'_>) {
        for (idx, item) in (0_u32..).zip(field.items()) {
            if let Some(offset) = item.fixed.filter(|_| item.n_pieces > 0) {
                self.add(Placed::new(field, idx, offset));
            }
        }
    }

    /// All placed shapes that meet a shape's hull, and some that don't, by ascending offset.
    pub(in crate::plan) fn around(&self, field: &Field<'_>, idx: u32) -> &[Placed] {
        let lower = field.lower[idx as usize];
        let life = field.life(idx);
        let finest = self.levels.iter().rev().find(|level| level.stride >= life);
        finest.map_or(&[], |level| &level.lists[(lower / level.stride) as usize])
    }

    /// Remembers a placed shape that has bytes.
    pub(in crate::plan) fn add(&mut self, placed: Placed) {
        for level in &mut self.levels {
            for list in level.meeting(placed.lower, placed.upper) {
                let position = list.partition_point(|other| other.offset < placed.offset);
                list.insert(position, placed);
            }
        }
    }

    /// Forgets a shape that was added as it is given.
    pub(in crate::plan) fn remove(&mut self, placed: &Placed) {
        for level in &mut self.levels {
            for list in level.meeting(placed.lower, placed.upper) {
                let first = list.partition_point(|other| other.offset < placed.offset);
                let found = list[first..].iter().position(|other| other.item == placed.item);
                if let Some(behind) = found {
                    list.remove(first + behind);
                }
            }
        }
    }
}
