//! `peak --find`: the blocks or tensors of a lane that match a query.

use std::sync::Arc;

use anyhow::Context as _;

use super::most;
use crate::args::PeakArgs;
use crate::text::print_answer;
use highwater_analysis::Comparison;
use highwater_export::FoundAnswer;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_timeline::{Sort, TableKind, TableRows, TableSpec, TableSubject, Timeline, TimelineParts};

/// Prints what a query finds, the largest first.
pub(super) fn found(
    args: &PeakArgs,
    comparison: Comparison,
    lane: usize,
    query: &str,
    (import, progress): (&Diagnostics, &Progress<'_>),
) -> anyhow::Result<()> {
    let timeline = Arc::new(Timeline::checked(&comparison, TimelineParts::Drawing, progress)?);
    let comparison = Arc::new(comparison);
    let table = |sort: Option<Sort>| {
        let spec = TableSpec {
            kind: TableKind::Tensors,
            lane,
            sort,
            filter: query.to_owned(),
            ..TableSpec::default()
        };
        let subject = TableSubject {
            comparison: Arc::clone(&comparison),
            timeline: Arc::clone(&timeline),
            problems: Arc::from([]),
        };
        TableRows::new(spec, subject, progress).with_context(|| format!("--find {query}"))
    };
    let natural = table(None)?;
    let bytes = natural.columns().iter().position(|column| column.raw == "bytes");
    let found = match bytes {
        Some(column) => table(Some(Sort {
            column,
            is_descending: true,
        }))?,
        None => natural,
    };
    let answer = FoundAnswer {
        comparison: &comparison,
        lane,
        table: &found,
        most: most(args),
        import,
    };
    print_answer(&answer, args.format, args.raw)
}
