//! Scopes among the rows: their names, what a folded one holds, and the click that folds and opens.

use eframe::egui::{Key, Painter, Rect, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2};

use super::canvas::{Quads, SMALL};
use super::rows::{Shown, line_of};
use super::{LanesInput, LanesState};
use crate::theme::Theme;
use highwater_model::units::{Bytes, counted};
use highwater_timeline::{Scope, ScopeBand, ScopeFolds};

/// The line of a folded scope's name.
const NAME: f32 = 14.0;
/// How far a scope is moved to the right for each that it lies in, and the most of it.
const INDENT: f32 = 10.0;
const MOST_INDENT: f32 = 160.0;

/// Every scope in sight.
#[expect(clippy::cast_possible_truncation, reason = "points on a screen fit f32")]
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
        let rect = line_of(body, body.top() + (band.top - from) as f32, band.height as f32);
        let line = rect.intersect(body);
        let response = ui.interact(line, ui.scope_id().with(("scope", &scope.path)), Sense::click());
        let label = format!("scope {}", scope.path);
        let is_open = !band.is_folded;
        response.widget_info(|| WidgetInfo::selected(Role::CheckBox, true, is_open, &label));
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

/// The band in which the selected tensor is folded away.
fn folded_selection(shown: &Shown<'_>, input: &LanesInput<'_>) -> Option<usize> {
    let number = input.timeline.rows_of(shown.rows.lane).number(input.selected?)?;
    shown.layout.folded_in(shown.rows, number)
}

fn words(scope: &Scope, band: &ScopeBand, shown: &Shown<'_>) -> String {
    let all = counted(scope.places.len() as u64, "row");
    let alive = counted(band.n_alive as u64, "row");
    let figures = if band.is_folded {
        format!(
            "\nIts rows hold at most {} on one step in view",
            Bytes(band.most()).exact()
        )
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
    // Words stand on the area, so they bring a ground.
    let ground = Rect::from_min_max(
        pos2(at.x - 5.0, rect.top() + 1.0),
        pos2(beside.x + figures.size().x + 4.0, rect.top() + line),
    );
    painter.rect_filled(ground, 2, theme.halo());
    arrow(painter, at, band.is_folded, theme);
    painter.galley(name.min, galley, color);
    painter.galley(beside, figures, theme.text_weak);
}

/// A triangle: to the right where there is something folded, downwards where it is open.
fn arrow(painter: &Painter, at: eframe::egui::Pos2, is_folded: bool, theme: &Theme) {
    let points = if is_folded {
        vec![at + vec2(-2.0, -4.0), at + vec2(3.0, 0.0), at + vec2(-2.0, 4.0)]
    } else {
        vec![at + vec2(-4.0, -2.0), at + vec2(4.0, -2.0), at + vec2(0.0, 3.0)]
    };
    let shape = eframe::egui::epaint::PathShape::convex_polygon(points, theme.text, Stroke::NONE);
    painter.add(shape);
}

/// What a folded scope holds, all on one scale; what holds anything is at least a point high.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "points on a screen fit f32"
)]
fn paint_area(painter: &Painter, rect: Rect, band: &ScopeBand, most: u64, theme: &Theme) {
    let columns = &band.columns;
    let per_column = rect.width() / columns.len().max(1) as f32;
    let height = |bytes: u64| {
        let share = bytes as f64 / most.max(1) as f64;
        ((f64::from(rect.height()) - 2.0) * share).max(1.0) as f32
    };
    let mut quads = Quads::default();
    let mut start = 0;
    for end in 1..=columns.len() {
        if columns.get(end) == Some(&columns[start]) {
            continue;
        }
        if columns[start] > 0 {
            let left = rect.left() + start as f32 * per_column;
            let right = rect.left() + end as f32 * per_column;
            let top = rect.bottom() - height(columns[start]);
            quads.add(
                Rect::from_min_max(pos2(left, top), pos2(right, rect.bottom())),
                theme.live_fill,
            );
            quads.add(Rect::from_min_max(pos2(left, top), pos2(right, top + 1.0)), theme.live);
        }
        start = end;
    }
    quads.paint(painter);
}

/// What is done to all scopes at once, in the toolbar.
pub(super) fn folds_ui(ui: &mut Ui, folds: &mut ScopeFolds) {
    for (text, is_folded, why) in [
        ("Fold all", true, "One line for every outermost scope"),
        ("Open all", false, "Every tensor a row, under its scopes"),
    ] {
        if ui.button(text).on_hover_text(why).clicked() {
            *folds = ScopeFolds::all(is_folded);
        }
    }
}
