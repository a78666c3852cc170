//! Why a block has its offset: the blocks right below it, and whether there is room further down.
//!
//! Blocks of its region that are live together with it and lie below it decide. The highest of their tops is the floor:
//! the block rests on those that reach it. If a gap between them is large enough over the block's whole life, the block
//! could be lower without moving others. Tops are rounded up to the region's alignment. O(classes log blocks + blocks
//! live together with it).

use super::block::LaneView;
use super::index::Least;
use highwater_model::units::Bytes;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Support {
    /// Display address of the highest top below the block, or the bottom of its region.
    pub floor: u64,
    /// Blocks whose top is the floor, longest overlap first; empty where the floor is the region's bottom.
    pub below: Vec<u32>,
    /// The lowest display address below its own at which it would fit for its whole life.
    pub room: Option<u64>,
}

impl LaneView {
    /// Empty for an unknown block.
    pub fn support(&self, block: u32) -> Support {
        let blocks = &self.blocks;
        let idx = block as usize;
        if idx >= blocks.len() {
            return Support::default();
        }
        let (start, end, base) = (blocks.start[idx], blocks.end[idx], blocks.base.at(idx));
        let region = &self.regions[blocks.span[idx] as usize];
        // The lowest address for a block above `other`.
        let top = |other: usize| {
            let above = blocks.base.at(other).saturating_add(blocks.bytes.at(other));
            let offset = Bytes(above.saturating_sub(region.base)).align_up(region.alignment);
            region.base.saturating_add(offset.get())
        };
        let met = blocks.met((f64::from(start), f64::from(end)), Least::default());
        let mut beneath: Vec<usize> = met
            .filter(|other| blocks.span[*other] == blocks.span[idx] && blocks.base.at(*other) < base)
            .collect();
        beneath.sort_by_key(|other| (blocks.base.at(*other), *other));
        let mut floor = region.base;
        let mut room = None;
        for other in &beneath {
            if room.is_none() && blocks.base.at(*other) >= floor.saturating_add(blocks.bytes.at(idx)) {
                room = Some(floor);
            }
            floor = floor.max(top(*other));
        }
        let together = |other: usize| blocks.end[other].min(end) - blocks.start[other].max(start);
        let mut below: Vec<usize> = beneath.into_iter().filter(|other| top(*other) == floor).collect();
        below.sort_by_key(|other| (std::cmp::Reverse(together(*other)), *other));
        Support {
            floor,
            below: below
                .into_iter()
                .filter_map(|other| u32::try_from(other).ok())
                .collect(),
            room: room.or((floor < base).then_some(floor)),
        }
    }
}
