//! Axes as texts, and the mapping from points to configurations.

use highwater::analysis::sweep::{AxisOf, Space, SweepAxis, SweepError};
use highwater::options::{Value, keys};
use highwater::units::Bytes;
use proptest::prelude::*;

use super::{axes, small, space};

#[track_caller]
fn reads(text: &str, key: &str, values: &[&str]) {
    let axis = SweepAxis::parse(text, &["batch".to_owned(), "a=b".to_owned()]).unwrap();
    assert_eq!(axis.key(), key, "{text}");
    let read: Vec<String> = axis.values.iter().map(ToString::to_string).collect();
    assert_eq!(read, values, "{text}");
    assert_eq!(
        SweepAxis::parse(&axis.text(), &["batch".to_owned()]),
        Ok(axis),
        "reads back"
    );
}

#[test]
fn axes_are_lists_and_ranges() {
    let policy = keys::STATIC_MEMORY_POLICY;
    reads("policy=0,2,3,4", policy, &["0", "2", "3", "4"]);
    reads("static_memory_policy = 4, 0,4", policy, &["4", "0"]);
    reads(
        "memory_config.static_memory_policy=0..4",
        policy,
        &["0", "1", "2", "3", "4"],
    );
    reads("batch=8..128x2", "dim:batch", &["8", "16", "32", "64", "128"]);
    reads("dim:batch=8..33+8,40", "dim:batch", &["8", "16", "24", "32", "40"]);
    reads("batch=3..100x3,5", "dim:batch", &["3", "9", "27", "81", "5"]);
    reads("batch=7..7x9", "dim:batch", &["7"]);
    reads("iterations=1..3", "iterations", &["1", "2", "3"]);
    let gib = "1073741824";
    reads(
        "eviction_threshold=None,1GiB..2GiB+512MiB",
        keys::EVICTION_THRESHOLD,
        &["None", gib, "1610612736", "2147483648"],
    );
    reads(
        "simulation.device=generic-16GB,generic-32GB",
        keys::DEVICE,
        &["generic-16GB", "generic-32GB"],
    );
    reads(
        "memory_optimize.skip_opt_set=[\"a\", \"b\"],[\"c\"]",
        keys::SKIP_OPT_SET,
        &["[\"a\", \"b\"]", "[\"c\"]"],
    );
    reads("modify_mixlist=../a,b", keys::MODIFY_MIXLIST, &["../a", "b"]);
    reads("external_weight=True,False", keys::EXTERNAL_WEIGHT, &["True", "False"]);
}

#[test]
fn an_invalid_axis_error_shows_valid_forms() {
    for (text, part) in [
        ("", "expected KEY=VALUE"),
        ("policy", "expected KEY=VALUE"),
        ("=1", "expected KEY=VALUE"),
        ("policy=", "empty value"),
        ("policy=1,,2", "empty value"),
        ("bathc=1", "did you mean \"batch\"?"),
        ("polcy=1", "did you mean"),
        ("zzzzzzzzz=1", "dimensions: batch"),
        ("dim:seq=1", "no graph has a dimension \"seq\"; dimensions: batch"),
        ("job_type=x", "no option or dimension"),
        ("iterations_per_loopp=2", "did you mean \"iterations_per_loop\"?"),
        ("soc_config=x", "is not simulated"),
        ("batch=0", "\"0\" is not an integer from 1"),
        ("batch=0..4", "0 is not an integer from 1"),
        ("batch=x", "\"x\" is not an integer from 1"),
        ("batch=-1", "\"-1\" is not an integer from 1"),
        ("iterations=4294967296", "from 1 to 4294967295"),
        ("batch=4..2", "ends below its start"),
        ("batch=1..9+0", "never ends: its step is 0"),
        ("batch=1..9x1", "never ends: its factor must be 2 or more"),
        ("eviction_threshold=0..9x2", "never ends: 0 stays 0"),
        ("batch=1..", "is not a range"),
        ("batch=a..b", "is not a range"),
        ("batch=1..99999999999999999999", "is not a range"),
        ("batch=1..100000", "more than 10000 values"),
    ] {
        let error = SweepAxis::parse(text, &["batch".to_owned()])
            .expect_err(text)
            .to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
    let inert = SweepAxis::option("soc_config", vec![Value::Int(1)])
        .unwrap_err()
        .to_string();
    assert!(inert.contains("is not simulated"), "{inert}");
    assert!(SweepAxis::option(keys::DEVICE, Vec::new()).is_err());
}

#[test]
fn sizes_are_exact_and_have_a_limit() {
    let request = small();
    let base = request.configuration();
    let twice = Space::new(base.clone(), axes(&request, &["policy=0", "static_memory_policy=2"]));
    assert_eq!(
        twice,
        Err(SweepError::Twice {
            name: "static_memory_policy".to_owned()
        })
    );
    let empty = SweepAxis {
        of: AxisOf::Iterations,
        values: Vec::new(),
    };
    assert!(matches!(
        Space::new(base.clone(), vec![empty]),
        Err(SweepError::Axis { .. })
    ));
    let many = [
        "iterations=1..10000",
        "batch=1..10000",
        "malloc_ns=1..10000",
        "free_ns=1..10000",
        "map_ns=1..1844",
    ];
    let large = space(&request, &many);
    assert_eq!(large.size(), 18_440_000_000_000_000_000);
    let error = large.checked().unwrap_err().to_string();
    assert!(
        error.contains("18440000000000000000 combinations, more than the limit of 100000"),
        "{error}"
    );
    let mut over = axes(&request, &many);
    over.extend(axes(&request, &["unmap_ns=1,2"]));
    let error = Space::new(base.clone(), over).unwrap_err().to_string();
    assert!(error.contains("more than 2^64 combinations"), "{error}");
    let alone = Space::new(base.clone(), Vec::new()).unwrap();
    assert_eq!((alone.size(), alone.configuration(0)), (1, base));
    let beside = space(&request, &["device_memory=1GiB,2GiB"]);
    assert_eq!(beside.with_capacity(Bytes::gib(1)), Err(SweepError::CapacityTwice));
}

#[test]
fn points_count_up_with_the_last_axis_fastest() {
    let space = space(&small(), &["policy=0,2", "batch=8,16,32", "iterations=1,2"]);
    assert_eq!(space.size(), 12);
    let titles: Vec<String> = (0..3).map(|idx| space.title(idx)).collect();
    assert_eq!(
        titles,
        [
            "static_memory_policy 0, batch 8, iterations 1",
            "static_memory_policy 0, batch 8, iterations 2",
            "static_memory_policy 0, batch 16, iterations 1",
        ]
    );
    let last = space.configuration(11);
    assert_eq!(last.policy().number(), 2);
    assert_eq!((last.plan.iterations, &last.plan.dims["batch"][..]), (2, &[32][..]));
    // Policy 0 is the default, and 16 is the base's value.
    let changes: Vec<usize> = (0..12).map(|idx| space.n_changes(idx)).collect();
    assert_eq!(changes, [1, 2, 0, 1, 1, 2, 2, 3, 1, 2, 2, 3]);
}

proptest! {
    #[test]
    fn numbers_and_positions_are_inverse(sizes in prop::collection::vec(1_u32..7, 0..5), seed in any::<u64>()) {
        let names = ["batch", "iterations", "malloc_ns", "free_ns", "map_ns"];
        let request = small();
        let texts: Vec<String> = sizes.iter().zip(names).map(|(size, name)| format!("{name}=1..{size}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let space = space(&request, &texts);
        prop_assert_eq!(space.size(), sizes.iter().map(|size| u64::from(*size)).product::<u64>());
        let idx = seed % space.size();
        prop_assert_eq!(space.idx(&space.digits(idx)), idx);
        let values: Vec<i64> = space.values(idx).iter().map(|value| value.as_int().unwrap()).collect();
        let digits: Vec<i64> = space.digits(idx).iter().map(|digit| i64::try_from(*digit).unwrap() + 1).collect();
        prop_assert_eq!(values, digits);
    }
}
