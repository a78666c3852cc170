//! The plot: a line for each heuristic, a strip above for runs that did not come to their end, a strip below for the
//! budgets at which each heuristic does.

use eframe::egui::{self, Key as Letter, RichText};
use egui_plot::{AxisHints, GridMark, Line, PlotBounds, PlotPoint, PlotPoints, Polygon, Text};

use super::marker::{cross, marker};
use super::points::{self, Mark, Sweep};
use super::{Axes, BudgetsState};
use crate::panels::still_plot;
use crate::theme::Theme;
use highwater_analysis::BudgetSweepPoint;
use highwater_model::units::Bytes;
use highwater_rewrite::remat::{HEURISTICS, Heuristic};
use highwater_session::Command;

/// How far from a point the pointer means it, in points of the screen.
const REACH: f32 = 13.0;
/// Parts of the height that the strips take, and the room between them and the curves.
const STRIPS: (f64, f64) = (0.24, 0.05);
const RADIUS: f32 = 3.6;
/// Every mark has its label, because there are only as many as fit.
const LABELS: egui::Rangef = egui::Rangef { min: 1.0, max: 2.0 };
/// Room for a label along the axes.
const ROOM: [f32; 2] = [84.0, 34.0];
/// The smallest cost that is told apart from nothing, in decades.
const LEAST_DECADE: f64 = -6.0;

/// Where things stand in the plot.
struct Frame {
    axes: Axes,
    /// Budgets.
    x: (f64, f64),
    /// Overheads.
    y: (f64, f64),
    /// Heuristics that are shown, from the top of a strip to its bottom.
    rows: Vec<&'static str>,
}

/// Draws the plot; a click opens a point.
pub(super) fn plot_ui(
    ui: &mut egui::Ui,
    sweep: &Sweep<'_>,
    state: &mut BudgetsState,
    size: egui::Vec2,
    theme: &Theme,
    commands: &mut Vec<Command>,
) {
    let frame = Frame::of(sweep, state);
    let (x, y, axes) = (frame.x, frame.y, frame.axes);
    let (bottom, top) = frame.ends();
    let shown = shown_lines(sweep, state, &frame);
    let limits = limits(sweep, &frame);
    let plot = still_plot("overhead against budget", size.x, size.y)
        .sense(egui::Sense::click())
        .label_formatter(|_| None)
        .custom_x_axes(vec![
            AxisHints::new_x()
                .label(RichText::new(axes.x_label()).size(11.0))
                .label_spacing(LABELS)
                .formatter(move |mark, _| axes.x_text(mark.value)),
        ])
        .custom_y_axes(vec![
            AxisHints::new_y()
                .label(RichText::new(axes.y_label()).size(11.0))
                .label_spacing(LABELS)
                .min_thickness(44.0)
                .formatter(move |mark, _| axes.y_text(mark.value)),
        ])
        .grid_color(theme.grid)
        .grid_spacing(LABELS)
        .x_grid_spacer(move |_| axes.x_marks(x, size.x))
        .y_grid_spacer(move |_| axes.y_marks(y, size.y));
    let response = plot.show(ui, |plot| {
        plot.set_auto_bounds(false);
        plot.set_plot_bounds(PlotBounds::from_min_max([x.0, bottom], [x.1, top]));
        for (from, to) in [frame.fails(), frame.feasible()] {
            let corners = vec![[x.0, from], [x.1, from], [x.1, to], [x.0, to]];
            let ground = Polygon::new("strip", corners).fill_color(theme.grid.gamma_multiply(0.6));
            plot.polygon(ground.stroke(egui::Stroke::NONE).allow_hover(false));
        }
        for (position, line) in shown.into_iter().chain(limits) {
            let line = Line::new(HEURISTICS[position].name, PlotPoints::Owned(line));
            plot.line(line.color(theme.heuristic(position)).width(1.6).allow_hover(false));
        }
        let words = [
            (frame.fails().1, x.1, egui::Align2::RIGHT_TOP, "thrash / out of memory "),
            (frame.feasible().1, x.0, egui::Align2::LEFT_TOP, " feasible"),
        ];
        for (height, along, anchor, text) in words {
            let text = RichText::new(text).color(theme.text_weak).size(10.5);
            let place = PlotPoint::new(along, height);
            plot.text(Text::new("strip", place, text).anchor(anchor).allow_hover(false));
        }
    });
    let place = |point: &BudgetSweepPoint| response.transform.position_from_point(&frame.place(point));
    let placed: Vec<(egui::Pos2, &BudgetSweepPoint)> =
        sweep.shown(&state.hidden).map(|point| (place(point), point)).collect();
    let painter = ui.painter().with_clip_rect(response.response.rect.expand(4.0));
    paint_points(&painter, sweep, state, &placed, theme);
    let limits = HEURISTICS.iter().filter(|row| frame.rows.contains(&row.name));
    for (position, at) in limits.filter_map(|row| Some((points::position(row), frame.limit(sweep, row)?))) {
        let at = response.transform.position_from_point(&at);
        let stroke = egui::Stroke::new(2.0, theme.heuristic(position));
        painter.line_segment([at - egui::vec2(0.0, 3.0), at + egui::vec2(0.0, 3.0)], stroke);
    }
    answer(ui, response.response, (sweep, state, &placed), theme, commands);
}

impl Frame {
    fn of(sweep: &Sweep<'_>, state: &BudgetsState) -> Self {
        let axes = state.axes;
        let mut x = (f64::INFINITY, f64::NEG_INFINITY);
        let mut y = x;
        let wider = |range: (f64, f64), value: f64| (range.0.min(value), range.1.max(value));
        for point in sweep.shown(&state.hidden) {
            x = wider(x, axes.x(point));
            if Mark::of(point).has_ended() {
                y = wider(y, axes.y(point.overhead));
            }
        }
        if x.0 > x.1 {
            x = (0.0, 100.0);
        }
        let margin = ((x.1 - x.0) * 0.03).max(x.1 * 0.01);
        let y = match (axes.is_log, y.0 > y.1) {
            (true, true) => (-3.0, 0.0),
            (true, false) => (y.0 - 0.1, y.1.max(y.0 + 1.0)),
            (false, true) => (1.0, 2.0),
            (false, false) => (1.0, y.1.max(1.05)),
        };
        let is_shown = |row: &&Heuristic| !state.hidden.contains(&row.name);
        Self {
            axes,
            x: (x.0 - margin, x.1 + margin),
            y,
            rows: HEURISTICS.iter().filter(is_shown).map(|row| row.name).collect(),
        }
    }

    fn span(&self) -> f64 {
        self.y.1 - self.y.0
    }

    /// The strip above: from and to.
    fn fails(&self) -> (f64, f64) {
        let from = self.y.1 + self.span() * STRIPS.1;
        (from, from + self.span() * STRIPS.0)
    }

    /// The strip below: from and to.
    fn feasible(&self) -> (f64, f64) {
        let to = self.y.0 - self.span() * STRIPS.1;
        (to - self.span() * STRIPS.0, to)
    }

    /// What the plot reaches from and to.
    fn ends(&self) -> (f64, f64) {
        (self.feasible().0, self.fails().1)
    }

    /// Where a heuristic's row of a strip is; a strip keeps room for a word on top.
    #[expect(clippy::cast_precision_loss, reason = "a few rows")]
    fn row(&self, (from, to): (f64, f64), heuristic: &str) -> f64 {
        let row = self.rows.iter().position(|name| *name == heuristic).unwrap_or(0);
        let height = (to - from) * 0.92;
        from + height * (1.0 - (row as f64 + 0.5) / self.rows.len().max(1) as f64)
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
            "budget, part of the heuristic's own peak without one"
        }
    }

    fn y_label(self) -> &'static str {
        if self.is_log {
            "overhead – 1 (log)"
        } else {
            "overhead"
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a place on the screen")]
    fn x(self, point: &BudgetSweepPoint) -> f64 {
        if self.in_bytes {
            point.budget.get() as f64
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

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a mark on an axis"
    )]
    fn x_text(self, value: f64) -> String {
        if self.in_bytes {
            Bytes(value.max(0.0) as u64).short()
        } else {
            format!("{value:.0} %")
        }
    }

    fn y_text(self, value: f64) -> String {
        if !self.is_log {
            let text = format!("{value:.3}");
            return text.strip_suffix('0').map_or(text.clone(), ToOwned::to_owned);
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

    /// Lines upwards: round parts, or round bytes.
    fn x_marks(self, range: (f64, f64), width: f32) -> Vec<GridMark> {
        let n_labels = f64::from((width / ROOM[0]).max(2.0));
        let least = (range.1 - range.0) / n_labels;
        let step = if self.in_bytes {
            // Bytes are round in powers of two.
            2_f64.powf(least.max(1.0).log2().ceil())
        } else {
            round_step(least / 1.6)
        };
        marks(range, step)
    }

    /// Lines across: round overheads, or decades; none in the strips.
    fn y_marks(self, range: (f64, f64), height: f32) -> Vec<GridMark> {
        // The strips take their part of the height.
        let n_labels = f64::from((height * 0.6 / ROOM[1]).max(2.0));
        let least = (range.1 - range.0) / n_labels;
        let step = if self.is_log {
            least.ceil().max(1.0)
        } else {
            round_step(least)
        };
        marks(range, step)
    }
}

/// The smallest of 1, 2, 5, 10 and so on that is no less.
fn round_step(least: f64) -> f64 {
    let decade = 10_f64.powf(least.max(1e-9).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * decade);
    steps.into_iter().find(|step| *step >= least * 0.999).unwrap_or(decade)
}

/// Multiples of a step in a range.
fn marks((from, to): (f64, f64), step: f64) -> Vec<GridMark> {
    let first = (from / step - 1e-9).ceil();
    let values = (0_u8..100).map(|number| (first + f64::from(number)) * step);
    let values = values.take_while(|value| *value <= to + step * 1e-9);
    // Equal steps, so that all lines are drawn alike.
    values.map(|value| GridMark { value, step_size: step }).collect()
}

/// The pieces of each line: neighbours that came to their ends.
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

/// From the smallest feasible budget to the largest that was tried.
fn limits(sweep: &Sweep<'_>, frame: &Frame) -> Vec<(usize, Vec<PlotPoint>)> {
    let shown = HEURISTICS.iter().filter(|row| frame.rows.contains(&row.name));
    let lines = shown.filter_map(|row| {
        let from = frame.limit(sweep, row)?;
        Some((points::position(row), vec![from, PlotPoint::new(frame.x.1, from.y)]))
    });
    lines.collect()
}

fn paint_points(
    painter: &egui::Painter,
    sweep: &Sweep<'_>,
    state: &BudgetsState,
    placed: &[(egui::Pos2, &BudgetSweepPoint)],
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

type Shown<'a, 'b> = (
    &'a Sweep<'b>,
    &'a mut BudgetsState,
    &'a [(egui::Pos2, &'b BudgetSweepPoint)],
);

/// Hover tells the figures, a click opens, arrows walk.
fn answer(
    ui: &egui::Ui,
    response: egui::Response,
    (sweep, state, placed): Shown<'_, '_>,
    theme: &Theme,
    commands: &mut Vec<Command>,
) {
    response.widget_info(|| {
        let label = "plot of overhead against budget; arrow keys choose a point, Enter opens it as a lane";
        egui::WidgetInfo::labeled(egui::Role::Image, true, label)
    });
    if response.has_focus() {
        ui.painter().rect_stroke(
            response.rect,
            0,
            egui::Stroke::new(1.0, theme.accent()),
            egui::StrokeKind::Inside,
        );
        walk(ui, &response, sweep, state);
    }
    let pointed = response.hover_pos().and_then(|pointer| {
        let near = placed.iter().map(|(at, point)| (at.distance(pointer), *at, *point));
        let near = near.filter(|(distance, ..)| *distance <= REACH);
        near.min_by(|a, b| a.0.total_cmp(&b.0))
    });
    let is_clicked = response.clicked();
    if is_clicked {
        // The arrow keys go on from here.
        response.request_focus();
    }
    if let Some((_, at, _)) = pointed {
        ui.painter()
            .circle_stroke(at, RADIUS + 2.0, egui::Stroke::new(1.5, theme.hover));
    }
    let is_pointer = ui.input(|input| input.pointer.any_released());
    let chosen = match pointed {
        Some((_, _, point)) if is_pointer => Some(point),
        _ if is_pointer => None,
        _ => state.selected.and_then(|key| sweep.find(key)),
    };
    if let Some((_, _, point)) = pointed {
        response.on_hover_text_at_pointer(points::hover_text(point));
    }
    if let Some(point) = chosen.filter(|_| is_clicked) {
        state.selected = Some(points::key(point));
        commands.extend(sweep.open(point));
    }
}

/// Left and right along a line, up and down from heuristic to heuristic.
fn walk(ui: &egui::Ui, response: &egui::Response, sweep: &Sweep<'_>, state: &mut BudgetsState) {
    let arrows = egui::EventFilter {
        horizontal_arrows: true,
        vertical_arrows: true,
        ..egui::EventFilter::default()
    };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, arrows));
    let pressed = |letter| ui.input(|input| input.key_pressed(letter));
    let step = |back, forth| i8::from(pressed(forth)) - i8::from(pressed(back));
    let (along, across) = (
        step(Letter::ArrowLeft, Letter::ArrowRight),
        step(Letter::ArrowUp, Letter::ArrowDown),
    );
    if along == 0 && across == 0 {
        return;
    }
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
        let next = at.checked_add_signed(isize::from(along)).and_then(|at| shown.get(at));
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
