//! The curves of all shown lanes in one drawing: reserved bytes, or live bytes where some lane does not state the reserved ones.
//!
//! Each lane is a line with a colour; the legend has its bytes at the step under the pointer, else its peak. Two lanes have their
//! difference filled. A pixel column spans the exact extremes of its steps, as in other views.

use eframe::egui::{Align2, Color32, Rect, Role, Sense, Stroke, StrokeKind, Ui, pos2, vec2};

use super::canvas::{Quads, cursor_line, equal_runs, left_axis, text_with_ground};
use super::curve::{Scale, add_curve};
use super::frame::{GUTTER, Grid, MARGIN, Wanted};
use super::lane_scale::LaneScale;
use super::measure::Plot;
use super::{LaneLayout, LanesCx, LanesInput, LanesState, gestures, minimap, ruler, shown_lanes};
use crate::numbers::{at_least_one, count_f32, to_f64, to_step, to_whole};
use crate::theme::Theme;
use crate::widgets::Named as _;
use highwater_model::units::{Bytes, signed_bytes};
use highwater_timeline::{Curve, byte_ticks};

/// Above the highest curve.
const HEADROOM: f64 = 1.06;
const ROW: f32 = 16.0;
const SWATCH: f32 = 9.0;

/// What every lane states.
#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Reserved,
    Live,
}

impl What {
    fn of(input: &LanesInput<'_>, lanes: &[usize]) -> Self {
        let states_reserved = |lane: &usize| input.comparison.states(*lane).0;
        if lanes.iter().all(states_reserved) {
            Self::Reserved
        } else {
            Self::Live
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Reserved => "reserved",
            Self::Live => "live",
        }
    }

    fn curve<'a>(self, input: &LanesInput<'a>, lane: usize) -> &'a Curve {
        let lane = &input.timeline.lanes[lane];
        match self {
            Self::Reserved => &lane.reserved,
            Self::Live => &lane.live,
        }
    }
}

/// The colour of a lane by its position.
fn color(theme: &Theme, lane: usize) -> Color32 {
    theme.heuristic(lane)
}

pub(super) fn curves_ui(ui: &mut Ui, cx: &mut LanesCx<'_>, area: Rect) {
    let shown = shown_lanes(cx.input, cx.state);
    let lanes: Vec<usize> = shown.into_iter().map(|(lane, _)| lane).collect();
    let (area, strip) = area.split_top_bottom_at_y(area.bottom() - minimap::HEIGHT);
    let grid = Grid::new(
        area,
        &[Wanted::PLAIN],
        LaneLayout::Stacked,
        ruler::height(cx.input.timeline),
        0.0,
    );
    let body = Rect::from_min_max(
        pos2(area.left() + GUTTER, area.top() + grid.ruler_height),
        pos2(area.right() - MARGIN, area.bottom() - 6.0),
    );
    cx.state.cursor = gestures::cursor(ui, body, grid.plot_x(0), cx.state);
    ruler::ruler_ui(ui, grid.ruler(0), cx.input, cx.state);
    let what = What::of(cx.input, &lanes);
    let peaks = lanes.iter().map(|lane| what.curve(cx.input, *lane).max());
    let scale = Scale {
        rect: body,
        top: to_f64(peaks.max().unwrap_or(0).max(1)) * HEADROOM,
    };
    let response = ui.interact(body, ui.scope_id().with("curves"), Sense::click_and_drag());
    let rows = legend(cx.input, cx.state, &lanes, what);
    let response = response.named(Role::Canvas, || {
        let rows: Vec<&str> = rows.iter().map(|row| row.text.as_str()).collect();
        format!("curves, {} bytes: {}", what.words(), rows.join("; "))
    });
    let plot = Plot {
        lane: lanes.first().copied().unwrap_or(0),
        body,
        map: body,
        scale: LaneScale::COMMON,
        values: Some((scale.top, 0.0)),
    };
    gestures::navigate(ui, &response, plot, cx.state);
    if response.double_clicked() {
        cx.state.fit();
    }
    paint(ui, cx, &lanes, what, &scale);
    paint_legend(ui, body, &rows, cx.input.theme);
    cursor_line(ui, body, cx.state, cx.input.theme);
    let strip = Rect::from_x_y_ranges(grid.plot_x(0), strip.y_range());
    minimap::strip_ui(ui, strip, cx.input, cx.state);
    ui.advance_cursor_after_rect(area);
}

fn paint(ui: &Ui, cx: &mut LanesCx<'_>, lanes: &[usize], what: What, scale: &Scale) {
    let theme = cx.input.theme;
    let outer = ui.painter();
    outer.rect_filled(scale.rect, 0, theme.canvas);
    let most = at_least_one((scale.rect.height() / 24.0).min(10.0));
    let ticks = byte_ticks(0.0, scale.top, most);
    left_axis(outer, scale.rect, &ticks, |value| scale.y(to_whole(value)), theme);
    let mut known = std::mem::take(&mut cx.state.caches.columns);
    known.turn();
    if let Some(view) = cx.state.view() {
        let width = at_least_one((scale.rect.width() * ui.pixels_per_point()).round());
        let columns: Vec<_> = lanes
            .iter()
            .map(|lane| known.of(what.curve(cx.input, *lane), &view, cx.state.warp.as_ref(), width))
            .collect();
        let mut quads = Quads::default();
        if let [one, other] = &columns[..] {
            fill_between(&mut quads, one, other, scale, theme);
        }
        for (lane, columns) in lanes.iter().zip(&columns) {
            add_curve(&mut quads, columns, scale, None, color(theme, *lane));
        }
        quads.paint(&ui.painter_at(scale.rect));
    }
    cx.state.caches.columns = known;
    outer.rect_stroke(scale.rect, 0, Stroke::new(1.0, theme.frame), StrokeKind::Outside);
}

/// Where the second lane holds more, and where less.
fn fill_between(quads: &mut Quads, one: &[(u64, u64)], other: &[(u64, u64)], scale: &Scale, theme: &Theme) {
    let n_columns = one.len().min(other.len());
    let width = scale.rect.width() / count_f32(n_columns.max(1));
    let highs = |at: usize| (one[at].1, other[at].1);
    for run in equal_runs(n_columns, |a, b| highs(a) == highs(b)) {
        let (first, second) = highs(run.start);
        let fill = if second > first { theme.more() } else { theme.less() };
        let (low, high) = (first.min(second), first.max(second));
        let x = [run.start, run.end].map(|at| scale.rect.left() + count_f32(at) * width);
        let place = Rect::from_min_max(pos2(x[0], scale.y(high)), pos2(x[1], scale.y(low)));
        quads.add(place, fill.gamma_multiply(0.35));
    }
}

struct LegendRow {
    color: Option<Color32>,
    text: String,
}

/// A row per lane: its bytes at the step under the pointer, else its peak; of two lanes also the difference.
fn legend(input: &LanesInput<'_>, state: &LanesState, lanes: &[usize], what: What) -> Vec<LegendRow> {
    let step = state.reading().map(to_step);
    let bytes = |lane: usize| {
        let curve = what.curve(input, lane);
        step.map_or(curve.max(), |step| curve.at(step.0))
    };
    let row = |lane: &usize| {
        let title = input.comparison.title_of(*lane);
        let figure = Bytes(bytes(*lane));
        let sign = input.comparison.bound_sign(*lane);
        let own = input.comparison.own_steps(*lane);
        let text = match step {
            Some(step) if step.0 < own.start => format!("{title}: begins later"),
            Some(step) if step.0 >= own.end => format!("{title}: has ended, with {sign}{figure}"),
            Some(step) => format!("{title}: {sign}{figure} at {}", input.comparison.step_text(*lane, step)),
            None => format!("{title}: peak {sign}{figure}"),
        };
        LegendRow {
            color: Some(color(input.theme, *lane)),
            text,
        }
    };
    let mut rows: Vec<LegendRow> = lanes.iter().map(row).collect();
    let are_both = |one: usize, other: usize| {
        let has = |lane: usize| step.is_none_or(|step| input.comparison.own_steps(lane).contains(&step.0));
        has(one) && has(other)
    };
    if let [one, other] = lanes[..]
        && are_both(one, other)
    {
        let difference = i128::from(bytes(other)) - i128::from(bytes(one));
        let of = if step.is_some() {
            "difference"
        } else {
            "difference of the peaks"
        };
        rows.push(LegendRow {
            color: None,
            text: format!("{of}: {}", signed_bytes(difference)),
        });
    }
    rows
}

fn paint_legend(ui: &Ui, rect: Rect, rows: &[LegendRow], theme: &Theme) {
    let painter = ui.painter_at(rect);
    // Reserved bytes rarely come near zero, so the rows are at the bottom.
    let top = rect.bottom() - ROW * count_f32(rows.len());
    for (position, row) in rows.iter().enumerate() {
        let middle = top + ROW * (count_f32(position) + 0.5) - 4.0;
        let left = rect.left() + 10.0;
        let swatch = Rect::from_center_size(pos2(left + SWATCH / 2.0, middle), vec2(SWATCH, SWATCH));
        if let Some(color) = row.color {
            painter.rect_filled(swatch, 2, color);
        }
        let place = (pos2(left + SWATCH + 4.0, middle), Align2::LEFT_CENTER);
        text_with_ground(&painter, place, row.text.clone(), (theme.text, theme.halo()), rect);
    }
}
