//! The ranks of a job at an explained peak: a row per recording, and what differs between ranks.

use crate::blocks::{Block, paragraph};
use crate::record::{MORE_WITH_TOP, Record, Rows, known};
use highwater_model::units::{Bytes, grouped, signed_bytes};
use highwater_timeline::{GroupSpread, RankPeak, RankSpread};

/// `most` rows of each list.
pub(super) fn rank_blocks(spread: &RankSpread, most: usize) -> Vec<Block> {
    let sentence = spread.sentence().map(|sentence| paragraph(format!("{sentence}.")));
    let mut blocks: Vec<Block> = sentence.into_iter().collect();
    blocks.extend(rank_rows(spread).blocks(most));
    blocks.extend(spread_rows(spread).blocks(most));
    blocks
}

pub(super) fn rank_rows(spread: &RankSpread) -> Rows<'_> {
    let difference = |live: Bytes| i128::from(live.get()) - i128::from(spread.median.get());
    let count = grouped(spread.ranks.len() as u64);
    Rows::new(&spread.ranks, move |rank| {
        Record::new()
            .field("name", "recording", &rank.name)
            .field("rank", ">rank", rank.rank)
            .field("peak_live_bytes", ">peak live", rank.live)
            .shown(">exact", rank.live.exact())
            .shown(">from median", signed_bytes(difference(rank.live)))
            .field("peak_live_step", ">event", rank.step)
            .key("peak_reserved_bytes", rank.reserved)
            .shown(">peak reserved", known(rank.reserved))
    })
    .captioned(format!("{count} recordings, highest live peak first"), "")
    .more_with(MORE_WITH_TOP)
}

/// Groups that are equal in all ranks are left out.
pub(super) fn spread_rows(spread: &RankSpread) -> Rows<'_> {
    let differing = spread.groups.iter().filter(|group| group.least != group.most);
    let differing: Vec<&GroupSpread> = differing.collect();
    Rows::indexed(differing.len(), move |position| {
        let group = differing[position];
        Record::new()
            .field("name", format!("by {}", spread.by.words()), &*group.text)
            .field("least_bytes", ">least", group.least)
            .field("median_bytes", ">median", group.median)
            .field("most_bytes", ">most", group.most)
            .field("of_most", "of", spread.ranks.get(group.of_most).map(RankPeak::label))
    })
    .captioned("Spread over ranks, each at its own peak", "")
    .more_with(MORE_WITH_TOP)
}
