//! The rows of a table: only visible ones have texts.

use eframe::egui::text::{LayoutJob, TextWrapping};
use eframe::egui::{self, Color32, FontId, Id, Key, Modifiers, Rangef, Rect, Sense, Ui, pos2, vec2};
use egui_extras::{Column as Width, TableBuilder, TableRow};

use super::super::sorted_table::{Head, SIZE, sorted_table_ui};
use super::TableView;
use crate::lanes::LanesInput;
use crate::widgets::{Named as _, keep_arrows, walked_row};
use highwater_model::units::{counted, grouped};
use highwater_timeline::{Column, TableRows, Target, Value};

/// Heights and sizes in points.
const ROW: f32 = 18.0;
const LETTER: f32 = 6.6;
const BETWEEN: f32 = 6.0;
const PAGE: usize = 20;

/// Returns the target of the chosen row.
pub(super) fn rows_ui(ui: &mut Ui, table: &TableRows, view: &mut TableView, input: &LanesInput<'_>) -> Option<Target> {
    if table.is_empty() {
        ui.weak(nothing(table));
        // The columns stay, so that sorting and widths can be changed.
    }
    let kind = table.spec().kind;
    let id = ui.scope_id().with(("rows", kind.words()));
    let response = ui.interact(ui.available_rect_before_wrap(), id, Sense::focusable_noninteractive());
    let response = response.named(egui::Role::Table, || words(table, view));
    if std::mem::take(&mut view.wants_focus) {
        response.request_focus();
    }
    let is_focused = response.has_focus();
    let is_entered = is_focused && keys(ui, id, table.len(), view);
    let jump = view.jump.take();
    let mut chosen = None;
    let room = ui.available_width();
    egui::ScrollArea::horizontal().auto_shrink(false).show(ui, |ui| {
        ui.style_mut().interaction.selectable_labels = false;
        ui.spacing_mut().item_spacing.x = BETWEEN;
        let sight = ui.clip_rect().x_range();
        let mut builder = TableBuilder::new(ui)
            .id_salt(kind.words())
            .striped(false)
            .resizable(true)
            .auto_shrink(false)
            .min_scrolled_height(0.0);
        if let Some(jump) = jump {
            builder = builder.scroll_to_row(jump, None);
        }
        let heads: Vec<Head<'_>> = table
            .columns()
            .iter()
            .zip(widths(table.columns(), room))
            .map(|(column, width)| head(column, width))
            .collect();
        let cursor = view.cursor.filter(|_| is_focused);
        sorted_table_ui(builder, &heads, &mut view.sorting, (ROW, table.len()), |row, widths| {
            let spread = Spread { widths, sight };
            let position = row.index();
            if row_ui(row, table, &spread, input, cursor == Some(position)) {
                chosen = Some(position);
            }
        });
    });
    if let Some(position) = chosen {
        view.cursor = Some(position);
        response.request_focus();
    }
    let entered = view.cursor.filter(|_| is_entered);
    let position = chosen.or(entered).filter(|position| *position < table.len())?;
    Some(table.target(position))
}

/// Initial widths of the columns: in narrow panes texts are cut, down to half of their letters.
fn widths(columns: &[Column], room: f32) -> impl Iterator<Item = f32> + '_ {
    const PADDING: f32 = 14.0;
    let letters = |is_number: bool| -> f32 {
        let these = columns.iter().filter(|column| column.is_number == is_number);
        these.map(|column| f32::from(column.letters) * LETTER).sum()
    };
    let count = columns.iter().map(|_| PADDING).sum::<f32>();
    let share = ((room - count - letters(true)) / letters(false).max(1.0)).clamp(0.5, 1.0);
    columns.iter().map(move |column| {
        let share = if column.is_number { 1.0 } else { share };
        // The whole title, and room for the triangle.
        let title = f32::from(u8::try_from(column.title.len()).unwrap_or(u8::MAX)) * LETTER + 22.0;
        (f32::from(column.letters) * LETTER * share + PADDING - 6.0).max(title)
    })
}

fn nothing(table: &TableRows) -> &'static str {
    use highwater_timeline::TableKind;
    if table.n_total() > 0 {
        return "Nothing matches the filter.";
    }
    match table.spec().kind {
        TableKind::Tensors => "No tensor holds memory.",
        TableKind::Ops => "The source states no ops.",
        TableKind::Live => "No tensor is live on this step.",
        TableKind::Events => "No device or pool event is known; tick \"Tensor events\" to see allocations.",
        TableKind::Evictions => "This lane evicts nothing.",
        TableKind::Problems => "No problems: the configuration breaks no rule, and all files were read completely.",
    }
}

/// The table's name for assistive technology.
fn words(table: &TableRows, view: &TableView) -> String {
    let kind = table.spec().kind;
    let n_rows = counted(u64::try_from(table.len()).unwrap_or(u64::MAX), "row");
    let cursor = view.cursor.filter(|cursor| *cursor < table.len());
    let row = cursor.map_or(String::new(), |cursor| {
        let first = table.columns().iter().position(|column| !column.is_number).unwrap_or(0);
        let number = grouped(u64::try_from(cursor + 1).unwrap_or(u64::MAX));
        format!(", row {number}: {}", table.value(cursor, first).shown())
    });
    format!("table of {}: {n_rows}{row}", kind.words())
}

/// Keys that move the cursor; returns whether Enter chooses the row.
fn keys(ui: &Ui, id: Id, n_rows: usize, view: &mut TableView) -> bool {
    keep_arrows(ui, id, false, true);
    if n_rows == 0 {
        return false;
    }
    let next = walked_row(ui, view.cursor, n_rows, PAGE);
    if next.is_some() && next != view.cursor {
        (view.cursor, view.jump) = (next, next);
    }
    ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Enter))
}

fn head(column: &Column, width: f32) -> Head<'_> {
    Head {
        sorts_by: column.title,
        about: format!("{}: {}", column.title, column.help),
        is_number: column.is_number,
        is_right_aligned: column.is_number,
        ..Head::new(column.title, Width::initial(width).at_least(30.0).clip(true))
    }
}

/// Places of the columns, and their visible part.
struct Spread<'a> {
    widths: &'a [f32],
    sight: Rangef,
}

impl Spread<'_> {
    /// Places from the left edge of the first column.
    fn columns(&self, left: f32) -> impl Iterator<Item = Rangef> + '_ {
        let mut left = left;
        self.widths.iter().map(move |width| {
            let place = Rangef::new(left, left + width);
            left = place.max + BETWEEN;
            place
        })
    }
}

/// One row, painted at once: a frame has hundreds of cells. Returns whether it was clicked.
fn row_ui(
    row: &mut TableRow<'_, '_>,
    table: &TableRows,
    spread: &Spread<'_>,
    input: &LanesInput<'_>,
    is_cursor: bool,
) -> bool {
    let position = row.index();
    let tensor = table.target(position).tensor;
    let is_selected = is_cursor || (tensor.is_some() && tensor == input.selected);
    let mut is_clicked = false;
    row.col(|ui| {
        let first = ui.max_rect();
        let right = spread
            .columns(first.left())
            .last()
            .map_or(first.right(), |place| place.max);
        let rect = Rect::from_x_y_ranges(first.left()..=right, first.y_range());
        ui.set_clip_rect(Rect::from_x_y_ranges(spread.sight, ui.clip_rect().y_range()));
        let response = ui
            .interact(rect, ui.scope_id().with("row"), Sense::click())
            .named_choice(egui::Role::Row, is_selected, || row_words(table, position));
        is_clicked = response.clicked();
        let color = ground_ui(ui, rect, position, is_selected, response.hovered());
        let mut whole = None;
        for (idx, (column, place)) in table.columns().iter().zip(spread.columns(rect.left())).enumerate() {
            let value = table.value(position, idx);
            if value == Value::Nothing || !place.intersects(spread.sight) {
                continue;
            }
            let cell = Rect::from_x_y_ranges(place, rect.y_range());
            let is_cut = cell_ui(ui, cell, &value, column, color);
            let is_near = response.hover_pos().is_some_and(|at| place.contains(at.x));
            if is_near {
                whole = value.exact().or_else(|| is_cut.then(|| value.shown().into_owned()));
            }
        }
        if let Some(whole) = whole {
            response.on_hover_text(whole);
        }
    });
    is_clicked
}

/// The ground of a row; returns the colour of its text.
fn ground_ui(ui: &Ui, rect: Rect, position: usize, is_selected: bool, is_hovered: bool) -> Color32 {
    let visuals = ui.visuals();
    let fill = if is_selected {
        Some(visuals.selection.bg_fill)
    } else if is_hovered {
        Some(visuals.widgets.hovered.bg_fill)
    } else {
        position.is_multiple_of(2).then_some(visuals.faint_bg_color)
    };
    if let Some(fill) = fill {
        // No gap to the next row.
        let spacing = vec2(0.0, ui.spacing().item_spacing.y);
        let rect = rect.expand2(0.5 * spacing);
        ui.painter().rect_filled(rect, 0, fill);
    }
    if is_selected {
        visuals.selection.stroke.color
    } else {
        visuals.text_color()
    }
}

/// The row's name for assistive technology.
fn row_words(table: &TableRows, position: usize) -> String {
    let cells = (0..table.columns().len()).map(|column| table.value(position, column));
    let texts = cells
        .filter(|value| *value != Value::Nothing)
        .map(|value| value.shown().into_owned());
    texts.collect::<Vec<_>>().join(", ")
}

/// A cell's text, right-aligned for numbers. Returns whether it was cut.
fn cell_ui(ui: &Ui, cell: Rect, value: &Value<'_>, column: &Column, color: Color32) -> bool {
    let font = if column.is_number {
        FontId::monospace(SIZE)
    } else {
        FontId::proportional(SIZE)
    };
    let mut job = LayoutJob::simple_singleline(value.shown().into_owned(), font, color);
    job.wrap = TextWrapping::truncate_at_width(cell.width());
    let galley = ui.painter().layout_job(job);
    let (size, is_cut) = (galley.size(), galley.elided);
    let left = if column.is_number {
        cell.right() - size.x
    } else {
        cell.left()
    };
    ui.painter()
        .galley(pos2(left, cell.center().y - size.y / 2.0), galley, color);
    is_cut
}
