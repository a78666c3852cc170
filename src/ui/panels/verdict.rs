//! The row of the verdict: both ends of the trade, which the goal makes bold, and the goal; or which dimensions have no value.
//!
//! One row that never wraps; where both ends do not fit into it as short as they may be, and in narrow windows, one row per end.
//! Both ends are shortened alike, and bytes and times are never left out; everything is said on hover.

use std::collections::BTreeSet;

use eframe::egui::{self, Align, Key, Layout, Rect, RichText, Role, Sense, TextStyle, Ui, pos2, vec2};

use super::overview::stale_text;
use crate::combo::ShowChoices as _;
use crate::panels::schedule::{can_add_evaluation, changing_values, values_from_text};
use crate::panels::{PaneCx, elided, width_of};
use crate::theme::STALE;
use crate::widgets::{Named as _, row_at};
use highwater_analysis::{Brevity, Comparison, LaneGoal, Recommended, TradeEnd};
use highwater_options::keys;
use highwater_session::Command;

/// Height of the row in points.
pub(super) const HEIGHT: f32 = 22.0;
/// Of a second row.
const SECOND: f32 = 20.0;
/// Windows below this width have a row per end.
const NARROW: f32 = 1280.0;
/// Between the ends.
const GAP: f32 = 10.0;
/// Room for Apply, the goal and what is left between.
const CONTROLS: f32 = 108.0;
/// Fields of a banner.
const MOST_FIELDS: usize = 4;
const FIELD: f32 = 52.0;

pub(super) fn verdict_ui(ui: &mut Ui, cx: &mut PaneCx<'_>, comparison: &Comparison) {
    if !comparison.assumed_dims.is_empty() {
        assumed_ui(ui, cx, &comparison.assumed_dims);
        return;
    }
    let goal = cx.session.document().goal;
    let ends = comparison.trade();
    let vary = if comparison.equivalence.is_some() { VARY } else { 0.0 };
    let room = ui.available_width() - CONTROLS - vary;
    let is_narrow = ui.ctx().content_rect().width() < NARROW;
    let fitting = fitting(ui, &ends, room).filter(|_| !is_narrow);
    let n_rows = if ends.len() > 1 && fitting.is_none() { 2 } else { 1 };
    let height = if n_rows == 2 { HEIGHT + SECOND } else { HEIGHT };
    let (area, _) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::hover());
    let first = Rect::from_min_size(area.min, vec2(area.width(), HEIGHT));
    let mut row = row_at(ui, first, Layout::right_to_left(Align::Center), "verdict");
    controls_ui(&mut row, cx, comparison, &ends);
    row.with_layout(Layout::left_to_right(Align::Center), |ui| {
        if cx.session.is_stale() {
            ui.multiply_opacity(STALE);
        }
        match (&ends[..], fitting) {
            ([], _) => nothing_fits_ui(ui, cx, comparison),
            ([only], _) => only_ui(ui, cx, comparison, only),
            (all, Some(brevity)) => {
                ui.spacing_mut().item_spacing.x = GAP;
                for end in all {
                    end_ui(ui, cx, end, brevity, goal);
                }
            }
            // Both are as short as the longer one must be.
            ([one, ..], None) => end_ui(ui, cx, one, longest(ui, &ends, room), goal),
        }
    });
    if let ([_, other], 2) = (&ends[..], n_rows) {
        let second = Rect::from_min_max(pos2(area.left(), first.bottom()), area.max);
        let mut row = row_at(ui, second, Layout::left_to_right(Align::Center), "other end");
        if cx.session.is_stale() {
            row.multiply_opacity(STALE);
        }
        let brevity = longest(&row, &ends, room);
        end_ui(&mut row, cx, other, brevity, goal);
    }
}

/// `Least overhead: policy 2 · 3.485 GiB · −8.6 %`; the only end is what is recommended.
fn words(end: &TradeEnd, brevity: Brevity) -> String {
    format!("{}: {}", end.label(), end.text(brevity))
}

/// The size of letters: the shortest form is also the smallest.
fn size_of(ui: &Ui, brevity: Brevity) -> f32 {
    let body = TextStyle::Body.resolve(ui.style()).size;
    if brevity == Brevity::Shortest { body - 1.5 } else { body }
}

/// The longest form in which all ends fit side by side, if there is one.
fn fitting(ui: &Ui, ends: &[TradeEnd], room: f32) -> Option<Brevity> {
    let width = |brevity: Brevity| {
        let size = size_of(ui, brevity);
        let ends = ends.iter().map(|end| width_of(ui, &words(end, brevity), size) + GAP);
        ends.sum::<f32>()
    };
    Brevity::ALL.into_iter().find(|brevity| width(*brevity) <= room)
}

/// The longest form in which each end fits into a row.
fn longest(ui: &Ui, ends: &[TradeEnd], room: f32) -> Brevity {
    let each = ends
        .iter()
        .map(|end| fitting(ui, std::slice::from_ref(end), room).unwrap_or(Brevity::Shortest));
    each.max().unwrap_or(Brevity::Whole)
}

/// One end; a click makes its goal the goal.
fn end_ui(ui: &mut Ui, cx: &mut PaneCx<'_>, end: &TradeEnd, brevity: Brevity, goal: LaneGoal) {
    let mut text = RichText::new(words(end, brevity)).size(size_of(ui, brevity));
    text = if end.is_of(goal) {
        text.strong().color(cx.theme.text)
    } else {
        text.color(cx.theme.text_weak)
    };
    let label = ui.add(egui::Label::new(text).truncate().sense(Sense::click()));
    let hover = format!("{}\n{}", words(end, Brevity::WithReason), end.peak.exact());
    let label = label.on_hover_text(hover);
    if let (true, [own]) = (label.clicked(), &end.goals[..])
        && *own != goal
    {
        cx.commands.push(Command::SetGoal(*own));
    }
}

/// The policy that both goals recommend, with the longest reason that fits.
fn only_ui(ui: &mut Ui, cx: &PaneCx<'_>, comparison: &Comparison, end: &TradeEnd) {
    let strong = format!("{}: {}", end.label(), end.text(Brevity::Whole));
    let found = &end.recommended;
    ui.add(egui::Label::new(RichText::new(&strong).strong().color(cx.theme.text)).truncate())
        .on_hover_text(details(comparison, found, end));
    let clauses = std::iter::once(&found.why).chain(&found.why_short);
    let reasons: Vec<String> = clauses.map(|clause| format!("Why: {clause}.")).collect();
    reason_ui(ui, cx, &reasons);
}

/// A whole clause, or none: half a reason may say the opposite.
fn reason_ui(ui: &mut Ui, cx: &PaneCx<'_>, reasons: &[String]) {
    let room = ui.available_width();
    let size = TextStyle::Body.resolve(ui.style()).size;
    if let Some(shown) = reasons.iter().find(|reason| width_of(ui, reason, size) <= room) {
        let label = ui.label(RichText::new(shown).color(cx.theme.text_weak));
        label.on_hover_text(&reasons[0]);
    }
}

fn nothing_fits_ui(ui: &mut Ui, cx: &PaneCx<'_>, comparison: &Comparison) {
    let (strong, reasons) = nothing_fits(comparison);
    ui.add(egui::Label::new(RichText::new(&strong).strong().color(cx.theme.bad)).truncate())
        .on_hover_text("No policy completes on this device");
    reason_ui(ui, cx, &reasons);
}

/// Apply, and the goal; while the figures are old, what is being done.
fn controls_ui(ui: &mut Ui, cx: &mut PaneCx<'_>, comparison: &Comparison, ends: &[TradeEnd]) {
    if let Some(doing) = stale_text(cx.session) {
        let size = TextStyle::Body.resolve(ui.style()).size;
        let shown = elided(ui, &doing, size, CONTROLS);
        ui.label(shown).named(Role::Label, || &doing).on_hover_text(&doing);
        return;
    }
    let goal = cx.session.document().goal;
    let end = ends.iter().find(|end| end.is_of(goal));
    apply_ui(ui, cx, comparison, end.map(|end| &end.recommended));
    goal_ui(ui, cx, goal);
    if comparison.equivalence.is_some() {
        vary_ui(ui, cx);
    }
}

/// Which dimensions have no value, each with a field: figures of assumed values are no verdict.
fn assumed_ui(ui: &mut Ui, cx: &mut PaneCx<'_>, dims: &BTreeSet<String>) {
    let (area, _) = ui.allocate_exact_size(vec2(ui.available_width(), HEIGHT), Sense::hover());
    let mut row = row_at(ui, area, Layout::right_to_left(Align::Center), "assumed");
    let more = dims.len().saturating_sub(MOST_FIELDS);
    if more > 0 {
        row.weak(format!("and {more} more under Session"));
    }
    let shown: Vec<&String> = dims.iter().take(MOST_FIELDS).collect();
    for name in shown.into_iter().rev() {
        dim_field_ui(&mut row, cx, name, dims);
    }
    row.with_layout(Layout::left_to_right(Align::Center), |ui| {
        let text = "No verdict: set the dimensions; 1 is assumed.";
        let label = egui::Label::new(RichText::new(text).strong().color(cx.theme.bad)).truncate();
        let about = "Every figure below is of a graph in which these dimensions are 1. Type the values that you run with, and press Enter.";
        ui.add(label).on_hover_text(about);
    });
}

/// The values of a dimension, set with Enter or where the field is left. In a row from right to left.
fn dim_field_ui(ui: &mut Ui, cx: &mut PaneCx<'_>, name: &str, dims: &BTreeSet<String>) {
    let id = ui.scope_id().with(("assumed", name));
    let mut text = ui.data(|data| data.get_temp::<String>(id)).unwrap_or_default();
    let field = egui::TextEdit::singleline(&mut text)
        .desired_width(FIELD)
        .hint_text("1?");
    let response = ui.add(field);
    let label = ui.label(RichText::new(name).monospace());
    let response = response.labelled_by(label.id);
    let values = values_from_text(&text);
    let next = ui.scope_id().with("next dimension");
    if ui
        .data(|data| data.get_temp::<String>(next))
        .is_some_and(|wanted| wanted == name)
    {
        response.request_focus();
        ui.data_mut(|data| data.remove_temp::<String>(next));
    }
    if response.lost_focus()
        && let Some(values) = values
    {
        cx.commands.push(Command::SetDim {
            name: name.to_owned(),
            values,
        });
        text.clear();
        // The keyboard goes on to the next dimension without a value.
        let behind = dims.iter().skip_while(|other| *other != name).nth(1);
        let behind = behind.or_else(|| dims.iter().find(|other| *other != name));
        if let (Some(behind), true) = (
            behind,
            ui.input(|input| input.key_pressed(Key::Enter) || input.key_pressed(Key::Tab)),
        ) {
            ui.data_mut(|data| data.insert_temp(next, behind.clone()));
        }
    }
    ui.data_mut(|data| data.insert_temp(id, text));
}

/// That nothing fits, and the smallest device that is enough.
fn nothing_fits(comparison: &Comparison) -> (String, Vec<String>) {
    let enough = comparison.own_lanes().filter_map(|lane| {
        let enough = lane.out_of_memory_report.as_ref()?.sufficient_device?;
        Some((enough, lane.policy.number()))
    });
    let why = match enough.min() {
        Some((enough, policy)) => vec![
            format!(
                "The smallest sufficient device is {enough}, under policy {policy}; Budgets lists what recomputation saves."
            ),
            format!("The smallest sufficient device is {enough}, under policy {policy}."),
            format!("Policy {policy} needs {enough}."),
        ],
        None => vec!["See the table for reasons.".to_owned()],
    };
    (format!("No policy fits {}", comparison.device.memory()), why)
}

fn details(comparison: &Comparison, found: &Recommended, end: &TradeEnd) -> String {
    let peak = format!("{}{}", comparison.bound_sign(end.lane), end.peak.exact());
    let mut text = format!("{}: peak {peak}", found.text());
    if let Some(equivalent) = found.equivalent_text() {
        text.push_str(&format!("\n{equivalent}"));
    }
    text
}

/// Width of the menu that varies the session.
const VARY: f32 = 118.0;

/// Schedules in which policies differ: where one graph runs with one set of shapes they differ by rounding alone.
fn vary_ui(ui: &mut Ui, cx: &mut PaneCx<'_>) {
    let loaded = cx.session.loaded();
    let symbols = loaded.map(|loaded| loaded.workload.symbols()).unwrap_or_default();
    let has_evaluation = can_add_evaluation(cx.session);
    if symbols.is_empty() && !has_evaluation {
        return;
    }
    let menu = ui.menu_button("Vary the session", |ui| {
        if has_evaluation
            && ui
                .button("Add the evaluation graph")
                .on_hover_text("Run the forward phase, with the loss as output, after each training step")
                .clicked()
        {
            cx.commands.push(Command::SetEvaluation(true));
            ui.close();
        }
        for symbol in &symbols {
            let values = changing_values(cx.session, symbol);
            let button = ui.button(format!("Run with several values of {symbol}"));
            if button.on_hover_text(format!("One run each for {values:?}")).clicked() {
                cx.commands.push(Command::SetDim {
                    name: symbol.clone(),
                    values,
                });
                ui.close();
            }
        }
    });
    let words = "One static graph: all policies are equivalent here (differences are rounding)";
    drop(menu.response.on_hover_text(words));
}

fn goal_ui(ui: &mut Ui, cx: &mut PaneCx<'_>, goal: LaneGoal) {
    let mut chosen = goal;
    let list = egui::ComboBox::from_id_salt("goal").selected_text("Goal").width(50.0);
    let list = list.show_choices(ui, |ui| {
        for goal in LaneGoal::ALL {
            ui.selectable_value(&mut chosen, goal, goal.label());
        }
    });
    let words = format!("goal: {}", goal.label());
    drop(list.named(Role::ComboBox, || &words).on_hover_text(&words));
    if chosen != goal {
        cx.commands.push(Command::SetGoal(chosen));
    }
}

/// Sets the recommended policy, where another one is active.
fn apply_ui(ui: &mut Ui, cx: &mut PaneCx<'_>, comparison: &Comparison, found: Option<&Recommended>) {
    let other = found.filter(|found| found.policy != comparison.active_policy);
    let is_current = !cx.session.is_stale();
    let Some(number) = other.map(|found| found.policy.number()) else {
        // The button keeps its place.
        let words = if found.is_some() {
            "The recommended policy is active"
        } else {
            "No policy fits"
        };
        ui.add_enabled(false, egui::Button::new("Apply"))
            .on_disabled_hover_text(words);
        return;
    };
    let button = ui.add_enabled(is_current, egui::Button::new("Apply"));
    let button = button.named(Role::Button, || format!("apply policy {number}"));
    let words = format!("Set static_memory_policy to {number}");
    if button.on_hover_text(words).clicked() {
        cx.commands
            .push(Command::set_option(keys::STATIC_MEMORY_POLICY, number.to_string()));
    }
}
