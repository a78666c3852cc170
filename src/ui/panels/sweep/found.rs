//! Results of a sweep in a line: number that fit, lowest peak, largest amounts, smallest device. Each is a link to its
//! point.

use eframe::egui;

use super::{Shown, SweepState};
use crate::widgets::Named as _;
use highwater_analysis::sweep::SweepPoint;
use highwater_model::units::{counted, grouped};

struct Found {
    label: String,
    text: String,
    /// Exact figures.
    hover: String,
    idx: u64,
}

pub(super) fn found_ui(ui: &mut egui::Ui, shown: &Shown<'_>, state: &mut SweepState) {
    let table = shown.table;
    ui.horizontal_wrapped(|ui| {
        let tried = table.points.len() as u64;
        ui.label(format!(
            "{} of {} fit",
            grouped(table.n_fitting),
            counted(tried, "configuration")
        ));
        for found in found(shown) {
            ui.label("·");
            ui.weak(&found.label);
            let link = ui.link(&found.text);
            let link = link.named(egui::Role::Link, || format!("{} {}", found.label, found.text));
            if link.on_hover_text(&found.hover).clicked() {
                state.selected = Some(found.idx);
            }
        }
        if table.smallest == Some(None) {
            ui.label("·");
            ui.weak("no device profile fits");
        }
    });
}

fn found(shown: &Shown<'_>) -> Vec<Found> {
    let table = shown.table;
    let space = &table.space;
    let title = |point: &SweepPoint| super::facts::hover_text(space, point);
    let mut all = Vec::new();
    if let Some(lowest) = table.front.first().map(|position| &table.points[*position]) {
        let peak = lowest
            .fitting()
            .map_or_else(String::new, |figures| figures.peak_reserved.to_string());
        all.push(Found {
            label: "lowest peak".to_owned(),
            text: peak,
            hover: title(lowest),
            idx: lowest.idx,
        });
    }
    for (position, largest) in &table.largest {
        let (axis, point) = (&space.axes()[*position], &table.points[*largest]);
        all.push(Found {
            label: format!("largest {}", axis.name()),
            text: axis.value_text(space.values(point.idx)[*position]),
            hover: title(point),
            idx: point.idx,
        });
    }
    if let Some(smallest) = table.smallest.iter().flatten().next() {
        let device = &smallest.device;
        all.push(Found {
            label: "smallest device".to_owned(),
            text: device.name.clone(),
            hover: format!("{}\n\non it:\n{}", device.summary, title(&smallest.point)),
            idx: smallest.point.idx,
        });
    }
    all
}
