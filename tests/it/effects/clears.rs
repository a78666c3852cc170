//! Clears of results that ops add to: which, when, their bytes and their cost.

use highwater::sim::StaticMemoryPolicy;
use highwater::sim::fold::Cause;
use highwater::units::Bytes;

use super::{Ask, MIB, Settings, parts, slot};

const SEPARATE: Settings<'static> = &[("memory_config.atomic_clean_policy", "1")];
const COLLECTIVE: Settings<'static> = &[("memory_config.atomic_clean_policy", "0")];

/// An op of a synthetic graph: type, operands, results; a result with `!` is added to, `#` has half the size.
type Op<'a> = (&'a str, &'a [&'a str], &'a [&'a str]);

/// A graph of results of 1 MiB that returns `outputs`.
fn graph(ops: &[Op<'_>], outputs: &[&str]) -> String {
    let plain = |id: &str| id.replace(['!', '#'], "");
    let result = |id: &&str| {
        serde_json::json!({
            "id": plain(id), "shape": [if id.contains('#') { 128 } else { 256 }, 1024], "dtype": "float32",
            "atomic": id.contains('!'),
        })
    };
    let nodes: Vec<serde_json::Value> = ops
        .iter()
        .map(|(kind, inputs, results)| {
            let outputs: Vec<_> = results.iter().map(result).collect();
            serde_json::json!({"op": kind, "inputs": inputs, "outputs": outputs})
        })
        .collect();
    serde_json::json!({
        "name": "g", "nodes": nodes, "outputs": outputs,
        "inputs": [{"id": "x", "shape": [4], "dtype": "float32"}],
    })
    .to_string()
}

/// Two atomic ops in a chain.
const CHAIN: &[Op<'_>] = &[
    ("Relu", &["x"], &["a"]),
    ("ReduceSum", &["a"], &["b!"]),
    ("Scatter", &["b"], &["c!#", "d!"]),
    ("Relu", &["c", "d"], &["e"]),
    ("Relu", &["e"], &["z"]),
];

/// An atomic op whose result the graph returns, after another one.
const RETURNED: &[Op<'_>] = &[
    ("ReduceSum", &["x"], &["a!"]),
    ("ReduceSum", &["a"], &["z!"]),
    ("Relu", &["z"], &["y"]),
];

/// Results read by collective communication: a single op, and with another op.
const COMMUNICATING: &[Op<'_>] = &[
    ("ReduceSum", &["x"], &["a!"]),
    ("ReduceSum", &["x"], &["b!"]),
    ("HcomAllReduce", &["a"], &["c"]),
    ("HcomAllReduce", &["b"], &["d"]),
    ("Add", &["b", "c", "d"], &["z"]),
];

/// A loop inside the graph itself.
const LOOP: &[Op<'_>] = &[
    ("Enter", &["x"], &["a"]),
    ("ReduceSum", &["a"], &["b!"]),
    ("ReduceSum", &["b"], &["c!"]),
    ("NextIteration", &["c"], &["d"]),
    ("Exit", &["c"], &["z"]),
];

#[test]
fn each_policy_clears_as_documented() {
    let none: &[Op<'_>] = &[("Relu", &["x"], &["a"]), ("Relu", &["a"], &["z"])];
    let dynamic: Settings<'_> = &[("compile_dynamic_mode", "True")];
    let of_host: Settings<'_> = &[("mix_compile_mode", "True"), ("simulation.host_ops", "Scatter")];
    // The result of step 1 goes to the host: it leaves the graph there.
    for (ops, settings, expected) in [
        (CHAIN, COLLECTIVE, vec![(0_u32, 5 * MIB / 2)]),
        (CHAIN, SEPARATE, vec![(1, MIB), (2, 3 * MIB / 2)]),
        (CHAIN, dynamic, vec![(1, MIB), (2, 3 * MIB / 2)]),
        (CHAIN, of_host, vec![(1, MIB)]),
        (none, COLLECTIVE, vec![]),
        (none, SEPARATE, vec![]),
        (RETURNED, COLLECTIVE, vec![(0, MIB), (1, MIB)]),
        (RETURNED, SEPARATE, vec![(0, MIB), (1, MIB)]),
        (COMMUNICATING, COLLECTIVE, vec![(0, MIB)]),
        (COMMUNICATING, SEPARATE, vec![(0, MIB), (1, MIB)]),
        (LOOP, COLLECTIVE, vec![(1, MIB), (2, MIB)]),
        (LOOP, SEPARATE, vec![(1, MIB), (2, MIB)]),
    ] {
        let text = graph(ops, &["z"]);
        let comparison = Ask::new(&text, settings).run();
        let clears = &comparison.session.runs[0].bound.clears;
        let found: Vec<(u32, u64)> = clears.iter().map(|clear| (clear.step.0, clear.bytes.get())).collect();
        assert_eq!(found, expected, "{ops:?} {settings:?}");
    }
}

/// Memory: under 0 cleared results lie behind the rest, under 1 they share. Time: under 0 one launch for all, under 1
/// one per op; and the bytes at their bandwidth.
#[test]
fn memory_and_time_are_those_of_the_model() {
    let text = graph(CHAIN, &["z"]);
    let mut ask = Ask::new(&text, &[]);
    ask.iterations = 3;
    let costs = [
        ("simulation.launch_ns", "7000"),
        ("simulation.memset_bytes_per_second", "1000000000"),
    ];
    let with = |policy: &[(&'static str, &'static str)]| [policy, &costs].concat();
    let (separate, collective) = (with(SEPARATE), with(COLLECTIVE));
    let (small, large) = (slot(MIB / 2), slot(MIB));
    // Under 1 at most b, c, d are live at once (or c, d, e); under 0 one of a, e, with b, c, d at all times.
    for (settings, features, launches, cleared) in [
        (&separate, 2 * large + small, 2, 5 * MIB / 2),
        (&collective, large + (2 * large + small), 1, 5 * MIB / 2),
    ] {
        ask.settings = settings;
        let comparison = ask.run();
        assert_eq!(parts(&comparison)[0], features, "{settings:?}");
        for lane in &comparison.lanes {
            let summary = &lane.summary;
            assert_eq!((summary.clears, summary.cleared), (3 * launches, Bytes(3 * cleared)));
            let row = summary.overhead.iter().find(|row| row.cause == Cause::Clear);
            let time = row.expect("clears cost time").time.0;
            assert!(time.abs_diff(3 * (launches * 7000 + cleared)) < 3 * launches, "{time}");
        }
    }
    let lane = |settings| {
        let text = graph(CHAIN, &["z"]);
        Ask::new(&text, settings)
            .run()
            .lane(StaticMemoryPolicy::Dynamic)
            .cloned()
    };
    let (separate, collective) = (lane(SEPARATE).expect("a lane"), lane(COLLECTIVE).expect("a lane"));
    assert!(separate.plans[0].1.lower_bound <= collective.plans[0].1.lower_bound);
}
