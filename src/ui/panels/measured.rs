//! Peaks of recordings, above their lanes.

use eframe::egui::{self, RichText};

use highwater_analysis::{Comparison, Lane, LaneId};
use highwater_model::workload::{Recording, TotalKind};

use crate::widgets::wrapped_ui;

/// Most recordings with bars that can be told apart.
pub(super) const MOST_BARS: usize = 6;

/// Most recordings in the overview.
const MOST_RECORDINGS: usize = 3;

/// The peak of each recording, and what it leaves out.
pub(super) fn measured_ui(ui: &mut egui::Ui, comparison: &Comparison) {
    let mut lanes: Vec<&Lane> = comparison.lanes.iter().collect();
    let n_lanes = lanes.len();
    if n_lanes > MOST_RECORDINGS {
        lanes.sort_by_key(|lane| std::cmp::Reverse(lane.summary.peak_reserved));
        lanes.truncate(MOST_RECORDINGS);
        let n_all = comparison
            .workload
            .recordings()
            .iter()
            .filter(|one| one.has_content())
            .count();
        ui.label(if n_all > n_lanes {
            format!("{n_lanes} of {n_all} recordings, highest peaks first:")
        } else {
            format!("{n_lanes} recordings, the largest:")
        });
    }
    for lane in lanes {
        let (text, exact) = peaks(comparison, lane);
        ui.label(RichText::new(text).strong()).on_hover_text(exact);
        if comparison.lanes.len() == 1 {
            for remark in lane.explanation.iter().filter(|remark| remark.step.is_none()) {
                wrapped_ui(ui, &remark.text);
            }
        }
    }
    if comparison.lanes.len() > 1 {
        ui.label("Measured, not simulated. The inspector lists what each recording lacks.");
    }
}

/// The largest peak as a sentence, with exact figures.
pub(super) fn headline(comparison: &Comparison) -> Option<(String, String)> {
    let lanes = comparison.lanes.iter();
    let lane = lanes.max_by_key(|lane| (lane.summary.peak_reserved, lane.summary.peak_live))?;
    Some(peaks(comparison, lane))
}

/// A line per recording, with its remarks on hover.
pub(super) fn beside_ui(ui: &mut egui::Ui, comparison: &Comparison) {
    for lane in &comparison.lanes {
        let LaneId::Measured(_) = lane.id else { continue };
        let (text, exact) = peaks(comparison, lane);
        let told = lane.explanation.iter().map(|remark| remark.text.as_str());
        let exact = told.fold(exact, |all, remark| format!("{all}\n{remark}"));
        wrapped_ui(ui, format!("{text}.")).on_hover_text(exact);
    }
}

/// The peaks that a recording states: a sentence without full stop, and exact figures.
fn peaks(comparison: &Comparison, lane: &Lane) -> (String, String) {
    let title = comparison.lane_title(lane.id);
    let recording = comparison.recording(lane.id);
    let (reserved, live) = (lane.summary.peak_reserved, lane.summary.peak_live);
    let total = recording.and_then(|recording| recording.total(TotalKind::Allocated));
    let in_file = total.map_or(live, |total| total.peak().0);
    let states = (
        recording.is_some_and(Recording::states_reserved),
        recording.is_some_and(Recording::states_live),
    );
    match states {
        (true, true) if live > reserved && recording.is_some_and(|one| !one.regions.is_empty()) => (
            format!("{title}: peak live {live}; the file lists {reserved} of reserved bytes"),
            format!("{} listed, {} live", reserved.exact(), live.exact()),
        ),
        (true, true) if in_file > live => (
            format!("{title}: {reserved} reserved, peak live {in_file}, of which {live} in listed blocks"),
            format!(
                "{} reserved, {} live, {} in blocks",
                reserved.exact(),
                in_file.exact(),
                live.exact()
            ),
        ),
        (true, true) => (
            format!("{title}: {reserved} reserved, peak live {live}"),
            format!("{} reserved, {} live", reserved.exact(), live.exact()),
        ),
        (true, false) => (
            format!("{title}: peak reserved {reserved}; live bytes are not recorded"),
            format!("{} reserved", reserved.exact()),
        ),
        (false, true) => (
            format!("{title}: peak live {live}; reserved bytes are not recorded"),
            format!("{} live", live.exact()),
        ),
        (false, false) => (
            format!("{title}: neither reserved nor live bytes are recorded"),
            String::new(),
        ),
    }
}
