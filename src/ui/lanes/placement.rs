//! In the header of a lane: how its static arenas are placed, the choice of another way, and how good the plans are.

use eframe::egui::{ComboBox, Ui, WidgetInfo};

use super::badge::{OPTIMAL, badge};
use super::figures::SIZE;
use super::header::words;
use super::{LaneAction, LanesInput};
use crate::combo::ShowChoices as _;
use crate::panels::elided;
use crate::panels::planner::choices;
use highwater_analysis::{Lane, LaneKind};
use highwater_model::graph::Id as _;
use highwater_model::units::percent_text;

/// The narrowest drop-down of strategies, and what stands in it beside its text.
pub(super) const COMBO: (f32, f32) = (96.0, 34.0);

/// How the lane's arenas are placed, and the choice of another way.
pub(super) fn strategy_ui(ui: &mut Ui, lane: &Lane, room: f32, input: &LanesInput<'_>, actions: &mut Vec<LaneAction>) {
    let shown = elided(ui, lane.strategy.label, SIZE, (room - COMBO.1).max(COMBO.0 - COMBO.1));
    let label = format!(
        "{}, placed by {}",
        input.comparison.lane_title(lane.id),
        lane.strategy.label
    );
    let combo = ComboBox::from_id_salt(("strategy", lane.id))
        .selected_text(words(shown, input.theme.text_weak))
        .width(COMBO.0)
        .height(640.0)
        .show_choices(ui, |ui| {
            if lane.chosen && ui.selectable_label(false, "as for all lanes").clicked() {
                actions.push(LaneAction::SetStrategy(lane.id, None));
            }
            for row in choices(input.comparison) {
                let button = ui
                    .selectable_label(row == lane.strategy, row.label)
                    .on_hover_text(format!("{}\nOn the command line: {}", row.summary, row.name));
                if button.clicked() {
                    actions.push(LaneAction::SetStrategy(lane.id, Some(row.name)));
                }
            }
        });
    combo
        .response
        .widget_info(|| WidgetInfo::labeled(eframe::egui::Role::ComboBox, true, &label));
    combo.response.on_hover_text(plans_text(lane, input));
}

/// The plans of a lane in exact figures, one line an arena.
fn plans_text(lane: &Lane, input: &LanesInput<'_>) -> String {
    let row = lane.strategy;
    let mut text = format!(
        "How static arenas are placed: {}: {} ({})",
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
                "{} over the bound",
                percent_text(planned.plan.footprint.percent_over(planned.lower_bound))
            )
        };
        text.push_str(&format!("\n{name}: {}, {sure}", planned.plan.footprint.exact()));
    }
    text
}

/// Whether a plan can be beaten.
pub(super) enum Certainty {
    /// It cannot.
    Optimal,
    /// How far it is over the bound, in words.
    Over(String),
}

pub(super) fn certainty(lane: &Lane) -> Option<Certainty> {
    let (_, planned) = lane.plans.first()?;
    if planned.is_optimal() {
        return Some(Certainty::Optimal);
    }
    let over = percent_text(planned.plan.footprint.percent_over(planned.lower_bound));
    Some(Certainty::Over(format!("{over} over bound")))
}

/// The same of a problem's lane.
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
            badge(ui, (&OPTIMAL, is_short), input.theme.best).on_hover_text("No plan needs less");
        }
        Some(Certainty::Over(text)) => {
            ui.label(words(text, input.theme.text_weak))
                .on_hover_text(format!("No plan needs less than {}", planned.proved_bound.exact()));
        }
        None => {}
    }
}
