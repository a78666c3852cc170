//! Static plans as CSV: a row per buffer, with the lane that it is placed in.
//!
//! In: an answer. Out: rows in the order of lanes, graphs and buffers. `birth` and `death` are half-open, on the steps of one run of
//! the graph (a problem file: its own times); `offset` counts from the arena's beginning in the plan, `region_offset` from that of
//! the region in which the simulated device holds the buffer in the graph's first run.

use std::path::Path;

use super::csv_line::CsvLine;
use super::subject::{ExportError, ExportSubject};
use highwater_analysis::Lane;
use highwater_model::graph::{Id as _, TensorId};
use highwater_model::progress::Progress;
use highwater_model::units::Bytes;
use highwater_model::workload::GraphIdx;
use highwater_plan::Plan;
use highwater_sim::BoundGraph;
use highwater_timeline::{Selected, tensor_label};

const HEADINGS: [&str; 13] = [
    "lane",
    "policy",
    "strategy",
    "graph",
    "tensor",
    "storage",
    "birth",
    "death",
    "offset",
    "size_bytes",
    "placed_bytes",
    "region",
    "region_offset",
];

/// The number of rows between two checks for cancellation.
const CHUNK: usize = 4096;

struct Placed {
    tensor: TensorId,
    name: String,
    life: (String, String),
    offset: u64,
    size: Bytes,
    rounded: Bytes,
}

/// The plans of the lanes as a table. O(buffers log blocks).
///
/// # Errors
/// [`ExportError`]: no static plan, or cancelled.
pub(super) fn placements_csv(
    subject: &ExportSubject,
    _path: &Path,
    progress: &Progress<'_>,
) -> Result<Vec<u8>, ExportError> {
    let comparison = &subject.comparison;
    let lanes = subject.lanes_or_main();
    if lanes.iter().all(|lane| comparison.lanes[*lane].plans.is_empty()) {
        return Err(format!("there is no static plan to write: {}", why_none(subject)).into());
    }
    let mut out = Vec::new();
    let mut fields = CsvLine::default();
    for heading in HEADINGS {
        fields.push(heading);
    }
    fields.end(&mut out);
    for position in lanes {
        let lane = &comparison.lanes[position];
        for (graph, planned) in &lane.plans {
            let rows = buffers(subject, position, *graph, &planned.plan);
            for (number, row) in rows.iter().enumerate() {
                if number % CHUNK == 0 {
                    progress.set("writing", number as u64, rows.len() as u64)?;
                }
                push_row(&mut fields, subject, position, *graph, row);
                fields.end(&mut out);
            }
        }
    }
    Ok(out)
}

fn why_none(subject: &ExportSubject) -> &'static str {
    let comparison = &subject.comparison;
    if comparison.is_measured() {
        "a recording states what was allocated, and nothing is planned"
    } else if comparison.trace().is_some() {
        "an allocation trace is replayed, and nothing is planned"
    } else if !comparison.workload.tapes().is_empty() || !comparison.workload.programs().is_empty() {
        "what is open has no arena"
    } else {
        "no graph is static here (its dimensions have several values, or compile_dynamic_mode is on)"
    }
}

fn buffers(subject: &ExportSubject, lane: usize, graph: GraphIdx, plan: &Plan) -> Vec<Placed> {
    let comparison = &subject.comparison;
    if let Some(entry) = comparison.workload.problems().first() {
        let buffers = (0_u32..).zip(entry.problem.buffers.iter().zip(&plan.offsets));
        let row = |(number, (buffer, offset)): (u32, (&highwater_plan::Buffer, &u64))| Placed {
            tensor: TensorId(number),
            name: entry.ids.get(number as usize).to_owned(),
            life: (
                entry.time(buffer.lower).to_string(),
                entry.time(buffer.upper).to_string(),
            ),
            offset: *offset,
            size: buffer.size,
            rounded: buffer.size,
        };
        return buffers.map(row).collect();
    }
    let Some((run, bound)) = first_run(subject, lane, graph) else {
        return Vec::new();
    };
    let problem = highwater_analysis::arena_problem(&bound.program, &bound.engine_sizes);
    let items = bound.program.lifetimes.items.iter();
    let placed = items.zip(problem.buffers.iter().zip(&plan.offsets));
    let row = |(item, (buffer, offset)): (&highwater_model::workload::Lifetime, (&highwater_plan::Buffer, &u64))| {
        let tensor = Selected {
            run,
            graph,
            tensor: item.tensor,
        };
        Placed {
            tensor: item.tensor,
            name: tensor_label(comparison, tensor).into_owned(),
            life: (item.birth.0.to_string(), item.end.0.to_string()),
            offset: *offset,
            size: item.bytes,
            rounded: buffer.size,
        }
    };
    placed.map(row).collect()
}

/// The first run of a graph, by position.
fn first_run(subject: &ExportSubject, lane: usize, graph: GraphIdx) -> Option<(u32, &BoundGraph)> {
    let runs = &subject.comparison.session_of(lane).runs;
    let position = runs.iter().position(|run| run.graph == graph)?;
    Some((u32::try_from(position).ok()?, &*runs[position].bound))
}

fn push_row(fields: &mut CsvLine, subject: &ExportSubject, position: usize, graph: GraphIdx, row: &Placed) {
    let comparison = &subject.comparison;
    let lane: &Lane = &comparison.lanes[position];
    let run = first_run(subject, position, graph).map_or(0, |(run, _)| run);
    let tensor = Selected {
        run,
        graph,
        tensor: row.tensor,
    };
    let view = &subject.timeline.lanes[position];
    let block = view.blocks_of(tensor).next();
    let region = block.and_then(|block| {
        let blocks = &view.blocks;
        let span = view.regions.get(*blocks.span.get(block as usize)? as usize)?;
        Some((span.label.to_string(), blocks.offset.get(block as usize)?.to_string()))
    });
    let (region, offset) = region.unwrap_or_default();
    let session = comparison.session_of(position);
    let graph_name = session.graphs.get(graph.idx()).map_or("", |graph| graph.name.as_str());
    let policy = if comparison.is_problem() {
        String::new()
    } else {
        lane.policy.number().to_string()
    };
    fields.push(&comparison.lane_title(lane.id));
    fields.push(&policy);
    fields.push(lane.strategy.name);
    fields.push(graph_name);
    fields.push(&row.name);
    fields.push(&storage(subject, tensor));
    fields.push(&row.life.0);
    fields.push(&row.life.1);
    fields.push(&row.offset.to_string());
    fields.push(&row.size.get().to_string());
    fields.push(&row.rounded.get().to_string());
    fields.push(&region);
    fields.push(&offset);
}

/// The number of a tensor's storage; empty where the source has none.
fn storage(subject: &ExportSubject, tensor: Selected) -> String {
    let entry = subject.comparison.workload.graphs().get(tensor.graph.idx());
    let tensor = entry.and_then(|entry| entry.graph.tensors().get(tensor.tensor));
    tensor.map_or_else(String::new, |tensor| tensor.storage.0.to_string())
}
