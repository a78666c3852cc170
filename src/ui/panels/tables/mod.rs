//! Tables: tensors, ops, live tensors on a step, events, problems; sorted by a click on a column, filtered while one
//! types.
//!
//! The worker sorts and filters; a frame makes the texts of visible rows alone. Until the new order arrives, the last
//! one stays. A click on a row or Enter selects its tensor and scrolls the lanes to it, pins its step, or shows its
//! option.

mod rows;

use eframe::egui::{self, RichText, TextEdit};

use super::choice_ui;
use super::search::help_ui;
use super::sorted_table::Sorting;
use crate::combo::ShowChoices as _;
use crate::commands::UiCommand;
use crate::dialogs::Purpose;
use crate::lanes::{LanesInput, LanesState};
use crate::panels::{Appearance, PaneCx};
use crate::widgets::Named as _;
use highwater_model::units::{Step, counted, grouped};
use highwater_session::{Command, Session};
use highwater_timeline::{Query, Selected, TableKind, TableRows, TableSpec, Timeline};

#[derive(Clone, Debug, Default)]
pub struct TablesState {
    kind: TableKind,
    /// `None` for the lane under the pointer, the last clicked one, or the main one.
    lane: Option<usize>,
    views: [TableView; TableKind::ALL.len()],
    has_allocations: bool,
    /// Gives the rows the keyboard, as after the pane's shortcut.
    pub wants_focus: bool,
    /// The selection that was scrolled to last.
    shown: Option<Selected>,
    appearance: Appearance,
}

#[derive(Clone, Debug, Default)]
struct TableView {
    sorting: Sorting,
    filter: String,
    /// The row of the keys.
    cursor: Option<usize>,
    /// The row to scroll to in the next frame.
    jump: Option<usize>,
    /// Gives the rows the keyboard.
    wants_focus: bool,
}

impl TablesState {
    fn view(&mut self) -> &mut TableView {
        &mut self.views[self.kind as usize]
    }

    /// The tables with rows: evictions need a lane under a budget.
    fn kinds(&mut self, timeline: &Timeline) -> Vec<(TableKind, &'static str)> {
        let kinds = TableKind::ALL.into_iter();
        let kinds = kinds.filter(|kind| *kind != TableKind::Evictions || timeline.has_remat());
        let kinds: Vec<(TableKind, &str)> = kinds.map(|kind| (kind, kind.words())).collect();
        if !kinds.iter().any(|(kind, _)| *kind == self.kind) {
            self.kind = TableKind::default();
        }
        kinds
    }

    /// Shows the selected lane again.
    pub fn follow_lane(&mut self) {
        self.lane = None;
    }

    fn lane(&self, input: &LanesInput<'_>, lanes: &LanesState) -> usize {
        let last = input.comparison.lanes.len().saturating_sub(1);
        let pointed = lanes.spot_in(input).filter(|_| self.kind == TableKind::Live);
        let selected = lanes.selected_lane.and_then(|id| input.comparison.position(id));
        let usual = pointed
            .map(|spot| spot.lane)
            .or(selected)
            .or(input.comparison.main_lane());
        self.lane.or(usual).unwrap_or(0).min(last)
    }

    fn spec(&self, input: &LanesInput<'_>, lanes: &LanesState) -> TableSpec {
        let view = &self.views[self.kind as usize];
        let spot = lanes.spot_in(input).filter(|_| self.kind == TableKind::Live);
        TableSpec {
            kind: self.kind,
            lane: self.lane(input, lanes),
            step: spot.map_or(Step(0), |spot| spot.step),
            sort: view.sorting.sort(),
            filter: view.filter.clone(),
            has_allocations: self.has_allocations && self.kind == TableKind::Events,
        }
    }
}

pub fn tables_ui(ui: &mut egui::Ui, cx: &mut PaneCx<'_>, state: &mut TablesState, lanes: &mut LanesState) {
    if state.appearance.is_new(ui.ctx()) {
        lanes.forget_pointer();
    }
    let Some(input) = LanesInput::of(cx.session, cx.theme) else {
        ui.weak("This tab lists tensors, ops, live tensors, events and problems. Open a graph (Ctrl+O) or a sample.");
        return;
    };
    let timeline = input.timeline;
    ui.horizontal_wrapped(|ui| {
        let kinds = state.kinds(timeline);
        choice_ui(ui, &mut state.kind, "table", &kinds);
        ui.separator();
        lane_ui(ui, &input, state, lanes);
        filter_ui(ui, state);
        if state.kind == TableKind::Events {
            ui.checkbox(&mut state.has_allocations, "Tensor events")
                .on_hover_text("List the allocation and freeing of every tensor");
        }
        count_ui(ui, cx.session, state.kind);
        let has_rows = cx.session.table().last().is_some_and(|table| !table.is_empty());
        let export = ui.add_enabled(has_rows, egui::Button::new("Export as CSV…"));
        let hint = "Write the whole table in its order, with exact numbers (File, Export table as CSV…)";
        if export.on_hover_text(hint).clicked() {
            cx.window_commands.push(UiCommand::AskPath(Purpose::ExportTable));
        }
    });
    let spec = state.spec(&input, lanes);
    let error = match Query::parse(&spec.filter) {
        Err(error) if spec.kind.has_queries() => Some(error),
        _ => None,
    };
    if let Some(error) = &error {
        ui.label(RichText::new(error.to_string()).color(cx.theme.bad));
    } else {
        let (requested, key) = (cx.session.table(), cx.session.table_key(spec.clone()));
        if !requested.has(&key) && !requested.wants(&key) {
            cx.commands.push(Command::ListRows(Box::new(spec)));
        }
    }
    let Some(table) = cx
        .session
        .table()
        .last()
        .filter(|table| table.spec().kind == state.kind)
    else {
        ui.weak("Listing…");
        return;
    };
    let kind = state.kind;
    if input.selected.is_some() && std::mem::replace(&mut state.shown, input.selected) != input.selected {
        let selected = input.selected.filter(|_| kind.has_queries());
        let position = selected.and_then(|tensor| table.position_of(tensor));
        let view = state.view();
        view.jump = position.or(view.jump);
        view.cursor = position.or(view.cursor);
    }
    let wants_focus = std::mem::take(&mut state.wants_focus);
    state.view().wants_focus |= wants_focus;
    let Some(target) = rows::rows_ui(ui, table, state.view(), &input) else {
        return;
    };
    if let Some(tensor) = target.tensor {
        // The row stays where it was clicked.
        state.shown = Some(tensor);
        cx.commands.push(Command::Select(Some(tensor)));
        lanes.reveal(timeline, table.spec().lane, tensor);
    }
    if let Some(step) = target.step {
        lanes.pin(table.spec().lane, step);
    }
    if target.option.is_some() {
        cx.option = target.option;
    }
}

/// The lane, where tables of lanes differ.
fn lane_ui(ui: &mut egui::Ui, input: &LanesInput<'_>, state: &mut TablesState, lanes: &LanesState) {
    let differs = match state.kind {
        TableKind::Tensors => input.timeline.has_lane_rows(),
        TableKind::Ops | TableKind::Live | TableKind::Events | TableKind::Evictions => true,
        TableKind::Problems => false,
    };
    if !differs {
        return;
    }
    let shown = state.lane(input, lanes);
    let title = input.comparison.title_of(shown);
    egui::ComboBox::from_id_salt("lane of tables")
        .selected_text(&title)
        .show_choices(ui, |ui| {
            let usual = if state.kind == TableKind::Live {
                "the lane under the pointer"
            } else {
                "the last clicked lane"
            };
            ui.selectable_value(&mut state.lane, None, usual);
            for lane in 0..input.comparison.lanes.len() {
                ui.selectable_value(&mut state.lane, Some(lane), input.comparison.title_of(lane));
            }
        })
        .named(egui::Role::ComboBox, || format!("table of {title}"))
        .on_hover_text("Lane of the rows");
    if state.kind == TableKind::Live
        && let Some(spot) = lanes.spot_in(input)
    {
        let pinned = if spot.is_pinned { "pinned" } else { "under the pointer" };
        ui.label(input.comparison.step_text(spot.lane, spot.step))
            .on_hover_text(format!("Step {pinned}: click a curve to pin a step, J and K move it"));
    }
}

/// Room for the count and the button after the filter.
const BESIDE: f32 = 330.0;

fn filter_ui(ui: &mut egui::Ui, state: &mut TablesState) {
    let has_queries = state.kind.has_queries();
    let label = ui.label("filter");
    let hint = if has_queries {
        "name, op:conv, size:>1MiB"
    } else {
        "part of a text"
    };
    let filter = &mut state.view().filter;
    let width = (ui.available_size_before_wrap().x - BESIDE).clamp(112.0, 280.0);
    let field = TextEdit::singleline(filter).hint_text(hint).desired_width(width);
    ui.add(field).labelled_by(label.id);
    if has_queries {
        ui.weak("?").on_hover_ui(help_ui);
    }
}

/// The number of rows.
fn count_ui(ui: &mut egui::Ui, session: &Session, kind: TableKind) {
    let Some(table) = session.table().last().filter(|table| table.spec().kind == kind) else {
        return;
    };
    let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    let rows = counted(number(table.n_total()), kind.noun());
    let text = if table.len() == table.n_total() {
        rows
    } else {
        format!("{} of {rows}", grouped(number(table.len())))
    };
    if kind == TableKind::Live {
        live_ui(ui, table);
    } else {
        whole_ui(ui, text);
    }
}

/// A text that is moved to the next line as a whole.
fn whole_ui(ui: &mut egui::Ui, text: String) -> egui::Response {
    ui.add(egui::Label::new(text).extend())
}

/// Live bytes: tensors first, as the curve and the peak count them.
fn live_ui(ui: &mut egui::Ui, table: &TableRows) {
    let [tensors, others] = table.held();
    let of_others = match others.count {
        0 => [String::new(), String::new()],
        count => [
            format!(" + {}, {}", counted(count, "other block"), others.bytes),
            format!("\n{} of other blocks, such as inputs and outputs", others.bytes.exact()),
        ],
    };
    let kept = if table.len() == table.n_total() {
        String::new()
    } else {
        format!("{} of ", grouped(u64::try_from(table.len()).unwrap_or(u64::MAX)))
    };
    let live = format!("{}, {} live", counted(tensors.count, "tensor"), tensors.bytes);
    whole_ui(ui, format!("{kept}{live}{}", of_others[0])).on_hover_text(format!(
        "{} of tensors{}",
        tensors.bytes.exact(),
        of_others[1]
    ));
}
