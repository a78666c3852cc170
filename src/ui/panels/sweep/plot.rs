//! Points as a plot of two figures: lines, markers by series, a limit; pointer and keys choose a point.

use std::collections::BTreeSet;

use eframe::egui::{self, Pos2};
use egui_plot::{Line, PlotBounds, PlotPoint, PlotPoints, VLine};

use super::PointsState;
use super::frame::{Frame, Placed, placed_at};
use super::legend::legend_ui;
use super::points::{ColumnId, Mark, Points, hover_text, shown};
use crate::numbers::count_f32;
use crate::panels::PaneCx;
use crate::panels::marker::{cross, marker};
use crate::panels::plots::{RADIUS, Span, point_input, point_plot};
use crate::theme::Theme;
use highwater_analysis::Figure;
use highwater_model::units::grouped;

/// Distance of nested outlines.
const NESTED: f32 = 3.0;
/// Markers in one cell hide each other; in points.
const CELL: f32 = 1.5;
/// Height of a line of the legend below, and width of one right of the plot.
const LEGEND: f32 = 20.0;
const LEGEND_WIDTH: f32 = 176.0;
/// Least width of the plot right of which there is a legend.
const LEAST: f32 = 160.0;
/// Widths of a letter in the legend, and of the marker and the room of an entry; letters of the lines.
const LETTER: f32 = 5.0;
const ENTRY: f32 = 26.0;
const LINES: usize = 45;

/// The shown points with figures, and kinds of the figures.
#[derive(Clone, Debug)]
pub(super) struct PlacedPoints {
    points: Vec<Placed>,
    /// `None` without points.
    kinds: Option<[Figure; 2]>,
}

impl PlacedPoints {
    pub(super) fn of(points: &dyn Points, state: &PointsState, names: [&'static str; 2]) -> Self {
        let columns = points.columns();
        let find = |name| columns.iter().find(|column| column.id == ColumnId::Named(name));
        let columns = find(names[0]).zip(find(names[1]));
        let mut placed = Self {
            points: Vec::new(),
            kinds: None,
        };
        for at in shown(points, state) {
            let figures = columns.and_then(|(along, up)| Some([(along.cell)(at).figure?, (up.cell)(at).figure?]));
            let Some(figures) = figures else { continue };
            placed.kinds.get_or_insert(figures);
            placed.points.push(Placed {
                at,
                place: figures.map(Figure::number),
                series: points.series_of(at),
                mark: points.status(at).0,
            });
        }
        placed
    }
}

/// The plot with its legend, of one size even where every series is hidden; a click chooses a point.
pub(super) fn plot_ui(
    ui: &mut egui::Ui,
    cx: &mut PaneCx<'_>,
    points: &dyn Points,
    state: &mut PointsState,
    size: egui::Vec2,
) {
    let Some(plotted) = points.plotted() else { return };
    let names = plotted.map(|(name, _)| name);
    let placed = state.placed(points, names);
    let plot = placed.kinds.map(|kinds| {
        let axes = [0, 1].map(|axis| (plotted[axis].1, kinds[axis], Span::EMPTY));
        PointPlot {
            title: format!("{} against {}", names[1], names[0]),
            frame: Frame::of(points, state, axes, &placed.points),
            points,
            placed: &placed.points,
        }
    });
    let draw = |ui: &mut egui::Ui, cx: &mut PaneCx<'_>, state: &mut PointsState, size| match &plot {
        Some(plot) => plot.ui(ui, cx, state, size),
        None => drop(ui.allocate_exact_size(size, egui::Sense::hover())),
    };
    let frame = plot.as_ref().map(|plot| &plot.frame);
    if points.strips().is_some() {
        ui.horizontal_top(|ui| {
            ui.set_height(size.y);
            let width = (size.x - LEGEND_WIDTH - 8.0).max(LEAST);
            draw(ui, cx, state, egui::vec2(width, size.y));
            let legend = egui::ScrollArea::vertical()
                .id_salt("legend")
                .auto_shrink([false, false]);
            legend.show(ui, |ui| {
                ui.vertical(|ui| legend_ui(ui, points, state, frame, cx.theme));
            });
        });
        return;
    }
    ui.vertical(|ui| {
        ui.set_width(size.x);
        let all_series = points.series();
        let letters = all_series.iter().map(|series| series.label.len()).sum::<usize>() + LINES;
        let width = count_f32(letters) * LETTER + count_f32(all_series.len() + 2) * ENTRY;
        let n_lines = (width / size.x.max(1.0)).ceil();
        draw(ui, cx, state, egui::vec2(size.x, size.y - LEGEND * n_lines));
        ui.horizontal_wrapped(|ui| legend_ui(ui, points, state, frame, cx.theme));
    });
}

struct PointPlot<'p> {
    title: String,
    frame: Frame,
    points: &'p dyn Points,
    placed: &'p [Placed],
}

impl PointPlot<'_> {
    fn ui(&self, ui: &mut egui::Ui, cx: &mut PaneCx<'_>, state: &mut PointsState, size: egui::Vec2) {
        let Self {
            title, frame, placed, ..
        } = self;
        let points = self.points;
        let [along, up] = [0, 1].map(|axis| frame.axis(axis, size[axis]));
        let plot = point_plot(title, size, along, up, 58.0, cx.theme);
        let plotted = plot.show(ui, |plot| {
            plot.set_auto_bounds(false);
            let [(.., x), (.., y)] = frame.axes;
            let y = frame.strips.as_ref().map_or(y, |_| Span {
                from: frame.strip(false).from,
                to: frame.strip(true).to,
            });
            plot.set_plot_bounds(PlotBounds::from_min_max([x.from, y.from], [x.to, y.to]));
            frame.draw_strips(plot, cx.theme);
            if let Some((limit, _)) = points.limit() {
                let line = VLine::new("limit", limit.number()).color(cx.theme.capacity);
                plot.vline(line.width(1.4).allow_hover(false));
            }
            for (color, line) in lines(points, frame, placed, cx.theme) {
                // Without a band steps stay sharp.
                let line = Line::new("line", PlotPoints::Owned(line)).allow_band(false);
                plot.line(line.color(color).width(1.5).allow_hover(false));
            }
        });
        let screen = |place: &PlotPoint| plotted.transform.position_from_point(place);
        let targets: Vec<(Pos2, &Placed)> = placed
            .iter()
            .map(|point| (screen(&frame.place(point)), point))
            .collect();
        let painter = ui.painter().with_clip_rect(plotted.response.rect.expand(4.0));
        for (color, from) in frame.limits(points, placed, cx.theme) {
            let from = screen(&from);
            let tick = egui::vec2(0.0, 3.0);
            painter.line_segment([from - tick, from + tick], egui::Stroke::new(2.0, color));
        }
        paint(&painter, points, state, &targets, cx.theme);
        let name = format!("plot of {title}; arrow keys choose a point, Enter: {}", points.verb());
        let input = point_input(ui, &plotted.response, &name, &targets, cx.theme);
        if let Some(arrows) = input.arrows
            && let Some(next) = walk(points, placed, state, arrows)
        {
            state.selected = Some(points.key(next.at));
        }
        if let Some((nearest, others)) = input.near.split_first() {
            let mut text = hover_text(points, nearest.at);
            if !others.is_empty() {
                text.push_str(&format!("\n{} more at the pointer", grouped(others.len() as u64)));
            }
            plotted.response.on_hover_text_at_pointer(text);
        }
        let selected = |point: &&Placed| Some(points.key(point.at)) == state.selected;
        if let Some(point) = input.chosen(placed.iter().find(selected)) {
            state.selected = Some(points.key(point.at));
            cx.commands.extend(points.choose(point.at));
        }
    }
}

/// The Pareto front as steps; or lines per series between neighbours that completed, and from its limit to the right.
fn lines(points: &dyn Points, frame: &Frame, placed: &[Placed], theme: &Theme) -> Vec<(egui::Color32, Vec<PlotPoint>)> {
    let place = |point: &Placed| frame.place(point);
    let end = frame.axes[0].2.to;
    if let Some(front) = points.front() {
        let mut steps: Vec<PlotPoint> = Vec::new();
        for next in on_front(front, placed).map(place) {
            let corner = steps.last().map(|before| PlotPoint::new(next.x, before.y));
            steps.extend(corner);
            steps.push(next);
        }
        let last = steps.last().map(|last| PlotPoint::new(end, last.y));
        steps.extend(last);
        // Equal points count once.
        steps.dedup();
        return vec![(theme.text_weak, steps)];
    }
    let mut lines = Vec::new();
    for series in points.series() {
        let of_series = along(placed, |point| point.series == series.position);
        for piece in of_series.split(|point| !point.mark.has_completed()) {
            let line = piece.iter().map(|point| place(point)).collect();
            lines.push((theme.heuristic(series.position), line));
        }
    }
    let limits = frame.limits(points, placed, theme).into_iter();
    lines.extend(limits.map(|(color, from)| (color, vec![from, PlotPoint::new(end, from.y)])));
    lines
}

fn on_front<'p>(front: &[usize], placed: &'p [Placed]) -> impl Iterator<Item = &'p Placed> {
    front.iter().filter_map(|at| placed_at(placed, *at))
}

/// Some points by the figure along, then up.
fn along(placed: &[Placed], is_wanted: impl Fn(&Placed) -> bool) -> Vec<&Placed> {
    let mut wanted: Vec<&Placed> = placed.iter().filter(|point| is_wanted(point)).collect();
    wanted.sort_by(|a, b| {
        a.place[0]
            .total_cmp(&b.place[0])
            .then(a.place[1].total_cmp(&b.place[1]))
    });
    wanted
}

/// Markers of one cell hide each other.
#[expect(clippy::cast_possible_truncation, reason = "casts of floats saturate")]
fn cell(place: f32) -> i32 {
    (place / CELL).round() as i32
}

fn paint(
    painter: &egui::Painter,
    points: &dyn Points,
    state: &PointsState,
    targets: &[(Pos2, &Placed)],
    theme: &Theme,
) {
    // Draws one of several points in a cell.
    let mut drawn = BTreeSet::new();
    let mut in_order: Vec<&(Pos2, &Placed)> = targets.iter().collect();
    in_order.sort_by_key(|(_, point)| point.series);
    let winner = points.winner();
    for (at, point) in in_order {
        let key = Some(points.key(point.at));
        let is_selected = state.selected == key;
        let has_completed = point.mark.has_completed();
        let (x, y, series) = (cell(at.x), cell(at.y), point.series);
        if !drawn.insert((x, y, series, has_completed)) && !is_selected && winner != key {
            continue;
        }
        let color = theme.heuristic(series);
        match point.mark {
            Mark::Failed => cross(painter, *at, 2.8, color),
            Mark::Stopped => marker(painter, *at, series, 2.8, color, false),
            Mark::Fits | Mark::Over => {
                // Around those of other series in the cell, where no lines tell these apart.
                let inner = (0..series).filter(|other| drawn.contains(&(x, y, *other, true)));
                let n_inner = points.front().map_or(0, |_| inner.count());
                let radius = RADIUS + NESTED * count_f32(n_inner);
                let is_solid = n_inner == 0 && point.mark == Mark::Fits;
                marker(painter, *at, series, radius, color, is_solid);
            }
        }
        let rings = [
            (points.is_lane(point.at), 3.0, theme.selection),
            (is_selected, 5.0, theme.hover),
            (winner == key, 7.0, theme.good),
        ];
        for (_, distance, color) in rings.into_iter().filter(|(is_drawn, ..)| *is_drawn) {
            painter.circle_stroke(*at, RADIUS + distance, egui::Stroke::new(1.6, color));
        }
    }
}

/// Left and right by the figure along, among points of the series where they have lines; up and down along the front, or to
/// the nearest point of the next series.
fn walk<'p>(points: &dyn Points, placed: &'p [Placed], state: &PointsState, [x, y]: [isize; 2]) -> Option<&'p Placed> {
    let here = placed.iter().find(|point| Some(points.key(point.at)) == state.selected);
    let row: Vec<&Placed> = match (points.front(), here) {
        (Some(front), _) if y != 0 => on_front(front, placed).collect(),
        (None, Some(here)) if y != 0 => {
            let is_beyond = |point: &Placed| {
                if y > 0 {
                    point.series > here.series
                } else {
                    point.series < here.series
                }
            };
            let distance = |point: &Placed| (point.place[0] - here.place[0]).abs().to_bits();
            let others = placed.iter().filter(|point| is_beyond(point));
            return others.min_by_key(|point| (point.series.abs_diff(here.series), distance(point)));
        }
        (None, Some(here)) => along(placed, |point| point.series == here.series),
        _ => along(placed, |_| true),
    };
    match here.and_then(|here| row.iter().position(|point| point.at == here.at)) {
        Some(at) => at.checked_add_signed(x + y).and_then(|next| row.get(next)).copied(),
        None => row.first().copied(),
    }
}
