//! The table of panes: menu, palette, saved layouts, empty panes and tests loop over it.

use super::Pane;
use crate::panels::sweep::has_allocator_settings;
use highwater_analysis::{LaneChoice, LogStory, study_of};
use highwater_model::workload::Workload;
use highwater_session::Session;

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
    /// Why the pane cannot act on such sources, so that it has no tab; `None` where it can.
    pub why_not: fn(&Workload) -> Option<&'static str>,
}

const ACTS_ON_ALL: fn(&Workload) -> Option<&'static str> = |_| None;

fn why_no_budgets(workload: &Workload) -> Option<&'static str> {
    let can = matches!(study_of(workload).lane_choice(), LaneChoice::Any | LaneChoice::Budgets);
    (!can).then_some("budgets need a graph or the log of an eager run; neither is open")
}

fn why_no_sweep(workload: &Workload) -> Option<&'static str> {
    let can = study_of(workload).words().no_sweep.is_none() || has_allocator_settings(workload);
    (!can).then_some("the sweep needs a graph, an allocation trace or a recording with blocks; none is open")
}

fn why_no_name_reuse(workload: &Workload) -> Option<&'static str> {
    let can = matches!(
        study_of(workload).lane_choice(),
        LaneChoice::Any | LaneChoice::NameReuse
    );
    (!can).then_some("variable reuse needs a graph or a program of blocks; neither is open")
}

fn why_no_schedule(workload: &Workload) -> Option<&'static str> {
    let can = !workload.graphs().is_empty();
    (!can).then_some("a schedule needs a graph; none is open")
}

fn why_no_planner(workload: &Workload) -> Option<&'static str> {
    let can = study_of(workload).has_arenas();
    (!can).then_some("the planner needs a graph or a placement problem; neither is open")
}

fn why_no_device(workload: &Workload) -> Option<&'static str> {
    let can = study_of(workload).has_device();
    (!can).then_some("a placement problem has no device")
}

fn why_no_measured_run(workload: &Workload) -> Option<&'static str> {
    let can = !workload.recordings().is_empty();
    (!can).then_some("no measured run is open: add its recording to the session (Ctrl+Shift+O)")
}

fn why_no_log(workload: &Workload) -> Option<&'static str> {
    (!LogStory::is_of(workload))
        .then_some("the page explains an out-of-memory; no log and no snapshot with a failed request is open")
}

fn why_no_flame(workload: &Workload) -> Option<&'static str> {
    let can = workload
        .recordings()
        .iter()
        .any(|recording| !recording.stacks.is_empty());
    (!can).then_some("a flame graph needs a recording with call stacks; none is open")
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
        why_not: ACTS_ON_ALL,
    },
    PaneRow {
        pane: Pane::Policies,
        name: "lanes",
        title: "Lanes",
        home: Home::Middle,
        what: "reserved and live bytes over time and a memory map of every policy",
        needs_answer: false,
        why_not: ACTS_ON_ALL,
    },
    PaneRow {
        pane: Pane::Log,
        name: "log",
        title: "Log",
        home: Home::Middle,
        what: "the story of an out-of-memory: failed requests, who had the memory, and what to try",
        needs_answer: false,
        why_not: why_no_log,
    },
    PaneRow {
        pane: Pane::Budgets,
        name: "budgets",
        title: "Budgets",
        home: Home::Middle,
        what: "cost of each memory budget, for every rematerialization heuristic",
        needs_answer: true,
        why_not: why_no_budgets,
    },
    PaneRow {
        pane: Pane::Sweep,
        name: "space",
        title: "Sweep",
        home: Home::Middle,
        what: "many configurations, or allocator settings of a recording: which fit, and the recommended one",
        needs_answer: true,
        why_not: why_no_sweep,
    },
    PaneRow {
        pane: Pane::NameReuse,
        name: "name_reuse",
        title: "Variable reuse",
        home: Home::Middle,
        what: "variable reuse (Paddle memory_optimize): its effect on the graph, and its log",
        needs_answer: true,
        why_not: why_no_name_reuse,
    },
    PaneRow {
        pane: Pane::Problems,
        name: "problems",
        title: "Problems",
        home: Home::Below,
        what: "contradicting options, and unreadable parts of files",
        needs_answer: false,
        why_not: ACTS_ON_ALL,
    },
    PaneRow {
        pane: Pane::Files,
        name: "files",
        title: "Import report",
        home: Home::Below,
        what: "contents of each file, and skipped parts",
        needs_answer: false,
        why_not: ACTS_ON_ALL,
    },
    PaneRow {
        pane: Pane::Tables,
        name: "tables",
        title: "Tables",
        home: Home::Below,
        what: "tensors, ops, live tensors, events and problems as sortable tables",
        needs_answer: true,
        why_not: ACTS_ON_ALL,
    },
    PaneRow {
        pane: Pane::Flame,
        name: "flame",
        title: "Flame",
        home: Home::Below,
        what: "live bytes by call stack, as a flame graph",
        needs_answer: true,
        why_not: why_no_flame,
    },
    PaneRow {
        pane: Pane::Compare,
        name: "compare",
        title: "Compare",
        home: Home::Below,
        what: "differences of lanes and pinned configurations from a baseline, and changes at the peak",
        needs_answer: true,
        why_not: ACTS_ON_ALL,
    },
    PaneRow {
        pane: Pane::Schedule,
        name: "schedule",
        title: "Schedule",
        home: Home::Below,
        what: "graphs and runs of the session: order, values, repeats, concurrent groups, loads and unloads",
        needs_answer: false,
        why_not: why_no_schedule,
    },
    PaneRow {
        pane: Pane::Inspector,
        name: "inspector",
        title: "Inspector",
        home: Home::Right,
        what: "facts about the selected tensor, and live tensors at the peak",
        needs_answer: true,
        why_not: ACTS_ON_ALL,
    },
    PaneRow {
        pane: Pane::Peak,
        name: "peak",
        title: "Peak",
        home: Home::Right,
        what: "live tensors at the peak, at a pinned step or in a range, and what lowers the peak",
        needs_answer: true,
        why_not: ACTS_ON_ALL,
    },
    PaneRow {
        pane: Pane::Planner,
        name: "planner",
        title: "Planner",
        home: Home::Right,
        what: "placement strategies of an arena, with footprint and time",
        needs_answer: true,
        why_not: why_no_planner,
    },
    PaneRow {
        pane: Pane::Device,
        name: "device",
        title: "Device",
        home: Home::Right,
        what: "device memory at a step: parts, pools, free lists, regions",
        needs_answer: true,
        why_not: why_no_device,
    },
    PaneRow {
        pane: Pane::MeasuredRun,
        name: "measured_run",
        title: "Measured",
        home: Home::Right,
        what: "error of simulated peaks against a measured run, and costs derived from it",
        needs_answer: true,
        why_not: why_no_measured_run,
    },
];

impl Pane {
    /// # Panics
    /// Never: a test covers all panes.
    pub fn row(self) -> &'static PaneRow {
        PANES.iter().find(|row| row.pane == self).expect("every pane has a row")
    }

    /// Why it cannot act on what is open; `None` where it can, or where nothing is open.
    pub fn why_not(self, session: &Session) -> Option<&'static str> {
        (self.row().why_not)(&session.loaded()?.workload)
    }

    /// By its name in saved layouts.
    pub fn named(name: &str) -> Option<Self> {
        PANES.iter().find(|row| row.name == name).map(|row| row.pane)
    }
}
