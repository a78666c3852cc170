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
    let (purpose, shortcut) = match row.form {
        ExportForm::Config => (Purpose::ExportConfig, Some(ctrl(Key::E))),
        ExportForm::Report => (Purpose::Export(row.form), Some(KeyboardShortcut::new(shift, Key::E))),
        ExportForm::Timeline | ExportForm::Tensors | ExportForm::Plan | ExportForm::Trace => {
            (Purpose::Export(row.form), None)
        }
    };
    CommandRow {
        command: UiCommand::AskPath(purpose),
        menu: Menu::File,
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
        tooltip: "choose graphs to look at, or a document",
        shortcut: Some(ctrl(Key::O)),
    },
    CommandRow {
        command: UiCommand::AskPath(Purpose::Add),
        menu: Menu::File,
        text: "Add graph to session…",
        tooltip: "run another graph after the ones that are open",
        shortcut: Some(KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::O)),
    },
    CommandRow {
        command: UiCommand::AskPath(Purpose::OpenFolder),
        menu: Menu::File,
        text: "Open folder…",
        tooltip: "choose a folder, such as a profiler's or a SavedModel: everything in it that can be read is opened",
        shortcut: Some(KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::F)),
    },
    CommandRow {
        command: UiCommand::OpenPath,
        menu: Menu::File,
        text: "Open path…",
        tooltip: "type the path of a file or folder, and choose its format",
        shortcut: Some(ctrl(Key::L)),
    },
    CommandRow {
        command: UiCommand::Save,
        menu: Menu::File,
        text: "Save document",
        tooltip: "write what is open with all its settings as a document (.highwater): where it lies, or where you say",
        shortcut: Some(ctrl(Key::S)),
    },
    CommandRow {
        command: UiCommand::SaveAs,
        menu: Menu::File,
        text: "Save document as…",
        tooltip: "write the document to another file, and go on with that one",
        shortcut: Some(KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::S)),
    },
    CommandRow {
        command: UiCommand::LocateSources,
        menu: Menu::File,
        text: "Locate sources…",
        tooltip: "list files of the document that are gone or changed, and say where they are",
        shortcut: None,
    },
];

/// Commands behind the exports.
const PLAIN: &[CommandRow] = &[
    CommandRow {
        command: UiCommand::AskPath(Purpose::ImportConfig),
        menu: Menu::File,
        text: "Import configuration…",
        tooltip: "read a configuration: JSON, a Python training script, or a shell script",
        shortcut: Some(ctrl(Key::I)),
    },
    CommandRow {
        command: UiCommand::AskPath(Purpose::ExportTable),
        menu: Menu::File,
        text: "Export table as CSV…",
        tooltip: "write the table that was listed last, whole and in its order, with plain numbers",
        shortcut: None,
    },
    CommandRow {
        command: UiCommand::ExportPeak,
        menu: Menu::File,
        text: "Export explained step…",
        tooltip: "write who is live at the step of the pane Peak: .csv the tensors, .json everything, .txt a text",
        shortcut: None,
    },
    CommandRow {
        command: UiCommand::CopyCommandLine,
        menu: Menu::File,
        text: "Copy as command line",
        tooltip: "copy the command that prints these figures",
        shortcut: Some(KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::C)),
    },
    CommandRow {
        command: UiCommand::AskPath(Purpose::SavePicture(None)),
        menu: Menu::File,
        text: "Save picture of window…",
        tooltip: "write the window as it is seen, as PNG",
        shortcut: None,
    },
    CommandRow {
        command: UiCommand::ExportLane,
        menu: Menu::File,
        text: "Save picture of lane…",
        tooltip: "write the lane that was clicked last (the first unless one was) as it is seen, as PNG",
        shortcut: None,
    },
    CommandRow {
        command: UiCommand::DrawLane,
        menu: Menu::File,
        text: "Save drawing of lane…",
        tooltip: "write curve and memory map of the lane that was clicked last (the first unless one was), as far as they are in view, as SVG, text as text",
        shortcut: None,
    },
    CommandRow {
        command: UiCommand::ForgetRecent,
        menu: Menu::File,
        text: "Forget recent files",
        tooltip: "empty the list of files that were opened",
        shortcut: None,
    },
    CommandRow {
        command: UiCommand::Quit,
        menu: Menu::File,
        text: "Quit",
        tooltip: "end the program",
        shortcut: Some(ctrl(Key::Q)),
    },
    CommandRow {
        command: UiCommand::ToggleView,
        menu: Menu::View,
        text: "Memory map / areas / lifetimes",
        tooltip: "show addresses by time, what groups hold, or one row per tensor",
        shortcut: Some(plain(Key::V)),
    },
    CommandRow {
        command: UiCommand::ToggleLayout,
        menu: Menu::View,
        text: "Lanes stacked / side by side",
        tooltip: "how the four policies are laid out",
        shortcut: Some(plain(Key::L)),
    },
    CommandRow {
        command: UiCommand::NextAxis,
        menu: Menu::View,
        text: "Axis: program order / estimated time / wall time",
        tooltip: "what the time axis of all lanes counts, as far as the data has times",
        shortcut: Some(plain(Key::U)),
    },
    CommandRow {
        command: UiCommand::NextRows,
        menu: Menu::View,
        text: "Order of rows: next",
        tooltip: "show lifetimes, sorted by the next of birth, size, lifetime and scope",
        shortcut: None,
    },
    CommandRow {
        command: UiCommand::NextLanes,
        menu: Menu::View,
        text: "Compare policies / budgets / name reuse",
        tooltip: "what the lanes are compared for",
        shortcut: Some(plain(Key::C)),
    },
    CommandRow {
        command: UiCommand::NextDifference,
        menu: Menu::View,
        text: "Difference of lanes: next / none",
        tooltip: "the lane that was clicked last (the first unless one was) less another lane, step by step; again: the next one, at last none",
        shortcut: Some(KeyboardShortcut::new(Modifiers::SHIFT, Key::C)),
    },
    CommandRow {
        command: UiCommand::TogglePane(Pane::Budgets),
        menu: Menu::View,
        text: "Budgets / lanes",
        tooltip: "what running under less memory costs, for every heuristic of rematerialization, or the lanes",
        shortcut: Some(plain(Key::B)),
    },
    CommandRow {
        command: UiCommand::BudgetSweep,
        menu: Menu::View,
        text: "Sweep budgets: start / stop",
        tooltip: "run the graph under many memory budgets by every heuristic, or stop doing so",
        shortcut: Some(KeyboardShortcut::new(Modifiers::SHIFT, Key::B)),
    },
    CommandRow {
        command: UiCommand::TogglePane(Pane::Sweep),
        menu: Menu::View,
        text: "Sweep / lanes",
        tooltip: "many configurations beside each other, and the one to take, or the lanes",
        shortcut: Some(ctrl(Key::M)),
    },
    CommandRow {
        command: UiCommand::Sweep,
        menu: Menu::View,
        text: "Try configurations: start / stop",
        tooltip: "simulate every configuration of the axes in the pane Sweep, or stop doing so",
        shortcut: Some(KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::M)),
    },
    CommandRow {
        command: UiCommand::Recommend,
        menu: Menu::View,
        text: "Recommend a configuration",
        tooltip: "name the best configuration of the axes in the pane Sweep for its goal, and say why",
        shortcut: Some(KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::G)),
    },
    CommandRow {
        command: UiCommand::TogglePane(Pane::Files),
        menu: Menu::View,
        text: "Import report / problems",
        tooltip: "what was read of each file and what was left out, or the problems",
        shortcut: Some(plain(Key::I)),
    },
    CommandRow {
        command: UiCommand::TogglePane(Pane::Tables),
        menu: Menu::View,
        text: "Tables / problems",
        tooltip: "tensors, ops, what is live at a step and events as tables, or the problems",
        shortcut: Some(plain(Key::X)),
    },
    CommandRow {
        command: UiCommand::TogglePane(Pane::Schedule),
        menu: Menu::View,
        text: "Schedule / problems",
        tooltip: "the graphs of the session and what runs when, or the problems",
        shortcut: Some(ctrl(Key::R)),
    },
    CommandRow {
        command: UiCommand::TogglePane(Pane::NameReuse),
        menu: Menu::View,
        text: "Name reuse / lanes",
        tooltip: "what memory_optimize does to the graph, with its log line by line, or the lanes",
        shortcut: Some(plain(Key::N)),
    },
    CommandRow {
        command: UiCommand::TogglePane(Pane::Compare),
        menu: Menu::View,
        text: "Compare / problems",
        tooltip: "lanes side by side with differences from one of them, pinned configurations, what peaks hold otherwise",
        shortcut: Some(KeyboardShortcut::new(Modifiers::SHIFT, Key::V)),
    },
    CommandRow {
        command: UiCommand::TogglePane(Pane::Planner),
        menu: Menu::View,
        text: "Planner / inspector",
        tooltip: "compare the strategies that place an arena, or look at one tensor",
        shortcut: Some(plain(Key::P)),
    },
    CommandRow {
        command: UiCommand::TogglePane(Pane::Device),
        menu: Menu::View,
        text: "Device / inspector",
        tooltip: "what the device holds at the step under the pointer or at a pinned step: parts, pools, free lists, regions",
        shortcut: Some(plain(Key::M)),
    },
    CommandRow {
        command: UiCommand::TogglePane(Pane::MeasuredRun),
        menu: Menu::View,
        text: "Measured / inspector",
        tooltip: "by how much simulated peaks are off from a measured run, and what can be learned of it, or the inspector",
        shortcut: Some(KeyboardShortcut::new(Modifiers::SHIFT, Key::M)),
    },
    CommandRow {
        command: UiCommand::TogglePane(Pane::Peak),
        menu: Menu::View,
        text: "Peak / inspector",
        tooltip: "who is live at the peak, at the pinned step or in the selected range, and what would lower it; bookmarks",
        shortcut: Some(KeyboardShortcut::new(Modifiers::SHIFT, Key::P)),
    },
    CommandRow {
        command: UiCommand::ToggleHoles,
        menu: Menu::View,
        text: "Holes",
        tooltip: "mark what is free between live blocks in the memory maps",
        shortcut: Some(plain(Key::O)),
    },
    CommandRow {
        command: UiCommand::NextEdges,
        menu: Menu::View,
        text: "Reuse edges: off / selection / peak step",
        tooltip: "draw who took over whose bytes",
        shortcut: Some(plain(Key::E)),
    },
    CommandRow {
        command: UiCommand::ToggleEvents,
        menu: Menu::View,
        text: "Device events",
        tooltip: "mark what the device and the pools did between curve and map; without them lanes have more room",
        shortcut: None,
    },
    CommandRow {
        command: UiCommand::ToggleScales,
        menu: Menu::View,
        text: "Own scales",
        tooltip: "every lane on a vertical scale of its own, instead of one for all",
        shortcut: Some(plain(Key::Y)),
    },
    CommandRow {
        command: UiCommand::ToggleWheel,
        menu: Menu::View,
        text: "Plain wheel zooms",
        tooltip: "the wheel alone zooms time over lanes and rulers; without this it does so with Ctrl",
        shortcut: None,
    },
    color(
        ColorBy::Tensor,
        "Colour by tensor",
        "a tensor keeps its colour in all lanes and runs",
    ),
    color(
        ColorBy::By(Attribute::Role),
        "Colour by role",
        "activations, weights, inputs, workspaces and so on",
    ),
    color(
        ColorBy::By(Attribute::OpType),
        "Colour by op type",
        "the type of the op that computes a tensor",
    ),
    color(
        ColorBy::By(Attribute::DType),
        "Colour by data type",
        "the element type of a tensor",
    ),
    color(
        ColorBy::By(Attribute::Phase),
        "Colour by phase",
        "forward, backward, optimizer",
    ),
    color(
        ColorBy::By(Attribute::Scope),
        "Colour by scope",
        "the first names of a tensor's path; of a recorded block the place in the source that asked",
    ),
    color(
        ColorBy::By(Attribute::Size),
        "Colour by size",
        "how many bytes, in classes",
    ),
    color(
        ColorBy::By(Attribute::Lifetime),
        "Colour by lifetime",
        "for how many steps a tensor is held, in classes",
    ),
    CommandRow {
        command: UiCommand::ToggleDetails,
        menu: Menu::View,
        text: "Details",
        tooltip: "put the panes beside the inspector aside, or bring them back",
        shortcut: Some(plain(Key::Q)),
    },
    CommandRow {
        command: UiCommand::MaximizeLanes,
        menu: Menu::View,
        text: "Lanes alone / all panes",
        tooltip: "give the lanes the whole window, and back",
        shortcut: Some(plain(Key::F11)),
    },
    CommandRow {
        command: UiCommand::ResetLayout,
        menu: Menu::View,
        text: "Reset layout",
        tooltip: "put every pane where it stood at first",
        shortcut: None,
    },
    CommandRow {
        command: UiCommand::Larger,
        menu: Menu::View,
        text: "Larger",
        tooltip: "everything a tenth larger",
        shortcut: Some(ctrl(Key::Plus)),
    },
    CommandRow {
        command: UiCommand::Smaller,
        menu: Menu::View,
        text: "Smaller",
        tooltip: "everything a tenth smaller",
        shortcut: Some(ctrl(Key::Minus)),
    },
    CommandRow {
        command: UiCommand::UsualSize,
        menu: Menu::View,
        text: "Usual size",
        tooltip: "everything as large as at first",
        shortcut: None,
    },
    CommandRow {
        command: UiCommand::ToggleTheme,
        menu: Menu::View,
        text: "Light / dark",
        tooltip: "change the theme",
        shortcut: Some(ctrl(Key::T)),
    },
    CommandRow {
        command: UiCommand::Search,
        menu: Menu::Edit,
        text: "Find tensors",
        tooltip: "look for tensors by name, op, size, life and more; matches are outlined, the rest is dimmed",
        shortcut: Some(plain(Key::Slash)),
    },
    CommandRow {
        command: UiCommand::PreviousSelection,
        menu: Menu::Edit,
        text: "Previous selection",
        tooltip: "select the tensor that was selected before",
        shortcut: Some(KeyboardShortcut::new(Modifiers::ALT, Key::ArrowLeft)),
    },
    CommandRow {
        command: UiCommand::NextSelection,
        menu: Menu::Edit,
        text: "Next selection",
        tooltip: "forth again, to what was selected after it",
        shortcut: Some(KeyboardShortcut::new(Modifiers::ALT, Key::ArrowRight)),
    },
    CommandRow {
        command: UiCommand::SearchOptions,
        menu: Menu::Edit,
        text: "Search options",
        tooltip: "put the keyboard into the option search",
        shortcut: Some(ctrl(Key::F)),
    },
    CommandRow {
        command: UiCommand::Undo,
        menu: Menu::Edit,
        text: "Undo",
        tooltip: "take back the last edit of options, environment or schedule",
        shortcut: Some(ctrl(Key::Z)),
    },
    CommandRow {
        command: UiCommand::Redo,
        menu: Menu::Edit,
        text: "Redo",
        tooltip: "make the edit again that was taken back last",
        shortcut: Some(KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::Z)),
    },
    CommandRow {
        command: UiCommand::AddRun,
        menu: Menu::Edit,
        text: "Add a run to the schedule",
        tooltip: "a run of the first graph, behind the others",
        shortcut: None,
    },
    CommandRow {
        command: UiCommand::ListGraphs,
        menu: Menu::Edit,
        text: "List every graph in the schedule",
        tooltip: "as it runs without a schedule: each graph once, to be changed from there",
        shortcut: None,
    },
    CommandRow {
        command: UiCommand::PinConfiguration,
        menu: Menu::Edit,
        text: "Pin this configuration…",
        tooltip: "keep options, environment and schedule under a name, as a lane to compare with",
        shortcut: Some(ctrl(Key::D)),
    },
    CommandRow {
        command: UiCommand::Bookmark,
        menu: Menu::Edit,
        text: "Bookmark step",
        tooltip: "keep the pinned step, or the one under the pointer, with a note",
        shortcut: Some(ctrl(Key::B)),
    },
    CommandRow {
        command: UiCommand::GotoStep,
        menu: Menu::Edit,
        text: "Go to step…",
        tooltip: "type a step to pin it in all lanes; +100 and -100 go on from the pinned one",
        shortcut: Some(plain(Key::G)),
    },
    CommandRow {
        command: UiCommand::NextProblem,
        menu: Menu::Edit,
        text: "Next problem",
        tooltip: "go to the field of the next finding",
        shortcut: Some(plain(Key::F8)),
    },
    CommandRow {
        command: UiCommand::ResetOptions,
        menu: Menu::Edit,
        text: "Reset all options",
        tooltip: "give every option its default and empty the environment",
        shortcut: None,
    },
    CommandRow {
        command: UiCommand::OpenPalette,
        menu: Menu::Help,
        text: "All commands…",
        tooltip: "find a command, a pane, an option, a sample or a recent file by its name",
        shortcut: Some(KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::P)),
    },
    CommandRow {
        command: UiCommand::ToggleHelp,
        menu: Menu::Help,
        text: "Keys and gestures",
        tooltip: "list what keys and mouse do",
        shortcut: Some(plain(Key::Questionmark)),
    },
];
