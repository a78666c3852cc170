//! What recordings of real runs held at most, above their lanes.

use eframe::egui::{self, RichText};

use crate::analysis::{Comparison, Lane};
use crate::workload::Recording;

/// Most recordings whose bars can be told apart.
pub(super) const MOST_BARS: usize = 6;

/// Most recordings that the overview names.
const MOST_RECORDINGS: usize = 3;

/// What each recording held at most, and what it leaves out.
pub(super) fn measured_ui(ui: &mut egui::Ui, comparison: &Comparison) {
    let mut lanes: Vec<&Lane> = comparison.lanes.iter().collect();
    let n_lanes = lanes.len();
    if n_lanes > MOST_RECORDINGS {
        lanes.sort_by_key(|lane| std::cmp::Reverse(lane.summary.peak_reserved));
        lanes.truncate(MOST_RECORDINGS);
        ui.label(format!("{n_lanes} recordings, the largest:"));
    }
    for lane in lanes {
        let title = comparison.lane_title(lane.id);
        let recording = comparison.recording(lane.id);
        let text = if recording.is_some_and(Recording::states_reserved) {
            format!(
                "{title}: {} reserved, {} in use at most",
                lane.summary.peak_reserved, lane.summary.peak_live
            )
        } else {
            format!(
                "{title}: {} in use at most; what was reserved is not recorded",
                lane.summary.peak_live
            )
        };
        let exact = format!(
            "{} reserved, {} in use",
            lane.summary.peak_reserved.exact(),
            lane.summary.peak_live.exact()
        );
        ui.label(RichText::new(text).strong()).on_hover_text(exact);
        if comparison.lanes.len() == 1 {
            for remark in lane.explanation.iter().filter(|remark| remark.step.is_none()) {
                ui.add(egui::Label::new(&remark.text).wrap());
            }
        }
    }
    if comparison.lanes.len() > 1 {
        ui.label("Measured, not simulated. The inspector says what each recording leaves out.");
    }
}
