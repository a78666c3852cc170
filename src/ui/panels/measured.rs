//! Sentences about recordings.

use highwater_analysis::{Comparison, Lane};
use highwater_model::workload::{Recording, TotalKind};

/// That nothing is simulated, as the remarks on a single recording say themselves.
pub(super) fn details(comparison: &Comparison) -> Vec<String> {
    let mut texts = Vec::new();
    if comparison.lanes.len() != 1 {
        texts.push("Measured, not simulated.".to_owned());
    }
    let with_content = comparison.workload.recordings().iter().filter(|one| one.has_content());
    let (n_all, n_shown) = (with_content.count(), comparison.lanes.len());
    if n_all > n_shown {
        texts.push(format!("{n_shown} of {n_all} recordings, highest peaks first."));
    }
    if let [only] = &comparison.lanes[..] {
        let remarks = only.explanation.iter().filter(|remark| remark.step.is_none());
        texts.extend(remarks.map(|remark| remark.text.clone()));
    }
    texts
}

/// The largest peak as a sentence, with exact figures.
pub(super) fn headline(comparison: &Comparison) -> Option<(String, String)> {
    let lanes = comparison.lanes.iter();
    let lane = lanes.max_by_key(|lane| (lane.summary.peak_reserved, lane.summary.peak_live))?;
    Some(peaks(comparison, lane))
}

/// The peaks that a recording states: a sentence without full stop, and exact figures.
pub(super) fn peaks(comparison: &Comparison, lane: &Lane) -> (String, String) {
    let title = comparison.lane_title(lane.id);
    let recording = comparison.recording(lane.id);
    let (reserved, live) = (lane.summary.peak_reserved, lane.summary.peak_live);
    let total = recording.and_then(|recording| recording.total(TotalKind::Allocated));
    let in_file = total.map_or(live, |total| total.peak().0);
    let states = (
        recording.is_some_and(Recording::states_reserved),
        recording.is_some_and(Recording::states_live),
    );
    match states {
        (true, true) if live > reserved && recording.is_some_and(|one| !one.regions.is_empty()) => (
            format!("{title}: peak live {live}; the file lists {reserved} of reserved bytes"),
            format!("{} listed, {} live", reserved.exact(), live.exact()),
        ),
        (true, true) if in_file > live => (
            format!("{title}: {reserved} reserved, peak live {in_file}, of which {live} in listed blocks"),
            format!(
                "{} reserved, {} live, {} in blocks",
                reserved.exact(),
                in_file.exact(),
                live.exact()
            ),
        ),
        (true, true) => (
            format!("{title}: {reserved} reserved, peak live {live}"),
            format!("{} reserved, {} live", reserved.exact(), live.exact()),
        ),
        (true, false) => (
            format!("{title}: peak reserved {reserved}; live bytes are not recorded"),
            format!("{} reserved", reserved.exact()),
        ),
        (false, true) => (
            format!("{title}: peak live {live}; reserved bytes are not recorded"),
            format!("{} live", live.exact()),
        ),
        (false, false) => (
            format!("{title}: neither reserved nor live bytes are recorded"),
            String::new(),
        ),
    }
}
