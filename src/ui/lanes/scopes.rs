//! Scopes among the rows: names, areas of collapsed ones, and the click that collapses or expands.

use std::ops::Range;

use eframe::egui::{Key, Painter, Rect, Role, Sense, Stroke, StrokeKind, Ui, pos2};

use super::canvas::{Quads, SMALL, equal_runs};
use super::rows::{Shown, line_of};
use super::{LanesInput, LanesState};
use crate::numbers::{count_f32, part_of, to_points};
use crate::panels::marker::polygon;
use crate::theme::Theme;
use crate::widgets::Named as _;
use highwater_model::units::{Bytes, counted};
use highwater_timeline::{Scope, ScopeBand, ScopeFolds};

/// Height of a collapsed scope's name.
const NAME: f32 = 14.0;
/// Indent per enclosing scope, and the greatest.
const INDENT: f32 = 10.0;
const MOST_INDENT: f32 = 160.0;

pub(super) fn scopes_ui(ui: &Ui, body: Rect, shown: &Shown<'_>, input: &LanesInput<'_>, state: &mut LanesState) {
    let bands = &shown.layout.bands;
    let most = bands.iter().map(ScopeBand::most).max().unwrap_or(0);
    let (from, to) = shown.window.sight;
    let first = bands.partition_point(|band| band.top + band.height <= from);
    let painter = ui.painter_at(body.intersect(ui.clip_rect()));
    let holder = folded_selection(shown, input);
    let mut toggled = None;
    for (number, band) in bands
        .iter()
        .enumerate()
        .skip(first)
        .take_while(|(_, band)| band.top < to)
    {
        let Some(scope) = shown.rows.scopes().get(band.scope as usize) else {
            continue;
        };
        let rect = line_of(body, body.top() + to_points(band.top - from), to_points(band.height));
        let line = rect.intersect(body);
        let response = ui.interact(line, ui.scope_id().with(("scope", &scope.path)), Sense::click());
        let is_open = !band.is_folded;
        let response = response.named_choice(Role::CheckBox, is_open, || format!("scope {}", scope.path));
        let is_marked = response.hovered() || response.has_focus();
        paint_scope(&painter, rect, scope, band, most, input.theme, is_marked);
        if holder == Some(number) {
            painter.rect_stroke(rect, 0, Stroke::new(2.0, input.theme.selection), StrokeKind::Inside);
        }
        let is_entered = response.has_focus() && ui.input(|input| input.key_pressed(Key::Enter));
        if response.clicked() || is_entered {
            toggled = Some(scope);
        }
        let words = words(scope, band, shown);
        response.on_hover_text(words);
    }
    if let Some(scope) = toggled {
        state.folds.toggle(scope);
    }
}

/// The band that hides the selected tensor.
fn folded_selection(shown: &Shown<'_>, input: &LanesInput<'_>) -> Option<usize> {
    let number = input.timeline.rows_of(shown.rows.lane).number(input.selected?)?;
    shown.layout.folded_in(shown.rows, number)
}

fn words(scope: &Scope, band: &ScopeBand, shown: &Shown<'_>) -> String {
    let all = counted(scope.places.len() as u64, "row");
    let alive = counted(band.n_alive as u64, "row");
    let figures = if band.is_folded {
        format!("\nPeak of its rows in view: {}", Bytes(band.most()).exact())
    } else {
        String::new()
    };
    let n_scopes = u64::from(scope.end.saturating_sub(band.scope + 1));
    let within = if n_scopes > 0 {
        format!(", {} within it", counted(n_scopes, "scope"))
    } else {
        String::new()
    };
    let what = if band.is_folded { "open" } else { "fold" };
    let share = if shown.layout.n_alive == band.n_alive {
        ", all of them in view"
    } else {
        ""
    };
    format!(
        "{}\n{alive} in view of {all}{share}{within}{figures}\nClick to {what} it",
        scope.path
    )
}

fn paint_scope(
    painter: &Painter,
    rect: Rect,
    scope: &Scope,
    band: &ScopeBand,
    most: u64,
    theme: &Theme,
    is_marked: bool,
) {
    painter.rect_filled(rect, 0, theme.panel);
    if band.is_folded {
        paint_area(painter, rect, band, most, theme);
    }
    painter.hline(rect.x_range(), rect.top(), Stroke::new(1.0, theme.grid));
    let indent = (f32::from(scope.depth) * INDENT).min(MOST_INDENT);
    let line = if band.is_folded { NAME } else { rect.height() };
    let at = pos2(rect.left() + 6.0 + indent, rect.top() + line / 2.0);
    arrow(painter, at, band.is_folded, theme);
    let color = if is_marked { theme.accent() } else { theme.text };
    let galley = painter.layout_no_wrap(scope.label.to_string(), SMALL, color);
    let name = Rect::from_min_size(pos2(at.x + 8.0, at.y - galley.size().y / 2.0), galley.size());
    let figures = if band.is_folded {
        format!(
            "{}, at most {}",
            counted(band.n_alive as u64, "row"),
            Bytes(band.most())
        )
    } else {
        counted(band.n_alive as u64, "row")
    };
    let figures = painter.layout_no_wrap(figures, SMALL, theme.text_weak);
    let beside = pos2(name.right() + 10.0, at.y - figures.size().y / 2.0);
    // Words on the area need a ground.
    let ground = Rect::from_min_max(
        pos2(at.x - 5.0, rect.top() + 1.0),
        pos2(beside.x + figures.size().x + 4.0, rect.top() + line),
    );
    painter.rect_filled(ground, 2, theme.halo());
    arrow(painter, at, band.is_folded, theme);
    painter.galley(name.min, galley, color);
    painter.galley(beside, figures, theme.text_weak);
}

/// A triangle: right for a collapsed scope, down for an open one.
fn arrow(painter: &Painter, at: eframe::egui::Pos2, is_folded: bool, theme: &Theme) {
    let corners = if is_folded {
        [(-2.0, -4.0), (3.0, 0.0), (-2.0, 4.0)]
    } else {
        [(-4.0, -2.0), (4.0, -2.0), (0.0, 3.0)]
    };
    painter.add(polygon(at, 1.0, &corners, theme.text, Stroke::NONE));
}

/// Bytes that a collapsed scope holds, all on one y-axis; at least a point high.
fn paint_area(painter: &Painter, rect: Rect, band: &ScopeBand, most: u64, theme: &Theme) {
    let columns = &band.columns;
    let per_column = rect.width() / count_f32(columns.len().max(1));
    let height = |bytes: u64| {
        let share = part_of(bytes, most);
        to_points(((f64::from(rect.height()) - 2.0) * share).max(1.0))
    };
    let mut quads = Quads::default();
    for Range { start, end } in equal_runs(columns.len(), |one, other| columns[one] == columns[other]) {
        if columns[start] > 0 {
            let left = rect.left() + count_f32(start) * per_column;
            let right = rect.left() + count_f32(end) * per_column;
            let top = rect.bottom() - height(columns[start]);
            quads.add(
                Rect::from_min_max(pos2(left, top), pos2(right, rect.bottom())),
                theme.live_fill,
            );
            quads.add(Rect::from_min_max(pos2(left, top), pos2(right, top + 1.0)), theme.live);
        }
    }
    quads.paint(painter);
}

/// The buttons of [`folds_ui`].
pub(super) const FOLDS: [&str; 2] = ["Collapse all", "Expand all"];

/// Buttons for all scopes, in the toolbar.
pub(super) fn folds_ui(ui: &mut Ui, folds: &mut ScopeFolds) {
    let [collapse, expand] = FOLDS;
    for (text, is_folded, why) in [
        (collapse, true, "Show one row per outermost scope"),
        (expand, false, "Show one row per tensor, under its scopes"),
    ] {
        if ui.button(text).on_hover_text(why).clicked() {
            *folds = ScopeFolds::all(is_folded);
        }
    }
}
