//! `highwater inspect`: fields, several files, folders, and unreadable files.

use crate::cli::plan::{file, says, text};
use crate::cli::{Place, fails, json};

#[test]
fn inspect_has_the_fields_of_the_contract() {
    let answer = json(&["inspect", "sample:resnet50", "--format", "json"], 0);
    assert_eq!(answer["format"], "native");
    let graph = &answer["graphs"][0];
    for field in [
        "name",
        "ops",
        "tensors",
        "weights_bytes",
        "state_bytes",
        "input_bytes",
        "activation_bytes",
        "peak_live_bytes",
        "peak_live_step",
        "aliased_peak_live_bytes",
        "aliased_peak_live_step",
        "symbolic_dims",
        "unknown_shape_tensors",
        "dynamic",
    ] {
        assert!(!graph[field].is_null(), "{field}");
    }
    assert_eq!(graph["aliased_peak_live_bytes"], 2_763_672_996_u64);
    assert_eq!(graph["aliased_peak_live_step"], 350);
}

#[test]
fn a_variable_counts_once_however_often_it_is_read() {
    let handle = |name: &str| {
        format!(
            r#"node {{ name: "{name}" op: "VarHandleOp" attr {{ key: "dtype" value {{ type: DT_FLOAT }} }}
               attr {{ key: "shape" value {{ shape {{ dim {{ size: 64 }} }} }} }}
               attr {{ key: "shared_name" value {{ s: "v" }} }} }}"#
        )
    };
    let read = |name: &str, from: &str| {
        format!(
            r#"node {{ name: "{name}" op: "ReadVariableOp" input: "{from}"
               attr {{ key: "dtype" value {{ type: DT_FLOAT }} }} }}"#
        )
    };
    let nodes = [handle("a"), handle("b"), read("x", "a"), read("y", "a"), read("z", "b")];
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("graph.pbtxt");
    std::fs::write(&path, nodes.join("\n")).expect("the file is written");
    let answer = json(&["inspect", path.to_str().expect("a path"), "--format", "json"], 0);
    assert_eq!(answer["graphs"][0]["weights_bytes"], 256);
}

#[test]
fn an_unbound_dimension_has_no_peak_and_says_how_to_get_one() {
    let answer = json(&["inspect", "sample:bert", "--format", "json"], 0);
    assert!(answer["graphs"][0]["peak_live_bytes"].is_null());
    assert_eq!(answer["graphs"][0]["dynamic"], true);
    let text = answer["diagnostics"].to_string();
    assert!(
        text.contains("--dim seq=VALUE") && text.contains("--dim batch=VALUE"),
        "{text}"
    );
    let bound = json(
        &[
            "inspect",
            "sample:bert",
            "--dim",
            "batch=8",
            "--dim",
            "seq=128",
            "--format",
            "json",
        ],
        0,
    );
    assert_eq!(bound["graphs"][0]["peak_live_bytes"], 40_898_560);
    fails(&["plan", "sample:bert"], "--dim");
}

const GRAPH: &str = r#"{"highwater_graph": 1, "name": "g", "inputs": [], "outputs": [],
    "nodes": [{"op": "a", "inputs": [], "outputs": [{"id": "x", "shape": [4], "dtype": "int8"}]}]}"#;

#[test]
fn several_files_have_an_answer_each() {
    let graph = file("g.json", GRAPH);
    let problem = file("p.csv", "id,lower,upper,size\na,0,1,4\n");
    let answer = json(&["inspect", &graph.path, &problem.path, "--format", "json"], 0);
    let files = answer["files"].as_array().unwrap();
    assert_eq!(files.len(), 2);
    assert_eq!(
        (files[0]["file"].as_str(), files[0]["format"].as_str()),
        (Some("g.json"), Some("native"))
    );
    assert_eq!(files[1]["lifetimes"][0]["peak_live_bytes"], 4);
    says(
        &text(&["inspect", &graph.path, &problem.path], 0),
        &["g.json (native)", "p.csv (planner_problem)"],
    );
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    for (name, content) in [("g.json", GRAPH), ("g.pbtxt", "node { name: 'x' op: 'NoOp' }\n")] {
        let marked = file(name, &format!("\u{feff}{content}"));
        let plain = file(name, content);
        let answer = |path: &str| json(&["inspect", path, "--format", "json"], 0);
        assert_eq!(answer(&marked.path), answer(&plain.path), "{name}");
        let again = file(name, &format!("\u{feff}\u{feff}{content}"));
        fails(&["inspect", &again.path], "of none of the formats");
    }
}

#[test]
fn errors_of_unreadable_files_state_format_and_remedy() {
    let packed = |bytes: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut encoder, bytes).unwrap();
        encoder.finish().unwrap()
    };
    let folder = tempfile::tempdir().unwrap();
    let whole = packed(GRAPH.as_bytes());
    let utf16: Vec<u8> = "\u{feff}id,lower".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let cases: [(&str, &[u8], &str); 7] = [
        ("empty.onnx", b"", "the file is empty"),
        ("zeros.onnx", &[0; 5000], "5000 zero bytes"),
        ("picture.png", b"\x89PNG\r\n\x1a\n1234", "picture"),
        ("other.json", b"{\"hello\": 1}", "docs/text-formats.md"),
        ("utf16.csv", &utf16, "save the file as UTF-8"),
        ("weights.pt", b"PK\x03\x04abc", "ZIP"),
        ("cut.json.gz", &whole[..whole.len() / 2], "gzip"),
    ];
    for (name, bytes, expected) in cases {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        for command in [
            &["inspect"][..],
            &["plan"],
            &["compare"],
            &["remat", "--budget", "0.5"],
            &["reuse", "--level", "0"],
            &["replay", "--policy", "0"],
        ] {
            let mut arguments = command.to_vec();
            arguments.push(path.to_str().unwrap());
            fails(&arguments, expected);
            fails(&arguments, name);
        }
    }
    fails(&["inspect", "/no/such/file"], "No such file");
    let empty = folder.path().join("nothing");
    std::fs::create_dir(&empty).unwrap();
    fails(&["inspect", empty.to_str().unwrap()], "the folder is empty");
}

#[test]
fn recordings_that_hold_nothing_are_one_line() {
    let mut table = "Component,Timestamp(us),Total Reserved(KB),Device\n".to_owned();
    for module in 0..20 {
        table.push_str(&format!("M{module},1.000,{},0\n", u32::from(module == 3)));
    }
    let table = file("npu_module_mem.csv", &table);
    let said = text(&["inspect", &table.path], 0);
    says(
        &said,
        &["recording", "M3", "19 recordings always at 0 B: M0, M1", "and 7 more"],
    );
}

/// What lies beside the models of a folder is named where that is known.
#[test]
fn files_of_a_folder_that_are_not_read_are_named() {
    let place = Place::new();
    let graph = r#"{"inputs": [{"id": "x", "shape": [4], "dtype": "float32"}], "nodes": [{"op": "Relu", "inputs": ["x"], "outputs": [{"id": "y", "shape": [4], "dtype": "float32"}]}]}"#;
    place.write("model.json", graph);
    let mut tensor = b"\x08\x04\x10\x01\x42\x01x\x4a\x10".to_vec();
    tensor.extend([0; 16]);
    place.write("input_0.pb", tensor);
    place.write("notes.txt", "nothing to read");
    let answer = json(&["inspect", &place.at(""), "--format", "json"], 0);
    let said = answer["diagnostics"].to_string();
    assert!(
        said.contains("is not read") && said.contains("tensor of ONNX"),
        "{said}"
    );
    assert!(said.contains("unknown format") && said.contains("notes.txt"), "{said}");
}
