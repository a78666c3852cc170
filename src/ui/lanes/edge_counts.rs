//! Counts of reuse edges by lane, and why some are not drawn.

use super::{EdgeChoice, LanesInput, LanesState};
use highwater_timeline::ReuseSide;

pub(super) struct EdgeWords {
    pub(super) text: String,
    /// `text` in two short lines.
    pub(super) short: String,
    pub(super) explanation: String,
}

impl EdgeWords {
    fn new(text: impl Into<String>, short: impl Into<String>, explanation: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            short: short.into(),
            explanation: explanation.into(),
        }
    }
}

/// Counts the edges, and explains why some or all are not drawn.
pub(super) fn edges_text(input: &LanesInput<'_>, state: &LanesState) -> EdgeWords {
    let (drawn, total) = state.edges_drawn;
    if state.marks.edges == EdgeChoice::Peak {
        let (text, short) = if drawn == total {
            (format!("all {total} drawn"), format!("{total}\nedges"))
        } else {
            let text = format!("the {drawn} largest of {total}");
            (text, format!("{drawn} of\n{total} edges"))
        };
        let words = "Total over all lanes; each lane draws its largest edges in view. Zoom in for more.";
        return EdgeWords::new(text, short, words);
    }
    let Some(tensor) = input.selected else {
        return EdgeWords::new("select a tensor to see them", "", "Click a block");
    };
    let mut lines = Vec::new();
    let counts: Vec<[usize; 2]> = input
        .timeline
        .lanes
        .iter()
        .zip(&input.comparison.lanes)
        // Other recordings do not hold it.
        .filter(|(view, _)| view.blocks_of(tensor).len() > 0)
        .map(|(view, lane)| {
            let counts = [ReuseSide::Earlier, ReuseSide::Later].map(|side| view.reused_bytes(tensor, side).len());
            let title = input.comparison.lane_title(lane.id);
            let [earlier, later] = counts;
            lines.push(format!("{title}: reuses {earlier}, reused by {later}"));
            counts
        })
        .collect();
    let range = |side: usize| {
        let of_side = counts.iter().map(|counts| counts[side]);
        let (least, most) = (of_side.clone().min().unwrap_or(0), of_side.max().unwrap_or(0));
        if least == most {
            most.to_string()
        } else {
            format!("{least}–{most}")
        }
    };
    if counts.iter().flatten().all(|count| *count == 0) {
        let unknown = input.timeline.lanes.iter().find_map(|view| {
            let mut blocks = view.blocks_of(tensor);
            blocks.next().and_then(|block| view.unknown_neighbours(block))
        });
        if let Some(why) = unknown {
            return EdgeWords::new("origin of its bytes unknown", "edges not\nknown", why);
        }
        let why = "In every lane, no earlier or later tensor uses its bytes";
        return EdgeWords::new("bytes not reused", "no edges", why);
    }
    let mut explanation = lines.join("\n");
    if drawn < total {
        explanation.push_str(&format!(
            "\nThe {drawn} largest of {total} edges of all lanes are drawn"
        ));
    }
    let (earlier, later) = (range(0), range(1));
    EdgeWords::new(
        format!("reuses {earlier}, reused by {later} per lane"),
        format!("{earlier} edges in,\n{later} out"),
        explanation,
    )
}
