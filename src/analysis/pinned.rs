//! Almost empty segments: device memory that stays reserved for a few live blocks, by the call sites of these blocks.
//!
//! An allocator gives back whole segments, so one small block keeps ("pins") the rest of its segment. Segments without
//! any block are not pinned: emptying the cache releases them.

use std::collections::BTreeMap;

use highwater_model::units::{Bytes, Step};
use highwater_model::workload::Recording;

use super::allocator_state::{AllocatorState, SegmentState};

/// A segment is almost empty where its live bytes are at most this many percent.
pub const PINNED_PERCENT: u64 = 10;

/// What pins segments at one event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PinnedSegments {
    pub event: Step,
    /// Almost empty segments that hold a block.
    pub segments: u64,
    pub reserved: Bytes,
    /// Bytes of their blocks, requested bytes where no other are stated.
    pub live: Bytes,
    pub blocks: u64,
    /// Those with the most pinned bytes first.
    pub sites: Vec<PinningSite>,
}

/// Blocks of one call site in almost empty segments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PinningSite {
    /// The call site; the name of the blocks where none is known.
    pub name: String,
    pub blocks: u64,
    pub live: Bytes,
    /// Segments that hold at least one of the blocks.
    pub segments: u64,
    /// Gaps of these segments.
    pub pinned: Bytes,
    /// Gaps of the segments that hold blocks of this call site alone.
    pub pinned_alone: Bytes,
}

impl PinnedSegments {
    /// The almost empty segments after an event, those with a live share of at most `percent`; `None` without segments or
    /// beyond the end.
    pub fn new(recording: &Recording, event: Step, percent: u64) -> Option<Self> {
        let state = AllocatorState::new(recording, event)?;
        let mut found = Self {
            event,
            ..Self::default()
        };
        let mut sites: BTreeMap<&str, PinningSite> = BTreeMap::new();
        for segment in state
            .segments
            .iter()
            .filter(|segment| is_almost_empty(segment, percent))
        {
            let live = live(segment);
            let gaps = segment.bytes - live;
            found.segments += 1;
            found.reserved += segment.bytes;
            found.live += live;
            let mut of_segment: BTreeMap<&str, (u64, Bytes)> = BTreeMap::new();
            for piece in &segment.pieces {
                let block = piece.block.and_then(|block| recording.blocks.get(block as usize));
                if let Some(block) = block {
                    let site = of_segment.entry(recording.block_name(block)).or_default();
                    site.0 += 1;
                    site.1 += piece.bytes;
                    found.blocks += 1;
                }
            }
            let is_alone = of_segment.len() == 1;
            for (name, (blocks, bytes)) in of_segment {
                let site = sites.entry(name).or_default();
                site.blocks += blocks;
                site.live += bytes;
                site.segments += 1;
                site.pinned += gaps;
                if is_alone {
                    site.pinned_alone += gaps;
                }
            }
        }
        let named = sites.into_iter().map(|(name, site)| PinningSite {
            name: name.to_owned(),
            ..site
        });
        found.sites = named.collect();
        found.sites.sort_by_key(|site| std::cmp::Reverse(site.pinned));
        Some(found)
    }

    /// The pinned segments where most bytes are reserved.
    pub fn at_peak(recording: &Recording, percent: u64) -> Option<Self> {
        Self::new(recording, recording.peaks().reserved.1?, percent)
    }
}

fn live(segment: &SegmentState) -> Bytes {
    segment.sums.active + segment.sums.awaiting_free
}

fn is_almost_empty(segment: &SegmentState, percent: u64) -> bool {
    let has_block = segment.sums.active_blocks + segment.sums.awaiting_blocks > 0;
    has_block && live(segment).get().saturating_mul(100) <= segment.bytes.get().saturating_mul(percent)
}
