//! The row of the verdict: the recommended policy, its peak, its difference from the active one, why, and the goal.
//!
//! Everything is in one row that never wraps; of the sentence, the longest clause that fits is shown, and all on hover.

use eframe::egui::{self, Align, Layout, RichText, Role, Ui};

use super::overview::stale_text;
use crate::combo::ShowChoices as _;
use crate::panels::schedule::{can_add_evaluation, changing_values};
use crate::panels::{PaneCx, width_of};
use crate::theme::STALE;
use crate::widgets::{Named as _, row_at};
use highwater_analysis::{Comparison, Effect, LaneGoal, LaneId, Metric, Recommended};
use highwater_options::keys;
use highwater_session::Command;

/// Height of the row in points.
pub(super) const HEIGHT: f32 = 22.0;

pub(super) fn verdict_ui(ui: &mut Ui, cx: &mut PaneCx<'_>, comparison: &Comparison) {
    let goal = cx.session.document().goal;
    let found = comparison.recommended(goal);
    let (area, _) = ui.allocate_exact_size(egui::vec2(ui.available_width(), HEIGHT), egui::Sense::hover());
    let mut row = row_at(ui, area, Layout::right_to_left(Align::Center), "verdict");
    apply_ui(&mut row, cx, comparison, found);
    goal_ui(&mut row, cx, goal);
    if comparison.equivalence.is_some() {
        vary_ui(&mut row, cx);
    }
    let (strong, reasons) = match found {
        Some(found) => {
            let clauses = std::iter::once(&found.why).chain(&found.why_short);
            let reasons = clauses.map(|clause| format!("Why: {clause}.")).collect();
            (headline(comparison, found), reasons)
        }
        None => nothing_fits(comparison),
    };
    let color = if found.is_some() { cx.theme.text } else { cx.theme.bad };
    row.with_layout(Layout::left_to_right(Align::Center), |ui| {
        if let Some(text) = stale_text(cx.session) {
            ui.label(text);
            ui.multiply_opacity(STALE);
        }
        ui.add(egui::Label::new(RichText::new(&strong).strong().color(color)).truncate())
            .on_hover_text(details(comparison, found));
        let room = ui.available_width();
        let size = egui::TextStyle::Body.resolve(ui.style()).size;
        // A whole clause, or none: half a reason may say the opposite.
        if let Some(shown) = reasons.iter().find(|reason| width_of(ui, reason, size) <= room) {
            let label = ui.label(RichText::new(shown).color(cx.theme.text_weak));
            label.on_hover_text(&reasons[0]);
        }
    });
}

/// `Recommended: policy 2 · 3.485 GiB · −8.6 % · no extra time`.
fn headline(comparison: &Comparison, found: &Recommended) -> String {
    let number = found.policy.number();
    let position = |policy| comparison.position(LaneId::Policy(policy));
    let Some(lane) = position(found.policy) else {
        return format!("Recommended: policy {number}");
    };
    let peak = comparison.lanes[lane].summary.peak_reserved;
    let mut text = format!("Recommended: policy {number} · {}{peak}", comparison.bound_sign(lane));
    let active = position(comparison.active_policy).filter(|active| comparison.lanes[*active].may_be_recommended());
    if found.policy == comparison.active_policy {
        text.push_str(" · active");
    } else if let Some(differences) = active.and_then(|active| differences(comparison, lane, active, found)) {
        text.push_str(&differences);
    }
    text
}

/// The change of peak and overhead from the active policy.
fn differences(comparison: &Comparison, lane: usize, active: usize, found: &Recommended) -> Option<String> {
    let find = |name: &str| comparison.difference(lane, active, Metric::find(name)?);
    let (peak, _) = find("peak_reserved")?;
    let peak = if found.equivalent.contains(&comparison.lanes[active].policy) {
        "equivalent peak".to_owned()
    } else {
        peak.percent()
    };
    let (time, effect) = find("estimated_overhead")?;
    let (_, by) = time.now.since(time.before);
    let time = match effect {
        Effect::Equivalent => "no extra time".to_owned(),
        Effect::Better => format!("{by} less overhead"),
        Effect::Worse => format!("{by} more overhead"),
    };
    Some(format!(" · {peak} · {time}"))
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

fn details(comparison: &Comparison, found: Option<&Recommended>) -> String {
    let Some(found) = found else {
        return "No policy completes on this device".to_owned();
    };
    let lane = comparison.position(LaneId::Policy(found.policy));
    let peak = lane.map_or_else(String::new, |lane| {
        let exact = comparison.lanes[lane].summary.peak_reserved.exact();
        format!("{}{exact}", comparison.bound_sign(lane))
    });
    let mut text = format!("{}: peak {peak}", found.text());
    if let Some(equivalent) = found.equivalent_text() {
        text.push_str(&format!("\n{equivalent}"));
    }
    text
}

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
    let short = goal.name().replace('-', " ");
    let list = egui::ComboBox::from_id_salt("goal").selected_text(short);
    let list = list.width(112.0).show_choices(ui, |ui| {
        for goal in LaneGoal::ALL {
            ui.selectable_value(&mut chosen, goal, goal.label());
        }
    });
    drop(list.named(Role::ComboBox, || format!("goal: {}", goal.label())));
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
