//! Live ranges and a buffer assignment in two files -> arenas with XLA's own plan.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::assignment::Assignment;
use super::dump::{self, Dump};
use super::{arena, flow};
use crate::ImportError;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_model::units::Bytes;
use highwater_model::workload::{ProblemEntry, Source};

/// The problems of a dump, as far as it states them.
pub(super) fn source(
    dump: &Dump,
    name: &str,
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Source, ImportError> {
    let entries = match (&dump.assignment, &dump.ranges) {
        (Some(assignment), Some(ranges)) => match both(assignment, ranges, progress, diagnostics)? {
            // Nothing is shared: each allocation has one value.
            arenas if arenas.is_empty() => valid(arena::held(assignment, name), name)?,
            arenas => arenas,
        },
        (Some(assignment), None) => {
            diagnostics.warning(
                "the file says where values are placed, not when they are live: each allocation counts as held all run; \
                 open the live ranges (live-range.txt) with it, or the .hlo.pb of the same dump",
                name,
            );
            for (fact, value) in assignment.facts() {
                diagnostics.info(format!("{fact}: {value}"), name);
            }
            valid(arena::held(assignment, name), name)?
        }
        (None, Some(ranges)) => {
            let unknown = ranges
                .steps
                .iter()
                .filter(|(value, _)| !ranges.sizes.contains_key(value));
            let unknown = unknown.count();
            if unknown > 0 {
                diagnostics.warning(
                    format!(
                        "{unknown} live ranges have no size in the file, which states those at the peak alone; they count 0 \
                         bytes, only the figures of that step are whole, and there are no offsets; open the buffer assignment \
                         (buffer-assignment.txt) with it, or the .hlo.pb of the same dump"
                    ),
                    name,
                );
            }
            peak(ranges, name, diagnostics);
            valid(arena::bare(&ranges.steps, &ranges.sizes, name), name)?
        }
        (None, None) => Vec::new(),
    };
    if entries.is_empty() {
        return Err(ImportError::at(
            "the dump lists nothing that can be placed",
            "the end of the file",
            "open the .hlo.pb of the same dump",
        ));
    }
    Ok(Source::Problems(entries))
}

/// XLA's own peak of live bytes, and its step.
pub(super) fn stated_peak(ranges: &dump::Ranges) -> Option<(Bytes, u64)> {
    let sizes = ranges.sizes.values();
    let bytes = sizes.fold(0_u64, |sum, bytes| sum.saturating_add(*bytes));
    Some((Bytes(bytes), ranges.peak?))
}

fn peak(ranges: &dump::Ranges, name: &str, diagnostics: &mut Diagnostics) {
    if let Some((Bytes(bytes), step)) = stated_peak(ranges) {
        diagnostics.info(
            format!(
                "XLA states a peak of {bytes} bytes in {} values at step {step} of {}",
                ranges.sizes.len(),
                ranges.n_steps
            ),
            name,
        );
    }
}

fn valid(entry: ProblemEntry, name: &str) -> Result<Vec<Arc<ProblemEntry>>, ImportError> {
    if entry.problem.buffers.is_empty() {
        return Ok(Vec::new());
    }
    match entry.problem.validate() {
        Ok(()) => Ok(vec![Arc::new(entry)]),
        Err(error) => Err(ImportError::at(
            error.to_string(),
            format!("\"{name}\""),
            "the file is damaged, dump it again",
        )),
    }
}

/// Values meet their live ranges by name.
pub(super) fn both(
    assignment: &Assignment,
    ranges: &dump::Ranges,
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Vec<Arc<ProblemEntry>>, ImportError> {
    let plain = |name: &str| name.strip_suffix("{}").unwrap_or(name).to_owned();
    let by_name: BTreeMap<String, (u64, u64)> =
        ranges.steps.iter().map(|(name, range)| (plain(name), *range)).collect();
    let mut by_id = flow::Ranges::new();
    for value in assignment.allocations.iter().flat_map(|one| &one.values) {
        by_id.extend(by_name.get(&plain(&value.name)).map(|range| (value.id, *range)));
    }
    peak(ranges, "live ranges", diagnostics);
    for (fact, value) in assignment.facts() {
        diagnostics.info(format!("{fact}: {value}"), "buffer assignment");
    }
    arena::arenas(assignment, &by_id, progress, diagnostics)
}
