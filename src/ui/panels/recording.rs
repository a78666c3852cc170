//! The facts of recordings, in the place of options where recordings alone are open.

use eframe::egui::{self, RichText};

use crate::theme::Theme;
use crate::widgets::wrapped_ui;
use highwater_analysis::{Comparison, LaneKind, RecordedFact};
use highwater_timeline::reading_order;

/// Recordings whose facts are visible at first.
const OPEN: usize = 2;

/// The width of labels, as a share of the panel.
const LABELS: f32 = 0.46;

/// Nothing where other sources are open.
pub fn recording_facts_ui(ui: &mut egui::Ui, comparison: &Comparison, theme: &Theme) {
    if comparison.lane_kind() != LaneKind::Recordings {
        return;
    }
    for (position, lane) in reading_order(comparison).into_iter().enumerate() {
        let (Some(lane), Some(figures)) = (comparison.lanes.get(lane), comparison.recordings.get(lane)) else {
            continue;
        };
        let title = format!("Recording {}", figures.name);
        let header = egui::CollapsingHeader::new(RichText::new(title).strong());
        let header = header.id_salt(("recording", position)).default_open(position < OPEN);
        header.show_unindented(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 2.0;
            for fact in figures.facts() {
                fact_ui(ui, &fact, theme);
            }
            // The facts say what the remarks on peaks and on the tool say.
            let notes = lane.explanation.iter().skip(1).filter(|remark| remark.step.is_none());
            for remark in notes {
                ui.add_space(3.0);
                wrapped_ui(ui, RichText::new(&remark.text).color(theme.text_weak));
            }
        });
    }
}

fn fact_ui(ui: &mut egui::Ui, fact: &RecordedFact, theme: &Theme) {
    ui.horizontal_top(|ui| {
        let width = ui.available_width() * LABELS;
        let size = egui::vec2(width, 0.0);
        ui.allocate_ui_with_layout(size, egui::Layout::top_down(egui::Align::Min), |ui| {
            ui.set_width(width);
            wrapped_ui(ui, RichText::new(&fact.label).color(theme.text_weak));
        });
        let value = wrapped_ui(ui, &fact.value);
        if !fact.exact.is_empty() {
            value.on_hover_text(&fact.exact);
        }
    });
}
