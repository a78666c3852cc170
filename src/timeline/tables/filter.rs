//! Filtering of rows.

use indexmap::IndexMap;

use super::{TableError, TableKind, TableSpec, View};
use crate::search::contains;
use crate::{Matches, Query};
use highwater_model::progress::{Cancelled, Progress};

/// Rows between two checks for cancellation.
const CHUNK: usize = 4096;

/// The rows that match a filter, in their order.
pub(super) fn kept(
    view: &View<'_>,
    spec: &TableSpec,
    rows: Vec<u32>,
    progress: &Progress<'_>,
) -> Result<Vec<u32>, TableError> {
    if spec.filter.trim().is_empty() {
        return Ok(rows);
    }
    if spec.kind.has_queries() {
        let query = Query::parse(&spec.filter)?;
        let matches = query.matches(view.comparison, view.timeline, view.lane, progress)?;
        return Ok(matching(view, rows, &matches));
    }
    Ok(with_text(view, rows, &spec.filter.trim().to_lowercase(), progress)?)
}

fn matching(view: &View<'_>, rows: Vec<u32>, matches: &Matches) -> Vec<u32> {
    let lane = view.timeline.lanes.get(view.lane);
    let is_kept = |row: &u32| match (view.kind, lane) {
        (TableKind::Live, Some(lane)) => lane.tensor(*row).is_some_and(|tensor| matches.contains(tensor)),
        _ => matches.contains_row(*row as usize),
    };
    rows.into_iter().filter(is_kept).collect()
}

/// Rows with a part in the text of some column. Equal texts are tested once.
fn with_text(view: &View<'_>, rows: Vec<u32>, part: &str, progress: &Progress<'_>) -> Result<Vec<u32>, Cancelled> {
    let columns = view.columns.iter().enumerate();
    let texts = columns
        .filter(|(_, column)| !column.is_number)
        .map(|(column, _)| column);
    let mut known: Vec<(usize, IndexMap<u64, bool>)> = texts.map(|column| (column, IndexMap::new())).collect();
    let mut kept = Vec::new();
    for (number, row) in rows.into_iter().enumerate() {
        if number % CHUNK == 0 {
            progress.check()?;
        }
        let fits = known.iter_mut().any(|(column, known)| {
            let entry = known.entry(view.same(row, *column));
            *entry.or_insert_with(|| contains(&view.value(row, *column).shown(), part))
        });
        if fits {
            kept.push(row);
        }
    }
    Ok(kept)
}
