//! The panes and their docking.
//!
//! A closed pane keeps its place.

mod docking;
mod lanes_pane;
mod layout;
mod narrow;
mod tab;
mod table;
mod words;

use std::sync::Arc;

use eframe::egui;
use egui_tiles::{Container, Linear, LinearDir, Tile, TileId, Tiles, Tree};

use self::docking::Docking;
pub(super) use self::lanes_pane::bookmark_of;
pub use self::layout::{Layout, Node};
use self::narrow::Narrow;
pub use self::table::{Home, PANES, PaneRow};
use super::app::UiState;
use super::commands::UiCommand;
use super::panels::PaneCx;
use highwater_model::workload::Recording;
use highwater_session::{Command, Loaded, LogPage, Session};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pane {
    /// Session and options.
    Configuration,
    Policies,
    /// The story of a log.
    Log,
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
    /// Live bytes by call stack.
    Flame,
    /// Tensors, ops, live tensors on a step, events, problems.
    Tables,
    /// Graphs, and the schedule.
    Schedule,
}

#[derive(Debug)]
pub struct Panes {
    tree: Tree<Pane>,
    low: LowRow,
    /// Panes that were closed together, to be reopened together.
    aside: Vec<Pane>,
    /// Open panes that have no tab, because they cannot act on what is open.
    absent: Vec<Pane>,
    narrow: Narrow,
    /// Whether the lanes fill the window.
    is_maximized: bool,
    /// Tabs that were in front in the last frame.
    in_front: Vec<egui_tiles::TileId>,
    /// The last log whose page was brought to the front.
    shown_log: Option<Arc<LogPage>>,
}

/// The row below the lanes, which is collapsed to its tabs until one of its panes is opened.
#[derive(Clone, Copy, Debug)]
struct LowRow {
    is_open: bool,
    /// Its share of the height while it is open.
    share: f32,
    /// The share that it was given in this frame: less where its content needs less.
    given: f32,
    /// Whether its divider was dragged since it was opened: then content does not matter.
    is_dragged: bool,
}

/// Share of the height for reading the report or a table, at first, and the least share that is remembered.
const REPORT_SHARE: f32 = 0.3;
const LEAST_SHARE: f32 = 0.15;
/// Height of tabs alone, and the least height of a row that was dragged up, in points.
const TABS: f32 = 25.0;
const DRAGGED: f32 = 30.0;
/// Margins of a pane.
const FRAME: f32 = 24.0;

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
        let mut panes = Self {
            tree,
            low: LowRow {
                is_open: false,
                share: REPORT_SHARE,
                given: REPORT_SHARE,
                is_dragged: false,
            },
            aside,
            absent: Vec::new(),
            narrow: Narrow::default(),
            is_maximized: false,
            in_front: Vec::new(),
            shown_log: None,
        };
        let tabs = panes.low_tabs();
        if let Some((column, tabs)) = tabs.and_then(|tabs| Some((column_of(&mut panes.tree.tiles, tabs)?, tabs))) {
            let share = part_of_column(column, tabs);
            if share >= LEAST_SHARE {
                panes.low.share = share;
            }
        }
        panes
    }

    pub fn layout(&self) -> Layout {
        let mut tree = self.tree.clone();
        let tabs = self.low_tabs();
        if let Some((column, tabs)) = tabs.and_then(|tabs| Some((column_of(&mut tree.tiles, tabs)?, tabs))) {
            // A collapsed row has its height again when it is opened.
            set_part(column, tabs, self.low.share);
        }
        for pane in self.absent.iter().chain(&self.narrow.hidden) {
            if let Some(tile) = tree.tiles.find_pane(pane) {
                tree.set_visible(tile, true);
            }
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

    /// Takes away the tabs of panes that cannot act on what is open, and brings back those of panes that can.
    fn follow(&mut self, session: &Session) {
        for row in PANES {
            let is_idle = row.pane.why_not(session).is_some();
            let is_absent = self.absent.contains(&row.pane);
            if is_idle && !is_absent && self.is_open(row.pane) {
                self.absent.push(row.pane);
                self.set_visible(row.pane, false);
            } else if !is_idle && is_absent {
                self.absent.retain(|pane| *pane != row.pane);
                if self.is_crowded_out(row.pane) {
                    self.narrow.hidden.push(row.pane);
                } else {
                    self.set_visible(row.pane, true);
                }
            }
        }
        self.follow_log(session);
    }

    /// Brings the page of a log to the front once, where a request failed or nothing else can be drawn. A snapshot has lanes to
    /// look at first.
    fn follow_log(&mut self, session: &Session) {
        let page = session.loaded().and_then(Loaded::log_page);
        if self.shown_log.as_ref() == page {
            return;
        }
        self.shown_log = page.cloned();
        let is_empty = |recording: &Arc<Recording>| recording.totals.is_empty() && recording.blocks.is_empty();
        let is_all = session.loaded().is_some_and(|loaded| {
            loaded.workload.graphs().is_empty() && loaded.workload.recordings().iter().all(is_empty)
        });
        let is_log = session.loaded().is_some_and(|loaded| {
            loaded
                .whole
                .recordings()
                .iter()
                .any(|recording| recording.process.is_some())
        });
        if page.is_some_and(|page| is_all || is_log && page.has_failures) {
            self.offer(Pane::Log);
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

    /// Brings a pane to the front; where it is in front, the lanes or the inspector behind it, or it collapses its row.
    pub fn toggle(&mut self, pane: Pane) {
        let is_shown = self.is_in_front(pane);
        if is_shown && self.is_low(pane) {
            self.low.is_open = false;
            return;
        }
        let behind = match pane {
            Pane::Log | Pane::Budgets | Pane::Sweep | Pane::NameReuse => Pane::Policies,
            Pane::Problems | Pane::Files | Pane::Tables | Pane::Compare | Pane::Schedule => Pane::Problems,
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
        self.narrow.hidden.retain(|hidden| *hidden != pane);
        self.low.is_open |= self.is_low(pane);
        self.bring_to_front(pane);
    }

    fn bring_to_front(&mut self, pane: Pane) {
        self.tree
            .make_active(|_, tile| matches!(tile, Tile::Pane(shown) if *shown == pane));
    }

    pub fn is_in_front(&self, pane: Pane) -> bool {
        let active = self.tree.active_tiles();
        let is_collapsed = !self.low.is_open && self.is_low(pane);
        !self.is_maximized && !is_collapsed && active.iter().any(|tile| self.tree.tiles.get_pane(tile) == Some(&pane))
    }

    /// The panes in front with their rectangles in the last frame, in points.
    pub fn shown(&self) -> impl Iterator<Item = (Pane, egui::Rect)> {
        let tiles = &self.tree.tiles;
        let panes = tiles.iter().filter_map(|(tile, one)| match one {
            Tile::Pane(pane) => Some((*pane, tiles.rect(*tile)?)),
            Tile::Container(_) => None,
        });
        panes.filter(|(pane, _)| self.is_in_front(*pane))
    }

    /// The tabs of the row below the lanes, where the layout has one.
    fn low_tabs(&self) -> Option<TileId> {
        let tiles = &self.tree.tiles;
        let tabs = tiles.find_pane(&Pane::Files).and_then(|tile| tiles.parent_of(tile))?;
        let column = tiles.parent_of(tabs)?;
        match tiles.get(column)? {
            Tile::Container(Container::Linear(column)) if column.dir == LinearDir::Vertical => Some(tabs),
            _ => None,
        }
    }

    /// The panes of that row.
    fn low_panes(&self) -> Vec<TileId> {
        let tabs = self.low_tabs().and_then(|tabs| self.tree.tiles.get(tabs));
        match tabs {
            Some(Tile::Container(container)) => container.children().copied().collect(),
            _ => Vec::new(),
        }
    }

    /// Whether a pane lies in the row below the lanes.
    fn is_low(&self, pane: Pane) -> bool {
        let tiles = &self.tree.tiles;
        let parent = tiles.find_pane(&pane).and_then(|tile| tiles.parent_of(tile));
        parent.is_some() && parent == self.low_tabs()
    }

    /// Gives the row below the lanes its height: its tabs alone, or the share that it had when it was open last; a list of
    /// problems takes as much as it fills.
    fn give_low_row_height(&mut self, height: f32, problems: Option<f32>) {
        let Some(tabs) = self.low_tabs() else { return };
        self.low.is_dragged &= self.low.is_open;
        let filled = problems.filter(|_| !self.low.is_dragged && self.is_in_front(Pane::Problems));
        let filled = filled.map_or(1.0, |filled| part(TABS + FRAME + filled.max(DRAGGED), height));
        let share = if self.low.is_open {
            self.low.share.min(filled)
        } else {
            part(TABS, height)
        };
        self.low.given = share;
        if let Some(column) = column_of(&mut self.tree.tiles, tabs) {
            set_part(column, tabs, share);
        }
    }

    /// Follows a divider that was dragged: a row that is dragged up is open.
    fn note_low_row(&mut self, height: f32) {
        let Some(tabs) = self.low_tabs() else { return };
        let Some(column) = column_of(&mut self.tree.tiles, tabs) else {
            return;
        };
        let share = part_of_column(column, tabs);
        if (share - self.low.given).abs() < 1e-3 {
            return;
        }
        if share * height > TABS + DRAGGED {
            self.low = LowRow {
                is_open: true,
                share,
                given: share,
                is_dragged: true,
            };
        } else if self.low.is_open && share * height < TABS + DRAGGED {
            self.low.is_open = false;
        }
    }

    pub fn ui(&mut self, ui: &mut egui::Ui, cx: PaneCx<'_>, state: &mut UiState) {
        self.follow(cx.session);
        self.fit_width(ui.available_width());
        if PANES.iter().all(|row| !self.is_open(row.pane)) {
            self.nothing_ui(ui);
            return;
        }
        let height = ui.available_height();
        self.give_low_row_height(height, state.problems_height);
        let mut docking = Docking {
            cx,
            state,
            closed: Vec::new(),
            low_tabs: self.low_tabs(),
            low: self.low_panes(),
            is_low_open: self.low.is_open,
            keeps_pane: false,
            in_front: &mut self.in_front,
        };

        if self.is_maximized {
            docking.framed_ui(ui, Pane::Policies);
        } else {
            self.tree.ui(&mut docking, ui);
        }
        let is_lanes = |tile: &TileId| self.tree.tiles.get_pane(tile) == Some(&Pane::Policies);
        if !self.is_maximized && !docking.in_front.iter().any(is_lanes) {
            // Nothing is under the pointer where the lanes are behind another pane.
            docking.state.lanes.reading_text = None;
        }
        let pinned = docking
            .cx
            .session
            .answer()
            .and_then(|(comparison, _)| docking.state.lanes.take_pinned_lane(comparison));
        docking.cx.window_commands.extend(pinned.map(UiCommand::ExplainLane));
        let closed = std::mem::take(&mut docking.closed);
        let is_low_open = docking.is_low_open;
        // A click on a tensor opens its facts.
        let selects = |command: &Command| matches!(command, Command::Select(Some(_)));
        let offers_inspector = !docking.keeps_pane && docking.cx.commands.iter().any(selects);
        for pane in closed {
            self.close(pane);
            ui.ctx().request_repaint();
        }
        if is_low_open == self.low.is_open {
            self.note_low_row(height);
        } else {
            self.low.is_open = is_low_open;
            ui.ctx().request_repaint();
        }
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
        middle.label("All panes are closed. View, Panes opens them.");
        if middle.button("Show all panes").clicked() {
            *self = Self::new();
            middle.ctx().request_repaint();
        }
    }
}

/// The column of some tabs.
fn column_of(tiles: &mut Tiles<Pane>, tabs: TileId) -> Option<&mut Linear> {
    let column = tiles.parent_of(tabs)?;
    match tiles.get_mut(column)? {
        Tile::Container(Container::Linear(column)) => Some(column),
        _ => None,
    }
}

/// A height as a share of another one, below 1.
fn part(height: f32, of: f32) -> f32 {
    (height / of.max(1.0)).clamp(0.0, 0.9)
}

/// The share of a column that a child has.
fn part_of_column(column: &Linear, child: TileId) -> f32 {
    let all: f32 = column.children.iter().map(|child| column.shares[*child]).sum();
    column.shares[child] / all.max(1e-6)
}

/// Gives a child a share of its column; the others keep their proportions.
fn set_part(column: &mut Linear, child: TileId, share: f32) {
    let others = column.children.iter().filter(|one| **one != child);
    let rest: f32 = others.map(|one| column.shares[*one]).sum();
    column.shares.set_share(child, rest * share / (1.0 - share).max(0.1));
}
