//! The ranks of a job beside an explained peak: a row per recording, and what differs between ranks.

use serde_json::{Value as Json, json};

use crate::blocks::{Block, Table, bytes, paragraph, plain_text, text};
use crate::json_parts::list;
use highwater_model::units::{Bytes, grouped, signed_bytes};
use highwater_timeline::RankSpread;

/// The report for people; `most` rows of each table.
pub fn ranks_text(spread: &RankSpread, most: usize) -> String {
    plain_text(&rank_blocks(spread, most))
}

/// The blocks of a text or a report; `most` rows of each table.
pub(crate) fn rank_blocks(spread: &RankSpread, most: usize) -> Vec<Block> {
    let mut blocks: Vec<Block> = spread
        .sentence()
        .map(|sentence| paragraph(format!("{sentence}.")))
        .into_iter()
        .collect();
    blocks.push(rank_table(spread, most).into());
    let differing = spread.groups.iter().filter(|group| group.least != group.most);
    let mut table = Table::captioned(
        "Spread over ranks, each at its own peak",
        &[&format!("by {}", spread.by.words()), ">least", ">median", ">most", "of"],
    );
    let mut n_rows = 0;
    for group in differing.take(most) {
        n_rows += 1;
        let of_most = spread.ranks.get(group.of_most);
        table.cells(vec![
            text(&group.text),
            bytes(group.least),
            bytes(group.median),
            bytes(group.most),
            text(of_most.map_or_else(String::new, highwater_timeline::RankPeak::label)),
        ]);
    }
    if n_rows > 0 {
        blocks.push(table.into());
    }
    blocks
}

fn rank_table(spread: &RankSpread, most: usize) -> Table {
    let caption = format!(
        "{} recordings, highest live peak first",
        grouped(spread.ranks.len() as u64)
    );
    let headings = [
        "recording",
        ">rank",
        ">peak live",
        ">exact",
        ">from median",
        ">event",
        ">peak reserved",
    ];
    let mut table = Table::captioned(caption, &headings);
    let difference = |live: Bytes| i128::from(live.get()) - i128::from(spread.median.get());
    for rank in spread.ranks.iter().take(most) {
        table.cells(vec![
            text(&rank.name),
            text(rank.rank.map_or_else(String::new, |rank| rank.to_string())),
            bytes(rank.live),
            text(rank.live.exact()),
            text(signed_bytes(difference(rank.live))),
            text(rank.step.map_or_else(String::new, |step| grouped(u64::from(step.0)))),
            rank.reserved.map_or_else(|| text("not recorded"), bytes),
        ]);
    }
    if spread.ranks.len() > most {
        let left = grouped((spread.ranks.len() - most) as u64);
        table.cells(
            std::iter::once(text(format!("{left} more")))
                .chain((1..headings.len()).map(|_| text("")))
                .collect(),
        );
    }
    table
}

/// The spread as JSON; groups that are equal in all ranks are left out.
pub(super) fn ranks_json(spread: &RankSpread, most: usize) -> Json {
    let differing = spread.groups.iter().filter(|group| group.least != group.most);
    json!({
        "count": spread.ranks.len(),
        "median_live_bytes": spread.median.get(),
        "sentence": spread.sentence(),
        "recordings": list(spread.ranks.iter().take(most), |rank| json!({
            "name": rank.name,
            "rank": rank.rank,
            "peak_live_bytes": rank.live.get(),
            "peak_live_step": rank.step.map(|step| step.0),
            "peak_reserved_bytes": rank.reserved.map(Bytes::get),
        })),
        "groups": list(differing.take(most), |group| json!({
            "name": &*group.text,
            "least_bytes": group.least.get(),
            "median_bytes": group.median.get(),
            "most_bytes": group.most.get(),
            "of_most": spread.ranks.get(group.of_most).map(highwater_timeline::RankPeak::label),
        })),
    })
}
