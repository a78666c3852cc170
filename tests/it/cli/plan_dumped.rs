//! `highwater plan` on dumps of compilers: their own plans, and which graph, arena or recording of a file is placed.

use serde_json::Value as Json;

use crate::cli::plan::{file, says, text};
use crate::cli::{fails, json, run};
use crate::support;

#[test]
fn the_engines_plans_of_the_corpus_are_compared() {
    let Some(folder) = support::shared("corpus/fetched/ge_dumps") else {
        return;
    };
    let path = folder.join("resnet50_ge_plan.json").to_string_lossy().into_owned();
    let dumped = json(&["plan", &path, "--strategy", "as_dumped", "--format", "json"], 0);
    assert_eq!(
        (&dumped["footprint_bytes"], &dumped["lower_bound_bytes"]),
        (&Json::from(4_522_496), &Json::from(3_612_672))
    );
    let best = json(&["plan", &path, "--format", "json"], 0);
    assert_eq!(
        (&best["footprint_bytes"], &best["optimal"]),
        (&Json::from(3_612_672), &Json::from(true))
    );
}

/// A dump of three tensors: `c` starts after `a` ends.
fn dump(offsets: [&str; 3]) -> String {
    let op = |name: &str, input: &str, offset: &str| {
        format!(
            "op {{ name: '{name}' type: 'Op' {input} {offset} output_desc {{ dtype: DT_INT8 shape {{ dim: 100 }} }} }}\n"
        )
    };
    let [a, b, c] = offsets.map(|offset| match offset {
        "" => String::new(),
        offset => format!("output_i: {offset}"),
    });
    let ops = [
        op("a", "", &a),
        op("b", "input: 'a:0'", &b),
        op("c", "input: 'b:0'", &c),
    ];
    format!("graph {{ name: 'g' {} }}", ops.concat())
}

#[test]
fn a_dumped_plan_is_shown_to_the_byte_and_checked() {
    let plan = |offsets: [&str; 3], more: &[&str]| {
        let dump = file("ge_proto_1.txt", &dump(offsets));
        let mut arguments = vec!["plan", dump.path.as_str(), "--strategy", "as_dumped"];
        arguments.extend(more);
        let output = run(&arguments);
        let code = output.status.code().unwrap_or(-1);
        let said = [output.stdout, output.stderr].concat();
        (code, String::from_utf8(said).unwrap())
    };
    let (code, answer) = plan(["0", "512", "0"], &["--format", "json"]);
    let answer: Json = serde_json::from_str(&answer).unwrap();
    assert_eq!((code, &answer["footprint_bytes"]), (0, &Json::from(612)));
    assert_eq!(
        (&answer["buffers"], &answer["verified"]),
        (&Json::from(3), &Json::from(true))
    );
    let (code, answer) = plan(["0", "512", "0"], &["--format", "csv"]);
    assert_eq!(code, 0);
    says(&answer, &["b:0,1,3,100,512\n"]);
    // Offsets of unusual alignment are kept.
    assert_eq!(plan(["0", "100", "0"], &[]).0, 0);
    let (code, answer) = plan(["0", "99", "0"], &[]);
    assert_eq!(code, 1);
    says(
        &answer,
        &["NOT A VALID PLAN", "\"a:0\" and \"b:0\"", "offsets of the file"],
    );
    assert!(
        !answer.contains("above bound") && !answer.contains("reuse edges"),
        "{answer}"
    );
    let (code, answer) = plan(["0", "99", "0"], &["--format", "json", "--capacity", "1KiB"]);
    let answer: Json = serde_json::from_str(&answer).unwrap();
    assert_eq!((code, &answer["over_bound_percent"]), (1, &Json::Null));
    assert_eq!(
        (&answer["verified"], &answer["fits"]),
        (&Json::from(false), &Json::from(false))
    );
    let (code, answer) = plan(["0", "", "0"], &[]);
    assert_eq!(code, 2);
    says(&answer, &["no offset for 1 of 3 buffers", "\"b:0\""]);
    assert_eq!(plan(["", "", ""], &[]).0, 2);
}

/// Two programs of static graphs of different sizes, as the profiler lists them.
const TWO_GRAPHS: &str = "Device_id,Op Name,Model Name,Graph ID,Node Index Start,Node Index End,Size(KB)\n\
    host,a,m,0,1,3,4\nhost,b,m,0,2,5,8\nhost,c,m,1,1,2,16\n";

#[test]
fn the_answer_names_its_graph_of_several() {
    let table = file("static_op_mem.csv", TWO_GRAPHS);
    let first = json(&["plan", &table.path, "--format", "json"], 0);
    assert_eq!(
        (&first["name"], &first["others"]),
        (&Json::from("host/0"), &serde_json::json!(["host/1"]))
    );
    let second = json(&["plan", &table.path, "--graph", "host/1", "--format", "json"], 0);
    assert_eq!(
        (&second["name"], &second["buffers"]),
        (&Json::from("host/1"), &Json::from(1))
    );
    says(
        &text(&["plan", &table.path], 0),
        &["\"host/0\"", "host/1", "--graph NAME"],
    );
    let alone = file("problem.csv", "id,lower,upper,size\na,0,1,4\n");
    assert!(!text(&["plan", &alone.path], 0).contains("--graph"));
    fails(&["plan", &table.path, "--graph", "x"], "host/0, host/1");
}

#[test]
fn a_file_with_nothing_to_place_is_reported() {
    let empty = file(
        "g.json",
        r#"{"highwater_graph": 1, "name": "g", "nodes": [{"op": "a", "inputs": [], "outputs": []}]}"#,
    );
    let answer = json(&["plan", &empty.path, "--format", "json"], 0);
    assert_eq!(
        (&answer["buffers"], &answer["footprint_bytes"]),
        (&Json::from(0), &Json::from(0))
    );
    says(&answer["diagnostics"].to_string(), &["nothing to place"]);
    let said = text(&["plan", &empty.path], 0);
    says(&said, &["nothing to place in \"g\""]);
    assert!(!said.contains("optimal"), "{said}");
    let unknown = file(
        "u.json",
        r#"{"highwater_graph": 1, "name": "u", "inputs": [], "outputs": [],
            "nodes": [{"op": "a", "inputs": [], "outputs": [{"id": "x", "shape": null}]}]}"#,
    );
    says(
        &text(&["plan", &unknown.path], 0),
        &["nothing to place", "shape of a tensor stays unknown"],
    );
}

#[test]
fn a_dimension_without_a_graph_is_reported() {
    let graph = file(
        "d.json",
        r#"{"highwater_graph": 1, "name": "d", "inputs": [], "outputs": [],
            "nodes": [{"op": "a", "inputs": [], "outputs": [{"id": "x", "shape": ["n", 4], "dtype": "int8"}]}]}"#,
    );
    for command in [&["inspect"][..], &["plan"], &["compare"], &["remat", "--budget", "1.0"]] {
        let arguments = [&graph.path, "--dim", "n=2", "--dim", "m=3", "--format", "json"];
        let answer = json(&[command, &arguments].concat(), 0);
        let said = answer["diagnostics"].to_string();
        says(&said, &["--dim m changes nothing", "its only symbolic dimension is n"]);
        assert!(!said.contains("--dim n changes"), "{said}");
    }
}

#[test]
fn figures_with_unknown_sizes_are_lower_bounds() {
    let graph = |shape: &str, workspace: &str| {
        let text = format!(
            r#"{{"highwater_graph": 1, "name": "g", "inputs": [], "outputs": [],
               "nodes": [{{"op": "a", "inputs": [], "outputs": [{{"id": "x", "shape": {shape}, "dtype": "int8"}}]}},
                         {{"op": "b", {workspace} "inputs": ["x"], "outputs": [{{"id": "y", "shape": [64], "dtype": "int8"}}]}}]}}"#
        );
        file("g.json", &text)
    };
    let scratch = r#""workspace_bytes": 8,"#;
    for (shape, workspace, is_bound, why) in [
        ("null", scratch, true, "tensors of unknown size count 0 bytes"),
        ("[8]", scratch, false, ""),
        ("[8]", "", true, "kernel scratch not included"),
        ("null", "", true, "kernel scratch not included"),
    ] {
        let graph = graph(shape, workspace);
        let plan = json(&["plan", &graph.path, "--format", "json"], 0);
        assert_eq!(plan["lower_bound"], is_bound, "{shape} {workspace}");
        let compare = json(&["compare", &graph.path, "--format", "json"], 0);
        assert_eq!(compare["policies"][0]["lower_bound"], is_bound, "{shape} {workspace}");
        for command in ["plan", "compare"] {
            let said = text(&[command, &graph.path], 0);
            assert_eq!(said.contains("lower bounds: "), is_bound, "{said}");
            says(&said, &[why]);
        }
    }
}

#[test]
fn an_answer_names_the_graph_or_the_compilers_assignment() {
    let Some(folder) = support::shared("corpus/made/xla") else {
        return;
    };
    for dump in std::fs::read_dir(folder).unwrap() {
        let folder = dump.unwrap().path();
        let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
        if !folder.join("hlo_after.hlo.pb").exists() {
            continue;
        }
        for (strategy, expected) in [
            ("best", "places the tensors of the graph"),
            ("as_dumped", "the compiler's own assignment"),
        ] {
            let arguments = [
                "plan",
                &path("hlo_after.hlo.pb"),
                "--strategy",
                strategy,
                "--format",
                "json",
            ];
            let answer = json(&arguments, 0);
            says(&answer["diagnostics"].to_string(), &[expected]);
        }
        let assignment = path("buffer-assignment.txt");
        let output = run(&["plan", &assignment, "--strategy", "as_dumped"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!said.contains("carries no offsets"), "{said}");
        says(&said, &["not when they are live", "another --strategy"]);
    }
}

#[test]
fn called_graphs_are_reported_and_chosen_by_name() {
    let module = file(
        "m.txt",
        "HloModule m, entry_computation_layout={(f32[256]{0})->f32[256]{0}}\n\n\
         body {\n  p = f32[256]{0} parameter(0)\n  e = f32[256]{0} exponential(p)\n  \
         t = f32[256]{0} tanh(e)\n  ROOT n = f32[256]{0} negate(t)\n}\n\n\
         cond {\n  q = f32[256]{0} parameter(0)\n  ROOT c = pred[] constant(false)\n}\n\n\
         ENTRY main {\n  x = f32[256]{0} parameter(0)\n  \
         ROOT w = f32[256]{0} while(x), condition=cond, body=body\n}\n",
    );
    for command in [&["plan"][..], &["remat", "--budget", "1.0"], &["reuse", "--level", "0"]] {
        let whole = [command, &[&module.path, "--format", "json"]].concat();
        let answer = json(&whole, 0);
        says(
            &answer["diagnostics"].to_string(),
            &["1 op runs subgraphs", "\\\"body\\\"", "`compare` counts it"],
        );
        if command[0] != "reuse" {
            assert_eq!(answer["lower_bound"], true, "{command:?}");
        }
        let alone = json(&[&whole[..], &["--graph", "body"]].concat(), 0);
        let said = alone["diagnostics"].to_string();
        assert!(!said.contains("subgraphs"), "{said}");
        fails(&[command, &[&module.path, "--graph", "missing"]].concat(), "body, cond");
    }
}
