//! What the importers claim: contents by their heads, and JSON by keys at their levels.

use super::*;

/// Contents with the formats that claim them.
const HEADS: &[(&str, &[u8])] = &[
    ("", b""),
    ("", b"graph {"),
    ("", b"graph { name: \"x\" }"),
    ("tensorflow", b"node { name: \"a\" op: \"Const\" }"),
    ("", b"op { name: \"Abs\" input_arg { name: \"x\" type_attr: \"T\" } }"),
    ("", b"hlo_module { name: \"m\" }"),
    (
        "onnx",
        b"ir_version: 4 producer_name: \"pytorch\" graph { node { input: \"x\" output: \"y\" op_type: \"Relu\" } }",
    ),
    ("", b"name: \"LeNet\" layer { name: \"data\" type: \"Input\" }"),
    ("", b"graph { node { name: \"a\" op: \"x\" } }"),
    ("tensorflow_run", b"step_stats { dev_stats { } }"),
    ("xla", b"HloModule x"),
    ("xla", include_bytes!("../../../tests/mutate/seeds/loop.hlo")),
    (
        "ge_dump",
        include_bytes!("../../../tests/mutate/seeds/ge_proto_model.txt"),
    ),
    (
        "ge_dump",
        include_bytes!("../../../tests/mutate/seeds/ge_onnx_model.pbtxt"),
    ),
    (
        "ge_dump",
        include_bytes!("../../../tests/mutate/seeds/dynamo_graph.pbtxt"),
    ),
    ("ge_dump", include_bytes!("../../../tests/mutate/seeds/ge_atc.json")),
    ("ge_dump", b"{\"op\": [{\"name\": \"a\", \"type\": \"Data\"}]}"),
    ("", b"{\"graph\": [{\"name\": \"a\"}]}"),
    (
        "somas",
        include_bytes!("../../../tests/mutate/seeds/CPU_somas_tensor_offset_0.ir"),
    ),
    ("somas", b"tensor_id=103\tsize=512\toffset=1024\tcontinuous=0\n"),
    ("somas", b"T 103 512 0\nT 0 512 0\n"),
    ("", b"All Tensors:\n\nThey are 12.\n"),
    ("", b"T 103 512\n"),
    (
        "mindspore_ir",
        include_bytes!("../../../tests/mutate/seeds/graph_build_0_0094.ir"),
    ),
    ("mindspore_ir", b"\n#IR entry      : @step.1:2\n"),
    ("", b"# IR entry\n"),
    ("mindir", include_bytes!("../../../tests/mutate/seeds/net.mindir")),
    (
        "mindspore_tracker",
        include_bytes!("../../../tests/mutate/seeds/memory_block.csv"),
    ),
    ("", b"{\"graph\": 1}"),
    ("", b"\x0a\x05hello\x12\x02no"),
    (
        "xla",
        b"\x0a\x18\x0a\x03jit\x12\x04main\x1a\x08\x0a\x04main\x12\x00\x28\x01\x1a\x00",
    ),
    ("onnx", b"\x08\x07\x12\x04onnx\x3a\x00"),
    ("", b"node { calculator: \"X\" }"),
    ("", b"graph { node { name: \"x\" op: \"y\" } }"),
    ("", b"ir_version: 3"),
    ("onnx", b"{\"irVersion\": \"8\", \"graph\": {}}"),
    ("onnx", b"<ir_version: 8> g (x) => (y) {}"),
    ("", b"<html>"),
    ("", b"\x08\x08\x08\x04\x10\x01\x42\x01x\x4a\x04\0\0\0\0"),
    ("", b"library { name: \"libm\" }"),
    ("", b"versions { major: 1 } node { name: \"x\" op: \"y\" }"),
    ("", b"PK\x03\x04"),
    ("torch_snapshot", b"\x80\x04\x95"),
    ("", &[0; 64]),
    ("", &[0xff; 64]),
    ("onnx", &[8, 7, 0x12, 1, b'x', 0x3a, 2, 0x0a, 0]),
    ("onnx", &[8, 10, 0x3a, 0]),
    ("onnx", &[8, 10, 0x12, 5, b'p', b'y']),
    ("onnx", &[0x42, 2, 16, 11, 0x3a, 3, 0x12, 1, b'g']),
    ("onnx", &[8, 3, 0x3a, 0xff, 0x7f, 0x0a, 4]),
    ("", &[8, 7]),
    ("", &[8, 1, 0x12, 4, 0x0a, 2, 0x0a, 0]),
    ("", &[8, 0, 0x3a, 0]),
    ("dtr_log", b"{\"INSTRUCTION\":\"ANNOTATE\",\"ANNOTATION\":\"START\"}"),
    ("dtr_log", b"\n{\"INSTRUCTION\":\"RELEASE\",\"NAME\":\"x\"}"),
    ("", b"{}"),
    ("native", b"{\"nodes\":[]}"),
    ("native", b"{\"graphs\": [{\"name\": \"g\", \"nodes\": []}]}"),
    ("", b"INSTRUCTION"),
    ("", b"[\"INSTRUCTION\"]"),
    ("", b"{\"INSTRUCTION\"\n"),
    ("allocation_trace", b"device 1G\n"),
    ("allocation_trace", b"# only then\n\n  a x 1\n"),
    ("allocation_trace", b"load G 5\r\nexec G\r\n"),
    ("allocation_trace", b"a x 1\nwrong line\nf x\n"),
    ("allocation_trace", b"a x 1"),
    ("", b"# a comment\n"),
    ("planner_problem", b"id,lower,upper,size\na,0,1,5\n"),
    ("", b"{\"a\": 1}"),
    ("", b"a cat sat\nuse of words\n"),
    ("", b"once upon a time\nf x\n"),
    ("", b"\x00\x01\x02"),
    ("", b"[]"),
    ("", b"[1]"),
    ("", b"[{\"id\":1}]"),
    ("", b"ph name ts"),
    ("chrome_trace", b"{\"traceEvents\": [{\"ph\":\"X\",\"name\":\"a\"}]}"),
    ("", b"[{\"ph\":\"X\",\"name\":\"a\"}]"),
    (
        "onnxruntime_profile",
        b"[{\"cat\" : \"Session\",\"ph\":\"X\",\"name\" :\"session_initialization\",\"ts\" :2,\"args\" :{}}]",
    ),
    (
        "onnxruntime_profile",
        b"[{\"cat\":\"Node\",\"ph\":\"X\",\"name\":\"a_kernel_time\",\"ts\":1,\"args\":{\"provider\":\"x\"}}]",
    ),
    ("memory_timeline", b"[[1, 2], [[0, 1], [0, 2]]]"),
    ("memory_timeline", b"[[1, 1, 8, 0]]"),
    ("torch_snapshot", b"{\"segments\": [], \"device_traces\": [[]]}"),
    ("torch_snapshot", b"[{'device': 0, 'total_size': 512, 'blocks': []}]"),
    ("torch_snapshot", b"SQLite format 3\0...CREATE TABLE device_traces(id"),
    ("ascend_profiler", b"SQLite format 3\0...CREATE TABLE OP_MEMORY(id"),
    ("paddle_program", b"{\"program\": {\"blocks\": [{\"vars\": []}]}}"),
    (
        "dtr_graph",
        b"{\"graph\": {\"vars\": [{\"name\": \"a\", \"bytes\": 1}], \"ops\": []}}",
    ),
    ("dtr_script", b"{\"script\": [[\"P\", \"a\", 1]]}"),
    (
        "planner_problem",
        b"{\"buffers\": [{\"id\": 1, \"lower\": 0, \"upper\": 1, \"size\": 1}]}",
    ),
    (
        "planner_problem",
        b"{\"tensors\": [{\"tensor\": \"a\", \"born\": 0, \"last\": 1, \"bytes\": 1}]}",
    ),
    ("chrome_trace", b"[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1}]"),
    ("", b"Name,Type,Duration(us)\na,b,1\n"),
    ("", b"Event,Name,Device Id,Base,Compare\n"),
    ("", b"FuncInfo,StartTime(ns),EndTime(ns),Thread Id,Process Id\n"),
    ("", b"\n\n"),
    ("", b"{\"Name\":1}"),
    (
        "ascend_profiler",
        b"DEVICE TYPE,total_allocated (KB),timestamp( us ),Component\nNPU:0,1,2,X\n",
    ),
    (
        "ascend_profiler",
        b"Name,Size(KB),Allocation Time(us),Release Time(us)\na,1,2,3\n",
    ),
    (
        "ascend_profiler",
        b"Device_id,Op Name,Node Index Start,Node Index End,Size(KB)\n0,a,1,2,3\n",
    ),
    ("", b"id,start,end,size,stream\na,0,1,2,3\n"),
    ("", b"lower,upper\n0,1\n"),
    ("native", b"{\"nodes\": [], \"buffers\": [{\"lower\": 0, \"size\": 1}]}"),
];

#[test]
fn contents_are_claimed_by_their_formats_alone() {
    let long = format!("{{\"INSTRUCTION\":\"CALL\",\"ARGS\":[\"{}\"]}}", "x".repeat(100_000));
    for (expected, head) in HEADS.iter().copied().chain([("dtr_log", long.as_bytes())]) {
        let input = Input::from_bytes("", head).expect("memory can be read");
        let found = IMPORTERS.iter().filter(|row| (row.detect)(&input)).map(|row| row.name);
        let found = found.collect::<Vec<_>>().join(" ");
        assert_eq!(found, expected, "{}", head.escape_ascii());
    }
}

fn claims(text: &[u8]) -> String {
    let input = Input::from_bytes("", text).expect("memory can be read");
    let found = IMPORTERS.iter().filter(|row| (row.detect)(&input)).map(|row| row.name);
    found.collect::<Vec<_>>().join(" ")
}

fn is_json(head: &[u8]) -> bool {
    matches!(head.first(), Some(b'{' | b'['))
}

#[test]
fn json_within_json_is_not_claimed() {
    for (expected, head) in HEADS.iter().filter(|(_, head)| is_json(head)) {
        for (before, behind) in [
            ("{\"outer\": ", "}"),
            ("{\"name\": \"x\", \"outer\": [", "]}"),
            ("{\"outer\": {\"inner\": ", "}}"),
            ("[[[", "]]]"),
            ("[{\"outer\": ", "}]"),
        ] {
            let text = [before.as_bytes(), head, behind.as_bytes()].concat();
            assert_eq!(claims(&text), "", "{expected}: {}", text.escape_ascii());
        }
    }
}

/// Keys by which JSON forms are told apart, and some that all files have.
const KEYS: &[&str] = &[
    "nodes",
    "inputs",
    "outputs",
    "highwater_graph",
    "graphs",
    "buffers",
    "lower",
    "size",
    "tensors",
    "born",
    "last",
    "bytes",
    "blocks",
    "vars",
    "ops",
    "program",
    "final_blocks",
    "graph",
    "script",
    "traceEvents",
    "ph",
    "name",
    "ts",
    "pid",
    "cat",
    "args",
    "provider",
    "segments",
    "device_traces",
    "total_size",
    "segment_type",
    "INSTRUCTION",
    "meta",
    "version",
];

/// A value with keys of all forms, from a sequence of pseudo-random numbers.
fn any_value(next: &mut impl FnMut(usize) -> usize, depth: usize) -> String {
    let n_items = next(4);
    match next(if depth > 4 { 2 } else { 5 }) {
        0 => next(9).to_string(),
        1 => format!("{:?}", KEYS[next(KEYS.len())]),
        2 => {
            let items: Vec<String> = (0..n_items).map(|_| any_value(next, depth + 1)).collect();
            format!("[{}]", items.join(", "))
        }
        _ => {
            let pairs: Vec<String> = (0..=n_items)
                .map(|_| format!("{:?}: {}", KEYS[next(KEYS.len())], any_value(next, depth + 1)))
                .collect();
            format!("{{{}}}", pairs.join(", "))
        }
    }
}

#[test]
fn keys_below_other_keys_decide_nothing() {
    let mut state = 1_u64;
    let mut next = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap_or(0) % below
    };
    for _ in 0..2000 {
        let (first, second) = (any_value(&mut next, 1), any_value(&mut next, 1));
        for text in [
            format!("{{\"name\": \"x\", \"outer\": {first}, \"version\": {second}}}"),
            format!("[{{\"outer\": {first}}}, {{\"outer\": [{second}]}}]"),
        ] {
            assert_eq!(claims(text.as_bytes()), "", "{text}");
        }
    }
}
