//! Commands to a session. The window, or a test, pushes them; they are applied in order after the frame.

use std::path::PathBuf;

use serde_json::Value as Json;

use super::bookmarks::Bookmark;
use super::document::SourceSpec;
use super::painter::PictureOrder;
use super::persisted::PersistedDocument;
use super::state::{ContentOrder, LaneInView};
use super::sweep::SweepOrder;
use highwater_analysis::sweep::Goal;
use highwater_analysis::{Configuration, LaneGoal, LaneId, LaneSet, RematLane};
use highwater_export::{ExportForm, Picture};
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{GraphIdx, ScheduleEntry};
use highwater_options::{DumpedSettings, Fix, Value};
use highwater_timeline::{ColoringRequest, FlameRequest, PeakRequest, Selected, TableSpec};

#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Replace all sources.
    Open(Vec<SourceSpec>),
    Add(Vec<SourceSpec>),
    /// Whether the opened document may read the files that it names outside its folder.
    DecideOutside(bool),
    /// Read a source again as another format, by importer; `None` detects it.
    OpenAs {
        position: usize,
        format: Option<&'static str>,
    },
    /// Remove a source, by position.
    Remove(usize),
    /// Show a part of the sources alone; `None` shows the whole session.
    ShowPart(Option<String>),
    SetOption {
        key: String,
        /// As on the command line.
        text: String,
    },
    /// Set an option while the user types: letters of one field are one step of undo.
    TypeOption {
        key: String,
        text: String,
    },
    /// The user leaves a field: later letters are another step of undo.
    EndTyping,
    SetValue {
        key: String,
        value: Value,
    },
    /// Set options and variables as one step; others stay.
    UseSettings(Box<DumpedSettings>),
    /// Remove an option that this version does not know.
    RemoveUnknown(String),
    ApplyFix(Fix),
    Undo,
    Redo,
    ResetOption(String),
    /// Reset every option, and empty the environment.
    ResetAll,
    /// `None` removes the variable.
    SetEnvironment {
        name: String,
        value: Option<String>,
    },
    /// Set a variable while the user types.
    TypeEnvironment {
        name: String,
        /// Empty text removes the variable.
        text: String,
    },
    /// Set the values of a symbolic dimension; each is a run.
    SetDim {
        name: String,
        /// Without any, options or an assumption give the value.
        values: Vec<u64>,
    },
    SetIterations(u32),
    /// Set the entries of an iteration; without any every graph runs once.
    SetEntries {
        entries: Vec<ScheduleEntry>,
        /// The field that the user types into, whose letters are one step of undo.
        field: Option<String>,
    },
    /// Show a graph under another name; its own name resets that.
    RenameGraph {
        own: String,
        /// Gets a number where another graph has it.
        name: String,
    },
    /// Add the forward phase of each training graph as a graph.
    SetEvaluation(bool),
    /// Choose the placement strategy of a lane's static arenas; `None` resets it.
    SetStrategy {
        /// `None` means all lanes.
        lane: Option<LaneId>,
        /// By name.
        strategy: Option<&'static str>,
    },
    /// Change the budget of a lane, while it is dragged or typed.
    SetRematBudget {
        /// The position among the lanes with a budget.
        lane: usize,
        /// As the heuristic's engine counts bytes.
        budget: Bytes,
    },
    SetLanes(LaneSet),
    /// Start or continue the budget sweep of a graph, or of the tape.
    StartBudgetSweep(GraphIdx),
    /// Stop the budget sweep; its points stay.
    StopBudgetSweep,
    /// Start or continue the sweep over configurations.
    StartSweep(Box<SweepOrder>),
    /// Stop the sweep over configurations; its points stay.
    StopSweep,
    /// Recommend a configuration of the sweep, once all points are tried.
    Recommend(Box<SweepOrder>, Goal),
    /// Set options, environment and schedule, as one step.
    UseConfiguration(Box<Configuration>),
    /// Add a lane of a run under a budget.
    AddRematLane(RematLane),
    /// Remove a lane, by position among the lanes with a budget.
    RemoveRematLane(usize),
    /// Pin a configuration: a lane shows it.
    PinConfiguration {
        /// No other pin may have it.
        name: String,
        configuration: Box<Configuration>,
    },
    RenamePin {
        position: usize,
        name: String,
    },
    MovePin {
        position: usize,
        to: usize,
    },
    /// Pin the same configuration again under a numbered name.
    DuplicatePin(usize),
    RemovePin(usize),
    /// Set options, environment and schedule of a pin, as one step.
    UsePin(usize),
    /// Fill the planner's table for a graph.
    ListPlans(GraphIdx),
    /// Stop the planner; its plans stay.
    StopPlans,
    /// Search again for the plans whose search was stopped.
    RestartSearches,
    /// Reuse names in a graph, or the program, at both levels with the log.
    ReuseNames(GraphIdx),
    /// Search the allocator settings with the lowest peak on a device with this memory; `None`: without a limit.
    FindSettings(Option<Bytes>),
    /// Search the largest value of a batch dimension that fits on the device.
    FindLargestBatch(String),
    /// Simulate recordings under these allocator settings: a lane.
    AddSettings(String),
    /// Remove the lane of these settings.
    RemoveSettings(String),
    /// Find what the device holds at a step of a lane.
    PictureDevice(LaneId, Step),
    /// Draw pictures of lanes, in the place of those ordered before.
    Paint(PictureOrder),
    /// Choose the baseline; `None` resets it.
    SetBaseline(Option<LaneId>),
    /// Choose the goal by which a policy is recommended.
    SetGoal(LaneGoal),
    /// Find the changes from the peak of the first lane to that of the second.
    CompareLanes(LaneId, LaneId),
    /// Show the first lane less the second, step by step.
    SetDifference(Option<(LaneId, LaneId)>),
    /// Choose the content of lanes.
    ShowContent(ContentOrder),
    /// Choose the attribute of colours, and the dimmed groups.
    SetLook(ColoringRequest),
    /// Explain a step of a lane: its live tensors, and savings.
    ExplainPeak(PeakRequest),
    /// Write the last explanation as JSON, CSV or text, by the extension.
    ExportPeak(PathBuf),
    /// Make the flame graph of a lane.
    DrawFlame(FlameRequest),
    /// Write the last flame graph as SVG, folded stacks or text, by the extension.
    ExportFlame(PathBuf),
    AddBookmark(Bookmark),
    /// Set the bookmarks that the sources had before; no step of undo.
    RestoreBookmarks(Vec<Bookmark>),
    NoteBookmark {
        position: usize,
        note: String,
    },
    RemoveBookmark(usize),
    /// Open a line of a file with an editor command, which has `{file}` and `{line}`.
    OpenInEditor {
        command: String,
        file: String,
        line: u32,
    },
    Select(Option<Selected>),
    /// Go back or forward in the history of selections.
    StepSelection {
        is_back: bool,
    },
    /// Search for tensors by a [`highwater_timeline::Query`]; blank text ends the search.
    Search {
        text: String,
        /// The lane whose matches are counted and visited, by position.
        lane: usize,
    },
    /// Make a table.
    ListRows(Box<TableSpec>),
    /// Write a file of the answer on the screen.
    Export {
        form: ExportForm,
        path: PathBuf,
        /// `None` for the usual lanes of the form.
        lanes: Option<Vec<LaneId>>,
    },
    /// Write the last table as CSV, whole and in its order.
    ExportTable(PathBuf),
    /// Write the configuration as JSON, Python (`.py`) or shell (`.sh`), by the extension.
    ExportConfig {
        path: PathBuf,
        /// The errors in spite of which the user exports; other errors forbid it.
        confirmed: Vec<String>,
    },
    ImportConfig(PathBuf),
    /// Take another configuration of the script that was read last, by name.
    ChooseConfiguration(String),
    /// Write the document (`.highwater`) with the view of the window.
    SaveDocument {
        path: PathBuf,
        view: Option<Json>,
    },
    /// Write the document even where another program changed the file.
    OverwriteDocument {
        path: PathBuf,
        view: Option<Json>,
    },
    /// Replace a source by a file or folder that holds the same.
    Locate {
        position: usize,
        path: PathBuf,
    },
    /// Open edits that were kept for recovery.
    Recover(PersistedDocument),
    WritePicture {
        path: PathBuf,
        picture: Picture,
    },
    /// Write a drawing of a lane as SVG.
    DrawLane {
        path: PathBuf,
        lane: LaneId,
        view: Box<LaneInView>,
    },
    /// Find missing files and folders ([`Session::is_missing`](super::Session::is_missing)).
    FindMissing(Vec<PathBuf>),
    /// Stop the long tasks of the worker; the last answer stays.
    Cancel,
    /// Hide the remarks about a configuration file.
    ForgetRemarks(String),
    /// Hide the notice.
    DismissNotice,
}

impl Command {
    pub fn set_option(key: &str, text: impl Into<String>) -> Self {
        let (key, text) = (key.to_owned(), text.into());
        Self::SetOption { key, text }
    }

    pub fn type_option(key: &str, text: impl Into<String>) -> Self {
        let (key, text) = (key.to_owned(), text.into());
        Self::TypeOption { key, text }
    }
}
