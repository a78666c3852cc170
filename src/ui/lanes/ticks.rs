//! The row of events between curve and map: a mark per class and pixel column.

use eframe::egui::{Painter, Pos2, Rect, Stroke, Ui, pos2, vec2};

use super::event_row::{EventRow, paint_frame};
use super::frame::LaneFrame;
use super::tooltip::rows_ui;
use super::{LanesInput, LanesState};
use crate::panels::marker::{crossed, polygon};
use crate::theme::Theme;
use highwater_model::units::{Bytes, counted, grouped};
use highwater_timeline::{TickClass, TickColumn, event_labels};

/// Width of a column: a mark with its gap.
const COLUMN: f32 = 6.0;
/// Distance of two marks.
const PITCH: f32 = 5.0;

pub(super) fn paint(ui: &Ui, frame: &LaneFrame, input: &LanesInput<'_>, state: &LanesState) {
    let (rect, theme) = (frame.ticks, input.theme);
    if rect.height() < 1.0 {
        return;
    }
    paint_frame(ui.painter(), rect, "events", theme);
    let painter = ui.painter_at(rect.expand(1.0));
    let row = row(frame, input, state);
    let hovered = ui.input(|input| input.pointer.hover_pos());
    let hovered = hovered.and_then(|pos| column_at(pos, frame, input, state));
    for column in row.columns() {
        let x = row.x(column);
        if hovered == Some(*column) {
            row.paint_ground(&painter, column, theme.grid);
        }
        let classes: Vec<TickClass> = column.classes().take(most_marks(rect)).collect();
        // Centred together.
        let above = classes.iter().skip(1).fold(0.0, |above, _| above + PITCH / 2.0);
        let mut y = rect.center().y - above;
        for class in classes {
            mark(&painter, pos2(x, y), class, theme);
            y += PITCH;
        }
    }
}

fn row(frame: &LaneFrame, input: &LanesInput<'_>, state: &LanesState) -> EventRow<{ TickClass::ALL.len() }> {
    EventRow::new(frame.ticks, COLUMN, &input.timeline.lanes[frame.lane].ticks, state)
}

/// Marks above each other, at most; the tooltip has all.
fn most_marks(rect: Rect) -> usize {
    if rect.height() < 3.0 * PITCH { 2 } else { 3 }
}

/// The column at the pointer, or the nearest within a column's width.
pub(super) fn column_at(
    pos: Pos2,
    frame: &LaneFrame,
    input: &LanesInput<'_>,
    state: &LanesState,
) -> Option<TickColumn> {
    frame.ticks.contains(pos).then(|| row(frame, input, state).at(pos))?
}

/// Shape and colour of a class.
pub(super) fn mark(painter: &Painter, at: Pos2, class: TickClass, theme: &Theme) {
    const HALF: f32 = 2.2;
    let color = theme.tick(class);
    let polygon = |corners| polygon(at, HALF, corners, color, Stroke::NONE);
    match class {
        TickClass::Trouble => crossed(painter, at, HALF, Stroke::new(1.6, color)),
        TickClass::Graphs => drop(painter.add(polygon(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)]))),
        TickClass::Arena => {
            let square = Rect::from_center_size(at, vec2(HALF, HALF) * 2.0);
            painter.rect_stroke(square, 0, Stroke::new(1.2, color), eframe::egui::StrokeKind::Inside);
        }
        TickClass::Driver => drop(painter.add(polygon(&[(0.0, -1.2), (1.2, 1.0), (0.0, 1.0), (-1.2, 1.0)]))),
        TickClass::Pools => drop(painter.circle_filled(at, HALF, color)),
        TickClass::Pages => {
            painter.rect_filled(Rect::from_center_size(at, vec2(HALF, HALF) * 1.8), 0, color);
        }
        TickClass::Grants => drop(painter.circle_stroke(at, HALF - 0.4, Stroke::new(1.1, color))),
        TickClass::Clears => {
            painter.rect_filled(Rect::from_center_size(at, vec2(HALF * 2.0, 1.6)), 0, color);
        }
    }
}

/// Kinds of events in a tooltip.
const TOLD: usize = 1;

/// The number of events of a column, and the most frequent kind.
pub(super) fn tooltip_ui(ui: &mut Ui, lane: usize, column: &TickColumn, input: &LanesInput<'_>) {
    let (from, to) = column.steps;
    let total = counted(u64::from(column.total()), "device event");
    ui.strong(if from == to {
        format!("step {from}: {total}")
    } else {
        format!("steps {from} to {to}: {total}")
    });
    let ticks = &input.timeline.lanes[lane].ticks;
    let mut kinds = ticks.rows(input.comparison, lane, column.steps);
    kinds.sort_by_key(|row| std::cmp::Reverse(row.count));
    let rows: Vec<(&str, String)> = kinds
        .iter()
        .take(TOLD)
        .map(|row| {
            let mut text = grouped(row.count);
            if row.bytes > Bytes::ZERO {
                text.push_str(&format!(", {}", row.bytes));
            }
            if !row.subjects.is_empty() {
                text.push_str(&format!(": {}", row.subjects.join(", ")));
            }
            (event_labels(row.kind).1, text)
        })
        .collect();
    rows_ui(ui, &rows);
    let n_others = kinds.len().saturating_sub(TOLD);
    ui.weak(match n_others {
        0 => "Click: pin the step and show the device".to_owned(),
        others => format!("and {} more; click: show the device", counted(others as u64, "kind")),
    });
}
