//! The table of window commands: menu, keys and the help window loop over it.

mod also;
mod measuring;
mod table;

use eframe::egui::KeyboardShortcut;

pub use also::also;
pub use table::COMMANDS;

use super::lanes::Measuring;
use highwater_session::ExportForm;
use highwater_timeline::ColorBy;

/// What the menu and the keys can ask of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UiCommand {
    /// Choose files to open.
    Open,
    /// Choose files to add to the session.
    Add,
    /// Type a path to open.
    OpenPath,
    /// Save the document where it lies.
    Save,
    /// Choose where to save the document.
    SaveAs,
    /// List sources of the document that are gone or changed.
    LocateSources,
    /// Choose where to write the configuration.
    ExportConfig,
    /// Choose where to write a file of the answer.
    Export(ExportForm),
    /// Choose a configuration to read.
    ImportConfig,
    /// Put the `highwater compare` command on the clipboard.
    CopyCommandLine,
    /// Take back the last edit.
    Undo,
    /// Make the edit again that was taken back.
    Redo,
    /// Give all options their defaults.
    ResetOptions,
    /// Put the keyboard into the search field of the lanes.
    Search,
    /// Bring the tables to the front, or the problems.
    ToggleTables,
    /// Bring the schedule editor to the front, or the problems.
    ToggleSchedule,
    /// Add a run to the schedule.
    AddRun,
    /// List every graph in the schedule.
    ListGraphs,
    /// Choose where to write the table that is shown.
    ExportTable,
    /// Put the keyboard into the option search.
    SearchOptions,
    /// Put the keyboard into the field of the next finding.
    NextProblem,
    /// Light or dark.
    ToggleTheme,
    /// Lanes stacked or side by side.
    ToggleLayout,
    /// Memory map or lifetimes.
    ToggleView,
    /// Program order, estimated time, wall time.
    NextAxis,
    /// The next order of the rows of lifetimes.
    NextRows,
    /// Bring the sweep over budgets to the front, or the lanes.
    ToggleBudgets,
    /// Bring the sweep over configurations to the front, or the lanes.
    ToggleSweep,
    /// Try the configurations of the axes, or stop.
    TrySweep,
    /// Name the best of them.
    Recommend,
    /// Bring name reuse and its log to the front, or the lanes.
    ToggleNameReuse,
    /// Bring what was read of each file to the front, or the problems.
    ToggleFiles,
    /// Show what was measured beside what is simulated, or the inspector.
    ToggleMeasuredRun,
    /// Choose a folder to open.
    OpenFolder,
    /// Start the sweep, or stop it.
    BudgetSweep,
    /// Compare policies, runs under budgets, or name reuse.
    NextLanes,
    /// Bring lanes side by side to the front, or the problems.
    ToggleCompare,
    /// Pin what is set under a name.
    PinConfiguration,
    /// Bring the planner's table to the front, or the inspector.
    TogglePlanner,
    /// Bring the device at the cursor to the front, or the inspector.
    ToggleDevice,
    /// Bring the explained peak to the front, or the inspector.
    TogglePeak,
    /// Keep the pinned or hovered step with a note.
    Bookmark,
    /// Type a step to go to.
    GotoStep,
    /// Choose where to write the explained step.
    ExportPeak,
    /// Holes in the memory maps, or none.
    ToggleHoles,
    /// Reuse edges: off, of the selection, of the peak step.
    NextEdges,
    /// Device events in the lanes, or none.
    ToggleEvents,
    /// Lanes on scales of their own, or on one.
    ToggleScales,
    /// Whether the wheel alone zooms.
    ToggleWheel,
    /// What the colours of blocks stand for.
    ColorBy(ColorBy),
    /// Select a range of steps, or measure.
    Measure(Measuring),
    /// The difference of a lane to the next one, or none.
    NextDifference,
    /// Select what was selected before.
    PreviousSelection,
    /// Select again what was selected after that.
    NextSelection,
    /// List everything that can be done, by name.
    OpenPalette,
    /// Put the panes on the right aside, or bring them back.
    ToggleDetails,
    /// The lanes alone, or all panes.
    MaximizeLanes,
    /// Put every pane where it stood at first.
    ResetLayout,
    /// Everything larger.
    Larger,
    /// Everything smaller.
    Smaller,
    /// Everything as large as at first.
    UsualSize,
    /// Write a picture of the window.
    ExportWindow,
    /// Write a picture of a lane.
    ExportLane,
    /// Write a drawing of a lane.
    DrawLane,
    /// Forget which files were opened.
    ForgetRecent,
    /// Show or hide the list of keys.
    ToggleHelp,
    /// End the program.
    Quit,
}

/// A menu of the menu bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Menu {
    /// Files and configurations.
    File,
    /// Undo, redo, reset.
    Edit,
    /// Ranges and rulers; within the menu of edits.
    Measure,
    /// What is shown and how.
    View,
    /// What colours stand for; within the menu of what is shown.
    Color,
    /// Explanations.
    Help,
}

/// One row.
#[derive(Clone, Copy, Debug)]
pub struct CommandRow {
    /// The command.
    pub command: UiCommand,
    /// Its menu.
    pub menu: Menu,
    /// The menu text.
    pub text: &'static str,
    /// One sentence.
    pub tooltip: &'static str,
    /// Its keys.
    pub shortcut: Option<KeyboardShortcut>,
}

/// Gestures and keys of the lanes, for the help window.
pub static GESTURES: &[(&str, &str)] = &[
    ("Hover", "name, op, shape, bytes, birth and death, offset"),
    ("Click", "select a tensor in every lane"),
    ("Drag, with any button", "move along time and address"),
    ("Drag on the ruler", "select a range of steps"),
    ("Alt + drag", "zoom to the steps dragged over"),
    ("R + drag, T + drag", "measure time, bytes"),
    ("Ctrl + wheel, pinch", "zoom time at the pointer"),
    ("Shift or Alt + wheel, sideways", "move along time"),
    ("Backspace", "the last view; with Shift: forth again"),
    ("W / S", "zoom time in / out"),
    ("A / D", "move left / right"),
    ("Shift + W / S, Ctrl + Alt + wheel", "zoom addresses in / out"),
    ("Shift + A / D", "move addresses down / up"),
    ("Shift + click in the legend", "show this group alone"),
    ("F", "focus the selected tensor; again: show all"),
    ("H, Ctrl + 0, double click", "show all"),
    ("Shift + H", "show where tensors stand, without weights"),
    (", / .", "previous / next tensor"),
    ("/, then Enter / Shift + Enter", "find tensors; next / previous match"),
    ("Click curve or events", "pin the step for Device and Peak"),
    ("J / K", "pin the previous / next step"),
    ("[ / ]", "the same for steps with device events"),
    ("Esc", "clear rulers, then the range, then selection and step"),
];
