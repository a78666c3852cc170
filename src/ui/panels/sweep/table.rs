//! Points as a table: a click on a column sorts, keys walk, a click or Enter chooses a row.

use std::collections::{BTreeMap, BTreeSet};

use eframe::egui::{self, Align, Layout, Response, RichText, Role, Ui};
use egui_extras::TableBuilder;

use super::PointsState;
use super::points::{Cell, Column, ColumnId, Mark, Points, Tone, hover_text, sentence, shown};
use crate::numbers::{count_f32, to_f64};
use crate::panels::PaneCx;
use crate::panels::marker::{direction_ui, marker_ui};
use crate::panels::sorted_table::SIZE;
use crate::widgets::{Named as _, keep_arrows, walked_row};

const HEIGHT: f32 = 19.0;
const SPACING: f32 = 4.0;
const PAGE: usize = 10;
/// Widths of a letter of a head, of the room around it, and of the mark of its order.
const LETTER: f32 = 5.7;
const HEAD: f32 = 11.0;
const MARK: f32 = 12.0;
/// Widths of figures, of the status and of whether a point is on the front; most of words, which figures stay near.
const FIGURE: f32 = 70.0;
const STATUS: f32 = 76.0;
const FRONT: f32 = 44.0;
const NAME: f32 = 260.0;
/// Width of figures of three digits.
const NARROW: f32 = 44.0;

/// The column that rows are sorted by, the row with the keyboard, and the order of rows.
#[derive(Clone, Debug, Default)]
pub(super) struct TableState {
    /// `None` for the first one.
    sorted_by: Option<ColumnId>,
    is_descending: bool,
    focus: Option<u64>,
    /// The row that gets the keyboard.
    wanted: Option<u64>,
    /// Gives a row the keyboard, as after the pane's shortcut.
    pub(super) wants_focus: bool,
    /// Positions of points in order, and what that order depends on.
    rows: Vec<usize>,
    sorted_for: Option<(u64, usize, usize, bool, Vec<usize>)>,
}

/// Returns whether a key moved to another row.
pub(super) fn table_ui(ui: &mut Ui, cx: &mut PaneCx<'_>, points: &dyn Points, state: &mut PointsState) -> bool {
    state.follow(points);
    let endings = state.endings(points);
    let columns = all_columns(points, &endings);
    sort(points, &columns, state);
    let target = first_focus(ui, points, state).or_else(|| walk(ui, points, state));
    // Narrow panes may be cut on the right.
    let room = ui
        .available_width()
        .min(ui.clip_rect().right() - ui.next_widget_position().x);
    let sorted_by = state.table.sorted_by;
    let width_of = |column: &Column<'_>, is_narrow| column.width(is_narrow, Some(column.id) == sorted_by);
    let least = |is_narrow| {
        columns
            .iter()
            .map(|column| width_of(column, is_narrow) + SPACING)
            .sum::<f32>()
    };
    let is_narrow = least(false) > room;
    let least = least(is_narrow);
    let n_figures = columns.iter().filter(|column| column.is_figure).count();
    let n_words = columns.len() - n_figures;
    // Names that are long take what there is; else figures stay near their names.
    let most = if columns.iter().any(|column| column.grows) {
        room
    } else {
        NAME * count_f32(n_words) + FIGURE * count_f32(n_figures)
    };
    let scroll = egui::ScrollArea::horizontal()
        .id_salt((points.nouns(), "columns"))
        .auto_shrink([false, false]);
    scroll.show(ui, |ui| {
        ui.set_width(room.min(most).max(least));
        let mut table = builder(ui, points.nouns(), target);
        for column in &columns {
            let width = width_of(column, is_narrow);
            let width = if column.grows {
                egui_extras::Column::remainder().at_least(width)
            } else {
                egui_extras::Column::exact(width)
            };
            table = table.column(width.clip(true));
        }
        rows_ui(table, cx, points, &columns, state, is_narrow);
    });
    target.is_some()
}

fn rows_ui(
    table: TableBuilder<'_>,
    cx: &mut PaneCx<'_>,
    points: &dyn Points,
    columns: &[Column<'_>],
    state: &mut PointsState,
    is_narrow: bool,
) {
    let table = table.header(HEIGHT, |mut header| {
        for (position, column) in columns.iter().enumerate() {
            header.col(|ui| {
                let table = &mut state.table;
                let is_chosen = table.sorted_by.map_or(position == 0, |by| by == column.id);
                ui.with_layout(column.layout(), |ui| {
                    table.head_ui(ui, column, is_chosen, points.nouns());
                });
            });
        }
    });
    let rows = std::mem::take(&mut state.table.rows);
    table.body(|body| {
        body.rows(HEIGHT, rows.len(), |mut line| {
            let at = rows[line.index()];
            line.set_selected(state.selected == Some(points.key(at)));
            line.col(|ui| {
                // The id of the point, so that it keeps the keyboard when rows are sorted again.
                let own = egui::UiBuilder::new().scope_id(egui::Id::unique((points.nouns(), points.key(at))));
                ui.scope_builder(own, |ui| {
                    name_ui(ui, cx, points, at, (columns[0].cell)(at).text(), state);
                });
            });
            for column in &columns[1..] {
                line.col(|ui| cell_ui(ui, cx, at, column, is_narrow));
            }
        });
    });
    state.table.rows = rows;
}

/// How points ended, with the number of points, in the order of marks.
#[derive(Clone, Debug)]
pub(super) struct Endings(BTreeMap<(u8, &'static str), u64>);

impl Endings {
    pub(super) fn of(points: &dyn Points) -> Self {
        let mut all = BTreeMap::new();
        for (mark, words) in (0..points.len()).map(|at| points.status(at)) {
            *all.entry((mark as u8, words)).or_default() += 1;
        }
        Self(all)
    }

    /// Whether some ending is not said by the figures alone.
    fn are_told(&self) -> bool {
        self.0.keys().any(|(_, words)| !words.is_empty())
    }

    /// Equal endings have one rank.
    fn rank(&self, (mark, words): (Mark, &'static str)) -> f64 {
        to_f64(self.0.range(..(mark as u8, words)).count() as u64)
    }

    /// The number of points with a mark, and how they ended.
    pub(super) fn of_mark(&self, mark: Mark) -> (u64, Vec<&'static str>) {
        let of = self.0.iter().filter(|((of, _), _)| *of == mark as u8);
        of.fold((0, Vec::new()), |(sum, mut all), ((_, words), count)| {
            all.push(*words);
            (sum + count, all)
        })
    }
}

/// The columns of the points, with their status and whether they are on the front after the words.
fn all_columns<'p>(points: &'p dyn Points, endings: &'p Endings) -> Vec<Column<'p>> {
    let mut columns = points.columns();
    let words = columns.iter().take_while(|column| !column.is_figure).count();
    if endings.are_told() {
        let status = |at| {
            let (mark, words) = points.status(at);
            let tone = if mark == Mark::Fits { Tone::Plain } else { Tone::Bad };
            Cell::words(endings.rank(points.status(at)), words).toned(tone)
        };
        let status = Column::words("status", "outcome", status).with_exact(|at| hover_text(points, at));
        columns.insert(words, status.exactly(STATUS));
    }
    if let Some(front) = points.front() {
        let front: BTreeSet<usize> = front.iter().copied().collect();
        let cell = move |at| {
            if front.contains(&at) {
                Cell::words(0.0, "yes").toned(Tone::Good)
            } else {
                Cell::ranked(1.0)
            }
        };
        let meaning = "whether the point is Pareto-optimal in memory and time";
        columns.insert(words, Column::words("front", meaning, cell).exactly(FRONT));
    }
    columns
}

/// A table without columns, scrolled to a row.
fn builder<'u>(ui: &'u mut Ui, name: &str, target: Option<usize>) -> TableBuilder<'u> {
    ui.spacing_mut().item_spacing.x = SPACING;
    ui.spacing_mut().button_padding.x = 3.0;
    let table = TableBuilder::new(ui)
        .id_salt(name)
        .striped(true)
        .sense(egui::Sense::hover())
        .auto_shrink([false, false])
        .min_scrolled_height(60.0)
        .cell_layout(Layout::left_to_right(Align::Center));
    match target {
        Some(target) => table.scroll_to_row(target, None),
        None => table,
    }
}

impl Column<'_> {
    /// The least width. The head of a figure is never cut.
    fn width(&self, is_narrow: bool, is_chosen: bool) -> f32 {
        if !self.is_figure {
            return self.least;
        }
        // In wide tables the mark of the order moves nothing.
        let mark = if is_chosen || !is_narrow { MARK } else { 0.0 };
        let least = if is_narrow { NARROW } else { FIGURE };
        least.max(count_f32(self.name.len()) * LETTER + HEAD + mark)
    }

    fn layout(&self) -> Layout {
        if self.is_figure {
            Layout::right_to_left(Align::Center)
        } else {
            Layout::left_to_right(Align::Center)
        }
    }
}

impl TableState {
    /// Sorted by a column.
    pub(super) fn by(column: &'static str) -> Self {
        Self {
            sorted_by: Some(ColumnId::Named(column)),
            ..Self::default()
        }
    }

    fn head_ui(&mut self, ui: &mut Ui, column: &Column<'_>, is_chosen: bool, nouns: &str) {
        let text = RichText::new(&*column.name).size(SIZE);
        let button = ui.add(egui::Button::selectable(is_chosen, text).truncate());
        if is_chosen {
            direction_ui(ui, self.is_descending);
        }
        let words = if is_chosen { "sorted by" } else { "sort by" };
        let name = || format!("{words} {}, of {nouns}", column.name);
        let button = button.named_choice(Role::Button, is_chosen, name);
        if button.on_hover_text(&*column.meaning).clicked() {
            self.is_descending = is_chosen && !self.is_descending;
            self.sorted_by = Some(column.id);
        }
    }

    /// The button of a row, which takes the keyboard for the row.
    fn button_ui(&mut self, ui: &mut Ui, key: u64, text: RichText, is_chosen: bool, name: &str) -> Response {
        let button = ui.add(egui::Button::selectable(is_chosen, text.size(SIZE)).truncate());
        let button = button.named_choice(Role::Button, is_chosen, || name);
        if self.wanted == Some(key) {
            self.wanted = None;
            button.request_focus();
        }
        if button.has_focus() {
            keep_arrows(ui, button.id, false, true);
            self.focus = Some(key);
        } else if self.focus == Some(key) {
            self.focus = None;
        }
        if button.clicked() {
            // The arrow keys continue from here.
            button.request_focus();
        }
        button
    }
}

/// Sorts where points or sorting changed.
fn sort(points: &dyn Points, columns: &[Column<'_>], state: &mut PointsState) {
    let is_descending = state.table.is_descending;
    let sorted_by = state.table.sorted_by;
    let by = columns.iter().position(|column| Some(column.id) == sorted_by);
    let by = by.unwrap_or(0);
    let wanted = points
        .version()
        .map(|version| (version, points.len(), by, is_descending, state.hidden.clone()));
    if wanted.is_some() && state.table.sorted_for == wanted {
        return;
    }
    let column = &columns[by];
    // Figures of points that did not complete end early: they are no better for being small.
    let group = |at| match (points.is_first(at), column.is_figure) {
        (true, _) => 0,
        (false, true) if !points.status(at).0.has_completed() => 2,
        (false, _) => 1,
    };
    let ranked = shown(points, state)
        .into_iter()
        .map(|at| (group(at), column.rank(at), (points.tie(at), points.key(at)), at));
    let mut rows: Vec<(u8, f64, (usize, u64), usize)> = ranked.collect();
    rows.sort_unstable_by(|(a_group, a, a_tie, _), (b_group, b, b_tie, _)| {
        // What has no figure stays last.
        let is_reversed = is_descending && a.is_finite() && b.is_finite();
        let order = if is_reversed { b.total_cmp(a) } else { a.total_cmp(b) };
        a_group.cmp(b_group).then(order).then_with(|| a_tie.cmp(b_tie))
    });
    state.table.rows = rows.into_iter().map(|(.., at)| at).collect();
    state.table.sorted_for = wanted;
}

/// The row that gets the keyboard after the shortcut, selected and scrolled to: the recommended or first one.
fn first_focus(ui: &Ui, points: &dyn Points, state: &mut PointsState) -> Option<usize> {
    let wants_focus = std::mem::take(&mut state.table.wants_focus);
    // A field that has the keyboard keeps it.
    if !wants_focus || ui.text_edit_focused() {
        return None;
    }
    let rows = &state.table.rows;
    let winner = points.winner();
    let is_winner = |at: &usize| Some(points.key(*at)) == winner;
    let can_choose = |at: &usize| points.can_choose(*at);
    let row = rows
        .iter()
        .position(is_winner)
        .or_else(|| rows.iter().position(can_choose))?;
    state.selected = Some(points.key(*rows.get(row)?));
    state.table.wanted = state.selected;
    Some(row)
}

/// Moves the keyboard; returns the row to scroll to.
fn walk(ui: &Ui, points: &dyn Points, state: &mut PointsState) -> Option<usize> {
    let rows = &state.table.rows;
    let has = state.table.focus?;
    let here = rows.iter().position(|at| points.key(*at) == has)?;
    let next = walked_row(ui, Some(here), rows.len(), PAGE)?;
    // Disabled rows cannot have the keyboard.
    let can_choose = |row: &usize| points.can_choose(rows[*row]);
    let next = if next < here {
        (0..=next).rev().find(can_choose)
    } else {
        (next..rows.len()).find(can_choose)
    };
    let next = next?;
    state.selected = Some(points.key(rows[next]));
    state.table.wanted = state.selected;
    Some(next)
}

fn cell_ui(ui: &mut Ui, cx: &PaneCx<'_>, at: usize, column: &Column<'_>, is_narrow: bool) {
    let cell = (column.cell)(at);
    if cell.is_empty() {
        return;
    }
    let text = cell.text();
    let is_cut = is_narrow && cell.has_text_of_figure();
    let text = RichText::new(if is_cut { three_digits(&text) } else { text }).size(SIZE);
    let text = match cell.tone {
        Tone::Plain => text,
        Tone::Good => text.color(cx.theme.good),
        Tone::Bad => text.color(cx.theme.bad),
    };
    let label = egui::Label::new(text);
    ui.with_layout(column.layout(), |ui| {
        let label = if column.is_figure {
            // The head has this margin, too.
            ui.add_space(ui.spacing().button_padding.x);
            label.wrap_mode(egui::TextWrapMode::Extend)
        } else {
            label.truncate()
        };
        ui.add(label).on_hover_ui(|ui| drop(ui.label(column.exact(at, &cell))));
    });
}

/// The name; a click chooses the point.
fn name_ui(ui: &mut Ui, cx: &mut PaneCx<'_>, points: &dyn Points, at: usize, text: String, state: &mut PointsState) {
    let (key, series) = (points.key(at), points.series_of(at));
    let (mark, _) = points.status(at);
    if points.plotted().is_some() {
        marker_ui(ui, series, 12.0, cx.theme.heuristic(series), mark == Mark::Fits);
    }
    let mut text = RichText::new(text);
    if points.winner() == Some(key) {
        text = text.strong();
    }
    let is_chosen = state.selected == Some(key) || points.is_lane(at);
    let verb = if points.is_lane(at) {
        "is lane of"
    } else {
        points.verb()
    };
    let name = format!("{verb} {}", sentence(points, at));
    let can_choose = points.can_choose(at);
    let table = &mut state.table;
    let button = ui.add_enabled_ui(can_choose, |ui| table.button_ui(ui, key, text, is_chosen, &name));
    let button = button.inner;
    if button.clicked() {
        state.selected = Some(key);
        cx.commands.extend(points.choose(at));
    }
    let hover = |ui: &mut Ui| drop(ui.label(hover_text(points, at)));
    button.on_hover_ui(hover).on_disabled_hover_ui(hover);
}

/// A number with its unit, cut to three digits: `2.574 GiB` becomes `2.57 GiB`, `205.58 ms` becomes `206 ms`.
fn three_digits(text: &str) -> String {
    let Some((number, unit)) = text.split_once([' ', '\u{a0}']) else {
        return text.to_owned();
    };
    match number.parse::<f64>() {
        Ok(value) if number.contains('.') => {
            let decimals = if value >= 100.0 {
                0
            } else if value >= 10.0 {
                1
            } else {
                2
            };
            format!("{value:.decimals$}\u{a0}{unit}")
        }
        _ => text.to_owned(),
    }
}
