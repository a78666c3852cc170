//! Input of the lanes: keys, wheel, drags, clicks.
//!
//! A key acts once per press (the system repeats held keys), so that no input needs additional frames.

use eframe::egui::{Event, Key, Modifiers, Pos2, Rangef, Rect, Response, Ui};

use super::LanesCx;
use super::frame::LaneFrame;
use super::measure::{self, Plot};
use super::pinned_step::{Move, PinnedStep};
use super::range::step_at_x;
use super::state::{KeyboardFocus, Wish};
use super::{LaneContent, LanesInput, LanesState, Selected, shortage, ticks};
use crate::commands::UiCommand;
use crate::numbers::{to_f64, to_points, to_step};
use crate::panes::Pane;
use highwater_model::units::Step;
use highwater_session::Command;
use highwater_timeline::{Reach, Viewport};

/// Factor of a key's zoom.
const ZOOM: f64 = 1.25;
/// Exponent of the zoom per point of the wheel; as much as with Ctrl.
const WHEEL: f32 = 1.0 / 200.0;
/// Share of the view that a key moves.
const MOVE: f64 = 0.12;

/// Notes whether the drawing in `area` has the keyboard; a press elsewhere takes it away.
pub(super) fn follow_focus(ui: &Ui, area: Rect, state: &mut LanesState) {
    // Menus and dialogs above the lanes change nothing.
    let layer = ui.layer_id();
    let pressed = ui.input(|input| input.pointer.any_pressed().then(|| input.pointer.interact_pos())?);
    let pressed = pressed.filter(|pos| ui.ctx().layer_id_at(*pos).is_none_or(|at| at == layer));
    let was_pressed = pressed.map(|pos| area.contains(pos));
    let focused = ui.memory(eframe::egui::Memory::focused);
    let response = focused.and_then(|id| ui.ctx().read_response(id));
    let response = response.filter(|response| response.layer_id == layer);
    let is_ours = response.map(|response| area.expand(1.0).contains_rect(response.rect));
    if let (Some(false), Some(id), Some(true)) = (was_pressed, focused, is_ours) {
        ui.memory_mut(|memory| memory.surrender_focus(id));
    }
    state.keyboard = match was_pressed.or(is_ours) {
        Some(true) => KeyboardFocus::Drawing,
        Some(false) => KeyboardFocus::Elsewhere,
        None => state.keyboard,
    };
}

/// Handles the keys of the lanes, unless a field has the keyboard or a menu shortcut is meant.
pub(super) fn keys(ui: &Ui, cx: &mut LanesCx<'_>) {
    // Esc has closed a field by now; the last frame knew of it.
    let is_covered = std::mem::take(&mut cx.state.is_covered);
    if cx.state.wish.take() == Some(Wish::ZoomToSelection) {
        focus(cx.input, cx.state);
    }
    if ui.text_edit_focused() || cx.state.is_noting() || ui.memory(|memory| memory.top_modal_layer().is_some()) {
        return;
    }
    let pressed: Vec<(Key, Modifiers)> = ui.input(|i| {
        let presses = i.events.iter().filter_map(|event| match event {
            Event::Key {
                key,
                pressed: true,
                modifiers,
                ..
            } => Some((*key, *modifiers)),
            _ => None,
        });
        // Esc closes what covers the lanes.
        presses
            .filter(|(key, _)| !(is_covered && *key == Key::Escape))
            .collect()
    });
    for (key, modifiers) in pressed {
        if !modifiers.command && !modifiers.alt && (cx.state.keyboard == KeyboardFocus::Drawing || key == Key::Escape) {
            key_pressed(cx, key, modifiers.shift);
        }
    }
}

fn key_pressed(cx: &mut LanesCx<'_>, key: Key, is_shifted: bool) {
    let Some(viewport) = cx.state.viewport else { return };
    let middle = || cx.state.view().map_or(0.0, |view| view.step_from_x(0.5, 1.0));
    let step = cx.state.cursor.unwrap_or_else(middle);
    let address = viewport.a0;
    let bytes = viewport.bytes() * MOVE;
    match (key, is_shifted) {
        (Key::W, false) => cx.state.change_view(|view| view.zoom_steps(ZOOM, step)),
        (Key::S, false) => cx.state.change_view(|view| view.zoom_steps(1.0 / ZOOM, step)),
        (Key::W, true) => cx.state.change_view(|view| view.zoom_addresses(ZOOM, address)),
        (Key::S, true) => cx.state.change_view(|view| view.zoom_addresses(1.0 / ZOOM, address)),
        (Key::A, false) => cx.state.change_view(|view| view.pan(-MOVE, 0.0)),
        (Key::D, false) => cx.state.change_view(|view| view.pan(MOVE, 0.0)),
        (Key::A, true) => cx.state.change_view(|view| view.pan(0.0, -bytes)),
        (Key::D, true) => cx.state.change_view(|view| view.pan(0.0, bytes)),
        (Key::H, _) => cx.state.fit(),
        (Key::Backspace, is_shifted) => cx.state.step_view(!is_shifted),
        // Esc undoes one thing at a time, the newest first.
        (Key::Escape, _) if cx.state.measures.clear() => {}
        (Key::Escape, _) if cx.state.range.is_some() => cx.state.select_range(None),
        (Key::Escape, _) => {
            cx.state.unpin();
            cx.state.highlight = None;
            cx.commands.push(Command::Select(None));
        }
        (Key::J | Key::K, false) => cx.state.move_spot(Move::Step { is_next: key == Key::K }, cx.input),
        (Key::OpenBracket | Key::CloseBracket, _) => {
            let is_next = key == Key::CloseBracket;
            cx.state.move_spot(Move::Event { is_next }, cx.input);
        }
        (Key::Comma | Key::Period, _) => {
            let rows = cx.input.timeline.rows_of(cx.state.lane_of_rows(cx.input));
            let is_next = key == Key::Period;
            let shown = cx
                .input
                .drawn
                .lifetimes
                .filter(|_| cx.state.content == LaneContent::Lifetimes);
            let next = match shown {
                Some(shown) => shown.neighbour(cx.input.selected, is_next),
                None => rows.neighbour(cx.input.selected, is_next),
            };
            cx.commands.extend(next.map(|row| Command::Select(Some(row.tensor))));
        }
        _ => {}
    }
}

/// Shows the selected tensor; everything where the tensor fills the view already or nothing is selected.
pub(super) fn focus(input: &LanesInput<'_>, state: &mut LanesState) {
    let (Some(viewport), Some(whole)) = (state.viewport, state.whole) else {
        return;
    };
    let target = input
        .selected
        .and_then(|tensor| view_of(input, state, tensor, whole))
        .filter(|target| *target != viewport);
    state.viewport = Some(target.unwrap_or(whole));
}

/// The view of a tensor's live range and its addresses in all lanes.
fn view_of(input: &LanesInput<'_>, state: &LanesState, tensor: Selected, whole: Viewport) -> Option<Viewport> {
    let rows = input.timeline.rows_of(state.lane_of_rows(input));
    let row = rows.find(tensor).or_else(|| input.timeline.rows.find(tensor))?;
    let mut addresses = (f64::INFINITY, f64::NEG_INFINITY);
    for lane in &input.timeline.lanes {
        let scale = state.scale(input.timeline, lane);
        for block in lane.blocks_of(tensor) {
            let (base, bytes) = (
                lane.blocks.base.at(block as usize),
                lane.blocks.bytes.at(block as usize),
            );
            let (low, high) = (scale.common(to_f64(base)), scale.common(to_f64(base + bytes)));
            // Constant regions are outside the scale.
            if high > 0.0 {
                addresses = (addresses.0.min(low), addresses.1.max(high));
            }
        }
    }
    if addresses.0 > addresses.1 {
        addresses = (whole.a0, whole.a1);
    }
    let steps = (f64::from(row.start.0), f64::from(row.end.0));
    Some(state.view()?.focus(steps, addresses, whole))
}

/// The step under the pointer; `None` outside a column's canvases.
pub(super) fn cursor(ui: &Ui, area: Rect, plot_x: Rangef, state: &LanesState) -> Option<f64> {
    // Pictures show no cursor.
    let pos = ui
        .input(|i| i.pointer.hover_pos())
        .filter(|_| state.pictured.is_none())?;
    let plot = Rect::from_x_y_ranges(plot_x, area.y_range());
    if !plot.contains(pos) || !ui.rect_contains_pointer(plot) {
        return None;
    }
    let viewport = state.view()?;
    let step = viewport.step_from_x(f64::from(pos.x - plot.left()), f64::from(plot.width()));
    (step < state.whole?.t1).then_some(step.floor())
}

pub(super) fn pointer(ui: &Ui, cx: &mut LanesCx<'_>, frames: &[LaneFrame]) {
    cx.state.hovered = None;
    follow_step(cx.state);
    for frame in frames {
        let response = &frame.response;
        navigate(ui, response, plot_of(frame), cx.state);
        let pos = response.hover_pos().or_else(|| response.interact_pointer_pos());
        let Some(pos) = pos else { continue };
        let block = block_at(pos, frame, cx.input, cx.state);
        let tensor = block.and_then(|block| cx.input.timeline.lanes[frame.lane].tensor(block));
        if !response.dragged() {
            cx.state.hovered = tensor;
        }
        if response.double_clicked() {
            cx.state.fit();
        } else if response.clicked() {
            response.request_focus();
            cx.window_commands
                .push(UiCommand::ExplainLane(cx.input.comparison.lanes[frame.lane].id));
            if !pin_at(cx, pos, frame) {
                cx.commands.push(Command::Select(tensor));
            }
        }
        follow(frame.lane, pos, frame, cx.state);
    }
}

/// A click on a failed request of a recording pins its step and shows it in the Inspector, one on events or on the end of a run pins the step and shows the device; a click on the curve pins its step, or
/// unpins it.
fn pin_at(cx: &mut LanesCx<'_>, pos: Pos2, frame: &LaneFrame) -> bool {
    if let Some(step) = shortage::request_at(pos, frame, cx.input, cx.state) {
        cx.state.pin(frame.lane, step);
        cx.commands.push(Command::Select(None));
        cx.window_commands.push(UiCommand::ShowPane(Pane::Inspector));
        return true;
    }
    let ticks = ticks::column_at(pos, frame, cx.input, cx.state).map(|column| column.steps.0);
    let failed = cx.input.comparison.lanes[frame.lane].simulation.out_of_memory.as_ref();
    let failed = failed.filter(|_| shortage::is_at(pos, frame, cx.input, cx.state));
    if let Some(step) = ticks.or(failed.map(|failed| failed.step)) {
        cx.state.pin(frame.lane, step);
        cx.window_commands.push(UiCommand::ShowPane(Pane::Device));
        return true;
    }
    let is_area = cx.state.content == LaneContent::Areas && frame.map.contains(pos);
    if !frame.curve.contains(pos) && !frame.ticks.contains(pos) && !is_area {
        return false;
    }
    let Some(step) = peak_near(pos, frame, cx.input, cx.state).or_else(|| step_at_x(pos.x, frame.body, cx.state))
    else {
        return false;
    };
    match cx.state.pinned() {
        Some(spot) if (spot.lane, spot.step) == (frame.lane, step) => cx.state.unpin(),
        _ => cx.state.pin(frame.lane, step),
    }
    true
}

/// Outside the lanes the pointer gives a step but no lane.
fn follow_step(state: &mut LanesState) {
    let (None, Some(step)) = (state.pinned(), state.cursor) else {
        return;
    };
    if let Some(spot) = &mut state.spot {
        spot.step = to_step(step);
    }
}

/// The device pane follows the pointer unless a step is pinned.
fn follow(lane: usize, pos: Pos2, frame: &LaneFrame, state: &mut LanesState) {
    let Some(step) = step_at_x(pos.x, frame.body, state) else {
        return;
    };
    if state.pinned().is_none() && frame.body.contains(pos) {
        state.spot = Some(PinnedStep {
            lane,
            step,
            is_pinned: false,
        });
    }
}

pub(super) fn plot_of(frame: &LaneFrame) -> Plot {
    Plot {
        lane: frame.lane,
        body: frame.body,
        map: frame.map,
        scale: frame.scale,
        values: None,
    }
}

/// Wheel and drags move the view, unless a drag measures or zooms.
pub(super) fn navigate(ui: &Ui, response: &Response, plot: Plot, state: &mut LanesState) {
    // Heights of a difference are no addresses.
    let map = plot.values.map_or(plot.map, |_| Rect::NOTHING);
    let (width, height) = (f64::from(plot.body.width()), f64::from(map.height()));
    if measure::drag(ui, response, plot, state) {
        let delta = response.drag_delta();
        state.change_view(|view| {
            let bytes = f64::from(delta.y) / height * view.bytes();
            view.pan(-f64::from(delta.x) / width, bytes)
        });
    }
    zoom(ui, response, plot.body, map, state);
}

/// The wheel with Ctrl (or alone, by choice) and a pinch zoom; a sideways wheel moves. Heights within `map` are
/// addresses.
pub(super) fn zoom(ui: &Ui, response: &Response, plot: Rect, map: Rect, state: &mut LanesState) {
    let (width, height) = (f64::from(plot.width()), f64::from(map.height()));
    let Some(pos) = response.hover_pos() else { return };
    let (mut zoom, mut scroll, is_alt) = ui.input(|i| (i.zoom_delta(), i.smooth_scroll_delta(), i.modifiers.alt));
    if state.has_plain_wheel && scroll.y.abs() > scroll.x.abs() {
        zoom *= (scroll.y * WHEEL).exp();
        scroll = eframe::egui::Vec2::ZERO;
        // Consumes the scroll.
        ui.input_mut(|i| i.smooth_scroll_delta = scroll);
    }
    if is_alt && (zoom - 1.0).abs() <= f32::EPSILON && scroll.y.abs() > scroll.x.abs() {
        // With Alt the wheel moves along time.
        scroll = eframe::egui::vec2(scroll.y, 0.0);
        ui.input_mut(|i| i.smooth_scroll_delta = eframe::egui::Vec2::ZERO);
    }
    if (zoom - 1.0).abs() > f32::EPSILON {
        state.change_view(|view| {
            if is_alt && map.contains(pos) {
                let address = view.address_from_y(f64::from(pos.y - map.top()), height);
                view.zoom_addresses(f64::from(zoom), address)
            } else {
                let step = view.step_from_x(f64::from(pos.x - plot.left()), width);
                view.zoom_steps(f64::from(zoom), step)
            }
        });
    } else if scroll.x.abs() > 0.01 {
        state.change_view(|view| view.pan(-f64::from(scroll.x) / width, 0.0));
    }
}

/// The step of the peak mark, where a click within a few points means it and steps are too narrow to tell.
fn peak_near(pos: Pos2, frame: &LaneFrame, input: &LanesInput<'_>, state: &LanesState) -> Option<Step> {
    const REACH: f32 = 6.0;
    let step = input.comparison.shown_peak(frame.lane).step?;
    let (viewport, width) = (state.view()?, f64::from(frame.body.width()));
    let x = frame.body.left() + to_points(viewport.x_from_step(f64::from(step.0) + 0.5, width));
    let (from, to) = (f64::from(step.0), f64::from(step.0) + 1.0);
    let is_narrow = viewport.x_from_step(to, width) - viewport.x_from_step(from, width) < f64::from(REACH);
    (is_narrow && (pos.x - x).abs() <= REACH).then_some(step)
}

/// The block within a point and a half of the pointer.
pub(super) fn block_at(pos: Pos2, frame: &LaneFrame, input: &LanesInput<'_>, state: &LanesState) -> Option<u32> {
    const REACH: f64 = 1.5;
    let viewport = frame.view(state)?;
    let map = frame.map;
    if !map.contains(pos) || state.content != LaneContent::MemoryMap {
        return None;
    }
    let (width, height) = (f64::from(map.width()), f64::from(map.height()));
    let x = f64::from(pos.x - map.left());
    let step = viewport.step_from_x(x, width);
    let address = viewport.address_from_y(f64::from(pos.y - map.top()), height);
    let reach = Reach {
        steps: viewport.steps_between(x - REACH, x + REACH, width),
        bytes: viewport.bytes() / height * REACH,
    };
    input.timeline.lanes[frame.lane].pick_within(step, address, reach)
}
