//! The words beside the choice of reuse edges: how many there are, by lane, and why not all of them are drawn.

use super::{EdgeChoice, LanesInput, LanesState};
use crate::timeline::Side;

/// How many edges there are, and why not all of them, or none, are drawn.
pub(super) fn edges_text(input: &LanesInput<'_>, state: &LanesState) -> (String, String) {
    let (drawn, total) = state.edges_drawn;
    if state.marks.edges == EdgeChoice::Peak {
        let text = if drawn == total {
            format!("all {total} drawn")
        } else {
            format!("the {drawn} with the most bytes of {total}")
        };
        let words =
            "In all lanes together; of each lane those in view with the most bytes are drawn. Zoom in for more.";
        return (text, words.to_owned());
    }
    let Some(tensor) = input.selected else {
        return ("select a tensor to see them".to_owned(), "Click a block".to_owned());
    };
    let mut lines = Vec::new();
    let counts: Vec<[usize; 2]> = input
        .timeline
        .lanes
        .iter()
        .zip(&input.comparison.lanes)
        .map(|(view, lane)| {
            let counts = [Side::Donor, Side::Heir].map(|side| view.passed(tensor, side).len());
            let title = input.comparison.lane_title(lane.id);
            let [donors, heirs] = [(counts[0], "donor"), (counts[1], "heir")].map(counted);
            lines.push(format!("{title}: {donors}, {heirs}"));
            counts
        })
        .collect();
    let range = |side: usize, noun: &str| {
        let of_side = counts.iter().map(|counts| counts[side]);
        let (least, most) = (of_side.clone().min().unwrap_or(0), of_side.max().unwrap_or(0));
        if least == most {
            counted((most, noun))
        } else {
            format!("{least}–{most} {noun}s")
        }
    };
    if counts.iter().flatten().all(|count| *count == 0) {
        let unknown = input.timeline.lanes.iter().find_map(|view| {
            let mut blocks = view.blocks_of(tensor);
            blocks.next().and_then(|block| view.unknown_neighbours(block))
        });
        if let Some(why) = unknown {
            return ("whose bytes it has is not known".to_owned(), why.to_owned());
        }
        let why = "In every lane its bytes were never used before it and are not used again";
        return ("nobody had or gets its bytes".to_owned(), why.to_owned());
    }
    let mut explanation = lines.join("\n");
    if drawn < total {
        explanation.push_str(&format!(
            "\n{drawn} of {total} edges of all lanes are drawn: those in view with the most bytes"
        ));
    }
    (
        format!("{}, {} in each lane", range(0, "donor"), range(1, "heir")),
        explanation,
    )
}

fn counted((count, noun): (usize, &str)) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
