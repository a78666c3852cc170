//! The pane of the lanes: the answer in a few lines, what is compared, the lanes; the start page where nothing is open.

use eframe::egui::{self, RichText};

use super::docking::Docking;
use crate::analysis::LaneId;
use crate::session::Command;
use crate::ui::app::UiState;
use crate::ui::lanes::{LaneAction, LanesInput, lanes_ui};
use crate::ui::panels::empty::start_ui;
use crate::ui::panels::lane_set::lane_set_ui;
use crate::ui::panels::overview::overview_ui;
use crate::ui::theme::Theme;

impl Docking<'_> {
    pub(super) fn policies_ui(&mut self, ui: &mut egui::Ui) {
        let session = self.input.session;
        if let Some(problem) = session.problem() {
            problem_ui(ui, problem, self.input.theme);
        }
        let Some((comparison, timeline)) = session.answer() else {
            let UiState { recents, asked, .. } = &mut *self.state;
            start_ui(ui, (session, recents), self.input.theme, asked, self.commands);
            return;
        };
        overview_ui(ui, session, comparison, self.input.theme, self.commands);
        if lane_set_ui(ui, session, &mut self.state.lane_set, self.commands) {
            self.shows_budgets = true;
        }
        ui.add_space(2.0);
        let lanes = LanesInput {
            comparison,
            timeline,
            selected: session.selection(),
            is_stale: session.is_stale(),
            theme: self.input.theme,
        };
        let mut actions = Vec::new();
        lanes_ui(ui, &lanes, &mut self.state.lanes, &mut actions);
        for action in actions {
            self.commands.push(match action {
                LaneAction::Explain(lane) => {
                    self.state.inspector.explain(lane);
                    continue;
                }
                LaneAction::ShowDevice => {
                    self.shows_device = true;
                    continue;
                }
                LaneAction::SetBudget(LaneId::Pass(position), budget) => Command::SetRematBudget {
                    lane: usize::from(position).saturating_sub(1),
                    budget,
                },
                LaneAction::SetBudget(_, budget) => Command::TypeOption {
                    key: crate::options::keys::EVICTION_THRESHOLD.to_owned(),
                    text: budget.get().to_string(),
                },
                LaneAction::EndBudget => Command::EndTyping,
                LaneAction::Select(selected) => Command::Select(selected),
                LaneAction::SetStrategy(lane, strategy) => Command::SetStrategy {
                    lane: Some(lane),
                    strategy,
                },
                LaneAction::ConfigurePolicy(policy) => Command::SetOption {
                    key: crate::options::keys::STATIC_MEMORY_POLICY.to_owned(),
                    text: policy.number().to_string(),
                },
            });
        }
    }
}

/// What went wrong, where the answer would be.
fn problem_ui(ui: &mut egui::Ui, problem: &str, theme: &Theme) {
    ui.add_space(6.0);
    ui.label(RichText::new("There is nothing to show").strong().color(theme.bad));
    ui.label(problem);
    ui.add_space(6.0);
}
