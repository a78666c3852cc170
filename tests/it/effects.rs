//! Every option that concerns memory changes the expected part of `compare`'s answer by the expected bytes.

mod cases;
mod clears;
mod graphs;
mod precision;
mod shapes;
mod workspaces;

use std::sync::Arc;

use highwater::analysis::{Comparison, LOOP_VARIABLES, Request, compare};
use highwater::diagnostics::Severity;
use highwater::options::{FileState, SeenFiles};
use highwater::progress::{Cancel, Progress};
use highwater::sim::StaticMemoryPolicy;
use highwater::workload::{Source, Workload};

use crate::workloads::{configuration, workload};
pub(crate) use graphs::SAVED;
use graphs::{BESIDE, CHAIN, MIXED, SMALL_INPUTS, TRAINING, TWO};

const MIB: u64 = 1 << 20;

/// Options as texts.
type Settings<'a> = &'a [(&'a str, &'a str)];

/// Input of a test.
struct Ask<'a> {
    graph: &'a str,
    settings: Settings<'a>,
    variables: Settings<'a>,
    dims: &'a [(&'a str, &'a [u64])],
    files: &'a [(&'a str, &'a str)],
    iterations: u32,
}

impl<'a> Ask<'a> {
    const fn new(graph: &'a str, settings: Settings<'a>) -> Self {
        Self {
            graph,
            settings,
            variables: &[],
            dims: &[],
            files: &[],
            iterations: 1,
        }
    }

    /// The graph, with the recording where a text holds one after the graph.
    fn workload(&self) -> Workload {
        let (graph, recording) = self.graph.split_once(BESIDE).unwrap_or((self.graph, ""));
        let mut whole = workload("graph.json", graph.as_bytes());
        if !recording.is_empty() {
            let Source::Recordings(recordings) = workload("operator_memory.csv", recording.as_bytes()).source else {
                panic!("no recording");
            };
            match &mut whole.source {
                Source::Recordings(first) => first.extend(recordings),
                _ => whole.measured = recordings,
            }
        }
        whole
    }

    fn request(&self) -> Request {
        let mut configuration = configuration(self.settings, self.dims);
        for (name, text) in self.variables {
            configuration.environment.set(name, text);
        }
        configuration.plan.iterations = self.iterations;
        let mut files = SeenFiles::default();
        for (path, text) in self.files {
            files.insert(path, FileState::File(text.as_bytes().into()));
        }
        Request {
            files: Arc::new(files),
            ..Request::new(self.workload(), configuration)
        }
    }

    /// Debug builds verify every simulation on the way.
    fn run(&self) -> Comparison {
        let cancel = Cancel::new();
        compare(&self.request(), &Progress::silent(&cancel)).expect("every dimension has a value")
    }
}

/// Reserved bytes at the peak of policy 0: features, weights, variables, inputs and outputs.
fn parts(comparison: &Comparison) -> [u64; 4] {
    let reserved = comparison
        .lane(StaticMemoryPolicy::Dynamic)
        .expect("all policies")
        .summary
        .reserved;
    [reserved.features, reserved.weights, reserved.variables, reserved.io].map(highwater::units::Bytes::get)
}

fn messages(comparison: &Comparison, severity: Severity) -> Vec<String> {
    let entries = comparison.diagnostics.entries().iter();
    let wanted = entries.filter(|entry| entry.severity == severity);
    wanted.map(|entry| entry.message.clone()).collect()
}

/// An arena slot of a tensor: the engine's 32 spare bytes, 512-aligned.
const fn slot(bytes: u64) -> u64 {
    (bytes.div_ceil(32) * 32 + 32).div_ceil(512) * 512
}

const X: u64 = slot(MIB);

/// Variables in one block, not in pages.
const EXACT: (&str, &str) = ("simulation.engine_version", "8.0");

#[test]
fn the_default_figures_are_those_of_the_rules() {
    let plain = Ask::new(CHAIN, &[]).run();
    // `s` is cleared together with others by default and therefore shares no memory.
    assert_eq!(parts(&plain), [2 * X + slot(MIB / 2), 0, 6 * MIB, 2 * X + slot(2048)]);
    let before = Ask::new(CHAIN, &[EXACT]).run();
    assert_eq!(parts(&before)[2], 4 * MIB + 1024);
    assert!(plain.estimates.is_empty() && plain.diagnostics.entries().is_empty());
    assert_eq!((plain.device_id, plain.occupied.get()), (0, 0));
}

const GIB: i64 = 1 << 30;
const VARIABLES: i64 = 4 * (1 << 20) + 1024;
/// Savings of a tensor of 1 MiB at half the width.
const HALF: i64 = -((X - slot(MIB / 2)).cast_signed());

/// Settings on a graph, and the change of each part: features, weights, variables, inputs and outputs.
const EFFECTS: &[(&str, Settings<'_>, [i64; 4])] = &[
    // Pools: 17 pages of 64 KiB for each of two tensors, each in a device block of 2 MiB.
    (
        CHAIN,
        &[("compile_dynamic_mode", "True")],
        [4 * (1 << 20) - (2 * X + slot(MIB / 2)).cast_signed(), 0, 0, 0],
    ),
    (CHAIN, &[("iterations_per_loop", "2")], [0, 0, 4 * 1536, 0]),
    (CHAIN, &[("iterations_per_loop", "1")], [0, 0, 0, 0]),
    (SMALL_INPUTS, &[("iterations_per_loop", "9")], [0, 0, 4 * 1536, 0]),
    (
        CHAIN,
        &[("iterations_per_loop", "9"), ("variable_placement", "Host")],
        [0, 0, -VARIABLES, 0],
    ),
    (
        CHAIN,
        &[("memory_config.variable_use_1g_huge_page", "1")],
        [0, 0, GIB - VARIABLES, 0],
    ),
    (
        CHAIN,
        &[("memory_config.variable_use_1g_huge_page", "2")],
        [0, 0, GIB - VARIABLES, 0],
    ),
    // Only MatMul's result is half as wide; two tensors of full width still overlap.
    (CHAIN, &[("precision_mode", "allow_fp32_to_fp16")], [0, 0, 0, 0]),
    (
        CHAIN,
        &[("precision_mode", "force_fp16")],
        [2 * HALF - (slot(MIB / 2) - slot(MIB / 4)).cast_signed(), 0, 0, 0],
    ),
    (CHAIN, &[("precision_mode_v2", "origin")], [0, 0, 0, 0]),
    (
        CHAIN,
        &[("memory_config.atomic_clean_policy", "1")],
        [-(slot(MIB / 2).cast_signed()), 0, 0, 0],
    ),
    (
        CHAIN,
        &[("ge.exec.atomicCleanPolicy", "1")],
        [-(slot(MIB / 2).cast_signed()), 0, 0, 0],
    ),
    (
        CHAIN,
        &[
            ("memory_config.atomic_clean_policy", "1"),
            ("ge.exec.atomicCleanPolicy", "0"),
        ],
        [0, 0, 0, 0],
    ),
    (
        CHAIN,
        &[("ge.exec.disableReuseMemory", "1")],
        [(X + slot(4096)).cast_signed(), 0, 0, 0],
    ),
    (CHAIN, &[("ge.exec.disableReuseMemory", "0")], [0, 0, 0, 0]),
    (
        CHAIN,
        &[("ge.exec.reuseZeroCopyMemory", "1")],
        [0, 0, 0, -((2 * X + slot(2048)).cast_signed())],
    ),
    (
        CHAIN,
        &[("graph_max_parallel_model_num", "3")],
        // Each copy has its inputs and outputs.
        [
            2 * (2 * X + slot(MIB / 2)).cast_signed(),
            0,
            0,
            2 * (2 * X + slot(2048)).cast_signed(),
        ],
    ),
    // One small input is not gathered; two of 2048 and 400 bytes go through 2560.
    (CHAIN, &[("input_fusion_size", "0")], [0, 0, 0, 0]),
    (SMALL_INPUTS, &[("input_fusion_size", "0")], [0, 0, 0, -2560]),
    (SMALL_INPUTS, &[("input_fusion_size", "2047")], [0, 0, 0, -2560]),
    (SMALL_INPUTS, &[("input_fusion_size", "2048")], [0, 0, 0, 0]),
    (
        SMALL_INPUTS,
        &[("input_fusion_size", "99999999999")],
        [0, 0, 0, (1 << 20) + 2560 - 2560],
    ),
    (
        SMALL_INPUTS,
        &[("simulation.input_staging_buffers", "3")],
        [0, 0, 0, 2 * 2560],
    ),
    (
        SMALL_INPUTS,
        &[("simulation.input_staging_buffers", "0")],
        [0, 0, 0, -2560],
    ),
    (
        SMALL_INPUTS,
        &[("ge.exec.reuseZeroCopyMemory", "1")],
        [0, 0, 0, -((X + slot(2048) + 2 * 512 + 2560).cast_signed())],
    ),
    // Dynamic graphs gather nothing; one tensor of 17 pages in a block of 2 MiB.
    (
        SMALL_INPUTS,
        &[("compile_dynamic_mode", "True")],
        [2 * (1 << 20) - X.cast_signed(), 0, 0, -2560],
    ),
    (TWO, &[("external_weight", "True")], [0, -4 * (1 << 20), 0, 0]),
    // Without the backward part the forward results overlap in pairs instead of all three with the gradient.
    (
        TRAINING,
        &[("graph_run_mode", "0")],
        [-((slot(4 * MIB) + X).cast_signed()), 0, -VARIABLES, 0],
    ),
    (CHAIN, &[("graph_run_mode", "0")], [0, 0, 0, 0]),
    (TRAINING, &[("graph_run_mode", "1")], [0, 0, 0, 0]),
    (CHAIN, &[("mix_compile_mode", "True")], [0, 0, 0, 0]),
];

#[test]
fn each_option_changes_its_own_part() {
    for (graph, settings, expected) in EFFECTS {
        let plain = parts(&Ask::new(graph, &[EXACT]).run());
        let changed = parts(&Ask::new(graph, &[settings, &[EXACT][..]].concat()).run());
        let difference: Vec<i64> = (0..4)
            .map(|part| changed[part].cast_signed() - plain[part].cast_signed())
            .collect();
        assert_eq!(difference, expected, "{settings:?}");
    }
}

#[test]
fn ops_of_the_host_leave_the_device() {
    let plain = Ask::new(MIXED, &[]).run();
    let mixed = Ask::new(MIXED, &[("mix_compile_mode", "True")]).run();
    // a crosses to the host, b comes back; `t`, `hidden`, `nothing` and the scratch of PyFunc stay on the host.
    let io = 2 * X + X + slot(MIB / 2);
    assert_eq!(parts(&mixed), [slot(MIB / 4), 0, 0, io]);
    assert_eq!(parts(&plain)[3], 3 * X);
    assert_eq!(
        mixed.session.runs[0]
            .bound
            .io
            .iter()
            .filter(|tensor| tensor.is_input)
            .count(),
        1
    );
    let none = Ask::new(MIXED, &[("mix_compile_mode", "True"), ("simulation.host_ops", "Erf")]).run();
    assert_eq!(none.lanes, plain.lanes);
    // Tensors that cross keep their width; the others follow the mode.
    let narrow: Settings<'_> = &[("mix_compile_mode", "True"), ("precision_mode", "force_fp16")];
    assert_eq!(parts(&Ask::new(MIXED, narrow).run()), [slot(MIB / 8), 0, 0, io]);
    let other: Settings<'_> = &[("mix_compile_mode", "True"), ("simulation.host_ops", "Relu")];
    let relu = parts(&Ask::new(MIXED, other).run());
    assert_eq!(relu[3], 3 * X + slot(MIB / 2) + slot(MIB / 4));
}

#[test]
fn inference_runs_the_forward_part_and_says_so() {
    let cut = Ask::new(TRAINING, &[("graph_run_mode", "0")]).run();
    let graph = &cut.workload.graphs()[0];
    assert_eq!((graph.name.as_str(), graph.graph.ops().len()), ("step", 4));
    assert_eq!(cut.session.variables.len(), 1);
    let said = messages(&cut, Severity::Info);
    assert!(said.len() == 1 && said[0].contains("without 2 ops"), "{said:?}");
    assert!(
        Ask::new(CHAIN, &[("graph_run_mode", "0")])
            .run()
            .diagnostics
            .entries()
            .is_empty()
    );
    // A forward op that reads a backward result cannot run without the backward part.
    let tangled = TRAINING.replace(
        r#""inputs": ["c"], "phase": "forward""#,
        r#""inputs": ["c", "g"], "phase": "forward""#,
    );
    let whole = Ask::new(&tangled, &[("graph_run_mode", "0")]).run();
    assert_eq!(whole.lanes, Ask::new(&tangled, &[]).run().lanes);
    assert!(messages(&whole, Severity::Warning)[0].contains("cannot be separated"));
    // A dimension of the backward part alone is no error when that part is removed.
    let own = TRAINING.replace(
        r#"{"id": "g", "shape": [1024, 1024]"#,
        r#"{"id": "g", "shape": ["k", 1024]"#,
    );
    let mut ask = Ask::new(&own, &[("graph_run_mode", "0")]);
    assert_eq!(ask.run().lanes, cut.lanes);
    ask.dims = &[("k", &[7])];
    assert_eq!(ask.run().lanes, cut.lanes);
}

#[test]
fn variables_lie_in_pages_that_the_device_has_room_for() {
    let pages = |value: &str, memory: &str| {
        let settings = [
            ("memory_config.variable_use_1g_huge_page", value),
            ("simulation.device_memory", memory),
        ];
        let comparison = Ask::new(CHAIN, &settings).run();
        (parts(&comparison)[2], comparison.lanes[0].summary.out_of_memory)
    };
    assert_eq!(pages("2", "2GiB"), (1 << 30, false));
    assert_eq!(pages("2", "512MiB"), (6 * MIB, false));
    assert_eq!(pages("1", "512MiB"), (0, true));
    assert_eq!(pages("0", "512MiB"), (6 * MIB, false));
    // Under policies 3 and 4 pages have 8 MiB.
    let variables = Ask::new(CHAIN, &[]).run();
    let variables = variables
        .lanes
        .iter()
        .map(|lane| lane.summary.reserved.variables.get() >> 20);
    assert_eq!(variables.collect::<Vec<_>>(), [6, 6, 8, 8]);
    let names: Vec<String> = Ask::new(CHAIN, &[("iterations_per_loop", "3")])
        .run()
        .session
        .variables
        .iter()
        .map(|variable| format!("{} {}", variable.name, variable.bytes.get()))
        .collect();
    assert_eq!(names[1..], LOOP_VARIABLES.map(|name| format!("{name} 8")));
}

#[test]
fn others_hold_memory_on_the_device_of_the_session() {
    let occupied = ("simulation.occupied_memory", "0:1GiB,1:8GiB,2:99GiB");
    let left = |settings: Settings<'_>, variables: Settings<'_>| {
        let mut ask = Ask::new(CHAIN, settings);
        ask.variables = variables;
        let comparison = ask.run();
        (
            comparison.device_id,
            comparison.occupied.get() >> 30,
            comparison.device.memory().get(),
        )
    };
    assert_eq!(left(&[occupied], &[]), (0, 1, 31 << 30));
    assert_eq!(
        left(&[occupied, ("session_device_id", "1")], &[("DEVICE_ID", "0")]),
        (1, 8, 24 << 30)
    );
    assert_eq!(left(&[occupied], &[("ASCEND_DEVICE_ID", "1")]), (1, 8, 24 << 30));
    assert_eq!(left(&[occupied], &[("DEVICE_ID", "7")]), (7, 0, 32 << 30));
    assert_eq!(left(&[occupied], &[("DEVICE_ID", "2")]), (2, 99, 1));
    assert_eq!(
        left(&[occupied, ("simulation.device_memory", "12GiB")], &[]),
        (0, 1, 11 << 30)
    );
}

#[test]
fn a_threshold_of_the_pools_acts_within_their_share() {
    let run = |gib: &str| {
        let large = CHAIN.replace("[256, 1024]", "[262144, 2048]");
        let settings = [
            ("compile_dynamic_mode", "True"),
            ("ge.experiment.memory_pool_threshold", gib),
        ];
        Ask::new(&large, &settings).run().lanes[0].summary.out_of_memory
    };
    // A tensor of 2 GiB and 32 bytes exceeds a pool of 2 GiB; 31 GiB are more than 95 % of 32.
    assert_eq!([run("2"), run("3"), run("31"), run("0")], [true, false, false, false]);
}

#[test]
fn rewrites_apply_one_after_the_other() {
    let run = |graph: &str, settings: Settings<'_>| parts(&Ask::new(graph, settings).run());
    // The forward part at half the width; op by op it takes whole device blocks again.
    let narrow: Settings<'_> = &[("graph_run_mode", "0"), ("precision_mode", "force_fp16")];
    assert_eq!(run(TRAINING, narrow)[0], 2 * slot(MIB / 2));
    let dynamic: Settings<'_> = &[narrow[0], narrow[1], ("compile_dynamic_mode", "True")];
    assert_eq!(run(TRAINING, dynamic)[0], 2 * MIB);
    // Without reuse the life of a separately cleared result no longer matters.
    let apart: Settings<'_> = &[("ge.exec.disableReuseMemory", "1")];
    let separate: Settings<'_> = &[apart[0], ("memory_config.atomic_clean_policy", "1")];
    assert_eq!(run(CHAIN, separate)[0], run(CHAIN, apart)[0]);
    // Variables of the loop lie in the pages of all others.
    let paged: Settings<'_> = &[
        ("iterations_per_loop", "2"),
        ("memory_config.variable_use_1g_huge_page", "1"),
    ];
    assert_eq!(run(SMALL_INPUTS, paged)[2], 1 << 30);
    assert_eq!(run(SMALL_INPUTS, &paged[1..])[2], 0);
}
