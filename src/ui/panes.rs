//! The panes and how they are docked: configuration, policies, inspector, problems.

use eframe::egui::{self, RichText};
use egui_tiles::{Behavior, Container, Linear, LinearDir, SimplificationOptions, TileId, Tiles, Tree, UiResponse};

use super::app::UiState;
use super::lanes::{LaneAction, LanesInput, lanes_ui};
use super::panels::budgets::budgets_ui;
use super::panels::device::device_ui;
use super::panels::files::files_ui;
use super::panels::inspector::inspector_ui;
use super::panels::lane_set::lane_set_ui;
use super::panels::name_reuse::name_reuse_ui;
use super::panels::options::options_ui;
use super::panels::overview::overview_ui;
use super::panels::peak::peak_ui;
use super::panels::planner::planner_ui;
use super::panels::problems::{counts, problems_ui};
use super::panels::schedule::schedule_ui;
use super::theme::Theme;
use crate::analysis::LaneId;
use crate::session::{Bookmark, Command, SAMPLES, Session, SourceSpec};

/// One pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pane {
    /// Session and options.
    Configuration,
    /// The lanes.
    Policies,
    /// The selected tensor, or the peak.
    Inspector,
    /// Runs under many memory budgets.
    Budgets,
    /// What `memory_optimize` does, with its log.
    NameReuse,
    /// The strategies that place arenas.
    Planner,
    /// What the device holds at a step.
    Device,
    /// Who is live at the peak, a step or in a range.
    Peak,
    /// Findings and oddities.
    Problems,
    /// What was read of each file.
    Files,
}

/// What panes read.
#[derive(Clone, Copy, Debug)]
pub struct PanesInput<'a> {
    /// The session.
    pub session: &'a Session,
    /// Colours.
    pub theme: &'a Theme,
}

/// The docked panes.
#[derive(Debug)]
pub struct Panes {
    tree: Tree<Pane>,
    /// The share that the row below had before the report was read there; `None` while it is not.
    low_share: Option<f32>,
}

/// The least share of the height at which a report can be read.
const REPORT_SHARE: f32 = 0.36;

impl Default for Panes {
    fn default() -> Self {
        Self::new()
    }
}

impl Panes {
    /// The layout that the program starts with.
    pub fn new() -> Self {
        let mut tiles = Tiles::default();
        let configuration = tiles.insert_pane(Pane::Configuration);
        let policies = tiles.insert_pane(Pane::Policies);
        let budgets = tiles.insert_pane(Pane::Budgets);
        let names = tiles.insert_pane(Pane::NameReuse);
        let lanes = tiles.insert_tab_tile(vec![policies, budgets, names]);
        let inspector = tiles.insert_pane(Pane::Inspector);
        let planner = tiles.insert_pane(Pane::Planner);
        let device = tiles.insert_pane(Pane::Device);
        let peak = tiles.insert_pane(Pane::Peak);
        let facts = tiles.insert_tab_tile(vec![inspector, peak, planner, device]);
        let problems = tiles.insert_pane(Pane::Problems);
        let files = tiles.insert_pane(Pane::Files);
        let below = tiles.insert_tab_tile(vec![problems, files]);
        let mut middle = Linear::new(LinearDir::Vertical, vec![lanes, below]);
        middle.shares.set_share(lanes, 0.915);
        middle.shares.set_share(below, 0.085);
        let middle = tiles.insert_new(egui_tiles::Tile::Container(Container::Linear(middle)));
        let mut all = Linear::new(LinearDir::Horizontal, vec![configuration, middle, facts]);
        all.shares.set_share(configuration, 0.225);
        all.shares.set_share(middle, 0.565);
        all.shares.set_share(facts, 0.21);
        let root = tiles.insert_new(egui_tiles::Tile::Container(Container::Linear(all)));
        Self {
            tree: Tree::new(egui::Id::unique("panes"), root, tiles),
            low_share: None,
        }
    }

    /// Brings a pane to the front, or where it is in front already what it stands before: the lanes or the inspector.
    pub fn toggle(&mut self, pane: Pane) {
        let is_shown = self.is_in_front(pane);
        let behind = match pane {
            Pane::Budgets | Pane::NameReuse => Pane::Policies,
            Pane::Files => Pane::Problems,
            _ => Pane::Inspector,
        };
        self.show(if is_shown { behind } else { pane });
    }

    /// Brings a pane to the front of its tabs.
    pub fn show(&mut self, pane: Pane) {
        self.tree
            .make_active(|_, tile| matches!(tile, egui_tiles::Tile::Pane(shown) if *shown == pane));
    }

    fn is_in_front(&self, pane: Pane) -> bool {
        let active = self.tree.active_tiles();
        active.iter().any(|tile| self.tree.tiles.get_pane(tile) == Some(&pane))
    }

    /// Makes the row of the report high enough to read while it is in front, and low again afterwards. Whoever has drawn it
    /// to another height keeps that.
    fn give_report_room(&mut self, ctx: &egui::Context) {
        let is_read = self.is_in_front(Pane::Files);
        if is_read == self.low_share.is_some() {
            return;
        }
        let tiles = &mut self.tree.tiles;
        let Some(tabs) = tiles.find_pane(&Pane::Files).and_then(|tile| tiles.parent_of(tile)) else {
            return;
        };
        let Some(column) = tiles.parent_of(tabs) else { return };
        let Some(egui_tiles::Tile::Container(Container::Linear(column))) = tiles.get_mut(column) else {
            return;
        };
        if column.dir != LinearDir::Vertical {
            return;
        }
        let others = |column: &Linear| -> f32 {
            let rest = column.children.iter().filter(|child| **child != tabs);
            rest.map(|child| column.shares[*child]).sum()
        };
        let (own, rest) = (column.shares[tabs], others(column));
        let wanted = rest * REPORT_SHARE / (1.0 - REPORT_SHARE);
        match self.low_share.take() {
            // Only what was made high here is made low again.
            Some(before) if (own - wanted).abs() < 1e-3 * wanted => column.shares.set_share(tabs, before),
            Some(_) => {}
            None => {
                self.low_share = Some(own);
                if own < wanted {
                    column.shares.set_share(tabs, wanted);
                }
            }
        }
        ctx.request_repaint();
    }

    /// Draws all panes.
    pub fn ui(&mut self, ui: &mut egui::Ui, input: &PanesInput<'_>, state: &mut UiState, commands: &mut Vec<Command>) {
        let mut docking = Docking {
            input,
            state,
            commands,
            shows_device: false,
            shows_budgets: false,
            keeps_pane: false,
        };
        self.tree.ui(&mut docking, ui);
        let keeps_pane = docking.keeps_pane;
        let asked = [
            (docking.shows_device, Pane::Device),
            (docking.shows_budgets, Pane::Budgets),
        ];
        for (_, pane) in asked.into_iter().filter(|(is_asked, _)| *is_asked) {
            self.show(pane);
            // It is seen at once, not with the next movement of the pointer.
            ui.ctx().request_repaint();
        }
        self.give_report_room(ui.ctx());
        // Whoever clicks a tensor wants to read about it.
        let selects = |command: &Command| matches!(command, Command::Select(Some(_)));
        if !keeps_pane && commands.iter().any(selects) {
            self.show(Pane::Inspector);
        }
    }
}

struct Docking<'a> {
    input: &'a PanesInput<'a>,
    state: &'a mut UiState,
    commands: &'a mut Vec<Command>,
    /// Whether a step was pinned to look at the device there.
    shows_device: bool,
    /// Whether the sweep was asked for.
    shows_budgets: bool,
    /// Whether a tensor was selected in a list that is still to be read.
    keeps_pane: bool,
}

impl Behavior<Pane> for Docking<'_> {
    fn tab_title_for_pane(&mut self, pane: &Pane) -> egui::WidgetText {
        match pane {
            Pane::Configuration => "Configuration".into(),
            Pane::Policies => lanes_title(self.input).into(),
            Pane::Inspector => "Inspector".into(),
            Pane::Budgets => "Budgets".into(),
            Pane::NameReuse => "Name reuse".into(),
            Pane::Planner => "Planner".into(),
            Pane::Device => "Device".into(),
            Pane::Peak => "Peak".into(),
            Pane::Problems => problems_title(self.input).into(),
            Pane::Files => files_title(self.input).into(),
        }
    }

    fn pane_ui(&mut self, ui: &mut egui::Ui, _tile: TileId, pane: &mut Pane) -> UiResponse {
        let margin = if *pane == Pane::Policies { 4 } else { 8 };
        ui.painter().rect_filled(ui.max_rect(), 0, self.input.theme.panel);
        egui::Frame::NONE.inner_margin(margin).show(ui, |ui| match pane {
            Pane::Configuration => self.configuration_ui(ui),
            Pane::Policies => self.policies_ui(ui),
            Pane::Budgets => {
                let state = &mut self.state.budgets;
                budgets_ui(ui, self.input.session, state, self.input.theme, self.commands);
            }
            Pane::NameReuse => {
                let state = &mut self.state.name_reuse;
                name_reuse_ui(ui, self.input.session, state, self.input.theme, self.commands);
                if let Some(option) = state.jump.take() {
                    self.state.options.jump = Some(option);
                }
            }
            Pane::Planner => planner_ui(
                ui,
                self.input.session,
                &mut self.state.planner,
                self.input.theme,
                self.commands,
            ),
            Pane::Inspector => {
                let state = &mut self.state.inspector;
                inspector_ui(ui, self.input.session, state, self.input.theme, self.commands);
            }
            Pane::Device => {
                let UiState { device, lanes, .. } = &mut *self.state;
                device_ui(ui, self.input.session, (device, lanes), self.input.theme, self.commands);
            }
            Pane::Peak => {
                let n_before = self.commands.len();
                let UiState { peak, lanes, .. } = &mut *self.state;
                peak_ui(ui, self.input.session, (peak, lanes), self.input.theme, self.commands);
                let own = &self.commands[n_before..];
                self.keeps_pane |= own.iter().any(|command| matches!(command, Command::Select(_)));
            }
            Pane::Files => files_ui(ui, self.input.session, self.input.theme, self.commands),
            Pane::Problems => {
                if let Some(option) = problems_ui(ui, self.input.session, self.input.theme, self.commands) {
                    self.state.options.jump = Some(option);
                }
            }
        });
        UiResponse::None
    }

    fn simplification_options(&self) -> SimplificationOptions {
        SimplificationOptions {
            all_panes_must_have_tabs: true,
            ..SimplificationOptions::default()
        }
    }

    fn tab_bar_color(&self, _visuals: &egui::Visuals) -> egui::Color32 {
        self.input.theme.grid
    }

    fn tab_bar_height(&self, _style: &egui::Style) -> f32 {
        22.0
    }

    fn gap_width(&self, _style: &egui::Style) -> f32 {
        3.0
    }
}

/// Lanes are policies, the strategies of a placement problem, or rewriting passes.
fn lanes_title(input: &PanesInput<'_>) -> &'static str {
    match input.session.answer() {
        Some((comparison, _)) if comparison.is_problem() => "Strategies",
        Some((comparison, _)) if comparison.compares_passes() => "Passes",
        Some((comparison, _)) if comparison.is_measured() => "Recordings",
        _ => "Policies",
    }
}

fn files_title(input: &PanesInput<'_>) -> String {
    match input.session.document().sources.len() {
        0 | 1 => "Import report".to_owned(),
        count => format!("Import report: {count} files"),
    }
}

fn problems_title(input: &PanesInput<'_>) -> RichText {
    let (errors, warnings) = counts(input.session);
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let text = format!(
        "Problems: {errors} error{}, {warnings} warning{}",
        plural(errors),
        plural(warnings)
    );
    let text = RichText::new(text);
    if errors > 0 {
        text.color(input.theme.bad).strong()
    } else {
        text
    }
}

impl Docking<'_> {
    fn configuration_ui(&mut self, ui: &mut egui::Ui) {
        let Self {
            input, state, commands, ..
        } = self;
        egui::ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
            ui.strong("Session");
            schedule_ui(ui, input.session, &mut state.schedule, commands);
            ui.separator();
            options_ui(ui, input.session, &mut state.options, input.theme, commands);
        });
    }

    fn policies_ui(&mut self, ui: &mut egui::Ui) {
        let session = self.input.session;
        if let Some(problem) = session.problem() {
            problem_ui(ui, problem, self.input.theme, self.commands);
            if session.answer().is_none() {
                return;
            }
        }
        let Some((comparison, timeline)) = session.answer() else {
            ui.centered_and_justified(|ui| {
                ui.weak(if session.busy().is_some() {
                    "Reading and working out the answer…"
                } else {
                    "Open a graph (Ctrl+O), drop one onto the window, or choose one under Samples."
                });
            });
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
        self.state.lanes.set_bookmarks(&session.document().bookmarks);
        lanes_ui(ui, &lanes, &mut self.state.lanes, &mut actions);
        if let Some((step, lane, note)) = self.state.lanes.take_note() {
            let lane = lane.and_then(|lane| comparison.lanes.get(lane)).map(|lane| lane.id);
            self.commands.push(Command::AddBookmark(Bookmark { step, note, lane }));
        }
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
fn problem_ui(ui: &mut egui::Ui, problem: &str, theme: &Theme, commands: &mut Vec<Command>) {
    ui.add_space(6.0);
    ui.label(RichText::new("There is nothing to show").strong().color(theme.bad));
    ui.label(problem);
    ui.horizontal_wrapped(|ui| {
        ui.label("Open a sample instead:");
        for sample in SAMPLES {
            if ui.button(sample.title).clicked() {
                commands.push(Command::Open(vec![SourceSpec::Sample(sample)]));
            }
        }
    });
    ui.add_space(6.0);
}
