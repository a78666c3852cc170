//! Explanations for people: the stack that fixes the footprint, gaps, and the reasons of single offsets.

use highwater_export::{Table, reused};
use highwater_model::units::{Bytes, percent_text};
use highwater_model::workload::ProblemEntry;
use highwater_plan::{Fragmentation, PeakChain, PlacementReason, ReuseEdge};

/// Most rows of a table; JSON has all of them.
const MOST_ROWS: usize = 40;

fn id(entry: &ProblemEntry, buffer: u32) -> &str {
    entry.ids.get(buffer as usize)
}

/// The stack that fixes the footprint.
pub(super) fn chain(chain: &PeakChain, entry: &ProblemEntry) -> String {
    let mut out = String::from("Stacked buffers that define the arena size, top first\n");
    let mut table = Table::new(&[
        "buffer",
        ">offset",
        ">bytes",
        ">from",
        ">to",
        ">gap below",
        "at the peak",
    ]);
    for link in chain.links.iter().take(MOST_ROWS) {
        let buffer = &entry.problem.buffers[link.buffer as usize];
        let gap = Some(link.gap_below.get()).filter(|bytes| *bytes > 0);
        table.row(&[
            &id(entry, link.buffer),
            &link.offset,
            &link.size.get(),
            &entry.time(buffer.lower),
            &entry.time(buffer.upper),
            &gap.map_or(String::new(), |bytes| bytes.to_string()),
            &if link.is_live_at_peak { "live" } else { "" },
        ]);
    }
    out.push_str(&table.text());
    left_out(&mut out, chain.links.len());
    let sizes = chain.links.iter().map(|link| link.size.get() + link.gap_below.get());
    let sum: u64 = sizes.sum();
    let share = |bytes: u64| percent_text(Bytes(bytes).percent_of(Bytes(sum)));
    if let Some(step) = chain.peak_step {
        let (live, gaps) = (chain.live_at_peak.get(), chain.gap_bytes.get());
        out.push_str(&format!(
            "total {sum} bytes: {live} ({}) live at step {} (peak live {}), {gaps} ({}) gaps\n",
            share(live),
            entry.time(step),
            chain.peak_live.get(),
            share(gaps),
        ));
    }
    out
}

pub(super) fn fragmentation(fragmentation: &Fragmentation, entry: &ProblemEntry) -> String {
    let mut out = format!(
        "Fragmentation: the arena is {} bytes ({}) larger than peak live\n",
        fragmentation.lost().get(),
        percent_text(fragmentation.footprint.percent_over(fragmentation.peak_live)),
    );
    let Some(at) = fragmentation.at_footprint.map(|at| &fragmentation.steps[at]) else {
        return out;
    };
    out.push_str(&format!(
        "step of the peak {}: {} bytes live, {} in {} gap{}, the largest {}\n",
        entry.time(at.step),
        at.live.get(),
        at.gap_bytes().get(),
        at.n_gaps,
        if at.n_gaps == 1 { "" } else { "s" },
        at.largest_gap.get(),
    ));
    if !fragmentation.gaps.is_empty() {
        let mut table = Table::new(&[">gap at", ">bytes", "below it", "above it"]);
        for gap in fragmentation.gaps.iter().take(MOST_ROWS) {
            let below = gap.below.map_or("", |below| id(entry, below));
            table.row(&[&gap.offset, &gap.size.get(), &below, &id(entry, gap.above)]);
        }
        out.push_str(&table.text());
        left_out(&mut out, fragmentation.gaps.len());
    }
    out
}

/// The reasons for the offset of a buffer; `edges` are those of the whole plan.
pub(super) fn why(why: &PlacementReason, edges: &[ReuseEdge], entry: &ProblemEntry) -> String {
    let buffer = &entry.problem.buffers[why.buffer as usize];
    let mut out = format!(
        "Why \"{}\" ({} bytes, steps {} to {}) is at {}\n",
        id(entry, why.buffer),
        buffer.size.get(),
        entry.time(buffer.lower),
        entry.time(buffer.upper),
        why.offset
    );
    if !why.moves_with.is_empty() {
        let names: Vec<&str> = why.moves_with.iter().map(|member| id(entry, *member)).collect();
        out.push_str(&format!("same address as: {}\n", names.join(", ")));
    }
    if why.is_fixed {
        out.push_str("fixed by the file\n");
    }
    if why.offset == 0 {
        out.push_str("nothing is below it\n");
    }
    if !why.blockers.is_empty() {
        let mut table = Table::new(&[
            "neighbour",
            ">offset",
            ">end",
            ">overlap from",
            ">to",
            ">excludes offsets from",
            ">to",
        ]);
        for blocker in why.blockers.iter().take(MOST_ROWS) {
            table.row(&[
                &id(entry, blocker.buffer),
                &blocker.offset,
                &blocker.offset.saturating_add(blocker.size.get()),
                &entry.time(blocker.lower),
                &entry.time(blocker.upper),
                &blocker.from,
                &blocker.to.saturating_sub(1),
            ]);
        }
        out.push_str(&table.text());
        left_out(&mut out, why.blockers.len());
    }
    match why.lowest_offset {
        Some(offset) => out.push_str(&format!("a lower offset is possible: {offset}\n")),
        None if why.offset > 0 => out.push_str("together they exclude every lower offset\n"),
        None => {}
    }
    let (from, to) = reused(why, edges);
    for (what, edges) in [("reuses", from), ("reused by", to)] {
        let other = |edge: &ReuseEdge| {
            if edge.later == why.buffer {
                edge.earlier
            } else {
                edge.later
            }
        };
        let listed = edges.iter().take(MOST_ROWS);
        let names: Vec<String> = listed
            .map(|edge| format!("{} ({} bytes)", id(entry, other(edge)), edge.bytes.get()))
            .collect();
        if !names.is_empty() {
            out.push_str(&format!("{what} {}\n", names.join(", ")));
        }
        left_out(&mut out, edges.len());
    }
    out
}

fn left_out(out: &mut String, count: usize) {
    if count > MOST_ROWS {
        out.push_str(&format!(
            "... and {} more (--format json lists all)\n",
            count - MOST_ROWS
        ));
    }
}
