//! Lists that grow by pieces, in one pool.
//!
//! In: items, a few at a time. Out: the items of a list, in order. Dicts that were made one after the other, as the events
//! of a trace are, become a run: a first number and a count instead of a value each. Invariant: nothing is followed, so
//! that a list may hold itself.

use super::value::{Kind, Value, narrow};

const NO_CHUNK: u32 = u32::MAX;

/// The least dicts that are worth a separate run: a chunk costs as much as two items.
const LEAST_RUN: usize = 8;

#[derive(Debug, Default)]
pub(super) struct Lists {
    /// First and last chunk of each.
    ends: Vec<(u32, u32)>,
    chunks: Vec<Chunk>,
    items: Vec<Value>,
}

/// A state of the pool to which it can shrink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ListsSize {
    pub(super) lists: usize,
    chunks: usize,
    items: usize,
}

#[derive(Clone, Copy, Debug)]
struct Chunk {
    /// Position of the first item, or in a run the first dict.
    start: u32,
    len: u32,
    next: u32,
    is_run: bool,
}

impl Lists {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn add(&mut self) -> u32 {
        self.ends.push((NO_CHUNK, NO_CHUNK));
        narrow(self.ends.len() - 1)
    }

    /// How many lists, pieces and items there are.
    pub(super) fn size(&self) -> ListsSize {
        ListsSize {
            lists: self.ends.len(),
            chunks: self.chunks.len(),
            items: self.items.len(),
        }
    }

    /// Takes away what was added since: nothing that was there before may have grown.
    pub(super) fn shrink_to(&mut self, size: ListsSize) {
        self.ends.truncate(size.lists);
        self.chunks.truncate(size.chunks);
        self.items.truncate(size.items);
    }

    /// Puts items at the end of a list; returns the number of those that take room.
    pub(super) fn append(&mut self, list: u32, items: &[Value]) -> usize {
        let mut rest = items;
        let mut n_apart = 0;
        let mut n_stored = 0;
        while let Some((first, n)) = run(&rest[n_apart..]) {
            if n < LEAST_RUN && !(n_apart == 0 && self.continues(list, first)) {
                n_apart += n.max(1);
                continue;
            }
            n_stored += self.append_apart(list, &rest[..n_apart]);
            self.append_chunk(list, narrow(first), narrow(n), true);
            rest = &rest[n_apart + n..];
            n_apart = 0;
        }
        n_stored + self.append_apart(list, rest)
    }

    /// Whether a dict is the next one of the run at a list's end.
    fn continues(&self, list: u32, dict: usize) -> bool {
        let chunk = self.chunks.get(self.ends[list as usize].1 as usize);
        chunk.is_some_and(|run| run.is_run && (run.start + run.len) as usize == dict)
    }

    fn append_apart(&mut self, list: u32, items: &[Value]) -> usize {
        if !items.is_empty() {
            let start = narrow(self.items.len());
            self.items.extend_from_slice(items);
            self.append_chunk(list, start, narrow(items.len()), false);
        }
        items.len()
    }

    fn append_chunk(&mut self, list: u32, start: u32, len: u32, is_run: bool) {
        let next = narrow(self.chunks.len());
        let ends = &mut self.ends[list as usize];
        if let Some(last) = self.chunks.get_mut(ends.1 as usize) {
            if last.is_run == is_run && last.start + last.len == start {
                last.len += len;
                return;
            }
            last.next = next;
        }
        ends.1 = next;
        if ends.0 == NO_CHUNK {
            ends.0 = ends.1;
        }
        self.chunks.push(Chunk {
            start,
            len,
            next: NO_CHUNK,
            is_run,
        });
    }

    /// The items of a list, in order; none where there is no such list.
    pub(super) fn items(&self, list: u32) -> Items<'_> {
        Items {
            lists: self,
            chunk: self.ends.get(list as usize).map_or(NO_CHUNK, |ends| ends.0),
            at: 0,
        }
    }
}

/// The first dict of the dicts at the start that were made one after the other, and how many they are; 0 where the first
/// item is no dict.
fn run(items: &[Value]) -> Option<(usize, usize)> {
    let Kind::Dict(first) = items.first()?.kind() else {
        return Some((0, 0));
    };
    let follows = (first..)
        .zip(items)
        .take_while(|(dict, item)| **item == Value::dict(*dict));
    Some((first as usize, follows.count()))
}

#[derive(Clone, Debug)]
pub(super) struct Items<'a> {
    lists: &'a Lists,
    chunk: u32,
    at: u32,
}

impl Iterator for Items<'_> {
    type Item = Value;

    #[inline]
    fn next(&mut self) -> Option<Value> {
        loop {
            let chunk = self.lists.chunks.get(self.chunk as usize)?;
            if self.at < chunk.len {
                let position = chunk.start + self.at;
                self.at += 1;
                return if chunk.is_run {
                    Some(Value::dict(position))
                } else {
                    self.lists.items.get(position as usize).copied()
                };
            }
            (self.chunk, self.at) = (chunk.next, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_dicts_and_other_items_keep_their_order() {
        let mut lists = Lists::default();
        let (one, other) = (lists.add(), lists.add());
        let dicts = |from: u32, to: u32| (from..to).map(Value::dict).collect::<Vec<_>>();
        let mut expected = Vec::new();
        for piece in [
            dicts(0, 20),
            vec![Value::NOTHING],
            dicts(20, 23),
            dicts(40, 60),
            dicts(60, 61),
            dicts(61, 100),
            [dicts(7, 9), vec![Value::small(3)], dicts(0, 30), dicts(2, 4)].concat(),
            Vec::new(),
        ] {
            lists.append(other, &piece[..piece.len() / 2]);
            lists.append(one, &piece);
            expected.extend(piece);
        }
        assert_eq!(lists.items(one).collect::<Vec<_>>(), expected);
        assert!(lists.items.len() < 30, "{} items, not joined", lists.items.len());
        assert_eq!(lists.items(7).count(), 0);
    }
}
