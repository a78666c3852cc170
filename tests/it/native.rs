//! The native JSON format: fixtures, the training graphs of the corpus, damaged files.

use highwater::analysis::inspect;
use highwater::graph::Bindings;
use highwater::import::ImportError;
use highwater::units::Step;
use serde_json::Value as Json;

use crate::support::{files, name, read, shared};
use crate::workloads::workload;

const TINY: &str = r#"{
  "highwater_graph": 1,
  "meta": {"model": "tiny"},
  "nodes": [
    {"name": "mm", "op": "matmul", "inputs": ["x", "w"], "phase": "forward", "flops": 1e3,
     "outputs": [{"id": "a", "shape": ["batch", 4], "dtype": "float32"}]},
    {"name": "relu", "op": "relu_", "inputs": ["a"], "phase": "forward",
     "outputs": [{"id": "b", "shape": ["batch", 4], "dtype": "float32", "alias_of": "a"}]},
    {"name": "grad", "op": "matmul_grad", "inputs": ["b", "w"], "phase": "backward", "workspace_bytes": 64,
     "outputs": [{"id": "g", "shape": [4, 4], "dtype": "float32", "atomic": true}]}
  ],
  "inputs": [
    {"id": "x", "name": "images", "shape": ["batch", 4], "dtype": "float32", "role": "batch"},
    {"id": "w", "name": "weight", "shape": [4, 4], "dtype": "float32", "role": "param"}
  ],
  "outputs": ["b"]
}"#;

#[test]
fn a_graph_is_read_with_symbols_aliases_and_scratch() {
    let workload = workload("tiny.json", TINY.as_bytes());
    let graph = &workload.graphs()[0].graph;
    assert_eq!(graph.name(), "tiny");
    assert_eq!(graph.symbols(), ["batch"]);
    let bindings = Bindings::from([("batch".to_owned(), 2)]);
    let figures = &inspect(&workload, &bindings).graphs[0];
    assert_eq!((figures.ops, figures.tensors), (3, 3));
    assert_eq!(figures.weights.get(), 64);
    assert_eq!(figures.inputs.map(highwater::units::Bytes::get), Some(32));
    assert_eq!(
        figures.naive_peak.map(|(bytes, step)| (bytes.get(), step)),
        Some((96, Some(Step(2))))
    );
    // b lives in a's memory to the end, together with g; scratch is no tensor.
    assert_eq!(
        figures.aliased_peak.map(|(bytes, step)| (bytes.get(), step)),
        Some((96, Some(Step(2))))
    );
}

#[test]
fn gzip_and_several_graphs_are_read() {
    let two = format!(r#"{{"highwater_graph": 1, "graphs": [{TINY}, {TINY}]}}"#);
    assert_eq!(workload("two.json", two.as_bytes()).graphs().len(), 2);
    let packed = gzip(two.as_bytes());
    assert_eq!(workload("two.json.gz", &packed).graphs().len(), 2);
    let cut = &packed[..packed.len() / 2];
    assert!(matches!(read("two.json.gz", cut), Err(ImportError::Malformed { .. })));
}

#[test]
fn a_file_that_unpacks_without_end_is_refused() {
    let mut plain = br#"{"highwater_graph": 1,"#.to_vec();
    plain.resize((512 << 20) + (8 << 20), b' ');
    let bomb = gzip(&plain);
    assert!(bomb.len() < 8 << 20);
    let error = read("bomb.json.gz", &bomb).unwrap_err();
    assert!(matches!(error, ImportError::UnpacksTooLarge { .. }), "{error}");
}

#[test]
fn damaged_files_name_a_place() {
    for (text, expected) in [
        (r#"{"nodes": ["#, "cut off"),
        (r#"{"nodes": [{"name": 1}]}"#, "line 1"),
        (
            r#"{"nodes": [{"op": "a", "outputs": [{"id": "t", "dtype": "float33"}]}]}"#,
            "float33",
        ),
        (r#"{"nodes": [{"op": "a", "inputs": ["ghost"]}]}"#, "ghost"),
        (
            r#"{"nodes": [{"op": "a", "outputs": [{"id": "t"}, {"id": "t"}]}]}"#,
            "defined twice",
        ),
        (
            r#"{"nodes": [{"op": "a", "inputs": ["u"], "outputs": [{"id": "t"}]},
                          {"op": "b", "inputs": ["t"], "outputs": [{"id": "u"}]}]}"#,
            "circle",
        ),
        (
            r#"{"nodes": [{"op": "a", "outputs": [{"id": "t", "alias_of": "u"}, {"id": "u", "alias_of": "t"}]}]}"#,
            "circle",
        ),
        (r#"{"highwater_graph": 99, "nodes": []}"#, "version 99"),
        (r#"{"nodes": 3}"#, "line 1"),
        ("[1, 2]", "none of the formats"),
        ("", "empty"),
    ] {
        let error = read("damaged.json", text.as_bytes()).expect_err(text).to_string();
        assert!(error.contains(expected), "{text}\n{error}");
        assert!(!error.contains('\n'), "one line: {error}");
    }
}

#[test]
fn sizes_beyond_every_device_are_refused() {
    let text = format!(
        r#"{{"nodes": [{{"op": "a", "outputs": [{{"id": "t", "shape": [{0}, {0}], "dtype": "float64"}}]}},
                      {{"op": "b", "inputs": ["t"], "outputs": [{{"id": "u", "shape": [{0}, {0}], "dtype": "float64"}}]}}]}}"#,
        i64::MAX
    );
    let error = read("huge.json", text.as_bytes()).expect_err("too large");
    assert!(error.to_string().contains("2^62"), "{error}");
}

#[test]
fn mutated_files_never_panic() {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % n as u64).unwrap()
    };
    for _ in 0..3000 {
        let mut bytes = TINY.as_bytes().to_vec();
        for _ in 0..=random(4) {
            let at = random(bytes.len());
            match random(3) {
                0 => bytes[at] = u8::try_from(random(256)).unwrap(),
                1 => bytes.truncate(at.max(1)),
                _ => bytes.insert(at, b"{}[]\",:0-9e"[random(11)]),
            }
        }
        if let Ok(imported) = read("mutated.json", &bytes) {
            let workload = highwater::workload::Workload::new(String::new(), imported.source);
            inspect(&workload, &Bindings::new());
        }
    }
}

#[test]
fn the_corpus_of_training_graphs_equals_the_oracle() {
    let Some(folder) = shared("corpus/made/torch_train") else {
        return;
    };
    let expected: Json = serde_json::from_slice(&std::fs::read(folder.join("expected.json")).unwrap()).unwrap();
    let mut n_checked = 0;
    for file in files(&folder, ".json") {
        let Some(oracle) = expected.get(name(&file)) else {
            continue;
        };
        let workload = workload(&name(&file), &std::fs::read(&file).unwrap());
        let figures = &inspect(&workload, &Bindings::new()).graphs[0];
        let role = |name: &str| oracle["input_bytes_by_role"][name].as_u64().unwrap_or(0);
        let peak = |view: &str| {
            let step = u32::try_from(oracle[view]["peak_step"].as_u64().unwrap()).unwrap();
            (oracle[view]["peak_live_bytes"].as_u64().unwrap(), Some(Step(step)))
        };
        let ours = |peak: Option<(highwater::units::Bytes, Option<Step>)>| {
            let (bytes, step) = peak.expect("a training graph has no symbols");
            (bytes.get(), step)
        };
        let file = name(&file);
        assert_eq!(figures.ops, oracle["n_nodes"].as_u64().unwrap(), "{file}");
        assert_eq!(figures.tensors, oracle["n_node_outputs"].as_u64().unwrap(), "{file}");
        assert_eq!(
            figures.weights.get(),
            role("param") + role("buffer") + role("const"),
            "{file}"
        );
        assert_eq!(figures.state.get(), role("opt_state"), "{file}");
        assert_eq!(
            figures.inputs.map(highwater::units::Bytes::get),
            Some(role("batch")),
            "{file}"
        );
        assert_eq!(ours(figures.naive_peak), peak("naive"), "{file}");
        assert_eq!(ours(figures.aliased_peak), peak("alias_aware"), "{file}");
        assert_eq!(
            figures.activations.map(highwater::units::Bytes::get),
            oracle["naive"]["sum_bytes"].as_u64(),
            "{file}"
        );
        n_checked += 1;
    }
    assert!(n_checked > 0, "the folder holds training graphs");
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write as _;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
