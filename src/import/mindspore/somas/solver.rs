//! The files around SOMAS's solver: what it is given, what it answers, and the log of the graph's edges.
//!
//! ```text
//! T 103 512 0                                                                  somas_solver_input_0.ir: id, bytes, lifelong
//! tensor_id=103  size=512  offset=5244928  continuous=0  ...                   somas_solver_output_0.ir
//! Somas EDGE src=n0, srcstm=0, dst=n1, ..., size=524288, ..., tid=0, start=0, end=90   CPU_somas_offline_log_0.ir
//! ```
//! The log has live ranges and no offsets: its tensors are a placement problem, each with the bytes that its node asks for.
//! The other two have no live ranges, so nothing can be said of a peak: the error tells what they state.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::ADVICE;
use crate::lines::each_line;
use crate::problem::draft::{Draft, Row};
use crate::{ImportError, Input};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_model::workload::Source;

const OPEN_PLAN: &str = "open *_somas_tensor_offset_*.ir of the same folder, which states them";

enum Line {
    Given { size: u64 },
    Placed { size: u64, offset: u64 },
    Edge(Edge),
}

struct Edge {
    id: u64,
    size: u64,
    life: (u64, u64),
    is_workspace: bool,
    source: String,
}

pub(super) fn is_line(line: &str) -> bool {
    line_of(line).is_some()
}

fn line_of(line: &str) -> Option<Line> {
    if let Some(rest) = line.strip_prefix("T ") {
        let numbers: Option<Vec<u64>> = rest.split(' ').map(|word| word.parse().ok()).collect();
        return match numbers?[..] {
            [_, size, _] => Some(Line::Given { size }),
            _ => None,
        };
    }
    let field = |key: &str| {
        let mut fields = line.split([' ', '\t', ',']).filter(|field| !field.is_empty());
        fields.find_map(|field| field.strip_prefix(key)?.strip_prefix('='))
    };
    let number = |key: &str| field(key)?.parse::<u64>().ok();
    if line.starts_with("tensor_id=") {
        let (size, offset) = (number("size")?, number("offset")?);
        return Some(Line::Placed { size, offset });
    }
    line.starts_with("Somas EDGE ").then_some(())?;
    Some(Line::Edge(Edge {
        id: number("tid")?,
        size: number("size")?,
        life: (number("start")?, number("end")?),
        is_workspace: number("workspace").unwrap_or(0) > 0,
        source: field("src")?.to_owned(),
    }))
}

pub(super) fn read(
    input: &mut Input<'_>,
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Source, ImportError> {
    let name = input.name().to_owned();
    let (mut given, mut placed) = ((0_u64, 0_u64), (0_u64, 0_u64));
    // An edge for each reader of a tensor.
    let mut edges: BTreeMap<u64, (u64, Edge)> = BTreeMap::new();
    let n_lines = each_line(input, progress, ADVICE, |line, number| {
        match line_of(String::from_utf8_lossy(line).trim()) {
            Some(Line::Given { size }) => given = (given.0 + 1, given.1.saturating_add(size)),
            Some(Line::Placed { size, offset }) => placed = (placed.0 + 1, placed.1.max(offset.saturating_add(size))),
            Some(Line::Edge(edge)) => {
                edges.entry(edge.id).or_insert((number, edge));
            }
            None => {}
        }
        Ok(())
    })?;
    if edges.is_empty() {
        let what = if placed.0 > 0 {
            format!(
                "SOMAS's solver placed {} blocks in {} bytes and states no live ranges",
                placed.0, placed.1
            )
        } else {
            format!(
                "SOMAS's solver is given {} blocks of {} bytes in sum, without live ranges",
                given.0, given.1
            )
        };
        return Err(ImportError::at(what, format!("lines 1 to {n_lines}"), OPEN_PLAN));
    }
    let mut draft = Draft::default();
    for (line, edge) in edges.values() {
        let kind = if edge.is_workspace { " workspace" } else { "" };
        let row = Row {
            id: &format!("{} %{}T{kind}", edge.source, edge.id),
            lower: edge.life.0,
            upper: edge.life.1,
            is_inclusive: true,
            size: edge.size,
            alignment: 1,
            offset: None,
        };
        draft
            .push(&row)
            .map_err(|what| ImportError::at(what, format!("line {line}"), ADVICE))?;
    }
    diagnostics.info(
        "the log has neither offsets nor unions, and sizes before SOMAS rounds them; open *_somas_tensor_offset_*.ir of the same \
         folder for the plan",
        "",
    );
    let lines: Vec<u64> = edges.values().map(|(line, _)| *line).collect();
    let place = |row: usize| format!("line {}", lines.get(row).copied().unwrap_or(0));
    let entry = draft.finish(name, None, None, &place, diagnostics)?;
    Ok(Source::Problems(vec![Arc::new(entry)]))
}
