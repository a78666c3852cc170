//! The table of window commands: menu, keys and the help window loop over it.

mod also;
mod measuring;
mod table;

use eframe::egui::KeyboardShortcut;

pub use also::also;
pub use table::COMMANDS;

use super::dialogs::Purpose;
use super::lanes::Measuring;
use super::panes::Pane;
use highwater_analysis::LaneId;
use highwater_timeline::ColorBy;

/// A command of menus, keys and palette.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UiCommand {
    /// Choose a path.
    AskPath(Purpose),
    /// Type a path to open.
    OpenPath,
    /// Save the document to its file.
    Save,
    /// Choose where to save the document.
    SaveAs,
    /// List missing and changed sources.
    LocateSources,
    /// Preview the configuration in every form, and save it.
    ExportConfig,
    /// Copy the `highwater compare` command.
    CopyCommandLine,
    /// Say in the status bar what was copied.
    SayCopied(&'static str),
    Undo,
    Redo,
    ResetOptions,
    /// Focus the search field of the lanes.
    Search,
    /// Show the selected tensor in the drawing, or everything where it fills the view.
    ZoomToSelection,
    /// Bring a pane to the front, or the pane behind it.
    TogglePane(Pane),
    /// Bring a pane to the front.
    ShowPane(Pane),
    /// Close a pane, or open it where it was.
    OpenOrClosePane(Pane),
    /// Select a lane, which Inspector, Peak, Device and Tables explain.
    ExplainLane(LaneId),
    /// Show one lane alone, or all lanes where it is alone.
    ShowLaneAlone(LaneId),
    /// Show hidden lanes again.
    ShowAllLanes,
    /// Show an option and give its field the keyboard.
    ShowOption(&'static str),
    /// Pin a step in all lanes.
    PinStep(u32),
    AddRun,
    /// Schedule every graph.
    ListGraphs,
    SearchOptions,
    /// Focus the field of the next finding.
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
    /// Start or stop the configuration sweep.
    Sweep,
    /// Recommend a configuration of the sweep.
    Recommend,
    /// Start or stop the budget sweep.
    BudgetSweep,
    /// Compare policies, runs under budgets, or name reuse.
    NextLanes,
    /// Pin the configuration under a name.
    PinConfiguration,
    /// Bookmark the pinned or hovered step.
    Bookmark,
    GotoStep,
    ExportPeak,
    ExportFlame,
    /// Copy the explained step as text.
    CopyPeak,
    /// Gaps in the memory maps.
    ToggleHoles,
    /// Reuse edges: off, of the selection, of the peak step.
    NextEdges,
    /// Device events in the lanes.
    ToggleEvents,
    /// Independent or common y-axes.
    ToggleScales,
    /// Zoom with or without a modifier key.
    ToggleWheel,
    /// Colour blocks by an attribute.
    ColorBy(ColorBy),
    Measure(Measuring),
    /// The difference to the next lane, or none.
    NextDifference,
    /// Go back in the history of selections.
    PreviousSelection,
    /// Go forward in the history of selections.
    NextSelection,
    /// Open the list of all commands.
    OpenPalette,
    /// Hide or show the panes on the right.
    ToggleDetails,
    MaximizeLanes,
    /// Restore the default layout.
    ResetLayout,
    Larger,
    Smaller,
    /// The default size.
    UsualSize,
    ExportLane,
    DrawLane,
    /// Clear the list of recent files.
    ForgetRecent,
    /// Show or hide the list of keys and gestures.
    ToggleHelp,
    /// The pages of the documentation.
    Documentation,
    Quit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Menu {
    /// Files and configurations.
    File,
    /// Submenus of File: exports, pictures, and what is below the recent files.
    Export,
    Pictures,
    Recent,
    /// The end of File.
    Program,
    /// Undo, redo, reset.
    Edit,
    /// Submenus of Edit: searches and steps; ranges and rulers.
    Find,
    Measure,
    /// Size, theme and layout of the window.
    View,
    /// Panes, which a submenu of View lists with their keys.
    Panels,
    /// Submenus of View.
    Lanes,
    Axis,
    Overlays,
    Color,
    /// Colors of recorded blocks.
    RecordedColor,
    Sweeps,
    Help,
}

impl Menu {
    /// Submenus with their titles, in the order of the menu that has them.
    pub const OF_FILE: [(Self, &'static str); 2] = [(Self::Export, "Export"), (Self::Pictures, "Pictures")];
    pub const OF_EDIT: [(Self, &'static str); 2] = [(Self::Find, "Find"), (Self::Measure, "Ranges and rulers")];
    pub const OF_VIEW: [(Self, &'static str); 6] = [
        (Self::Lanes, "Lanes"),
        (Self::Axis, "Axis"),
        (Self::Overlays, "Overlays"),
        (Self::Color, "Color"),
        (Self::RecordedColor, "Color of recordings"),
        (Self::Sweeps, "Sweeps"),
    ];
}

/// A command with its texts and keys.
#[derive(Clone, Copy, Debug)]
pub struct CommandRow {
    pub command: UiCommand,
    pub menu: Menu,
    pub text: &'static str,
    /// One sentence for tooltips and the help window.
    pub tooltip: &'static str,
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
    ("Backspace", "previous view; with Shift: next view"),
    ("W / S", "zoom time in / out"),
    ("A / D", "move left / right"),
    ("Shift + W / S, Ctrl + Alt + wheel", "zoom addresses in / out"),
    ("Shift + A / D", "move addresses down / up"),
    ("Shift + click in the legend", "show this group alone"),
    ("F", "focus the selected tensor; again: show all"),
    ("H, Ctrl + 0, double click", "show all"),
    ("Shift + H", "show the address range of tensors, without weights"),
    (", / .", "previous / next tensor"),
    ("/, then Enter / Shift + Enter", "find tensors; next / previous match"),
    ("Click curve or events", "pin the step for Device and Peak"),
    ("J / K", "pin the previous / next step"),
    ("[ / ]", "the same for steps with device events"),
    ("Esc", "clear rulers, then the range, then selection and step"),
];
