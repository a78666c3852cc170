//! A row of marks, one column of points each: device events, evictions and recomputations.

use eframe::egui::{Align2, Color32, Painter, Pos2, Rect, Stroke, pos2, vec2};

use super::LanesState;
use super::canvas::SMALL;
use crate::numbers::{at_least_one, count_f32};
use crate::theme::Theme;
use highwater_timeline::{EventColumn, EventTally};

/// The columns with events; all have equal widths.
pub(super) struct EventRow<const N: usize> {
    rect: Rect,
    /// Width of a column: a mark with its gap.
    width: f32,
    columns: Vec<EventColumn<N>>,
}

impl<const N: usize> EventRow<N> {
    pub(super) fn new(rect: Rect, width: f32, tally: &EventTally<N>, state: &LanesState) -> Self {
        let view = state.view();
        let columns = view.map(|view| tally.columns(view, at_least_one(rect.width() / width)));
        Self {
            rect,
            width,
            columns: columns.unwrap_or_default(),
        }
    }

    pub(super) fn columns(&self) -> &[EventColumn<N>] {
        &self.columns
    }

    /// The middle of a column.
    pub(super) fn x(&self, column: &EventColumn<N>) -> f32 {
        let n_columns = (self.rect.width() / self.width).floor().max(1.0);
        self.rect.left() + (count_f32(column.column as usize) + 0.5) * self.rect.width() / n_columns
    }

    /// The column at the pointer, or the nearest within a column's width.
    pub(super) fn at(&self, pos: Pos2) -> Option<EventColumn<N>> {
        let distance = |column: &&EventColumn<N>| (self.x(column) - pos.x).abs();
        let nearest = self.columns.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
        nearest.filter(|column| distance(column) <= self.width * 1.5).copied()
    }

    /// The ground of the column under the pointer.
    pub(super) fn paint_ground(&self, painter: &Painter, column: &EventColumn<N>, color: Color32) {
        let center = pos2(self.x(column), self.rect.center().y);
        let ground = Rect::from_center_size(center, vec2(self.width, self.rect.height()));
        painter.rect_filled(ground, 0, color);
    }
}

/// The name left of a row, and the line below it.
pub(super) fn paint_frame(painter: &Painter, rect: Rect, name: &str, theme: &Theme) {
    let label = pos2(rect.left() - 6.0, rect.center().y);
    painter.text(label, Align2::RIGHT_CENTER, name, SMALL, theme.text_weak);
    painter.hline(rect.x_range(), rect.bottom() - 0.5, Stroke::new(1.0, theme.grid));
}
