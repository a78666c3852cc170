//! The legend of owners' bands and event marks.

use std::collections::BTreeSet;

use eframe::egui::{self, Rect, Role, Sense, Stroke, StrokeKind, TextStyle, Ui, vec2};

use super::marks::Hatched;
use super::toolbar::wrap_before;
use super::{LaneContent, LanesInput, LanesState, figures, remat, ticks};
use crate::numbers::count_f32;
use crate::widgets::Named as _;
use highwater_model::units::grouped;
use highwater_timeline::{Owner, RematMarkKind, TickClass};

const SWATCH: f32 = 16.0;
const OWNERS: f32 = 150.0;
const EVENTS: f32 = 110.0;
/// Room for the marks of runs under a budget.
const REMAT: f32 = 120.0;

/// Width of this legend; with it, both legends fit in one line.
pub(super) fn room(ui: &Ui, input: &LanesInput<'_>, state: &LanesState) -> f32 {
    if state.content != LaneContent::MemoryMap || !input.comparison.study().has_device() {
        return 0.0;
    }
    least(ui, input)
}

fn least(ui: &Ui, input: &LanesInput<'_>) -> f32 {
    let marks = if input.timeline.has_remat() { REMAT } else { 0.0 };
    let size = TextStyle::Body.resolve(ui.style()).size;
    OWNERS + figures::width_of(ui, "Owner", size) + EVENTS + marks
}

/// As many owners as fit in one line; a tooltip has the rest.
pub(super) fn legend_ui(ui: &mut Ui, input: &LanesInput<'_>) {
    if !input.comparison.study().has_device() {
        return;
    }
    let lanes = input.timeline.lanes.iter();
    let owners: BTreeSet<Owner> = lanes.flat_map(|lane| lane.owners.iter().copied()).collect();
    let words = owners
        .into_iter()
        .map(|owner| (owner, owner.words(&input.comparison.session)));
    let words: Vec<(Owner, String)> = words.collect();
    if !words.is_empty() {
        wrap_before(ui, least(ui, input));
        owners_ui(ui, input, &words);
    }
    events_ui(ui, input);
    remat_ui(ui, input);
}

fn owners_ui(ui: &mut Ui, input: &LanesInput<'_>, words: &[(Owner, String)]) {
    ui.weak("Owner")
        .on_hover_text("Owner of the bands behind the tensors; hover over a band for its bytes");
    let size = TextStyle::Body.resolve(ui.style()).size;
    let marks = if input.timeline.has_remat() { REMAT } else { 0.0 };
    let mut room = ui.available_size_before_wrap().x - EVENTS - marks;
    let mut n_shown = 0;
    for (owner, words) in words {
        room -= SWATCH + figures::width_of(ui, words, size) + 12.0;
        if room < 0.0 {
            break;
        }
        owner_ui(ui, *owner, words, input);
        n_shown += 1;
    }
    let rest = words.get(n_shown..).unwrap_or(&[]);
    if !rest.is_empty() {
        ui.weak(format!("+{}", rest.len())).on_hover_ui(|ui| {
            for (owner, words) in rest {
                ui.horizontal(|ui| owner_ui(ui, *owner, words, input));
            }
        });
    }
}

fn owner_ui(ui: &mut Ui, owner: Owner, words: &str, input: &LanesInput<'_>) {
    let theme = input.theme;
    let height = ui.text_style_height(&TextStyle::Body);
    let (place, _) = ui.allocate_exact_size(vec2(10.0, height), Sense::hover());
    let area = Rect::from_center_size(place.center(), vec2(10.0, 10.0));
    ui.painter().rect_filled(area, 2, theme.owner(owner));
    if matches!(owner, Owner::Stitched(_)) {
        let mut stitched = Hatched::new(ui.ctx(), "stitched", theme.stitched);
        stitched.add(area);
        stitched.paint(ui.painter());
    }
    let stroke = Stroke::new(1.0, theme.granted);
    ui.painter().rect_stroke(area, 2, stroke, StrokeKind::Inside);
    ui.label(words);
}

/// Event marks and their counts over all lanes.
fn events_ui(ui: &mut Ui, input: &LanesInput<'_>) {
    let mut totals = [0_u64; TickClass::ALL.len()];
    for lane in &input.timeline.lanes {
        for (sum, count) in totals.iter_mut().zip(lane.ticks.totals()) {
            *sum += u64::from(count);
        }
    }
    let present: Vec<(TickClass, u64)> = TickClass::ALL
        .into_iter()
        .zip(totals)
        .filter(|(_, count)| *count > 0)
        .collect();
    if present.is_empty() {
        return;
    }
    let size = TextStyle::Body.resolve(ui.style()).size;
    let marks = 9.0 * count_f32(present.len());
    let room = marks + figures::width_of(ui, "events", size) + 3.0 * ui.spacing().item_spacing.x;
    if ui.available_size_before_wrap().x >= room {
        ui.separator();
    }
    // Marks stay with their word.
    wrap_before(ui, room);
    let (area, response) = ui.allocate_exact_size(vec2(marks, 12.0), Sense::hover());
    let words: Vec<&str> = present.iter().map(|(class, _)| class.words()).collect();
    let response = response.named(Role::Image, || format!("events in the lanes: {}", words.join("; ")));
    for (position, (class, _)) in present.iter().enumerate() {
        let cell = Rect::from_min_size(area.min + vec2(9.0 * count_f32(position), 0.0), vec2(9.0, 12.0));
        ticks::mark(ui.painter(), cell.center(), *class, input.theme);
    }
    let list = |ui: &mut Ui| {
        ui.strong("Device events, all lanes");
        egui::Grid::new("event marks").num_columns(3).show(ui, |ui| {
            for (class, count) in &present {
                let (cell, _) = ui.allocate_exact_size(vec2(12.0, 12.0), Sense::hover());
                ticks::mark(ui.painter(), cell.center(), *class, input.theme);
                ui.label(class.words());
                ui.monospace(grouped(*count));
                ui.end_row();
            }
        });
        ui.weak("[ and ]: previous and next step with events");
    };
    response.on_hover_ui(list);
    ui.weak("events").on_hover_ui(list);
}

/// Marks of runs under a budget.
fn remat_ui(ui: &mut Ui, input: &LanesInput<'_>) {
    if !input.timeline.has_remat() {
        return;
    }
    ui.separator();
    for (kind, words) in [
        (RematMarkKind::Evict, "evicted"),
        (RematMarkKind::Rematerialize, "recomputed"),
    ] {
        let explanation = match kind {
            RematMarkKind::Evict => "Evicted to make room within the budget",
            _ => "Recomputed because it was needed again; these steps are tinted",
        };
        // Mark and word are one widget, so that they stay in one line.
        let size = TextStyle::Body.resolve(ui.style()).size;
        let room = vec2(13.0 + figures::width_of(ui, words, size), 14.0);
        let (area, response) = ui.allocate_exact_size(room, Sense::hover());
        remat::mark(ui.painter(), area.left_center() + vec2(5.0, 0.0), kind, input.theme);
        let at = area.left_center() + vec2(13.0, 0.0);
        let font = egui::FontId::proportional(size);
        ui.painter()
            .text(at, egui::Align2::LEFT_CENTER, words, font, input.theme.text);
        let response = response.named(Role::Label, || &words);
        response.on_hover_text(explanation);
    }
}
