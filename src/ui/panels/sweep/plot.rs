//! The plot: peak reserved along, estimated overhead up; the Pareto front and the capacity as lines.

use eframe::egui::{self, Pos2, RichText};
use egui_plot::{GridMark, Line, PlotBounds, PlotPoint, PlotPoints, VLine};

use super::{Shown, SweepState, capacity_of, facts, pin};
use crate::numbers::{count_f32, to_f64, to_whole};
use crate::panels::PaneCx;
use crate::panels::marker::{cross, marker, marker_ui};
use crate::panels::plots::{LABEL_ROOM, PlotAxis, RADIUS, Span, point_input, point_plot, round_bytes, round_step};
use highwater_analysis::sweep::{PointFigures, SweepPoint};
use highwater_model::units::{Bytes, Nanos};
use highwater_sim::{POLICIES, StaticMemoryPolicy};

/// Distance of nested outlines.
const NESTED: f32 = 3.0;
/// Markers in one cell hide each other; in points.
const CELL: f32 = 1.5;
/// Height of the legend below.
const LEGEND: f32 = 20.0;
const NAME: &str = "plot of overhead against peak; arrow keys choose a configuration, Enter pins it";

#[derive(Clone, Copy)]
struct Frame {
    is_log: bool,
    x: Span,
    y: Span,
}

/// A click pins a point.
pub(super) fn plot_ui(
    ui: &mut egui::Ui,
    shown: &Shown<'_>,
    state: &mut SweepState,
    size: egui::Vec2,
    cx: &mut PaneCx<'_>,
) {
    let (theme, table) = (shown.theme, shown.table);
    let capacity = capacity_of(table);
    let frame = Frame::of(shown, state.is_log, capacity);
    ui.vertical(|ui| {
        ui.set_width(size.x);
        let size = egui::vec2(size.x, size.y - LEGEND);
        let front = front(shown, frame);
        let along = PlotAxis {
            title: "peak reserved",
            marks: frame.x_marks(size.x),
            text: |value| Bytes(to_whole(value)).short(),
        };
        let up = PlotAxis {
            title: "overhead (estimate)",
            marks: frame.y_marks(size.y),
            text: move |value| frame.time_text(value),
        };
        let plot = point_plot("overhead against peak", size, along, up, 58.0, theme);
        let plotted = plot.show(ui, |plot| {
            plot.set_auto_bounds(false);
            let (x, y) = (frame.x, frame.y);
            plot.set_plot_bounds(PlotBounds::from_min_max([x.from, y.from], [x.to, y.to]));
            if let Some(capacity) = capacity {
                let line = VLine::new("capacity", to_f64(capacity.get()));
                plot.vline(line.color(theme.capacity).width(1.4).allow_hover(false));
            }
            let line = Line::new("front", PlotPoints::Owned(front))
                .color(theme.text_weak)
                .width(1.4)
                // Keeps the steps sharp.
                .allow_band(false);
            plot.line(line.allow_hover(false));
        });
        let place = |point: &SweepPoint| {
            let figures = point.figures()?;
            Some(plotted.transform.position_from_point(&frame.place(figures)))
        };
        let points = table.points.iter();
        let placed: Vec<(Pos2, &SweepPoint)> = points.filter_map(|point| Some((place(point)?, point))).collect();
        let painter = ui.painter().with_clip_rect(plotted.response.rect.expand(4.0));
        paint(&painter, shown, state, &placed);
        let input = point_input(ui, &plotted.response, NAME, &placed, theme);
        if let Some(arrows) = input.arrows {
            walk(shown, state, arrows);
        }
        if !input.near.is_empty() {
            let text = facts::hover_all_text(&table.space, &input.near);
            plotted.response.on_hover_text_at_pointer(text);
        }
        if let Some(point) = input.chosen(state.selected.and_then(|idx| table.point(idx))) {
            state.selected = Some(point.idx);
            cx.commands.push(pin(&table.space, point.idx));
        }
        let is_seen = |capacity: &Bytes| to_f64(capacity.get()) < frame.x.to;
        legend_ui(ui, shown, capacity.filter(is_seen));
    });
}

impl Frame {
    fn of(shown: &Shown<'_>, is_log: bool, capacity: Option<Bytes>) -> Self {
        let mut frame = Self {
            is_log,
            x: Span::EMPTY,
            y: Span::EMPTY,
        };
        // Points that do not fit are drawn where they are in range: their figures end early.
        let points = || shown.table.points.iter();
        let fits = points().any(|point| point.fitting().is_some());
        let figures = points().filter_map(|point| if fits { point.fitting() } else { point.figures() });
        for figures in figures {
            let place = frame.place(figures);
            frame.x.include(place.x);
            frame.y.include(place.y);
        }
        if frame.x.is_empty() {
            let whole = Span { from: 0.0, to: 1.0 };
            (frame.x, frame.y) = (whole, whole);
        }
        // Includes the capacity where points come near.
        let near = capacity
            .map(|capacity| to_f64(capacity.get()))
            .filter(|capacity| *capacity < frame.x.to * 1.5);
        if let Some(capacity) = near {
            frame.x.include(capacity);
        }
        let room = |span: Span, least: f64| span.widened((span.length() * 0.06).max(least));
        frame.x = room(frame.x, frame.x.to * 0.01);
        frame.y = room(frame.y, if is_log { 0.1 } else { (frame.y.to * 0.05).max(1.0) });
        frame
    }

    fn place(self, figures: &PointFigures) -> PlotPoint {
        let time = to_f64(figures.overhead.0);
        let y = if self.is_log { time.max(1.0).log10() } else { time };
        PlotPoint::new(to_f64(figures.peak_reserved.get()), y)
    }

    fn time_text(self, value: f64) -> String {
        let nanos = if self.is_log { 10_f64.powf(value) } else { value };
        Nanos(to_whole(nanos.round())).to_string()
    }

    fn x_marks(self, width: f32) -> Vec<GridMark> {
        self.x.marks(round_bytes(self.x.least_step(width, LABEL_ROOM[0])))
    }

    fn y_marks(self, height: f32) -> Vec<GridMark> {
        let least = self.y.least_step(height, LABEL_ROOM[1]);
        if self.is_log {
            return self.y.marks(least.ceil().max(1.0));
        }
        let marks = self.y.marks(round_step(least));
        marks.into_iter().filter(|mark| mark.value >= 0.0).collect()
    }
}

/// The Pareto front: along to each point, then down. Equal points count once.
fn front(shown: &Shown<'_>, frame: Frame) -> Vec<PlotPoint> {
    let mut line: Vec<PlotPoint> = Vec::new();
    let mut push = |place: PlotPoint| {
        if line.last() != Some(&place) {
            line.push(place);
        }
    };
    let mut last = None;
    for position in &shown.table.front {
        if let Some(figures) = shown.table.points[*position].fitting() {
            let place = frame.place(figures);
            if let Some(last) = last {
                push(PlotPoint::new(place.x, last));
            }
            push(place);
            last = Some(place.y);
        }
    }
    if let Some(last) = last {
        push(PlotPoint::new(frame.x.to, last));
    }
    line
}

/// Markers of one cell hide each other.
#[expect(clippy::cast_possible_truncation, reason = "casts of floats saturate")]
fn cell(place: f32) -> i32 {
    (place / CELL).round() as i32
}

/// Position of a policy in the table, which gives colour and marker.
pub(super) fn position(policy: StaticMemoryPolicy) -> usize {
    POLICIES.iter().position(|row| row.policy == policy).unwrap_or(0)
}

fn paint(painter: &egui::Painter, shown: &Shown<'_>, state: &SweepState, placed: &[(Pos2, &SweepPoint)]) {
    let theme = shown.theme;
    // Draws one of several points in a cell.
    let mut drawn = std::collections::BTreeSet::new();
    let mut placed_in_order: Vec<&(Pos2, &SweepPoint)> = placed.iter().collect();
    placed_in_order.sort_by_key(|(_, point)| position(point.policy));
    for (at, point) in placed_in_order {
        let position = position(point.policy);
        let cell = (cell(at.x), cell(at.y), position, point.fitting().is_some());
        if state.selected != Some(point.idx) && !drawn.insert(cell) {
            continue;
        }
        let color = theme.heuristic(position);
        if point.fitting().is_some() {
            // Around those of other policies in the cell.
            let place = (cell.0, cell.1);
            let inner = (0..position).filter(|other| drawn.contains(&(place.0, place.1, *other, true)));
            let n_inner = inner.count();
            let radius = RADIUS + NESTED * count_f32(n_inner);
            marker(painter, *at, position, radius, color, n_inner == 0);
        } else {
            cross(painter, *at, 2.8, color);
        }
        if state.selected == Some(point.idx) {
            painter.circle_stroke(*at, RADIUS + 4.0, egui::Stroke::new(1.8, theme.selection));
        }
    }
    let winner = shown.winner();
    for (at, _) in placed.iter().filter(|(_, point)| Some(point.idx) == winner) {
        painter.circle_stroke(*at, RADIUS + 6.5, egui::Stroke::new(1.6, theme.good));
    }
}

/// Left and right by peak, up and down along the front.
fn walk(shown: &Shown<'_>, state: &mut SweepState, arrows: [isize; 2]) {
    let [along, across] = arrows;
    let table = shown.table;
    let order: Vec<u64> = if across != 0 {
        table.front.iter().map(|position| table.points[*position].idx).collect()
    } else {
        let points = table.points.iter();
        let figures =
            points.filter_map(|point| Some((point.figures()?.peak_reserved, point.figures()?.overhead, point.idx)));
        let mut sorted: Vec<(Bytes, Nanos, u64)> = figures.collect();
        sorted.sort_unstable();
        sorted.into_iter().map(|(_, _, idx)| idx).collect()
    };
    let here = order.iter().position(|idx| Some(*idx) == state.selected);
    let next = match here {
        None => order.first(),
        Some(at) => at.checked_add_signed(along + across).and_then(|at| order.get(at)),
    };
    if let Some(next) = next {
        state.selected = Some(*next);
    }
}

/// Colours and shapes of policies, and the lines.
fn legend_ui(ui: &mut egui::Ui, shown: &Shown<'_>, capacity: Option<Bytes>) {
    let mut policies: Vec<StaticMemoryPolicy> = shown.table.points.iter().map(|point| point.policy).collect();
    policies.sort_unstable();
    policies.dedup();
    let weak = |text: String| RichText::new(text).size(11.0).color(shown.theme.text_weak);
    ui.horizontal_wrapped(|ui| {
        for policy in policies {
            let position = position(policy);
            marker_ui(ui, position, 10.0, shown.theme.heuristic(position), true);
            ui.label(weak(format!("policy {}", policy.number())))
                .on_hover_text(policy.row().summary);
        }
        ui.label(weak("outline: several in one place".to_owned()))
            .on_hover_text("Several policies have the same point: their marks are nested");
        ui.label(weak("line: Pareto front".to_owned())).on_hover_text(
            "Pareto-optimal: no configuration needs less memory without more time, or less time without more memory",
        );
        if let Some(capacity) = capacity {
            let words = format!("capacity {}", capacity.short());
            ui.label(weak(words)).on_hover_text(capacity.exact());
        }
        let others = shown.table.points.iter().filter(|point| point.fitting().is_none());
        let others = others.count();
        if others > 0 {
            ui.label(weak(format!("× {others} refused, out of memory or stopped")))
                .on_hover_text("They are not in the plot; the table lists them");
        }
    });
}
