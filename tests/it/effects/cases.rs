//! Every option that becomes a parameter has a case in which it changes the answer.

use std::collections::BTreeSet;

use highwater::options::{ESTIMATES, TABLE, find as find_option};

use super::graphs::{
    CHAIN, GROWING, MEASURED, MIXED, NAMES, PARTED, RUNS, SAVED, SHAPE_READ, SMALL_INPUTS, TRAINING, TWO,
};
use super::{Ask, Settings, shapes};

/// A device too small for two loaded graphs.
const ROOM_FOR_ONE: Settings<'_> = &[("simulation.device_memory", "13MiB")];

/// Less than the graph of saved activations needs.
const BUDGET: Settings<'_> = &[("dtr.eviction_threshold", "14MiB")];

/// For every option that becomes a parameter: a setting, further settings, and a graph on which it matters.
const CASES: &[(&str, &str, Settings<'_>, &str)] = &[
    ("memory_config.static_memory_policy", "2", &[], TWO),
    ("memory_config.atomic_clean_policy", "1", &[], CHAIN),
    ("memory_config.variable_use_1g_huge_page", "1", &[], CHAIN),
    ("external_weight", "True", &[], TWO),
    ("input_fusion_size", "0", &[], SMALL_INPUTS),
    ("graph_run_mode", "0", &[], TRAINING),
    (
        "session_device_id",
        "1",
        &[("simulation.occupied_memory", "1:31GiB")],
        CHAIN,
    ),
    ("compile_dynamic_mode", "True", &[], CHAIN),
    ("mix_compile_mode", "True", &[], MIXED),
    ("precision_mode", "force_fp16", &[], CHAIN),
    ("precision_mode_v2", "mixed_float16", &[], CHAIN),
    (
        "modify_mixlist",
        "list.json",
        &[("precision_mode", "allow_mix_precision")],
        CHAIN,
    ),
    ("customize_dtypes", "dtypes.cfg", &[], CHAIN),
    (
        "iterations_per_loop",
        "2",
        &[("simulation.engine_version", "8.0")],
        CHAIN,
    ),
    ("simulation.engine_version", "8.0", &[], CHAIN),
    ("variable_placement", "Host", &[("mix_compile_mode", "True")], CHAIN),
    ("graph_max_parallel_model_num", "2", &[], CHAIN),
    (
        "dynamic_input",
        "True",
        &[("dynamic_inputs_shape_range", "data:[1~9]")],
        shapes::SYMBOLIC,
    ),
    (
        "dynamic_inputs_shape_range",
        "data:[1~9]",
        &[("dynamic_input", "True")],
        shapes::SYMBOLIC,
    ),
    ("ge.exec.staticMemoryPolicy", "3", &[], CHAIN),
    ("ge.exec.atomicCleanPolicy", "1", &[], CHAIN),
    ("ge.exec.disableReuseMemory", "1", &[], CHAIN),
    ("ge.exec.reuseZeroCopyMemory", "1", &[], CHAIN),
    (
        "ge.experiment.memory_pool_threshold",
        "1",
        &[("compile_dynamic_mode", "True")],
        shapes::POOLED,
    ),
    ("simulation.device", "generic-64GB", &[], CHAIN),
    ("simulation.device_memory", "1GiB", &[], CHAIN),
    ("simulation.occupied_memory", "0:1GiB", &[], CHAIN),
    ("simulation.placement_strategy", "naive", &[], CHAIN),
    ("simulation.input_staging_buffers", "2", &[], SMALL_INPUTS),
    (
        "simulation.kept_ops",
        "Softmax,Add",
        &[("precision_mode", "allow_mix_precision")],
        CHAIN,
    ),
    ("simulation.host_ops", "Relu", &[("mix_compile_mode", "True")], CHAIN),
    (
        "dynamic_input_config.dynamic_dims",
        "3",
        &[("dynamic_input", "True"), ("dynamic_inputs_shape_range", "data:[1~9]")],
        shapes::SYMBOLIC,
    ),
    ("simulation.policy_2_behaviour", "documented", &[], GROWING),
    ("simulation.tensor_rounding", "2MiB", &[], CHAIN),
    ("simulation.measured_alignment", "phases", &[], MEASURED),
    ("simulation.measured_annotation", "forward", &[], RUNS),
    ("simulation.unload_graphs", "after_run", &[], TWO),
    ("simulation.shapes_keep_alive", "no", &[], SHAPE_READ),
    ("simulation.workspace_estimate", "on", &[], CHAIN),
    (
        "simulation.workspace_table",
        "Add=3MiB",
        &[("simulation.workspace_estimate", "on")],
        CHAIN,
    ),
    ("simulation.malloc_ns", "1", &[], CHAIN),
    ("simulation.free_ns", "1", ROOM_FOR_ONE, TWO),
    ("simulation.map_ns", "1", &[], CHAIN),
    ("simulation.unmap_ns", "1", &[], GROWING),
    ("simulation.reserve_ns", "1", &[], CHAIN),
    (
        "simulation.sync_ns",
        "1",
        &[
            ("compile_dynamic_mode", "True"),
            ("ge.experiment.memory_pool_threshold", "1"),
        ],
        shapes::POOLED,
    ),
    ("simulation.launch_ns", "1", &[], CHAIN),
    ("simulation.memset_bytes_per_second", "1MB", &[], CHAIN),
    ("simulation.reload_bytes_per_second", "1MB", ROOM_FOR_ONE, TWO),
    ("dtr.eviction_threshold", "14MiB", &[], SAVED),
    ("dtr.evictee_minimum_size", "3MiB", BUDGET, SAVED),
    ("dtr.recomp_memory_factor", "0", BUDGET, SAVED),
    ("dtr.recomp_time_factor", "0", BUDGET, SAVED),
    ("simulation.remat_heuristic", "lru", BUDGET, SAVED),
    ("simulation.thrash_limit", "0.01", BUDGET, SAVED),
    (
        "simulation.free_neighbors",
        "arena",
        &[
            ("dtr.eviction_threshold", "4MiB"),
            ("simulation.remat_heuristic", "megengine_eager"),
        ],
        PARTED,
    ),
    (
        "simulation.remat_seed",
        "1",
        &[
            ("dtr.eviction_threshold", "14MiB"),
            ("simulation.remat_heuristic", "random"),
        ],
        SAVED,
    ),
    ("simulation.flops_per_second", "1000000000", BUDGET, SAVED),
    ("simulation.op_bytes_per_second", "1000000", BUDGET, SAVED),
    ("simulation.op_launch_ns", "5000000", BUDGET, SAVED),
    ("memory_optimize.level", "1", &[], NAMES),
    ("memory_optimize.print_log", "True", &[], NAMES),
    (
        "memory_optimize.skip_opt_set",
        "[\"a\"]",
        &[("memory_optimize.level", "1")],
        NAMES,
    ),
    (
        "memory_optimize.skip_grads",
        "True",
        &[("memory_optimize.level", "1")],
        NAMES,
    ),
    (
        "simulation.memory_optimize_version",
        "1.6",
        &[("memory_optimize.level", "1")],
        NAMES,
    ),
    (
        "simulation.shape_samples",
        "2",
        &[("dynamic_input", "True"), ("dynamic_inputs_shape_range", "data:[1~9]")],
        shapes::SYMBOLIC,
    ),
];

#[test]
fn every_option_with_a_parameter_changes_some_comparison() {
    for row in TABLE.iter().filter(|row| row.lowers_to.is_some()) {
        assert!(CASES.iter().any(|case| case.0 == row.key), "{} has no case", row.key);
    }
    for (key, value, beside, graph) in CASES {
        assert!(find_option(key).is_some_and(|row| row.lowers_to.is_some()), "{key}");
        let answer = |settings: Settings<'_>| {
            let mut ask = Ask::new(graph, settings);
            ask.iterations = if graph == &TWO { 2 } else { 1 };
            ask.files = &[
                ("list.json", r#"{"black-list": {"to-add": ["MatMul", "Add"]}}"#),
                ("dtypes.cfg", "OpType::Softmax:InputDtype:float,OutputDtype:float16"),
            ];
            // No value is given where an option binds the dimension.
            let binds = settings
                .iter()
                .filter(|(key, _)| key.starts_with("dynamic_input"))
                .count()
                == 2;
            if !binds && graph.contains("\"batch\"") {
                ask.dims = &[("batch", &[4])];
            }
            let comparison = ask.run();
            (comparison.lanes, comparison.active_policy)
        };
        let with: Vec<(&str, &str)> = beside.iter().copied().chain([(*key, *value)]).collect();
        assert!(answer(&with) != answer(beside), "{key}={value}");
    }
}

#[test]
fn any_two_settings_go_together() {
    let graphs = [CHAIN, SMALL_INPUTS, TRAINING, MIXED, TWO];
    for (position, (key, value, beside, _)) in CASES.iter().enumerate() {
        for (other, (other_key, other_value, other_beside, _)) in CASES.iter().enumerate().skip(position + 1) {
            let settings: Vec<(&str, &str)> = beside
                .iter()
                .chain(*other_beside)
                .copied()
                .chain([(*key, *value), (*other_key, *other_value)])
                .collect();
            let comparison = Ask::new(graphs[(position + other) % graphs.len()], &settings).run();
            assert_eq!(comparison.lanes.len(), 4, "{settings:?}");
        }
    }
}

#[test]
fn estimates_are_called_so() {
    let keys = |settings: Settings<'_>| -> Vec<&str> {
        let estimates = Ask::new(CHAIN, settings).run().estimates;
        estimates.iter().map(|estimate| estimate.key).collect()
    };
    assert_eq!(keys(&[("precision_mode", "force_fp16")]), ["precision_mode"]);
    assert!(
        keys(&[
            ("precision_mode", "must_keep_origin_dtype"),
            ("simulation.kept_ops", "Add")
        ])
        .is_empty()
    );
    assert_eq!(
        keys(&[
            ("precision_mode", "force_fp16"),
            ("precision_mode_v2", "mixed_float16"),
            ("simulation.kept_ops", "")
        ]),
        ["precision_mode_v2", "simulation.kept_ops"]
    );
    assert_eq!(keys(&[("input_fusion_size", "0")]), ["input_fusion_size"]);
    assert!(keys(&[("iterations_per_loop", "4"), ("simulation.host_ops", "Relu")]).is_empty());
    let declared: BTreeSet<&str> = TABLE.iter().filter(|row| row.is_estimate).map(|row| row.key).collect();
    let described: BTreeSet<&str> = ESTIMATES.iter().map(|estimate| estimate.key).collect();
    assert_eq!(described, declared);
}
