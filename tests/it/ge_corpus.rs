//! Dumps of Ascend's compiler in the shared corpus: figures of the oracle, and the vendor's own plan to the byte.
//!
//! Whatever lies in the folder is read: `*.txt` and `*.pbtxt` with `expected.json`, and plans (`*_ge_plan.json`) that were
//! taken from one of the dumps.

use std::path::{Path, PathBuf};

use highwater::analysis::{DumpFigures, GraphFigures, Inspection, dumped_plan, inspect};
use highwater::graph::{Bindings, Graph, Role, TensorId};
use highwater::liveness::{View, lifetimes};
use highwater::units::{Bytes, Step};
use highwater::workload::{Dumped, GraphEntry, Lifetimes, Workload};
use serde_json::Value as Json;

use crate::support::{files, name, shared, workload};

const FOLDER: &str = "corpus/fetched/ge_dumps";

fn json(path: &Path) -> Json {
    serde_json::from_slice(&std::fs::read(path).expect("readable")).expect("JSON")
}

fn dumps(folder: &Path) -> Vec<PathBuf> {
    let mut dumps = files(folder, ".txt");
    dumps.extend(files(folder, ".pbtxt"));
    dumps
}

fn read(path: &Path) -> Workload {
    workload(&name(path), &std::fs::read(path).expect("readable"))
}

fn dumped(entry: &GraphEntry) -> &Dumped {
    entry.dumped.as_ref().expect("a dump says more than its graph")
}

/// Compares where the oracle says something.
fn same(name: &str, expected: &Json, found: u64) {
    if let Some(expected) = expected.as_u64() {
        assert_eq!(found, expected, "{name}");
    }
}

fn count(graph: &Graph, wanted: impl Fn(TensorId) -> bool) -> u64 {
    graph.tensors().ids().filter(|id| wanted(*id)).count() as u64
}

#[test]
fn dumps_have_the_oracles_figures() {
    let Some(folder) = shared(FOLDER) else { return };
    let expected = json(&folder.join("expected.json"));
    for path in dumps(&folder) {
        let file = name(&path);
        let Some(graphs) = expected[&file]["graphs"].as_array() else {
            eprintln!("{file}: nothing is expected of it");
            continue;
        };
        let workload = read(&path);
        let entry = &workload.graphs()[0];
        let Inspection {
            graphs: found, dumps, ..
        } = inspect(&workload, &Bindings::new());
        assert_eq!(found.len(), graphs.len(), "{file}");
        for (position, (expected, figures)) in graphs.iter().zip(&found).enumerate() {
            let graph = if position == 0 {
                &entry.graph
            } else {
                &entry.bodies[position - 1]
            };
            compare((&file, expected), figures, graph);
        }
        compare_plan((&file, &graphs[0]), entry, &dumps[0].1);
    }
}

fn compare((file, expected): (&str, &Json), figures: &GraphFigures, graph: &Graph) {
    let name = expected["name"].as_str().unwrap_or(&figures.name);
    let place = format!("{file} {name}");
    assert_eq!(figures.name, name, "{place}");
    same(&place, &expected["n_ops"], figures.ops);
    same(&place, &expected["n_outputs"], figures.tensors);
    let naive = &expected["naive"];
    let peak = figures.naive_peak.expect("every dimension is a number or unknown");
    same(&place, &naive["peak_live_bytes"], peak.0.get());
    same(&place, &naive["peak_step"], peak.1.map_or(0, |step| u64::from(step.0)));
    same(&place, &naive["sum_bytes"], figures.activations.map_or(0, Bytes::get));
    same(
        &place,
        &naive["n_buffers"],
        count(graph, |id| graph.tensors()[id].role == Role::Activation),
    );
    if let (Some(node), Some(step)) = (naive["peak_node"].as_str(), peak.1) {
        assert_eq!(graph.op_name(highwater::graph::OpId(step.0)), node, "{place}");
    }
    let sizes = graph.sizes(&Bindings::new());
    let live = |step: Step| {
        let live = lifetimes(graph, &sizes, View::Naive).items;
        let live = live.iter().filter(|item| item.birth <= step && step < item.end);
        live.filter(|item| item.bytes.get() > 0).count() as u64
    };
    same(&place, &naive["live_tensors_at_peak"], peak.1.map_or(0, live));
    if let Some(largest) = naive["max_tensor"]["name"].as_str() {
        let found = graph.tensors().ids().find(|id| graph.tensor_name(*id) == largest);
        let found = found.and_then(|id| sizes.tensor(id)).unwrap_or(0);
        same(&place, &naive["max_tensor"]["bytes"], found);
    }
    for (kind, number) in expected["op_types"].as_object().into_iter().flatten() {
        let ops = graph.ops().ids().filter(|op| graph.op_kind(*op) == kind);
        same(&format!("{place} {kind}"), number, ops.count() as u64);
    }
    let operands = graph.ops().ids().map(|op| graph.operands(op).len() as u64).sum::<u64>();
    if expected["dangling_inputs"].as_u64() == Some(0) {
        same(&place, &expected["n_data_inputs"], operands);
    }
}

fn compare_plan((file, expected): (&str, &Json), entry: &GraphEntry, figures: &DumpFigures) {
    same(file, &expected["n_offsets"], figures.offsets);
    same(file, &expected["max_offset_end"], figures.extent.get());
    let Some(plan) = &dumped(entry).offsets else { return };
    let activations = entry.graph.tensors().iter_ids();
    let activations = activations.filter(|(_, tensor)| tensor.role == Role::Activation);
    let mut offsets: Vec<u64> = activations.filter_map(|(id, _)| plan.offsets[id.0 as usize]).collect();
    offsets.sort_unstable();
    offsets.dedup();
    same(file, &expected["distinct_offsets"], offsets.len() as u64);
}

/// No two blocks that live at once share a byte, and the plan is placed as it is dumped.
#[test]
fn dumped_plans_hold() {
    let Some(folder) = shared(FOLDER) else { return };
    for path in dumps(&folder) {
        let file = name(&path);
        let workload = read(&path);
        for entry in workload.graphs() {
            let sizes = entry.graph.sizes(&Bindings::new());
            let live = lifetimes(&entry.graph, &sizes, View::Aliased);
            let Some(plan) = &dumped(entry).offsets else { continue };
            let Ok(plan) = dumped_plan(plan, &live) else { continue };
            assert_eq!(first_overlap(&live, &plan.offsets), None, "{file}");
        }
    }
}

/// The first two live ranges that share a step and a byte.
fn first_overlap(live: &Lifetimes, offsets: &[u64]) -> Option<(TensorId, TensorId)> {
    let placed: Vec<_> = live.items.iter().zip(offsets).collect();
    for (position, (one, at)) in placed.iter().enumerate() {
        for (other, its) in &placed[..position] {
            let is_together = one.birth < other.end && other.birth < one.end;
            let is_shared = **at < *its + other.bytes.get() && **its < *at + one.bytes.get();
            if is_together && is_shared {
                return Some((other.tensor, one.tensor));
            }
        }
    }
    None
}

/// A plan that was taken from a dump is found again in the one that has all its tensors at its offsets.
#[test]
fn plans_taken_from_dumps_are_read_to_the_byte() {
    let Some(folder) = shared(FOLDER) else { return };
    for path in files(&folder, "_ge_plan.json") {
        let plan = json(&path);
        let rows = plan["tensors"].as_array().expect("a list of tensors");
        let matching: Vec<Workload> = dumps(&folder)
            .iter()
            .map(|path| read(path))
            .filter(|workload| rows.iter().all(|row| stands(&workload.graphs()[0], row)))
            .collect();
        assert_eq!(matching.len(), 1, "{}: exactly one dump has this plan", name(&path));
        let entry = &matching[0].graphs()[0];
        let graph = &entry.graph;
        let is_fed = |id: TensorId| matches!(graph.tensors()[id].role, Role::Activation | Role::Input);
        assert_eq!(count(graph, is_fed), rows.len() as u64);
        let offsets = &dumped(entry).offsets.as_ref().expect("a plan").offsets;
        let sizes = graph.sizes(&Bindings::new());
        let ends = graph.tensors().ids().filter(|id| is_fed(*id));
        let ends = ends.filter_map(|id| Some(offsets[id.0 as usize]? + sizes.tensor(id)?));
        same(&name(&path), &plan["max_end"], ends.max().unwrap_or(0));
    }
}

/// Whether a graph has a tensor as a row of a plan says: life, offset, bytes.
fn stands(entry: &GraphEntry, row: &Json) -> bool {
    let graph = &entry.graph;
    let Some(offsets) = &dumped(entry).offsets else {
        return false;
    };
    let Some(id) = graph.tensors().ids().find(|id| row["tensor"] == graph.tensor_name(*id)) else {
        return false;
    };
    let born = graph.tensors()[id].producer.map(|op| op.0);
    let readers = graph.consumers();
    let last = readers.of(id).last().map(|op| op.0).or(born);
    let bytes = graph.sizes(&Bindings::new()).tensor(id);
    row["offset"].as_u64() == offsets.offsets[id.0 as usize]
        && row["born"].as_u64() == born.map(u64::from)
        && row["last"].as_u64() == last.map(u64::from)
        && row["bytes"].as_u64() == bytes
        && born.is_some_and(|op| row["op"] == graph.op_kind(highwater::graph::OpId(op)))
}
