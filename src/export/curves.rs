//! The curves of lanes as a table: a row for each step on which one changes.
//!
//! In: the lanes of a subject. Out: CSV with the step, and of each lane reserved and live bytes; nothing where a recording does not
//! state them or has no events. O(lanes x steps).

use std::io::Write;
use std::path::Path;

use super::subject::{ExportError, ExportSubject};
use highwater_model::progress::Progress;

const STEPS_BETWEEN_CHECKS: u32 = 1 << 16;

pub(super) fn curves_csv(
    subject: &ExportSubject,
    _path: &Path,
    out: &mut dyn Write,
    progress: &Progress<'_>,
) -> Result<(), ExportError> {
    let comparison = &subject.comparison;
    let lanes = subject.lanes_or_all();
    let mut writer = csv::Writer::from_writer(out);
    let titles = lanes.iter().flat_map(|lane| {
        let title = comparison.lane_title(comparison.lanes[*lane].id);
        ["reserved", "live"].map(|what| format!("{what} bytes of {title}"))
    });
    let header = std::iter::once(comparison.axis_word().to_owned()).chain(titles);
    writer.write_record(header).map_err(std::io::Error::from)?;
    let mut curves = lanes.iter().map(|lane| {
        let (row, (states_reserved, states_live)) = (&comparison.lanes[*lane], comparison.states(*lane));
        let values = row.curves.reserved.iter().zip(row.curves.live.iter());
        (comparison.own_steps(*lane), states_reserved, states_live, values)
    });
    let mut curves: Vec<_> = curves.by_ref().collect();
    let mut before: Option<Vec<Option<u64>>> = None;
    for step in 0..comparison.axis.n_steps {
        if step.is_multiple_of(STEPS_BETWEEN_CHECKS) {
            progress.check()?;
        }
        let mut row = Vec::with_capacity(2 * lanes.len());
        for (own, states_reserved, states_live, values) in &mut curves {
            let (reserved, live) = values.next().unzip();
            let is_own = own.contains(&step);
            row.push(reserved.filter(|_| is_own && *states_reserved).map(|bytes| bytes.get()));
            row.push(live.filter(|_| is_own && *states_live).map(|bytes| bytes.get()));
        }
        let is_last = step + 1 == comparison.axis.n_steps;
        if before.as_ref() != Some(&row) || is_last {
            let cells = row
                .iter()
                .map(|bytes| bytes.map_or_else(String::new, |bytes| bytes.to_string()));
            let cells = std::iter::once(step.to_string()).chain(cells);
            writer.write_record(cells).map_err(std::io::Error::from)?;
            before = Some(row);
        }
    }
    Ok(writer.flush()?)
}
