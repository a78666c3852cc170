//! The panes and their docking.
//!
//! A closed pane keeps its place.

mod docking;
mod lanes_pane;
mod layout;
mod tab;
mod table;
mod words;

use eframe::egui;
use egui_tiles::{Container, Linear, LinearDir, Tile, TileId, Tiles, Tree};

use self::docking::Docking;
pub(super) use self::lanes_pane::bookmark_of;
pub use self::layout::{Layout, Node};
pub use self::table::{Home, PANES, PaneRow};
use super::app::UiState;
use super::panels::PaneCx;
use highwater_session::Command;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pane {
    /// Session and options.
    Configuration,
    Policies,
    /// The selected tensor, or the peak.
    Inspector,
    /// Runs under many memory budgets.
    Budgets,
    /// Many configurations, with a recommendation.
    Sweep,
    /// Results of `memory_optimize`, with its log.
    NameReuse,
    /// Lanes side by side, and pinned configurations.
    Compare,
    /// Placement strategies.
    Planner,
    /// The device at a step.
    Device,
    /// Findings, and remarks on the files.
    Problems,
    /// The import report.
    Files,
    /// Measured against simulated.
    MeasuredRun,
    /// Live tensors at the peak, a step or in a range.
    Peak,
    /// Tensors, ops, live tensors on a step, events, problems.
    Tables,
    /// Graphs, and the schedule.
    Schedule,
}

#[derive(Debug)]
pub struct Panes {
    tree: Tree<Pane>,
    /// The share of the lower row before the report or a table was opened; `None` while none is.
    low_share: Option<f32>,
    /// Panes that were closed together, to be reopened together.
    aside: Vec<Pane>,
    /// Whether the lanes fill the window.
    is_maximized: bool,
    /// Tabs that were in front in the last frame.
    in_front: Vec<egui_tiles::TileId>,
}

/// Least share of the height for reading the report or a table.
const REPORT_SHARE: f32 = 0.36;

impl Default for Panes {
    fn default() -> Self {
        Self::new()
    }
}

impl Panes {
    /// The default layout.
    pub fn new() -> Self {
        Self::of(&Layout::default())
    }

    pub fn of(layout: &Layout) -> Self {
        let (tree, aside) = layout.tree();
        Self {
            tree,
            low_share: None,
            aside,
            is_maximized: false,
            in_front: Vec::new(),
        }
    }

    pub fn layout(&self) -> Layout {
        let mut tree = self.tree.clone();
        if let (Some(low), Some((column, tabs))) = (self.low_share, report_column(&mut tree.tiles)) {
            // The report gets its height again when it is opened.
            column.shares.set_share(tabs, low);
        }
        Layout::of(&tree, &self.aside)
    }

    pub fn is_open(&self, pane: Pane) -> bool {
        let tile = self.tree.tiles.find_pane(&pane);
        tile.is_some_and(|tile| self.tree.is_visible(tile))
    }

    /// A closed pane keeps its place.
    pub fn close(&mut self, pane: Pane) {
        self.set_visible(pane, false);
        self.is_maximized &= pane != Pane::Policies;
    }

    fn set_visible(&mut self, pane: Pane, is_visible: bool) {
        if let Some(tile) = self.tree.tiles.find_pane(&pane) {
            self.tree.set_visible(tile, is_visible);
        }
    }

    /// Closes the panes next to the inspector together, or reopens them.
    pub fn toggle_details(&mut self) {
        self.is_maximized = false;
        let mut aside = std::mem::take(&mut self.aside);
        aside.retain(|pane| !self.is_open(*pane));
        if !aside.is_empty() {
            for pane in aside {
                self.set_visible(pane, true);
            }
            return;
        }
        let details: Vec<Pane> = self.details().into_iter().filter(|pane| self.is_open(*pane)).collect();
        if details.is_empty() {
            self.show(Pane::Inspector);
        }
        for pane in &details {
            self.set_visible(*pane, false);
        }
        self.aside = details;
    }

    /// Whether any of these panes is open.
    pub fn shows_details(&self) -> bool {
        self.details().into_iter().any(|pane| self.is_open(pane))
    }

    /// The inspector and the panes of its tabs; never the lanes and the panes of theirs.
    fn details(&self) -> Vec<Pane> {
        let tiles = &self.tree.tiles;
        let parent = |pane: Pane| tiles.find_pane(&pane).and_then(|tile| tiles.parent_of(tile));
        let own = parent(Pane::Inspector);
        if own == parent(Pane::Policies) {
            return vec![Pane::Inspector];
        }
        let all = PANES.iter().map(|row| row.pane);
        all.filter(|pane| parent(*pane) == own).collect()
    }

    pub const fn is_maximized(&self) -> bool {
        self.is_maximized
    }

    /// Gives the lanes the whole window, or restores the other panes.
    pub fn toggle_maximized(&mut self) {
        self.is_maximized = !self.is_maximized;
        if self.is_maximized {
            self.set_visible(Pane::Policies, true);
            self.bring_to_front(Pane::Policies);
        }
    }

    /// Brings a pane to the front; where it is in front, the lanes or the inspector behind it.
    pub fn toggle(&mut self, pane: Pane) {
        let is_shown = self.is_in_front(pane);
        let behind = match pane {
            Pane::Budgets | Pane::Sweep | Pane::NameReuse => Pane::Policies,
            Pane::Files | Pane::Tables | Pane::Compare | Pane::Schedule => Pane::Problems,
            _ => Pane::Inspector,
        };
        if is_shown && self.is_open(behind) {
            self.offer(behind);
        } else if is_shown {
            self.show(behind);
        } else {
            self.show(pane);
        }
    }

    /// Opens a pane and brings it to the front.
    pub fn show(&mut self, pane: Pane) {
        self.is_maximized &= pane == Pane::Policies;
        self.set_visible(pane, true);
        self.bring_to_front(pane);
    }

    fn bring_to_front(&mut self, pane: Pane) {
        self.tree
            .make_active(|_, tile| matches!(tile, Tile::Pane(shown) if *shown == pane));
    }

    pub fn is_in_front(&self, pane: Pane) -> bool {
        let active = self.tree.active_tiles();
        !self.is_maximized && active.iter().any(|tile| self.tree.tiles.get_pane(tile) == Some(&pane))
    }

    /// Makes the row of the report and the tables high while one is in front, and low again afterwards. A height that
    /// the user chose stays.
    fn give_report_room(&mut self, ctx: &egui::Context) {
        let tiles = &self.tree.tiles;
        let row_of = |pane: Pane| tiles.find_pane(&pane).and_then(|tile| tiles.parent_of(tile));
        let is_below = |pane: Pane| row_of(pane) == row_of(Pane::Files);
        let is_read = [Pane::Files, Pane::Tables, Pane::Compare, Pane::Schedule]
            .into_iter()
            .any(|pane| is_below(pane) && self.is_in_front(pane));
        if is_read == self.low_share.is_some() {
            return;
        }
        let Some((column, tabs)) = report_column(&mut self.tree.tiles) else {
            return;
        };
        let others = |column: &Linear| -> f32 {
            let rest = column.children.iter().filter(|child| **child != tabs);
            rest.map(|child| column.shares[*child]).sum()
        };
        let (own, rest) = (column.shares[tabs], others(column));
        let wanted = rest * REPORT_SHARE / (1.0 - REPORT_SHARE);
        match self.low_share.take() {
            // Only a height that was set here is reset.
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

    pub fn ui(&mut self, ui: &mut egui::Ui, cx: PaneCx<'_>, state: &mut UiState) {
        if PANES.iter().all(|row| !self.is_open(row.pane)) {
            self.nothing_ui(ui);
            return;
        }
        let mut docking = Docking {
            cx,
            state,
            closed: Vec::new(),
            keeps_pane: false,
            in_front: &mut self.in_front,
        };

        if self.is_maximized {
            docking.framed_ui(ui, Pane::Policies);
        } else {
            self.tree.ui(&mut docking, ui);
        }
        let closed = std::mem::take(&mut docking.closed);
        // A click on a tensor opens its facts.
        let selects = |command: &Command| matches!(command, Command::Select(Some(_)));
        let offers_inspector = !docking.keeps_pane && docking.cx.commands.iter().any(selects);
        for pane in closed {
            self.close(pane);
            ui.ctx().request_repaint();
        }
        self.give_report_room(ui.ctx());
        if offers_inspector {
            self.offer(Pane::Inspector);
        }
    }

    /// Brings a pane to the front, unless it is closed or the lanes fill the window.
    fn offer(&mut self, pane: Pane) {
        if self.is_open(pane) {
            self.bring_to_front(pane);
        }
    }

    fn nothing_ui(&mut self, ui: &mut egui::Ui) {
        let area = ui.max_rect();
        let mut middle = ui.new_child(
            egui::UiBuilder::new()
                .max_rect(area)
                .layout(egui::Layout::top_down(egui::Align::Center)),
        );
        middle.add_space(area.height() * 0.4);
        middle.label("Every pane is closed. View, Panes brings each of them back.");
        if middle.button("Bring all panes back").clicked() {
            *self = Self::new();
            middle.ctx().request_repaint();
        }
    }
}

/// The column of the import report, and its part with the report.
fn report_column(tiles: &mut Tiles<Pane>) -> Option<(&mut Linear, TileId)> {
    let tabs = tiles.find_pane(&Pane::Files).and_then(|tile| tiles.parent_of(tile))?;
    let column = tiles.parent_of(tabs)?;
    match tiles.get_mut(column)? {
        Tile::Container(Container::Linear(column)) if column.dir == LinearDir::Vertical => Some((column, tabs)),
        _ => None,
    }
}
