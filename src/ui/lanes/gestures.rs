//! What the hands do: keys, wheel, drags, clicks.
//!
//! Keys answer to one press at a time (held keys repeat by the system's rate), so that nothing needs a frame of its own.

use eframe::egui::{Event, Key, Modifiers, Pos2, Rangef, Rect, Response, Ui};

use super::frame::LaneFrame;
use super::measure::{self, Plot};
use super::pinned_step::{Move, PinnedStep};
use super::{LaneAction, LaneContent, LanesInput, LanesState, Selected, shortage, ticks};
use highwater_model::units::Step;
use highwater_timeline::Viewport;

/// How much a key zooms.
const ZOOM: f64 = 1.25;
/// How much a point of the wheel zooms, where it does so alone: the exponent; as much as with Ctrl.
const WHEEL: f32 = 1.0 / 200.0;
/// Which share of the view a key moves.
const MOVE: f64 = 0.12;

/// Keys that belong to the lanes, unless words are being typed or a menu shortcut is meant.
pub(super) fn keys(ui: &Ui, input: &LanesInput<'_>, state: &mut LanesState, actions: &mut Vec<LaneAction>) {
    // Esc has taken the keyboard from a field already: it is known from the frame before that there was one.
    let is_covered = std::mem::take(&mut state.is_covered);
    if ui.text_edit_focused() || state.is_noting() || ui.memory(|memory| memory.top_modal_layer().is_some()) {
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
        // What stands before the lanes, and is closed by Esc, takes it.
        presses
            .filter(|(key, _)| !(is_covered && *key == Key::Escape))
            .collect()
    });
    for (key, modifiers) in pressed {
        if modifiers.command {
            if key == Key::Num0 {
                state.fit();
            }
        } else if !modifiers.alt {
            key_pressed(key, modifiers.shift, input, state, actions);
        }
    }
}

fn key_pressed(
    key: Key,
    is_shifted: bool,
    input: &LanesInput<'_>,
    state: &mut LanesState,
    actions: &mut Vec<LaneAction>,
) {
    let Some(viewport) = state.viewport else { return };
    let middle = || state.view().map_or(0.0, |view| view.step_from_x(0.5, 1.0));
    let step = state.cursor.unwrap_or_else(middle);
    let address = viewport.a0;
    let bytes = viewport.bytes() * MOVE;
    match (key, is_shifted) {
        (Key::W, false) => state.change_view(|view| view.zoom_steps(ZOOM, step)),
        (Key::S, false) => state.change_view(|view| view.zoom_steps(1.0 / ZOOM, step)),
        (Key::W, true) => state.change_view(|view| view.zoom_addresses(ZOOM, address)),
        (Key::S, true) => state.change_view(|view| view.zoom_addresses(1.0 / ZOOM, address)),
        (Key::A, false) => state.change_view(|view| view.pan(-MOVE, 0.0)),
        (Key::D, false) => state.change_view(|view| view.pan(MOVE, 0.0)),
        (Key::A, true) => state.change_view(|view| view.pan(0.0, -bytes)),
        (Key::D, true) => state.change_view(|view| view.pan(0.0, bytes)),
        (Key::H, false) => state.fit(),
        (Key::H, true) => state.fit_tensors(input.timeline),
        (Key::F, _) => focus(input, state),
        (Key::Backspace, is_shifted) => state.step_view(!is_shifted),
        // One thing at a time, what was made last first.
        (Key::Escape, _) if state.measures.clear() => {}
        (Key::Escape, _) if state.range.is_some() => state.select_range(None),
        (Key::Escape, _) => {
            state.unpin();
            state.highlight = None;
            actions.push(LaneAction::Select(None));
        }
        (Key::J | Key::K, false) => state.move_spot(Move::Step { is_next: key == Key::K }, input),
        (Key::OpenBracket | Key::CloseBracket, _) => {
            let is_next = key == Key::CloseBracket;
            state.move_spot(Move::Event { is_next }, input);
        }
        (Key::Comma | Key::Period, _) => {
            let rows = input.timeline.rows_of(state.lane_of_rows(input));
            let is_next = key == Key::Period;
            let shown = input
                .drawn
                .lifetimes
                .filter(|_| state.content == LaneContent::Lifetimes);
            let next = match shown {
                Some(shown) => shown.neighbour(input.selected, is_next),
                None => rows.neighbour(input.selected, is_next),
            };
            actions.extend(next.map(|row| LaneAction::Select(Some(row.tensor))));
        }
        _ => {}
    }
}

/// Shows the selected tensor; where it is shown already, or nothing is selected, shows everything.
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

/// The view on a tensor's life, and on the addresses that it has in all lanes.
#[expect(clippy::cast_precision_loss, reason = "a picture needs no more than 53 bits")]
fn view_of(input: &LanesInput<'_>, state: &LanesState, tensor: Selected, whole: Viewport) -> Option<Viewport> {
    let rows = input.timeline.rows_of(state.lane_of_rows(input));
    let row = rows.find(tensor).or_else(|| input.timeline.rows.find(tensor))?;
    let mut addresses = (f64::INFINITY, f64::NEG_INFINITY);
    for lane in &input.timeline.lanes {
        let reach = state.arrangement.reach(input.timeline, lane);
        for block in lane.blocks_of(tensor) {
            let (base, bytes) = (lane.blocks.base[block as usize], lane.blocks.bytes[block as usize]);
            addresses.0 = addresses.0.min(base as f64 / reach);
            addresses.1 = addresses.1.max((base + bytes) as f64 / reach);
        }
    }
    if addresses.0 > addresses.1 {
        addresses = (whole.a0, whole.a1);
    }
    let steps = (f64::from(row.start.0), f64::from(row.end.0));
    Some(state.view()?.focus(steps, addresses, whole))
}

/// The step under the pointer, where it is over a column's canvases.
pub(super) fn cursor(ui: &Ui, area: Rect, plot_x: Rangef, state: &LanesState) -> Option<f64> {
    // In a picture the pointer leaves no trace.
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

/// Wheel, drags and clicks on the lanes.
pub(super) fn pointer(
    ui: &Ui,
    frames: &[LaneFrame],
    input: &LanesInput<'_>,
    state: &mut LanesState,
    actions: &mut Vec<LaneAction>,
) {
    state.hovered = None;
    follow_step(state);
    for frame in frames {
        let response = &frame.response;
        navigate(ui, response, plot_of(frame), state);
        let pos = response.hover_pos().or_else(|| response.interact_pointer_pos());
        let Some(pos) = pos else { continue };
        let block = block_at(pos, frame, input, state);
        let tensor = block.and_then(|block| input.timeline.lanes[frame.lane].tensor(block));
        if !response.dragged() {
            state.hovered = tensor;
        }
        if response.double_clicked() {
            state.fit();
        } else if response.clicked() {
            response.request_focus();
            actions.push(LaneAction::Explain(input.comparison.lanes[frame.lane].id));
            if !pin_at(pos, frame, input, state, actions) {
                actions.push(LaneAction::Select(tensor));
            }
        }
        follow(frame.lane, pos, frame, state);
    }
}

/// A click on events, or on the end of a run, pins the step and shows the device there; one on the curve pins its
/// step, or takes the pin away where it is already.
fn pin_at(
    pos: Pos2,
    frame: &LaneFrame,
    input: &LanesInput<'_>,
    state: &mut LanesState,
    actions: &mut Vec<LaneAction>,
) -> bool {
    let ticks = ticks::column_at(pos, frame, input, state).map(|column| column.steps.0);
    let failed = input.comparison.lanes[frame.lane].simulation.out_of_memory.as_ref();
    let failed = failed.filter(|_| shortage::is_at(pos, frame, input, state));
    if let Some(step) = ticks.or(failed.map(|failed| failed.step)) {
        state.pin(frame.lane, step);
        actions.push(LaneAction::ShowDevice);
        return true;
    }
    let is_area = state.content == LaneContent::Areas && frame.map.contains(pos);
    if !frame.curve.contains(pos) && !frame.ticks.contains(pos) && !is_area {
        return false;
    }
    let Some(step) = peak_near(pos, frame, input, state).or_else(|| step_at(pos, frame, state)) else {
        return false;
    };
    match state.pinned() {
        Some(spot) if (spot.lane, spot.step) == (frame.lane, step) => state.unpin(),
        _ => state.pin(frame.lane, step),
    }
    true
}

/// Beside the lanes the pointer tells a step, but no lane.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cursor is within the steps"
)]
fn follow_step(state: &mut LanesState) {
    let (None, Some(step)) = (state.pinned(), state.cursor) else {
        return;
    };
    if let Some(spot) = &mut state.spot {
        spot.step = Step(step.max(0.0) as u32);
    }
}

/// The device panel looks where the pointer is, unless a step is pinned.
fn follow(lane: usize, pos: Pos2, frame: &LaneFrame, state: &mut LanesState) {
    let Some(step) = step_at(pos, frame, state) else { return };
    if state.pinned().is_none() && frame.body.contains(pos) {
        state.spot = Some(PinnedStep {
            lane,
            step,
            is_pinned: false,
        });
    }
}

/// The step under the pointer.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to the steps there are"
)]
fn step_at(pos: Pos2, frame: &LaneFrame, state: &LanesState) -> Option<Step> {
    let (viewport, whole) = (state.view()?, state.whole?);
    let step = viewport.step_from_x(f64::from(pos.x - frame.body.left()), f64::from(frame.body.width()));
    Some(Step(step.clamp(0.0, (whole.t1 - 1.0).max(0.0)) as u32))
}

/// The canvas of a lane.
pub(super) fn plot_of(frame: &LaneFrame) -> Plot {
    Plot {
        lane: frame.lane,
        body: frame.body,
        map: frame.map,
        reach: frame.reach,
        values: None,
    }
}

/// Wheel and drags move the view, unless a drag measures or zooms.
pub(super) fn navigate(ui: &Ui, response: &Response, plot: Plot, state: &mut LanesState) {
    // Heights of a difference are no addresses to move.
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

/// The wheel with Ctrl (or alone, where that is set) and a pinch zoom, a sideways wheel moves. In `map` heights are addresses.
pub(super) fn zoom(ui: &Ui, response: &Response, plot: Rect, map: Rect, state: &mut LanesState) {
    let (width, height) = (f64::from(plot.width()), f64::from(map.height()));
    let Some(pos) = response.hover_pos() else { return };
    let (mut zoom, mut scroll, is_alt) = ui.input(|i| (i.zoom_delta(), i.smooth_scroll_delta(), i.modifiers.alt));
    if state.has_plain_wheel && scroll.y.abs() > scroll.x.abs() {
        zoom *= (scroll.y * WHEEL).exp();
        scroll = eframe::egui::Vec2::ZERO;
        // What is zoomed is not scrolled too.
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

/// The step of the peak's mark, where a click means it: within a few points, and where steps are too narrow to be told.
#[expect(clippy::cast_possible_truncation, reason = "points on a screen fit f32")]
fn peak_near(pos: Pos2, frame: &LaneFrame, input: &LanesInput<'_>, state: &LanesState) -> Option<Step> {
    const REACH: f32 = 6.0;
    let step = input.comparison.lanes[frame.lane].summary.peak_reserved_step?;
    let (viewport, width) = (state.view()?, f64::from(frame.body.width()));
    let x = frame.body.left() + viewport.x_from_step(f64::from(step.0) + 0.5, width) as f32;
    let (from, to) = (f64::from(step.0), f64::from(step.0) + 1.0);
    let is_narrow = viewport.x_from_step(to, width) - viewport.x_from_step(from, width) < f64::from(REACH);
    (is_narrow && (pos.x - x).abs() <= REACH).then_some(step)
}

/// The block under the pointer, or within a point and a half of it.
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
    let steps = viewport.steps_between(x - REACH, x + REACH, width);
    let reach = (steps, viewport.bytes() / height * REACH);
    input.timeline.lanes[frame.lane].pick_within((step, address), reach)
}
