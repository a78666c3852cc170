//! Sentences about recordings.

use highwater_analysis::{Comparison, Fit, Lane, failed_request};
use highwater_model::units::{Bytes, counted, signed_percent_text};
use highwater_model::workload::{LoggedFailure, Recording, TotalKind};

/// That nothing is simulated, as the remarks on a single recording say themselves.
pub(super) fn details(comparison: &Comparison) -> Vec<String> {
    let mut texts = Vec::new();
    if comparison.lanes.len() != 1 {
        texts.push(simulated(comparison).unwrap_or_else(|| "Measured, not simulated.".to_owned()));
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

/// The setting with the lowest peak among simulated lanes, in a sentence.
fn simulated(comparison: &Comparison) -> Option<String> {
    let lanes = comparison
        .lanes
        .iter()
        .filter_map(|lane| Some((lane, comparison.simulation(lane.id)?)));
    let (lane, lowest) = lanes.min_by_key(|(_, simulation)| (simulation.failures, simulation.peak))?;
    let title = comparison.lane_title(lane.id);
    let against = match (lowest.failures, lowest.measured_peak) {
        (1.., _) => format!(", but {} fail", counted(lowest.failures, "request")),
        (0, Bytes::ZERO) => String::new(),
        (0, measured) => format!(
            ", {} against the measurement",
            signed_percent_text(lowest.peak.percent_above(measured))
        ),
    };
    Some(format!(
        "Simulated, lowest: {title}: {} reserved{against}.",
        lowest.peak
    ))
}

/// The highest peak as a sentence, with exact figures.
pub(super) fn headline(comparison: &Comparison) -> Option<(String, String)> {
    let lane = comparison.lanes.get(comparison.main_lane()?)?;
    Some(peaks(comparison, lane))
}

/// Whether the recordings fit, and why; `None` without a capacity to check against.
pub(super) fn fit(comparison: &Comparison) -> Option<(String, bool)> {
    let fits = (0..comparison.lanes.len()).map(|lane| comparison.fit(lane));
    let known: Vec<Fit> = fits.filter(|fit| *fit != Fit::Unknown).collect();
    let failed: Vec<Fit> = known.iter().copied().filter(|fit| !fit.is_good()).collect();
    let by = |fit: &Fit| match fit {
        Fit::Above { by, .. } => *by,
        _ => Bytes::ZERO,
    };
    let ran_out = failed.iter().filter(|fit| matches!(fit, Fit::OutOfMemory(_))).count();
    if let Some(worst) = failed.iter().max_by_key(|fit| by(fit)) {
        let count = match (failed.len(), comparison.lanes.len()) {
            (_, 1) => String::new(),
            (failed, all) => format!("{failed} of {all} "),
        };
        let verb = match (count.is_empty(), failed.len()) {
            (true, _) => "Does not fit",
            (false, 1) => "does not fit",
            (false, _) => "do not fit",
        };
        return Some(match worst {
            Fit::Above { by, capacity } => (format!("{count}{verb} {capacity}: {by} above"), false),
            _ if ran_out == failed.len() && count.is_empty() => ("Ran out of memory".to_owned(), false),
            _ if ran_out == failed.len() => (format!("{count}ran out of memory"), false),
            _ => (format!("{count}{verb}"), false),
        });
    }
    let left = |fit: &Fit| match fit {
        Fit::Yes { left, capacity } => Some((*left, *capacity)),
        _ => None,
    };
    let (left, capacity) = known.iter().filter_map(left).min()?;
    let all = if comparison.lanes.len() > 1 { "All fit" } else { "Fits" };
    Some((format!("{all} {capacity}: {left} left"), true))
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
    let failures = recording.and_then(|one| Some(&one.process.as_ref()?.failures[..]));
    let failure = failures.and_then(|all| all.get(LoggedFailure::main(all)?));
    let failed = failure.map(|failure| format!("a request failed: {}", failed_request(failure)));
    match states {
        (true, true) if recording.is_some_and(|one| one.lacks_regions(live, reserved)) => (
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
            match failed {
                Some(failed) => format!("{title}: peak reserved {reserved}; {failed}"),
                None => format!("{title}: peak reserved {reserved}; live bytes are not recorded"),
            },
            format!("{} reserved", reserved.exact()),
        ),
        (false, true) => (
            format!("{title}: peak live {live}; reserved bytes are not recorded"),
            format!("{} live", live.exact()),
        ),
        (false, false) => (
            match failed {
                Some(failed) => format!("{title}: {failed}"),
                None => format!("{title}: neither reserved nor live bytes are recorded"),
            },
            String::new(),
        ),
    }
}
