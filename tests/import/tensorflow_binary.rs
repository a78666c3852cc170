//! The TensorFlow importer on binary files written by hand: both forms, saved models, runs.

use highwater_model::graph::{Bindings, OpId};
use highwater_model::workload::Source;

use crate::made::{bytes, number};
use crate::tensorflow::{entries, graph, import, small};

fn attribute(key: &str, value: &[u8]) -> Vec<u8> {
    bytes(5, &[bytes(1, key.as_bytes()), bytes(2, value)].concat())
}

fn binary_node(name: &str, kind: &str, inputs: &[&str], attributes: &[Vec<u8>]) -> Vec<u8> {
    let mut out = [bytes(1, name.as_bytes()), bytes(2, kind.as_bytes())].concat();
    for input in inputs {
        out.extend(bytes(3, input.as_bytes()));
    }
    for attribute in attributes {
        out.extend_from_slice(attribute);
    }
    bytes(1, &out)
}

/// The graph of [`small`].
fn small_binary() -> Vec<u8> {
    let shape = |dims: &[i64]| -> Vec<u8> { dims.iter().flat_map(|size| bytes(2, &number(1, *size))).collect() };
    let stated = |dims: &[i64]| attribute("_output_shapes", &bytes(1, &bytes(7, &shape(dims))));
    let (float, t) = (attribute("dtype", &number(6, 1)), attribute("T", &number(6, 1)));
    let tensor = bytes(8, &[number(1, 1), bytes(2, &shape(&[4, 3]))].concat());
    let own = attribute("shape", &bytes(7, &shape(&[-1, 4])));
    [
        binary_node("x", "Placeholder", &[], &[float.clone(), own, stated(&[-1, 4])]),
        binary_node(
            "w",
            "Const",
            &[],
            &[stated(&[4, 3]), float, attribute("value", &tensor)],
        ),
        binary_node("w/read", "Identity", &["w"], &[t.clone(), stated(&[4, 3])]),
        binary_node("y", "MatMul", &["x", "w/read"], &[t.clone(), stated(&[-1, 3])]),
        binary_node("z", "Relu", &["y", "^w"], &[t, stated(&[-1, 3])]),
        binary_node("done", "NoOp", &["^z"], &[]),
        bytes(4, &number(1, 2000)),
    ]
    .concat()
}

#[test]
fn both_forms_give_the_same_graph() {
    let imported = import(&small_binary()).expect("a graph");
    assert_eq!(entries(&imported)[0].graph, graph(&small()).graph);
}

#[test]
fn saved_models_give_a_graph_for_each_meta_graph() {
    let meta = |tag: &str| {
        let info = [bytes(4, tag.as_bytes()), bytes(5, b"2.21.0")].concat();
        [bytes(1, &info), bytes(2, &small_binary())].concat()
    };
    let saved = [number(1, 1), bytes(2, &meta("serve")), bytes(2, &meta("train"))].concat();
    let imported = import(&saved).expect("a saved model");
    assert_eq!(imported.format, "tensorflow");
    let names: Vec<&str> = entries(&imported).iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["serve", "train"]);
    assert_eq!(entries(&imported)[0].graph, entries(&imported)[1].graph);
    let alone = import(&meta("serve")).expect("a meta graph");
    assert_eq!(entries(&alone)[0].graph.ops().len(), 6);
}

#[test]
fn saved_models_may_lack_their_version_and_begin_with_any_field() {
    let tags = bytes(1, &[bytes(4, b"serve"), bytes(5, b"2.1.0")].concat());
    let graph_def = bytes(2, &small_binary());
    let signature = bytes(
        5,
        &[bytes(1, b"serving_default"), bytes(2, &bytes(3, b"predict"))].concat(),
    );
    let whole = import(&small_binary()).expect("a graph");
    for first in 0..3 {
        let mut fields = [tags.clone(), graph_def.clone(), signature.clone()];
        fields.rotate_left(first);
        let meta = bytes(2, &fields.concat());
        for saved in [
            [number(1, 1), meta.clone()].concat(),
            meta.clone(),
            [meta, number(1, 1)].concat(),
        ] {
            let imported = import(&saved).unwrap_or_else(|error| panic!("field {first} first: {error}"));
            let read = entries(&imported);
            assert_eq!((read.len(), read[0].name.as_str()), (1, "serve"), "field {first} first");
            assert_eq!(read[0].graph, entries(&whole)[0].graph);
        }
    }
}

#[test]
fn big_contents_are_skipped() {
    // 8 MiB of weights, of which nothing is kept.
    let content = vec![0x41_u8; 8 << 20];
    let tensor = [
        number(1, 1),
        bytes(2, &bytes(2, &number(1, 2 << 20))),
        bytes(4, &content),
    ]
    .concat();
    let file = binary_node(
        "w",
        "Const",
        &[],
        &[
            attribute("dtype", &number(6, 1)),
            attribute("value", &bytes(8, &tensor)),
        ],
    );
    let imported = import(&file).expect("a graph");
    let graph = &entries(&imported)[0].graph;
    let sizes = graph.sizes(&Bindings::new());
    assert_eq!(sizes.tensor(graph.results(OpId(0))[0]), Some(8 << 20));
}

#[test]
fn cut_off_files_name_the_byte() {
    let whole = small_binary();
    for len in 40..whole.len() {
        match import(&whole[..len]) {
            // Cut between two nodes.
            Ok(imported) => assert!(entries(&imported)[0].graph.ops().len() < 7),
            Err(error) => assert!(error.contains(&format!("byte {len}")), "{len}: {error}"),
        }
    }
}

// ---- runs ----

fn run() -> Vec<u8> {
    let record = |micros, bytes: i64| bytes_field(6, &[number(1, micros), number(2, bytes)]);
    let memory = |records: &[Vec<u8>]| bytes_field(6, &[bytes(1, b"cpu"), records.concat()]);
    let node = |name: &str, start, records: &[Vec<u8>]| {
        let times = [number(2, start), number(4, 3), number(5, 4)].concat();
        let label = bytes(8, format!("{name} = MatMul(x)").as_bytes());
        let scratch = bytes(12, &number(1, 96));
        bytes_field(2, &[bytes(1, name.as_bytes()), times, memory(records), label, scratch])
    };
    let device = [
        bytes(1, b"/job:localhost/replica:0/task:0/device:CPU:0"),
        node("a", 10, &[record(11, 64), record(30, -64)]),
        node("b", 20, &[record(21, 32)]),
    ]
    .concat();
    [bytes(1, &bytes(1, &device)), bytes(2, &[]), bytes(3, b"\x0a\x00")].concat()
}

fn bytes_field(field: u64, parts: &[Vec<u8>]) -> Vec<u8> {
    bytes(field, &parts.concat())
}

#[test]
fn a_run_is_a_recording() {
    let imported = import(&run()).expect("a run");
    assert_eq!(imported.format, "tensorflow_run");
    let Source::Recordings(all) = &imported.source else {
        panic!("recordings")
    };
    let recording = &all[0];
    assert_eq!((all.len(), recording.name.as_str(), recording.n_steps), (1, "CPU:0", 3));
    assert_eq!(recording.peaks().live.0.get(), 96);
    let op = &recording.ops[1];
    assert_eq!((recording.text(op.name), recording.text(op.kind)), ("b", "MatMul"));
    assert_eq!((op.start.0, op.time.0, op.scratch.get()), (20_000, 3_000, 96));
    assert_eq!(imported.diagnostics.entries().len(), 2);
}
