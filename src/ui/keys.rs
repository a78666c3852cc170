//! Maps pressed keys to commands, and states why a command is unavailable.

use eframe::egui::{self, Key, KeyboardShortcut, Modifiers};

use super::commands::{COMMANDS, UiCommand};
use super::dialogs::Purpose;
use super::lanes::Measuring;
use super::panels::lane_set::kind_words;
use super::panes::Pane;
use highwater_session::Session;

/// Additional shortcuts.
pub(super) static ALIASES: &[(KeyboardShortcut, UiCommand)] = &[
    (
        KeyboardShortcut::new(Modifiers::COMMAND, Key::P),
        UiCommand::OpenPalette,
    ),
    (
        KeyboardShortcut::new(Modifiers::SHIFT, Key::Q),
        UiCommand::MaximizeLanes,
    ),
    (
        KeyboardShortcut::new(Modifiers::COMMAND, Key::Equals),
        UiCommand::Larger,
    ),
];

/// Why a command is unavailable; `None` where it is available.
pub(super) fn why_not(command: UiCommand, session: &Session) -> Option<&'static str> {
    if let Some(why) = pane_of(command).and_then(|pane| pane.why_not(session)) {
        return Some(why);
    }
    let (can_undo, can_redo) = session.can_undo_redo();
    let (is_possible, why) = match command {
        UiCommand::Undo => (can_undo, "there is nothing to undo"),
        UiCommand::Redo => (can_redo, "there is nothing to redo"),
        UiCommand::PreviousSelection => (session.selection_ways().0, "there is no earlier selection"),
        UiCommand::NextSelection => (session.selection_ways().1, "there is no later selection"),
        UiCommand::NextProblem => {
            let mut findings = session.findings().iter();
            (
                findings.any(|finding| !finding.options.is_empty()),
                "no option breaks a rule",
            )
        }
        UiCommand::ResetOptions => {
            let document = session.document();
            let is_set = document.options.overrides().next().is_some()
                || document.environment.iter().next().is_some()
                || !document.unknown_options.is_empty();
            (is_set, "every option has its default")
        }
        UiCommand::Save | UiCommand::SaveAs => (!session.document().sources.is_empty(), "nothing is open"),
        UiCommand::LocateSources => (
            !session.source_troubles().is_empty(),
            "no source of the document is missing or changed",
        ),
        UiCommand::ListGraphs if !session.document().plan.entries.is_empty() => {
            (false, "the schedule already lists runs")
        }
        UiCommand::AddRun | UiCommand::ListGraphs => (has_graphs(session), "no graph is open"),
        UiCommand::NextLanes => (
            kind_words(session).is_some(),
            "the open files have only one kind of lanes",
        ),
        UiCommand::ZoomToSelection => (session.selection().is_some(), "no tensor is selected"),
        UiCommand::Measure(Measuring::RangeOfLife | Measuring::BytesOf | Measuring::BytesTo) => {
            (session.selection().is_some(), "no tensor is selected")
        }
        UiCommand::NextDifference => (
            session
                .answer()
                .is_some_and(|(comparison, _)| comparison.lanes.len() > 1),
            "there is no other lane",
        ),
        UiCommand::AskPath(Purpose::Export(_) | Purpose::ExportTable)
        | UiCommand::Measure(_)
        | UiCommand::BudgetSweep
        | UiCommand::Sweep
        | UiCommand::Recommend
        | UiCommand::ExportLane
        | UiCommand::DrawLane
        | UiCommand::ExportPeak
        | UiCommand::ExportFlame
        | UiCommand::Bookmark
        | UiCommand::GotoStep => (session.answer().is_some(), "no result is available yet"),
        UiCommand::AskPath(_)
        | UiCommand::OpenPath
        | UiCommand::ExportConfig
        | UiCommand::CopyCommandLine
        | UiCommand::SayCopied(_)
        | UiCommand::Search
        | UiCommand::TogglePane(_)
        | UiCommand::ShowPane(_)
        | UiCommand::OpenOrClosePane(_)
        | UiCommand::ExplainLane(_)
        | UiCommand::ShowLaneAlone(_)
        | UiCommand::ShowAllLanes
        | UiCommand::ShowOption(_)
        | UiCommand::PinStep(_)
        | UiCommand::CopyPeak
        | UiCommand::SearchOptions
        | UiCommand::ToggleTheme
        | UiCommand::ToggleLayout
        | UiCommand::ToggleView
        | UiCommand::NextAxis
        | UiCommand::NextRows
        | UiCommand::PinConfiguration
        | UiCommand::ToggleHoles
        | UiCommand::NextEdges
        | UiCommand::ToggleEvents
        | UiCommand::ToggleScales
        | UiCommand::ToggleWheel
        | UiCommand::ColorBy(_)
        | UiCommand::OpenPalette
        | UiCommand::ToggleDetails
        | UiCommand::MaximizeLanes
        | UiCommand::ResetLayout
        | UiCommand::Larger
        | UiCommand::Smaller
        | UiCommand::UsualSize
        | UiCommand::ForgetRecent
        | UiCommand::ToggleHelp
        | UiCommand::Documentation
        | UiCommand::Quit => (true, ""),
    };
    (!is_possible).then_some(why)
}

/// Commands that work in a pane.
const IN_PANES: [(UiCommand, Pane); 4] = [
    (UiCommand::ExportFlame, Pane::Flame),
    (UiCommand::BudgetSweep, Pane::Budgets),
    (UiCommand::Sweep, Pane::Sweep),
    (UiCommand::Recommend, Pane::Sweep),
];

/// The pane that a command shows.
pub(super) fn pane_of(command: UiCommand) -> Option<Pane> {
    if let UiCommand::TogglePane(pane) | UiCommand::ShowPane(pane) | UiCommand::OpenOrClosePane(pane) = command {
        return Some(pane);
    }
    let (_, pane) = IN_PANES.iter().find(|(known, _)| *known == command)?;
    Some(*pane)
}

/// Whether Esc closes a modal or popup, or leaves a text field.
pub(super) fn is_covered(ctx: &egui::Context) -> bool {
    ctx.text_edit_focused() || egui::Popup::is_any_open(ctx) || ctx.memory(|memory| memory.top_modal_layer().is_some())
}

fn has_graphs(session: &Session) -> bool {
    let loaded = session.loaded();
    loaded.is_some_and(|loaded| !loaded.whole.scheduled_graphs().is_empty())
}

/// Restrictions on shortcuts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Keyboard {
    /// A dialog is open and takes letters.
    pub(super) is_in_dialog: bool,
    /// A text field without a setting has the focus: it takes letters, undo and redo.
    pub(super) is_elsewhere: bool,
    /// The drawing has the focus: keys without Ctrl act.
    pub(super) is_in_drawing: bool,
}

/// Collects the commands whose shortcuts are pressed. Keys without Ctrl or Alt act while the drawing has the focus; those
/// of the search, the help and the zoom to the selection act unless somebody types.
pub(super) fn keys(ui: &egui::Ui, keyboard: Keyboard, window_commands: &mut Vec<UiCommand>) {
    // Letters typed behind the palette's shortcut in the same frame belong to the palette.
    let opens_palette = !keyboard.is_in_dialog && opens_palette(ui);
    if opens_palette {
        window_commands.push(UiCommand::OpenPalette);
    }
    let is_typing = ui.ctx().text_edit_focused() || keyboard.is_in_dialog || opens_palette;
    let rows = COMMANDS.iter().filter_map(|row| Some((row.shortcut?, row.command)));
    let all = rows.chain(ALIASES.iter().copied());
    // A shortcut with Shift comes first: the one without would take its keys too.
    let (with_shift, without): (Vec<_>, Vec<_>) = all.partition(|(shortcut, _)| shortcut.modifiers.shift);
    for (shortcut, command) in with_shift.into_iter().chain(without) {
        // Function keys work while a text field has the focus.
        let has_letter = !matches!(shortcut.logical_key, Key::F1 | Key::F8 | Key::F11);
        let is_letter = has_letter && !shortcut.modifiers.command && !shortcut.modifiers.alt;
        let is_mark = matches!(shortcut.logical_key, Key::Questionmark | Key::Slash);
        // The selection is one of the whole window.
        let is_anywhere = is_mark || command == UiCommand::ZoomToSelection;
        if is_letter && (is_typing || !(keyboard.is_in_drawing || is_anywhere)) {
            continue;
        }
        // The field undoes its own edits.
        if keyboard.is_elsewhere && matches!(command, UiCommand::Undo | UiCommand::Redo) {
            continue;
        }
        let is_pressed = if is_mark {
            // Whether these keys need Shift depends on the keyboard layout.
            letter_pressed(ui, shortcut.logical_key)
        } else {
            ui.input_mut(|input| input.consume_shortcut(&shortcut))
        };
        if is_pressed {
            window_commands.push(command);
        }
    }
}

/// Whether a shortcut of the palette is pressed; consumes it.
fn opens_palette(ui: &egui::Ui) -> bool {
    let rows = COMMANDS.iter().filter(|row| row.command == UiCommand::OpenPalette);
    let own = rows.filter_map(|row| row.shortcut);
    let others = ALIASES.iter().filter(|(_, command)| *command == UiCommand::OpenPalette);
    let mut shortcuts = own.chain(others.map(|(shortcut, _)| *shortcut));
    shortcuts.any(|shortcut| ui.input_mut(|input| input.consume_shortcut(&shortcut)))
}

/// Whether a letter is pressed, with or without Shift; a field focused in this frame does not receive a slash.
fn letter_pressed(ui: &egui::Ui, key: Key) -> bool {
    ui.input_mut(|input| {
        let is_pressed = !input.modifiers.command && input.key_pressed(key);
        if is_pressed && key == Key::Slash {
            let is_slash = |event: &egui::Event| matches!(event, egui::Event::Text(text) if text == "/");
            input.events.retain(|event| !is_slash(event));
        }
        is_pressed
    })
}
