//! Explanations for people: the stack that fixes the footprint, gaps, and the reasons of single offsets.

use highwater_export::{Table, WireChain, WireEdge, WireFragmentation, WireWhy};
use highwater_model::units::{Bytes, percent_text};

/// Most rows of a table; JSON has all of them.
const MOST_ROWS: usize = 40;

/// The stack that fixes the footprint.
pub(super) fn chain(chain: &WireChain) -> String {
    let mut out = String::from("What holds the footprint, from the top: each buffer rests on the next one\n");
    let mut table = Table::new(&[
        "buffer",
        ">offset",
        ">bytes",
        ">from",
        ">to",
        ">hole below",
        "at the peak",
    ]);
    for link in chain.links.iter().take(MOST_ROWS) {
        let gap = Some(link.hole_below_bytes).filter(|bytes| *bytes > 0);
        table.row(&[
            &link.buffer,
            &link.offset,
            &link.bytes,
            &link.lower,
            &link.upper,
            &gap.map_or(String::new(), |bytes| bytes.to_string()),
            &if link.live_at_peak { "live" } else { "" },
        ]);
    }
    out.push_str(&table.text());
    left_out(&mut out, chain.links.len());
    let sum: u64 = chain.links.iter().map(|link| link.bytes + link.hole_below_bytes).sum();
    let share = |bytes: u64| percent_text(share_of(bytes, sum));
    if let Some(step) = chain.peak_live_step {
        out.push_str(&format!(
            "of its {} bytes {} ({}) are live at step {step}, where most bytes are live ({}), and {} ({}) are holes\n",
            sum,
            chain.live_at_peak_bytes,
            share(chain.live_at_peak_bytes),
            chain.peak_live_bytes,
            chain.hole_bytes,
            share(chain.hole_bytes),
        ));
    }
    out
}

pub(super) fn fragmentation(fragmentation: &WireFragmentation) -> String {
    let footprint = Bytes(fragmentation.footprint_bytes);
    let peak = Bytes(fragmentation.peak_live_bytes);
    let mut out = format!(
        "Fragmentation: the footprint is {} bytes ({}) above the peak of live bytes\n",
        fragmentation.lost_bytes,
        percent_text(footprint.percent_over(peak)),
    );
    let Some(at) = &fragmentation.at_footprint else {
        return out;
    };
    out.push_str(&format!(
        "the footprint is reached at step {}: {} bytes live, {} in {} hole{}, the largest {}\n",
        at.step,
        at.live_bytes,
        at.hole_bytes,
        at.holes,
        if at.holes == 1 { "" } else { "s" },
        at.largest_hole_bytes,
    ));
    if !fragmentation.holes.is_empty() {
        let mut table = Table::new(&[">hole at", ">bytes", "below it", "above it"]);
        for hole in fragmentation.holes.iter().take(MOST_ROWS) {
            let below = hole.below.as_deref().unwrap_or_default();
            table.row(&[&hole.offset, &hole.bytes, &below, &hole.above]);
        }
        out.push_str(&table.text());
        left_out(&mut out, fragmentation.holes.len());
    }
    out
}

/// The reasons for the offset of a buffer.
pub(super) fn why(why: &WireWhy) -> String {
    let mut out = format!(
        "Why \"{}\" ({} bytes, steps {} to {}) stands at {}\n",
        why.buffer, why.bytes, why.lower, why.upper, why.offset
    );
    if !why.moves_with.is_empty() {
        out.push_str(&format!("at one address with: {}\n", why.moves_with.join(", ")));
    }
    if why.fixed {
        out.push_str("the file fixes it there\n");
    }
    if why.offset == 0 {
        out.push_str("there is nothing below it\n");
    }
    if !why.blockers.is_empty() {
        let mut table = Table::new(&[
            "neighbour",
            ">offset",
            ">end",
            ">both live from",
            ">to",
            ">refuses offsets from",
            ">to",
        ]);
        for blocker in why.blockers.iter().take(MOST_ROWS) {
            table.row(&[
                &blocker.buffer,
                &blocker.offset,
                &blocker.offset.saturating_add(blocker.bytes),
                &blocker.lower,
                &blocker.upper,
                &blocker.refuses_from,
                &blocker.refuses_below.saturating_sub(1),
            ]);
        }
        out.push_str(&table.text());
        left_out(&mut out, why.blockers.len());
    }
    match why.could_stand_at {
        Some(offset) => out.push_str(&format!("it could stand lower, at {offset}: nobody refuses that\n")),
        None if why.offset > 0 => out.push_str("together they refuse every lower offset\n"),
        None => {}
    }
    reused(&mut out, "it took over bytes of", &why.reuses, |edge| &edge.earlier);
    reused(&mut out, "it passed bytes on to", &why.reused_by, |edge| &edge.later);
    out
}

fn reused(out: &mut String, what: &str, edges: &[WireEdge], name: impl Fn(&WireEdge) -> &String) {
    if edges.is_empty() {
        return;
    }
    let listed = edges.iter().take(MOST_ROWS);
    let names: Vec<String> = listed
        .map(|edge| format!("{} ({} bytes)", name(edge), edge.bytes))
        .collect();
    out.push_str(&format!("{what} {}\n", names.join(", ")));
    left_out(out, edges.len());
}

fn left_out(out: &mut String, count: usize) {
    if count > MOST_ROWS {
        out.push_str(&format!(
            "... and {} more (--format json lists all)\n",
            count - MOST_ROWS
        ));
    }
}

#[expect(clippy::cast_precision_loss, reason = "a percentage")]
fn share_of(bytes: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        bytes as f64 / whole as f64 * 100.0
    }
}
