//! Pinned configurations as lanes: their figures equal those of the configuration on its own, on any axis; other lanes
//! do not depend on them; pins that cannot be lanes are reported; every view works on them.

use std::path::Path;
use std::sync::Arc;

use highwater::analysis::{
    COMPARED, Comparison, Fit, LaneGoal, LaneId, LaneSet, MAX_PINS, METRICS, Metric, Pin, RematLane, Request, compare,
    repin,
};
use highwater::diagnostics::Diagnostics;
use highwater::export::{EXPORT_FORMS, ExportAbout, ExportForm, ExportSubject};
use highwater::options::Options;
use highwater::progress::{Cancel, Progress};
use highwater::rewrite::remat::{Budget, HEURISTICS};
use highwater::script::ConfigDocument;
use highwater::session::{SAMPLES, SourceSpec};
use highwater::timeline::{
    Attribute, AxisKind, Changes, Coloring, ColoringRequest, LaneDifference, PeakAt, PeakContributors, PeakReport,
    PeakRequest, Timeline,
};
use highwater::units::Bytes;
use highwater::workload::{SchedulePlan, Workload};

use crate::support;
use crate::workloads::configuration;

const POLICY: &str = "memory_config.static_memory_policy";
const ATOMIC: &str = "memory_config.atomic_clean_policy";
const MEMORY: &str = "simulation.device_memory";
const THRESHOLD: &str = "dtr.eviction_threshold";

fn options(settings: &[(&str, &str)]) -> Options {
    let mut options = Options::new();
    for (key, text) in settings {
        options.set_text(key, text).expect("a known option");
    }
    options
}

fn request(workload: Workload, settings: &[(&str, &str)], dims: &[(&str, &[u64])]) -> Request {
    Request {
        search: 1_000.into(),
        ..Request::new(workload, configuration(settings, dims))
    }
}

fn plan(dims: &[(&str, &[u64])], iterations: u32) -> SchedulePlan {
    let mut plan = SchedulePlan {
        iterations,
        ..SchedulePlan::default()
    };
    for (name, values) in dims {
        plan.dims.insert((*name).to_owned(), values.to_vec());
    }
    plan
}

/// Pins of a request: name, settings, values, iterations.
type Row<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a [(&'a str, &'a [u64])], u32);

fn pinned(request: &Request, rows: &[Row<'_>]) -> Request {
    let mut request = request.clone();
    for (name, settings, dims, iterations) in rows {
        let mut configuration = request.configuration();
        configuration.options = options(settings);
        configuration.plan = plan(dims, *iterations);
        request.pins.push(Pin::new((*name).to_owned(), configuration));
    }
    request
}

fn run(request: &Request) -> Comparison {
    compare(request, &Progress::silent(&Cancel::new())).expect("the session is simulated")
}

fn sample(name: &str) -> Workload {
    let row = SAMPLES.iter().find(|row| row.name == name).expect("a bundled sample");
    let sources = [SourceSpec::Sample(row)];
    let loaded = highwater::session::load(
        &sources,
        false,
        highwater::session::OnFailure::Stop,
        &Progress::silent(&Cancel::new()),
    );
    Arc::unwrap_or_clone(loaded.expect(name).workload)
}

/// Figures without a step equal those of the pin on its own; curves reach them on the common axis.
#[track_caller]
fn check(request: &Request) -> Comparison {
    let comparison = run(request);
    assert_eq!(comparison.pin_failures, [], "every pin has a lane");
    let bare = run(&Request {
        pins: Vec::new(),
        ..request.clone()
    });
    assert_eq!(
        comparison.lanes[..bare.lanes.len()],
        bare.lanes,
        "other lanes are as without pins"
    );
    assert_eq!(comparison.axis, bare.axis);
    for (position, pin) in request.pins.iter().enumerate() {
        let number = bare.lanes.len() + position;
        let lane = &comparison.lanes[number];
        assert_eq!(
            (lane.id, lane.title.as_deref()),
            (LaneId::Pinned(position as u8), Some(&*pin.name))
        );
        let mut alone = request.configured(&pin.configuration).expect("a known device");
        for (name, values) in &request.plan.dims {
            alone.plan.dims.entry(name.clone()).or_insert_with(|| values.clone());
        }
        let alone = run(&alone);
        let own = &alone.lanes[0];
        for metric in METRICS {
            assert_eq!(metric.of(lane), metric.of(own), "{}: {}", pin.name, metric.name);
        }
        assert_eq!(lane.summary.overhead, own.summary.overhead, "{}", pin.name);
        assert_eq!(lane.simulation.events.len(), own.simulation.events.len());
        assert!(
            lane.simulation.events.iter().is_sorted_by_key(|event| event.step),
            "{}",
            pin.name
        );
        assert_eq!(lane.simulation.n_steps, comparison.axis.n_steps);
        for (curve, peak, step) in [
            (
                &lane.curves.reserved,
                lane.summary.peak_reserved,
                lane.summary.peak_reserved_step,
            ),
            (&lane.curves.live, lane.summary.peak_live, lane.summary.peak_live_step),
        ] {
            assert_eq!(curve.first_maximum(), (peak, step), "{}", pin.name);
        }
        assert_eq!(comparison.device_of(number).memory().get(), alone.device.memory().get());
        check_session(&comparison, number);
    }
    comparison
}

/// Live ranges lie within their runs and agree with the log.
fn check_session(comparison: &Comparison, lane: usize) {
    let session = comparison.session_of(lane);
    assert!(session.runs.len() >= comparison.axis.runs.len());
    for run in &session.runs {
        for item in &run.bound.program.lifetimes.items {
            assert!(
                item.birth < item.end && item.end.0 <= run.n_steps.max(1),
                "{item:?} in {} steps",
                run.n_steps
            );
        }
    }
    for (run, place) in session.runs.iter().zip(&comparison.axis.runs) {
        assert_eq!(
            (run.start, run.n_steps, run.graph),
            (place.start, place.n_steps, place.run.graph)
        );
    }
}

#[test]
fn figures_are_those_of_the_configuration_alone() {
    let mixed = request(sample("mixed"), &[], &[("batch", &[8]), ("seq", &[64, 128])]);
    check(&pinned(
        &mixed,
        &[
            ("same", &[], &[("batch", &[8]), ("seq", &[64, 128])], 1),
            (
                "policy 4",
                &[(POLICY, "4"), (ATOMIC, "1")],
                &[("batch", &[8]), ("seq", &[64, 128])],
                1,
            ),
            (
                "other values",
                &[(POLICY, "2")],
                &[("batch", &[16]), ("seq", &[128, 64])],
                1,
            ),
            ("fewer runs", &[(POLICY, "3")], &[("batch", &[8]), ("seq", &[128])], 1),
            (
                "more runs",
                &[(POLICY, "4")],
                &[("batch", &[1]), ("seq", &[32, 64, 96])],
                3,
            ),
            ("open", &[(POLICY, "2")], &[], 1),
            ("small device", &[(MEMORY, "64MiB")], &[], 1),
        ],
    ));
    let training = request(sample("resnet50"), &[], &[]);
    check(&pinned(
        &training,
        &[
            ("evicting", &[(THRESHOLD, "2GB"), (POLICY, "2")], &[], 1),
            ("evicting twice", &[(THRESHOLD, "3GB")], &[], 2),
            ("scratch", &[("simulation.workspace_estimate", "on")], &[], 1),
        ],
    ));
    // The axis itself has steps for recomputations.
    let evicting = request(sample("resnet50"), &[(THRESHOLD, "2GB")], &[]);
    check(&pinned(
        &evicting,
        &[
            ("plain", &[], &[], 1),
            ("more evicting", &[(THRESHOLD, "1500MB")], &[], 1),
        ],
    ));
}

#[test]
fn a_pin_that_is_as_the_options_is_their_lane() {
    let request = request(sample("mixed"), &[(POLICY, "2")], &[("batch", &[8]), ("seq", &[64])]);
    let comparison = check(&pinned(
        &request,
        &[("same", &[(POLICY, "2")], &[("batch", &[8]), ("seq", &[64])], 1)],
    ));
    let (pin, policy) = (
        comparison.lanes.last().unwrap(),
        comparison
            .lanes
            .iter()
            .find(|lane| lane.id == LaneId::Policy(comparison.active_policy))
            .unwrap(),
    );
    assert_eq!(
        (&pin.simulation, &pin.curves, &pin.summary),
        (&policy.simulation, &policy.curves, &policy.summary)
    );
    assert!(!pin.shares_steps);
    let timeline = Timeline::new(&comparison);
    let views = [timeline.lanes.last().unwrap(), &timeline.lanes[1]];
    assert_eq!(views[0].blocks, views[1].blocks);
}

#[test]
fn failed_pins_are_reported_and_other_lanes_stay() {
    let mut request = request(sample("mixed"), &[], &[("batch", &[8]), ("seq", &[64])]);
    request = pinned(
        &request,
        &[
            ("unknown device", &[("simulation.device", "generic-32GB")], &[], 1),
            ("good", &[(POLICY, "2")], &[], 1),
            ("too long", &[], &[], 4_000_000_000),
        ],
    );
    let unknown = &mut request.pins[0].configuration.options;
    unknown
        .set(
            "simulation.device",
            highwater::options::Value::Text("abacus".to_owned()),
        )
        .expect("any text");
    let comparison = run(&request);
    let lanes: Vec<LaneId> = comparison.lanes.iter().map(|lane| lane.id).skip(4).collect();
    assert_eq!(lanes, [LaneId::Pinned(1)]);
    let told: Vec<String> = comparison
        .pin_failures
        .iter()
        .map(|problem| format!("{} {}: {}", problem.position, problem.name, problem.why))
        .collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(
        told[0].starts_with("0 unknown device: ") && told[0].contains("abacus"),
        "{told:?}"
    );
    assert!(told[1].starts_with("2 too long: the schedule has "), "{told:?}");
    // More pins than lanes, a problem without a device, and graphs that are cut.
    request.pins = (0..MAX_PINS + 2)
        .map(|number| Pin::new(number.to_string(), request.configuration()))
        .collect();
    let comparison = run(&request);
    assert_eq!(
        (comparison.lanes.len(), comparison.pin_failures.len()),
        (4 + MAX_PINS, 2)
    );
    let training = self::request(sample("resnet50"), &[("graph_run_mode", "1")], &[]);
    let comparison = run(&pinned(&training, &[("inference", &[("graph_run_mode", "0")], &[], 1)]));
    let [problem] = &comparison.pin_failures[..] else {
        panic!("{:?}", comparison.pin_failures)
    };
    assert!(problem.why.contains("it runs other ops of"), "{problem:?}");
}

#[test]
fn pins_are_lanes_next_to_budgets_but_not_without_steps() {
    let mut training = request(sample("resnet50"), &[], &[]);
    training.lanes = LaneSet::Remat(vec![RematLane {
        heuristic: &HEURISTICS[0],
        budget: Budget::Ratio(0.6),
    }]);
    check(&pinned(&training, &[("policy 4", &[(POLICY, "4")], &[], 1)]));
    training.lanes = LaneSet::NameReuse;
    let comparison = run(&pinned(&training, &[("policy 4", &[(POLICY, "4")], &[], 1)]));
    assert_eq!((comparison.pin_failures.len(), comparison.lanes.len()), (1, 3));
}

#[test]
fn changing_pins_equals_a_new_comparison() {
    let plain = request(sample("bert"), &[], &[("batch", &[8]), ("seq", &[64])]);
    let of = |names: &[&str]| {
        let dims: &[(&str, &[u64])] = &[("batch", &[8]), ("seq", &[128])];
        let row = |name| -> Row<'_> {
            let settings: &[(&str, &str)] = if name == "policy 4" { &[(POLICY, "4")] } else { &[] };
            (name, settings, dims, if name == "too long" { 4_000_000_000 } else { 1 })
        };
        pinned(&plain, &names.iter().map(|name| row(*name)).collect::<Vec<_>>())
    };
    let mut known = run(&plain);
    for names in [
        &["plain"][..],
        &["plain", "policy 4"],
        &["policy 4", "renamed", "too long"],
        &["policy 4", "policy 4 again"],
        &[],
    ] {
        let request = of(names);
        known = repin(&known, &request, &Progress::silent(&Cancel::new())).expect("no cancel");
        let fresh = run(&request);
        assert!(known.lanes == fresh.lanes, "{names:?}");
        assert_eq!(known.pin_failures, fresh.pin_failures, "{names:?}");
    }
}

#[test]
fn lanes_are_found_by_their_names_and_say_whether_they_fit() {
    let request = request(sample("mixed"), &[], &[("batch", &[8]), ("seq", &[64])]);
    let comparison = run(&pinned(
        &request,
        &[
            ("small, N=1", &[(MEMORY, "64MiB")], &[], 1),
            ("2", &[(POLICY, "4")], &[], 1),
        ],
    ));
    for (name, lane) in [
        ("policy 2", 1),
        (" 3", 2),
        ("pinned small, N=1", 4),
        ("small, N=1", 4),
        // A pin's name takes precedence over the number of a policy.
        ("2", 5),
        ("pinned 2", 5),
    ] {
        assert_eq!(comparison.lane_named(name), Ok(lane), "{name}");
    }
    let known = comparison.lane_named("policy 7").unwrap_err();
    assert_eq!(
        known,
        "policy 0, policy 2, policy 3, policy 4, pinned small, N=1, pinned 2"
    );
    assert!(
        matches!(comparison.fit(4), Fit::OutOfMemory(Some(_))),
        "{:?}",
        comparison.fit(4)
    );
    assert!(matches!(comparison.fit(5), Fit::Yes { .. }));
    assert!(!comparison.fit(4).is_good() && comparison.fit(4).text().starts_with("no, out of memory"));
    for name in COMPARED {
        assert!(comparison.figure(4, Metric::find(name).expect(name)).is_some());
    }
}

/// Every view and every file works on lanes that share steps and on lanes that do not.
fn check_views(comparison: Comparison) {
    let comparison = Arc::new(comparison);
    let timeline = Arc::new(Timeline::new(&comparison));
    for lane in 0..comparison.lanes.len() {
        let report = PeakReport::new(
            &comparison,
            PeakRequest {
                lane,
                at: PeakAt::Peak,
                by: Attribute::Role,
                within: None,
                n_first: 5,
                against: Some(0),
            },
        );
        let report = report.expect("there are steps");
        let peak = comparison.lanes[lane].summary.peak_live;
        assert_eq!((report.peak.0, report.set.live), (peak, peak), "lane {lane}");
        let grouped: Bytes = report.groups.iter().map(|group| group.bytes).sum();
        assert_eq!(grouped + report.set.unlisted, peak, "lane {lane}");
        let holders = PeakContributors::new(&comparison, lane, usize::MAX).expect("there are steps");
        assert_eq!(holders.live, comparison.lanes[lane].summary.peak_live, "lane {lane}");
        let named: Bytes = holders.tensors.iter().map(|(_, bytes)| *bytes).sum();
        assert_eq!(named, holders.live, "lane {lane}");
        let base = PeakContributors::new(&comparison, 0, usize::MAX).expect("there are steps");
        let changes = Changes::new(&base, &holders);
        let told: i128 = changes
            .rows
            .iter()
            .filter(|row| row.is_tensor)
            .map(highwater::timeline::Change::difference)
            .sum();
        assert_eq!(told, changes.live, "lane {lane}");
        let ids = (comparison.lanes[0].id, comparison.lanes[lane].id);
        let difference = LaneDifference::new(&comparison.lanes[0], &comparison.lanes[lane]);
        assert_eq!(difference.lanes, ids);
    }
    let order = ColoringRequest::default();
    let subject = ExportSubject {
        look: Arc::new(Coloring::new(&comparison, &timeline, &order, None)),
        comparison,
        timeline,
        lanes: None,
        axis: AxisKind::Order,
        about: ExportAbout {
            sources: Vec::new(),
            goal: LaneGoal::default(),
            findings: Vec::new(),
            diagnostics: Diagnostics::new(),
            configuration: ConfigDocument::new(),
            commands: Vec::new(),
            beside: Vec::new(),
        },
    };
    for row in EXPORT_FORMS {
        let name = row.usual;
        let file = subject.file(row.form, Path::new(name), &Progress::silent(&Cancel::new()));
        let bytes = file.expect(name);
        assert!(!bytes.is_empty(), "{name}");
        if row.form == ExportForm::Report {
            let text = String::from_utf8(bytes).expect("UTF-8");
            for lane in &subject.comparison.lanes {
                let exact = lane.summary.peak_live.exact();
                assert!(text.contains(&format!("title=\"{exact}\"")), "{:?}: {exact}", lane.id);
            }
        }
    }
}

#[test]
fn every_view_works_on_pinned_lanes() {
    let mixed = request(sample("mixed"), &[], &[("batch", &[8]), ("seq", &[64, 128])]);
    check_views(run(&pinned(
        &mixed,
        &[
            (
                "other values",
                &[(POLICY, "2")],
                &[("batch", &[16]), ("seq", &[128])],
                1,
            ),
            (
                "more runs",
                &[(POLICY, "4")],
                &[("batch", &[1]), ("seq", &[32, 64, 96])],
                2,
            ),
        ],
    )));
    let training = request(sample("resnet50"), &[], &[]);
    check_views(run(&pinned(
        &training,
        &[("evicting", &[(THRESHOLD, "2GB"), (POLICY, "2")], &[], 1)],
    )));
}

#[test]
fn sessions_of_the_corpus_have_pins() {
    let Some(folder) = support::shared("corpus/made/onnx_light") else {
        return;
    };
    let files = support::files(&folder, ".onnx");
    let mut entries = Vec::new();
    for path in files.iter().take(12) {
        let bytes = std::fs::read(path).unwrap();
        let workload = crate::workloads::workload(&support::name(path), &bytes);
        let graphs = workload.graphs().iter().filter(|entry| entry.graph.ops().len() < 400);
        entries.extend(graphs.cloned());
    }
    for (number, graphs) in entries.chunks(3).enumerate().take(3) {
        let mut graphs = graphs.to_vec();
        for (position, entry) in graphs.iter_mut().enumerate() {
            entry.name = format!("{} {position}", entry.name);
        }
        let workload = Workload::new(format!("session {number}"), highwater::workload::Source::Graphs(graphs));
        let symbols = workload.symbols();
        let dims: Vec<(&str, &[u64])> = symbols.iter().map(|name| (name.as_str(), &[2_u64, 8][..])).collect();
        let other: Vec<(&str, &[u64])> = symbols.iter().map(|name| (name.as_str(), &[8_u64][..])).collect();
        let mut request = request(workload, &[(POLICY, "2")], &dims);
        request.plan.iterations = 2;
        let comparison = check(&pinned(
            &request,
            &[
                (
                    "all dynamic",
                    &[("compile_dynamic_mode", "True"), (POLICY, "4")],
                    &dims,
                    2,
                ),
                ("one value", &[(POLICY, "4")], &other, 3),
                ("small", &[(MEMORY, "32MiB")], &dims, 1),
            ],
        ));
        check_views(comparison);
    }
}
