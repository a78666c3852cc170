//! Static plans as CSV: a row per buffer, with the lane that it is placed in.
//!
//! In: an answer. Out: rows in the order of lanes, graphs and buffers. `birth` and `death` are half-open, on the steps of one run of
//! the graph (a problem file: its own times); `offset` counts from the arena's beginning in the plan, `region_offset` from that of
//! the region in which the simulated device holds the buffer in the graph's first run.

use std::io::Write;
use std::path::Path;

use serde::Serialize;

use super::subject::{ExportError, ExportSubject};
use highwater_analysis::{LaneKind, arena_problem};
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

#[derive(Serialize)]
struct Row<'a> {
    lane: String,
    policy: Option<u8>,
    strategy: &'a str,
    graph: &'a str,
    tensor: String,
    storage: Option<u32>,
    birth: u64,
    death: u64,
    offset: u64,
    size_bytes: u64,
    placed_bytes: u64,
    region: &'a str,
    region_offset: Option<u64>,
}

/// A buffer in its plan.
struct Placed {
    tensor: TensorId,
    name: String,
    /// Half-open.
    steps: (u64, u64),
    offset: u64,
    size: Bytes,
    rounded: Bytes,
}

/// The plans of the lanes as a table. O(buffers log blocks).
pub(super) fn placements_csv(
    subject: &ExportSubject,
    _path: &Path,
    out: &mut dyn Write,
    progress: &Progress<'_>,
) -> Result<(), ExportError> {
    let comparison = &subject.comparison;
    let lanes = subject.lanes_or_main();
    if lanes.iter().all(|lane| comparison.lanes[*lane].plans.is_empty()) {
        return Err(format!(
            "no static plan to export: {}",
            subject.comparison.study().words().no_plan
        )
        .into());
    }
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(out);
    let failed = std::io::Error::from;
    writer.write_record(HEADINGS).map_err(failed)?;
    for lane in lanes {
        for (graph, planned) in &comparison.lanes[lane].plans {
            let placed = buffers(subject, lane, *graph, &planned.plan);
            let n_rows = placed.len() as u64;
            for (number, buffer) in placed.into_iter().enumerate() {
                if number % CHUNK == 0 {
                    progress.set("writing", number as u64, n_rows)?;
                }
                writer.serialize(row(subject, lane, *graph, buffer)).map_err(failed)?;
            }
        }
    }
    Ok(writer.flush()?)
}

fn buffers(subject: &ExportSubject, lane: usize, graph: GraphIdx, plan: &Plan) -> Vec<Placed> {
    let comparison = &subject.comparison;
    if let Some(entry) = comparison.stated_problem() {
        let buffers = (0_u32..).zip(entry.problem.buffers.iter().zip(&plan.offsets));
        let row = |(number, (buffer, offset)): (u32, (&highwater_plan::Buffer, &u64))| Placed {
            tensor: TensorId(number),
            name: entry.ids.get(number as usize).to_owned(),
            steps: (entry.time(buffer.lower), entry.time(buffer.upper)),
            offset: *offset,
            size: buffer.size,
            rounded: buffer.size,
        };
        return buffers.map(row).collect();
    }
    let Some((run, bound)) = first_run(subject, lane, graph) else {
        return Vec::new();
    };
    let problem = arena_problem(&bound.program, &bound.engine_sizes);
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
            steps: (item.birth.0.into(), item.end.0.into()),
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

fn row(subject: &ExportSubject, lane: usize, graph: GraphIdx, buffer: Placed) -> Row<'_> {
    let comparison = &subject.comparison;
    let tensor = Selected {
        run: first_run(subject, lane, graph).map_or(0, |(run, _)| run),
        graph,
        tensor: buffer.tensor,
    };
    let view = &subject.timeline.lanes[lane];
    let region = view.blocks_of(tensor).next().and_then(|block| {
        let blocks = &view.blocks;
        let region = view.regions.get(*blocks.span.get(block as usize)? as usize)?;
        Some((&*region.label, blocks.offset.get(block as usize)?))
    });
    let session = comparison.session_of(lane);
    let graph_of_tensor = comparison.workload.graphs().get(graph.idx());
    let known = graph_of_tensor.and_then(|entry| entry.graph.tensors().get(tensor.tensor));
    Row {
        lane: comparison.lane_title(comparison.lanes[lane].id),
        policy: (comparison.lane_kind() != LaneKind::Strategies).then(|| comparison.lanes[lane].policy.number()),
        strategy: comparison.lanes[lane].strategy.name,
        graph: session.graphs.get(graph.idx()).map_or("", |graph| graph.name.as_str()),
        tensor: buffer.name,
        storage: known.map(|tensor| tensor.storage.0),
        birth: buffer.steps.0,
        death: buffer.steps.1,
        offset: buffer.offset,
        size_bytes: buffer.size.get(),
        placed_bytes: buffer.rounded.get(),
        region: region.map_or("", |(label, _)| label),
        region_offset: region.map(|(_, offset)| offset),
    }
}
