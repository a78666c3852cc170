//! The table of panes: menu, palette, saved layouts, empty panes and tests loop over it.

use super::Pane;

/// The column of a pane in the default layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    Left,
    Middle,
    Below,
    Right,
}

#[derive(Clone, Copy, Debug)]
pub struct PaneRow {
    pub pane: Pane,
    /// The name in saved layouts, which never changes.
    pub name: &'static str,
    /// The name in menus and messages; the tab may say more.
    pub title: &'static str,
    /// The place in the default layout.
    pub home: Home,
    /// The content, after "Here:" and in tooltips.
    pub what: &'static str,
    /// Whether the pane is empty without an answer.
    pub needs_answer: bool,
}

impl PaneRow {
    /// Whether everything in the pane is of the last answer. Sweeps say themselves whether they are current.
    pub fn follows_answer(&self) -> bool {
        self.needs_answer && self.home != Home::Middle
    }
}

/// In the order of the default layout.
pub static PANES: &[PaneRow] = &[
    PaneRow {
        pane: Pane::Configuration,
        name: "configuration",
        title: "Configuration",
        home: Home::Left,
        what: "schedule, options and environment variables with their effect on memory",
        needs_answer: false,
    },
    PaneRow {
        pane: Pane::Policies,
        name: "lanes",
        title: "Lanes",
        home: Home::Middle,
        what: "reserved and live bytes over time and a memory map of every policy",
        needs_answer: false,
    },
    PaneRow {
        pane: Pane::Budgets,
        name: "budgets",
        title: "Budgets",
        home: Home::Middle,
        what: "cost of each memory budget, for every rematerialization heuristic",
        needs_answer: true,
    },
    PaneRow {
        pane: Pane::Sweep,
        name: "space",
        title: "Sweep",
        home: Home::Middle,
        what: "many configurations: which fit, which are Pareto-optimal, and the recommended one",
        needs_answer: true,
    },
    PaneRow {
        pane: Pane::NameReuse,
        name: "name_reuse",
        title: "Variable reuse",
        home: Home::Middle,
        what: "variable reuse (Paddle memory_optimize): its effect on the graph, and its log",
        needs_answer: true,
    },
    PaneRow {
        pane: Pane::Problems,
        name: "problems",
        title: "Problems",
        home: Home::Below,
        what: "contradicting options, and unreadable parts of files",
        needs_answer: false,
    },
    PaneRow {
        pane: Pane::Files,
        name: "files",
        title: "Import report",
        home: Home::Below,
        what: "contents of each file, and skipped parts",
        needs_answer: false,
    },
    PaneRow {
        pane: Pane::Tables,
        name: "tables",
        title: "Tables",
        home: Home::Below,
        what: "tensors, ops, live tensors, events and problems as sortable tables",
        needs_answer: true,
    },
    PaneRow {
        pane: Pane::Compare,
        name: "compare",
        title: "Compare",
        home: Home::Below,
        what: "differences of lanes and pinned configurations from a baseline, and changes at the peak",
        needs_answer: true,
    },
    PaneRow {
        pane: Pane::Schedule,
        name: "schedule",
        title: "Schedule",
        home: Home::Below,
        what: "graphs and runs of the session: order, values, repeats, concurrent groups, loads and unloads",
        needs_answer: false,
    },
    PaneRow {
        pane: Pane::Inspector,
        name: "inspector",
        title: "Inspector",
        home: Home::Right,
        what: "facts about the selected tensor, and live tensors at the peak",
        needs_answer: true,
    },
    PaneRow {
        pane: Pane::Peak,
        name: "peak",
        title: "Peak",
        home: Home::Right,
        what: "live tensors at the peak, at a pinned step or in a range, and what lowers the peak",
        needs_answer: true,
    },
    PaneRow {
        pane: Pane::Planner,
        name: "planner",
        title: "Planner",
        home: Home::Right,
        what: "placement strategies of an arena, with footprint and time",
        needs_answer: true,
    },
    PaneRow {
        pane: Pane::Device,
        name: "device",
        title: "Device",
        home: Home::Right,
        what: "device memory at a step: parts, pools, free lists, regions",
        needs_answer: true,
    },
    PaneRow {
        pane: Pane::MeasuredRun,
        name: "measured_run",
        title: "Measured",
        home: Home::Right,
        what: "error of simulated peaks against a measured run, and costs derived from it",
        needs_answer: true,
    },
];

impl Pane {
    /// # Panics
    /// Never: a test covers all panes.
    pub fn row(self) -> &'static PaneRow {
        PANES.iter().find(|row| row.pane == self).expect("every pane has a row")
    }

    /// By its name in saved layouts.
    pub fn named(name: &str) -> Option<Self> {
        PANES.iter().find(|row| row.name == name).map(|row| row.pane)
    }
}
