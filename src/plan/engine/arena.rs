//! Offsets: top-level blocks in sequence, children within their parents, then separate buffers, then graph outputs,
//! then graph inputs, small ones first.
//!
//! Invariants: the top-level parts cover the arena from its floor to its end without a gap. O(n log n).

use super::block_reuse::Blocks;
use super::demand::Demand;
use super::segments::Region;
use super::{Assigner, EngineBlock};

#[derive(Clone, Debug)]
pub(super) struct Arena {
    pub(super) winner: Assigner,
    blocks: Blocks,
    /// By block.
    offsets: Vec<u64>,
    sizes: Vec<u64>,
    /// Of separate buffers, in the demand's order.
    separate_offsets: Vec<u64>,
    /// By position among the graph's inputs and outputs.
    pub(super) io_offsets: Vec<u64>,
    /// Top-level parts, ascending.
    pub(super) regions: Vec<Region>,
    /// The end of the arena.
    pub(super) end: u64,
    /// The end of graph inputs and outputs.
    pub(super) total: u64,
}

impl Arena {
    pub(super) fn new(demand: &Demand, blocks: Blocks, winner: Assigner) -> Self {
        let mut arena = Self {
            winner,
            sizes: sizes(demand, &blocks),
            offsets: vec![0; blocks.all.len()],
            blocks,
            separate_offsets: Vec::with_capacity(demand.separate.len()),
            io_offsets: vec![0; demand.n_io],
            regions: Vec::new(),
            end: 0,
            total: 0,
        };
        if demand.floor > 0 {
            arena.region(demand.floor.next_multiple_of(demand.unit), false);
        }
        arena.place_blocks();
        for (_, bytes) in &demand.separate {
            let offset = arena.region(*bytes, true);
            arena.separate_offsets.push(offset);
        }
        // The last fixed end need not fill its unit.
        if demand.requests.is_empty() && demand.separate.is_empty() {
            arena.end = demand.floor;
        }
        arena.place_io(demand);
        arena
    }

    /// Appends a top-level part.
    fn region(&mut self, size: u64, is_separate: bool) -> u64 {
        let base = self.end;
        self.regions.push(Region {
            base,
            size,
            is_separate,
        });
        self.end += size;
        base
    }

    fn place_blocks(&mut self) {
        for position in 0..self.blocks.list.len() {
            let number = self.blocks.list[position] as usize;
            let block = &self.blocks.all[number];
            if !block.is_child && !block.is_io {
                self.offsets[number] = self.region(self.sizes[number], false);
            }
        }
        // A parent became a child, if at all, before it took its own children.
        let mut next = self.offsets.clone();
        for (child, parent) in &self.blocks.nested {
            let (child, parent) = (*child as usize, *parent as usize);
            let offset = next[parent];
            next[parent] += self.sizes[child];
            self.offsets[child] = offset;
            next[child] = offset;
        }
    }

    fn place_io(&mut self, demand: &Demand) {
        let all = &self.blocks.all;
        let io = self
            .blocks
            .list
            .iter()
            .copied()
            .filter(|block| all[*block as usize].is_io);
        let (mut inputs, mut order): (Vec<u32>, Vec<u32>) = io.partition(|block| all[*block as usize].is_input);
        inputs.sort_by_key(|block| self.sizes[*block as usize]);
        order.append(&mut inputs);
        self.total = self.end;
        for block in order {
            self.offsets[block as usize] = self.total;
            for member in &self.blocks.all[block as usize].members {
                let source = demand.requests[member.request as usize].source;
                self.io_offsets[source as usize] = self.total;
            }
            self.total += self.sizes[block as usize];
        }
    }

    /// The offset of each shape.
    pub(super) fn item_offsets(&self, demand: &Demand) -> Vec<u64> {
        let mut offsets = vec![0; demand.n_items];
        for (item, offset) in &demand.fixed {
            offsets[*item as usize] = *offset;
        }
        for ((item, _), offset) in demand.separate.iter().zip(&self.separate_offsets) {
            offsets[*item as usize] = *offset;
        }
        for (block, offset) in self.blocks.all.iter().zip(&self.offsets) {
            for member in block.members.iter().filter(|_| !block.is_io) {
                offsets[demand.requests[member.request as usize].source as usize] = *offset;
            }
        }
        offsets
    }

    /// All blocks in the order of the list.
    pub(super) fn listed_blocks(&self) -> Vec<EngineBlock> {
        let listed = self.blocks.list.iter().map(|number| {
            let block = &self.blocks.all[*number as usize];
            EngineBlock {
                offset: self.offsets[*number as usize],
                size: self.sizes[*number as usize],
                is_child: block.is_child,
                is_io: block.is_io,
            }
        });
        listed.collect()
    }
}

/// The larger of the largest member and the sum of the children, in whole units.
fn sizes(demand: &Demand, blocks: &Blocks) -> Vec<u64> {
    let mut sizes: Vec<u64> = blocks.all.iter().map(|block| block.align).collect();
    let mut of_children = vec![0_u64; sizes.len()];
    // Later children can only be deeper.
    for (child, parent) in blocks.nested.iter().rev() {
        let size = sizes[*child as usize].max(of_children[*child as usize]);
        sizes[*child as usize] = size;
        of_children[*parent as usize] += size;
    }
    for (size, of_children) in sizes.iter_mut().zip(of_children) {
        *size = (*size).max(of_children).next_multiple_of(demand.unit);
    }
    sizes
}
