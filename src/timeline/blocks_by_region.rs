//! The blocks of each region of a lane.
//!
//! In: the region of each block. Out: the blocks by region, in the order of blocks. What happens within regions can be
//! found one region after the other, in a part of the memory that all of them would need.

pub(super) struct BlocksByRegion {
    blocks: Vec<u32>,
    /// The start of each region in `blocks`, and the end of the last.
    starts: Vec<usize>,
}

impl BlocksByRegion {
    /// `region_of` gives the region of each block, below `n_regions`. O(blocks + regions).
    pub(super) fn new(region_of: &[u32], n_regions: usize) -> Self {
        let mut starts = vec![0; n_regions + 1];
        for region in region_of {
            starts[*region as usize + 1] += 1;
        }
        for region in 0..n_regions {
            starts[region + 1] += starts[region];
        }
        let mut next = starts.clone();
        let mut blocks = vec![0; region_of.len()];
        for (block, region) in (0..).zip(region_of) {
            let place = &mut next[*region as usize];
            blocks[*place] = block;
            *place += 1;
        }
        Self { blocks, starts }
    }

    /// Region by region.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u32]> {
        self.starts.windows(2).map(|ends| &self.blocks[ends[0]..ends[1]])
    }
}

#[cfg(test)]
mod tests {
    use super::BlocksByRegion;

    #[test]
    fn every_block_is_in_its_region() {
        let blocks = BlocksByRegion::new(&[2, 0, 2, 0, 3], 5);
        let all: Vec<&[u32]> = blocks.iter().collect();
        assert_eq!(all, [&[1, 3][..], &[], &[0, 2], &[4], &[]]);
        assert_eq!(BlocksByRegion::new(&[], 0).iter().count(), 0);
    }
}
