//! Graphs as programs: samples and the corpus.

use highwater::graph::{Bindings, Graph};
use highwater::progress::{Cancel, Progress};
use highwater::rewrite::name_reuse::{
    NameReuseRequest, ReuseQuestion, ReuseReport, block_program, merged_storage, reuse_report,
};
use highwater::workload::Source;

use crate::support;

const SMALL: &str = r#"{"highwater_graph": 1, "nodes": [
 {"op": "aten.mm.default", "inputs": ["x", "w"], "phase": "forward", "outputs": [{"id": "a", "shape": ["batch", 4], "dtype": "float32"}]},
 {"op": "aten.relu_.default", "inputs": ["a"], "phase": "forward", "outputs": [{"id": "b", "shape": ["batch", 4], "dtype": "float32", "alias_of": "a"}]},
 {"op": "aten.view.default", "inputs": ["b"], "phase": "forward", "workspace_bytes": 64, "outputs": [{"id": "c", "shape": ["batch", 4], "dtype": "float32", "alias_of": "a"}]},
 {"op": "aten.exp.default", "inputs": ["c"], "phase": "forward", "outputs": [{"id": "d", "shape": ["batch", 4], "dtype": "float32"}]},
 {"op": "aten.exp.default", "inputs": ["d"], "phase": "backward", "outputs": [{"id": "g", "shape": [4], "dtype": "float32"}]},
 {"op": "aten.add_.Tensor", "inputs": ["w", "g"], "phase": "optimizer", "outputs": [{"id": "w2", "shape": [4], "dtype": "float32", "alias_of": "w"}]}],
 "inputs": [{"id": "x", "shape": ["batch", 4], "dtype": "float32", "role": "batch"}, {"id": "w", "shape": [4], "dtype": "float32", "role": "param"}],
 "outputs": ["d"]}"#;

fn graph(name: &str, bytes: &[u8]) -> Option<std::sync::Arc<Graph>> {
    match support::read(name, bytes).ok()?.source {
        Source::Graphs(entries) => entries.first().map(|entry| std::sync::Arc::clone(&entry.graph)),
        _ => None,
    }
}

fn report(graph: &Graph, bindings: &Bindings, level: i64) -> ReuseReport {
    let converted = block_program(graph, bindings);
    let request = NameReuseRequest {
        level,
        ..NameReuseRequest::default()
    };
    let cancel = Cancel::new();
    let question = ReuseQuestion {
        program: &converted.program,
        request: &request,
        fetched: &converted.fetched,
        batch: 1,
    };
    let report = reuse_report(&question, &Progress::silent(&cancel)).unwrap();
    let merged = merged_storage(graph, &converted, &report.reuse);
    assert_eq!(merged.len(), graph.tensors().len());
    report
}

#[test]
fn a_graph_becomes_one_block() {
    let graph = graph("small.json", SMALL.as_bytes()).unwrap();
    let converted = block_program(&graph, &Bindings::new());
    let block = &converted.program.blocks[0];
    let names: Vec<&str> = block.variables.keys().map(|name| &**name).collect();
    assert_eq!(names, ["x", "w", "a", "c", "d", "g"]);
    assert_eq!(block.variables["a"].shape, [-1, 4]);
    assert!(block.variables["w"].is_persistable && !block.variables["x"].is_persistable);
    let written: Vec<&str> = block.ops.iter().map(|op| &*op.outputs[0].1[0]).collect();
    assert_eq!(written, ["a", "a", "c", "d", "g", "w"]);
    assert_eq!(
        block.ops[5].role_variables.as_deref(),
        Some(&["w".into(), "g".into()][..])
    );
    assert_eq!(&*converted.fetched, &["d".into()]);
    let bound = Bindings::from([("batch".to_owned(), 2)]);
    let report = report(&graph, &bound, 1);
    let renames: Vec<_> = report
        .reuse
        .renames
        .iter()
        .map(|rename| (&*rename.variable, &*rename.cache))
        .collect();
    assert_eq!(renames, [("d", "a"), ("g", "c")]);
    let converted = block_program(&graph, &bound);
    let merged = merged_storage(&graph, &converted, &report.reuse);
    let of = |name: &str| {
        let tensor = graph
            .tensors()
            .ids()
            .find(|tensor| graph.tensor_name(*tensor) == name)
            .unwrap();
        graph.tensor_name(merged[highwater::graph::Id::idx(tensor)]).to_owned()
    };
    assert_eq!([of("d"), of("g"), of("b"), of("x")], ["a", "c", "b", "x"]);
}

#[test]
fn samples_and_corpus_are_safe() {
    let mut files = support::files(std::path::Path::new("sample_traces"), ".gz");
    files.extend(support::files(std::path::Path::new("sample_traces"), ".onnx"));
    if let Some(folder) = support::shared("corpus/made/torch_train") {
        files.extend(support::files(&folder, ".json"));
    }
    for path in files {
        let name = support::name(&path);
        let Some(graph) = graph(&name, &std::fs::read(&path).unwrap()) else {
            continue;
        };
        let bindings: Bindings = graph.symbols().into_iter().map(|symbol| (symbol, 8)).collect();
        for level in [0, 1] {
            let report = report(&graph, &bindings, level);
            assert_eq!(report.reuse.exception, None, "{name}");
            assert!(report.reuse.hits() > 0, "{name}");
            let corrupted: Vec<_> = report
                .findings
                .iter()
                .filter(|finding| finding.kind.is_corruption())
                .collect();
            assert!(corrupted.is_empty(), "{name}: {corrupted:?}");
            assert!(report.figures.bytes_after <= report.figures.bytes_before, "{name}");
            eprintln!(
                "{name} level {level}: {} hits, {:?}",
                report.reuse.hits(),
                report.figures
            );
        }
    }
}
