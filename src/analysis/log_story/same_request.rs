//! A failed request of which a text and a recorded history both tell counts once: as the history has it, exact and replayed.
//!
//! Texts round figures to two decimals, so equal figures differ by less than a hundredth of a unit; a request without a figure of
//! the allocator in both is not taken for the same.

use super::ProcessStory;
use highwater_model::workload::LoggedFailure;

/// A text writes `1.00 GiB`: at most half a hundredth away from the exact figure.
const ROUNDED_TO: u64 = 200;

fn agrees(text: u64, exact: u64) -> bool {
    text.abs_diff(exact) <= text.max(exact) / ROUNDED_TO
}

fn is_same(text: &LoggedFailure, recorded: &LoggedFailure) -> bool {
    let of_device = text.device.is_none() || recorded.device.is_none() || text.device == recorded.device;
    let is_request = text
        .requested
        .zip(recorded.requested)
        .is_some_and(|(text, exact)| agrees(text, exact));
    let figures = [
        text.reserved.zip(recorded.reserved),
        text.free.zip(recorded.free),
        text.total.zip(recorded.total),
    ];
    let mut figures = figures.into_iter().flatten().peekable();
    of_device
        && text.library == recorded.library
        && is_request
        && figures.peek().is_some()
        && figures.all(|(text, exact)| agrees(text, exact))
}

/// Takes requests of texts away that recorded histories have, and then texts that tell nothing else. O(texts x recorded).
pub(super) fn join(stories: &mut Vec<ProcessStory>) {
    let places = stories.iter().enumerate().filter(|(_, story)| story.recorder.is_some());
    let places = places.flat_map(|(at, story)| (0..story.requests.len()).map(move |request| (at, request)));
    let mut recorded: Vec<(usize, usize)> = places.collect();
    let mut emptied = Vec::new();
    for text in 0..stories.len() {
        if stories[text].recorder.is_some() {
            continue;
        }
        let (mut own, mut is_joined) = (Vec::new(), false);
        for request in std::mem::take(&mut stories[text].requests) {
            let same = recorded
                .iter()
                .position(|(at, other)| is_same(&request.failure, &stories[*at].requests[*other].failure));
            let Some(same) = same else {
                own.push(request);
                continue;
            };
            let (at, other) = recorded.remove(same);
            let remark = "The text tells of the same request.".to_owned();
            stories[at].requests[other].remarks.push(remark);
            is_joined = true;
        }
        stories[text].requests = own;
        if is_joined && !stories[text].states_memory() {
            emptied.push(text);
        }
    }
    for text in emptied.into_iter().rev() {
        stories.remove(text);
    }
}
