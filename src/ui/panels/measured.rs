//! Sentences about recordings.

use highwater_analysis::{Comparison, Lane};
use highwater_model::workload::{Recording, TotalKind};

/// That nothing is simulated, and remarks on a single recording.
pub(super) fn details(comparison: &Comparison) -> Vec<String> {
    let mut texts = vec!["Measured, not simulated.".to_owned()];
    let with_content = comparison.workload.recordings().iter().filter(|one| one.has_content());
    let (n_all, n_shown) = (with_content.count(), comparison.lanes.len());
    if n_all > n_shown {
        texts.push(format!(
            "{n_shown} of {n_all} recordings are shown, those with the highest peaks."
        ));
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
            format!("{title}: {live} in use at most; of what was taken from the device the file lists {reserved}"),
            format!("{} listed, {} in use", reserved.exact(), live.exact()),
        ),
        (true, true) if in_file > live => (
            format!(
                "{title}: {reserved} reserved, {in_file} in use at most, of which {live} in blocks that are listed"
            ),
            format!(
                "{} reserved, {} in use, {} in blocks",
                reserved.exact(),
                in_file.exact(),
                live.exact()
            ),
        ),
        (true, true) => (
            format!("{title}: {reserved} reserved, {live} in use at most"),
            format!("{} reserved, {} in use", reserved.exact(), live.exact()),
        ),
        (true, false) => (
            format!("{title}: {reserved} reserved at most; what was in use is not recorded"),
            format!("{} reserved", reserved.exact()),
        ),
        (false, true) => (
            format!("{title}: {live} in use at most; what was reserved is not recorded"),
            format!("{} in use", live.exact()),
        ),
        (false, false) => (
            format!("{title}: neither what was reserved nor what was in use is recorded"),
            String::new(),
        ),
    }
}
