//! Results that share memory, and constants that are stored elsewhere.

use super::*;

/// A subgraph of operators by code; tensors are float32, constants have a buffer.
struct Small<'a> {
    dims: &'a [&'a [u32]],
    constants: &'a [u32],
    inputs: &'a [u32],
    outputs: &'a [u32],
    operators: &'a [(u32, &'a [u32], &'a [u32])],
}

impl Small<'_> {
    fn write(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.number(0);
        out.0.extend(b"TFL3");
        let root = out.table(0, &[Number(3), Later, Later, Absent, Later]);
        let codes = out.list(root[1], &vec![0; self.operators.len()]);
        for (slot, (code, ..)) in codes.into_iter().zip(self.operators) {
            out.table(slot, &[Number(*code), Absent, Number(1), Number(*code)]);
        }
        let subgraphs = out.list(root[2], &[0]);
        let graph = out.table(subgraphs[0], &[Later, Later, Later, Later]);
        let tensors = out.list(graph[0], &vec![0; self.dims.len()]);
        for (place, (slot, dims)) in (0..).zip(tensors.into_iter().zip(self.dims)) {
            let buffer = u32::from(self.constants.contains(&place));
            out.tensor(slot, &format!("t{place}"), dims, buffer, &[]);
        }
        out.list(graph[1], self.inputs);
        out.list(graph[2], self.outputs);
        let operators = out.list(graph[3], &vec![0; self.operators.len()]);
        for (place, (slot, (_, inputs, outputs))) in (0..).zip(operators.into_iter().zip(self.operators)) {
            out.op(slot, place, inputs, outputs);
        }
        let buffers = out.list(root[4], &[0; 2]);
        out.table(buffers[0], &[]);
        let data = out.table(buffers[1], &[Later]);
        out.bytes(data[0], &[0; 64]);
        out.0
    }

    /// By tensor: the tensor whose memory it has.
    fn owners(&self) -> Vec<usize> {
        let imported = read(&self.write()).expect("a model");
        let graph = &entry(&imported).graph;
        let tensors = graph.tensors().iter();
        tensors
            .map(|tensor| graph.storages()[tensor.storage].root.idx())
            .collect()
    }
}

/// Codes of operators.
const ADD: u32 = 0;
const LOGISTIC: u32 = 14;
const MUL: u32 = 18;
const RELU: u32 = 19;
const RESHAPE: u32 = 22;
const SOFTMAX: u32 = 25;
const TANH: u32 = 28;
const SUB: u32 = 41;
const DIV: u32 = 42;
const SQUEEZE: u32 = 43;
const EXP: u32 = 47;
const MAXIMUM: u32 = 55;
const NEG: u32 = 59;
const EXPAND_DIMS: u32 = 70;
const SQRT: u32 = 75;
const DYNAMIC_UPDATE_SLICE: u32 = 151;
const BITCAST: u32 = 159;

#[test]
fn operators_run_in_place_as_the_interpreter_runs_them() {
    // x -> RELU -> a -> the operator, perhaps with a constant -> b -> RELU -> y. As measured with LiteRT 2.3.
    for (code, operands, is_shared) in [
        (ADD, &[1, 4][..], true),
        (ADD, &[4, 1], true),
        (SUB, &[1, 4], true),
        (SUB, &[4, 1], true),
        (MUL, &[1, 4], true),
        (DIV, &[4, 1], true),
        (SOFTMAX, &[1], true),
        (DYNAMIC_UPDATE_SLICE, &[1, 4, 4], true),
        (DYNAMIC_UPDATE_SLICE, &[4, 1, 4], false),
        (RESHAPE, &[1, 4], true),
        (SQUEEZE, &[1], true),
        (EXPAND_DIMS, &[1, 4], true),
        (BITCAST, &[1], true),
        (RELU, &[1], false),
        (TANH, &[1], false),
        (EXP, &[1], false),
        (LOGISTIC, &[1], false),
        (NEG, &[1], false),
        (SQRT, &[1], false),
        (MAXIMUM, &[1, 4], false),
    ] {
        let model = Small {
            dims: &[&[16_u32][..]; 5],
            constants: &[4],
            inputs: &[0],
            outputs: &[3],
            operators: &[(RELU, &[0], &[1]), (code, operands, &[2]), (RELU, &[2], &[3])],
        };
        let expected = [0, 1, if is_shared { 1 } else { 2 }, 3, 4];
        assert_eq!(model.owners(), expected, "operator {code} of {operands:?}");
    }
}

/// An operator of a small model: its code, inputs and outputs.
type Step<'a> = (u32, &'a [u32], &'a [u32]);

const FIRST: Step<'_> = (RELU, &[0], &[1]);
const LAST: Step<'_> = (RELU, &[3], &[5]);

/// Six tensors, of which 0 is the input and 4 a constant.
#[track_caller]
fn check_owners(what: &str, dims: &[&[u32]; 6], outputs: &[u32], operators: &[Step<'_>], expected: [usize; 6]) {
    let model = Small {
        dims,
        constants: &[4],
        inputs: &[0],
        outputs,
        operators,
    };
    assert_eq!(model.owners(), expected, "{what}");
}

#[test]
fn what_others_need_is_not_overwritten() {
    let add = (ADD, &[1, 4][..], &[2][..]);
    let softmax = (SOFTMAX, &[2][..], &[3][..]);
    let alone = [0, 1, 2, 3, 4, 5];
    for (what, outputs, operators, expected) in [
        (
            "a chain",
            &[5][..],
            &[FIRST, add, softmax, LAST][..],
            [0, 1, 1, 1, 4, 5],
        ),
        ("an output", &[3], &[FIRST, add, softmax], [0, 1, 1, 3, 4, 5]),
        ("an input", &[3], &[(ADD, &[0, 4], &[2]), (RELU, &[2], &[3])], alone),
        (
            "a view of it",
            &[3],
            &[(RESHAPE, &[0, 4], &[2]), (RELU, &[2], &[3])],
            alone,
        ),
        (
            "a constant",
            &[3],
            &[(SOFTMAX, &[4], &[2]), (ADD, &[2, 0], &[3])],
            alone,
        ),
        (
            "a second reader",
            &[5],
            &[FIRST, add, (ADD, &[2, 1], &[3]), LAST],
            [0, 1, 2, 2, 4, 5],
        ),
        (
            "an operand read twice",
            &[5],
            &[FIRST, (MUL, &[1, 1], &[3]), LAST],
            alone,
        ),
        (
            "an output as operand",
            &[5, 1],
            &[FIRST, (ADD, &[1, 4], &[3]), LAST],
            alone,
        ),
        (
            "a view of a tensor with another reader",
            &[5],
            &[FIRST, (RESHAPE, &[1, 4], &[2]), (ADD, &[2, 1], &[3]), LAST],
            [0, 1, 1, 3, 4, 5],
        ),
        ("no operand", &[3], &[(SOFTMAX, &[], &[3])], alone),
    ] {
        check_owners(what, &[&[16]; 6], outputs, operators, expected);
    }
}

#[test]
fn only_operands_of_the_same_size_above_4_bytes_are_overwritten() {
    let wide: &[u32] = &[16];
    let second: &[Step<'_>] = &[(RELU, &[4], &[1]), (RELU, &[0], &[2]), (ADD, &[1, 2], &[3]), LAST];
    for (what, dims, operators, expected) in [
        (
            "the first operand is smaller",
            [wide, &[1], wide, wide, wide, wide],
            second,
            [0, 1, 2, 2, 4, 5],
        ),
        (
            "4 bytes",
            [&[1][..]; 6],
            &[FIRST, (ADD, &[1, 4], &[3]), LAST],
            [0, 1, 2, 3, 4, 5],
        ),
        (
            "8 bytes",
            [&[2][..]; 6],
            &[FIRST, (ADD, &[1, 4], &[3]), LAST],
            [0, 1, 2, 1, 4, 5],
        ),
    ] {
        check_owners(what, &dims, &[5], operators, expected);
    }
}

/// A field of eight bytes in a table whose other fields have four.
fn long(out: &mut Writer, slot: usize, numbers: &[(u16, u64)], n_fields: u16) {
    let vtable = out.0.len();
    out.0.extend((4 + 2 * n_fields).to_le_bytes());
    out.0
        .extend((4 + 8 * u16::try_from(numbers.len()).unwrap_or(0)).to_le_bytes());
    for field in 0..n_fields {
        let place = numbers.iter().position(|(number, _)| *number == field);
        let at = place.map_or(0, |place| 4 + 8 * u16::try_from(place).unwrap_or(0));
        out.0.extend(at.to_le_bytes());
    }
    out.point(slot);
    out.number(u32::try_from(out.0.len() - vtable).unwrap_or(0));
    for (_, value) in numbers {
        out.0.extend(value.to_le_bytes());
    }
}

/// Two constants: one in a buffer behind the tables, one in another file.
fn far(offset: u64, size: u64, external: u32, length: u64) -> Vec<u8> {
    let mut out = Writer::default();
    out.number(0);
    out.0.extend(b"TFL3");
    let root = out.table(
        0,
        &[
            Number(3),
            Later,
            Later,
            Absent,
            Later,
            Absent,
            Absent,
            Absent,
            Later,
            Later,
        ],
    );
    let codes = out.list(root[1], &[0]);
    out.table(codes[0], &[Number(0)]);
    let subgraphs = out.list(root[2], &[0]);
    let graph = out.table(subgraphs[0], &[Later, Absent, Later, Later]);
    let tensors = out.list(graph[0], &[0; 3]);
    out.tensor(tensors[0], "behind", &[16], 1, &[]);
    let elsewhere = [
        Later,
        Number(0),
        Number(0),
        Later,
        Absent,
        Absent,
        Absent,
        Absent,
        Absent,
        Absent,
        Number(external),
    ];
    let fields = out.table(tensors[1], &elsewhere);
    out.list(fields[0], &[16]);
    out.bytes(fields[3], b"elsewhere");
    out.tensor(tensors[2], "sum", &[16], 0, &[]);
    out.list(graph[2], &[2]);
    let operators = out.list(graph[3], &[0]);
    out.op(operators[0], 0, &[0, 1], &[2]);
    let buffers = out.list(root[4], &[0; 2]);
    out.table(buffers[0], &[]);
    long(&mut out, buffers[1], &[(1, offset), (2, size)], 3);
    let groups = out.list(root[8], &[0]);
    let group = out.table(groups[0], &[Later]);
    out.bytes(group[0], b"w.bin");
    let external = out.list(root[9], &[0]);
    // The id 7 and the group 0 are one number of eight bytes.
    long(&mut out, external[0], &[(0, 7), (3, length)], 5);
    out.0
}

#[test]
fn constants_behind_the_tables_and_in_other_files_are_weights() {
    let beyond = "reaches beyond the end";
    let unknown = "names an external buffer";
    let another = "another number of bytes";
    for (offset, size, id, length, expected) in [
        (64, 64, 7, 64, &[][..]),
        (1 << 40, 64, 7, 64, &[beyond][..]),
        (u64::MAX, u64::MAX, 7, 64, &[beyond, another]),
        (64, 64, 8, 64, &[unknown]),
        (64, 64, 7, 1 << 50, &[another]),
    ] {
        let imported = read(&far(offset, size, id, length)).expect("a model");
        let entry = entry(&imported);
        let roles: Vec<Role> = entry.graph.tensors().iter().map(|tensor| tensor.role).collect();
        assert_eq!(roles, [Role::Weight, Role::Weight, Role::Activation]);
        let said = imported.diagnostics.entries().iter();
        let said: Vec<&str> = said.map(|entry| &*entry.message).collect();
        let told = [beyond, unknown, another].into_iter();
        let told: Vec<&str> = told.filter(|text| said.iter().any(|one| one.contains(text))).collect();
        assert_eq!(told, expected, "{offset} {size} {id} {length}: {said:?}");
        let dumped = entry.dumped.as_ref().expect("facts");
        let stored = ("bytes of external buffers w.bin".to_owned(), length.to_string());
        assert!(dumped.facts.contains(&stored), "{:?}", dumped.facts);
        assert_eq!(dumped.alignment, Some(64));
    }
}
