//! Dumps written by hand.

mod sharing;
mod text;

use super::*;
use crate::Imported;
use crate::test_help::read;
use highwater_model::graph::{Id as _, Role};

const LOOP: &str = include_str!("../../../tests/mutate/seeds/loop.hlo");

fn entry(imported: &Imported) -> &GraphEntry {
    match &imported.source {
        Source::Graphs(graphs) => &graphs[0],
        _ => panic!("a module has a graph"),
    }
}

#[test]
fn a_module_with_a_loop_is_read() {
    let imported = read("f.txt", LOOP.as_bytes()).expect("a module");
    assert_eq!(imported.format, "xla");
    let entry = entry(&imported);
    assert_eq!(entry.name, "jit_f");
    let graph = &entry.graph;
    let kinds: Vec<&str> = graph.ops().ids().map(|op| graph.op_kind(op)).collect();
    assert_eq!(
        kinds,
        [
            "parameter",
            "constant",
            "copy",
            "tuple",
            "while",
            "get-tuple-element",
            "reduce"
        ]
    );
    let names: Vec<&str> = graph.tensors().ids().map(|id| graph.tensor_name(id)).collect();
    assert_eq!(names, ["arg", "zero", "copy", "init{}", "w{}", "w{0}", "w{1}", "out"]);
    // The loop runs in the copy's memory.
    let tensors = graph.tensors();
    let of = |name: &str| {
        let place = names.iter().position(|one| *one == name).expect("a tensor");
        tensors[highwater_model::graph::TensorId::from_idx(place)]
    };
    assert_eq!(of("w{1}").storage, of("copy").storage);
    assert_eq!((of("arg").role, of("zero").role), (Role::Input, Role::Constant));
    let bodies: Vec<&str> = entry.bodies.iter().map(|body| body.name()).collect();
    assert_eq!(bodies, ["body", "cond"]);
    let facts = &entry.dumped.as_ref().expect("facts").facts;
    let fact = |name: &str| facts.iter().find(|fact| fact.0 == name).map(|fact| fact.1.clone());
    assert_eq!(fact("computations").as_deref(), Some("4"));
    assert_eq!(fact("instructions").as_deref(), Some("19"));
    assert_eq!(fact("steps of the flattened schedule").as_deref(), Some("16"));
    assert!(
        imported
            .diagnostics
            .entries()
            .iter()
            .any(|entry| entry.message.contains("tiles"))
    );
}

#[test]
fn damaged_text_names_a_line() {
    for (from, to, expected) in [
        ("negate(%x)", "negate(%ghost)", "ghost"),
        ("f32[4]{0} copy", "copy", "shape is expected"),
        ("body=%body", "body=%missing", "missing"),
        (", condition=%cond", "", "no condition"),
        ("parameter(0), unknown", "parameter(zero), unknown", "parameter"),
        ("%i = s32[]", "%x = s32[]", "twice"),
        ("ENTRY %main", "} ENTRY %main", "line"),
    ] {
        let text = LOOP.replacen(from, to, 1);
        let error = read("f.txt", text.as_bytes())
            .map(|_| ())
            .expect_err(expected)
            .to_string();
        assert!(error.contains(expected) && error.contains("line"), "{error}");
    }
    for len in 0..LOOP.len() {
        // A text that ends between computations is a shorter module.
        drop(read("f.txt", &LOOP.as_bytes()[..len]));
    }
    assert!(matches!(
        read("f.txt", &LOOP.as_bytes()[..LOOP.len() - 3]),
        Err(ImportError::Truncated { .. })
    ));
}

// ---- protobuf by hand ----

fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    loop {
        let low = value.to_le_bytes()[0] & 0x7f;
        value >>= 7;
        if value == 0 {
            out.push(low);
            return out;
        }
        out.push(low | 0x80);
    }
}

fn number(field: u64, value: u64) -> Vec<u8> {
    [varint(field << 3), varint(value)].concat()
}

fn bytes(field: u64, content: &[u8]) -> Vec<u8> {
    [varint(field << 3 | 2), varint(content.len() as u64), content.to_vec()].concat()
}

fn packed(field: u64, values: &[u64]) -> Vec<u8> {
    bytes(
        field,
        &values.iter().flat_map(|value| varint(*value)).collect::<Vec<u8>>(),
    )
}

/// `f32[1024]`
fn shape() -> Vec<u8> {
    bytes(3, &[number(2, 11), packed(3, &[1024])].concat())
}

fn instruction(name: &str, opcode: &str, id: u64, operands: &[u64]) -> Vec<u8> {
    let fields = [
        bytes(1, name.as_bytes()),
        bytes(2, opcode.as_bytes()),
        shape(),
        number(35, id),
        packed(36, operands),
    ];
    bytes(2, &fields.concat())
}

fn logical(id: u64) -> Vec<u8> {
    bytes(1, &[number(1, id), number(2, 4096), bytes(3, &number(4, id))].concat())
}

fn assigned(id: u64, offset: u64) -> Vec<u8> {
    bytes(9, &[number(1, id), number(2, offset), number(3, 4096)].concat())
}

/// `p -> a -> b -> c` with a and c at one place; stored in another order than it runs.
fn module(places: [u64; 3]) -> Vec<u8> {
    let computation = [
        bytes(1, b"main"),
        instruction("p", "parameter", 1, &[]),
        instruction("b", "negate", 3, &[2]),
        instruction("a", "negate", 2, &[1]),
        instruction("c", "negate", 4, &[3]),
        number(5, 9),
        number(6, 4),
    ];
    let sequence = bytes(1, &[number(1, 9), bytes(2, &packed(1, &[1, 2, 3, 4]))].concat());
    let module = [
        bytes(1, b"by_hand"),
        bytes(2, b"main"),
        bytes(3, &computation.concat()),
        number(6, 9),
        bytes(7, &sequence),
    ];
    let temp = [
        number(1, 1),
        number(2, 8192),
        assigned(2, places[0]),
        assigned(3, places[1]),
        assigned(4, places[2]),
    ];
    let assignment = [
        logical(1),
        logical(2),
        logical(3),
        logical(4),
        bytes(3, &[number(2, 4096), number(5, 1), assigned(1, 0)].concat()),
        bytes(3, &temp.concat()),
    ];
    [bytes(1, &module.concat()), bytes(3, &assignment.concat())].concat()
}

#[test]
fn a_protobuf_runs_as_scheduled_and_carries_xlas_plan() {
    let imported = read("m.hlo.pb", &module([0, 4096, 0])).expect("a module");
    assert_eq!(imported.format, "xla");
    let entry = entry(&imported);
    let graph = &entry.graph;
    let names: Vec<&str> = graph.ops().ids().map(|op| graph.op_name(op)).collect();
    assert_eq!(names, ["p", "a", "b", "c"]);
    let dumped = entry.dumped.as_ref().expect("a plan");
    let arena = &dumped.arenas[0];
    let ranges: Vec<(u32, u32)> = arena
        .problem
        .buffers
        .iter()
        .map(|one| (one.lower.0, one.upper.0))
        .collect();
    // a is read on step 2, where c does not live yet; c is the root and lives to the end of the schedule.
    assert_eq!(ranges, [(1, 3), (2, 4), (3, 5)]);
    assert!(arena.problem.groups.is_empty());
    assert_eq!(
        arena.recorded.as_ref().map(|plan| plan.offsets.clone()),
        Some(vec![0, 4096, 0])
    );
    assert_eq!(imported.diagnostics.entries(), []);
    // In place: b over a is a group; b half over a cannot be.
    let shared = read("m.hlo.pb", &module([0, 0, 4096])).expect("a module");
    let arenas = &self::entry(&shared).dumped.as_ref().expect("a plan").arenas;
    assert_eq!(arenas[0].problem.groups, [[0, 1]]);
    let torn = read("m.hlo.pb", &module([0, 1024, 4096])).expect("a module");
    assert!(
        torn.diagnostics
            .entries()
            .iter()
            .any(|entry| entry.message.contains("does not hold"))
    );
}

#[test]
fn both_parts_of_a_dump_in_one_file_are_joined() {
    let text = "BufferAssignment:\nallocation 0: size 8, output shape is |(f32[], f32[])|, preallocated-temp:\n value: <1 a @0> \
                (size=4,offset=0): f32[]\n value: <2 b{1} (phi) @0> (size=4,offset=4): f32[]\n\nHloLiveRange (max 3):\n  \
                BufferLiveRange:\n    a{}:0-1\n    b{1}:1-3\n";
    let imported = read("both.txt", text.as_bytes()).expect("a dump");
    let Source::Problems(problems) = &imported.source else {
        panic!("a dump holds problems");
    };
    assert_eq!(problems[0].name, "allocation 0 (preallocated-temp)");
    assert_eq!(problems[0].problem.lower_bound().get(), 8);
}

/// Every step of a lane costs memory.
#[test]
fn live_ranges_end_within_the_limit_of_steps() {
    let of = |end: u64| format!("HloLiveRange (max 3):\n  BufferLiveRange:\n    a{{}}:0-{end}\n    b{{}}:1-2\n");
    assert!(read("near.txt", of(3_999_999).as_bytes()).is_ok());
    let error = read("far.txt", of(4_294_967_290).as_bytes()).expect_err("too far");
    let text = error.to_string();
    assert!(
        text.contains("beyond step 4000000") && text.contains("line 3"),
        "{text}"
    );
}

#[test]
fn wide_tuples_and_deep_calls_take_no_more_than_their_text() {
    let mut text = String::from("HloModule wide\nENTRY %e {\n  %p = (");
    for _ in 0..20_000 {
        text.push_str("f32[],");
    }
    text.push_str("f32[]) parameter(0)\n");
    for index in 0..20_000 {
        text.push_str(&format!("  %g{index} = f32[] get-tuple-element(%p), index={index}\n"));
    }
    text.push_str("}\n");
    assert!(read("wide.txt", text.as_bytes()).is_ok());
    let mut text = String::from("HloModule deep\n");
    text.push_str("c0 {\n  %x0 = f32[] parameter(0)\n}\n");
    for depth in 1..20_000 {
        let before = depth - 1;
        text.push_str(&format!(
            "c{depth} {{\n  %p{depth} = f32[] parameter(0)\n  ROOT %x{depth} = f32[] call(%p{depth}), to_apply=%c{before}\n}}\n"
        ));
    }
    assert!(read("deep.txt", text.as_bytes()).is_ok());
    // Every reader of a tuple reads all of it: a text with a million readers is refused.
    let mut text = String::from("HloModule thick\nENTRY %e {\n  %p = (");
    text.push_str(&"f32[],".repeat(5000));
    text.push_str("f32[]) parameter(0)\n");
    for index in 0..5000 {
        text.push_str(&format!("  %r{index} = f32[] custom-call(%p)\n"));
    }
    text.push_str("}\n");
    assert!(read("thick.txt", text.as_bytes()).is_err());
}
