//! Plots: one that is only looked at, and one with points that pointer and keys choose; round axis marks.

use eframe::egui::{self, Key, Pos2, Rangef, Response, RichText, Role, Sense, Stroke, StrokeKind, Vec2};
use egui_plot::{AxisHints, GridMark, Plot};

use crate::theme::Theme;
use crate::widgets::{Named as _, keep_arrows};

/// Distance at which the pointer hits a point, in points of the screen.
const REACH: f32 = 13.0;
pub(super) const RADIUS: f32 = 3.6;
/// Every mark has its label, because there are only as many marks as fit.
const LABELS: Rangef = Rangef { min: 1.0, max: 2.0 };
/// Room of a label along each axis.
pub(super) const LABEL_ROOM: [f32; 2] = [84.0, 34.0];

/// A plot without interaction.
pub(super) fn still_plot(name: &str, size: Vec2) -> Plot<'static> {
    Plot::new(name)
        .width(size.x)
        .height(size.y)
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_axis_zoom_drag(false)
        .allow_double_click_reset(false)
        .show_crosshair(false)
        .show_x(false)
        .show_y(false)
}

/// An axis: title, marks, labels of marks.
pub(super) struct PlotAxis<F> {
    pub(super) title: &'static str,
    pub(super) marks: Vec<GridMark>,
    pub(super) text: F,
}

/// A plot of points; `thickness` is the least width of the left axis.
pub(super) fn point_plot<X, Y>(
    name: &str,
    size: Vec2,
    x: PlotAxis<X>,
    y: PlotAxis<Y>,
    thickness: f32,
    theme: &Theme,
) -> Plot<'static>
where
    X: Fn(f64) -> String + 'static,
    Y: Fn(f64) -> String + 'static,
{
    let (x_text, y_text) = (x.text, y.text);
    let along = AxisHints::new_x()
        .label(RichText::new(x.title).size(11.0))
        .label_spacing(LABELS)
        .formatter(move |mark, _| x_text(mark.value));
    let up = AxisHints::new_y()
        .label(RichText::new(y.title).size(11.0))
        .label_spacing(LABELS)
        .min_thickness(thickness)
        .formatter(move |mark, _| y_text(mark.value));
    still_plot(name, size)
        .sense(Sense::click())
        .label_formatter(|_| None)
        .custom_x_axes(vec![along])
        .custom_y_axes(vec![up])
        .grid_color(theme.grid)
        .grid_spacing(LABELS)
        .x_grid_spacer(move |_| x.marks.clone())
        .y_grid_spacer(move |_| y.marks.clone())
}

/// The smallest of 1, 2, 5, 10 and so on that is no less.
pub(super) fn round_step(least: f64) -> f64 {
    let decade = 10_f64.powf(least.max(1e-9).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * decade);
    steps.into_iter().find(|step| *step >= least * 0.999).unwrap_or(decade)
}

/// The smallest power of two that is no less.
pub(super) fn round_bytes(least: f64) -> f64 {
    2_f64.powf(least.max(1.0).log2().ceil())
}

/// A part of an axis.
#[derive(Clone, Copy)]
pub(super) struct Span {
    pub(super) from: f64,
    pub(super) to: f64,
}

impl Span {
    pub(super) const EMPTY: Self = Self {
        from: f64::INFINITY,
        to: f64::NEG_INFINITY,
    };

    pub(super) fn include(&mut self, value: f64) {
        (self.from, self.to) = (self.from.min(value), self.to.max(value));
    }

    pub(super) fn length(self) -> f64 {
        self.to - self.from
    }

    pub(super) fn widened(self, margin: f64) -> Self {
        Self {
            from: self.from - margin,
            to: self.to + margin,
        }
    }

    /// The least step of marks for labels of this size, where the part is so many points long.
    pub(super) fn least_step(self, points: f32, label: f32) -> f64 {
        self.length() / f64::from((points / label).max(2.0))
    }

    /// Multiples of a step.
    pub(super) fn marks(self, step: f64) -> Vec<GridMark> {
        let first = (self.from / step - 1e-9).ceil();
        let values = (0_u8..100).map(|number| (first + f64::from(number)) * step);
        let values = values.take_while(|value| *value <= self.to + step * 1e-9);
        // Equal steps, so that all lines look alike.
        values.map(|value| GridMark { value, step_size: step }).collect()
    }
}

/// Input of a plot of points.
pub(super) struct PointInput<'p, P> {
    /// Points within reach of the pointer, nearest first.
    pub(super) near: Vec<&'p P>,
    /// Direction of pressed arrow keys: along, across.
    pub(super) arrows: Option<[isize; 2]>,
    is_clicked: bool,
    is_by_pointer: bool,
}

impl<'p, P> PointInput<'p, P> {
    /// The point chosen by a click, or the selected one chosen by Enter.
    pub(super) fn chosen(&self, selected: Option<&'p P>) -> Option<&'p P> {
        let nearest = self.near.first().copied();
        let point = if self.is_by_pointer { nearest } else { selected };
        point.filter(|_| self.is_clicked)
    }
}

/// Handles the input of a plot, and marks the point under the pointer.
pub(super) fn point_input<'p, P>(
    ui: &egui::Ui,
    response: &Response,
    name: &str,
    placed: &[(Pos2, &'p P)],
    theme: &Theme,
) -> PointInput<'p, P> {
    let response = response.clone().named(Role::Image, || name);
    let arrows = response.has_focus().then(|| {
        let stroke = Stroke::new(1.0, theme.accent());
        ui.painter().rect_stroke(response.rect, 0, stroke, StrokeKind::Inside);
        keep_arrows(ui, response.id, true, true);
        let pressed = |key| ui.input(|input| input.key_pressed(key));
        let step = |back, forth| isize::from(pressed(forth)) - isize::from(pressed(back));
        [
            step(Key::ArrowLeft, Key::ArrowRight),
            step(Key::ArrowUp, Key::ArrowDown),
        ]
    });
    let mut near = response.hover_pos().map_or_else(Vec::new, |pointer| {
        let near = placed.iter().map(|(at, point)| (at.distance(pointer), *at, *point));
        near.filter(|(distance, ..)| *distance <= REACH).collect()
    });
    near.sort_by(|a, b| a.0.total_cmp(&b.0));
    let is_clicked = response.clicked();
    if is_clicked {
        // The arrow keys continue from here.
        response.request_focus();
    }
    if let Some((_, at, _)) = near.first() {
        let stroke = Stroke::new(1.5, theme.hover);
        ui.painter().circle_stroke(*at, RADIUS + 2.0, stroke);
    }
    PointInput {
        near: near.into_iter().map(|(_, _, point)| point).collect(),
        arrows: arrows.filter(|arrows| *arrows != [0, 0]),
        is_clicked,
        is_by_pointer: ui.input(|input| input.pointer.any_released()),
    }
}
