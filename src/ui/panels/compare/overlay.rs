//! Curves of all lanes on one axis: reserved bytes as lines, live bytes as thin ones.

use std::sync::{Arc, Weak};

use eframe::egui;
use egui_plot::{Line, LineStyle, PlotBounds, PlotPoints};

use super::Shown;
use crate::numbers::{to_f64, to_whole};
use crate::panels::plots::{PlotAxis, Span, point_plot, round_bytes, round_step};
use crate::panels::swatch_ui;
use highwater_analysis::Comparison;
use highwater_model::units::{Bytes, grouped};
use highwater_timeline::{OverlayCurve, OverlayKind, overlay};

/// Points of a curve.
const POINTS: u32 = 600;

const HEIGHT: f32 = 220.0;

/// Marks along an axis.
const MARKS: f64 = 5.0;

/// The thinned curves of the answer on the screen.
#[derive(Clone, Debug, Default)]
pub(super) struct OverlayState {
    of: Weak<Comparison>,
    curves: Arc<[OverlayCurve]>,
}

impl OverlayState {
    fn curves(&mut self, comparison: &Arc<Comparison>) -> Arc<[OverlayCurve]> {
        if !self.of.upgrade().is_some_and(|of| Arc::ptr_eq(&of, comparison)) {
            self.of = Arc::downgrade(comparison);
            self.curves = overlay(comparison, POINTS).into();
        }
        Arc::clone(&self.curves)
    }
}

pub(super) fn overlay_ui(ui: &mut egui::Ui, shown: Shown<'_>, comparison: &Arc<Comparison>, state: &mut OverlayState) {
    if comparison.lanes.len() < 2 || comparison.axis.n_steps == 0 {
        return;
    }
    egui::CollapsingHeader::new("Curves on one axis")
        .id_salt("overlay")
        .default_open(false)
        .show_unindented(ui, |ui| {
            let curves = state.curves(comparison);
            legend_ui(ui, shown, &curves);
            plot_ui(ui, shown, &curves);
        });
}

/// The colours of the lanes, above the curves, which it must not cover.
fn legend_ui(ui: &mut egui::Ui, shown: Shown<'_>, curves: &[OverlayCurve]) {
    ui.horizontal_wrapped(|ui| {
        for lanes in curves.chunk_by(|one, next| one.lane == next.lane) {
            let lane = lanes[0].lane;
            swatch_ui(ui, shown.theme.heuristic(lane));
            ui.label(shown.title(lane));
        }
        ui.weak("solid: reserved, dashed: live");
    });
}

fn plot_ui(ui: &mut egui::Ui, shown: Shown<'_>, curves: &[OverlayCurve]) {
    let n_steps = f64::from(shown.comparison.axis.n_steps);
    let most = curves
        .iter()
        .flat_map(|curve| &curve.points)
        .map(|(_, bytes)| *bytes)
        .max();
    let most = most.unwrap_or_default().max(Bytes(1));
    let along = PlotAxis {
        title: shown.comparison.axis_word(),
        marks: span(n_steps).marks(round_step(n_steps / MARKS)),
        text: |value: f64| grouped(to_whole(value)),
    };
    let up = PlotAxis {
        title: "bytes",
        marks: span(to_f64(most.get())).marks(round_bytes(to_f64(most.get()) / MARKS)),
        text: |value: f64| Bytes(to_whole(value)).to_string(),
    };
    let size = egui::vec2(ui.available_width(), HEIGHT);
    let plot = point_plot("curves of all lanes", size, along, up, 56.0, shown.theme);
    plot.show(ui, |plot| {
        plot.set_auto_bounds(false);
        plot.set_plot_bounds(PlotBounds::from_min_max(
            [0.0, 0.0],
            [n_steps, to_f64(most.get()) * 1.05],
        ));
        for curve in curves {
            let (word, width, style) = match curve.kind {
                OverlayKind::Reserved => ("reserved", 1.8, LineStyle::Solid),
                OverlayKind::Live => ("live", 1.0, LineStyle::dashed_dense()),
            };
            let name = format!("{} {word}", shown.title(curve.lane));
            let points = curve.points.iter();
            let points: Vec<[f64; 2]> = points
                .map(|(step, bytes)| [f64::from(*step), to_f64(bytes.get())])
                .collect();
            let color = shown.theme.heuristic(curve.lane);
            plot.line(
                Line::new(name, PlotPoints::from(points))
                    .color(color)
                    .width(width)
                    .style(style),
            );
        }
    });
}

fn span(to: f64) -> Span {
    Span { from: 0.0, to }
}
