//! `peak --find`: the blocks or tensors that match a query.

use std::fmt::Write as _;
use std::sync::Arc;

use anyhow::Context as _;
use serde_json::json;

use super::most;
use crate::args::{Format, PeakArgs};
use crate::text::print_answer;
use crate::{print, print_json};
use highwater_analysis::Comparison;
use highwater_export::FoundAnswer;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_timeline::{
    CONDITIONS, FORMS, Sort, TableKind, TableRows, TableSpec, TableSubject, Timeline, TimelineParts,
};

/// The query that lists the language.
const LANGUAGE: &str = "?";

/// Prints the language of queries where it is asked for, and whether it was.
pub(super) fn told_language(query: &str, format: Format) -> anyhow::Result<bool> {
    if query.trim() != LANGUAGE {
        return Ok(false);
    }
    format.check(&[Format::Text, Format::Json])?;
    let conditions = CONDITIONS.iter().map(|row| (row.example, row.help));
    let all: Vec<(&str, &str)> = FORMS.iter().copied().chain(conditions).collect();
    if format == Format::Json {
        let rows = all
            .iter()
            .map(|(example, meaning)| json!({"example": example, "meaning": meaning}));
        print_json(&json!({"conditions": rows.collect::<Vec<_>>()}))?;
        return Ok(true);
    }
    let mut text =
        String::from("Conditions of --find; those separated by spaces must all hold, and case does not matter:\n");
    for (example, meaning) in all {
        writeln!(text, "  {example:<24} {meaning}")?;
    }
    print(&text)?;
    Ok(true)
}

/// Prints what a query finds in lanes, the largest first.
pub(super) fn found(
    args: &PeakArgs,
    comparison: Comparison,
    lanes: &[usize],
    query: &str,
    (import, progress): (&Diagnostics, &Progress<'_>),
) -> anyhow::Result<()> {
    let timeline = Arc::new(Timeline::checked(&comparison, TimelineParts::Drawing, progress)?);
    let comparison = Arc::new(comparison);
    let table = |lane: usize| {
        let table = largest_first(&comparison, &timeline, lane, query, progress);
        table.with_context(|| format!("--find {query}"))
    };
    let tables = lanes
        .iter()
        .map(|lane| table(*lane))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let answer = FoundAnswer {
        comparison: &comparison,
        query,
        tables: &tables,
        most: most(args),
        import,
    };
    print_answer(&answer, args.format, args.raw)
}

fn largest_first(
    comparison: &Arc<Comparison>,
    timeline: &Arc<Timeline>,
    lane: usize,
    query: &str,
    progress: &Progress<'_>,
) -> anyhow::Result<TableRows> {
    let table = |sort: Option<Sort>| {
        let spec = TableSpec {
            kind: TableKind::Tensors,
            lane,
            sort,
            filter: query.to_owned(),
            ..TableSpec::default()
        };
        let subject = TableSubject {
            comparison: Arc::clone(comparison),
            timeline: Arc::clone(timeline),
            problems: Arc::from([]),
        };
        TableRows::new(spec, subject, progress)
    };
    let natural = table(None)?;
    let bytes = natural.columns().iter().position(|column| column.raw == "bytes");
    Ok(match bytes {
        Some(column) => table(Some(Sort {
            column,
            is_descending: true,
        }))?,
        None => natural,
    })
}
