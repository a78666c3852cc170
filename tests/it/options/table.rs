//! The tables are complete, and values survive a round trip through text.

use std::collections::BTreeSet;

use highwater::export::{Answer as _, OptionsAnswer};
use highwater::options::{
    CHECKS, ENVIRONMENT, Environment, Float, NoFiles, OptionError, OptionKind, OptionSubject, Options, TABLE, Value,
    effective_values, find, keys, lower, resolve_device,
};
use highwater::script::json_of;
use highwater::units::Bytes;

#[test]
fn keys_are_unique_and_found() {
    let keys: BTreeSet<&str> = TABLE.iter().map(|row| row.key).collect();
    assert_eq!(keys.len(), TABLE.len());
    for row in TABLE {
        assert_eq!(find(row.key).map(|found| found.key), Some(row.key));
    }
    assert!(find("simulation").is_none());
}

#[test]
fn every_row_has_all_its_texts() {
    for row in TABLE {
        for text in [row.key, row.summary, row.details, row.memory_effect, row.source] {
            assert!(!text.is_empty(), "{}: a text is missing", row.key);
            assert!(!text.contains("  "), "{}: two blanks in \"{text}\"", row.key);
        }
        assert!(!row.summary.ends_with('.'), "{}", row.key);
        assert!(row.details.ends_with('.'), "{}", row.key);
        let sentences = row.details.matches(". ").count() + 1;
        assert!((2..=6).contains(&sentences), "{}: {sentences} sentences", row.key);
        for (value, summary) in row.kind.choices() {
            assert!(!summary.is_empty(), "{} {value}", row.key);
        }
    }
    for row in ENVIRONMENT {
        for text in [row.name, row.summary, row.details, row.precedence, row.source] {
            assert!(!text.is_empty(), "{}", row.name);
        }
    }
}

#[test]
fn defaults_are_in_range_and_every_type_has_a_rule() {
    for row in TABLE {
        let default = row.default_value();
        assert_eq!(row.problem(&default), None, "{}", row.key);
        assert_eq!(row.acting(&default), default, "{}", row.key);
        let check = CHECKS.iter().find(|check| check.id == row.rule);
        let named = check.is_some_and(|check| check.options.contains(&row.key));
        assert!(named, "{}: rule {} does not name it", row.key, row.rule);
    }
}

#[test]
fn checks_name_known_options_once() {
    let ids: BTreeSet<&str> = CHECKS.iter().map(|check| check.id).collect();
    assert_eq!(ids.len(), CHECKS.len());
    for check in CHECKS {
        assert!(!check.outcomes.is_empty() && !check.source.is_empty(), "{}", check.id);
        for name in check.options {
            let is_known = find(name).is_some() || ENVIRONMENT.iter().any(|row| row.name == *name);
            assert!(is_known, "{}: {name}", check.id);
        }
    }
}

/// A few right values of each kind.
fn samples(kind: &OptionKind) -> Vec<Value> {
    match kind {
        OptionKind::Bool => vec![Value::Bool(true), Value::Bool(false)],
        OptionKind::Int { min, max } | OptionKind::Bytes { min, max } => vec![Value::Int(*min), Value::Int(*max)],
        OptionKind::Text | OptionKind::Path(_) => vec![Value::from("generic-64GB")],
        _ => kind.choices().into_iter().map(|(value, _)| value).collect(),
    }
}

#[test]
fn texts_of_values_are_read_back() {
    for row in TABLE {
        let mut values = samples(&row.kind);
        values.push(row.default_value());
        for value in values {
            let mut options = Options::new();
            options.set_text(row.key, &value.to_string()).unwrap();
            assert_eq!(options.written(row.key), value, "{}", row.key);
            assert_eq!(row.problem(&value), None, "{} = {value}", row.key);
        }
    }
}

#[test]
fn texts_are_read_by_kind() {
    for (key, text, value) in [
        ("mix_compile_mode", "true", Value::Bool(true)),
        ("mix_compile_mode", "0", Value::Int(0)),
        ("mix_compile_mode", "1", Value::Int(1)),
        ("graph_run_mode", "True", Value::Bool(true)),
        ("graph_run_mode", "true", Value::from("true")),
        ("iterations_per_loop", "1.5", Value::Float(Float::new(1.5).unwrap())),
        ("input_fusion_size", "1.5", Value::Float(Float::new(1.5).unwrap())),
        ("input_fusion_size", "0.5B", Value::from("0.5B")),
        ("input_fusion_size", "512 B", Value::Int(512)),
        ("input_fusion_size", "True", Value::Bool(true)),
        ("jit_compile", "\"true\"", Value::from("true")),
        ("jit_compile", "'true'", Value::from("true")),
        ("jit_compile", "\"true'", Value::from("\"true'")),
        ("work_path", "'/a' + '/b'", Value::from("'/a' + '/b'")),
        ("memory_optimize.skip_opt_set", "('a')", Value::from("a")),
        (
            "memory_optimize.skip_opt_set",
            "('a',)",
            Value::Tuple(vec![Value::from("a")]),
        ),
        (
            "memory_optimize.skip_opt_set",
            "{'a'}",
            Value::Set(vec![Value::from("a")]),
        ),
        ("memory_optimize.skip_opt_set", "{}", Value::from("{}")),
        ("memory_optimize.skip_opt_set", "[1,]", Value::List(vec![Value::Int(1)])),
        ("external_weight", "yes", Value::from("yes")),
        ("graph_run_mode", " 0 ", Value::Int(0)),
        ("graph_run_mode", "-3", Value::Int(-3)),
        ("iterations_per_loop", "abc", Value::from("abc")),
        (
            "iterations_per_loop",
            "99999999999999999999",
            Value::from("99999999999999999999"),
        ),
        ("input_fusion_size", "128KiB", Value::Int(131_072)),
        ("input_fusion_size", "-1", Value::Int(-1)),
        ("simulation.device_memory", "1.5 GiB", Value::Int(3 << 29)),
        ("simulation.device_memory", "much", Value::from("much")),
        ("variable_placement", "host", Value::from("host")),
        ("memory_config.static_memory_policy", "7", Value::Int(7)),
    ] {
        let mut options = Options::new();
        options.set_text(key, text).unwrap();
        assert_eq!(options.get(key), Some(&value), "{key}={text}");
    }
}

#[test]
fn overrides_alone_are_stored() {
    let mut options = Options::new();
    assert!(options.is_empty() && !options.is_changed("graph_run_mode"));
    options.set("graph_run_mode", Value::Int(1)).unwrap();
    assert!(options.is_set("graph_run_mode") && !options.is_changed("graph_run_mode"));
    options.set("graph_run_mode", Value::Int(0)).unwrap();
    options.set_text("external_weight", "True").unwrap();
    assert!(options.is_changed("graph_run_mode"));
    let keys: Vec<&str> = options.overrides().map(|(key, _)| key).collect();
    assert_eq!(keys, ["external_weight", "graph_run_mode"]);
    options.reset("graph_run_mode");
    options.set("external_weight", Value::Unset).unwrap();
    assert_eq!(options, Options::default());
    assert_eq!(options.written("graph_run_mode"), Value::Int(1));
    assert_eq!(options.written("precision_mode"), Value::Unset);
}

#[test]
fn an_unknown_key_names_the_nearest() {
    let error = Options::new().set_text("static_memory_polcy", "2").unwrap_err();
    let OptionError::UnknownKey { nearest, .. } = &error;
    assert_eq!(*nearest, Some("memory_config.static_memory_policy"));
    assert_eq!(
        error.to_string(),
        "no option \"static_memory_polcy\"; did you mean \"memory_config.static_memory_policy\"?"
    );
}

fn options_of(settings: &[(&str, &str)]) -> Options {
    let mut options = Options::new();
    for (key, text) in settings {
        options.set_text(key, text).unwrap();
    }
    options
}

#[test]
fn lowering_reaches_every_parameter() {
    let none = Options::new();
    let environment = Environment::new();
    let device = resolve_device(&none).unwrap();
    let plain = lower(&none, &environment, &device, &NoFiles);
    assert_eq!(plain.params, highwater::sim::Params::for_device(&device));
    assert_eq!(plain.policy.number(), 0);
    assert!(!plain.atomic_clean_separate);

    let options = options_of(&[
        ("memory_config.static_memory_policy", "3"),
        ("memory_config.atomic_clean_policy", "1"),
        ("graph_max_parallel_model_num", "4"),
        ("external_weight", "True"),
        ("variable_placement", "Host"),
        ("simulation.device_memory", "24GiB"),
        ("simulation.device", "generic-64GB"),
    ]);
    let device = resolve_device(&options).unwrap();
    assert_eq!(
        (device.name.as_str(), device.memory()),
        ("generic-64GB", Bytes::gib(24))
    );
    let lowered = lower(&options, &environment, &device, &NoFiles);
    assert_eq!(lowered.policy.number(), 3);
    assert!(lowered.atomic_clean_separate);
    let params = &lowered.params;
    assert_eq!((params.feature_copies, params.device_bytes), (4, Bytes::gib(24)));
    assert!(params.share_weights && params.variables_on_host);
}

#[test]
fn invalid_values_act_as_their_defaults() {
    let options = options_of(&[
        ("memory_config.static_memory_policy", "abc"),
        ("memory_config.atomic_clean_policy", "7"),
        ("graph_max_parallel_model_num", "0"),
        ("external_weight", "perhaps"),
        ("variable_placement", "host"),
        ("simulation.device_memory", "-5"),
        ("input_fusion_size", "99999999999"),
        ("precision_mode", ""),
    ]);
    let environment = Environment::new();
    let device = resolve_device(&Options::new()).unwrap();
    let mut plain = lower(&Options::new(), &environment, &device, &NoFiles);
    // The vendor clamps this one.
    plain.params.input_fusion_size = Bytes::mib(32);
    let lowered = lower(&options, &environment, &device, &NoFiles);
    assert_eq!((&lowered.params, lowered.policy), (&plain.params, plain.policy));
    assert_eq!(lowered.precision, plain.precision);
    let effective = effective_values(&options, &environment, &NoFiles);
    assert!(effective.contains(&("input_fusion_size".to_owned(), Value::Int(33_554_432))));
    assert!(effective.contains(&("precision_mode".to_owned(), Value::Unset)));
    assert_eq!(effective.last(), Some(&("effective_policy".to_owned(), Value::Int(0))));
    assert!(resolve_device(&options_of(&[("simulation.device", "abacus")])).is_err());
}

#[test]
fn the_tables_are_listed_whole() {
    let json = serde_json::to_value(OptionsAnswer.json()).unwrap();
    let options = json["options"].as_array().unwrap();
    assert_eq!(options.len(), TABLE.len());
    for (wire, row) in options.iter().zip(TABLE) {
        assert_eq!(wire["key"], row.key);
        assert_eq!(wire["default"], json_of(&row.default_value()));
        for field in [
            "section",
            "type",
            "unit",
            "summary",
            "since",
            "deprecated",
            "replaced_by",
            "memory_effect",
            "unset_means",
            "default_by_run_mode",
            "lowers_to",
            "estimate",
            "rule",
        ] {
            assert!(wire.get(field).is_some(), "{}: {field}", row.key);
        }
        assert!(wire.get("range").is_none() || wire.get("choices").is_none());
    }
    let channels = options
        .iter()
        .find(|wire| wire["key"] == "enable_small_channel")
        .unwrap();
    let by_run_mode = serde_json::json!({"inference": 1, "training": 0});
    assert_eq!(channels["default_by_run_mode"], by_run_mode);
    let policy = &options[0];
    assert_eq!(policy["choices"], serde_json::json!([0, 1, 2, 3, 4]));
    assert_eq!(json["environment"][0]["name"], "GE_USE_STATIC_MEMORY");
    let rules: Vec<(&str, &str)> = json["rules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rule| (rule["rule"].as_str().unwrap(), rule["severity"].as_str().unwrap()))
        .collect();
    assert!(rules.contains(&("R49", "error")) && rules.contains(&("R49", "info")));

    let text = OptionsAnswer.page().text();
    for row in TABLE {
        assert!(text.contains(row.key), "{}", row.key);
    }
    assert!(text.lines().all(|line| line.chars().count() <= 140));
}

/// Options act with options of the table, and those that change nothing act nowhere.
#[test]
fn options_say_what_they_act_on() {
    let unset = Options::default();
    let rows = |subject: OptionSubject| -> Vec<&'static str> {
        let rows = TABLE.iter().filter(|row| row.changes_memory(subject, &unset));
        rows.map(|row| row.key).collect()
    };
    for row in TABLE {
        for key in row.acts.with {
            assert!(
                find(key).is_some_and(|other| other.key != row.key),
                "{}: {key}",
                row.key
            );
        }
    }
    let graphs = rows(OptionSubject::Graphs);
    assert!(graphs.contains(&keys::STATIC_MEMORY_POLICY) && graphs.contains(&keys::EVICTION_THRESHOLD));
    for key in [
        keys::MALLOC_NS,
        keys::WORKSPACE_TABLE,
        keys::REMAT_HEURISTIC,
        "debug_dir",
    ] {
        assert!(!graphs.contains(&key), "{key}");
    }
    assert!((20..40).contains(&graphs.len()), "{graphs:?}");
    let mut set = Options::default();
    set.set_text(keys::EVICTION_THRESHOLD, "300MiB").unwrap();
    let heuristic = find(keys::REMAT_HEURISTIC).unwrap();
    assert!(heuristic.changes_memory(OptionSubject::Graphs, &set));
    // A log of an eager run always runs under budgets.
    assert!(heuristic.changes_memory(OptionSubject::Tapes, &unset));
    assert_eq!(
        rows(OptionSubject::Traces),
        [
            keys::STATIC_MEMORY_POLICY,
            keys::SESSION_DEVICE_ID,
            keys::ENGINE_STATIC_MEMORY_POLICY,
            keys::ENGINE_MEMORY_POOL_THRESHOLD,
            keys::DEVICE,
            keys::DEVICE_MEMORY,
            keys::OCCUPIED_MEMORY,
            keys::POLICY_2_BEHAVIOUR,
        ]
    );
    assert!(rows(OptionSubject::Programs).contains(&keys::SKIP_OPT_SET));
}
