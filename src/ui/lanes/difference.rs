//! The lane of a difference: bytes of one lane minus those of another.
//!
//! Above zero the first lane holds more. A pixel column spans the exact extremes of its steps, as in other lanes.

use std::ops::Range;

use eframe::egui::{self, Align, Layout, Rect, Role, Sense, Stroke, StrokeKind, Ui, pos2, vec2};

use super::LanesCx;
use super::canvas::{Quads, equal_runs, label_beside, left_axis, reading_x, text_with_ground};
use super::frame::{GUTTER, MARGIN, Wanted};
use super::lane_scale::LaneScale;
use super::measure::{self, Plot};
use super::{LanesInput, LanesState, gestures};
use crate::numbers::{at_least_one, count_f32, signed_to_f64, to_points, to_step};
use crate::widgets::{Named as _, row_at};
use highwater_model::units::{Bytes, signed_bytes};
use highwater_session::Command;
use highwater_timeline::{Extremes, LaneDifference, SignedCurve, Tick, View, byte_ticks};

const HEADER: f32 = 24.0;
const GAP: f32 = 8.0;
/// Least height of a difference, in points.
const LEAST_SEEN: f32 = 2.5;

pub(super) fn signed(bytes: i64) -> String {
    match bytes {
        0 => "no difference".to_owned(),
        _ => signed_bytes(bytes.into()),
    }
}

/// The room of a difference: only its row where the lanes do not differ.
pub(super) fn wanted(difference: &LaneDifference, input: &LanesInput<'_>) -> Wanted {
    Wanted {
        is_folded: is_zero(curve_of(difference, input).0),
        ..Wanted::LOW
    }
}

fn is_zero(curve: &SignedCurve) -> bool {
    curve
        .extremes()
        .is_none_or(|extremes| (extremes.low.0, extremes.high.0) == (0, 0))
}

/// Draws nothing without a difference.
pub(super) fn difference_ui(ui: &mut Ui, cx: &mut LanesCx<'_>, outer: Rect) {
    let Some(difference) = cx.input.drawn.difference else {
        return;
    };
    let title = |id| cx.input.comparison.lane_title(id);
    let titles = (title(difference.lanes.0), title(difference.lanes.1));
    let header = Rect::from_min_size(outer.min, vec2(outer.width() - MARGIN, HEADER));
    let rect = Rect::from_min_max(
        pos2(outer.left() + GUTTER, header.bottom()),
        pos2(outer.right() - MARGIN, outer.bottom() - GAP),
    );
    let response = ui.interact(rect, ui.scope_id().with("difference"), Sense::click_and_drag());
    let (curve, what) = curve_of(difference, cx.input);
    let lane = cx.input.comparison.lanes.len();
    let response = response.named(Role::Canvas, || {
        let measured = measure::words(cx.input, lane, cx.state, Some(curve)).map(|words| format!("; {words}"));
        let measured = measured.unwrap_or_default();
        let label = format!("difference, {} less {}: {what}{measured}", titles.0, titles.1);
        label
    });
    let scale = Scale::of(curve);
    let plot = Plot {
        lane,
        body: rect,
        map: rect,
        scale: LaneScale::COMMON,
        values: Some(scale.ends()),
    };
    gestures::navigate(ui, &response, plot, cx.state);
    if response.double_clicked() {
        cx.state.fit();
    }
    header_ui(ui, cx, header, &titles, what, curve.extremes());
    let Some(viewport) = cx.state.view() else { return };
    paint(ui, rect, curve, scale, &viewport, cx.input);
    measure::paint(ui, plot, cx.input, cx.state, Some(curve));
    paint_reading(ui, rect, curve, what, cx.input, cx.state);
}

/// Reserved bytes where both lanes state them, else live bytes.
fn curve_of<'a>(difference: &'a LaneDifference, input: &LanesInput<'_>) -> (&'a SignedCurve, &'static str) {
    let states_reserved = |id| {
        let position = input.comparison.position(id);
        position.is_some_and(|position| input.comparison.states(position).0)
    };
    if states_reserved(difference.lanes.0) && states_reserved(difference.lanes.1) {
        (&difference.reserved, "reserved")
    } else {
        (&difference.live, "live")
    }
}

fn header_ui(
    ui: &mut Ui,
    cx: &mut LanesCx<'_>,
    rect: Rect,
    titles: &(String, String),
    what: &str,
    extremes: Option<Extremes>,
) {
    let ui = &mut row_at(ui, rect, Layout::left_to_right(Align::Center), "difference");
    ui.add_space(4.0);
    ui.label(egui::RichText::new("A \u{2212} B").strong().size(16.0));
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        let close = ui.button("Close");
        if close.on_hover_text("Close the difference and show all lanes").clicked() {
            cx.commands.push(Command::SetDifference(None));
        }
        if let Some(extremes) = extremes {
            extremes_ui(ui, extremes, cx.input);
        }
        // The words get the rest.
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            let words = format!("{} less {}, {what}", titles.0, titles.1);
            ui.add(egui::Label::new(words).truncate())
                .on_hover_text("Above the line the first lane reserves more, below it less");
        });
    });
}

/// Least and greatest difference, right-aligned.
fn extremes_ui(ui: &mut Ui, extremes: Extremes, input: &LanesInput<'_>) {
    let theme = input.theme;
    let first = input.drawn.difference.map(|difference| difference.lanes.0);
    let lane = first.and_then(|id| input.comparison.position(id)).unwrap_or(0);
    for ((bytes, step), color) in [(extremes.low, theme.good), (extremes.high, theme.bad)] {
        if bytes != 0 {
            let exact = Bytes(bytes.unsigned_abs()).exact();
            let at = input.comparison.step_text(lane, step);
            ui.label(egui::RichText::new(format!("{} at {at}", signed(bytes))).color(color))
                .on_hover_text(format!("{exact} {}", if bytes > 0 { "more" } else { "less" }));
        }
    }
    if (extremes.low.0, extremes.high.0) == (0, 0) {
        ui.weak("no difference on any step");
    }
}

/// Axis marks above and below zero, in the steps of the larger side.
fn signed_ticks(low: f64, high: f64, most: u32) -> Vec<Tick> {
    let steps = byte_ticks(0.0, high.max(-low), most);
    let below = steps.iter().filter(|tick| tick.value > 0.0 && tick.value <= -low);
    let below = below.map(|tick| Tick {
        value: -tick.value,
        label: format!("\u{2212}{}", tick.label),
    });
    let above = steps.iter().filter(|tick| tick.value <= high).cloned();
    below.chain(above).collect()
}

#[derive(Clone, Copy)]
struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    fn of(curve: &SignedCurve) -> Self {
        let (low, high) = curve
            .extremes()
            .map_or((0, 0), |extremes| (extremes.low.0.min(0), extremes.high.0.max(0)));
        Self {
            low: signed_to_f64(low),
            high: signed_to_f64(high),
        }
    }

    /// Bytes of the whole height: a little more than needed, so that nothing touches the frame.
    fn span(self) -> f64 {
        (self.high - self.low).max(1.0) * 1.1
    }

    /// Bytes at the top and at the bottom.
    fn ends(self) -> (f64, f64) {
        let top = self.high + self.span() * 0.045;
        (top, top - self.span())
    }

    fn y(self, rect: Rect, bytes: f64) -> f32 {
        let share = (self.ends().0 - bytes) / self.span();
        rect.top() + to_points(share * f64::from(rect.height()))
    }
}

fn paint(ui: &Ui, rect: Rect, curve: &SignedCurve, scale: Scale, viewport: &View<'_>, input: &LanesInput<'_>) {
    let theme = input.theme;
    let outer = ui.painter();
    outer.rect_filled(rect, 0, theme.canvas);
    let zero = scale.y(rect, 0.0);
    let y = |bytes: i64| scale.y(rect, signed_to_f64(bytes));
    let most = at_least_one((rect.height() / 24.0).min(4.0));
    let ticks = signed_ticks(scale.low, scale.high, most);
    left_axis(outer, rect, &ticks, |value| scale.y(rect, value), theme);
    let painter = ui.painter_at(rect);
    let width = at_least_one((rect.width() * ui.pixels_per_point()).round());
    let columns = curve.columns(viewport, width);
    let step = rect.width() / count_f32(width as usize);
    let mut quads = Quads::default();
    for Range { start, end } in equal_runs(columns.len(), |one, other| columns[one] == columns[other]) {
        let (least, most) = columns[start];
        let x = (
            rect.left() + count_f32(start) * step,
            rect.left() + count_f32(end) * step,
        );
        let mut add = |from: i64, to: i64, color| {
            // Small differences stay visible.
            let (top, bottom) = if to > 0 {
                (y(to).min(zero - LEAST_SEEN), y(from))
            } else {
                (y(to), y(from).max(zero + LEAST_SEEN))
            };
            let place = Rect::from_min_max(pos2(x.0, top), pos2(x.1, bottom));
            quads.add(place, color);
        };
        if most > 0 {
            add(0, most, theme.more());
        }
        if least < 0 {
            add(least, 0, theme.less());
        }
    }
    quads.paint(&painter);
    painter.hline(rect.x_range(), zero, Stroke::new(1.0, theme.text_weak));
    outer.rect_stroke(rect, 0, Stroke::new(1.0, theme.frame), StrokeKind::Outside);
}

fn paint_reading(ui: &Ui, rect: Rect, curve: &SignedCurve, what: &str, input: &LanesInput<'_>, state: &LanesState) {
    super::canvas::cursor_line(ui, rect, state, input.theme);
    let (Some(x), Some(step)) = (reading_x(rect, state), state.reading()) else {
        return;
    };
    let value = curve.at(to_step(step).0);
    let words = format!("{} {what}", signed(value));
    let theme = input.theme;
    let place = label_beside(pos2(x, rect.bottom() - 2.0), 8.0, Align::BOTTOM, rect);
    text_with_ground(&ui.painter_at(rect), place, words, (theme.text, theme.halo()), rect);
}

#[cfg(test)]
mod tests {
    use super::signed_ticks;

    #[test]
    fn a_low_side_has_no_marks_on_its_scale() {
        let labels = |low: f64, high: f64| {
            let ticks = signed_ticks(low, high, 3);
            ticks.into_iter().map(|tick| tick.label).collect::<Vec<String>>()
        };
        let mib = 1024.0 * 1024.0;
        assert_eq!(labels(-3.0 * mib, 330.0 * mib), ["0", "128\u{a0}MiB", "256\u{a0}MiB"]);
        assert_eq!(
            labels(-200.0 * mib, 130.0 * mib),
            ["\u{2212}128\u{a0}MiB", "0", "128\u{a0}MiB"]
        );
        assert_eq!(labels(0.0, 0.0), ["0"]);
    }
}
