//! What can be asked of a session. Whoever drives it pushes these; they are applied in order after the frame.

use std::path::PathBuf;

use serde_json::Value as Json;

use super::bookmarks::Bookmark;
use super::document::SourceSpec;
use super::jobs::{ContentOrder, LaneInView};
use super::painter::PictureOrder;
use super::persisted::PersistedDocument;
use super::sweep::SweepOrder;
use highwater_analysis::sweep::Goal;
use highwater_analysis::{Configuration, LaneId, LaneSet, RematLane};
use highwater_export::{ExportForm, Picture};
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{GraphIdx, ScheduleEntry};
use highwater_options::{DumpedSettings, Fix, Value};
use highwater_timeline::{ColoringRequest, PeakRequest, Selected, TableSpec};

/// One request.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Replace all graphs by these.
    Open(Vec<SourceSpec>),
    /// Add graphs to the session.
    Add(Vec<SourceSpec>),
    /// Read a source again, as this format; `None` asks its content.
    OpenAs {
        /// Its position.
        position: usize,
        /// The importer's name.
        format: Option<&'static str>,
    },
    /// Remove a source by position.
    Remove(usize),
    /// Look at a part of the sources by itself; `None` at the whole session.
    ShowPart(Option<String>),
    /// Set an option from text.
    SetOption {
        /// Its key.
        key: String,
        /// The text, as on the command line.
        text: String,
    },
    /// The same while the user types: letters of one field are undone together.
    TypeOption {
        /// Its key.
        key: String,
        /// The text so far.
        text: String,
    },
    /// A field is left: what is typed into it next is undone apart.
    EndTyping,
    /// Set an option to a typed value.
    SetValue {
        /// Its key.
        key: String,
        /// The value.
        value: Value,
    },
    /// Set options and variables together, as one step; what is not among them stays.
    UseSettings(Box<DumpedSettings>),
    /// Remove an option that no row stands for.
    RemoveUnknown(String),
    /// Mend a finding.
    ApplyFix(Fix),
    /// Take back the last edit of settings.
    Undo,
    /// Make the edit again that was taken back last.
    Redo,
    /// Give an option its default again.
    ResetOption(String),
    /// Give every option its default again, and empty the environment.
    ResetAll,
    /// Set an environment variable, or remove it (`None`).
    SetEnvironment {
        /// Its name.
        name: String,
        /// The text.
        value: Option<String>,
    },
    /// The same while the user types.
    TypeEnvironment {
        /// Its name.
        name: String,
        /// The text so far; empty removes it.
        text: String,
    },
    /// Values of a symbolic dimension; one run each.
    SetDim {
        /// Its name.
        name: String,
        /// The values; none leaves it to the options, or to an assumption.
        values: Vec<u64>,
    },
    /// Iterations of the schedule.
    SetIterations(u32),
    /// What an iteration holds, entry by entry; none means every graph once.
    SetEntries {
        /// The entries.
        entries: Vec<ScheduleEntry>,
        /// The field that is typed into, whose letters are undone together.
        field: Option<String>,
    },
    /// Give a graph another name in the session; its own one takes that back.
    RenameGraph {
        /// Its own name.
        own: String,
        /// The name that is shown; where another graph has it a number makes it new.
        name: String,
    },
    /// Run each training graph's forward phase beside it.
    SetEvaluation(bool),
    /// Place a lane's static arenas by a strategy, by name; `None` takes the choice back.
    SetStrategy {
        /// The lane; `None` means all of them.
        lane: Option<LaneId>,
        /// The strategy's name.
        strategy: Option<&'static str>,
    },
    /// Give a lane that runs under a budget another one, while it is dragged or typed.
    SetRematBudget {
        /// Which of the lanes behind the one without a budget, from 0.
        lane: usize,
        /// Bytes, as the heuristic's engine counts them.
        budget: Bytes,
    },
    /// What the lanes are compared for.
    SetLanes(LaneSet),
    /// Run a graph (or the tape) under many budgets, by every heuristic.
    Sweep(GraphIdx),
    /// Stop the sweep; what is known of it stays.
    StopSweep,
    /// Try every point of a space of configurations; one that was stopped goes on.
    TrySweep(Box<SweepOrder>),
    /// Stop trying; what is known stays.
    StopSpace,
    /// Recommend a configuration of a space, which is tried first where it was not.
    Recommend(Box<SweepOrder>, Goal),
    /// Set options, environment and schedule, as one step.
    UseConfiguration(Box<Configuration>),
    /// Open a run under a budget as a lane beside those that are there.
    AddRematLane(RematLane),
    /// Close a lane of a run under a budget, by position among these.
    RemoveRematLane(usize),
    /// Keep a configuration under a name, to compare with: a lane of its own.
    PinConfiguration {
        /// The name; no other pin may have it.
        name: String,
        /// What is kept.
        configuration: Box<Configuration>,
    },
    /// Give a pin another name.
    RenamePin {
        /// Its position.
        position: usize,
        /// The name.
        name: String,
    },
    /// Move a pin among the others.
    MovePin {
        /// Its position.
        position: usize,
        /// Where it goes.
        to: usize,
    },
    /// Pin the same configuration again, under a name with a number.
    DuplicatePin(usize),
    /// Remove a pin by position.
    RemovePin(usize),
    /// Set what a pin holds: options, environment and schedule, as one step.
    UsePin(usize),
    /// Work out the planner's table for a graph.
    ListPlans(GraphIdx),
    /// Reuse names in a graph (or the program) at both levels, with the log.
    ReuseNames(GraphIdx),
    /// Work out what the device holds at a step of a lane.
    PictureDevice(LaneId, Step),
    /// Draw pictures of lanes, instead of those asked for before.
    Paint(PictureOrder),
    /// The lane that figures of others are compared with; `None` for the usual one.
    SetBaseline(Option<LaneId>),
    /// Find out what the peak of the second lane holds otherwise than that of the first.
    CompareLanes(LaneId, LaneId),
    /// Take one lane from another, step by step, or no longer.
    SetDifference(Option<(LaneId, LaneId)>),
    /// Work out what lanes show instead of memory maps.
    ShowContent(ContentOrder),
    /// Choose what colours stand for, and which groups step back.
    SetLook(ColoringRequest),
    /// Explain a step of a lane: who is live there, and what would lower it.
    ExplainPeak(PeakRequest),
    /// Write the step that was explained last: as JSON, CSV or text, by the name of the file.
    ExportPeak(PathBuf),
    /// Keep a step with a note.
    AddBookmark(Bookmark),
    /// Bookmarks that the sources had when they were open before; no step of the history.
    RestoreBookmarks(Vec<Bookmark>),
    /// Give a bookmark another note.
    NoteBookmark {
        /// Its position.
        position: usize,
        /// The note so far.
        note: String,
    },
    /// Remove a bookmark by position.
    RemoveBookmark(usize),
    /// Select a tensor everywhere, or nothing.
    Select(Option<Selected>),
    /// Select what was selected before, or forth again.
    StepSelection {
        /// Back, not forth.
        is_back: bool,
    },
    /// Look for tensors in a lane; blank text looks for nothing. See [`highwater_timeline::Query`].
    Search {
        /// The query.
        text: String,
        /// The lane whose rows are counted and walked through, by position.
        lane: usize,
    },
    /// Work out a table.
    ListRows(Box<TableSpec>),
    /// Write a file of the answer on the screen.
    Export {
        /// What is written.
        form: ExportForm,
        /// Where.
        path: PathBuf,
        /// The lanes that are meant; `None` for those that the form has of itself.
        lanes: Option<Vec<LaneId>>,
    },
    /// Write the table that was worked out last as CSV: all of it, in its order.
    ExportTable(PathBuf),
    /// Write the configuration: as JSON, Python (`.py`) or shell (`.sh`), by the name of the file.
    ExportConfig(PathBuf),
    /// Read a configuration.
    ImportConfig(PathBuf),
    /// Write the document (`.highwater`), with how the window shows it.
    SaveDocument {
        /// Where.
        path: PathBuf,
        /// How the window shows it.
        view: Option<Json>,
    },
    /// Save the document as a file, whatever somebody else wrote there meanwhile.
    OverwriteDocument {
        /// Where.
        path: PathBuf,
        /// The window's own value.
        view: Option<Json>,
    },
    /// Another file or folder in the place of a source.
    Locate {
        /// Its position.
        position: usize,
        /// Where it is.
        path: PathBuf,
    },
    /// Take over what was kept for recovery.
    Recover(PersistedDocument),
    /// Write a picture, as PNG.
    WritePicture {
        /// Where.
        path: PathBuf,
        /// What.
        picture: Picture,
    },
    /// Write a drawing of a lane, as SVG.
    DrawLane {
        /// Where.
        path: PathBuf,
        /// The lane.
        lane: LaneId,
        /// What of it.
        view: Box<LaneInView>,
    },
    /// Find out which of these files and folders are gone ([`Session::is_missing`](super::Session::is_missing)).
    FindMissing(Vec<PathBuf>),
    /// Stop what the worker does; the last answer stays.
    Cancel,
    /// Take the remarks about a configuration file off the screen.
    ForgetRemarks(String),
    /// Take a notice off the screen.
    DismissNotice,
}

impl Command {
    /// Whether it is about the document's file.
    pub(super) const fn is_filed(&self) -> bool {
        matches!(
            self,
            Self::SaveDocument { .. } | Self::OverwriteDocument { .. } | Self::Locate { .. } | Self::Recover(_)
        )
    }

    /// Whether it is about pins, or about lanes that are compared.
    pub(super) const fn is_compared(&self) -> bool {
        matches!(
            self,
            Self::PinConfiguration { .. }
                | Self::RenamePin { .. }
                | Self::MovePin { .. }
                | Self::DuplicatePin(_)
                | Self::RemovePin(_)
                | Self::UsePin(_)
                | Self::SetBaseline(_)
                | Self::SetDifference(_)
                | Self::CompareLanes(..)
        )
    }
}
