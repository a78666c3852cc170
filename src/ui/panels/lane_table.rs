//! The table of lanes above the drawing: a bar and aligned figures per lane, which selects the lane that the panes follow.
//!
//! ```text
//!   lane                     peak reserved            diff   fragmentation  overhead  device calls  fits
//! o 0 dynamic allocation     [=========       ] 3.811  base   18.7 %         6.7 ms    41            yes
//! * 2 static expansion       [========        ] 3.485  -8.6 % 10.0 %         6.7 ms    41            yes
//! ```
//!
//! In: the lanes of an answer. Out: commands. Rules: a click selects a lane, a double click shows it alone, Ctrl+click
//! subtracts the selected lane from it. `columns` hides columns where width is short. Lanes that run out of memory are
//! hatched over the whole bar.

mod columns;
mod texts;

use eframe::egui::{
    self, Align, Align2, Button, Color32, CursorIcon, FontId, Grid, Layout, Pos2, Rangef, Rect, RichText, Role, Sense,
    Stroke, StrokeKind, Ui, UiBuilder, pos2, vec2,
};

pub use self::columns::about_metric;
use self::columns::{COLUMNS, Column, Columns};
use self::texts::LaneTexts;
use crate::commands::UiCommand;
use crate::numbers::{count_f32, part_of, to_points};
use crate::panels::marker::direction;
use crate::panels::sorted_table::Sorting;
use crate::panels::{PaneCx, elided, width_of};
use crate::theme::Theme;
use crate::widgets::{Named as _, row_at};
use highwater_analysis::{Comparison, Figure, Fit, LaneId, LaneKind, LaneMark, Metric};
use highwater_model::units::{Bytes, counted};
use highwater_session::Command;
use highwater_timeline::reading_order;

/// Heights in points.
const ROW: f32 = 18.0;
const HEADER: f32 = 15.0;
/// Lanes without a scroll bar.
const MOST_ROWS: usize = 6;
const SIZE: f32 = 12.0;
const SMALL: f32 = 10.5;
/// Left end of names, behind the mark of the row, and the distance of a tag.
const NAME_LEFT: f32 = 16.0;
const TAG_GAP: f32 = 8.0;

/// The order of the rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaneTableState {
    sorting: Sorting,
    /// Lanes that the drawing hides.
    pub n_hidden: usize,
    /// The row or the column under the pointer in a line, for the status bar: a tooltip would cover other rows.
    pub hovered: Option<String>,
}

/// The input of the rows.
struct Table<'a> {
    comparison: &'a Comparison,
    baseline: usize,
    lanes: Vec<LaneTexts<'a>>,
    theme: &'a Theme,
    selected: usize,
    columns: Columns,
    /// The largest peak, at the right end of bars: of reserved bytes or, where a recording states these in part or not at
    /// all, of live bytes.
    longest: Bytes,
}

/// The height of the table with a number of lanes.
fn height_of(n_lanes: usize) -> f32 {
    // Half of a row shows that there are more.
    let part = if n_lanes > MOST_ROWS { ROW / 2.0 } else { 0.0 };
    HEADER + ROW * count_f32(n_lanes.min(MOST_ROWS)) + part
}

pub fn lane_table_ui(
    ui: &mut Ui,
    cx: &mut PaneCx<'_>,
    comparison: &Comparison,
    selected: Option<LaneId>,
    state: &mut LaneTableState,
) {
    let selected = selected.and_then(|id| comparison.position(id));
    let lanes = 0..comparison.lanes.len();
    let peaks = lanes.clone().map(|lane| comparison.shown_peak(lane).bytes);
    let goal = cx.session.document().goal;
    let mut table = Table {
        comparison,
        baseline: cx.session.baseline(comparison),
        lanes: lanes
            .clone()
            .map(|lane| LaneTexts::new(comparison, lane, goal))
            .collect(),
        theme: cx.theme,
        selected: selected.or(comparison.main_lane()).unwrap_or(0),
        columns: Columns::of(ui.available_width(), 0.0, &[]),
        longest: peaks.max().unwrap_or_default().max(Bytes(1)),
    };
    let name = lanes.map(|lane| table.name_width(ui, lane)).fold(0.0, f32::max);
    table.columns = Columns::of(ui.available_width(), name, &table.present());
    let size = vec2(ui.available_width(), height_of(comparison.lanes.len()));
    let (area, _) = ui.allocate_exact_size(size, Sense::hover());
    let header = Rect::from_min_size(area.min, vec2(area.width(), HEADER));
    let column = table.header_ui(ui, header, state);
    table.title_ui(ui, header, state, cx.window_commands);
    let body = Rect::from_min_max(pos2(area.left(), header.bottom()), area.max);
    let mut child = ui.new_child(UiBuilder::new().max_rect(body).id_salt("lane table"));
    child.spacing_mut().item_spacing.y = 0.0;
    let rows = table.order(state);
    let area = egui::ScrollArea::vertical().auto_shrink(false);
    let shown = area.show(&mut child, |ui| {
        let mut hovered: Option<usize> = None;
        for lane in rows {
            if table.row_ui(ui, lane, cx) {
                hovered = Some(lane);
            }
        }
        hovered
    });
    let hovered = shown.inner.map(|lane| table.hover_text(lane));
    let hovered = hovered.or(column.map(str::to_owned));
    if hovered != state.hovered {
        // The status bar was drawn before the table.
        ui.ctx().request_repaint();
        state.hovered = hovered;
    }
}

impl Table<'_> {
    /// The columns with a figure in some row.
    fn present(&self) -> Vec<Column> {
        let lanes = 0..self.comparison.lanes.len();
        let is_told = |column: &Column| match column {
            Column::Peak => true,
            Column::Difference => lanes.len() > 1,
            _ => lanes.clone().any(|lane| !self.cell(lane, *column).0.is_empty()),
        };
        COLUMNS.map(|(column, ..)| column).into_iter().filter(is_told).collect()
    }

    /// Lanes in the order of the rows: those without figures to compare come last in every order but that of ranks.
    fn order(&self, state: &LaneTableState) -> Vec<usize> {
        let mut lanes = reading_order(self.comparison);
        let are_recordings = self.comparison.lane_kind() == LaneKind::Recordings;
        if are_recordings && state.sorting.sort().is_none() {
            return lanes;
        }
        state.sorting.order(&mut lanes, |column, one, other| {
            let number = |lane: usize| self.number(lane, COLUMNS[column].0);
            number(*one).total_cmp(&number(*other))
        });
        lanes.sort_by_key(|lane| self.failure(*lane).is_some());
        lanes
    }

    fn number(&self, lane: usize, column: Column) -> f64 {
        let name = column.metric();
        // A recording without reserved bytes shows its live ones.
        let live = || self.figure(lane, "peak_live").filter(|_| name == "peak_reserved");
        self.figure(lane, name).or_else(live).map_or(0.0, Figure::number)
    }

    fn figure(&self, lane: usize, name: &str) -> Option<Figure> {
        self.comparison.figure(lane, Metric::find(name)?)
    }

    /// Returns the description of the column under the pointer.
    fn header_ui(&self, ui: &Ui, area: Rect, state: &mut LaneTableState) -> Option<&'static str> {
        let mut hovered = None;
        let paint = |place: Rangef, text: &str, align: Align2| {
            let at = match align {
                Align2::LEFT_CENTER => pos2(area.left() + place.min, area.center().y),
                _ => pos2(area.left() + place.max, area.center().y),
            };
            ui.painter()
                .text(at, align, text, FontId::proportional(SMALL), self.theme.text_weak);
        };
        for (column, place) in &self.columns.shown {
            let position = *column as usize;
            let (_, label, _, about) = COLUMNS[position];
            let sort = state.sorting.sort().filter(|sort| sort.column == position);
            paint(*place, label, Align2::RIGHT_CENTER);
            if let Some(sort) = sort {
                let tip = pos2(area.left() + place.max + 5.0, area.center().y);
                direction(ui.painter(), tip, sort.is_descending, self.theme.text);
            }
            let rect = Rect::from_x_y_ranges(area.left() + place.min..=area.left() + place.max, area.y_range());
            let response = ui.interact(rect, ui.scope_id().with(("lane column", label)), Sense::click());
            let response = response.named(Role::Button, || format!("sort lanes by {label}"));
            if response.clicked() {
                state.sorting.click(position, false);
            }
            hovered = hovered.or(response.hovered().then_some(about));
        }
        hovered
    }

    /// The head of the names: the menu of hidden columns, and the button that shows hidden lanes.
    fn title_ui(&self, ui: &mut Ui, area: Rect, state: &LaneTableState, commands: &mut Vec<UiCommand>) {
        let place = area.with_min_x(area.left() + NAME_LEFT);
        let place = place.with_max_x(area.left() + self.columns.bar.max);
        let mut row = row_at(ui, place, Layout::left_to_right(Align::Center), "lane title");
        row.spacing_mut().interact_size.y = HEADER;
        row.spacing_mut().button_padding = vec2(4.0, 0.0);
        let words = |text: &str| RichText::new(text).size(SMALL).color(self.theme.text_weak);
        row.label(words("lane"));
        let hidden = &self.columns.hidden;
        if !hidden.is_empty() {
            let count = counted(hidden.len() as u64, "column");
            let menu = row.menu_button(words(&format!("+{count}")), |ui| self.hidden_columns_ui(ui, hidden));
            let menu = menu.response.named(Role::Button, || format!("{count} hidden"));
            menu.on_hover_text("Show the columns without room");
        }
        if state.n_hidden > 0 {
            let text = format!("{} hidden: show", counted(state.n_hidden as u64, "lane"));
            let button = row.add(Button::new(words(&text).color(self.theme.text)));
            if button.on_hover_text("Show all lanes in the drawing").clicked() {
                commands.push(UiCommand::ShowAllLanes);
            }
        }
    }

    /// The figures of columns without room, lane by lane.
    fn hidden_columns_ui(&self, ui: &mut Ui, hidden: &[Column]) {
        Grid::new("hidden columns")
            .num_columns(hidden.len() + 1)
            .striped(true)
            .show(ui, |ui| {
                ui.weak("lane");
                let rows = COLUMNS.iter().filter(|(column, ..)| hidden.contains(column));
                for (_, label, _, about) in rows.clone() {
                    ui.weak(*label).on_hover_text(*about);
                }
                ui.end_row();
                for lane in 0..self.comparison.lanes.len() {
                    ui.label(&self.lanes[lane].name);
                    for (column, ..) in rows.clone() {
                        let (text, color) = self.cell(lane, *column);
                        ui.with_layout(Layout::right_to_left(Align::Center), |ui| ui.colored_label(color, text));
                    }
                    ui.end_row();
                }
            });
    }

    /// Width of a name with its tag and the mark before it.
    fn name_width(&self, ui: &Ui, lane: usize) -> f32 {
        NAME_LEFT + width_of(ui, &self.lanes[lane].name, SIZE) + self.tag_width(ui, lane)
    }

    fn tag_width(&self, ui: &Ui, lane: usize) -> f32 {
        match &*self.lanes[lane].tag {
            "" => 0.0,
            tag => width_of(ui, tag, SMALL) + TAG_GAP,
        }
    }

    /// Returns whether the pointer is over the row.
    fn row_ui(&self, ui: &mut Ui, lane: usize, cx: &mut PaneCx<'_>) -> bool {
        let (area, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::click());
        let is_selected = lane == self.selected;
        let response = response.named_choice(Role::RadioButton, is_selected, || self.words(lane));
        let id = self.comparison.lanes[lane].id;
        if response.double_clicked() {
            cx.window_commands
                .extend([UiCommand::ExplainLane(id), UiCommand::ShowLaneAlone(id)]);
        } else if response.clicked() && ui.input(|input| input.modifiers.command) {
            let selected = self.comparison.lanes[self.selected].id;
            cx.commands
                .push(Command::SetDifference((selected != id).then_some((id, selected))));
        } else if response.clicked() {
            cx.window_commands.push(UiCommand::ExplainLane(id));
        }
        let response = response.on_hover_cursor(CursorIcon::PointingHand);
        if is_selected {
            ui.painter()
                .rect_filled(area, 2, ui.visuals().selection.bg_fill.gamma_multiply(0.35));
        } else if response.hovered() {
            ui.painter()
                .rect_filled(area, 2, ui.visuals().widgets.hovered.weak_bg_fill);
        }
        self.paint_row(ui, area, lane);
        response.hovered()
    }

    fn paint_row(&self, ui: &Ui, area: Rect, lane: usize) {
        let y = area.center().y;
        let at = |x: f32| pos2(area.left() + x, y);
        let marks = &self.lanes[lane].marks;
        let is_active = marks.iter().any(|mark| matches!(mark, LaneMark::Active { .. }));
        let circle = at(7.0);
        if self.is_recommended(lane) {
            ui.painter().circle_filled(circle, 4.0, self.theme.good);
        } else if is_active {
            let stroke = Stroke::new(1.5, self.theme.text_weak);
            ui.painter().circle_stroke(circle, 3.5, stroke);
        }
        self.paint_name(ui, at(NAME_LEFT), lane);
        self.paint_bar(ui, area, lane);
        if let Some(text) = self.failure(lane) {
            let left = self.columns.shown.first().map_or(0.0, |(_, place)| place.min);
            let last = self.columns.shown.last();
            let mut right = last.map_or(left, |(_, place)| place.max);
            if let Some((Column::Fits, place)) = last {
                let (word, color) = self.cell(lane, Column::Fits);
                paint_text(ui, at(place.max), Align2::RIGHT_CENTER, &word, color);
                right = place.min;
            }
            let text = elided(ui, text, SIZE, right - left);
            paint_text(ui, at(left), Align2::LEFT_CENTER, &text, self.theme.bad);
            return;
        }
        for (column, place) in &self.columns.shown {
            let (text, color) = self.cell(lane, *column);
            paint_text(ui, at(place.max), Align2::RIGHT_CENTER, &text, color);
        }
    }

    fn paint_name(&self, ui: &Ui, at: Pos2, lane: usize) {
        let LaneTexts { name, tag, .. } = &self.lanes[lane];
        let room = self.columns.name.max - NAME_LEFT;
        let name = elided(ui, name, SIZE, room - self.tag_width(ui, lane));
        let end = ui.painter().text(
            at,
            Align2::LEFT_CENTER,
            name,
            FontId::proportional(SIZE),
            self.theme.text,
        );
        let color = if self.is_recommended(lane) {
            self.theme.good
        } else {
            self.theme.text_weak
        };
        let place = pos2(end.right() + TAG_GAP, at.y);
        ui.painter()
            .text(place, Align2::LEFT_CENTER, tag, FontId::proportional(SMALL), color);
    }

    fn paint_bar(&self, ui: &Ui, area: Rect, lane: usize) {
        let bar = Rect::from_x_y_ranges(
            area.left() + self.columns.bar.min..=area.left() + self.columns.bar.max,
            area.center().y - 5.0..=area.center().y + 5.0,
        );
        if bar.width() < 1.0 {
            return;
        }
        if self.failure(lane).is_some() {
            hatch(ui, bar, self.theme.bad);
            return;
        }
        ui.painter().rect_filled(bar, 1, self.theme.canvas);
        let share = |bytes: Bytes| to_points(part_of(bytes.get(), self.longest.get()));
        let peak = bar.left() + bar.width() * share(self.comparison.shown_peak(lane).bytes);
        let filled = Rect::from_min_max(bar.min, pos2(peak, bar.bottom()));
        ui.painter()
            .rect_filled(filled, 1, self.theme.reserved.gamma_multiply(0.75));
        let capacity = self.comparison.capacity_of(lane).map(|capacity| capacity.bytes);
        if let Some(capacity) = capacity.filter(|capacity| *capacity <= self.longest) {
            let x = bar.left() + bar.width() * share(capacity);
            let stroke = Stroke::new(1.5, self.theme.capacity);
            ui.painter().vline(x, bar.y_range().expand(2.0), stroke);
        }
        ui.painter()
            .rect_stroke(bar, 1, Stroke::new(1.0, self.theme.frame), StrokeKind::Inside);
    }

    fn cell(&self, lane: usize, column: Column) -> (String, Color32) {
        let theme = self.theme;
        let comparison = self.comparison;
        let summary = &comparison.lanes[lane].summary;
        let (states_reserved, _) = comparison.states(lane);
        match column {
            Column::Peak if !states_reserved => (format!("{} live", summary.peak_live), theme.text_weak),
            Column::Peak => {
                let sign = comparison.bound_sign(lane);
                (format!("{sign}{}", comparison.least_reserved(lane)), theme.text)
            }
            Column::Difference => self.difference(lane),
            Column::Fragmentation | Column::Overhead | Column::DeviceCalls => {
                let figure = self.figure(lane, column.metric());
                (figure.map_or_else(String::new, |figure| figure.to_string()), theme.text)
            }
            Column::Fits => match comparison.fit(lane) {
                Fit::Unknown => (String::new(), theme.text_weak),
                fit if fit.is_good() => (fit.word().to_owned(), theme.good),
                fit => (fit.word().to_owned(), theme.bad),
            },
        }
    }

    /// The difference of the peak from that of the baseline; grey where it is not significant.
    fn difference(&self, lane: usize) -> (String, Color32) {
        if lane == self.baseline {
            return ("baseline".to_owned(), self.theme.text_weak);
        }
        let found = self.comparison.peak_difference(lane, self.baseline);
        found.map_or((String::new(), self.theme.text_weak), |(difference, effect)| {
            (difference.percent(), self.theme.effect(effect))
        })
    }

    fn is_recommended(&self, lane: usize) -> bool {
        let mut marks = self.lanes[lane].marks.iter();
        marks.any(|mark| matches!(mark, LaneMark::Recommended(_)))
    }
}

fn paint_text(ui: &Ui, at: Pos2, align: Align2, text: &str, color: Color32) {
    ui.painter().text(at, align, text, FontId::proportional(SIZE), color);
}

/// Diagonal lines over a rectangle.
fn hatch(ui: &Ui, rect: Rect, color: Color32) {
    let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
    let stroke = Stroke::new(1.0, color.gamma_multiply(0.7));
    let mut x = rect.left() - rect.height();
    while x < rect.right() {
        painter.line_segment([pos2(x, rect.bottom()), pos2(x + rect.height(), rect.top())], stroke);
        x += 6.0;
    }
    painter.rect_stroke(rect, 1, stroke, StrokeKind::Inside);
}
