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

/// The nearest point under the pointer, and the number of others.
pub(super) fn hover_all_text(space: &Space, points: &[&SweepPoint]) -> String {
    let Some((nearest, others)) = points.split_first() else {
        return String::new();
    };
    let text = hover_text(space, nearest);
    if others.is_empty() {
        return text;
    }
    // The last line gives way.
    let text = text.rsplit_once('\n').map_or(text.as_str(), |(first, _)| first);
    let more = counted(others.len() as u64, "other configuration");
    format!("{text}\n{more} at the pointer")
}

/// Three lines: the configuration, its figures, its room or why it failed.
pub(super) fn hover_text(space: &Space, point: &SweepPoint) -> String {
    let title = space.title(point.idx);
    let first = format!("{title}, policy {}: {}", point.policy.number(), point.label());
    let why = point.why().first().map(ToString::to_string);
    let Outcome::Ran(figures) = &point.outcome else {
        return why.map_or(first.clone(), |why| format!("{first}\n{why}"));
    };
    let last = why.unwrap_or_else(|| room(figures.capacity, figures.peak_reserved));
    format!(
        "{first}\npeak reserved {}, live {}, {} device calls, overhead {} (estimate)\n{last}",
        figures.peak_reserved.exact(),
        figures.peak_live,
        grouped(figures.device_calls()),
        figures.overhead
    )
}

fn room(capacity: Bytes, peak: Bytes) -> String {
    format!("{} of {} free at the peak", (capacity - peak).exact(), capacity.exact())
}
