//! Device profiles: every figure has a source or a reason, and figures set by the user are marked everywhere.

use highwater::options::{Environment, NoFiles};
use highwater::options::{Options, figure_option, find, lower, resolve_device};
use highwater::units::Bytes;
use highwater::workload::{Basis, DeviceFigure, DeviceProfiles};

use crate::cli::{fails, json, run};

const PROFILES: [&str; 12] = [
    "generic-16GB",
    "generic-24GB",
    "generic-32GB",
    "generic-64GB",
    "generic-80GB",
    "ascend-310P",
    "ascend-910A",
    "ascend-910B1",
    "ascend-910B2",
    "ascend-910B3",
    "ascend-910B4",
    "ascend-910B4-1",
];

#[test]
fn every_figure_of_every_profile_rests_on_something() {
    let profiles = DeviceProfiles::bundled().unwrap().profiles;
    let names: Vec<&str> = profiles.iter().map(|profile| profile.name.as_str()).collect();
    assert_eq!(names, PROFILES);
    for device in &profiles {
        for figure in DeviceFigure::ALL {
            assert!(device.figure(figure) > 0, "{}: {}", device.name, figure.name());
            match device.basis(figure) {
                Basis::Source(text) | Basis::Estimate(text) => assert!(text.len() > 20, "{text}"),
                Basis::User => panic!("{}: nobody set {}", device.name, figure.name()),
            }
        }
        // No vendor publishes the cost of driver calls.
        let (estimated, set) = device.marks();
        assert!(
            set.is_empty() && estimated.contains(&DeviceFigure::MallocNs),
            "{}",
            device.name
        );
        let is_known = !matches!(device.basis(DeviceFigure::MemoryBytes), Basis::Estimate(_));
        assert_eq!(is_known, device.name != "ascend-910B1", "{}", device.name);
        assert!(device.marks_sentence().contains("driver malloc"));
    }
    let gib = |name: &str| DeviceProfiles::bundled().unwrap().find(name).unwrap().memory();
    assert_eq!(gib("ascend-310P"), Bytes::gib(24));
    assert_eq!(gib("ascend-910B4"), Bytes::gib(32));
    assert_eq!(gib("ascend-910B3"), Bytes::gib(64));
}

#[test]
fn figures_that_are_set_say_so_and_reach_the_engine() {
    let mut options = Options::new();
    options.set_text("simulation.device", "ascend-910B2").unwrap();
    for (position, figure) in (0_u64..).zip(DeviceFigure::ALL) {
        options
            .set_text(figure_option(figure), &(1000 + position).to_string())
            .unwrap();
    }
    let device = resolve_device(&options).unwrap();
    let (estimated, set) = device.marks();
    assert!(estimated.is_empty());
    assert_eq!(set, DeviceFigure::ALL);
    assert_eq!(
        device.text_with_mark(DeviceFigure::MallocNs),
        "1.00\u{a0}µs, set by you"
    );
    assert!(device.marks_sentence().starts_with("set by you: memory, driver malloc"));
    let lowered = lower(&options, &Environment::new(), &device, &NoFiles);
    let params = &lowered.params;
    let figures = [
        (DeviceFigure::MemoryBytes, params.device_bytes.get()),
        (DeviceFigure::MallocNs, params.malloc_cost.0),
        (DeviceFigure::FreeNs, params.free_cost.0),
        (DeviceFigure::MapNs, params.map_cost.0),
        (DeviceFigure::UnmapNs, params.unmap_cost.0),
        (DeviceFigure::ReserveNs, params.reserve_cost.0),
        (DeviceFigure::SyncNs, params.sync_cost.0),
        (DeviceFigure::LaunchNs, params.launch_cost.0),
        (DeviceFigure::FlopsPerSecond, lowered.rates.flops_per_second),
        (DeviceFigure::MemoryBytesPerSecond, lowered.rates.bytes_per_second),
        (DeviceFigure::ClearBytesPerSecond, params.memset_bytes_per_second),
        (DeviceFigure::HostBytesPerSecond, params.reload_bytes_per_second),
    ];
    for (figure, value) in figures {
        assert_eq!(value, device.figure(figure), "{}", figure.name());
    }
    assert!(lowered.estimates.is_empty(), "what the user sets is no estimate");
    // After a reset the profile's figure is back, with its basis.
    options.reset(figure_option(DeviceFigure::MapNs));
    let device = resolve_device(&options).unwrap();
    assert_eq!(
        device.marks(),
        (
            vec![DeviceFigure::MapNs],
            DeviceFigure::ALL
                .into_iter()
                .filter(|figure| *figure != DeviceFigure::MapNs)
                .collect()
        )
    );
    assert_eq!(device.figure(DeviceFigure::MapNs), 60_000);
}

#[test]
fn figures_have_names_of_their_own_and_options_with_the_same_unit() {
    let mut names: Vec<&str> = DeviceFigure::ALL.iter().map(|figure| figure.name()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), DeviceFigure::ALL.len());
    for figure in DeviceFigure::ALL {
        let row = find(figure_option(figure)).expect("an option of the table");
        let unit = row.unit.unwrap_or_default().replace(" a ", " per ");
        assert_eq!(unit, figure.unit().name(), "{}", row.key);
    }
}

#[test]
fn damaged_profiles_are_refused_with_their_place() {
    let profile = |figures: &str| {
        format!(
            r#"{{"bases": {{"known": "a source"}}, "profiles": [{{"name": "x", "summary": "y", "figures": {{{figures}}}}}]}}"#
        )
    };
    for (text, expected) in [
        ("{".to_owned(), "EOF"),
        (profile(""), "x, memory_bytes: it is missing"),
        (
            profile(r#""memory_bytes": {"value": 1}"#),
            "either a source or an estimate",
        ),
        (
            profile(r#""memory_bytes": {"value": 1, "source": "known", "estimate": "known"}"#),
            "either a source or an estimate",
        ),
        (
            profile(r#""memory_bytes": {"value": 1, "source": "other"}"#),
            "no basis \"other\"",
        ),
        (
            profile(r#""memory": {"value": 1, "source": "known"}"#),
            "unknown variant",
        ),
    ] {
        let error = DeviceProfiles::read(&text).expect_err(&text).to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn the_command_lists_profiles_and_compare_states_the_basis_of_figures() {
    let all = json(&["devices", "--format", "json"], 0);
    let devices = all["devices"].as_array().unwrap();
    assert_eq!(devices.len(), PROFILES.len());
    for device in devices {
        let figures = device["figures"].as_array().unwrap();
        assert_eq!(figures.len(), DeviceFigure::ALL.len());
        assert!(figures.iter().all(|figure| figure["why"].is_string()));
    }
    let one = json(
        &[
            "devices",
            "ascend-310P",
            "--set",
            "simulation.malloc_ns=7",
            "--format",
            "json",
        ],
        0,
    );
    let malloc = &one["devices"][0]["figures"][1];
    assert_eq!(
        *malloc,
        serde_json::json!({
            "figure": "malloc_ns", "value": 7, "unit": "nanoseconds", "basis": "set", "why": null,
            "option": "simulation.malloc_ns",
        })
    );
    let text = String::from_utf8(run(&["devices", "ascend-910B2"]).stdout).unwrap();
    assert!(
        text.contains("memory bandwidth") && text.contains("source: 1.6 TB/s"),
        "{text}"
    );
    assert!(text.contains("estimate: no vendor publishes"), "{text}");
    fails(&["devices", "abacus"], "ascend-310P");
    fails(&["devices", "--format", "csv"], "text or json");

    let text = run(&[
        "compare",
        "sample:mobilenet",
        "--device",
        "ascend-910B1",
        "--set",
        "simulation.free_ns=9",
    ]);
    let text = String::from_utf8(text.stdout).unwrap().replace('\u{a0}', " ");
    assert!(text.contains("device ascend-910B1 with 64.00 GiB, estimate"), "{text}");
    assert!(
        text.contains("figures of ascend-910B1 are estimates (memory, driver malloc"),
        "{text}"
    );
    assert!(text.contains("set by you: driver free"), "{text}");
    let answer = json(
        &[
            "compare",
            "sample:mobilenet",
            "--device-memory",
            "1GiB",
            "--format",
            "json",
        ],
        0,
    );
    assert_eq!(answer["device"]["figures"][0]["basis"], "set");
    assert_eq!(answer["device"]["figures"][0]["value"], 1_u64 << 30);
    assert_eq!(answer["device"]["figures"][1]["basis"], "estimate");
}
