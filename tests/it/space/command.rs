//! `highwater sweep` and `highwater recommend`: fields, forms, exit codes.

use serde_json::Value as Json;

use crate::cli::{fails, json, run};

#[test]
fn sweep_has_a_row_for_every_configuration() {
    let axes = [
        "--axis",
        "policy=0,2,3,4",
        "--axis",
        "batch=1,8",
        "--axis",
        "graph_max_parallel_model_num=1,2",
    ];
    let arguments = |more: &[&'static str]| [&["sweep", "sample:bert"][..], &axes, more].concat();
    let answer = json(&arguments(&["--format", "json"]), 0);
    assert_eq!(answer["highwater_sweep"], 1);
    assert_eq!(
        (answer["size"].as_u64(), answer["is_complete"].as_bool()),
        (Some(16), Some(true))
    );
    assert_eq!(answer["axes"][1]["key"], "dim:batch");
    let points = answer["points"].as_array().unwrap();
    assert_eq!(points.len(), 16);
    for (idx, point) in (0_u64..).zip(points) {
        assert_eq!(point["index"].as_u64(), Some(idx));
        match point["status"].as_str() {
            Some("complete") => {
                let parts = ["features", "weights", "variables", "io"];
                let sum: u64 = parts.iter().map(|part| point["reserved"][part].as_u64().unwrap()).sum();
                assert_eq!(point["peak_reserved_bytes"].as_u64(), Some(sum));
                assert!(point["estimated_overhead_ns"].is_u64() && point["fragmentation"].is_number());
            }
            Some("refused") => {
                assert_eq!(point["refused_by"][0]["rule"], "R20");
                assert!(point["peak_reserved_bytes"].is_null());
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(answer["largest"][0]["axis"], "batch");
    assert_eq!(answer["largest"][0]["value"], 8);
    assert_eq!(answer["smallest_device"]["name"], "generic-16GB");
    let csv = String::from_utf8(run(&arguments(&["--format", "csv"])).stdout).unwrap();
    assert_eq!(csv.lines().count(), 17);
    assert!(
        csv.starts_with(
            "index,memory_config.static_memory_policy,dim:batch,graph_max_parallel_model_num,policy,status,"
        )
    );
    let columns = csv.lines().next().unwrap().split(',').count();
    assert!(csv.lines().all(|line| line.split(',').count() == columns));
    let text = String::from_utf8(run(&arguments(&[])).stdout).unwrap();
    for part in [
        "16 configurations: 12 fit, 4 refused by rules",
        "excluded by R20: 4 configurations",
        "largest batch that fits: 8",
    ] {
        assert!(text.contains(part), "{text}");
    }
    let again = run(&arguments(&["--format", "json"])).stdout;
    assert_eq!(
        again,
        run(&arguments(&["--format", "json"])).stdout,
        "two runs are equal byte for byte"
    );
}

#[test]
fn sweep_agrees_with_compare() {
    let compared = json(&["compare", "sample:resnet50", "--format", "json"], 0);
    let swept = json(
        &[
            "sweep",
            "sample:resnet50",
            "--axis",
            "policy=0,2,3,4",
            "--format",
            "json",
        ],
        0,
    );
    let of = |rows: &Json| -> Vec<(u64, u64, u64)> {
        let figure = |row: &Json, name: &str| row[name].as_u64().unwrap();
        let rows = rows.as_array().unwrap().iter();
        rows.map(|row| {
            (
                figure(row, "policy"),
                figure(row, "peak_reserved_bytes"),
                figure(row, "estimated_overhead_ns"),
            )
        })
        .collect()
    };
    assert_eq!(of(&swept["points"]), of(&compared["policies"]));
}

#[test]
fn recommend_names_a_winner_and_says_why() {
    let arguments = ["recommend", "sample:mixed", "--capacity", "3700MiB", "--format", "json"];
    let answer = json(&arguments, 0);
    assert_eq!(answer["highwater_recommendation"], 1);
    assert_eq!(
        (&answer["goal"], &answer["is_exhaustive"]),
        (&Json::from("least-overhead"), &Json::from(true))
    );
    assert_eq!(answer["winner"]["policy"], 2);
    assert_eq!(answer["winner"]["settings"]["simulation.device_memory"], 3700_u64 << 20);
    assert!(answer["winner"]["peak_reserved_bytes"].as_u64() <= Some(3700 << 20));
    assert_eq!(answer["at_hand"]["status"], "out_of_memory");
    assert!(answer["left_out"]["out_of_memory"].as_u64() > Some(0));
    let reasons = answer["reasons"].as_array().unwrap();
    assert!(
        reasons[0]["text"]
            .as_str()
            .unwrap()
            .contains(", the least: its peak is ")
    );
    let about: Vec<&str> = reasons
        .iter()
        .flat_map(|reason| reason["figures"].as_array().unwrap())
        .map(|figure| figure["about"].as_str().unwrap())
        .collect();
    assert!(about.contains(&"step") && about.contains(&"tensor"), "{about:?}");
    let no = json(
        &["recommend", "sample:mixed", "--capacity", "1GiB", "--format", "json"],
        1,
    );
    assert!(no["winner"].is_null() && no["runner_up"].is_null());
    let text = run(&[
        "recommend",
        "sample:bert",
        "--axis",
        "batch=8..64x2",
        "--goal",
        "largest:batch",
        "--capacity",
        "1GiB",
    ]);
    let text = String::from_utf8(text.stdout).unwrap();
    for part in [
        "has the largest batch that fits in 1.000",
        "to apply it: --dim batch=",
        "uncertain: Overhead is an estimate",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// Words as a shell reads them; the output quotes only with single quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    for letter in line.chars() {
        match letter {
            '\'' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(String::new()),
            letter => words.last_mut().unwrap().push(letter),
        }
    }
    words
}

#[test]
fn the_flags_of_a_recommendation_reproduce_its_figures() {
    for (schedule, axes) in [
        (
            r#""entries": [{"graph": "main", "dims": {"batch": "8"}}, {"graph": "main", "repeats": 2}]"#,
            &["batch=2,4", "policy=0,4"][..],
        ),
        (
            r#""entries": [{"graph": "main", "dims": {"batch": "8", "seq": "3"}, "repeats": 2}]"#,
            &["policy=2,3", "iterations=1,2"],
        ),
        (
            r#""iterations": 3"#,
            &["batch=1..4", "simulation.device_memory=1MiB,64MiB"],
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let graph = r#"{"highwater_graph": 1, "name": "main", "nodes": [
            {"name": "a", "op": "A", "inputs": ["x"], "outputs": [{"id": "y", "shape": ["batch", "seq", 65536], "dtype": "float32"}]},
            {"name": "b", "op": "B", "inputs": ["y"], "outputs": [{"id": "z", "shape": ["batch"], "dtype": "float32"}]}],
            "inputs": [{"id": "x", "shape": ["batch", "seq"], "dtype": "float32"}], "outputs": ["z"]}"#;
        std::fs::write(folder.path().join("the net.json"), graph).unwrap();
        let document = format!(
            r#"{{"highwater_document": 1, "sources": [{{"path": "the net.json"}}],
            "settings": {{"highwater_config": 1, "schedule": {{"dims": {{"batch": [1], "seq": [2]}}, {schedule}}}}}}}"#
        );
        let path = folder.path().join("a.highwater");
        std::fs::write(&path, document).unwrap();
        let file = path.to_str().unwrap();
        let goal = if axes[0].starts_with("batch") {
            "largest:batch"
        } else {
            "lowest-peak"
        };
        let mut asked = vec!["recommend", file, "--goal", goal];
        asked.extend(axes.iter().flat_map(|axis| ["--axis", *axis]));
        let winner = json(&[&asked[..], &["--format", "json"]].concat(), 0)["winner"].clone();
        let text = String::from_utf8(run(&asked).stdout).unwrap();
        let printed = text
            .lines()
            .find_map(|line| line.strip_prefix("to apply it: "))
            .unwrap();
        let flags = words(printed);
        let mut taken = vec!["compare", file, "--format", "json"];
        taken.extend(flags.iter().map(String::as_str));
        let compared = json(&taken, 0);
        let lanes = compared["policies"].as_array().unwrap();
        let taken = lanes.iter().find(|row| row["policy"] == winner["policy"]).unwrap();
        for figure in ["peak_reserved_bytes", "peak_live_bytes", "estimated_overhead_ns"] {
            assert_eq!(taken[figure], winner[figure], "{printed}: {figure}");
        }
        assert_eq!(winner["settings"].get("run").is_some(), schedule.contains("entries"));
    }
}

#[test]
fn errors_of_a_sweep_take_one_line() {
    let fail = |more: &[&'static str], expected: &str| {
        for command in ["sweep", "recommend"] {
            fails(&[&[command, "sample:bert"][..], more].concat(), expected);
        }
    };
    fail(&["--axis", "bathc=1"], "did you mean \"batch\"?");
    fail(
        &["--axis", "batch=1", "--axis", "dim:batch=2"],
        "axis batch is given twice",
    );
    fail(&["--capacity", "much"], "--capacity");
    fail(&["--capacity", "0"], "--capacity must be more than 0");
    fail(
        &["--capacity", "1GiB", "--axis", "device_memory=1GiB"],
        "remove it or --capacity",
    );
    fail(&["--format", "markdown"], "--format markdown is for");
    fails(
        &["recommend", "sample:bert", "--goal", "magic"],
        "expected least-overhead",
    );
    fails(&["sweep", "sample:measured"], "sweeps need graphs");
    let many = [
        "sweep",
        "sample:bert",
        "--axis",
        "batch=1..1000",
        "--axis",
        "malloc_ns=1..1000",
    ];
    fails(
        &many,
        "the axes have 1000000 combinations, more than the limit of 100000",
    );
}
