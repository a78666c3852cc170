//! Models written by hand, whole and damaged.

use super::*;
use crate::{Imported, test_help};
use highwater_model::graph::{Id as _, Role, TensorId};

mod memory;

#[derive(Clone, Copy)]
enum Field {
    Absent,
    Number(u32),
    /// Points to something that is written later.
    Later,
}
use Field::{Absent, Later, Number};

/// Writes flatbuffers front to back: whatever is pointed to comes later.
#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn number(&mut self, value: u32) -> usize {
        self.0.extend(value.to_le_bytes());
        self.0.len() - 4
    }

    fn point(&mut self, slot: usize) {
        let distance = u32::try_from(self.0.len() - slot).unwrap_or(u32::MAX);
        self.0[slot..slot + 4].copy_from_slice(&distance.to_le_bytes());
    }

    /// Writes the table that a slot points to; returns the fields' slots.
    fn table(&mut self, slot: usize, fields: &[Field]) -> Vec<usize> {
        let vtable = self.0.len();
        let size = |count: usize, first: usize, each: usize| u16::try_from(first + each * count).unwrap_or(u16::MAX);
        self.0.extend(size(fields.len(), 4, 2).to_le_bytes());
        self.0.extend(size(fields.len(), 4, 4).to_le_bytes());
        for (place, field) in fields.iter().enumerate() {
            let at = if matches!(field, Absent) { 0 } else { size(place, 4, 4) };
            self.0.extend(at.to_le_bytes());
        }
        self.point(slot);
        self.number(u32::try_from(self.0.len() - vtable).unwrap_or(0));
        let slots = fields.iter().map(|field| match field {
            Number(value) => *value,
            _ => 0,
        });
        slots
            .collect::<Vec<u32>>()
            .into_iter()
            .map(|value| self.number(value))
            .collect()
    }

    fn list(&mut self, slot: usize, items: &[u32]) -> Vec<usize> {
        self.point(slot);
        self.number(u32::try_from(items.len()).unwrap_or(0));
        items.iter().map(|item| self.number(*item)).collect()
    }

    fn bytes(&mut self, slot: usize, bytes: &[u8]) {
        self.point(slot);
        self.number(u32::try_from(bytes.len()).unwrap_or(0));
        self.0.extend(bytes);
    }

    fn tensor(&mut self, slot: usize, name: &str, dims: &[u32], buffer: u32, signature: &[u32]) {
        let fields = self.table(
            slot,
            &[Later, Number(0), Number(buffer), Later, Absent, Absent, Absent, Later],
        );
        self.list(fields[0], dims);
        self.bytes(fields[3], name.as_bytes());
        self.list(fields[7], signature);
    }

    fn op(&mut self, slot: usize, code: u32, inputs: &[u32], outputs: &[u32]) {
        let fields = self.table(slot, &[Number(code), Later, Later]);
        self.list(fields[1], inputs);
        self.list(fields[2], outputs);
    }
}

const NONE: u32 = u32::MAX;

/// Three ops, a weight, a plan made ahead of time.
fn model() -> Vec<u8> {
    let mut out = Writer::default();
    out.number(0);
    out.0.extend(b"TFL3");
    let root = out.table(0, &[Number(3), Later, Later, Later, Later, Absent, Later]);
    let codes = out.list(root[1], &[0, 0, 0]);
    out.table(codes[0], &[Number(0)]);
    let custom = out.table(codes[1], &[Number(32), Later, Number(1), Number(32)]);
    out.bytes(custom[1], b"MyOp");
    out.table(codes[2], &[Number(22)]);
    let subgraphs = out.list(root[2], &[0]);
    let graph = out.table(subgraphs[0], &[Later, Later, Later, Later, Later]);
    let tensors = out.list(graph[0], &[0; 5]);
    out.tensor(tensors[0], "x", &[1, 4], 0, &[NONE, 4]);
    out.tensor(tensors[1], "w", &[4], 1, &[]);
    out.tensor(tensors[2], "sum", &[1, 4], 0, &[]);
    out.tensor(tensors[3], "flat", &[4], 0, &[]);
    out.tensor(tensors[4], "y", &[2, 2], 0, &[]);
    out.list(graph[1], &[0]);
    out.list(graph[2], &[4]);
    let ops = out.list(graph[3], &[0; 3]);
    out.op(ops[0], 0, &[0, 1], &[2]);
    out.op(ops[1], 2, &[2, NONE], &[3]);
    out.op(ops[2], 1, &[3, NONE], &[4]);
    out.bytes(graph[4], b"tiny");
    out.bytes(root[3], b"by hand");
    let buffers = out.list(root[4], &[0; 3]);
    out.table(buffers[0], &[]);
    let data = out.table(buffers[1], &[Later]);
    out.bytes(data[0], &[0; 16]);
    let plan = out.table(buffers[2], &[Later]);
    let offsets: Vec<u8> = [1, 0, 5, 64, NONE, 0, 0, 128]
        .into_iter()
        .flat_map(u32::to_le_bytes)
        .collect();
    out.bytes(plan[0], &offsets);
    let notes = out.list(root[6], &[0]);
    let note = out.table(notes[0], &[Later, Number(2)]);
    out.bytes(note[0], b"OfflineMemoryAllocation");
    out.0
}

fn read(bytes: &[u8]) -> Result<Imported, ImportError> {
    test_help::read("tiny.tflite", bytes)
}

fn entry(imported: &Imported) -> &GraphEntry {
    match &imported.source {
        Source::Graphs(graphs) => &graphs[0],
        _ => panic!("a model has a graph"),
    }
}

#[test]
fn a_model_is_read_with_roles_views_and_a_stated_plan() {
    let imported = read(&model()).expect("a model");
    assert_eq!(imported.format, "tflite");
    let entry = entry(&imported);
    let graph = &entry.graph;
    assert_eq!(entry.name, "tiny");
    let kinds: Vec<&str> = graph.ops().ids().map(|op| graph.op_kind(op)).collect();
    assert_eq!(kinds, ["ADD", "RESHAPE", "MyOp"]);
    let roles: Vec<Role> = graph.tensors().iter().map(|tensor| tensor.role).collect();
    assert_eq!(roles[..3], [Role::Input, Role::Weight, Role::Activation]);
    let storage = |place: usize| graph.tensors()[TensorId::from_idx(place)].storage;
    assert_eq!(storage(2), storage(3));
    assert!(graph.symbols().is_empty());
    let dumped = entry.dumped.as_ref().expect("facts");
    assert_eq!(dumped.tensors, Some(5));
    let offsets = &dumped.offsets.as_ref().expect("a plan").offsets;
    assert_eq!(*offsets, [Some(64), None, Some(0), Some(0), Some(128)]);
    let free = imported
        .diagnostics
        .entries()
        .iter()
        .any(|entry| entry.message.contains("leaves a size free"));
    assert!(free);
}

#[test]
fn cut_off_models_end_in_errors() {
    let whole = model();
    for len in 8..whole.len() {
        // The rest may still be a model: the list that was cut off is the last.
        if let Err(error) = read(&whole[..len]) {
            assert!(error.to_string().contains("byte"), "{error}");
        }
    }
}

#[test]
fn lists_that_point_to_one_table_over_and_over_are_refused() {
    let mut out = Writer::default();
    out.number(0);
    out.0.extend(b"TFL3");
    let root = out.table(0, &[Number(3), Absent, Later]);
    let slots = out.list(root[2], &vec![0; 5000]);
    let graph = out.table(slots[0], &[Later]);
    for slot in &slots {
        // All but the first point to the first one's table.
        let first = slots[0] + 12 + 5000 * 4 - 4;
        let distance = u32::try_from(first.saturating_sub(*slot)).unwrap_or(0);
        out.0[*slot..slot + 4].copy_from_slice(&distance.to_le_bytes());
    }
    let at = out.0.len();
    out.list(graph[0], &vec![0; 5000]);
    assert!(at > 0 && read(&out.0).is_err());
}
