//! The configuration file: round trips, plain objects, unknown names, errors with a place.

use expect_test::expect;
use highwater::export::{Answer as _, CheckReport};
use highwater::options::{Environment, NoFiles, Options, Value};
use highwater::script::{ConfigDevice, ConfigDocument, Predicted, from_json, to_json};

const POLICY: &str = "memory_config.static_memory_policy";

fn full() -> ConfigDocument {
    let mut document = ConfigDocument::new();
    "0.1.0".clone_into(&mut document.tool_version);
    document.options.set_text(POLICY, "3").unwrap();
    document.options.set_text("iterations_per_loop", "abc").unwrap();
    document.options.set_text("external_weight", "True").unwrap();
    document.options.set_text("simulation.device_memory", "24GiB").unwrap();
    document.environment.set("GE_USE_STATIC_MEMORY", "2");
    document.device = Some(ConfigDevice {
        name: "generic-32GB".to_owned(),
        memory_bytes: 25_769_803_776,
    });
    let mut schedule = highwater::workload::SchedulePlan {
        iterations: 3,
        ..Default::default()
    };
    schedule.dims.insert("seq".to_owned(), vec![64, 128]);
    document.schedule = Some(schedule);
    document.evaluation = true;
    document.sources.push("model.onnx".to_owned());
    for policy in ["0", "4"] {
        let predicted = Predicted {
            peak_reserved_bytes: 1024,
            peak_live_bytes: 512,
            out_of_memory: policy == "4",
        };
        document.predicted.insert(policy.to_owned(), predicted);
    }
    document
}

#[test]
fn a_written_document_is_read_back() {
    let document = full();
    let text = to_json(&document);
    let (read, warnings) = from_json(text.as_bytes()).unwrap();
    assert_eq!(read, document);
    assert!(warnings.entries().is_empty());
    assert_eq!(to_json(&read), text);
    assert!(text.ends_with("}\n"));
    let empty = ConfigDocument::new();
    assert_eq!(from_json(to_json(&empty).as_bytes()).unwrap().0, empty);
}

#[test]
fn the_text_has_a_fixed_order() {
    let text = to_json(&full());
    let without_effective: String = text
        .split_once("  \"effective\"")
        .and_then(|(head, rest)| Some(format!("{head}{}", rest.split_once("},\n")?.1)))
        .unwrap();
    expect![[r#"
        {
          "highwater_config": 1,
          "tool_version": "0.1.0",
          "options": {
            "memory_config.static_memory_policy": 3,
            "external_weight": true,
            "iterations_per_loop": "abc",
            "simulation.device_memory": 25769803776
          },
          "environment": {
            "GE_USE_STATIC_MEMORY": "2"
          },
          "device": {
            "name": "generic-32GB",
            "memory_bytes": 25769803776
          },
          "schedule": {
            "iterations": 3,
            "dims": {
              "seq": [
                64,
                128
              ]
            }
          },
          "evaluation": true,
          "sources": [
            "model.onnx"
          ],
          "predicted": {
            "0": {
              "peak_reserved_bytes": 1024,
              "peak_live_bytes": 512,
              "out_of_memory": false
            },
            "4": {
              "peak_reserved_bytes": 1024,
              "peak_live_bytes": 512,
              "out_of_memory": true
            }
          }
        }
    "#]]
    .assert_eq(&without_effective);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["effective"]["effective_policy"], 4);
    assert_eq!(json["effective"][POLICY], 4);
    assert_eq!(json["effective"]["iterations_per_loop"], 1);
}

#[test]
fn plain_objects_are_read_nested_or_dotted() {
    for text in [
        r#"{"memory_config": {"static_memory_policy": 2}, "graph_run_mode": 0}"#,
        r#"{"memory_config.static_memory_policy": 2, "graph_run_mode": 0, "precision_mode": null}"#,
        "\u{feff}{\"graph_run_mode\": 0, \"memory_config\": {\"static_memory_policy\": 2}}",
        r#"{"highwater_config": 1, "options": {"memory_config": {"static_memory_policy": 2}, "graph_run_mode": 0}}"#,
    ] {
        let (document, warnings) = from_json(text.as_bytes()).unwrap();
        assert!(warnings.entries().is_empty(), "{text}");
        let overrides: Vec<(&str, &Value)> = document.options.overrides().collect();
        assert_eq!(
            overrides,
            [(POLICY, &Value::Int(2)), ("graph_run_mode", &Value::Int(0))],
            "{text}"
        );
    }
    let sizes = from_json(br#"{"input_fusion_size": "128KiB"}"#).unwrap().0;
    assert_eq!(sizes.options.get("input_fusion_size"), Some(&Value::Int(131_072)));
}

#[test]
fn ill_typed_values_are_kept_for_the_rules() {
    let text =
        br#"{"graph_run_mode": 1.5, "mix_compile_mode": [1], "iterations_per_loop": "7", "variable_placement": {}}"#;
    let (document, warnings) = from_json(text).unwrap();
    assert!(warnings.entries().is_empty());
    let report = CheckReport::of(&document.options, &Environment::new(), &NoFiles);
    let rules: Vec<&str> = report.findings.iter().map(|found| found.rule).collect();
    assert_eq!(rules, ["R1", "R2", "R6", "R16"]);
    assert_eq!(
        from_json(to_json(&document).as_bytes()).unwrap().0.options,
        document.options
    );
}

#[test]
fn unknown_names_are_warned_about_and_survive() {
    let text = br#"{"highwater_config": 1, "notes": {"by": "me"},
        "options": {"graph_runmode": 0, "memory_config": {"huge": [1, 2]}, "later": {"a": 1.5}}}"#;
    let (document, warnings) = from_json(text).unwrap();
    let messages: Vec<(&str, &str)> = warnings
        .entries()
        .iter()
        .map(|entry| (entry.place.as_str(), entry.message.as_str()))
        .collect();
    assert_eq!(messages.len(), 4);
    assert_eq!(
        messages[0],
        (
            "graph_runmode",
            "no option \"graph_runmode\"; did you mean \"graph_run_mode\"? It is kept unchanged"
        )
    );
    assert_eq!(messages[1].0, "memory_config.huge");
    assert_eq!(messages[3].0, "notes");
    assert!(document.options.is_empty());
    let (again, _) = from_json(to_json(&document).as_bytes()).unwrap();
    assert_eq!(again, document);
    assert_eq!(again.unknown_options["later"], serde_json::json!({"a": 1.5}));
    assert_eq!(again.unknown_fields["notes"], serde_json::json!({"by": "me"}));
}

#[test]
fn errors_carry_their_place() {
    for (text, line, column, part) in [
        ("", 1, 1, "it was cut off"),
        ("{\"a\": 1,\n  \"b\" 2}", 2, 7, "expected `:`"),
        ("[1, 2]", 1, 1, "JSON object"),
        ("3", 1, 1, "JSON object"),
        ("{\n \"highwater_config\": 2}", 2, 23, "is newer than 1"),
        ("{\n \"highwater_config\": 0}", 2, 23, "start at 1"),
        ("{\"highwater_config\": \"one\"}", 1, 26, "invalid type"),
        (
            "{\"highwater_config\": 1,\n\"environment\": {\"A\": 3}}",
            2,
            22,
            "invalid type",
        ),
        (
            "{\"highwater_config\": 1,\n\"schedule\": {\"iterations\": 0}}",
            2,
            28,
            "nonzero",
        ),
        (
            "{\"highwater_config\": 1, \"schedule\":\n{\"dims\": {\"s\": [-1]}}}",
            2,
            18,
            "invalid value",
        ),
        ("{\"highwater_config\": 1, \"options\": 3}", 1, 36, "invalid type"),
        ("\u{0}", 1, 1, "expected value"),
    ] {
        let error = from_json(text.as_bytes()).unwrap_err();
        assert!(error.reason.contains(part), "{text}: {error}");
        assert_eq!((error.line, error.column), (line, column), "{text}: {error}");
        assert!(!error.reason.contains(" at line "), "{error}");
    }
    assert!(from_json(b"{\"a\": \"\xff\"}").is_err());
    let deep = "[".repeat(100_000);
    assert!(from_json(deep.as_bytes()).is_err());
}

#[test]
fn the_answer_of_check_has_all_fields() {
    let mut options = Options::new();
    options.set_text(POLICY, "7").unwrap();
    let report = CheckReport::of(&options, &Environment::new(), &NoFiles);
    assert!(report.has_errors());
    let json = serde_json::to_value(report.json()).unwrap();
    assert_eq!(json["findings"][0]["rule"], "R49");
    assert_eq!(json["findings"][0]["severity"], "error");
    assert_eq!(json["findings"][0]["options"], serde_json::json!([POLICY]));
    assert_eq!(json["effective"][POLICY], 0);
    expect![[r#"
        error    R49  static_memory_policy is 7: use 0, 2, 3 or 4; GE silently uses 0
        active policy: 0 (dynamic allocation)
        1 error, no warnings, no notes
    "#]]
    .assert_eq(&report.page().text());
    assert!(!CheckReport::of(&Options::new(), &Environment::new(), &NoFiles).has_errors());
}
