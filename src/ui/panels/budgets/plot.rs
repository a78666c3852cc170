//! The plot: a line per heuristic, a strip above for runs that ended early, a strip below for feasible budgets.

use eframe::egui::{self, Pos2, RichText};
use egui_plot::{GridMark, Line, PlotBounds, PlotPoint, PlotPoints, Polygon, Text};

use super::points::{self, Mark, Sweep};
use super::{Axes, BudgetsState};
use crate::numbers::{count_f32, to_f64, to_whole};
use crate::panels::PaneCx;
use crate::panels::marker::{cross, marker};
use crate::panels::plots::{LABEL_ROOM, PlotAxis, RADIUS, Span, point_input, point_plot, round_bytes, round_step};
use crate::theme::Theme;
use highwater_analysis::BudgetSweepPoint;
use highwater_model::units::Bytes;
use highwater_rewrite::remat::{HEURISTICS, Heuristic};

/// Height of a strip and of the gap to the curves, as shares of the curves' height.
const STRIPS: (f64, f64) = (0.24, 0.05);
/// Smaller costs are drawn here, in decades.
const LEAST_DECADE: f64 = -6.0;
const NAME: &str = "plot of overhead against budget; arrow keys choose a point, Enter opens it as a lane";

struct Frame {
    axes: Axes,
    x: Span,
    y: Span,
    /// Shown heuristics, in the order of a strip's rows.
    rows: Vec<&'static str>,
}

/// Draws the plot; a click opens a point.
pub(super) fn plot_ui(
    ui: &mut egui::Ui,
    cx: &mut PaneCx<'_>,
    sweep: &Sweep<'_>,
    state: &mut BudgetsState,
    size: egui::Vec2,
) {
    let theme = cx.theme;
    let frame = Frame::of(sweep, state);
    let (x, axes) = (frame.x, frame.axes);
    let shown = shown_lines(sweep, state, &frame);
    let limits = limits(sweep, &frame);
    let along = PlotAxis {
        title: axes.x_label(),
        marks: axes.x_marks(x, size.x),
        text: move |value| axes.x_text(value),
    };
    let up = PlotAxis {
        title: axes.y_label(),
        marks: axes.y_marks(frame.y, size.y),
        text: move |value| axes.y_text(value),
    };
    let plot = point_plot("overhead against budget", size, along, up, 44.0, theme);
    let shown = plot.show(ui, |plot| {
        plot.set_auto_bounds(false);
        let (fails, feasible) = (frame.fails(), frame.feasible());
        plot.set_plot_bounds(PlotBounds::from_min_max([x.from, feasible.from], [x.to, fails.to]));
        for Span { from, to } in [fails, feasible] {
            let corners = vec![[x.from, from], [x.to, from], [x.to, to], [x.from, to]];
            let ground = Polygon::new("strip", corners).fill_color(theme.grid.gamma_multiply(0.6));
            plot.polygon(ground.stroke(egui::Stroke::NONE).allow_hover(false));
        }
        for (position, line) in shown.into_iter().chain(limits) {
            let line = Line::new(HEURISTICS[position].name, PlotPoints::Owned(line));
            plot.line(line.color(theme.heuristic(position)).width(1.6).allow_hover(false));
        }
        let words = [
            (fails.to, x.to, egui::Align2::RIGHT_TOP, "thrash / out of memory "),
            (feasible.to, x.from, egui::Align2::LEFT_TOP, " feasible"),
        ];
        for (height, along, anchor, text) in words {
            let text = RichText::new(text).color(theme.text_weak).size(10.5);
            let place = PlotPoint::new(along, height);
            plot.text(Text::new("strip", place, text).anchor(anchor).allow_hover(false));
        }
    });
    let place = |point: &BudgetSweepPoint| shown.transform.position_from_point(&frame.place(point));
    let points = sweep.shown(&state.hidden);
    let placed: Vec<(Pos2, &BudgetSweepPoint)> = points.map(|point| (place(point), point)).collect();
    let painter = ui.painter().with_clip_rect(shown.response.rect.expand(4.0));
    paint_points(&painter, sweep, state, &placed, theme);
    let limits = HEURISTICS.iter().filter(|row| frame.rows.contains(&row.name));
    for (position, at) in limits.filter_map(|row| Some((points::position(row), frame.limit(sweep, row)?))) {
        let at = shown.transform.position_from_point(&at);
        let stroke = egui::Stroke::new(2.0, theme.heuristic(position));
        painter.line_segment([at - egui::vec2(0.0, 3.0), at + egui::vec2(0.0, 3.0)], stroke);
    }
    let input = point_input(ui, &shown.response, NAME, &placed, theme);
    if let Some(arrows) = input.arrows {
        walk(sweep, state, arrows);
    }
    if let Some(nearest) = input.near.first() {
        shown.response.on_hover_text_at_pointer(points::hover_text(nearest));
    }
    if let Some(point) = input.chosen(state.selected.and_then(|key| sweep.find(key))) {
        state.selected = Some(points::key(point));
        cx.commands.extend(sweep.open(point));
    }
}

impl Frame {
    fn of(sweep: &Sweep<'_>, state: &BudgetsState) -> Self {
        let axes = state.axes;
        let (mut x, mut y) = (Span::EMPTY, Span::EMPTY);
        for point in sweep.shown(&state.hidden) {
            x.include(axes.x(point));
            if Mark::of(point).has_ended() {
                y.include(axes.y(point.overhead));
            }
        }
        if x.is_empty() {
            x = Span { from: 0.0, to: 100.0 };
        }
        let (from, to) = match (axes.is_log, y.is_empty()) {
            (true, true) => (-3.0, 0.0),
            (true, false) => (y.from - 0.1, y.to.max(y.from + 1.0)),
            (false, true) => (1.0, 2.0),
            (false, false) => (1.0, y.to.max(1.05)),
        };
        let is_shown = |row: &&Heuristic| !state.hidden.contains(&row.name);
        Self {
            axes,
            x: x.widened((x.length() * 0.03).max(x.to * 0.01)),
            y: Span { from, to },
            rows: HEURISTICS.iter().filter(is_shown).map(|row| row.name).collect(),
        }
    }

    /// The upper strip.
    fn fails(&self) -> Span {
        let from = self.y.to + self.y.length() * STRIPS.1;
        let to = from + self.y.length() * STRIPS.0;
        Span { from, to }
    }

    /// The lower strip.
    fn feasible(&self) -> Span {
        let to = self.y.from - self.y.length() * STRIPS.1;
        let from = to - self.y.length() * STRIPS.0;
        Span { from, to }
    }

    /// The height of a heuristic's row in a strip, below the strip's label.
    fn row(&self, strip: Span, heuristic: &str) -> f64 {
        let row = self.rows.iter().position(|name| *name == heuristic).unwrap_or(0);
        let height = strip.length() * 0.92;
        strip.from + height * (1.0 - f64::from((count_f32(row) + 0.5) / count_f32(self.rows.len().max(1))))
    }

    fn place(&self, point: &BudgetSweepPoint) -> PlotPoint {
        let y = if Mark::of(point).has_ended() {
            self.axes.y(point.overhead)
        } else {
            self.row(self.fails(), point.heuristic.name)
        };
        PlotPoint::new(self.axes.x(point), y)
    }

    fn limit(&self, sweep: &Sweep<'_>, heuristic: &Heuristic) -> Option<PlotPoint> {
        let point = sweep.limit(heuristic)?;
        Some(PlotPoint::new(
            self.axes.x(point),
            self.row(self.feasible(), heuristic.name),
        ))
    }
}

impl Axes {
    fn x_label(self) -> &'static str {
        if self.in_bytes {
            "budget"
        } else {
            "budget (% of unconstrained peak)"
        }
    }

    fn y_label(self) -> &'static str {
        if self.is_log { "overhead (log)" } else { "overhead" }
    }

    fn x(self, point: &BudgetSweepPoint) -> f64 {
        if self.in_bytes {
            to_f64(point.budget.get())
        } else {
            point.ratio * 100.0
        }
    }

    fn y(self, overhead: f64) -> f64 {
        if self.is_log {
            (overhead - 1.0).log10().max(LEAST_DECADE)
        } else {
            overhead
        }
    }

    fn x_text(self, value: f64) -> String {
        if self.in_bytes {
            Bytes(to_whole(value)).short()
        } else {
            format!("{value:.0} %")
        }
    }

    fn y_text(self, value: f64) -> String {
        if !self.is_log {
            let text = format!("{:.1}", (value - 1.0) * 100.0);
            return format!("+{} %", text.strip_suffix(".0").unwrap_or(&text));
        }
        if value <= LEAST_DECADE + 1e-9 {
            return "none".to_owned();
        }
        let percent = 10_f64.powf(value) * 100.0;
        if percent < 1.0 {
            format!("{percent} %")
        } else {
            format!("{percent:.0} %")
        }
    }

    /// Vertical lines at round shares or round bytes.
    fn x_marks(self, x: Span, width: f32) -> Vec<GridMark> {
        let least = x.least_step(width, LABEL_ROOM[0]);
        let step = if self.in_bytes {
            round_bytes(least)
        } else {
            round_step(least / 1.6)
        };
        x.marks(step)
    }

    /// Horizontal lines at round overheads or decades; none in the strips.
    fn y_marks(self, y: Span, height: f32) -> Vec<GridMark> {
        // The curves have this share of the height.
        let least = y.least_step(height * 0.6, LABEL_ROOM[1]);
        let step = if self.is_log {
            least.ceil().max(1.0)
        } else {
            round_step(least)
        };
        y.marks(step)
    }
}

/// The pieces of each line: neighbours that ran to their end.
fn shown_lines(sweep: &Sweep<'_>, state: &BudgetsState, frame: &Frame) -> Vec<(usize, Vec<PlotPoint>)> {
    let mut lines = Vec::new();
    for (position, heuristic) in HEURISTICS.iter().enumerate() {
        let points = sweep.shown(&state.hidden).filter(|point| point.heuristic == heuristic);
        let mut points: Vec<&BudgetSweepPoint> = points.collect();
        points.sort_by_key(|point| point.budget);
        for piece in points.split(|point| !Mark::of(point).has_ended()) {
            lines.push((position, piece.iter().map(|point| frame.place(point)).collect()));
        }
    }
    lines
}

/// Lines from the smallest feasible budget to the right.
fn limits(sweep: &Sweep<'_>, frame: &Frame) -> Vec<(usize, Vec<PlotPoint>)> {
    let shown = HEURISTICS.iter().filter(|row| frame.rows.contains(&row.name));
    let lines = shown.filter_map(|row| {
        let from = frame.limit(sweep, row)?;
        Some((points::position(row), vec![from, PlotPoint::new(frame.x.to, from.y)]))
    });
    lines.collect()
}

fn paint_points(
    painter: &egui::Painter,
    sweep: &Sweep<'_>,
    state: &BudgetsState,
    placed: &[(Pos2, &BudgetSweepPoint)],
    theme: &Theme,
) {
    for (at, point) in placed {
        let position = points::position(point.heuristic);
        let color = theme.heuristic(position);
        match Mark::of(point) {
            Mark::OutOfMemory => cross(painter, *at, 2.8, color),
            Mark::Thrash => marker(painter, *at, position, 2.8, color, false),
            Mark::Over => marker(painter, *at, position, RADIUS, color, false),
            Mark::Fits => marker(painter, *at, position, RADIUS, color, true),
        }
        if sweep.lane_of(point).is_some() {
            painter.circle_stroke(*at, RADIUS + 3.0, egui::Stroke::new(1.8, theme.selection));
        }
        if state.selected == Some(points::key(point)) {
            painter.circle_stroke(*at, RADIUS + 5.5, egui::Stroke::new(1.0, theme.hover));
        }
    }
}

/// Left and right along a line, up and down between heuristics.
fn walk(sweep: &Sweep<'_>, state: &mut BudgetsState, arrows: [isize; 2]) {
    let [along, across] = arrows;
    let mut shown: Vec<&BudgetSweepPoint> = sweep.shown(&state.hidden).collect();
    shown.sort_by_key(|point| (points::position(point.heuristic), point.budget));
    let Some(at) = shown
        .iter()
        .position(|point| Some(points::key(point)) == state.selected)
    else {
        state.selected = shown.last().map(|point| points::key(point));
        return;
    };
    let here = shown[at];
    let next = if along != 0 {
        let next = at.checked_add_signed(along).and_then(|at| shown.get(at));
        next.filter(|point| point.heuristic == here.heuristic)
    } else {
        let order = |point: &BudgetSweepPoint| points::position(point.heuristic);
        let others = shown.iter().filter(|point| match across {
            1 => order(point) > order(here),
            _ => order(point) < order(here),
        });
        others.min_by_key(|point| {
            let far = (point.ratio - here.ratio).abs().to_bits();
            (order(point).abs_diff(order(here)), far)
        })
    };
    if let Some(next) = next {
        state.selected = Some(points::key(next));
    }
}
