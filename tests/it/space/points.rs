//! Points equal the answers of `compare` for their configurations, whatever they share, in any order.

use highwater::analysis::sweep::{
    Explorer, Outcome, SmallestDevice, Space, SweepAxis, SweepError, SweepPoint, smallest_device,
};
use highwater::analysis::{Configuration, Request};
use highwater::options::{OptionKind, OptionRow, TABLE, Value, keys};
use highwater::progress::{Cancel, Cancelled, Progress};
use highwater::units::Bytes;
use highwater::workload::{DeviceProfiles, ScheduleEntry, Source, Workload};

use super::{axes, explore, explorer, plain, plain_of, sampled, small, space};

/// Every point against `compare`.
#[track_caller]
fn agrees(request: &Request, texts: &[&str]) -> usize {
    let explorer = explorer(request, texts);
    let points = explore(&explorer);
    assert_eq!(points.len() as u64, explorer.space().size());
    for (idx, point) in (0..).zip(&points) {
        assert_eq!(point.idx, idx);
        let configuration = explorer.space().configuration(idx);
        assert_eq!(
            plain_of(point),
            plain(request, &configuration),
            "{}",
            explorer.space().title(idx)
        );
    }
    points.iter().filter(|point| point.fitting().is_some()).count()
}

#[test]
fn points_equal_compare() {
    assert!(
        agrees(
            &small(),
            &[
                "policy=0,2,3,4",
                "atomic_clean_policy=0,1",
                "batch=1,16,64",
                "iterations=1,3"
            ]
        ) > 40
    );
    assert!(
        agrees(
            &small(),
            &[
                "eviction_threshold=None,4MiB..16MiB+3MiB",
                "policy=0,4",
                "remat_heuristic=megengine,lru"
            ]
        ) > 4
    );
    assert!(
        agrees(
            &sampled("bert"),
            &["policy=0,3", "batch=1,8", "graph_max_parallel_model_num=1,2"]
        ) > 4
    );
    assert!(
        agrees(
            &sampled("lenet"),
            &["simulation.device=generic-16GB,generic-80GB", "policy=0,2"]
        ) > 2
    );
    let tight = &["policy=0,2,3,4", "device_memory=2GiB..3584MiB+256MiB"];
    assert!(agrees(&sampled("resnet50"), tight) > 2);
}

/// Values that reveal whether an option is read: its choices, or its default and another one.
fn values(row: &OptionRow) -> Vec<Value> {
    let choices: Vec<Value> = row.kind.choices().into_iter().map(|(value, _)| value).collect();
    match row.kind {
        OptionKind::Bool => vec![Value::Bool(false), Value::Bool(true)],
        _ if !choices.is_empty() => choices,
        OptionKind::Int { min, max } => {
            let value = |number: i64| Value::Int(number.clamp(min, max));
            vec![Value::Unset, value(2), value(5000)]
        }
        OptionKind::Bytes { min, max } => {
            let value = |number: i64| Value::Int(number.clamp(min, max));
            vec![Value::Unset, value(9 << 20), value(1 << 32)]
        }
        OptionKind::Float { .. } => vec![Value::Unset, Value::Int(0), Value::Int(2)],
        OptionKind::ShapeRange => vec![Value::Unset, Value::from("getnext:[2~8,4096]")],
        OptionKind::List => vec![Value::Unset, Value::List(vec![Value::from("a")])],
        _ => vec![Value::Unset, Value::from("MatMul"), Value::from("Relu,0")],
    }
}

#[test]
fn every_option_that_changes_memory_parts_points() {
    let mut request = small();
    // With a threshold the options of recomputation act, too.
    request.options.set_text(keys::EVICTION_THRESHOLD, "12MiB").unwrap();
    let rows: Vec<&OptionRow> = TABLE.iter().filter(|row| row.affects_memory()).collect();
    assert!(rows.len() > 40);
    for row in rows {
        let axis = SweepAxis::option(row.key, values(row)).unwrap();
        let mut all = vec![axis];
        all.extend(axes(&request, &["iterations=1,2"]));
        let explorer = Explorer::new(&request, Space::new(request.configuration(), all).unwrap()).unwrap();
        for point in explore(&explorer) {
            let configuration = explorer.space().configuration(point.idx);
            assert_eq!(
                plain_of(&point),
                plain(&request, &configuration),
                "{}",
                explorer.space().title(point.idx)
            );
        }
    }
}

#[test]
fn forbidden_configurations_are_not_simulated() {
    let explorer = explorer(&small(), &["graph_max_parallel_model_num=1,2", "policy=0,2,3,4,7"]);
    let points = explore(&explorer);
    let refused: Vec<u64> = points
        .iter()
        .filter(|point| matches!(&point.outcome, Outcome::Refused(refusals) if !refusals.is_empty()))
        .map(|point| point.idx)
        .collect();
    assert_eq!(refused, [4, 6, 8, 9], "policy 7 is none; 2 and 4 beside two instances");
    assert!(points[6].why()[0].starts_with("R20: "), "{:?}", points[6].why());
    assert!(
        points
            .iter()
            .all(|point| point.figures().is_some() != refused.contains(&point.idx))
    );
}

#[test]
fn order_and_parts_do_not_matter() {
    let request = small();
    let texts = ["policy=0,2,3,4", "batch=1..64x2", "atomic_clean_policy=0,1"];
    let whole = explore(&explorer(&request, &texts));
    let explorer = explorer(&request, &texts);
    let cancel = Cancel::new();
    let progress = Progress::silent(&cancel);
    let mut odd: Vec<u64> = (0..explorer.space().size()).filter(|idx| idx % 2 == 1).collect();
    let even: Vec<u64> = (0..explorer.space().size()).filter(|idx| idx % 2 == 0).collect();
    odd.reverse();
    let mut seen = Vec::new();
    let mut parts = explorer
        .explore(&odd, &mut |point| seen.push(point.idx), &progress)
        .unwrap();
    seen.sort_unstable();
    odd.reverse();
    assert_eq!(seen, odd, "each is handed on once");
    parts.extend(explorer.explore(&even, &mut |_: &SweepPoint| {}, &progress).unwrap());
    parts.sort_by_key(|point| point.idx);
    assert_eq!(parts, whole);
}

#[test]
fn a_stop_keeps_delivered_points() {
    let explorer = explorer(&sampled("resnet50"), &["policy=0,2,3,4", "malloc_ns=1..50"]);
    let cancel = Cancel::new();
    let mut seen: Vec<SweepPoint> = Vec::new();
    let all: Vec<u64> = (0..200).collect();
    let mut on_point = |point: &SweepPoint| {
        seen.push(point.clone());
        if seen.len() == 3 {
            cancel.cancel();
        }
    };
    let ended = explorer.explore(&all, &mut on_point, &Progress::silent(&cancel));
    assert_eq!(ended, Err(Cancelled));
    assert!((3..200).contains(&seen.len()));
    let again = super::explorer(&sampled("resnet50"), &["policy=0,2,3,4", "malloc_ns=1..50"]);
    let progress = Cancel::new();
    for point in seen {
        assert_eq!(again.point(point.idx, &Progress::silent(&progress)), Ok(point));
    }
}

#[test]
fn devices_are_tried_with_their_own_memory() {
    let mut request = sampled("resnet50");
    request.options.set_text(keys::DEVICE_MEMORY, "1GiB").unwrap();
    let found = smallest(&explorer(&request, &[])).unwrap();
    assert_eq!(found.device.name, "generic-16GB", "although the device has 1 GiB");
    let mut huge = small();
    huge.plan.dims.insert("batch".to_owned(), vec![1 << 19]);
    assert_eq!(smallest(&explorer(&huge, &[])), None);
}

fn smallest(explorer: &Explorer) -> Option<SmallestDevice> {
    let points = explore(explorer);
    let cancel = Cancel::new();
    smallest_device(explorer, &points, &Progress::silent(&cancel)).unwrap()
}

#[test]
fn the_smallest_device_equals_brute_force() {
    let mut profiles = DeviceProfiles::bundled().unwrap().profiles;
    profiles.sort_by_key(|profile| profile.memory().get());
    for (batch, texts, wanted) in [
        (1, &["policy=0,2,3,4"][..], Some("generic-16GB")),
        (1 << 13, &["policy=0,2,3,4", "atomic_clean_policy=0,1"], None),
        (1 << 14, &["policy=0,2,3,4"], None),
        (1 << 15, &["device_memory=1GiB,2GiB", "policy=2,3"], None),
        (1 << 16, &["dim:batch=16384,65536"], None),
    ] {
        let mut request = small();
        request.plan.dims.insert("batch".to_owned(), vec![batch]);
        let explorer = explorer(&request, texts);
        let found = smallest(&explorer);
        let on = |name: &str, idx: u64| {
            let mut configuration = explorer.space().configuration(idx);
            configuration.options.reset(keys::DEVICE_MEMORY);
            configuration.options.set_text(keys::DEVICE, name).unwrap();
            plain(&request, &configuration).ok().filter(|figures| figures.4)
        };
        let of_profile = |name: &str| {
            let fitting = (0..explorer.space().size()).filter_map(|idx| on(name, idx).map(|figures| (figures, idx)));
            fitting.map(|(figures, idx)| (figures.3, figures.0, idx)).min()
        };
        let expected = profiles
            .iter()
            .find_map(|profile| of_profile(&profile.name).map(|best| (profile.name.clone(), best)));
        let told = found.map(|found| {
            let figures = found.point.fitting().unwrap();
            (
                found.device.name,
                (figures.overhead.0, figures.peak_reserved.get(), found.point.idx),
            )
        });
        assert_eq!(told, expected, "batch {batch}");
        if let Some(wanted) = wanted {
            assert_eq!(told.unwrap().0, wanted);
        }
    }
}

#[test]
fn an_axis_over_a_dimension_holds_in_every_run() {
    let mut request = small();
    let graph = request.workload.graphs()[0].name.clone();
    let mut entry = ScheduleEntry::run(graph);
    entry.dims.insert("batch".to_owned(), "3".parse().unwrap());
    request.plan.entries = vec![entry];
    let space = space(&request, &["dim:batch=2,3,5"]);
    let mut free = small();
    free.plan.dims.insert("batch".to_owned(), vec![5]);
    assert_eq!(agrees(&request, &["dim:batch=2,3,5"]), 3);
    let peaks: Vec<_> = (0..3)
        .map(|idx| plain(&request, &space.configuration(idx)).unwrap().0)
        .collect();
    assert!(peaks[0] < peaks[1] && peaks[1] < peaks[2], "{peaks:?}");
    assert_eq!(peaks[2], plain(&free, &free.configuration()).unwrap().0);
    assert_eq!(peaks[1], plain(&request, &request.configuration()).unwrap().0);
    assert_eq!(space.n_changes(1), 1, "the base has no value of the plan's own");
}

#[test]
fn traces_are_tried_and_recordings_are_not() {
    for (text, n_fitting) in [
        ("load A 100M\nexec A\nload B 300M\nexec B\nload C 200M\nexec C\n", 4),
        ("device 64M\na x 40M\na y 40M\na z 4M\nload A 90M\nexec A\n", 4),
    ] {
        let traces = vec![crate::replay::trace(text)];
        let source = Source::Traces(traces);
        let request = Request::new(Workload::new("trace".to_owned(), source), Configuration::default());
        assert_eq!(
            agrees(&request, &["policy=0,2,3,4", "device_memory=64MiB,1GiB"]),
            n_fitting,
            "{text}"
        );
    }
    let measured = sampled("measured");
    let error = Explorer::new(&measured, space(&measured, &["policy=0,2"])).unwrap_err();
    assert!(matches!(error, SweepError::NothingRuns { .. }));
    let none = Workload::new("none".to_owned(), Source::Graphs(Vec::new()));
    let none = Request::new(none, Configuration::default());
    assert!(Explorer::new(&none, space(&none, &["policy=0,2"])).is_err());
}

#[test]
fn a_capacity_is_the_memory_of_the_device() {
    let request = sampled("resnet50");
    for (gib, fits) in [(1, false), (4, true)] {
        let space = space(&request, &["policy=0,2"]).with_capacity(Bytes::gib(gib)).unwrap();
        for point in explore(&Explorer::new(&request, space).unwrap()) {
            assert_eq!(point.fitting().is_some(), fits);
            assert_eq!(point.figures().unwrap().capacity, Bytes::gib(gib));
        }
    }
}
