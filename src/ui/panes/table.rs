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

/// In the order of the default layout.
pub static PANES: &[PaneRow] = &[
    PaneRow {
        pane: Pane::Configuration,
        name: "configuration",
        title: "Configuration",
        home: Home::Left,
        what: "the schedule, every option and every environment variable, with what each does to memory",
        needs_answer: false,
    },
    PaneRow {
        pane: Pane::Policies,
        name: "lanes",
        title: "Lanes",
        home: Home::Middle,
        what: "reserved and live bytes over time and a memory map for every policy, beside each other",
        needs_answer: false,
    },
    PaneRow {
        pane: Pane::Budgets,
        name: "budgets",
        title: "Budgets",
        home: Home::Middle,
        what: "what running under less memory costs, for every heuristic of rematerialization",
        needs_answer: true,
    },
    PaneRow {
        pane: Pane::Sweep,
        name: "space",
        title: "Sweep",
        home: Home::Middle,
        what: "many configurations beside each other: which fit, which nobody beats, and which one to take",
        needs_answer: true,
    },
    PaneRow {
        pane: Pane::NameReuse,
        name: "name_reuse",
        title: "Name reuse",
        home: Home::Middle,
        what: "what memory_optimize does to the graph, with its log line by line",
        needs_answer: true,
    },
    PaneRow {
        pane: Pane::Problems,
        name: "problems",
        title: "Problems",
        home: Home::Below,
        what: "options that contradict each other, and what could not be read of the files",
        needs_answer: false,
    },
    PaneRow {
        pane: Pane::Files,
        name: "files",
        title: "Import report",
        home: Home::Below,
        what: "what was read of each file, and what was left out",
        needs_answer: false,
    },
    PaneRow {
        pane: Pane::Tables,
        name: "tables",
        title: "Tables",
        home: Home::Below,
        what: "tensors, ops, what is live on a step, events and problems as tables that can be sorted and filtered",
        needs_answer: true,
    },
    PaneRow {
        pane: Pane::Compare,
        name: "compare",
        title: "Compare",
        home: Home::Below,
        what: "lanes side by side with differences from one of them, pinned configurations, and tensors that are new, gone or bigger at the peak",
        needs_answer: true,
    },
    PaneRow {
        pane: Pane::Schedule,
        name: "schedule",
        title: "Schedule",
        home: Home::Below,
        what: "the graphs of the session and what runs when: order, values, repeats, concurrent groups, loads and unloads",
        needs_answer: false,
    },
    PaneRow {
        pane: Pane::Inspector,
        name: "inspector",
        title: "Inspector",
        home: Home::Right,
        what: "facts about the selected tensor, and what holds the peak",
        needs_answer: true,
    },
    PaneRow {
        pane: Pane::Peak,
        name: "peak",
        title: "Peak",
        home: Home::Right,
        what: "who is live at the peak, at a pinned step or in a range, and what would lower it",
        needs_answer: true,
    },
    PaneRow {
        pane: Pane::Planner,
        name: "planner",
        title: "Planner",
        home: Home::Right,
        what: "the strategies that place an arena, with the height and the time of each",
        needs_answer: true,
    },
    PaneRow {
        pane: Pane::Device,
        name: "device",
        title: "Device",
        home: Home::Right,
        what: "what the device holds at a step: parts, pools, free lists, regions",
        needs_answer: true,
    },
    PaneRow {
        pane: Pane::MeasuredRun,
        name: "measured_run",
        title: "Measured",
        home: Home::Right,
        what: "by how much simulated peaks are off from a measured run, and what can be learned of it",
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
