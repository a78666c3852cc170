//! A failed request of which a text and a recorded history both tell counts once: as the history has it, exact and replayed.
//!
//! Torch prints two decimals of KiB, MiB or GiB, so figures of one request differ by at most half of the last printed digit.

use super::ProcessStory;
use highwater_model::workload::LoggedFailure;

/// Half of the last digit of `1.00 GiB`, for each of the figures that a text adds up to one.
fn agrees(text: u64, exact: u64, n_figures: u64) -> bool {
    let unit = [30, 20, 10]
        .into_iter()
        .map(|bits| 1_u64 << bits)
        .find(|unit| text >= *unit);
    text.abs_diff(exact) <= n_figures * (unit.unwrap_or(1) / 200 + 1)
}

fn is_same(text: &LoggedFailure, recorded: &LoggedFailure) -> bool {
    let of_device = text.device.is_none() || recorded.device.is_none() || text.device == recorded.device;
    let is_request = text
        .requested
        .zip(recorded.requested)
        .is_some_and(|(text, exact)| agrees(text, exact, 1));
    // A text states reserved bytes as a sum. A history may state requested bytes, which are less than the allocated ones.
    let is_allocated = text
        .allocated
        .zip(recorded.allocated)
        .is_none_or(|(text, exact)| agrees(text, exact, 1) || text > exact && text - exact <= exact / 10);
    let figures = [
        (text.reserved.zip(recorded.reserved), 2),
        (text.free.zip(recorded.free), 1),
        (text.total.zip(recorded.total), 1),
    ];
    let figures = figures
        .into_iter()
        .filter_map(|(pair, n_figures)| Some((pair?, n_figures)));
    let mut figures = figures.peekable();
    of_device
        && is_allocated
        && text.library == recorded.library
        && is_request
        && figures.peek().is_some()
        && figures.all(|((text, exact), n_figures)| agrees(text, exact, n_figures))
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
