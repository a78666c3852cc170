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
        "Start range here",
        "Start the selected range at the pinned step, or at the last step under the pointer",
        Some(Key::J),
    ),
    row(
        Measuring::RangeEnd,
        "End range here",
        "End the selected range with the pinned step, or with the last step under the pointer",
        Some(Key::K),
    ),
    row(
        Measuring::RangeOfLife,
        "Select the tensor's live range",
        "Select the steps on which the selected tensor is live",
        Some(Key::L),
    ),
    CommandRow {
        shortcut: Some(KeyboardShortcut::new(Modifiers::NONE, Key::Z)),
        ..row(
            Measuring::ZoomToRange,
            "Zoom to range",
            "Show the steps of the selected range or of the ruler",
            None,
        )
    },
    row(
        Measuring::ClearRange,
        "Clear range",
        "Clear the selected steps; Esc clears the rulers first, then the range",
        None,
    ),
    row(
        Measuring::TimeFrom,
        "Start time ruler here",
        "Measure time: start a ruler at the pinned step, or at the last step under the pointer",
        Some(Key::R),
    ),
    row(
        Measuring::TimeTo,
        "End time ruler here",
        "End the ruler at the pinned step: number of steps, time, and change of live bytes",
        Some(Key::E),
    ),
    row(
        Measuring::BytesOf,
        "Start byte ruler at the tensor",
        "Measure bytes: start a ruler over the address range of the selected tensor",
        Some(Key::T),
    ),
    row(
        Measuring::BytesTo,
        "Extend byte ruler to the tensor",
        "Extend the byte ruler to the selected tensor: the distance of two tensors, both included",
        None,
    ),
    row(
        Measuring::ClearRulers,
        "Clear rulers",
        "Remove the rulers, as Esc does",
        None,
    ),
];
