//! Partly free segments: device memory that stays reserved beside live blocks, by the call sites of these blocks.
//!
//! An allocator gives back whole segments, so one small block keeps ("pins") the rest of its segment. Segments without
//! any block are not pinned: emptying the cache releases them.

use std::collections::BTreeMap;

use highwater_model::units::{Bytes, Step, counted};
use highwater_model::workload::Recording;

use super::allocator_state::{AllocatorState, SegmentState};

/// The most live percent of segments that are told of: almost empty, half empty, partly free. The first one whose segments
/// have at least half of all gaps is told, so that what is easily given back comes first.
const PERCENTS: [u64; 3] = [10, 50, 100];

/// What pins segments at one event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PinnedSegments {
    pub event: Step,
    /// The segments are live to at most so many percent.
    pub percent: u64,
    /// Whether the file states the bytes of all blocks; else live bytes are lower and gaps upper bounds.
    pub is_exact: bool,
    /// Segments that hold a block and have gaps.
    pub segments: u64,
    pub reserved: Bytes,
    /// Bytes of their blocks, requested bytes where no other are stated.
    pub live: Bytes,
    pub blocks: u64,
    /// Those with the most pinned bytes first.
    pub sites: Vec<PinningSite>,
}

/// Blocks of one call site in these segments.
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
    /// The emptiest segments that have at least half of all gaps in a state.
    pub fn new(recording: &Recording, state: &AllocatorState) -> Self {
        let mut of_shares = PERCENTS.map(|percent| Self::up_to(recording, state, percent));
        let [.., all] = &of_shares;
        let half = Bytes(all.gaps().get().div_ceil(2));
        let told = of_shares.iter().position(|found| found.gaps() >= half);
        std::mem::take(&mut of_shares[told.unwrap_or(0)])
    }

    /// Those that are live to at most `percent`.
    fn up_to(recording: &Recording, state: &AllocatorState, percent: u64) -> Self {
        let mut found = Self {
            event: state.event,
            percent,
            is_exact: state.sums.is_exact(),
            ..Self::default()
        };
        let mut sites: BTreeMap<&str, PinningSite> = BTreeMap::new();
        for segment in state.segments.iter().filter(|segment| is_up_to(segment, percent)) {
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
        found
    }

    /// Those where most bytes are reserved; `None` without segments.
    pub fn at_peak(recording: &Recording) -> Option<Self> {
        let state = AllocatorState::new(recording, recording.peaks().reserved.1?)?;
        Some(Self::new(recording, &state))
    }

    pub fn gaps(&self) -> Bytes {
        self.reserved - self.live
    }

    /// The sign in front of gaps.
    pub const fn at_most(&self) -> &'static str {
        if self.is_exact { "" } else { "\u{2264}\u{a0}" }
    }

    /// What is kept for what, in a sentence.
    pub fn sentence(&self) -> String {
        if self.segments == 0 {
            return format!("After event {} no segment has gaps beside live blocks.", self.event);
        }
        let share = match self.percent {
            10 => "Almost empty (at most 10\u{a0}% live)",
            50 => "At most half full",
            _ => "Partly free",
        };
        format!(
            "{share} after event {}: {} reserved for {}{} of live blocks in {}; {} in {} pin them.",
            self.event,
            self.reserved,
            if self.is_exact { "" } else { "\u{2265} " },
            self.live,
            counted(self.segments, "segment"),
            counted(self.blocks, "block"),
            counted(self.sites.len() as u64, "call site"),
        )
    }
}

fn live(segment: &SegmentState) -> Bytes {
    segment.sums.active + segment.sums.awaiting_free
}

fn is_up_to(segment: &SegmentState, percent: u64) -> bool {
    let has_block = segment.sums.active_blocks + segment.sums.awaiting_blocks > 0;
    let live = live(segment);
    has_block && live < segment.bytes && live.get().saturating_mul(100) <= segment.bytes.get().saturating_mul(percent)
}
