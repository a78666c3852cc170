//! The budget line in a lane's curves: dragged with the pointer, moved with the arrow keys when focused.
//!
//! The scale does not change during a drag, so the line stays under the pointer. A new budget is requested as soon as
//! the last one is answered.

use eframe::egui::{Align2, CursorIcon, Key, Rect, Response, Role, Sense, Shape, Stroke, Ui, WidgetInfo, pos2, vec2};

use super::LanesCx;
use super::LanesInput;
use super::canvas::text_with_ground;
use super::curve::{Scale, scale};
use super::frame::LaneFrame;
use crate::numbers::{to_f64, to_whole};
use crate::widgets::keep_arrows;
use highwater_analysis::LaneId;
use highwater_model::units::Bytes;
use highwater_options::keys;
use highwater_session::Command;

/// Distance at which the pointer grabs the line.
const REACH: f32 = 4.0;
/// Lower curves show the figure only while the line is held or hovered.
const LEAST_NAMED: f32 = 40.0;
/// Steps of an arrow key and of a page key, as shares of the scale.
const STEPS: (f64, f64) = (0.01, 0.1);

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct BudgetDrag {
    lane: usize,
    bytes: Bytes,
    /// Budget at the start of the drag.
    begun: Bytes,
    /// The last requested budget.
    sent: Option<Bytes>,
    /// Bytes at the upper edge of the curves during the drag.
    top: Option<f64>,
}

impl BudgetDrag {
    fn new(lane: usize, bytes: Bytes) -> Self {
        Self {
            lane,
            bytes,
            begun: bytes,
            sent: None,
            top: None,
        }
    }

    pub(super) const fn top_while_held(&self) -> Option<f64> {
        self.top
    }

    /// Policies share their options, so all of them show the drag of one.
    fn is_shown_in(&self, lane: usize, input: &LanesInput<'_>) -> bool {
        let is_policy = |lane: usize| {
            let lane = input.comparison.lanes.get(lane);
            lane.is_some_and(|lane| matches!(lane.id, LaneId::Policy(_)))
        };
        self.lane == lane || is_policy(self.lane) && is_policy(lane)
    }
}

/// Draws the line and handles pointer and keys.
pub(super) fn budget_ui(ui: &mut Ui, cx: &mut LanesCx<'_>, frame: &LaneFrame) {
    let remat = cx.input.timeline.lanes[frame.lane].remat.as_deref();
    let Some(answered) = remat.and_then(|remat| remat.budget) else {
        return;
    };
    let scale = scale(frame, cx.input, cx.state);
    let rect = scale.rect;
    let of_lane = cx.state.budget.filter(|drag| drag.is_shown_in(frame.lane, cx.input));
    let bytes = of_lane.map_or(answered, |drag| drag.bytes);
    if cx.input.comparison.is_pinned_lane(frame.lane) {
        // A pinned configuration does not change.
        paint(ui, &scale, answered, false, cx.input);
        return;
    }
    let y = line_y(&scale, bytes);
    let grip = Rect::from_min_max(pos2(rect.left(), y - REACH), pos2(rect.right(), y + REACH));
    let id = ui.scope_id().with(("budget", frame.lane));
    let response = ui.interact(grip, id, Sense::click_and_drag());
    let title = cx.input.comparison.title_of(frame.lane);
    response.widget_info(|| WidgetInfo {
        value: Some(value_of(bytes)),
        ..WidgetInfo::labeled(Role::Slider, true, format!("budget line of {title}"))
    });
    if response.clicked() || response.drag_started() {
        response.request_focus();
    }
    let own = cx.state.budget.filter(|drag| drag.lane == frame.lane);
    let mut drag = own;
    pointer(&response, frame.lane, answered, &scale, &mut drag);
    let is_typing = key_input(ui, &response, frame.lane, bytes, &scale, &mut drag);
    if drag.is_some() || own.is_some() {
        let has_ended = response.drag_stopped() || response.lost_focus();
        let asked = ask(&mut drag, cx.input.is_stale, has_ended, answered);
        cx.commands
            .extend(asked.map(|budget| set_budget(cx.input.comparison.lanes[frame.lane].id, budget)));
        if has_ended {
            cx.commands.push(Command::EndTyping);
        }
        cx.state.budget = drag;
    }
    let shown = drag.map_or(bytes, |drag| drag.bytes);
    let is_marked = response.hovered() || response.dragged() || response.has_focus() || is_typing;
    paint(ui, &scale, shown, is_marked, cx.input);
    if response.dragged() {
        ui.set_cursor_icon(CursorIcon::ResizeVertical);
        return;
    }
    let response = response.on_hover_cursor(CursorIcon::ResizeVertical);
    response.on_hover_ui_at_pointer(|ui| {
        ui.strong(format!("budget {}", shown.exact()));
        ui.label("Budget of rematerialization, not the device capacity");
        ui.weak("Drag, or click and press Up, Down, Page Up, Page Down");
    });
}

fn pointer(response: &Response, lane: usize, answered: Bytes, scale: &Scale, drag: &mut Option<BudgetDrag>) {
    if response.drag_started() {
        let bytes = drag.map_or(answered, |drag| drag.bytes);
        *drag = Some(BudgetDrag {
            top: Some(scale.top),
            ..BudgetDrag::new(lane, bytes)
        });
    }
    let Some(held) = drag else { return };
    if response.dragged()
        && let Some(moved) = response.total_drag_delta()
    {
        held.bytes = scale.bytes_at(line_y(scale, held.begun) + moved.y);
    }
    if response.drag_stopped() {
        held.top = None;
    }
}

/// Arrow and page keys while the line is focused; returns whether one was pressed.
fn key_input(
    ui: &Ui,
    response: &Response,
    lane: usize,
    bytes: Bytes,
    scale: &Scale,
    drag: &mut Option<BudgetDrag>,
) -> bool {
    if !response.has_focus() {
        return false;
    }
    keep_arrows(ui, response.id, false, true);
    let pressed = |key: Key| ui.input(|input| input.num_presses(key)) as u64;
    let part = |share: f64| to_whole((scale.top * share).round()).max(1);
    let (arrow, page) = (part(STEPS.0), part(STEPS.1));
    let up = pressed(Key::ArrowUp) * arrow + pressed(Key::PageUp) * page;
    let down = pressed(Key::ArrowDown) * arrow + pressed(Key::PageDown) * page;
    if up == down {
        return false;
    }
    let typed = drag.get_or_insert(BudgetDrag::new(lane, bytes));
    let moved = typed.bytes.get().saturating_add(up).saturating_sub(down);
    typed.bytes = Bytes(moved.max(1));
    true
}

/// The budget to request now. While a request is pending there is none, except at the end of a drag. Clears a finished
/// drag.
fn ask(drag: &mut Option<BudgetDrag>, is_stale: bool, has_ended: bool, answered: Bytes) -> Option<Bytes> {
    let held = drag.as_mut()?;
    let is_news = held.bytes != held.sent.unwrap_or(answered);
    if is_news && (!is_stale || has_ended) {
        held.sent = Some(held.bytes);
        return held.sent;
    }
    if !is_news && !is_stale && held.top.is_none() {
        *drag = None;
    }
    None
}

/// Lanes with a budget of their own get it; all others have that of the options.
fn set_budget(lane: LaneId, budget: Bytes) -> Command {
    match lane {
        LaneId::Pass(position) => Command::SetRematBudget {
            lane: usize::from(position).saturating_sub(1),
            budget,
        },
        LaneId::Policy(_) | LaneId::Problem(_) | LaneId::Pinned(_) | LaneId::Measured(_) => {
            Command::type_option(keys::EVICTION_THRESHOLD, budget.get().to_string())
        }
    }
}

/// Clamped to the curves.
fn line_y(scale: &Scale, bytes: Bytes) -> f32 {
    let rect = scale.rect;
    scale.y(bytes.get()).min(rect.bottom() - 1.5).max(rect.top() + 1.5)
}

fn value_of(bytes: Bytes) -> f64 {
    to_f64(bytes.get())
}

fn paint(ui: &Ui, scale: &Scale, bytes: Bytes, is_marked: bool, input: &LanesInput<'_>) {
    let (rect, theme) = (scale.rect, input.theme);
    let painter = ui.painter_at(rect);
    let y = line_y(scale, bytes);
    let ends = [pos2(rect.left(), y), pos2(rect.right(), y)];
    let stroke = Stroke::new(if is_marked { 2.5 } else { 1.5 }, theme.budget);
    painter.extend(Shape::dashed_line(&ends, stroke, 7.0, 4.0));
    // The grip.
    let grip = Rect::from_center_size(pos2(rect.right() - 7.0, y), vec2(14.0, 5.0));
    painter.rect_filled(grip, 2, theme.budget);
    let above = if scale.y(bytes.get()) < rect.top() {
        ", above"
    } else {
        ""
    };
    let words = if is_marked {
        format!("budget {bytes} ({}){above}", bytes.exact())
    } else {
        format!("budget {bytes}{above}")
    };
    if !is_marked && rect.height() < LEAST_NAMED {
        return;
    }
    // Below the line, because the label of the peak lies above most.
    let x = rect.right() - 18.0;
    let place = if rect.bottom() - y > 17.0 {
        (pos2(x, y + 2.0), Align2::RIGHT_TOP)
    } else {
        (pos2(x, y - 2.0), Align2::RIGHT_BOTTOM)
    };
    text_with_ground(&painter, place, words, (theme.budget, theme.halo()), rect);
}
