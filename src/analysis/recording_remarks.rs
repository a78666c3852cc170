//! Sentences about a measured lane: its peaks, what the recording does not show, and which heights are not measured.

use super::lane::{Lane, Remark};
use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{Recording, TotalKind};

/// The source of a lane's curve of reserved bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReservedSource {
    /// Regions of the file.
    Regions,
    /// A curve of the file.
    Stated,
    /// None: the curve is that of the blocks.
    Missing,
}

pub(super) fn remarks(lane: &Lane, recording: &Recording, source: ReservedSource, n_stacked: u64) -> Vec<Remark> {
    let summary = &lane.summary;
    let mut remarks = Vec::new();
    let mut say = |text: String, step: Option<Step>| remarks.push(Remark { text, step });
    say(
        format!("Measured, not simulated: recorded by {}.", recording.recorder),
        None,
    );
    let of_reserved = reserved_text(lane, recording, source);
    say(format!("{of_reserved}."), summary.peak_reserved_step);
    if recording.states_live() {
        let stated = recording.total(TotalKind::Allocated).map(|total| total.peak().0);
        let lists_all = recording.blocks.is_empty() || stated.is_none_or(|stated| stated <= summary.peak_live);
        let text = if lists_all {
            format!("The most that was in use at once is {}.", summary.peak_live)
        } else {
            format!("The most that the listed blocks held at once is {}.", summary.peak_live)
        };
        say(text, summary.peak_live_step);
    } else {
        say("The file does not say what was in use.".to_owned(), None);
    }
    if recording.lacks_regions(summary.peak_live, summary.peak_reserved) {
        let text = "More was in use than the listed segments come to, so the file does not list all of them: what was taken \
                    from the device is a lower bound.";
        say(text.to_owned(), None);
    }
    for text in unseen(recording) {
        say(text, None);
    }
    if n_stacked > 0 {
        say(
            format!(
                "{n_stacked} of {} blocks have no address within a known segment: they are stacked by best fit only to be \
                 drawn, so heights and gaps in the memory map are no measurement.",
                recording.blocks.len()
            ),
            None,
        );
    }
    if let Some(total) = recording
        .total(TotalKind::Allocated)
        .filter(|_| !recording.blocks.is_empty())
    {
        let (peak, _) = total.peak();
        if peak > summary.peak_live {
            say(
                format!("The file itself states at most {peak} in use, which counts what it does not list too."),
                None,
            );
        } else if peak < summary.peak_live {
            say(
                format!("The file itself states at most {peak} in use, less than its blocks come to."),
                None,
            );
        }
    }
    remarks
}

/// The peak of the reserved bytes, in a sentence without its full stop.
fn reserved_text(lane: &Lane, recording: &Recording, source: ReservedSource) -> String {
    let summary = &lane.summary;
    match source {
        ReservedSource::Regions if recording.lacks_regions(summary.peak_live, summary.peak_reserved) => {
            format!("The listed segments come to {} at most", summary.peak_reserved)
        }
        ReservedSource::Regions => format!(
            "The most memory that was taken from the device is {}",
            summary.peak_reserved
        ),
        ReservedSource::Stated => format!(
            "The file states a peak of {} taken from the device",
            summary.peak_reserved
        ),
        ReservedSource::Missing => {
            "The file does not say what was taken from the device; the curve of reserved bytes is that of the blocks"
                .to_owned()
        }
    }
}

/// Sentences about blocks whose allocation the recording does not show.
fn unseen(recording: &Recording) -> Vec<String> {
    let sums = |appears: bool| {
        let blocks = recording.blocks.iter().filter(|block| block.is_older);
        let blocks = blocks.filter(|block| block.appears() == appears);
        blocks.fold((0_u64, Bytes::ZERO), |(count, bytes), block| {
            (count + 1, bytes + block.bytes)
        })
    };
    let are = |count: u64| if count == 1 { "block" } else { "blocks" };
    let mut texts = Vec::new();
    let (count, bytes) = sums(false);
    if count > 0 {
        texts.push(format!(
            "{count} {} with {bytes} older than the recording: shown from its first event on, and what came and went before \
             is not known.",
            are(count)
        ));
    }
    let (count, bytes) = sums(true);
    if count > 0 {
        texts.push(format!(
            "{count} {} with {bytes} that the recording does not show being asked for: shown from the event on that freed the \
             address before.",
            are(count)
        ));
    }
    texts
}
