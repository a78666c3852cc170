//! The published page of options and the published schema of configurations match the tables.

use highwater::export::{allocator_options_markdown, options_markdown};
use highwater::options::{Options, TABLE, Value};
use highwater::script::{ConfigDocument, config_schema, to_json};
use serde_json::{Value as Json, json};

fn published(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name);
    std::fs::read_to_string(&path).unwrap_or_default()
}

#[test]
fn the_page_of_options_is_current() {
    let is_current = published("options.md") == options_markdown();
    assert!(
        is_current,
        "docs/options.md is out of date: highwater options --format markdown > docs/options.md"
    );
}

#[test]
fn the_page_of_the_allocator_lists_its_settings() {
    const MARKS: [&str; 2] = ["<!-- settings -->\n", "<!-- /settings -->\n"];
    let page = published("torch-allocator.md");
    let (head, rest) = page
        .split_once(MARKS[0])
        .expect("the page has a place for the settings");
    let (_, tail) = rest.split_once(MARKS[1]).expect("the place ends");
    let table = allocator_options_markdown();
    let current = format!("{head}{}{table}\n{}{tail}", MARKS[0], MARKS[1]);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/torch-allocator.md");
        std::fs::write(path, current).expect("the page can be written");
        return;
    }
    assert!(
        page == current,
        "docs/torch-allocator.md is out of date: run this test with UPDATE_EXPECT=1"
    );
}

#[test]
fn the_schema_of_configurations_is_current() {
    let text = serde_json::to_string_pretty(&config_schema()).unwrap() + "\n";
    assert!(
        published("config.schema.json") == text,
        "docs/config.schema.json is out of date: highwater options --format schema > docs/config.schema.json"
    );
}

#[test]
fn the_page_is_well_made() {
    let page = options_markdown();
    for row in TABLE {
        assert!(page.contains(&format!("\n### `{}`\n", row.key)), "{}", row.key);
    }
    assert!(!page.contains("\n\n\n") && page.ends_with(")\n"));
    // All rows of a table have as many cells as its head.
    let mut n_cells = 0;
    for line in page.lines() {
        if line.starts_with('|') {
            let n = line.replace("\\|", "").matches('|').count();
            assert!(n_cells == 0 || n == n_cells, "{line}");
            n_cells = n;
        } else {
            n_cells = 0;
        }
    }
}

#[test]
fn the_schema_is_a_schema() {
    let schema = config_schema();
    assert!(jsonschema::meta::is_valid(&schema));
    // Every reference has a target.
    let mut open = vec![&schema];
    while let Some(json) = open.pop() {
        if let Some(target) = json.get("$ref").and_then(Json::as_str) {
            let pointer = target.trim_start_matches('#');
            assert!(schema.pointer(pointer).is_some(), "{target}");
        }
        match json {
            Json::Array(items) => open.extend(items),
            Json::Object(fields) => open.extend(fields.values()),
            _ => {}
        }
    }
}

/// A document with one option set.
fn with(key: &str, value: Value) -> Json {
    let mut document = ConfigDocument::new();
    let mut options = Options::new();
    options.set(key, value).unwrap();
    document.options = options;
    serde_json::from_str(&to_json(&document)).unwrap()
}

#[test]
fn written_configurations_are_valid() {
    let schema = jsonschema::validator_for(&config_schema()).unwrap();
    assert!(schema.is_valid(&serde_json::from_str(&to_json(&ConfigDocument::new())).unwrap()));
    for row in TABLE {
        let mut values = vec![row.default_value(), Value::Python("chosen()".to_owned())];
        values.extend(row.kind.choices().into_iter().map(|(value, _)| value));
        values.extend(
            row.kind
                .range()
                .into_iter()
                .flat_map(|(min, max)| [Value::Int(min), Value::Int(max)]),
        );
        for value in values {
            let document = with(row.key, value.clone());
            assert!(schema.is_valid(&document), "{} = {value}", row.key);
        }
    }
}

#[test]
fn valid_and_invalid_files_are_distinguished() {
    let schema = jsonschema::validator_for(&config_schema()).unwrap();
    for right in [
        json!({}),
        json!({"memory_config": {"static_memory_policy": 2}, "graph_run_mode": 0, "precision_mode": null}),
        json!({"memory_config.static_memory_policy": 2, "somebody_elses": [1, 2]}),
        json!({"input_fusion_size": "128KiB", "simulation": {"device_memory": "1.5 GiB"}}),
        json!({"dump_config": {"python": "DumpConfig(**settings)"}}),
        json!({"optypelist_for_implmode": "Pooling, LRN", "dtr": {"recomp_time_factor": 0.5}}),
        json!({"highwater_config": 1, "notes": {"by": "me"}, "schedule": {"iterations": 3, "dims": {"seq": [64]}}}),
    ] {
        assert!(schema.is_valid(&right), "{right}");
    }
    for wrong in [
        json!([1, 2]),
        json!({"graph_run_mode": 2}),
        json!({"graph_run_mode": "0"}),
        json!({"memory_config": {"static_memory_policy": 7}}),
        json!({"mix_compile_mode": "yes"}),
        json!({"input_fusion_size": "much"}),
        json!({"input_fusion_size": 33_554_433}),
        json!({"jit_compile": "True"}),
        json!({"optypelist_for_implmode": "Pooling,Conv2D"}),
        json!({"dtr": {"recomp_time_factor": -1}}),
        json!({"dump_config": {"tuple": [1], "python": "x"}, "dump_config.enable_dump": 3}),
        json!({"highwater_config": 2}),
        json!({"highwater_config": 1, "options": {"jit_compile": 1}}),
        json!({"highwater_config": 1, "schedule": {"iterations": 0}}),
        json!({"highwater_config": 1, "environment": {"A": 3}}),
    ] {
        assert!(!schema.is_valid(&wrong), "{wrong}");
    }
}
