//! The plot: peak reserved along, estimated overhead up; the line of those that nobody beats, the line of the capacity.

use eframe::egui::{self, Key as Letter, RichText};
use egui_plot::{AxisHints, GridMark, Line, Plot, PlotBounds, PlotPoint, PlotPoints, VLine};

use super::{Shown, SweepState, capacity_of, facts, pin};
use crate::panels::budgets::{cross, marker};
use crate::panels::{count_as_f32, still_plot};
use crate::theme::Theme;
use highwater_analysis::sweep::{PointFigures, SweepPoint};
use highwater_model::units::{Bytes, Nanos};
use highwater_session::Command;
use highwater_sim::{POLICIES, StaticMemoryPolicy};

/// How far from a point the pointer means it, in points of the screen.
const REACH: f32 = 13.0;
const RADIUS: f32 = 3.6;
/// Every mark has its label, because there are only as many as fit.
const LABELS: egui::Rangef = egui::Rangef { min: 1.0, max: 2.0 };
/// Room for a label along the axes.
const ROOM: [f32; 2] = [84.0, 34.0];
/// How much larger the outline of a point is than what stands within it.
const NESTED: f32 = 3.0;
/// Cells of markers that hide each other, in points of the screen.
const CELL: f32 = 1.5;
/// Room for the legend below.
const LEGEND: f32 = 20.0;

/// Where things stand in the plot.
#[derive(Clone, Copy)]
struct Frame {
    is_log: bool,
    x: (f64, f64),
    y: (f64, f64),
}

/// Draws the plot; a click pins a point.
pub(super) fn plot_ui(
    ui: &mut egui::Ui,
    shown: &Shown<'_>,
    state: &mut SweepState,
    size: egui::Vec2,
    commands: &mut Vec<Command>,
) {
    let capacity = capacity_of(shown.table);
    let frame = Frame::of(shown, state.is_log, capacity);
    let theme = shown.theme;
    ui.vertical(|ui| {
        ui.set_width(size.x);
        let front = front(shown, frame);
        let response = plot(frame, size.x, size.y - LEGEND, theme).show(ui, |plot| {
            plot.set_auto_bounds(false);
            let ((left, right), (bottom, top)) = (frame.x, frame.y);
            plot.set_plot_bounds(PlotBounds::from_min_max([left, bottom], [right, top]));
            if let Some(capacity) = capacity {
                let line = VLine::new("capacity", bytes(capacity)).color(theme.capacity).width(1.4);
                plot.vline(line.allow_hover(false));
            }
            let line = Line::new("front", PlotPoints::Owned(front))
                .color(theme.text_weak)
                .width(1.4)
                // Steps are no curve with many points a pixel.
                .allow_band(false);
            plot.line(line.allow_hover(false));
        });
        let place = |point: &SweepPoint| {
            let figures = point.figures()?;
            Some(response.transform.position_from_point(&frame.place(figures)))
        };
        let points = shown.table.points.iter();
        let placed: Vec<(egui::Pos2, &SweepPoint)> = points.filter_map(|point| Some((place(point)?, point))).collect();
        let painter = ui.painter().with_clip_rect(response.response.rect.expand(4.0));
        paint(&painter, shown, state, &placed);
        answer(ui, response.response, (shown, state, &placed), commands);
        let is_seen = |capacity: &Bytes| bytes(*capacity) < frame.x.1;
        legend_ui(ui, shown, capacity.filter(is_seen));
    });
}

fn plot(frame: Frame, width: f32, height: f32, theme: &Theme) -> Plot<'static> {
    still_plot("overhead against peak", width, height)
        .sense(egui::Sense::click())
        .label_formatter(|_| None)
        .custom_x_axes(vec![
            AxisHints::new_x()
                .label(RichText::new("peak reserved").size(11.0))
                .label_spacing(LABELS)
                .formatter(|mark, _| bytes_text(mark.value)),
        ])
        .custom_y_axes(vec![
            AxisHints::new_y()
                .label(RichText::new("overhead (estimate)").size(11.0))
                .label_spacing(LABELS)
                .min_thickness(58.0)
                .formatter(move |mark, _| frame.time_text(mark.value)),
        ])
        .grid_color(theme.grid)
        .grid_spacing(LABELS)
        .x_grid_spacer(move |_| frame.x_marks(width))
        .y_grid_spacer(move |_| frame.y_marks(height))
}

#[expect(clippy::cast_precision_loss, reason = "a place on the screen")]
const fn bytes(bytes: Bytes) -> f64 {
    bytes.get() as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a mark on an axis; casts of floats saturate"
)]
fn bytes_text(value: f64) -> String {
    Bytes(value.max(0.0) as u64).short()
}

impl Frame {
    fn of(shown: &Shown<'_>, is_log: bool, capacity: Option<Bytes>) -> Self {
        let mut frame = Self {
            is_log,
            x: (f64::INFINITY, f64::NEG_INFINITY),
            y: (f64::INFINITY, f64::NEG_INFINITY),
        };
        let wider = |range: (f64, f64), value: f64| (range.0.min(value), range.1.max(value));
        // What did not come to its end is drawn where it is in sight: its figures are those until then.
        let points = || shown.table.points.iter();
        let fits = points().any(|point| point.fitting().is_some());
        let figures = points().filter_map(|point| if fits { point.fitting() } else { point.figures() });
        for figures in figures {
            let place = frame.place(figures);
            frame.x = wider(frame.x, place.x);
            frame.y = wider(frame.y, place.y);
        }
        if frame.x.0 > frame.x.1 {
            (frame.x, frame.y) = ((0.0, 1.0), (0.0, 1.0));
        }
        // The capacity is shown where points come near to it.
        let near = capacity.map(bytes).filter(|capacity| *capacity < frame.x.1 * 1.5);
        if let Some(capacity) = near {
            frame.x = wider(frame.x, capacity);
        }
        let room = |(from, to): (f64, f64), least: f64| {
            let margin = ((to - from) * 0.06).max(least);
            (from - margin, to + margin)
        };
        frame.x = room(frame.x, frame.x.1 * 0.01);
        frame.y = room(frame.y, if is_log { 0.1 } else { (frame.y.1 * 0.05).max(1.0) });
        frame
    }

    #[expect(clippy::cast_precision_loss, reason = "a place on the screen")]
    fn place(self, figures: &PointFigures) -> PlotPoint {
        let time = figures.overhead.0 as f64;
        let y = if self.is_log { time.max(1.0).log10() } else { time };
        PlotPoint::new(bytes(figures.peak_reserved), y)
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a mark on an axis; casts of floats saturate"
    )]
    fn time_text(self, value: f64) -> String {
        let nanos = if self.is_log { 10_f64.powf(value) } else { value };
        Nanos(nanos.max(0.0).round() as u64).to_string()
    }

    fn x_marks(self, width: f32) -> Vec<GridMark> {
        let least = (self.x.1 - self.x.0) / f64::from((width / ROOM[0]).max(2.0));
        // Bytes are round in powers of two.
        marks(self.x, 2_f64.powf(least.max(1.0).log2().ceil()))
    }

    fn y_marks(self, height: f32) -> Vec<GridMark> {
        let least = (self.y.1 - self.y.0) / f64::from((height / ROOM[1]).max(2.0));
        if self.is_log {
            return marks(self.y, least.ceil().max(1.0));
        }
        let decade = 10_f64.powf(least.max(1e-9).log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * decade);
        let step = steps.into_iter().find(|step| *step >= least * 0.999).unwrap_or(decade);
        let marks = marks(self.y, step);
        marks.into_iter().filter(|mark| mark.value >= 0.0).collect()
    }
}

/// Multiples of a step in a range.
fn marks((from, to): (f64, f64), step: f64) -> Vec<GridMark> {
    let first = (from / step - 1e-9).ceil();
    let values = (0_u8..100).map(|number| (first + f64::from(number)) * step);
    let values = values.take_while(|value| *value <= to + step * 1e-9);
    values.map(|value| GridMark { value, step_size: step }).collect()
}

/// The line of those that nobody beats: along to each, then down. Points that lie on each other are one of it.
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
        push(PlotPoint::new(frame.x.1, last));
    }
    line
}

/// The cell of a place on the screen: markers of one cell hide each other.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a place on the screen; casts of floats saturate"
)]
fn cell(place: f32) -> i32 {
    (place / CELL).round() as i32
}

/// Position of a policy in the table: its colour and marker.
pub(super) fn position(policy: StaticMemoryPolicy) -> usize {
    POLICIES.iter().position(|row| row.policy == policy).unwrap_or(0)
}

fn paint(painter: &egui::Painter, shown: &Shown<'_>, state: &SweepState, placed: &[(egui::Pos2, &SweepPoint)]) {
    let theme = shown.theme;
    // Of points that lie on each other one is drawn.
    let mut drawn = std::collections::BTreeSet::new();
    let mut placed_in_order: Vec<&(egui::Pos2, &SweepPoint)> = placed.iter().collect();
    placed_in_order.sort_by_key(|(_, point)| position(point.policy));
    for (at, point) in placed_in_order {
        let position = position(point.policy);
        let cell = (cell(at.x), cell(at.y), position, point.fitting().is_some());
        if state.selected != Some(point.idx) && !drawn.insert(cell) {
            continue;
        }
        let color = theme.heuristic(position);
        if point.fitting().is_some() {
            // Around those of other policies that are there already.
            let place = (cell.0, cell.1);
            let inner = (0..position).filter(|other| drawn.contains(&(place.0, place.1, *other, true)));
            let n_inner = inner.count();
            let radius = RADIUS + NESTED * count_as_f32(n_inner);
            marker(painter, *at, position, radius, color, n_inner == 0);
        } else {
            cross(painter, *at, 2.8, color);
        }
        if state.selected == Some(point.idx) {
            painter.circle_stroke(*at, RADIUS + 4.0, egui::Stroke::new(1.8, theme.selection));
        }
    }
    let found = shown.table.recommendation.as_deref();
    let winner = found
        .and_then(|found| found.winner.as_ref())
        .map(|winner| winner.point.idx);
    for (at, _) in placed.iter().filter(|(_, point)| Some(point.idx) == winner) {
        painter.circle_stroke(*at, RADIUS + 6.5, egui::Stroke::new(1.6, theme.good));
    }
}

type Points<'a, 'b> = (&'a Shown<'b>, &'a mut SweepState, &'a [(egui::Pos2, &'b SweepPoint)]);

/// Hover tells the figures, a click pins, arrows walk, Enter pins.
fn answer(
    ui: &egui::Ui,
    response: egui::Response,
    (shown, state, placed): Points<'_, '_>,
    commands: &mut Vec<Command>,
) {
    response.widget_info(|| {
        let label = "plot of overhead against peak; arrow keys choose a configuration, Enter pins it";
        egui::WidgetInfo::labeled(egui::Role::Image, true, label)
    });
    if response.has_focus() {
        let stroke = egui::Stroke::new(1.0, shown.theme.accent());
        ui.painter()
            .rect_stroke(response.rect, 0, stroke, egui::StrokeKind::Inside);
        walk(ui, &response, shown, state);
    }
    let near = response.hover_pos().map_or_else(Vec::new, |pointer| {
        let near = placed.iter().map(|(at, point)| (at.distance(pointer), *at, *point));
        let mut near: Vec<_> = near.filter(|(distance, ..)| *distance <= REACH).collect();
        near.sort_by(|a, b| a.0.total_cmp(&b.0));
        near
    });
    let pointed = near.first();
    let is_clicked = response.clicked();
    if is_clicked {
        // The arrow keys go on from here.
        response.request_focus();
    }
    if let Some((_, at, _)) = pointed {
        let stroke = egui::Stroke::new(1.5, shown.theme.hover);
        ui.painter().circle_stroke(*at, RADIUS + 2.0, stroke);
    }
    let is_pointer = ui.input(|input| input.pointer.any_released());
    let chosen = if is_pointer {
        pointed.map(|(_, _, point)| point.idx)
    } else {
        state.selected.filter(|idx| shown.table.point(*idx).is_some())
    };
    if !near.is_empty() {
        let points: Vec<&SweepPoint> = near.iter().map(|(_, _, point)| *point).collect();
        response.on_hover_text_at_pointer(facts::hover_all_text(&shown.table.space, &points));
    }
    if let Some(idx) = chosen.filter(|_| is_clicked) {
        state.selected = Some(idx);
        commands.push(pin(&shown.table.space, idx));
    }
}

/// Left and right from peak to peak, up and down along the front.
fn walk(ui: &egui::Ui, response: &egui::Response, shown: &Shown<'_>, state: &mut SweepState) {
    let arrows = egui::EventFilter {
        horizontal_arrows: true,
        vertical_arrows: true,
        ..egui::EventFilter::default()
    };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, arrows));
    let pressed = |letter| ui.input(|input| input.key_pressed(letter));
    let step = |back, forth| isize::from(pressed(forth)) - isize::from(pressed(back));
    let along = step(Letter::ArrowLeft, Letter::ArrowRight);
    let across = step(Letter::ArrowUp, Letter::ArrowDown);
    if along == 0 && across == 0 {
        return;
    }
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

/// Which colour and shape is which policy, and what the lines are.
fn legend_ui(ui: &mut egui::Ui, shown: &Shown<'_>, capacity: Option<Bytes>) {
    let mut policies: Vec<StaticMemoryPolicy> = shown.table.points.iter().map(|point| point.policy).collect();
    policies.sort_unstable();
    policies.dedup();
    let weak = |text: String| RichText::new(text).size(11.0).color(shown.theme.text_weak);
    ui.horizontal_wrapped(|ui| {
        for policy in policies {
            let (area, _) = ui.allocate_exact_size(egui::vec2(10.0, 10.0), egui::Sense::hover());
            let position = position(policy);
            marker(
                ui.painter(),
                area.center(),
                position,
                3.2,
                shown.theme.heuristic(position),
                true,
            );
            ui.label(weak(format!("policy {}", policy.number())))
                .on_hover_text(policy.row().summary);
        }
        ui.label(weak("outline: several in one place".to_owned()))
            .on_hover_text("points of several policies that come to the same: the marks stand around each other");
        ui.label(weak("line: nobody beats".to_owned())).on_hover_text(
            "none needs less memory in no more time, or less time in no more memory, than those on the line",
        );
        if let Some(capacity) = capacity {
            let words = format!("capacity {}", capacity.short());
            ui.label(weak(words)).on_hover_text(capacity.exact());
        }
        let others = shown.table.points.iter().filter(|point| point.fitting().is_none());
        let others = others.count();
        if others > 0 {
            ui.label(weak(format!("× {others} refused, out of memory or given up")))
                .on_hover_text("they have no place in the plot; the table says which is which");
        }
    });
}
