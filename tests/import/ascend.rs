//! Files of `MindSpore`, torchair and the profilers of the shared corpus: figures that were read independently.

use std::path::Path;

use crate::support::{name, read, shared};
use highwater_import::Imported;
use highwater_model::graph::Bindings;
use highwater_model::liveness::{View, lifetimes};
use highwater_model::units::Bytes;
use highwater_model::workload::{GraphEntry, ProblemEntry, Source};

fn opened(path: &Path) -> Imported {
    let bytes = std::fs::read(path).unwrap();
    read(&name(path), &bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn graph(path: &Path, format: &str) -> GraphEntry {
    let imported = opened(path);
    assert_eq!(imported.format, format, "{}", path.display());
    match imported.source {
        Source::Graphs(mut graphs) => graphs.remove(0),
        other => panic!("{}: {other:?}", path.display()),
    }
}

/// The most bytes of live activations, each with separate memory.
fn peak(entry: &GraphEntry) -> u64 {
    let sizes = entry.graph.sizes(&Bindings::new());
    let curve = lifetimes(&entry.graph, &sizes, View::Naive).live_curve();
    curve.into_iter().max().map_or(0, Bytes::get)
}

/// Blocks, end of the plan and most live bytes.
fn figures(arena: &ProblemEntry) -> (usize, u64, u64) {
    let buffers = &arena.problem.buffers;
    let offsets = &arena.recorded.as_ref().expect("a plan").offsets;
    let ends = buffers
        .iter()
        .zip(offsets)
        .map(|(buffer, offset)| offset + buffer.size.get());
    let last = buffers.iter().map(|buffer| buffer.upper.0).max().unwrap_or(0);
    let live = |step: u32| -> u64 {
        let live = buffers
            .iter()
            .filter(|buffer| buffer.lower.0 <= step && step < buffer.upper.0);
        live.map(|buffer| buffer.size.get()).sum()
    };
    (
        buffers.len(),
        ends.max().unwrap_or(0),
        (0..last).map(live).max().unwrap_or(0),
    )
}

#[test]
fn mindspore_files_have_the_figures_of_their_raw_records() {
    let Some(folder) = shared("corpus/made/mindspore") else {
        return;
    };
    let plan = graph(&folder.join("CPU_somas_tensor_offset_0.ir"), "somas");
    let dumped = plan.dumped.as_ref().expect("a plan");
    assert_eq!(figures(&dumped.arenas[0]), (118, 6_445_056, 4_198_912));
    assert_eq!((plan.graph.ops().len(), dumped.streams.len()), (103, 103));
    let build = graph(&folder.join("graph_build_0_0094.ir"), "mindspore_ir");
    assert_eq!(build.graph.ops().len(), 103);
    let model = graph(&folder.join("net_mindir.mindir"), "mindir");
    assert_eq!((model.graph.ops().len(), peak(&model)), (14, 1_048_832));
    for (file, expected) in [
        ("mindspore_memory_record.csv", (1_073_741_824, 4_212_224)),
        ("memory_block_form.csv", (0, 3_146_240)),
    ] {
        let Source::Recordings(recordings) = opened(&folder.join(file)).source else {
            panic!("{file} is a recording")
        };
        let recording = &recordings[0];
        let stated = recording.totals.iter().map(|total| total.peak().0.get()).min();
        assert_eq!(
            (recording.peaks().reserved.0.get(), stated.unwrap_or(0)),
            expected,
            "{file}"
        );
    }
}

#[test]
fn torchair_and_torch_npu_have_the_figures_of_their_writers() {
    let Some(folder) = shared("corpus/made/torchair") else {
        return;
    };
    for file in ["dynamo_optimized_graph_1.txt", "dynamo_original_graph_meta.txt"] {
        assert_eq!(peak(&graph(&folder.join(file), "ge_dump")), 64 << 10, "{file}");
    }
    assert_eq!(peak(&graph(&folder.join("ge_atc.json"), "ge_dump")), 64);
    if let Some(pending) = shared("pending/torchair") {
        let file = pending.join("dynamo_optimized_graph_1.pbtxt");
        assert_eq!(peak(&graph(&file, "ge_dump")), 64 << 10);
    }
    for file in ["torch_npu_operator_memory.csv", "ascend_pytorch_profiler_0.db"] {
        let Source::Recordings(recordings) = opened(&folder.join(file)).source else {
            panic!("{file} is a recording")
        };
        let of = |wanted: &str| {
            let peaks = recordings
                .iter()
                .find(|one| one.name == wanted)
                .expect("a pool")
                .peaks();
            (peaks.live.0.get() >> 20, peaks.reserved.0.get() >> 20)
        };
        assert_eq!((of("NPU:0"), of("NPU:0 workspace")), ((6, 20), (64, 64)), "{file}");
    }
}
