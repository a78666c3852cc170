//! The commands of ranges and rulers.

use eframe::egui::{Key, KeyboardShortcut, Modifiers};

use super::{CommandRow, Menu, UiCommand};
use crate::lanes::Measuring;

const fn row(how: Measuring, text: &'static str, tooltip: &'static str, key: Option<Key>) -> CommandRow {
    let shortcut = match key {
        Some(key) => Some(KeyboardShortcut::new(Modifiers::SHIFT, key)),
        None => None,
    };
    CommandRow {
        command: UiCommand::Measure(how),
        menu: Menu::Measure,
        text,
        tooltip,
        shortcut,
    }
}

/// Ranges first, then rulers.
pub(super) const MEASURING: &[CommandRow] = &[
    row(
        Measuring::RangeStart,
        "Range begins here",
        "the selected range begins at the pinned step, or at the one that was pointed at last",
        Some(Key::J),
    ),
    row(
        Measuring::RangeEnd,
        "Range ends here",
        "the selected range ends with the pinned step, or with the one that was pointed at last",
        Some(Key::K),
    ),
    row(
        Measuring::RangeOfLife,
        "Range of the selected tensor's life",
        "select the steps on which the selected tensor is held",
        Some(Key::L),
    ),
    CommandRow {
        shortcut: Some(KeyboardShortcut::new(Modifiers::NONE, Key::Z)),
        ..row(
            Measuring::ZoomToRange,
            "Zoom to range",
            "show the steps of the selected range, or those that a ruler measures",
            None,
        )
    },
    row(
        Measuring::ClearRange,
        "Clear range",
        "let the selected steps go; Esc does so too, after the rulers",
        None,
    ),
    row(
        Measuring::TimeFrom,
        "Ruler: measure time from here",
        "a ruler begins at the pinned step, or at the one that was pointed at last",
        Some(Key::R),
    ),
    row(
        Measuring::TimeTo,
        "Ruler: measure time to here",
        "the ruler ends with the pinned step: how many steps, how long, and what is live more or less behind them",
        Some(Key::E),
    ),
    row(
        Measuring::BytesOf,
        "Ruler: measure bytes of the selected tensor",
        "a ruler from the lowest to the highest address of the selected tensor",
        Some(Key::T),
    ),
    row(
        Measuring::BytesTo,
        "Ruler: measure bytes to the selected tensor",
        "the ruler of bytes covers the selected tensor too: the distance of two tensors, both included",
        None,
    ),
    row(
        Measuring::ClearRulers,
        "Clear rulers",
        "take what was measured away, as Esc does",
        None,
    ),
];
