//! `highwater plan` and `inspect` on problem files: fields, texts, exit codes, explanations.

use std::path::Path;

use serde_json::Value as Json;

use crate::cli::{Place, fails, json};
pub(crate) use crate::cli::{says, text_of as text};

/// A file in a temporary folder.
pub(crate) struct File {
    _place: Place,
    pub(crate) path: String,
}

pub(crate) fn file(name: &str, text: &str) -> File {
    let place = Place::new();
    File {
        path: place.write(name, text),
        _place: place,
    }
}

fn sample(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join("sample_traces").join(name).to_string_lossy().into_owned()
}

const COLLIDING: &str = "id,lower,upper,size,offset\na,0,4,10,0\nb,3,6,10,5\n";
const STACKED: &str = "id,lower,upper,size,offset\na,0,4,10,0\nb,3,6,10,10\nc,6,7,10,30\n";

/// The bound is what is live at one time, whatever offsets are stated; what they cost is said of them.
#[test]
fn fixed_offsets_are_no_bound_of_other_plans() {
    for (problem, live, footprint, n_fixed, words) in [
        (
            "id,lower,upper,size,offset\na,0,1,10,0\nb,1,2,10,100\n",
            10,
            110,
            2,
            "no plan with the fixed offsets of 2 buffers is smaller",
        ),
        (
            "id,lower,upper,size,offset\na,0,1,10,50\nb,1,2,10,\n",
            10,
            60,
            1,
            "no plan with the fixed offsets of 1 buffer is smaller",
        ),
        (
            "id,lower,upper,size\na,0,1,10\nb,1,2,10\n",
            10,
            10,
            0,
            "proven optimal: no plan is smaller",
        ),
    ] {
        let file = file("problem.csv", problem);
        let answer = json(&["plan", &file.path, "--format", "json"], 0);
        assert_eq!(answer["lower_bound_bytes"], live, "{problem}");
        assert_eq!(answer["footprint_bytes"], footprint, "{problem}");
        assert_eq!(answer["fixed_offsets"].as_u64().unwrap_or(0), n_fixed, "{problem}");
        let text = text(&["plan", &file.path], 0);
        assert!(text.contains(words), "{text}");
        assert_eq!(text.contains("--free-offsets"), n_fixed > 0, "{text}");
        let free = json(&["plan", &file.path, "--free-offsets", "--format", "json"], 0);
        assert_eq!(
            (&free["footprint_bytes"], &free["optimal"]),
            (&Json::from(10), &Json::from(true))
        );
    }
}

/// A plan of the file that contradicts itself is told, whether its offsets fix anything or not.
#[test]
fn stated_plans_are_checked() {
    let problem = |maker: &str, offset: &str| {
        format!(
            r#"{{{maker} "buffers": [{{"id": "a", "lower": 0, "upper": 2, "size": 100, "offset": 0}},
            {{"id": "b", "lower": 1, "upper": 3, "size": 100{offset}}}]}}"#
        )
    };
    for maker in ["", r#""planned_by": "x","#] {
        let file = file("p.json", &problem(maker, r#", "offset": 50"#));
        let said = json(&["plan", &file.path, "--format", "json"], 0)["diagnostics"].to_string();
        assert!(said.contains("hold byte 50"), "{maker}: {said}");
    }
    let file = file("p.json", &problem(r#""planned_by": "x","#, ""));
    let answer = json(&["plan", &file.path, "--format", "json"], 0);
    assert!(
        answer["diagnostics"].to_string().contains("only a part of a plan"),
        "{answer}"
    );
    assert_eq!(answer["fixed_offsets"], 1);
}

#[test]
fn a_problem_has_the_fields_of_the_contract() {
    let answer = json(&["plan", &sample("small_problem.csv"), "--format", "json"], 0);
    for field in [
        "strategy",
        "buffers",
        "lower_bound_bytes",
        "proved_bound_bytes",
        "footprint_bytes",
        "over_bound_percent",
        "optimal",
        "verified",
        "lower_bound",
        "nodes",
        "elapsed_ns",
        "strategies",
        "reuse_edges",
        "diagnostics",
    ] {
        assert!(!answer[field].is_null(), "{field}");
    }
    for field in ["capacity_bytes", "fits", "fit", "defect"] {
        assert!(
            answer[field].is_null() && answer.as_object().unwrap().contains_key(field),
            "{field}"
        );
    }
    for field in ["edges", "peak_chain", "fragmentation", "why"] {
        assert!(answer.get(field).is_none(), "{field} only where asked for");
    }
    let rows = answer["strategies"].as_array().unwrap();
    assert!(rows.len() >= 2);
    for row in rows {
        assert!(row["strategy"].is_string() && row["footprint_bytes"].as_u64() >= answer["footprint_bytes"].as_u64());
        assert!(row["over_bound_percent"].is_f64() && row["nodes"].is_u64() && row["elapsed_ns"].is_u64());
    }
    let inspected = json(&["inspect", &sample("small_problem.csv"), "--format", "json"], 0);
    assert_eq!(inspected["format"], "planner_problem");
    assert_eq!(inspected["lifetimes"][0]["count"], answer["buffers"]);
    assert_eq!(
        inspected["lifetimes"][0]["peak_live_bytes"],
        answer["lower_bound_bytes"]
    );
}

#[test]
fn the_answer_to_a_capacity_states_its_certainty() {
    let problem = sample("small_problem.csv");
    let bound = json(&["plan", &problem, "--format", "json"], 0)["lower_bound_bytes"]
        .as_u64()
        .unwrap();
    let ask = |capacity: u64, strategy: &str, code: i32| {
        let capacity = capacity.to_string();
        let answer = json(
            &[
                "plan",
                &problem,
                "--capacity",
                &capacity,
                "--strategy",
                strategy,
                "--format",
                "json",
            ],
            code,
        );
        (answer["fit"].clone(), answer["fits"].clone())
    };
    assert_eq!(ask(bound * 9, "best", 0), (Json::from("fits"), Json::from(true)));
    assert_eq!(ask(bound - 1, "best", 1), (Json::from("impossible"), Json::from(false)));
    assert_eq!(ask(bound, "naive", 1), (Json::from("not_found"), Json::from(false)));
    let capacity = bound.to_string();
    says(
        &text(&["plan", &problem, "--capacity", &capacity, "--strategy", "naive"], 1),
        &["a plan may exist", "of the bound"],
    );
    says(
        &text(&["plan", &problem, "--capacity", "1"], 1),
        &["proven: no plan fits"],
    );
    says(&text(&["plan", &problem, "--capacity", "1GiB"], 0), &["fits in 1.000"]);
    let own = file(
        "x.json",
        r#"{"capacity": 9, "buffers": [{"id": 1, "lower": 0, "upper": 1, "size": 10}]}"#,
    );
    assert_eq!(json(&["plan", &own.path, "--format", "json"], 1)["capacity_bytes"], 9);
    json(&["plan", &own.path, "--capacity", "10", "--format", "json"], 0);
}

#[test]
fn an_invalid_plan_has_no_figure_over_the_bound() {
    let colliding = file("x.csv", COLLIDING);
    let arguments = ["plan", &colliding.path, "--strategy", "as_dumped", "--format", "json"];
    let answer = json(&arguments, 1);
    assert!(answer["over_bound_percent"].is_null() && answer["verified"] == false);
    assert!(
        answer["strategies"]
            .as_array()
            .unwrap()
            .iter()
            .all(|row| row["over_bound_percent"].is_null())
    );
    assert!(
        answer["defect"].as_str().unwrap().contains("\"a\""),
        "{}",
        answer["defect"]
    );
}

#[test]
fn a_recorded_plan_is_shown_and_checked() {
    let stacked = file("x.csv", STACKED);
    let dumped = json(
        &["plan", &stacked.path, "--strategy", "as_dumped", "--format", "json"],
        0,
    );
    assert_eq!(dumped["footprint_bytes"], 40);
    assert_eq!(
        (&dumped["lower_bound_bytes"], &dumped["over_bound_percent"]),
        (&Json::from(20), &Json::from(100.0))
    );
    assert_eq!(dumped["optimal"], false);
    let fixed = json(&["plan", &stacked.path, "--format", "json"], 0);
    assert_eq!(
        (&fixed["footprint_bytes"], &fixed["optimal"]),
        (&Json::from(40), &Json::from(true))
    );
    let free = json(&["plan", &stacked.path, "--free-offsets", "--format", "json"], 0);
    assert_eq!(free["footprint_bytes"], 20);
    let rows = free["strategies"].as_array().unwrap();
    assert!(
        rows.iter()
            .any(|row| row["strategy"] == "as_dumped" && row["footprint_bytes"] == 40)
    );

    let colliding = file("x.csv", COLLIDING);
    let dumped = json(
        &[
            "plan",
            &colliding.path,
            "--strategy",
            "as_dumped",
            "--explain",
            "--format",
            "json",
        ],
        1,
    );
    assert_eq!(
        (&dumped["verified"], &dumped["optimal"]),
        (&Json::from(false), &Json::from(false))
    );
    says(
        dumped["defect"].as_str().unwrap(),
        &["\"a\" and \"b\"", "byte 5", "step 3"],
    );
    says(
        &text(&["plan", &colliding.path, "--strategy", "as_dumped"], 1),
        &["NOT A VALID PLAN", "\"a\" and \"b\"", "warning:", "line 3"],
    );
    assert_eq!(
        json(&["plan", &colliding.path, "--format", "json"], 0)["footprint_bytes"],
        20
    );
}

#[test]
fn csv_comes_back_as_the_recorded_plan() {
    let plan = text(&["plan", &sample("small_problem.csv"), "--format", "csv"], 0);
    assert!(
        plan.starts_with("id,lower,upper,size,offset,alignment,gaps,same_address_as\n"),
        "{plan}"
    );
    let written = file("plan.csv", &plan);
    assert_eq!(
        text(
            &["plan", &written.path, "--strategy", "as_dumped", "--format", "csv"],
            0
        ),
        plan
    );
    assert_eq!(
        text(&["plan", &written.path, "--format", "csv"], 0),
        plan,
        "fixed offsets stay"
    );
    let large = file("x.csv", "id,lower,end,size\n\"a,b\",7,9000000000,10\n c ,8,8,5\n");
    assert_eq!(
        text(&["plan", &large.path, "--strategy", "naive", "--format", "csv"], 0),
        "id,lower,upper,size,offset\n\"a,b\",7,9000000001,10,0\nc,8,9,5,10\n"
    );
    let graph = text(
        &[
            "plan",
            "sample:resnet50",
            "--strategy",
            "greedy_by_size",
            "--format",
            "csv",
        ],
        0,
    );
    let written = file("graph.csv", &graph);
    let again = text(
        &["plan", &written.path, "--strategy", "as_dumped", "--format", "csv"],
        0,
    );
    assert_eq!(again, graph);
}

#[test]
fn explanations_name_buffers() {
    let stacked = file("x.csv", STACKED);
    let arguments = [
        "plan",
        &stacked.path,
        "--strategy",
        "as_dumped",
        "--explain",
        "--why",
        "b",
        "--why",
        "c",
    ];
    let shown = text(&arguments, 0);
    says(
        &shown,
        &[
            "Stacked buffers",
            "Fragmentation: the arena is 20 bytes (100.0 %) larger than peak live",
            "step of the peak 6: 10 bytes live, 30 in 1 gap",
            "Why \"b\" (10 bytes, steps 3 to 6) is at 10",
            "together they exclude every lower offset",
            "a lower offset is possible: 0",
        ],
    );
    let answer = json(&[&arguments[..], &["--format", "json"]].concat(), 0);
    let links = answer["peak_chain"]["links"].as_array().unwrap();
    let sum: u64 = links
        .iter()
        .map(|link| link["bytes"].as_u64().unwrap() + link["hole_below_bytes"].as_u64().unwrap())
        .sum();
    assert_eq!(answer["footprint_bytes"], sum);
    assert_eq!(answer["fragmentation"]["lost_bytes"], 20);
    assert_eq!(answer["fragmentation"]["steps"].as_array().unwrap().len(), 5);
    assert_eq!(answer["why"][0]["blockers"][0]["buffer"], "a");
    assert_eq!(answer["why"][1]["could_stand_at"], 0);
    fails(&["plan", &stacked.path, "--why", "missing"], "--why missing");
}

#[test]
fn flags_act() {
    let small = file("x.csv", "id,lower,upper,size\na,0,4,10\nb,0,4,10\n");
    let footprint = |more: &[&str]| {
        json(&[&["plan", &small.path, "--format", "json"], more].concat(), 0)["footprint_bytes"].as_u64()
    };
    assert_eq!(footprint(&[]), Some(20));
    assert_eq!(footprint(&["--alignment", "64"]), Some(128));
    for more in [
        &["--deadline", "0"][..],
        &["--node-limit", "0"],
        &["--race"],
        &["--deadline", "9"],
    ] {
        assert_eq!(footprint(more), Some(20), "{more:?}");
    }
    let help = text(&["plan", "--help"], 0);
    for row in highwater::plan::STRATEGIES {
        assert!(help.contains(row.name), "{}", row.name);
    }
    // A deadline in the past still gives a plan.
    json(&["plan", "sample:resnet50", "--deadline", "0", "--format", "json"], 0);
    fails(&["plan", &small.path, "--graph", "other"], "x.csv");
    let fixed = file("f.csv", "id,lower,upper,size,offset\na,0,4,10,0\nb,0,4,10,10\n");
    fails(&["plan", &fixed.path, "--alignment", "64"], "\"b\" is fixed at 10");
    fails(
        &["plan", &small.path, "--strategy", "as_dumped"],
        "no plan \"as dumped\"",
    );
}

#[test]
fn bad_problems_end_in_one_line() {
    let bad = file("bad.csv", "id,lower,upper,size\na,0,4,10\nb,x,4,10\n");
    fails(
        &["plan", &bad.path],
        "bad.csv: \"x\" is no whole number at line 3 column \"lower\"",
    );
    fails(&["inspect", &bad.path], "line 3");
    fails(&["compare", &sample("small_problem.csv")], "plan");
}

#[test]
fn every_strategy_may_place_static_arenas_but_the_recorded_one() {
    for row in highwater::plan::STRATEGIES {
        let arguments = ["compare", "sample:mobilenet", "--strategy", row.name];
        if !row.suits(None) {
            fails(&arguments, "the source carries no offsets");
        } else {
            text(&arguments, 0);
        }
    }
}

#[test]
fn every_sample_states_its_purpose() {
    let shown = text(
        &[
            "plan",
            &sample("small_plan.csv"),
            "--strategy",
            "as_dumped",
            "--explain",
        ],
        0,
    );
    says(&shown, &["as_dumped", "within", "gap"]);
    let free = json(
        &["plan", &sample("small_plan.csv"), "--free-offsets", "--format", "json"],
        0,
    );
    let kept = json(&["plan", &sample("small_plan.csv"), "--format", "json"], 0);
    assert!(free["footprint_bytes"].as_u64() < kept["footprint_bytes"].as_u64());
}
