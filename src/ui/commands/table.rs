//! The rows of the command table, in menu order.

use eframe::egui::{Key, KeyboardShortcut, Modifiers};

use super::measuring::MEASURING;
use super::{CommandRow, Menu, UiCommand};
use crate::dialogs::Purpose;
use crate::panes::Pane;
use highwater_session::{EXPORT_FORMS, ExportForm, ExportRow};
use highwater_timeline::{Attribute, ColorBy};

const fn ctrl(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::COMMAND, key)
}

const fn plain(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::NONE, key)
}

const fn color(by: ColorBy, text: &'static str, tooltip: &'static str) -> CommandRow {
    CommandRow {
        command: UiCommand::ColorBy(by),
        menu: Menu::Color,
        text,
        tooltip,
        shortcut: None,
    }
}

/// A color of recorded blocks alone.
const fn recorded_color(by: Attribute, text: &'static str, tooltip: &'static str) -> CommandRow {
    CommandRow {
        menu: Menu::RecordedColor,
        ..color(ColorBy::By(by), text, tooltip)
    }
}

/// Every command, in menu order.
pub static COMMANDS: &[CommandRow] = &ALL;

const ALL: [CommandRow; N_COMMANDS] = joined();

const FIRST_PLAIN: usize = OPENING.len() + EXPORT_FORMS.len();
const FIRST_MEASURING: usize = FIRST_PLAIN + PLAIN.len();
const N_COMMANDS: usize = FIRST_MEASURING + MEASURING.len();

/// Concatenates the tables.
const fn joined() -> [CommandRow; N_COMMANDS] {
    let mut all = [PLAIN[0]; N_COMMANDS];
    let mut at = 0;
    while at < N_COMMANDS {
        all[at] = if at < OPENING.len() {
            OPENING[at]
        } else if at < FIRST_PLAIN {
            export(&EXPORT_FORMS[at - OPENING.len()])
        } else if at < FIRST_MEASURING {
            PLAIN[at - FIRST_PLAIN]
        } else {
            MEASURING[at - FIRST_MEASURING]
        };
        at += 1;
    }
    all
}

const fn export(row: &ExportRow) -> CommandRow {
    let shift = Modifiers::COMMAND.plus(Modifiers::SHIFT);
    let of_path = UiCommand::AskPath(Purpose::Export(row.form));
    let (command, shortcut) = match row.form {
        ExportForm::Config => (UiCommand::ExportConfig, Some(ctrl(Key::E))),
        ExportForm::Report => (of_path, Some(KeyboardShortcut::new(shift, Key::E))),
        // The step on the screen.
        ExportForm::Peak => (UiCommand::ExportPeak, None),
        _ => (of_path, None),
    };
    CommandRow {
        command,
        menu: Menu::Export,
        text: row.entry,
        tooltip: row.tooltip,
        shortcut,
    }
}

/// Commands in front of the exports.
const OPENING: &[CommandRow] = &[
    CommandRow {
        command: UiCommand::AskPath(Purpose::Open),
        menu: Menu::File,
        text: "Open…",
        tooltip: "Choose graphs, recordings or a document",
        shortcut: Some(ctrl(Key::O)),
    },
    CommandRow {
        command: UiCommand::AskPath(Purpose::Add),
        menu: Menu::File,
        text: "Add graph to session…",
        tooltip: "Run another graph after the open ones",
        shortcut: Some(KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::O)),
    },
    CommandRow {
        command: UiCommand::AskPath(Purpose::OpenFolder),
        menu: Menu::File,
        text: "Open folder…",
        tooltip: "Open every readable file of a folder, such as a profiler's output or a SavedModel",
        shortcut: Some(KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::F)),
    },
    CommandRow {
        command: UiCommand::OpenPath,
        menu: Menu::File,
        text: "Open path…",
        tooltip: "Type the path of a file or folder and choose its format",
        shortcut: Some(ctrl(Key::L)),
    },
    CommandRow {
        command: UiCommand::Save,
        menu: Menu::File,
        text: "Save document",
        tooltip: "Write the open files with all settings to the document (.highwater)",
        shortcut: Some(ctrl(Key::S)),
    },
    CommandRow {
        command: UiCommand::SaveAs,
        menu: Menu::File,
        text: "Save document as…",
        tooltip: "Write the document to another file and continue with that file",
        shortcut: Some(KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::S)),
    },
    CommandRow {
        command: UiCommand::LocateSources,
        menu: Menu::File,
        text: "Locate sources…",
        tooltip: "List missing or changed files of the document and locate them",
        shortcut: None,
    },
];

/// Commands behind the exports.
const PLAIN: &[CommandRow] = &[
    CommandRow {
        command: UiCommand::AskPath(Purpose::ImportConfig),
        menu: Menu::File,
        text: "Import configuration…",
        tooltip: "Read a configuration: JSON, a Python training script, or a shell script",
        shortcut: Some(ctrl(Key::I)),
    },
    CommandRow {
        command: UiCommand::AskPath(Purpose::ExportTable),
        menu: Menu::Export,
        text: "Export table as CSV…",
        tooltip: "Write the last shown table in full, in its order, with exact numbers",
        shortcut: None,
    },
    CommandRow {
        command: UiCommand::ExportFlame,
        menu: Menu::Export,
        text: "Export flame graph…",
        tooltip: "Write the graph of the Flame tab: .svg flame graph, .folded folded stacks, .txt tree",
        shortcut: None,
    },
    CommandRow {
        command: UiCommand::CopyCommandLine,
        menu: Menu::Export,
        text: "Copy as command line",
        tooltip: "Copy the command line that prints the same figures",
        shortcut: Some(KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::C)),
    },
    CommandRow {
        command: UiCommand::AskPath(Purpose::SavePicture(None)),
        menu: Menu::Pictures,
        text: "Save picture of window…",
        tooltip: "Write the window as PNG",
        shortcut: None,
    },
    CommandRow {
        command: UiCommand::ExportLane,
        menu: Menu::Pictures,
        text: "Save picture of lane…",
        tooltip: "Write the last clicked lane (by default the first) as PNG",
        shortcut: None,
    },
    CommandRow {
        command: UiCommand::DrawLane,
        menu: Menu::Pictures,
        text: "Save drawing of lane…",
        tooltip: "Write the visible curve and memory map of the last clicked lane (by default the first) as SVG with \
                  selectable text",
        shortcut: None,
    },
    CommandRow {
        command: UiCommand::ForgetRecent,
        menu: Menu::Recent,
        text: "Clear recent files",
        tooltip: "Clear the list of recently opened files",
        shortcut: None,
    },
    CommandRow {
        command: UiCommand::Quit,
        menu: Menu::Program,
        text: "Quit",
        tooltip: "Close the program",
        shortcut: Some(ctrl(Key::Q)),
    },
    CommandRow {
        command: UiCommand::ToggleView,
        menu: Menu::Lanes,
        text: "Memory map / areas / lifetimes",
        tooltip: "Show addresses over time, bytes per group, or one row per tensor",
        shortcut: Some(plain(Key::V)),
    },
    CommandRow {
        command: UiCommand::ToggleLayout,
        menu: Menu::Lanes,
        text: "Lanes stacked / side by side",
        tooltip: "Stack the lanes or show two in a row",
        shortcut: Some(plain(Key::L)),
    },
    CommandRow {
        command: UiCommand::NextAxis,
        menu: Menu::Axis,
        text: "Axis: program order / estimated time / wall time",
        tooltip: "Switch the unit of the time axis, as far as the data has times",
        shortcut: Some(plain(Key::U)),
    },
    CommandRow {
        command: UiCommand::NextRows,
        menu: Menu::Lanes,
        text: "Next row order",
        tooltip: "Show lifetimes, sorted by the next of birth, size, lifetime and call site",
        shortcut: None,
    },
    CommandRow {
        command: UiCommand::NextLanes,
        menu: Menu::Lanes,
        text: "Compare policies / budgets / variable reuse",
        tooltip: "Choose what the lanes compare",
        shortcut: Some(plain(Key::C)),
    },
    CommandRow {
        command: UiCommand::NextDifference,
        menu: Menu::Lanes,
        text: "Next lane difference / none",
        tooltip: "Subtract another lane from the last clicked lane, step by step; repeat for the next lane, then none",
        shortcut: Some(KeyboardShortcut::new(Modifiers::SHIFT, Key::C)),
    },
    CommandRow {
        command: UiCommand::TogglePane(Pane::Budgets),
        menu: Menu::Panels,
        text: "Budgets / lanes",
        tooltip: "Show the cost of each memory budget for every rematerialization heuristic, or the lanes",
        shortcut: Some(plain(Key::B)),
    },
    CommandRow {
        command: UiCommand::BudgetSweep,
        menu: Menu::Sweeps,
        text: "Sweep budgets: start / stop",
        tooltip: "Run the graph under many memory budgets with every heuristic, or stop",
        shortcut: Some(KeyboardShortcut::new(Modifiers::SHIFT, Key::B)),
    },
    CommandRow {
        command: UiCommand::TogglePane(Pane::Sweep),
        menu: Menu::Panels,
        text: "Sweep / lanes",
        tooltip: "Show many configurations and the recommended one, or the lanes",
        shortcut: Some(ctrl(Key::M)),
    },
    CommandRow {
        command: UiCommand::Sweep,
        menu: Menu::Sweeps,
        text: "Try configurations: start / stop",
        tooltip: "Simulate every configuration of the axes in the Sweep tab, or stop",
        shortcut: Some(KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::M)),
    },
    CommandRow {
        command: UiCommand::Recommend,
        menu: Menu::Sweeps,
        text: "Recommend a configuration",
        tooltip: "Recommend a configuration of the axes in the Sweep tab for its goal, with reasons",
        shortcut: Some(KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::G)),
    },
    CommandRow {
        command: UiCommand::TogglePane(Pane::Files),
        menu: Menu::Panels,
        text: "Import report / problems",
        tooltip: "Show what each file contains and what was skipped, or the problems",
        shortcut: Some(plain(Key::I)),
    },
    CommandRow {
        command: UiCommand::TogglePane(Pane::Tables),
        menu: Menu::Panels,
        text: "Tables / problems",
        tooltip: "Show tensors, ops, live tensors and events as tables, or the problems",
        shortcut: Some(plain(Key::X)),
    },
    CommandRow {
        command: UiCommand::TogglePane(Pane::Schedule),
        menu: Menu::Panels,
        text: "Schedule / problems",
        tooltip: "Show graphs and runs of the session, or the problems",
        shortcut: Some(ctrl(Key::R)),
    },
    CommandRow {
        command: UiCommand::TogglePane(Pane::Log),
        menu: Menu::Panels,
        text: "Log / recordings",
        tooltip: "Show the story of an out-of-memory: failed requests, who had the memory and what to try, or the recordings",
        shortcut: None,
    },
    CommandRow {
        command: UiCommand::TogglePane(Pane::NameReuse),
        menu: Menu::Panels,
        text: "Variable reuse / lanes",
        tooltip: "Show the effect of Paddle memory_optimize on the graph and its log, or the lanes",
        shortcut: Some(plain(Key::N)),
    },
    CommandRow {
        command: UiCommand::TogglePane(Pane::Flame),
        menu: Menu::Panels,
        text: "Flame graph / problems",
        tooltip: "Show live bytes by call stack at the peak, the pinned step or over the selected range, or the problems",
        shortcut: Some(KeyboardShortcut::new(Modifiers::SHIFT, Key::G)),
    },
    CommandRow {
        command: UiCommand::TogglePane(Pane::Compare),
        menu: Menu::Panels,
        text: "Compare / problems",
        tooltip: "Compare lanes and pinned configurations with a baseline, and list changes at the peak",
        shortcut: Some(KeyboardShortcut::new(Modifiers::SHIFT, Key::V)),
    },
    CommandRow {
        command: UiCommand::TogglePane(Pane::Planner),
        menu: Menu::Panels,
        text: "Planner / inspector",
        tooltip: "Compare placement strategies of an arena, or inspect one tensor",
        shortcut: Some(plain(Key::P)),
    },
    CommandRow {
        command: UiCommand::TogglePane(Pane::Device),
        menu: Menu::Panels,
        text: "Device / inspector",
        tooltip: "Show device memory at the step under the pointer or the pinned step: parts, pools, free lists, \
                  regions",
        shortcut: Some(plain(Key::M)),
    },
    CommandRow {
        command: UiCommand::TogglePane(Pane::MeasuredRun),
        menu: Menu::Panels,
        text: "Measured / inspector",
        tooltip: "Show the error of simulated peaks against a measured run and derive costs from it, or the inspector",
        shortcut: Some(KeyboardShortcut::new(Modifiers::SHIFT, Key::M)),
    },
    CommandRow {
        command: UiCommand::TogglePane(Pane::Peak),
        menu: Menu::Panels,
        text: "Peak / inspector",
        tooltip: "Show live tensors at the peak, the pinned step or in the selected range, and what lowers the peak; \
                  bookmarks",
        shortcut: Some(KeyboardShortcut::new(Modifiers::SHIFT, Key::P)),
    },
    CommandRow {
        command: UiCommand::ToggleHoles,
        menu: Menu::Overlays,
        text: "Gaps",
        tooltip: "Mark free ranges between live blocks in the memory maps",
        shortcut: Some(plain(Key::O)),
    },
    CommandRow {
        command: UiCommand::NextEdges,
        menu: Menu::Overlays,
        text: "Reuse edges: off / selection / peak step",
        tooltip: "Draw which tensor reuses the bytes of which",
        shortcut: Some(plain(Key::E)),
    },
    CommandRow {
        command: UiCommand::ToggleEvents,
        menu: Menu::Overlays,
        text: "Device events",
        tooltip: "Mark device and pool events between curve and map",
        shortcut: None,
    },
    CommandRow {
        command: UiCommand::ToggleScales,
        menu: Menu::Axis,
        text: "Independent y-axes",
        tooltip: "Scale the y-axis of each lane separately",
        shortcut: Some(plain(Key::Y)),
    },
    CommandRow {
        command: UiCommand::ToggleWheel,
        menu: Menu::Axis,
        text: "Zoom with plain wheel",
        tooltip: "Zoom time with the wheel alone instead of Ctrl + wheel",
        shortcut: None,
    },
    color(
        ColorBy::Tensor,
        "Color by tensor",
        "A tensor keeps its color in all lanes and runs",
    ),
    color(
        ColorBy::By(Attribute::Role),
        "Color by role",
        "Activations, weights, inputs, workspaces and so on",
    ),
    color(
        ColorBy::By(Attribute::OpType),
        "Color by op type",
        "Type of the op that computes a tensor",
    ),
    color(
        ColorBy::By(Attribute::DType),
        "Color by data type",
        "Element type of a tensor",
    ),
    color(
        ColorBy::By(Attribute::Phase),
        "Color by phase",
        "Forward, backward, optimizer",
    ),
    color(
        ColorBy::By(Attribute::Scope),
        "Color by scope",
        "First names of a tensor's path",
    ),
    recorded_color(
        Attribute::CallSite,
        "Color by call site",
        "Line of the program that asked for a recorded block",
    ),
    recorded_color(
        Attribute::File,
        "Color by file",
        "Source file of the call site of a recorded block",
    ),
    recorded_color(
        Attribute::Function,
        "Color by function",
        "Function of the call site of a recorded block",
    ),
    recorded_color(
        Attribute::Module,
        "Color by module",
        "Python module of the call site of a recorded block",
    ),
    recorded_color(
        Attribute::Category,
        "Color by category",
        "What recorded blocks are for (inferred): parameter, gradient, optimizer state, activation, input, temporary",
    ),
    recorded_color(
        Attribute::Pool,
        "Color by pool",
        "Kind of the segment of a recorded block, with its private pool",
    ),
    recorded_color(
        Attribute::Annotation,
        "Color by annotation",
        "Innermost annotation at the allocation of a recorded block",
    ),
    recorded_color(
        Attribute::CompileContext,
        "Color by compile context",
        "What was being compiled when a recorded block was allocated",
    ),
    recorded_color(
        Attribute::UserMetadata,
        "Color by user metadata",
        "The user's note on the allocation of a recorded block",
    ),
    color(ColorBy::By(Attribute::Size), "Color by size", "Size classes"),
    color(
        ColorBy::By(Attribute::Lifetime),
        "Color by lifetime",
        "Classes of the number of live steps",
    ),
    CommandRow {
        command: UiCommand::ToggleDetails,
        menu: Menu::Lanes,
        text: "Details",
        tooltip: "Hide or show the tabs next to the inspector",
        shortcut: Some(plain(Key::Q)),
    },
    CommandRow {
        command: UiCommand::MaximizeLanes,
        menu: Menu::Lanes,
        text: "Lanes alone / all panes",
        tooltip: "Show the lanes in the whole window, or all panes",
        shortcut: Some(plain(Key::F11)),
    },
    CommandRow {
        command: UiCommand::ResetLayout,
        menu: Menu::View,
        text: "Reset layout",
        tooltip: "Restore the default layout of panes",
        shortcut: None,
    },
    CommandRow {
        command: UiCommand::Larger,
        menu: Menu::View,
        text: "Larger",
        tooltip: "Scale everything up by a tenth",
        shortcut: Some(ctrl(Key::Plus)),
    },
    CommandRow {
        command: UiCommand::Smaller,
        menu: Menu::View,
        text: "Smaller",
        tooltip: "Scale everything down by a tenth",
        shortcut: Some(ctrl(Key::Minus)),
    },
    CommandRow {
        command: UiCommand::UsualSize,
        menu: Menu::View,
        text: "Default size",
        tooltip: "Restore the default scale",
        shortcut: Some(ctrl(Key::Num0)),
    },
    CommandRow {
        command: UiCommand::ToggleTheme,
        menu: Menu::View,
        text: "Light / dark",
        tooltip: "Change the theme",
        shortcut: Some(ctrl(Key::T)),
    },
    CommandRow {
        command: UiCommand::Search,
        menu: Menu::Find,
        text: "Find tensors",
        tooltip: "Find tensors by name, op, size, lifetime and more; matches are outlined, the rest is dimmed",
        shortcut: Some(plain(Key::Slash)),
    },
    CommandRow {
        command: UiCommand::ZoomToSelection,
        menu: Menu::Find,
        text: "Zoom to the selected tensor",
        tooltip: "Show its lifetime and addresses in the drawing; once more, everything",
        shortcut: Some(plain(Key::F)),
    },
    CommandRow {
        command: UiCommand::PreviousSelection,
        menu: Menu::Find,
        text: "Previous selection",
        tooltip: "Select the previously selected tensor",
        shortcut: Some(KeyboardShortcut::new(Modifiers::ALT, Key::ArrowLeft)),
    },
    CommandRow {
        command: UiCommand::NextSelection,
        menu: Menu::Find,
        text: "Next selection",
        tooltip: "Select the next tensor of the selection history",
        shortcut: Some(KeyboardShortcut::new(Modifiers::ALT, Key::ArrowRight)),
    },
    CommandRow {
        command: UiCommand::SearchOptions,
        menu: Menu::Find,
        text: "Search options",
        tooltip: "Move the keyboard focus to the option search",
        shortcut: Some(ctrl(Key::F)),
    },
    CommandRow {
        command: UiCommand::Undo,
        menu: Menu::Edit,
        text: "Undo",
        tooltip: "Undo the last edit of options, environment or schedule",
        shortcut: Some(ctrl(Key::Z)),
    },
    CommandRow {
        command: UiCommand::Redo,
        menu: Menu::Edit,
        text: "Redo",
        tooltip: "Redo the last undone edit",
        shortcut: Some(KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::Z)),
    },
    CommandRow {
        command: UiCommand::AddRun,
        menu: Menu::Edit,
        text: "Add run to schedule",
        tooltip: "Append a run of the first graph",
        shortcut: None,
    },
    CommandRow {
        command: UiCommand::ListGraphs,
        menu: Menu::Edit,
        text: "List all graphs in schedule",
        tooltip: "Start from the default schedule: each graph once",
        shortcut: None,
    },
    CommandRow {
        command: UiCommand::PinConfiguration,
        menu: Menu::Edit,
        text: "Pin this configuration…",
        tooltip: "Store options, environment and schedule under a name, as a lane to compare with",
        shortcut: Some(ctrl(Key::D)),
    },
    CommandRow {
        command: UiCommand::Bookmark,
        menu: Menu::Edit,
        text: "Bookmark step",
        tooltip: "Save the pinned step, or the one under the pointer, with a note",
        shortcut: Some(ctrl(Key::B)),
    },
    CommandRow {
        command: UiCommand::GotoStep,
        menu: Menu::Find,
        text: "Go to step…",
        tooltip: "Type a step to pin it in all lanes; +100 and -100 are relative to the pinned step",
        shortcut: Some(plain(Key::G)),
    },
    CommandRow {
        command: UiCommand::NextProblem,
        menu: Menu::Find,
        text: "Next problem",
        tooltip: "Go to the field of the next finding",
        shortcut: Some(plain(Key::F8)),
    },
    CommandRow {
        command: UiCommand::ResetOptions,
        menu: Menu::Edit,
        text: "Reset all options",
        tooltip: "Reset every option to its default and clear the environment",
        shortcut: None,
    },
    CommandRow {
        command: UiCommand::OpenPalette,
        menu: Menu::Help,
        text: "All commands…",
        tooltip: "Find a command, pane, option, sample or recent file by name",
        shortcut: Some(KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::P)),
    },
    CommandRow {
        command: UiCommand::Documentation,
        menu: Menu::Help,
        text: "Documentation, what is new",
        tooltip: "Read and search the pages of the documentation, the version and what is new; nothing is fetched",
        shortcut: Some(KeyboardShortcut::new(Modifiers::SHIFT, Key::F1)),
    },
    CommandRow {
        command: UiCommand::ToggleHelp,
        menu: Menu::Help,
        text: "Keys and gestures",
        tooltip: "List keys and mouse gestures",
        shortcut: Some(plain(Key::Questionmark)),
    },
];
