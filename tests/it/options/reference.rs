//! The options of the vendor's reference: number per class, and all defaults.

use std::collections::BTreeMap;

use highwater::options::{Section, TABLE, Value, find};

#[test]
fn the_reference_is_complete() {
    let mut counts: BTreeMap<Section, usize> = BTreeMap::new();
    let rows = TABLE
        .iter()
        .filter(|row| row.section.is_reference() && !row.key.contains('.'));
    for row in rows {
        *counts.entry(row.section).or_default() += 1;
    }
    let expected = [
        (Section::Memory, 3),
        (Section::Basic, 4),
        (Section::DynamicShape, 2),
        (Section::MixedComputing, 1),
        (Section::Debugging, 4),
        (Section::AccuracyTuning, 5),
        (Section::AccuracyComparison, 4),
        (Section::Performance, 9),
        (Section::Profiling, 1),
        (Section::Aoe, 3),
        (Section::OperatorCompilation, 2),
        (Section::DataAugmentation, 2),
        (Section::ExceptionRemedy, 5),
        (Section::Experiment, 2),
        (Section::Deprecated, 10),
    ];
    assert_eq!(counts.into_iter().collect::<Vec<_>>(), expected);
    assert_eq!(DEFAULTS.len(), 57);
}

/// Key, type, default, in the order of the reference. `None` is no value, as in Python.
const DEFAULTS: &[(&str, &str, &str)] = &[
    ("graph_run_mode", "int", "1"),
    ("session_device_id", "int", "None"),
    ("distribute", "ParameterServerStrategy", "None"),
    ("deterministic", "int", "0"),
    ("memory_config", "MemoryConfig", "None"),
    ("external_weight", "bool", "False"),
    ("input_fusion_size", "bytes", "131072"),
    ("ac_parallel_enable", "str", "None"),
    ("compile_dynamic_mode", "bool", "None"),
    ("mix_compile_mode", "bool", "False"),
    ("enable_exception_dump", "int", "2"),
    ("op_debug_config", "path", "None"),
    ("debug_dir", "path", "None"),
    ("export_compile_stat", "int", "1"),
    ("precision_mode", "str", "None"),
    ("precision_mode_v2", "str", "None"),
    ("modify_mixlist", "path", "None"),
    ("enable_reduce_precision", "bool", "False"),
    ("customize_dtypes", "path", "None"),
    ("dump_config", "DumpConfig", "None"),
    ("quant_dumpable", "str", "None"),
    ("fusion_switch_file", "path", "None"),
    ("buffer_optimize", "str", "l2_optimize"),
    ("iterations_per_loop", "int", "1"),
    ("hcom_parallel", "bool", "True"),
    ("op_precision_mode", "path", "None"),
    ("enable_scope_fusion_passes", "str", "None"),
    ("stream_max_parallel_num", "str", "None"),
    ("is_tailing_optimization", "bool", "False"),
    ("enable_small_channel", "int", "0"),
    ("variable_placement", "str", "Device"),
    ("graph_max_parallel_model_num", "int", "1"),
    ("profiling_config", "ProfilingConfig", "None"),
    ("aoe_mode", "str", "None"),
    ("work_path", "path", "None"),
    ("aoe_config_file", "path", "None"),
    ("op_compiler_cache_mode", "str", "enable"),
    ("op_compiler_cache_dir", "path", "None"),
    ("local_rank_id", "int", "None"),
    ("local_device_list", "str", "None"),
    ("hccl_timeout", "int", "None"),
    ("op_wait_timeout", "int", "None"),
    ("op_execute_timeout", "int", "None"),
    ("stream_sync_timeout", "int", "-1"),
    ("event_sync_timeout", "int", "-1"),
    ("experimental_config", "ExperimentalConfig", "None"),
    ("jit_compile", "str", "auto"),
    ("enable_data_pre_proc", "bool", "True"),
    ("variable_format_optimize", "bool", "None"),
    ("op_debug_level", "int", "None"),
    ("op_select_implmode", "str", "None"),
    ("optypelist_for_implmode", "str", "None"),
    ("dynamic_input", "bool", "None"),
    ("dynamic_graph_execute_mode", "str", "dynamic_execute"),
    ("dynamic_inputs_shape_range", "str", "None"),
    ("graph_memory_max_size", "any", "None"),
    ("variable_memory_max_size", "any", "None"),
];

#[test]
fn every_option_of_the_reference_has_its_type_and_default() {
    for (key, kind, default) in DEFAULTS {
        let row = find(key).unwrap();
        assert!(row.section.is_reference(), "{key}");
        assert_eq!(row.kind.name(), *kind, "{key}");
        assert_eq!(row.default_value().to_string(), *default, "{key}");
        assert_eq!(row.since, None, "{key}");
    }
    let memory = [
        "memory_config.atomic_clean_policy",
        "memory_config.static_memory_policy",
    ];
    for key in memory {
        assert_eq!(find(key).unwrap().default_value(), Value::Int(0), "{key}");
    }
}

#[test]
fn values_of_the_reference_are_taken_and_others_are_not() {
    for (key, right, wrong) in [
        ("graph_run_mode", "0 1", "2 -1 a"),
        ("input_fusion_size", "0 33554432 32MiB", "33554433 -1 much"),
        ("ac_parallel_enable", "0 1", "2 True"),
        ("enable_exception_dump", "0 1 2", "3 -1"),
        ("export_compile_stat", "0 1 2", "3"),
        ("buffer_optimize", "l2_optimize off_optimize", "on"),
        ("graph_max_parallel_model_num", "1 2147483647", "0 2147483648"),
        ("aoe_mode", "1 2 4", "3 0"),
        ("op_compiler_cache_mode", "enable force disable", "Enable"),
        ("local_rank_id", "0 7", "8 -1"),
        ("hccl_timeout", "1 17340", "0 17341"),
        ("jit_compile", "auto true false", "True 2"),
        ("op_debug_level", "0 4", "5"),
        ("optypelist_for_implmode", "Pooling,SoftmaxV2 LRN ROIAlign", "Conv2D"),
        ("dynamic_graph_execute_mode", "dynamic_execute lazy_recompile", "other"),
    ] {
        let row = find(key).unwrap();
        for text in right.split(' ') {
            assert_eq!(row.problem(&row.kind.read(text)), None, "{key}={text}");
        }
        for text in wrong.split(' ') {
            assert!(row.problem(&row.kind.read(text)).is_some(), "{key}={text}");
        }
    }
}

#[test]
fn options_outside_the_reference_say_where_they_come_from() {
    for row in TABLE {
        let is_outside = matches!(row.section, Section::RunConfig | Section::Adapter | Section::Engine)
            || matches!(
                row.short_key(),
                "memory_optimization_policy" | "variable_use_1g_huge_page"
            );
        assert!(!is_outside || row.since.is_some(), "{}", row.key);
        assert_eq!(
            row.section == Section::Deprecated,
            row.deprecated.is_some(),
            "{}",
            row.key
        );
        if let Some(key) = row.replaced_by {
            assert!(find(key).is_some_and(|row| row.deprecated.is_none()), "{key}");
        }
    }
}

#[test]
fn effects_are_reported() {
    for row in TABLE {
        let says_nothing = ["nothing", "not simulated"]
            .iter()
            .any(|start| row.memory_effect.starts_with(start));
        assert_eq!(
            says_nothing,
            !row.affects_memory(),
            "{}: {}",
            row.key,
            row.memory_effect
        );
        assert!(!row.is_estimate || row.affects_memory(), "{}", row.key);
        let texts = [row.summary, row.details, row.memory_effect, row.source];
        let choices = row.kind.choices();
        let choices = choices.iter().map(|(_, summary)| *summary);
        for text in texts.into_iter().chain(choices) {
            assert!(!text.contains("TEXT"), "{}: \"{text}\"", row.key);
        }
    }
}
