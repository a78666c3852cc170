//! Texts about a point.

use highwater_analysis::sweep::{Outcome, Space, SweepPoint};
use highwater_model::units::{Bytes, counted, grouped};

pub(super) fn sentence(space: &Space, point: &SweepPoint) -> String {
    let title = space.title(point.idx);
    match point.figures() {
        Some(figures) => format!(
            "{title}: {}, peak {}, overhead {}",
            point.label(),
            figures.peak_reserved,
            figures.overhead
        ),
        None => format!("{title}: {}", point.label()),
    }
}

/// Points listed under the pointer.
const NAMED: usize = 4;

/// Figures of the nearest point under the pointer, and the names of others.
pub(super) fn hover_all_text(space: &Space, points: &[&SweepPoint]) -> String {
    let Some((nearest, others)) = points.split_first() else {
        return String::new();
    };
    let mut text = hover_text(space, nearest);
    if others.is_empty() {
        return text;
    }
    text.push_str(&format!(
        "\n\nalso at the pointer, {}:",
        counted(others.len() as u64, "configuration")
    ));
    for point in others.iter().take(NAMED) {
        text.push_str(&format!("\n{}", sentence(space, point)));
    }
    if others.len() > NAMED {
        text.push_str(&format!(
            "\nand {} more, in the table below",
            grouped((others.len() - NAMED) as u64)
        ));
    }
    text
}

pub(super) fn hover_text(space: &Space, point: &SweepPoint) -> String {
    let mut text = format!(
        "{}\npolicy {}: {}",
        space.title(point.idx),
        point.policy.number(),
        point.label()
    );
    if let Outcome::Ran(figures) = &point.outcome {
        let parts = &figures.reserved;
        text.push_str(&format!(
            "\npeak reserved {}\n  feature memory {}\n  weights {}\n  variables {}\n  inputs and outputs {}\npeak \
             live {}\nfragmentation {:.2} %\n{} device calls ({} mallocs, {} frees)",
            figures.peak_reserved.exact(),
            parts.features.exact(),
            parts.weights.exact(),
            parts.variables.exact(),
            parts.io.exact(),
            figures.peak_live.exact(),
            figures.fragmentation * 100.0,
            grouped(figures.device_calls()),
            grouped(figures.device_mallocs),
            grouped(figures.device_frees),
        ));
        if figures.unloads > 0 {
            text.push_str(&format!("\n{} graphs unloaded to make room", grouped(figures.unloads)));
        }
        text.push_str(&format!(
            "\noverhead {} (estimate), {}\u{a0}ns\n{}",
            figures.overhead,
            grouped(figures.overhead.0),
            room(figures.capacity, figures.peak_reserved)
        ));
    }
    for why in point.why() {
        text.push_str(&format!("\n{why}"));
    }
    text
}

fn room(capacity: Bytes, peak: Bytes) -> String {
    format!("{} of {} free at the peak", (capacity - peak).exact(), capacity.exact())
}
