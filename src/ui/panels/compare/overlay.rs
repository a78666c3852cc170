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
use highwater_timeline::Timeline;

/// Points of a curve.
const POINTS: u32 = 600;

const HEIGHT: f32 = 220.0;

/// Marks along an axis.
const MARKS: f64 = 5.0;

/// A curve of the lane by position: the first step of each part of the axis, and the most bytes within it.
#[derive(Debug)]
struct LaneCurve {
    lane: usize,
    is_live: bool,
    points: Vec<[f64; 2]>,
}

/// The thinned curves of the answer on the screen.
#[derive(Clone, Debug, Default)]
pub(super) struct OverlayState {
    of: Weak<Timeline>,
    curves: Arc<[LaneCurve]>,
}

impl OverlayState {
    fn curves(&mut self, comparison: &Comparison, timeline: &Arc<Timeline>) -> Arc<[LaneCurve]> {
        if !std::ptr::eq(self.of.as_ptr(), Arc::as_ptr(timeline)) {
            self.of = Arc::downgrade(timeline);
            self.curves = curves(comparison, timeline).into();
        }
        Arc::clone(&self.curves)
    }
}

/// As far as lanes state them.
fn curves(comparison: &Comparison, timeline: &Timeline) -> Vec<LaneCurve> {
    let mut curves = Vec::new();
    for (lane, view) in timeline.lanes.iter().enumerate() {
        let (states_reserved, states_live) = comparison.states(lane);
        for (is_live, is_stated, curve) in [
            (false, states_reserved, &view.reserved),
            (true, states_live, &view.live),
        ] {
            if is_stated && curve.n_steps() > 0 {
                let parts = curve.parts(timeline.n_steps, POINTS).into_iter();
                let points = parts.map(|(step, most)| [to_f64(step as u64), to_f64(most)]).collect();
                curves.push(LaneCurve { lane, is_live, points });
            }
        }
    }
    curves
}

pub(super) fn overlay_ui(ui: &mut egui::Ui, shown: Shown<'_>, timeline: &Arc<Timeline>, state: &mut OverlayState) {
    if shown.comparison.lanes.len() < 2 || timeline.n_steps == 0 {
        return;
    }
    egui::CollapsingHeader::new("Curves on one axis")
        .id_salt("overlay")
        .default_open(false)
        .show_unindented(ui, |ui| {
            let curves = state.curves(shown.comparison, timeline);
            legend_ui(ui, shown, &curves);
            plot_ui(ui, shown, &curves);
        });
}

/// The colours of the lanes, above the curves, which it must not cover.
fn legend_ui(ui: &mut egui::Ui, shown: Shown<'_>, curves: &[LaneCurve]) {
    ui.horizontal_wrapped(|ui| {
        for lanes in curves.chunk_by(|one, next| one.lane == next.lane) {
            let lane = lanes[0].lane;
            swatch_ui(ui, shown.theme.heuristic(lane));
            ui.label(shown.title(lane));
        }
        ui.weak("solid: reserved, dashed: live");
    });
}

fn plot_ui(ui: &mut egui::Ui, shown: Shown<'_>, curves: &[LaneCurve]) {
    let n_steps = f64::from(shown.comparison.axis.n_steps);
    let points = curves.iter().flat_map(|curve| &curve.points);
    let most = points.map(|point| point[1]).fold(1.0, f64::max);
    let along = PlotAxis {
        title: shown.comparison.axis_word(),
        marks: span(n_steps).marks(round_step(n_steps / MARKS)),
        text: |value: f64| grouped(to_whole(value)),
    };
    let up = PlotAxis {
        title: "bytes",
        marks: span(most).marks(round_bytes(most / MARKS)),
        text: |value: f64| Bytes(to_whole(value)).to_string(),
    };
    let size = egui::vec2(ui.available_width(), HEIGHT);
    let plot = point_plot("curves of all lanes", size, along, up, 56.0, shown.theme);
    plot.show(ui, |plot| {
        plot.set_auto_bounds(false);
        plot.set_plot_bounds(PlotBounds::from_min_max([0.0, 0.0], [n_steps, most * 1.05]));
        for curve in curves {
            let (word, width, style) = if curve.is_live {
                ("live", 1.0, LineStyle::dashed_dense())
            } else {
                ("reserved", 1.8, LineStyle::Solid)
            };
            let name = format!("{} {word}", shown.title(curve.lane));
            let color = shown.theme.heuristic(curve.lane);
            plot.line(
                Line::new(name, PlotPoints::from(curve.points.clone()))
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
