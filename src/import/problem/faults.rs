//! The findings of a problem's check in the words of the file: ids and times in place of positions and steps.

use crate::ImportError;
use highwater_model::workload::{ProblemEntry, ProblemError};

pub(crate) type Places<'a> = &'a dyn Fn(usize) -> String;

/// Faults that offsets alone cause: without them the problem is fine.
pub(super) fn is_about_offsets(error: &ProblemError) -> bool {
    matches!(
        error,
        ProblemError::FixedCollide { .. } | ProblemError::MisalignedOffset { .. } | ProblemError::SplitGroup { .. }
    )
}

pub(super) fn refusal(error: &ProblemError, entry: &ProblemEntry, places: Places<'_>) -> ImportError {
    let advice = match error {
        ProblemError::TooLarge => "such sizes are beyond every device; correct them",
        ProblemError::FixedCollide { .. } => "fix one of the two elsewhere, or leave its offset empty",
        ProblemError::NeverLive { .. } => "leave the buffer out, or shorten its gaps",
        _ => "correct the file",
    };
    ImportError::at(entry.sentence(error), place(error, entry, places), advice)
}

/// The place of an error: the second of two buffers, the largest where it is about all of them.
pub(super) fn place(error: &ProblemError, entry: &ProblemEntry, places: Places<'_>) -> String {
    let buffers = &entry.problem.buffers;
    match error {
        ProblemError::EmptyRange { buffer, .. }
        | ProblemError::ZeroAlignment { buffer }
        | ProblemError::MisalignedOffset { buffer, .. } => places(*buffer),
        ProblemError::BadGap { buffer, .. } | ProblemError::NeverLive { buffer } => places(*buffer as usize),
        ProblemError::BadGroup { group } => {
            let first = entry.problem.groups.get(*group).and_then(|group| group.first());
            places(first.map_or(0, |first| *first as usize))
        }
        ProblemError::SplitGroup { second, .. } => places(*second as usize),
        ProblemError::FixedCollide { second, .. } => places(*second),
        ProblemError::TooLarge => {
            let weight = |position: &usize| {
                let buffer = &buffers[*position];
                let rest = buffer.alignment.saturating_add(buffer.offset.unwrap_or(0));
                (buffer.size.get().saturating_add(rest), std::cmp::Reverse(*position))
            };
            let largest = (0..buffers.len()).max_by_key(weight);
            largest.map_or_else(String::new, |position| format!("{} (the largest)", places(position)))
        }
    }
}
