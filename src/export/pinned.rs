//! Partly free segments and the call sites that pin them, as a part of the allocator's state.

use super::blocks::{Block, paragraph};
use super::record::{Record, Rows};
use highwater_analysis::PinnedSegments;

pub(super) fn pinned_record(pinned: &PinnedSegments) -> Record<'_> {
    Record::new()
        .key("event", pinned.event)
        .key("live_percent_at_most", pinned.percent)
        .key("segments", pinned.segments)
        .key("reserved_bytes", pinned.reserved)
        .key("live_bytes", pinned.live)
        .key("gap_bytes", pinned.gaps())
        .key("blocks", pinned.blocks)
        .key("call_sites", sites(pinned))
}

fn sites(pinned: &PinnedSegments) -> Rows<'_> {
    Rows::new(&pinned.sites, |site| {
        Record::new()
            .field("name", "pinned by", &site.name)
            .field("segments", ">segments", site.segments)
            .field("blocks", ">blocks", site.blocks)
            .field("live_bytes", ">live", site.live)
            .field("pinned_bytes", ">pinned", site.pinned)
            .field("pinned_alone_bytes", ">by it alone", site.pinned_alone)
    })
}

/// A sentence, and the call sites that pin most.
pub(super) fn pinned_blocks(pinned: &PinnedSegments, most: usize) -> Vec<Block> {
    let sentence = std::iter::once(paragraph(pinned.sentence()));
    sentence.chain(sites(pinned).blocks(most)).collect()
}
