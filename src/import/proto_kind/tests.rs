//! Kinds of files by messages written by hand, in the usual order of fields and in others.

use super::ProtoKind::{Hlo, HloModule, Onnx, TfGraph, TfMetaGraph, TfRun, TfSavedModel, XSpace};
use super::*;

fn number(field: u8, value: u8) -> Vec<u8> {
    vec![field << 3, value]
}

fn bytes(field: u8, content: &[u8]) -> Vec<u8> {
    let length = u8::try_from(content.len()).expect("short contents");
    assert!(length < 128, "one byte of length");
    [&[field << 3 | 2, length][..], content].concat()
}

fn message(field: u8, parts: &[Vec<u8>]) -> Vec<u8> {
    bytes(field, &parts.concat())
}

fn text(field: u8, content: &str) -> Vec<u8> {
    bytes(field, content.as_bytes())
}

fn graph() -> Vec<u8> {
    message(1, &[text(1, "x"), text(2, "NoOp")])
}

/// The file of these fields, and of the same fields from the last to the first.
fn in_any_order(parts: &[Vec<u8>], expected: ProtoKind) {
    let mut turned = parts.to_vec();
    turned.reverse();
    for parts in [parts, &turned] {
        assert_eq!(kind(&parts.concat()), Some(expected), "{parts:?}");
    }
}

#[test]
fn a_saved_model_may_lack_its_version_and_its_meta_graph_begin_with_any_field() {
    let info = message(1, &[text(4, "serve"), text(5, "2.1.0")]);
    let graph = bytes(2, &graph());
    let saver = message(3, &[text(1, "save/Const:0"), text(2, "save/Identity:0"), number(4, 5)]);
    let signature = message(5, &[text(1, "serving_default"), message(2, &[text(3, "predict")])]);
    let objects = message(7, &[message(1, &[message(1, &[number(1, 1), text(2, "variables")])])]);
    let fields = [info, graph, saver, signature, objects];
    for first in 0..fields.len() {
        let mut fields = fields.to_vec();
        fields.rotate_left(first);
        let meta = message(2, &fields);
        assert_eq!(
            kind(&meta),
            Some(TfSavedModel),
            "without a version, field {first} first"
        );
        in_any_order(&[number(1, 1), meta], TfSavedModel);
        assert_eq!(kind(&fields.concat()), Some(TfMetaGraph), "alone, field {first} first");
    }
    // Only the beginning was read: the graph comes later.
    let cut = [number(1, 1), vec![0x12, 0xff, 0xff, 0x7f], fields[3].clone()].concat();
    let object = message(1, &[message(1, &[number(1, 1), text(2, "variables")])]);
    let mut head = [cut, vec![0x3a, 0xff, 0xff, 0x3f], object.repeat(5000)].concat();
    head.truncate(64 << 10);
    assert_eq!(kind(&head), Some(TfSavedModel));
}

#[test]
fn models_graphs_modules_and_runs_are_told_apart_in_any_order() {
    let node = message(1, &[text(1, "x"), text(2, "y"), text(4, "Relu")]);
    let model = [
        number(1, 8),
        text(2, "pytorch"),
        message(7, &[node, text(2, "main")]),
        message(8, &[number(2, 17)]),
    ];
    in_any_order(&model, Onnx);
    in_any_order(&[graph(), message(4, &[number(1, 21)])], TfGraph);
    let instruction = message(2, &[text(1, "p.1"), text(2, "parameter")]);
    let computation = message(3, &[text(1, "main.2"), instruction, number(5, 2)]);
    let module = message(1, &[text(1, "jit_f"), text(2, "main.2"), computation]);
    let assignment = message(3, &[message(1, &[number(1, 1), number(2, 4)])]);
    in_any_order(&[module.clone(), assignment], Hlo);
    assert_eq!(kind(&module[2..]), Some(HloModule));
    let device = message(1, &[text(1, "/job:localhost/cpu:0"), bytes(2, &[])]);
    let cost = message(2, &[message(1, &[text(1, "x"), text(2, "/cpu:0")])]);
    in_any_order(&[bytes(1, &device), cost], TfRun);
    let plane = message(1, &[number(1, 2), text(2, "/host:CPU"), message(4, &[number(1, 1)])]);
    in_any_order(&[plane, text(4, "worker-0")], XSpace);
}

#[test]
fn a_file_opened_by_name_is_the_most_fitting_message() {
    let graph = [number(1, 3), bytes(7, &[])].concat();
    assert_eq!(kind(&graph), Some(Onnx));
    assert_eq!(kind_among(&graph, &[TfGraph, TfSavedModel]), None);
    for other in [&b""[..], b"hello", b"{\"a\": 1}", b"\n  text\n", &[0; 64], &[0xff; 64]] {
        assert_eq!(kind(other), None, "{other:?}");
    }
}
