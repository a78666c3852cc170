//! The arena of the eager interpreter: lowest-address first fit, no alignment. Allocation is O(blocks), queries and
//! frees O(log blocks).

use std::collections::BTreeMap;

#[derive(Debug)]
pub(super) struct Arena {
    blocks: BTreeMap<u64, u64>,
    offsets: Vec<u64>,
    high_water: u64,
}

impl Arena {
    pub(super) fn new(n_tensors: usize) -> Self {
        Self {
            blocks: BTreeMap::new(),
            offsets: vec![0; n_tensors],
            high_water: 0,
        }
    }

    /// A tensor of 0 bytes has no place.
    pub(super) fn take(&mut self, tensor: u32, bytes: u64) {
        if bytes == 0 {
            return;
        }
        let mut offset = 0_u64;
        for (block, size) in &self.blocks {
            if block - offset >= bytes {
                break;
            }
            offset = block.saturating_add(*size);
        }
        self.offsets[tensor as usize] = offset;
        self.blocks.insert(offset, bytes);
        self.high_water = self.high_water.max(offset.saturating_add(bytes));
    }

    pub(super) fn free(&mut self, tensor: u32, bytes: u64) {
        if bytes > 0 {
            self.blocks.remove(&self.offsets[tensor as usize]);
        }
    }

    /// Adjacent free bytes on both sides; the right ones end at the highest byte ever used.
    pub(super) fn adjacent_free_bytes(&self, tensor: u32, bytes: u64) -> u64 {
        if bytes == 0 {
            return 0;
        }
        let offset = self.offsets[tensor as usize];
        let end = offset.saturating_add(bytes);
        let left = self.blocks.range(..offset).next_back();
        let left_end = left.map_or(0, |(block, size)| block.saturating_add(*size));
        let right = self
            .blocks
            .range(end..)
            .next()
            .map_or(self.high_water, |(block, _)| *block);
        (offset - left_end).saturating_add(right.saturating_sub(end))
    }
}
