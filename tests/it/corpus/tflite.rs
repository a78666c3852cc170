//! The TensorFlow Lite importer against the shared corpus: every model of the folder, against the interpreter's
//! figures.

use highwater::graph::{Bindings, Graph, Id as _, Role, Tensor, TensorId};
use highwater::liveness::{View, lifetimes};
use highwater::plan::{Buffer, PlacementProblem, PlanRequest, find, plan};
use highwater::progress::{Cancel, Progress};
use highwater::units::{Bytes, Step};
use serde_json::Value as Json;

use crate::cli::json;
use crate::oracle::Oracle;
use crate::support::{files, name, shared};
use crate::workloads::workload;

/// The alignment of the interpreter's offsets.
const ALIGNMENT: u64 = 64;

/// The half-open live range of each tensor; inputs live during the whole run.
fn ranges(graph: &Graph, view: View) -> Vec<(TensorId, u32, u32, u64)> {
    let sizes = graph.sizes(&Bindings::new());
    let lived = lifetimes(graph, &sizes, view);
    let mut ranges: Vec<_> = lived
        .items
        .iter()
        .map(|item| (item.tensor, item.birth.0, item.end.0, item.bytes.0))
        .collect();
    for (id, tensor) in graph.tensors().iter_ids() {
        if tensor.role == Role::Input {
            ranges.push((id, 0, lived.n_steps, sizes.tensor(id).unwrap()));
        }
    }
    ranges.sort_unstable_by_key(|range| (range.1, range.0));
    ranges
}

fn peak(ranges: &[(TensorId, u32, u32, u64)]) -> u64 {
    let live = |step: u32| {
        let live = ranges.iter().filter(|range| range.1 <= step && step < range.2);
        live.map(|range| range.3).sum::<u64>()
    };
    ranges.iter().map(|range| live(range.1)).max().unwrap_or(0)
}

fn greedy_by_size(ranges: &[(TensorId, u32, u32, u64)]) -> u64 {
    let problem = PlacementProblem::of(ranges.iter().map(|range| Buffer {
        lower: Step(range.1),
        upper: Step(range.2),
        size: Bytes(range.3).align_up(ALIGNMENT),
        alignment: ALIGNMENT,
        offset: None,
    }));
    let cancel = Cancel::new();
    let request = PlanRequest {
        problem: &problem,
        recorded: None,
        order: None,
        limits: highwater::plan::Limits::default(),
    };
    let planned = plan(find("greedy_by_size").unwrap(), &request, &Progress::silent(&cancel)).unwrap();
    planned.plan.footprint.get()
}

fn ids(list: &Json) -> Vec<i64> {
    list.as_array().unwrap().iter().map(|id| id.as_i64().unwrap()).collect()
}

/// Every operator with its inputs and outputs.
fn same_ops(title: &str, graph: &Graph, expected: &Json) {
    assert_eq!(graph.ops().len() as u64, expected["n_ops"].as_u64().unwrap(), "{title}");
    for (op, wanted) in graph.ops().ids().zip(expected["ops"].as_array().unwrap()) {
        assert_eq!(graph.op_kind(op), wanted["op"].as_str().unwrap(), "{title}");
        let present = |key: &str| {
            ids(&wanted[key])
                .into_iter()
                .filter(|id| *id >= 0)
                .collect::<Vec<i64>>()
        };
        let found = |list: &[TensorId]| {
            list.iter()
                .map(|id| i64::try_from(id.idx()).unwrap())
                .collect::<Vec<i64>>()
        };
        assert_eq!(found(graph.operands(op)), present("inputs"), "{title} {op:?}");
        assert_eq!(found(graph.results(op)), present("outputs"), "{title} {op:?}");
    }
}

fn compare(title: &str, graph: &Graph, expected: &Json) -> Vec<String> {
    let sizes = graph.sizes(&Bindings::new());
    let mut oracle = Oracle::new(title, expected);
    let lived = lifetimes(graph, &sizes, View::Naive);
    oracle.same_peak("liveness_excluding_inputs", graph, &lived, true);
    let ids_of = |wanted: &dyn Fn(&Tensor) -> bool| -> Vec<u64> {
        let tensors = graph.tensors().iter_ids();
        tensors
            .filter(|(_, tensor)| wanted(tensor))
            .map(|(id, _)| id.idx() as u64)
            .collect()
    };
    let listed_ids = |theirs: &Json| -> Vec<u64> {
        let mut listed: Vec<u64> = ids(theirs)
            .into_iter()
            .filter_map(|id| u64::try_from(id).ok())
            .collect();
        listed.sort_unstable();
        listed
    };
    let inputs = ids_of(&|tensor| tensor.role == Role::Input);
    oracle.holds("inputs", |theirs| listed_ids(theirs) == inputs, &format!("{inputs:?}"));
    let outputs = ids_of(&|tensor| tensor.is_output);
    oracle.holds(
        "outputs",
        |theirs| listed_ids(theirs) == outputs,
        &format!("{outputs:?}"),
    );
    let stored = graph
        .tensors()
        .iter_ids()
        .filter(|(_, tensor)| tensor.role.is_resident());
    let stored: u64 = stored.map(|(id, _)| sizes.tensor(id).unwrap_or(0)).sum();
    // The interpreter's scratch tensors count among the oracle's constants.
    oracle.holds(
        "const_bytes",
        |theirs| theirs.as_u64().is_some_and(|theirs| stored <= theirs),
        &stored.to_string(),
    );
    // Compared above, or in the test of the arena; inputs there live up to their last reader, here during the whole
    // run.
    for key in [
        "n_ops",
        "n_tensors",
        "ops",
        "tensors",
        "arena_extent_bytes",
        "tensors_in_arena",
        "tensors_outside_arena",
        "live_overlaps_same_offset_inplace",
        "live_overlaps_other",
        "liveness_including_inputs",
        "note",
    ] {
        oracle.left_out(key);
    }
    oracle.faults()
}

#[test]
fn every_model_has_the_interpreters_ops_tensors_and_peak() {
    let Some(folder) = shared("corpus/made/tflite") else {
        return;
    };
    let expected: Json = serde_json::from_slice(&std::fs::read(folder.join("expected.json")).unwrap()).unwrap();
    for file in files(&folder, ".tflite") {
        let title = name(&file);
        let expected = &expected[&title];
        assert!(expected.is_object(), "{title}: the oracle says nothing of it");
        let workload = workload(&title, &std::fs::read(&file).unwrap());
        let entry = &workload.graphs()[0];
        let graph = &entry.graph;
        let listed = entry.dumped.as_ref().unwrap().tensors.unwrap();
        // The interpreter adds scratch tensors of its kernels after those of the file.
        assert!(listed <= expected["n_tensors"].as_u64().unwrap(), "{title}");
        same_ops(&title, graph, expected);
        let sizes = graph.sizes(&Bindings::new());
        for (key, tensor) in expected["tensors"].as_object().unwrap() {
            let place: u64 = key.parse().unwrap();
            if place >= listed {
                continue;
            }
            let id = TensorId::from_idx(place as usize);
            assert_eq!(sizes.tensor(id), tensor["bytes"].as_u64(), "{title} tensor {key}");
            assert_eq!(graph.tensor_name(id), tensor["name"].as_str().unwrap(), "{title}");
            assert_eq!(
                graph.tensors()[id].dtype.name(),
                tensor["dtype"].as_str().unwrap(),
                "{title}"
            );
        }
        let faults = compare(&title, graph, expected);
        assert!(faults.is_empty(), "{}", faults.join("\n"));
        let with_inputs = peak(&ranges(graph, View::Naive));
        let oracle = expected["liveness_including_inputs"]["peak_live_bytes"]
            .as_u64()
            .unwrap();
        assert!(with_inputs >= oracle, "{title}: {with_inputs} < {oracle}");
    }
}

#[test]
fn the_recorded_arena_holds_our_lifetimes_and_is_never_smaller_than_our_plan() {
    let Some(folder) = shared("corpus/made/tflite") else {
        return;
    };
    let expected: Json = serde_json::from_slice(&std::fs::read(folder.join("expected.json")).unwrap()).unwrap();
    for file in files(&folder, ".tflite") {
        let title = name(&file);
        let expected = &expected[&title];
        assert!(expected.is_object(), "{title}: the oracle says nothing of it");
        let workload = workload(&title, &std::fs::read(&file).unwrap());
        let graph = &workload.graphs()[0].graph;
        let extent = expected["arena_extent_bytes"].as_u64().unwrap();
        let offset = |id: TensorId| expected["tensors"][id.idx().to_string()]["arena_offset"].as_u64();
        let ranges_naive = ranges(graph, View::Naive);
        let mut top = 0;
        for one in &ranges_naive {
            let Some(at) = offset(one.0) else { continue };
            top = top.max(at + one.3);
            for other in &ranges_naive {
                let Some(there) = offset(other.0) else { continue };
                let is_live = one.1 < other.2 && other.1 < one.2;
                let collides = at < there + other.3 && there < at + one.3;
                // In place at one address is fine; any other overlap would destroy bytes.
                let is_own = one.0 == other.0 || at == there;
                assert!(
                    !is_live || !collides || is_own,
                    "{title}: {:?} and {:?}",
                    one.0,
                    other.0
                );
            }
        }
        // Tensors without an address from the interpreter are not compared.
        let told: Vec<_> = ranges_naive
            .iter()
            .copied()
            .filter(|range| offset(range.0).is_some())
            .collect();
        let ours = greedy_by_size(&told);
        assert!(ours <= extent, "{title}: {ours} > {extent}");
        if told.len() == ranges_naive.len() && top == extent {
            assert_eq!(ours, extent, "{title}");
        }
    }
}

#[test]
fn plan_places_inputs_on_request() {
    let Some(folder) = shared("corpus/made/tflite") else {
        return;
    };
    for file in files(&folder, ".tflite") {
        let path = file.to_str().unwrap();
        let arguments = [
            "plan",
            path,
            "--strategy",
            "greedy_by_size",
            "--alignment",
            "64",
            "--format",
            "json",
        ];
        let without = json(&arguments, 0);
        let with = json(&[&arguments[..], &["--with-inputs"]].concat(), 0);
        let workload = workload(&name(&file), &std::fs::read(&file).unwrap());
        let graph = &workload.graphs()[0].graph;
        let inputs = graph
            .tensors()
            .iter()
            .filter(|tensor| tensor.role == Role::Input)
            .count() as u64;
        let buffers = |answer: &Json| answer["buffers"].as_u64().unwrap();
        assert_eq!(buffers(&with), buffers(&without) + inputs, "{path}");
        assert!(
            with["footprint_bytes"].as_u64() >= without["footprint_bytes"].as_u64(),
            "{path}"
        );
        assert_eq!(with["verified"], true, "{path}");
    }
}

#[test]
fn every_graph_of_a_model_counts_the_tensors_that_it_lists() {
    let file = "lstm_tiny.tflite";
    let model = workload(file, &std::fs::read(format!("sample_traces/{file}")).unwrap());
    let entry = &model.graphs()[0];
    let graphs = std::iter::once(&entry.graph).chain(&entry.bodies);
    let listed: Vec<u64> = graphs.map(|graph| graph.tensors().len() as u64).collect();
    let figures = highwater::analysis::inspect(&model, &Bindings::new()).graphs;
    let counted: Vec<u64> = figures.iter().map(|graph| graph.tensors).collect();
    assert!(listed.len() > 1 && counted == listed, "{counted:?} {listed:?}");
}
