//! Sentences about a measured lane: its peaks, what the recording does not show, and which heights are not measured.

use super::lane::{Lane, Remark};
use super::log_words::process_remarks;
use highwater_model::units::{Bytes, Step, counted, grouped};
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
    for text in recording.process.iter().flat_map(process_remarks) {
        say(text, None);
    }
    say(origin(recording), None);
    if recording.is_host {
        let text = "Pinned memory of the host, with an allocator of another kind: no capacity and no figure of the device \
                    includes it.";
        say(text.to_owned(), None);
    }
    if recording.totals.is_empty() && recording.blocks.is_empty() && recording.regions.is_empty() {
        say(
            "The file states no memory over time, so there is no curve.".to_owned(),
            None,
        );
        return remarks;
    }
    let of_reserved = reserved_text(lane, recording, source);
    let is_stated = !matches!(source, ReservedSource::Missing);
    say(
        format!("{of_reserved}."),
        summary.peak_reserved_step.filter(|_| is_stated),
    );
    if recording.states_live() {
        let stated = recording.total(TotalKind::Allocated).map(|total| total.peak().0);
        let lists_all = recording.blocks.is_empty() || stated.is_none_or(|stated| stated <= summary.peak_live);
        let text = if lists_all {
            format!("Peak live: {}.", summary.peak_live)
        } else {
            format!("Peak live of the listed blocks: {}.", summary.peak_live)
        };
        say(text, summary.peak_live_step);
    } else {
        say("The file does not state live bytes.".to_owned(), None);
    }
    if recording.lacks_regions(summary.peak_live, summary.peak_reserved) {
        let text = "Live bytes exceed the listed segments, so some segments are missing: reserved bytes are a lower \
                    bound.";
        say(text.to_owned(), None);
    }
    if let Some((text, step)) = unused(lane) {
        say(text, Some(step));
    }
    for text in unseen(recording) {
        say(text, None);
    }
    if n_stacked > 0 {
        say(
            format!(
                "{n_stacked} of {} blocks have no address within a known segment: their positions in the memory map \
                 are drawn by best fit, not measured.",
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
                format!("The file states a peak of {peak} live, which includes unlisted blocks."),
                None,
            );
        } else if peak < summary.peak_live {
            say(
                format!("The file states a peak of {peak} live, less than the sum of its blocks."),
                None,
            );
        }
    }
    remarks
}

/// Who made the recording.
fn origin(recording: &Recording) -> String {
    let Some(simulation) = &recording.simulation else {
        return format!("Measured, not simulated: recorded by {}.", recording.recorder);
    };
    let settings = match simulation.settings.trim() {
        "" => "default settings",
        settings => settings,
    };
    let requests = match simulation.measured.as_str() {
        "" => "what the graph asks for".to_owned(),
        measured => format!("the requests of {measured}"),
    };
    let retries = match simulation.retries {
        1 => "1 retry".to_owned(),
        count => format!("{} retries", grouped(count)),
    };
    format!(
        "Simulated: {requests} under {} with {settings}; {}, {retries}, {}.",
        simulation.version,
        counted(simulation.device_calls, "device call"),
        counted(simulation.failures, "failed request")
    )
}

/// The peak of the reserved bytes, in a sentence without its full stop.
fn reserved_text(lane: &Lane, recording: &Recording, source: ReservedSource) -> String {
    let summary = &lane.summary;
    match source {
        ReservedSource::Regions if recording.lacks_regions(summary.peak_live, summary.peak_reserved) => {
            format!("Peak of the listed segments: {}", summary.peak_reserved)
        }
        ReservedSource::Regions => format!("Peak reserved: {}", summary.peak_reserved),
        ReservedSource::Stated => format!("Peak reserved, as the file states it: {}", summary.peak_reserved),
        ReservedSource::Missing if recording.blocks.is_empty() => {
            "The file does not state reserved bytes; the curve shows the bytes in use that it states".to_owned()
        }
        ReservedSource::Missing => {
            "The file does not state reserved bytes; the curve shows the bytes of blocks instead".to_owned()
        }
    }
}

/// What of the reserved bytes was inactive at their peak, with the lane's step.
fn unused(lane: &Lane) -> Option<(String, Step)> {
    let recorded = lane.recorded.as_ref()?;
    let (event, sums) = recorded.fragmentation.at_peak.as_ref()?;
    let (step, _) = recorded.steps_of(*event, Step(event.0 + 1));
    let bound = sums.at_most();
    let why = if sums.is_exact() {
        ""
    } else {
        " (upper bounds: the file does not state the rounding of every block)"
    };
    let text = format!(
        "At peak reserved {bound}{} are inactive within segments and {} are free segments; the largest free block has \
         {bound}{}{why}.",
        sums.inactive_split, sums.free, sums.largest_free
    );
    Some((text, step))
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
            "{count} {} with {bytes} predate the recording: drawn from its first event on; earlier allocations are \
             unknown.",
            are(count)
        ));
    }
    let (count, bytes) = sums(true);
    if count > 0 {
        texts.push(format!(
            "{count} {} with {bytes} whose allocation is not in the recording: drawn from the previous free of their \
             address on.",
            are(count)
        ));
    }
    texts
}
