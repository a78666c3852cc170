//! Free blocks of one stream in order: a vector of short sorted vectors, which stays in the processor's caches.

use crate::block::BlockId;

/// Order of free blocks: by size, then by the number that decides ties, then by address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) size: u64,
    pub(crate) number: u64,
    pub(crate) addr: u64,
    pub(crate) block: BlockId,
}

/// A place in the set; valid until the set changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor {
    chunk: usize,
    index: usize,
}

/// Longest run of keys that is moved by an insertion.
const CHUNK: usize = 64;

/// The set. No run is empty.
#[derive(Clone, Debug, Default)]
pub(crate) struct FreeSet {
    chunks: Vec<Vec<Key>>,
    /// The last key of each run.
    tops: Vec<Key>,
}

impl FreeSet {
    pub(crate) fn insert(&mut self, key: Key) {
        if self.chunks.is_empty() {
            let mut first = Vec::with_capacity(CHUNK);
            first.push(key);
            self.chunks.push(first);
            self.tops.push(key);
            return;
        }
        let at = self.tops.partition_point(|top| *top < key).min(self.tops.len() - 1);
        let chunk = &mut self.chunks[at];
        let index = chunk.partition_point(|other| *other < key);
        chunk.insert(index, key);
        self.tops[at] = chunk[chunk.len() - 1];
        if chunk.len() == CHUNK {
            let mut upper = Vec::with_capacity(CHUNK);
            upper.extend(chunk.drain(CHUNK / 2..));
            self.tops[at] = chunk[chunk.len() - 1];
            self.tops.insert(at + 1, upper[upper.len() - 1]);
            self.chunks.insert(at + 1, upper);
        }
    }

    pub(crate) fn remove(&mut self, key: &Key) -> bool {
        let at = self.tops.partition_point(|top| top < key);
        let Some(chunk) = self.chunks.get(at) else {
            return false;
        };
        let index = chunk.partition_point(|other| other < key);
        if chunk.get(index) != Some(key) {
            return false;
        }
        self.remove_at(Cursor { chunk: at, index });
        true
    }

    pub(crate) fn remove_at(&mut self, at: Cursor) {
        let chunk = &mut self.chunks[at.chunk];
        chunk.remove(at.index);
        if let Some(top) = chunk.last() {
            self.tops[at.chunk] = *top;
        } else {
            self.chunks.remove(at.chunk);
            self.tops.remove(at.chunk);
        }
    }

    /// The first key of at least this size.
    pub(crate) fn at_least(&self, size: u64) -> Option<Cursor> {
        let chunk = self.tops.partition_point(|top| top.size < size);
        let keys = self.chunks.get(chunk)?;
        let index = keys.partition_point(|key| key.size < size);
        Some(Cursor { chunk, index })
    }

    pub(crate) fn get(&self, at: Cursor) -> BlockId {
        self.chunks[at.chunk][at.index].block
    }

    pub(crate) fn after(&self, at: Cursor) -> Option<Cursor> {
        if at.index + 1 < self.chunks[at.chunk].len() {
            let index = at.index + 1;
            return Some(Cursor { index, ..at });
        }
        let chunk = at.chunk + 1;
        (chunk < self.chunks.len()).then_some(Cursor { chunk, index: 0 })
    }

    /// All blocks, in order.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = BlockId> {
        self.chunks.iter().flatten().map(|key| key.block)
    }

    /// Blocks below a size, largest first.
    pub(crate) fn below(&self, size: u64) -> impl Iterator<Item = BlockId> {
        let below = self
            .chunks
            .iter()
            .flatten()
            .rev()
            .skip_while(move |key| key.size >= size);
        below.map(|key| key.block)
    }
}
