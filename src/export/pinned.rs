//! Almost empty segments and the call sites that pin them, as a part of the allocator's state.

use serde_json::{Value as Json, json};

use super::blocks::{Block, Table, paragraph, text};
use super::json_parts::list;
use highwater_analysis::{PINNED_PERCENT, PinnedSegments};
use highwater_model::units::{counted, grouped};

pub(super) fn pinned_json(pinned: &PinnedSegments) -> Json {
    json!({
        "event": pinned.event.0,
        "live_percent_at_most": PINNED_PERCENT,
        "segments": pinned.segments,
        "reserved_bytes": pinned.reserved.get(),
        "live_bytes": pinned.live.get(),
        "gap_bytes": (pinned.reserved - pinned.live).get(),
        "blocks": pinned.blocks,
        "call_sites": list(&pinned.sites, |site| {
            json!({
                "name": site.name,
                "segments": site.segments,
                "blocks": site.blocks,
                "live_bytes": site.live.get(),
                "pinned_bytes": site.pinned.get(),
                "pinned_alone_bytes": site.pinned_alone.get(),
            })
        }),
    })
}

/// A sentence, and the call sites that pin most.
pub(super) fn pinned_blocks(pinned: &PinnedSegments, most: usize) -> Vec<Block> {
    let share = format!("{PINNED_PERCENT}\u{a0}%");
    if pinned.segments == 0 {
        return vec![paragraph(format!("No segment is almost empty (at most {share} live)."))];
    }
    let sentence = format!(
        "Almost empty (at most {share} live) after event {}: {} reserved for {} of live blocks in {}; {} in {} pin them.",
        pinned.event,
        pinned.reserved,
        pinned.live,
        counted(pinned.segments, "segment"),
        counted(pinned.blocks, "block"),
        counted(pinned.sites.len() as u64, "call site"),
    );
    let mut table = Table::new(&["pinned by", ">segments", ">pinned", ">by it alone", ">blocks", ">live"]);
    for site in pinned.sites.iter().take(most) {
        table.row(&[
            &site.name,
            &grouped(site.segments),
            &site.pinned,
            &site.pinned_alone,
            &grouped(site.blocks),
            &site.live,
        ]);
    }
    let mut blocks = vec![paragraph(sentence), table.into()];
    let left = pinned.sites.len().saturating_sub(most);
    if left > 0 {
        blocks.push(Block::Note(text(format!("and {} more", grouped(left as u64)))));
    }
    blocks
}
