//! Reports contradictions within a snapshot: each kind once, with a count and the first place.

use super::device::{Device, Place};
use super::recording::BuiltRecording;
use super::replay::{Count, Replayed};
use super::stacks::MOST_LINES;
use super::times::Times;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::diagnostics::Severity::{self, Info, Warning};

const NO_HISTORY: &str = "no history: the snapshot holds the state at one moment and no events of this device";

pub(super) fn contradictions(at: Place, device: &Device, replayed: &Replayed, diagnostics: &mut Diagnostics) {
    for (severity, count, message) in kinds(replayed) {
        let place = format!("{}[{}]", at.trace(), count.first);
        diagnostics.counted(severity, message, &place, count.n);
    }
    diagnostics.counted(
        Warning,
        "the blocks of a segment do not add up to its size",
        &format!("segments of {}", at.words()),
        device.uneven,
    );
    rounded(at, replayed, diagnostics);
    if device.trace.len() == 0 {
        diagnostics.info(NO_HISTORY, &at.words());
        return;
    }
    let message = "a block is older than the trace, which keeps only the last events; it counts from the first step on";
    diagnostics.counted(Info, message, &at.words(), replayed.older.len() as u64);
}

/// Blocks of which only the size that the allocator rounded to is known.
fn rounded(at: Place, replayed: &Replayed, diagnostics: &mut Diagnostics) {
    let older = replayed.older.values();
    let all = older.chain(replayed.appeared.iter().map(|block| &block.live));
    let count = all.filter(|live| !live.states_bytes).count() as u64;
    let message = "the file does not say how much was asked for with a block (no requested_size): it counts the bytes that \
                       the allocator holds for it, rounding included, so \"peak live\" is too high by the rounding";
    diagnostics.counted(Info, message, &at.words(), count);
}

fn kinds(replayed: &Replayed) -> [(Severity, Count, &'static str); 11] {
    let found = &replayed.contradictions;
    [
        (
            Warning,
            found.unreadable,
            "an event has no address or size that can be read and is left out",
        ),
        (
            Info,
            found.unknown,
            "an event has an action that is not known; it is shown as a note",
        ),
        (
            Warning,
            found.vanished,
            "an allocation is neither freed in the trace nor live at the end; it is held until its address is given away \
             again",
        ),
        (
            Warning,
            found.appeared,
            "a block is live although the trace frees its address before and allocates it no more",
        ),
        (
            Info,
            found.incomplete,
            "a free was requested and no completion follows; the block ends with the request",
        ),
        (
            Warning,
            found.sizes,
            "the size of an allocation is not that of its free or of the block at the end; the allocation's counts",
        ),
        (Warning, found.overlapping, "live blocks overlap"),
        (Warning, found.outside, "an allocation lies outside every segment"),
        (
            Warning,
            replayed.regions.overlapping,
            "a range of a segment is there without an event that maps it, or overlaps another",
        ),
        (
            Warning,
            replayed.regions.vanished,
            "a range was mapped, is unmapped nowhere, and is in no segment at the end",
        ),
        (
            Info,
            replayed.regions.by_size,
            "a segment is freed in the trace, which does not state its kind: its size tells it (2 MiB are small, multiples \
             of 2 MiB from 10 MiB on large)",
        ),
    ]
}

const MOST_ROWS: usize = 8;

pub(super) fn made(made: &BuiltRecording, at: Place, diagnostics: &mut Diagnostics) {
    let name = &made.recording.name;
    match &made.times {
        Times::Absent if made.recording.n_steps > 1 => {
            diagnostics.info("the events have no times, only an order", name);
        }
        Times::Ordered | Times::Absent => {}
        Times::Some => {
            diagnostics.warning("some events have no time, so only the order is kept", name);
        }
        Times::Mended(events) => {
            let rows: Vec<String> = events.iter().take(MOST_ROWS).map(u32::to_string).collect();
            let more = if events.len() > MOST_ROWS { ", ..." } else { "" };
            diagnostics.counted(
                Warning,
                "the time of an event is out of order; the event keeps its position and is shown at the time of the one \
                 before it",
                &format!("{}[{}{more}]", at.trace(), rows.join(", ")),
                events.len() as u64,
            );
        }
        Times::Unordered => {
            diagnostics.warning("the times of the events go back, so only the order is kept", name);
        }
    }
    diagnostics.counted(
        Info,
        "an annotation has a time but the events have none, so it is left out",
        name,
        made.annotations.unplaced,
    );
    diagnostics.counted(
        Info,
        "an annotation begins and does not end in the recording, so it lasts to the last event",
        name,
        made.annotations.unclosed,
    );
    diagnostics.counted(
        Info,
        "an annotation ends and does not begin in the recording, so it is a note and no phase",
        name,
        made.annotations.unopened,
    );
    diagnostics.counted(
        Warning,
        format!("a stack has more than {MOST_LINES} lines; only the innermost are kept"),
        name,
        made.stacks_cut,
    );
    diagnostics.counted(
        Warning,
        "a stack is left out: all together are longer than the file",
        name,
        made.stacks_left_out,
    );
}
