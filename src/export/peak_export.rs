//! The peak of a lane as exported files: what `peak` writes without further flags.

use std::io::Write;
use std::path::Path;

use super::file_names::ending;
use super::flame::{FlameAnswer, flame_file};
use super::peak::{PEAK_ROWS, PeakAnswer, peak_text};
use super::subject::{ExportError, ExportSubject};
use highwater_model::progress::Progress;
use highwater_model::units::first_of;
use highwater_timeline::{Attribute, FlameGraph, FlameRequest, PeakAt, PeakReport, PeakRequest};

/// Lanes that an error names.
const MOST_NAMED: usize = 8;

const NO_STEP: &str = "the lane has no step to explain";
const NO_FORM: &str = "a peak is written to a file that ends in .csv, .md, .json, .svg or .folded";

/// The one lane that is explained.
fn lane_of(subject: &ExportSubject) -> Result<usize, ExportError> {
    let comparison = &subject.comparison;
    let [lane] = subject.lanes_or_main()[..] else {
        let titles = comparison.lanes.iter().map(|lane| comparison.lane_title(lane.id));
        let titles = first_of(titles, MOST_NAMED, ", ");
        return Err(format!("a peak is that of one lane (--lane N): {titles}").into());
    };
    Ok(lane)
}

/// The peak of a lane in the form of the file's ending.
pub(super) fn peak_form(
    subject: &ExportSubject,
    path: &Path,
    out: &mut dyn Write,
    progress: &Progress<'_>,
) -> Result<(), ExportError> {
    progress.check()?;
    let lane = lane_of(subject)?;
    let ending = ending(path);
    let text = match &*ending {
        "svg" | "folded" => flame_text(subject, lane, &ending)?,
        _ => tensors_text(subject, lane, &ending, progress)?,
    };
    Ok(out.write_all(text.as_bytes())?)
}

/// The live tensors.
fn tensors_text(
    subject: &ExportSubject,
    lane: usize,
    ending: &str,
    progress: &Progress<'_>,
) -> Result<String, ExportError> {
    let ask = PeakRequest {
        lane,
        at: PeakAt::Peak,
        by: Attribute::of_peak(&subject.comparison, lane),
        within: None,
        n_first: PEAK_ROWS,
        against: None,
    };
    let report = PeakReport::checked(&subject.comparison, ask, progress)?;
    let report = report.ok_or(NO_STEP)?;
    let answer = PeakAnswer {
        import: Some(&subject.about.diagnostics),
        ..PeakAnswer::new(&subject.comparison, &report, usize::MAX)
    };
    Ok(peak_text(ending, &answer).ok_or(NO_FORM)?)
}

/// The live bytes by call stack.
fn flame_text(subject: &ExportSubject, lane: usize, ending: &str) -> Result<String, ExportError> {
    let ask = FlameRequest {
        lane,
        at: PeakAt::Peak,
        is_inverse: false,
        keeps_native: false,
    };
    let graph = FlameGraph::new(&subject.comparison, ask).ok_or(NO_STEP)?;
    let answer = FlameAnswer {
        comparison: &subject.comparison,
        graph: &graph,
        most: None,
    };
    Ok(flame_file(&format!("peak.{ending}"), &answer).ok_or(NO_FORM)?)
}
