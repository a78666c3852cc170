//! Offsets for drawing blocks without addresses: best fit over free extents, lowest offset on a tie, otherwise on top.
//! Not a model of any allocator.

use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Default)]
pub(super) struct Stack {
    /// Free extents by size and offset.
    by_size: BTreeSet<(u64, u64)>,
    /// Free extents by offset: their size.
    free: BTreeMap<u64, u64>,
    /// Held extents by offset: their size.
    held: BTreeMap<u64, u64>,
    top: u64,
}

impl Stack {
    /// An offset for this many bytes. O(log blocks).
    pub(super) fn take(&mut self, bytes: u64) -> u64 {
        // Every block has a separate offset, even an empty one.
        let bytes = bytes.max(1);
        let fitting = self.by_size.range((bytes, 0)..).next().copied();
        let offset = if let Some((size, offset)) = fitting {
            self.remove_free(offset, size);
            if size > bytes {
                self.add_free(offset + bytes, size - bytes);
            }
            offset
        } else {
            let offset = self.top;
            self.top = self.top.saturating_add(bytes);
            offset
        };
        self.held.insert(offset, bytes);
        offset
    }

    /// Frees the extent at an offset. O(log blocks).
    pub(super) fn free(&mut self, offset: u64) {
        let Some(size) = self.held.remove(&offset) else { return };
        let (mut start, mut end) = (offset, offset.saturating_add(size));
        if let Some((before, size)) = self.free.range(..start).next_back().map(|(at, size)| (*at, *size))
            && before + size == start
        {
            self.remove_free(before, size);
            start = before;
        }
        if let Some(size) = self.free.get(&end).copied() {
            self.remove_free(end, size);
            end += size;
        }
        if end == self.top {
            self.top = start;
        } else {
            self.add_free(start, end - start);
        }
    }

    fn add_free(&mut self, offset: u64, size: u64) {
        self.free.insert(offset, size);
        self.by_size.insert((size, offset));
    }

    fn remove_free(&mut self, offset: u64, size: u64) {
        self.free.remove(&offset);
        self.by_size.remove(&(size, offset));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_extents_are_reused() {
        let mut stack = Stack::default();
        assert_eq!([4, 2, 4].map(|bytes| stack.take(bytes)), [0, 4, 6]);
        stack.free(0);
        assert_eq!(stack.take(3), 0);
        stack.free(4);
        assert_eq!(stack.take(3), 3);
        stack.free(6);
        assert_eq!(stack.take(1), 6);
    }
}
