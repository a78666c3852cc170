//! The placement strategy of a lane, in its header: the choice, and how good the plans are.

use eframe::egui::{ComboBox, Role, Ui};

use super::LanesCx;
use super::LanesInput;
use super::badge::{OPTIMAL, badge};
use super::figures::SIZE;
use super::header::words;
use crate::combo::ShowChoices as _;
use crate::panels::elided;
use crate::panels::planner::choices;
use crate::widgets::Named as _;
use highwater_analysis::{Lane, LaneKind};
use highwater_model::graph::Id as _;
use highwater_model::units::percent_text;
use highwater_session::Command;

/// Least width of the list of strategies, and its width besides the text.
pub(super) const COMBO: (f32, f32) = (96.0, 34.0);

/// The choice of the placement strategy.
pub(super) fn strategy_ui(ui: &mut Ui, cx: &mut LanesCx<'_>, lane: &Lane, room: f32) {
    let shown = elided(ui, lane.strategy.label, SIZE, (room - COMBO.1).max(COMBO.0 - COMBO.1));
    let label = format!(
        "{}, placed by {}",
        cx.input.comparison.lane_title(lane.id),
        lane.strategy.label
    );
    let set_strategy = |strategy| Command::SetStrategy {
        lane: Some(lane.id),
        strategy,
    };
    ComboBox::from_id_salt(("strategy", lane.id))
        .selected_text(words(shown, cx.input.theme.text_weak))
        .width(COMBO.0)
        .height(640.0)
        .show_choices(ui, |ui| {
            if lane.chosen && ui.selectable_label(false, "same as all lanes").clicked() {
                cx.commands.push(set_strategy(None));
            }
            for row in choices(cx.input.comparison) {
                let button = ui
                    .selectable_label(row == lane.strategy, row.label)
                    .on_hover_text(format!("{}\nOn the command line: {}", row.summary, row.name));
                if button.clicked() {
                    cx.commands.push(set_strategy(Some(row.name)));
                }
            }
        })
        .named(Role::ComboBox, || &label)
        .on_hover_text(plans_text(lane, cx.input));
}

/// The plans of a lane in exact figures, one line per arena.
fn plans_text(lane: &Lane, input: &LanesInput<'_>) -> String {
    let row = lane.strategy;
    let mut text = format!(
        "Placement strategy of static arenas: {}: {} ({})",
        row.label, row.summary, row.name
    );
    for (graph, planned) in lane.plans.iter().take(8) {
        let name = input
            .comparison
            .session
            .graphs
            .get(graph.idx())
            .map_or("", |graph| &graph.name);
        let sure = if planned.is_optimal() {
            "proven optimal".to_owned()
        } else {
            format!(
                "{} above the bound",
                percent_text(planned.plan.footprint.percent_over(planned.lower_bound))
            )
        };
        text.push_str(&format!("\n{name}: {}, {sure}", planned.plan.footprint.exact()));
    }
    text
}

/// How good a plan is.
pub(super) enum Certainty {
    /// Proven optimal.
    Optimal,
    /// Distance from the bound, as text.
    Over(String),
}

pub(super) fn certainty(lane: &Lane) -> Option<Certainty> {
    let (_, planned) = lane.plans.first()?;
    if planned.is_optimal() {
        return Some(Certainty::Optimal);
    }
    let over = percent_text(planned.plan.footprint.percent_over(planned.lower_bound));
    Some(Certainty::Over(format!("{over} above bound")))
}

/// For lanes of a placement problem.
pub(super) fn certainty_ui(ui: &mut Ui, lane: &Lane, is_short: bool, input: &LanesInput<'_>) {
    let Some((_, planned)) = lane
        .plans
        .first()
        .filter(|_| input.comparison.lane_kind() == LaneKind::Strategies)
    else {
        return;
    };
    match certainty(lane) {
        Some(Certainty::Optimal) => {
            badge(ui, &OPTIMAL, is_short, input.theme.best).on_hover_text("This is the minimum");
        }
        Some(Certainty::Over(text)) => {
            ui.label(words(text, input.theme.text_weak))
                .on_hover_text(format!("Lower bound: {}", planned.proved_bound.exact()));
        }
        None => {}
    }
}
