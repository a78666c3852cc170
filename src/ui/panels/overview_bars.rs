//! The peaks as stacked bars: reserved bytes of each lane by use.

use eframe::egui::{self, RichText};
use egui_plot::{Bar, BarChart, PlotPoint, Text};

use crate::numbers::to_f64;
use crate::panels::plots::still_plot;
use crate::panels::{elided, swatch_ui};
use crate::theme::Theme;
use highwater_analysis::{Comparison, Lane, LaneId, LaneKind};
use highwater_model::units::Bytes;
use highwater_sim::fold::ReservedParts;

const NAME_SIZE: f32 = 11.0;

type Part = fn(&ReservedParts) -> Bytes;

/// The colours of the parts in use.
fn legend_ui(ui: &mut egui::Ui, parts: &[(&str, Part)], lanes: &[&Lane], theme: &Theme) {
    let is_there = |bytes: Part| lanes.iter().any(|lane| bytes(&lane.summary.reserved) > Bytes::ZERO);
    let shown = parts.iter().enumerate().filter(|(_, (_, bytes))| is_there(*bytes));
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Extend);
        ui.small("peak by use:");
        for (position, (name, _)) in shown {
            let font = egui::TextStyle::Small.resolve(ui.style());
            let words = ui.painter().layout_no_wrap((*name).to_owned(), font, theme.text);
            if ui.available_size_before_wrap().x < words.size().x + 18.0 {
                // A swatch stays with its word.
                ui.end_row();
            }
            swatch_ui(ui, theme.part(position));
            ui.small(*name);
        }
    });
}

/// Lanes with bars: recordings next to simulated lanes have no parts to compare.
fn lanes_of_bars(comparison: &Comparison) -> Vec<&Lane> {
    match comparison.lane_kind() {
        LaneKind::Recordings => comparison.lanes.iter().collect(),
        LaneKind::Policies | LaneKind::Strategies | LaneKind::Passes => comparison.simulated_lanes().collect(),
    }
}

/// Peak reserved bytes of each lane by use.
pub(super) fn bars_ui(ui: &mut egui::Ui, comparison: &Comparison, theme: &Theme) {
    let part: [(&str, Part); 4] = [
        ("features", |parts| parts.features),
        ("weights", |parts| parts.weights),
        ("variables", |parts| parts.variables),
        ("in/out", |parts| parts.io),
    ];
    let width = ui.available_width();
    let lanes: Vec<&Lane> = lanes_of_bars(comparison);
    if comparison.lane_kind() == LaneKind::Recordings {
        ui.small("peak of each recording:");
    } else {
        legend_ui(ui, &part, &lanes, theme);
    }
    let longest = lanes
        .iter()
        .map(|lane| lane.summary.reserved.total())
        .max()
        .unwrap_or_default();
    let names = names(ui, &lanes, width * 0.45);
    // Names and bars share the width.
    let left = f64::from(names.1 / (width - names.1).max(1.0));
    let plot = still_plot("peaks", egui::vec2(width, 70.0))
        .show_grid(false)
        .show_axes(false)
        .show_background(false)
        .set_margin_fraction(egui::Vec2::ZERO)
        .include_x(-1.02 * left * length(longest))
        .include_x(1.02 * length(longest))
        .include_y(-0.55)
        .include_y(number_of(lanes.len()) - 0.45);
    plot.show(ui, |plot| {
        let mut below: Vec<BarChart> = Vec::new();
        for (position, (name, bytes)) in part.iter().enumerate() {
            let bars = (0_u32..).zip(lanes.iter().rev()).map(|(row, lane)| {
                Bar::new(f64::from(row), length(bytes(&lane.summary.reserved)))
                    .width(0.72)
                    .fill(theme.part(position))
                    .stroke(egui::Stroke::NONE)
            });
            let chart = BarChart::new(*name, bars.collect())
                .horizontal()
                .allow_hover(false)
                .color(theme.part(position));
            let chart = chart.stack_on(&below.iter().collect::<Vec<_>>());
            below.push(chart);
        }
        for chart in below {
            plot.bar_chart(chart);
        }
        for (row, name) in (0_u32..).zip(names.0.iter().rev()) {
            let text = RichText::new(name).color(theme.text).size(NAME_SIZE);
            let place = PlotPoint::new(-0.012 * length(longest), f64::from(row));
            plot.text(
                Text::new("policy", place, text)
                    .anchor(egui::Align2::RIGHT_CENTER)
                    .allow_hover(false),
            );
        }
    });
}

/// Names of the bars, cut to the room, and the width of the widest.
fn names(ui: &egui::Ui, lanes: &[&Lane], room: f32) -> (Vec<String>, f32) {
    let font = egui::FontId::proportional(NAME_SIZE);
    let mut widest = 0.0_f32;
    let names = lanes.iter().map(|lane| {
        let name = match lane.id {
            LaneId::Policy(policy) => format!("policy {}", policy.number()),
            LaneId::Problem(_) => lane.strategy.label.to_owned(),
            // A pin may have a policy's name.
            LaneId::Pinned(_) => format!("pinned {}", lane.title.as_deref().unwrap_or_default()),
            LaneId::Pass(_) | LaneId::Measured(_) => lane.title.clone().unwrap_or_default(),
        };
        let name = elided(ui, &name, NAME_SIZE, room - 10.0);
        let galley = ui
            .painter()
            .layout_no_wrap(name.clone(), font.clone(), egui::Color32::WHITE);
        widest = widest.max(galley.size().x + 10.0);
        name
    });
    (names.collect(), widest)
}

fn length(bytes: Bytes) -> f64 {
    to_f64(bytes.get())
}

fn number_of(lanes: usize) -> f64 {
    f64::from(u32::try_from(lanes).unwrap_or(0))
}
