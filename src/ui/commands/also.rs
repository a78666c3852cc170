//! Search synonyms of commands, beyond the words of name and tooltip.

use super::UiCommand;
use crate::panes::Pane;

/// By command: lower case, separated by spaces.
const WORDS: &[(UiCommand, &str)] = &[
    (
        UiCommand::ToggleTheme,
        "theme appearance colour color scheme night mode",
    ),
    (
        UiCommand::TogglePane(Pane::Compare),
        "baseline against pins side by side",
    ),
    (UiCommand::PinConfiguration, "baseline snapshot keep"),
    (
        UiCommand::TogglePane(Pane::Device),
        "capacity device memory profile bandwidth",
    ),
    (UiCommand::GotoStep, "jump step number"),
    (UiCommand::Bookmark, "note annotation"),
    (UiCommand::Recommend, "best configuration optimize advice"),
    (UiCommand::Sweep, "sweep configurations grid search axes"),
    (
        UiCommand::BudgetSweep,
        "budgets rematerialisation rematerialization recomputation passes",
    ),
    (UiCommand::TogglePane(Pane::Tables), "list tensors ops events rows"),
    (
        UiCommand::TogglePane(Pane::Schedule),
        "runs order repeats iterations groups",
    ),
    (
        UiCommand::TogglePane(Pane::Flame),
        "call stack tree call site icicle who allocates python",
    ),
    (
        UiCommand::TogglePane(Pane::Log),
        "out of memory oom plog cann ticket explain",
    ),
    (UiCommand::TogglePane(Pane::Peak), "highest maximum who holds memory"),
    (UiCommand::Larger, "zoom in font size text"),
    (UiCommand::Smaller, "zoom out font size text"),
    (UiCommand::ToggleHelp, "shortcuts keyboard help"),
    (UiCommand::ResetLayout, "restore windows panes"),
    (UiCommand::SearchOptions, "find setting flag"),
    (UiCommand::CopyCommandLine, "cli terminal shell"),
];

/// Empty where a command has none.
pub fn also(command: UiCommand) -> &'static str {
    let row = WORDS.iter().find(|(known, _)| *known == command);
    row.map_or("", |(_, words)| words)
}
