//! Dumps of Ascend's compiler in the shared corpus: figures of the oracle, and the vendor's own plan to the byte.
//!
//! Reads all files of the folder: `*.txt` and `*.pbtxt` with `expected.json`, and plans (`*_ge_plan.json`) taken from
//! one of the dumps.

use std::path::{Path, PathBuf};

use highwater::analysis::{DumpFigures, GraphFigures, Inspection, dumped_plan, inspect};
use highwater::graph::{Bindings, Graph, Role, TensorId};
use highwater::liveness::{View, lifetimes};
use highwater::workload::{Dumped, GraphEntry, Lifetimes, Workload};
use serde_json::Value as Json;

use crate::oracle::Oracle;
use crate::support::{files, name, shared};
use crate::workloads::workload;

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

fn count(graph: &Graph, wanted: impl Fn(TensorId) -> bool) -> u64 {
    graph.tensors().ids().filter(|id| wanted(*id)).count() as u64
}

#[test]
fn dumps_have_the_oracles_figures() {
    let Some(folder) = shared(FOLDER) else { return };
    let expected = json(&folder.join("expected.json"));
    let mut faults = Vec::new();
    for path in dumps(&folder) {
        let file = name(&path);
        let mut oracle = Oracle::new(&*file, &expected[&file]);
        oracle.same("file_bytes", std::fs::metadata(&path).expect("readable").len());
        let graphs = oracle.get("graphs").as_array().cloned().unwrap_or_default();
        faults.extend(oracle.faults());
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
            let main = (position == 0).then_some((entry, &dumps[0].1));
            faults.extend(compare(&file, expected, figures, graph, main));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn compare(
    file: &str,
    expected: &Json,
    figures: &GraphFigures,
    graph: &Graph,
    main: Option<(&GraphEntry, &DumpFigures)>,
) -> Vec<String> {
    let mut oracle = Oracle::new(format!("{file} {}", figures.name), expected);
    oracle.holds("name", |theirs| theirs == &*figures.name, &figures.name);
    oracle.same("n_ops", figures.ops);
    oracle.same("n_outputs", figures.tensors);
    oracle.same_kinds("op_types", graph);
    let knows_all = oracle.get("unknown_shape_outputs").as_u64() == Some(0);
    oracle.holds(
        "unknown_shape_outputs",
        |theirs| theirs.as_u64().is_some_and(|theirs| figures.unknown_shapes <= theirs),
        &figures.unknown_shapes.to_string(),
    );
    let sizes = graph.sizes(&Bindings::new());
    oracle.same_peak("naive", graph, &lifetimes(graph, &sizes, View::Naive), knows_all);
    let operands = graph.ops().ids().map(|op| graph.operands(op).len() as u64).sum::<u64>();
    let dangling = oracle.get("dangling_inputs").as_u64().unwrap_or(0);
    oracle.same("n_data_inputs", operands + dangling);
    let is_sorted = graph.reordered_ops() == 0;
    oracle.holds(
        "back_edges",
        |theirs| theirs.as_u64().is_some_and(|edges| (edges == 0) == is_sorted),
        &format!("sorted: {is_sorted}"),
    );
    let Some((entry, dump)) = main else {
        for key in [
            "n_offsets",
            "max_offset_end",
            "distinct_offsets",
            "memory_size_attr",
            "weight_size_attr",
        ] {
            oracle.left_out(key);
        }
        return oracle.faults();
    };
    oracle.same("n_offsets", dump.offsets);
    oracle.same("max_offset_end", dump.extent.get());
    let plan = dumped(entry).offsets.as_ref().map_or(&[][..], |plan| &plan.offsets);
    let activations = entry.graph.tensors().iter_ids();
    let activations = activations.filter(|(_, tensor)| tensor.role == Role::Activation);
    let mut offsets: Vec<u64> = activations
        .filter_map(|(id, _)| plan.get(id.0 as usize).copied().flatten())
        .collect();
    offsets.sort_unstable();
    offsets.dedup();
    oracle.same("distinct_offsets", offsets.len() as u64);
    for (key, fact) in [("memory_size_attr", "memory_size"), ("weight_size_attr", "weight_size")] {
        let stated = dump
            .facts
            .iter()
            .find(|(key, _)| key == fact)
            .map(|(_, value)| value.clone());
        // Absent where the oracle's reader read only the graph; the model's attribute may state it.
        oracle.holds(
            key,
            |theirs| theirs.is_null() || stated == Some(theirs.to_string()),
            &format!("{stated:?}"),
        );
    }
    oracle.faults()
}

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

#[test]
fn plans_taken_from_dumps_are_read_to_the_byte() {
    let Some(folder) = shared(FOLDER) else { return };
    for path in files(&folder, "_ge_plan.json") {
        let plan = json(&path);
        let rows = plan["tensors"].as_array().expect("a list of tensors");
        let matching: Vec<Workload> = dumps(&folder)
            .iter()
            .map(|path| read(path))
            .filter(|workload| rows.iter().all(|row| has_row(&workload.graphs()[0], row)))
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
        assert_eq!(plan["max_end"].as_u64(), ends.max(), "{}", name(&path));
    }
}

/// Whether a graph has the tensor of a plan's row: life, offset, bytes.
fn has_row(entry: &GraphEntry, row: &Json) -> bool {
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
