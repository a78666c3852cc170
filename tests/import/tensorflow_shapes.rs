//! Shapes of the TensorFlow graphs of the shared corpus against the oracle's, with the shapes that the files state and
//! without them: what the oracle knows must be known here, and be the same.

use std::collections::BTreeMap;

use highwater_model::graph::{Bindings, DType, Dim, Graph, Id as _};
use highwater_model::workload::Source;
use serde_json::Value;

use crate::corpus::json;
use crate::made;
use crate::support::{read, shared};

/// The stated shapes that are left in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    All,
    /// Shapes of reads of variables, the only source where the variable comes from outside.
    Reads,
    None,
}

// ---- a file without the shapes that it states ----

fn varint(bytes: &[u8], at: &mut usize) -> u64 {
    let (mut value, mut shift) = (0, 0);
    loop {
        let byte = bytes[*at];
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return value;
        }
        shift += 7;
    }
}

/// A field of a message: number, bytes with the key, and content where it has a length.
type Field<'a> = (u64, &'a [u8], &'a [u8]);

/// The fields of a message.
fn fields(bytes: &[u8]) -> Vec<Field<'_>> {
    let (mut all, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let start = at;
        let key = varint(bytes, &mut at);
        let mut content = 0..0;
        match key & 7 {
            0 => drop(varint(bytes, &mut at)),
            1 => at += 8,
            2 => {
                let len = usize::try_from(varint(bytes, &mut at)).unwrap();
                content = at..at + len;
                at += len;
            }
            _ => at += 4,
        }
        all.push((key >> 3, &bytes[start..at], &bytes[content]));
    }
    all
}

/// The treatment of a field.
type Change = Option<Option<Vec<u8>>>;

/// A message with some of its fields rewritten; `None` leaves a field out.
fn rewritten(bytes: &[u8], change: &dyn Fn(u64, &[u8]) -> Change) -> Vec<u8> {
    let mut out = Vec::new();
    for (number, whole, content) in fields(bytes) {
        match change(number, content) {
            None => out.extend_from_slice(whole),
            Some(None) => {}
            Some(Some(new)) => out.extend(made::bytes(number, &new)),
        }
    }
    out
}

/// A node without `_output_shapes`.
fn node(bytes: &[u8], left: Left) -> Vec<u8> {
    let is_read = fields(bytes).iter().any(|row| row.0 == 2 && row.2 == b"ReadVariableOp");
    if is_read && left == Left::Reads {
        return bytes.to_vec();
    }
    rewritten(bytes, &|number, content| {
        let is_stated = || fields(content).first().is_some_and(|row| row.2 == b"_output_shapes");
        (number == 5 && is_stated()).then_some(None)
    })
}

fn stripped(bytes: &[u8], left: Left) -> Vec<u8> {
    if left == Left::All {
        return bytes.to_vec();
    }
    rewritten(bytes, &|number, content| match number {
        1 => Some(Some(node(content, left))),
        2 => Some(Some(rewritten(content, &|number, content| {
            let function = |number: u64, content: &[u8]| (number == 3).then(|| Some(node(content, left)));
            (number == 1).then(|| Some(rewritten(content, &function)))
        }))),
        _ => None,
    })
}

/// Whether handles of variables come from outside: the file does not state their targets.
fn has_outer_handles(bytes: &[u8]) -> bool {
    let is_outer = |node: &[u8]| {
        let parts = fields(node);
        let is_handle = |row: &Field<'_>| {
            if row.0 != 5 {
                return false;
            }
            let entry = fields(row.2);
            // The type of resources is 20.
            entry.len() == 2 && entry[0].2 == b"dtype" && entry[1].2 == [0x30, 20]
        };
        let is_placeholder = parts.iter().any(|row| row.0 == 2 && row.2 == b"Placeholder");
        is_placeholder && parts.iter().any(is_handle)
    };
    fields(bytes).iter().any(|row| row.0 == 1 && is_outer(row.2))
}

// ---- comparison ----

/// Sizes under a binding; `None` inside for a size, outside for a number of dimensions that is unknown.
type Sizes = Option<Vec<Option<i64>>>;

fn found(graph: &Graph, bindings: &Bindings) -> BTreeMap<String, (Sizes, DType)> {
    let values = graph.exprs().evaluate(bindings);
    let tensors = graph.tensors().iter_ids().map(|(id, tensor)| {
        let dims = graph.dims(id).map(|dims| {
            let sizes = dims.iter().map(|dim| match dim {
                Dim::Known(size) => i64::try_from(*size).ok(),
                Dim::Expr(id) => values[id.idx()],
                Dim::Unknown => None,
            });
            sizes.collect()
        });
        (graph.tensor_name(id).to_owned(), (dims, tensor.dtype))
    });
    tensors.collect()
}

/// Values that the oracle knows and this program does not, or differently.
fn compare(found: &BTreeMap<String, (Sizes, DType)>, expected: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    for (tensor, row) in expected.as_object().into_iter().flatten() {
        let Some((sizes, dtype)) = found.get(tensor) else {
            wrong.push(format!("{tensor} is missing"));
            continue;
        };
        let stated: Sizes = row["shape"]
            .as_array()
            .map(|dims| dims.iter().map(Value::as_i64).collect());
        let agrees = match (&stated, sizes) {
            (None, _) => true,
            (Some(stated), Some(sizes)) => {
                stated.len() == sizes.len()
                    && stated
                        .iter()
                        .zip(sizes)
                        .all(|(stated, size)| stated.is_none() || stated == size)
            }
            (Some(_), None) => false,
        };
        let is_typed = match row["dtype"].as_str() {
            Some("resource" | "variant") => dtype.bits() == 0,
            name => name == Some(dtype.name()),
        };
        if !agrees || !is_typed {
            wrong.push(format!("{tensor} is {sizes:?} of {}, expected {row}", dtype.name()));
        }
    }
    wrong
}

fn graph_of(name: &str, bytes: &[u8]) -> std::sync::Arc<Graph> {
    let imported = read(name, bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    match imported.source {
        Source::Graphs(mut entries) => entries.remove(0).graph,
        _ => panic!("{name} is a graph"),
    }
}

#[test]
fn shapes_are_the_oracles_with_and_without_stated_ones() {
    let Some(folder) = shared("corpus/made/tf") else { return };
    let content = |name: &str| std::fs::read(folder.join(name)).unwrap();
    let shapes = json(&folder.join("expected_shapes.json")).unwrap();
    let figures = json(&folder.join("expected.json")).unwrap();
    let mut faults = Vec::new();
    for (name, expected) in shapes.as_object().unwrap() {
        let bytes = content(name);
        let batch = figures["graphs"][name]["bound_batch"].as_u64();
        let bindings: Bindings = batch.map(|batch| ("batch".to_owned(), batch)).into_iter().collect();
        let rows = || expected.as_object().into_iter().flatten();
        for left in [Left::All, Left::Reads, Left::None] {
            let graph = graph_of(name, &stripped(&bytes, left));
            let found = found(&graph, &bindings);
            let wrong = compare(&found, expected);
            let known = |sizes: &Sizes| sizes.as_ref().is_some_and(|sizes| sizes.iter().all(Option::is_some));
            let n_known = rows()
                .filter(|row| found.get(row.0).is_some_and(|row| known(&row.0)))
                .count();
            let n_expected = rows().filter(|row| row.1["bytes"].is_u64()).count();
            eprintln!(
                "{name}, {left:?} of the stated shapes left: {n_known} of {} known, by the oracle {n_expected}; {} differ",
                rows().count(),
                wrong.len()
            );
            if left != Left::None || !has_outer_handles(&bytes) {
                let some = wrong.into_iter().take(8);
                faults.extend(some.map(|fault| format!("{name}, {left:?}: {fault}")));
            }
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}
