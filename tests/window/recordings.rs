//! Recordings on the main screen: lower bounds, capacity, order of ranks, one number for one event.

use eframe::egui::{Key, Modifiers, Rect, Role, ViewportCommand};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use highwater_analysis::Figure;
use highwater_model::units::Step;
use highwater_options::keys;
use highwater_session::{Command, SourceSpec, sample};
use serde_json::Value as Json;

use crate::harness::{
    Window, apply, click, copied_text, is_in_front, press_and_settle, push, set_option, settle_chain, window_of_session,
};
use crate::sessions::session;
use crate::snapshots::{block, event, pickle, segment, snapshot};

const MIB: u64 = 1 << 20;
const BASE: u64 = 0x1000_0000;

fn source(name: &str, snapshot: &Json) -> SourceSpec {
    SourceSpec::Bytes {
        name: name.to_owned(),
        bytes: pickle(snapshot).into(),
    }
}

/// One segment of 1 MiB, and 8 MiB that are live outside of it.
fn partial() -> Json {
    let segments = vec![segment(BASE, MIB, "small", vec![block(BASE, MIB, MIB, "inactive")])];
    let trace = vec![
        event("alloc", BASE, 512, 10),
        event("alloc", BASE + 64 * MIB, 8 * MIB, 20),
        event("free_requested", BASE + 64 * MIB, 8 * MIB, 30),
        event("free_completed", BASE + 64 * MIB, 8 * MIB, 31),
        event("free_requested", BASE, 512, 40),
        event("free_completed", BASE, 512, 41),
    ];
    snapshot(segments, trace)
}

/// A rank that holds `mib` at its peak, the second of its events; all begin at the same time.
fn rank(mib: u64, offset_us: u64) -> Json {
    let bytes = (mib + 1) * MIB;
    let blocks = vec![block(BASE, bytes, bytes, "inactive")];
    let segments = vec![segment(BASE, bytes, "large", blocks)];
    let trace = vec![
        event("alloc", BASE, MIB, 10 + offset_us),
        event("alloc", BASE + MIB, mib * MIB, 20 + offset_us),
        event("free_requested", BASE + MIB, mib * MIB, 30 + offset_us),
        event("free_completed", BASE + MIB, mib * MIB, 31 + offset_us),
    ];
    snapshot(segments, trace)
}

fn ranks() -> Window {
    let sources = vec![
        source("rank_0.pickle", &rank(4, 0)),
        source("rank_1.pickle", &rank(16, 1)),
        source("rank_2.pickle", &rank(8, 2)),
    ];
    window_of_session(session(sources), 900.0)
}

/// The row of a recording in the table.
fn row(window: &Window, name: &str) -> (Rect, String) {
    let rows = window.query_all_by_role(Role::RadioButton);
    let mut rows = rows.filter_map(|node| {
        let label = node.accesskit_node().label().unwrap_or_default();
        let is_meant = label.contains(name) && label.contains('\n');
        is_meant.then(|| (node.rect(), label))
    });
    rows.next().expect("a row")
}

fn canvas<'w>(window: &'w Window, name: &str) -> egui_kittest::Node<'w> {
    let canvases = window.query_all_by_role(Role::Canvas);
    let mut canvases = canvases.filter(|node| {
        let label = node.accesskit_node().label().unwrap_or_default();
        label.contains(name) && label.ends_with("memory map")
    });
    canvases.next().expect("a lane")
}

/// What the canvas of a lane tells in words.
fn told(window: &Window, name: &str) -> String {
    canvas(window, name).accesskit_node().value().unwrap_or_default()
}

#[test]
fn a_snapshot_with_some_of_its_segments_has_lower_bounds() {
    let mut window = window_of_session(session(vec![source("part.pickle", &partial())]), 800.0);
    let session = window.state().session();
    let (comparison, _) = session.answer().expect("an answer");
    assert!(comparison.is_lower_bound(0));
    let bound = format!("\u{2265}\u{a0}{}", comparison.least_reserved(0));
    assert!(bound.contains("8.000"), "{bound}");
    let peaks = comparison.peak_difference(0, 0).map(|(difference, _)| difference.now);
    assert_eq!(peaks, Some(Figure::Bytes(comparison.least_reserved(0).get())));
    assert_eq!(comparison.shown_peak(0).step, Some(Step(1)), "not the first event");
    // The table, the panel, the curve.
    assert!(
        comparison.recordings[0]
            .facts()
            .iter()
            .any(|fact| fact.value.starts_with(&bound))
    );
    assert!(window.query_all_by_label_contains(&bound).count() > 0);
    assert!(told(&window, "device0").starts_with("peak live 8.000 MiB at event 1;"));
    // The sum of the Peak pane is that of the listed segments.
    press_and_settle(&mut window, Modifiers::SHIFT, Key::P);
    window.get_by_label_contains("\u{2265}\u{a0}1.000");
    assert!(window.query_by_label("explain peak reserved").is_none());
    assert!(window.query_all_by_label_contains(" blocks").count() > 0);
}

#[test]
fn recordings_say_whether_they_fit_and_a_device_is_chosen_for_them() {
    let mut window = window_of_session(session(vec![source("part.pickle", &partial())]), 800.0);
    window.get_by_label("capacity: no capacity");
    let chosen = |window: &Window| {
        let boxes = window.query_all_by_role(Role::ComboBox);
        let mut texts = boxes.filter_map(|node| node.accesskit_node().value());
        texts.any(|text| text == "not chosen")
    };
    assert!(chosen(&window));
    set_option(&mut window, keys::DEVICE_MEMORY, "6MiB");
    window.get_by_label_contains("Does not fit 6.000\u{a0}MiB: 2.000\u{a0}MiB above");
    window.get_by_label("capacity: 6\u{a0}MiB (generic-32GB)");
    assert!(!chosen(&window));
    let (comparison, timeline) = window.state().session().answer().expect("an answer");
    assert!(
        comparison.drawn_capacity(0, timeline.peak).is_some(),
        "a line in the lane"
    );
    let (_, label) = row(&window, "device0");
    assert!(
        label.contains("fits no") && label.contains("2.000\u{a0}MiB above the capacity"),
        "{label}"
    );
    window
        .state_mut()
        .apply(Command::set_option(keys::DEVICE_MEMORY, "64MiB"));
    window.state_mut().settle();
    let mut titles = Vec::new();
    for _ in 0..4 {
        window.run_steps(1);
        let output = window.output().viewport_output.values();
        titles.extend(
            output
                .flat_map(|viewport| &viewport.commands)
                .filter_map(|command| match command {
                    ViewportCommand::Title(title) => Some(title.clone()),
                    _ => None,
                }),
        );
    }
    assert!(titles.iter().any(|title| title.contains("64\u{a0}MiB")), "{titles:?}");
    window.get_by_label_contains("Fits 64.00\u{a0}MiB: 56.00\u{a0}MiB left");
}

#[test]
fn ranks_are_read_from_the_highest_peak_down() {
    let window = ranks();
    let tops = ["rank_1", "rank_2", "rank_0"].map(|name| row(&window, name).0.top());
    assert!(tops[0] < tops[1] && tops[1] < tops[2], "{tops:?}");
    let lanes = ["rank_1", "rank_2", "rank_0"].map(|name| {
        let mut canvases = window.query_all_by_role(Role::Canvas).filter(|node| {
            let label = node.accesskit_node().label().unwrap_or_default();
            label.contains(name) && label.ends_with("memory map")
        });
        canvases.next().expect("a lane").rect().top()
    });
    assert!(lanes[0] < lanes[1] && lanes[1] < lanes[2], "{lanes:?}");
    // The worst is selected, under the number that flags take.
    window.get_by_label_contains("Peak of lane 2: rank_1");
    let (comparison, _) = window.state().session().answer().expect("an answer");
    for (position, lane) in comparison.lanes.iter().enumerate() {
        let title = comparison.lane_title(lane.id);
        assert!(title.starts_with(&format!("lane {}: ", position + 1)), "{title}");
        assert_eq!(comparison.lane_named(&(position + 1).to_string()), Ok(position));
    }
    let (_, label) = row(&window, "rank_2");
    assert!(label.contains("diff +80.0 %"), "{label}");
    // Compare says the same, without columns that no recording has.
    let mut window = window;
    press_and_settle(&mut window, Modifiers::SHIFT, Key::V);
    assert!(window.query_all_by_label_contains("+80.0 %").count() >= 2);
    assert!(window.query_by_label("device calls").is_none() && window.query_by_label("not recorded").is_none());
}

#[test]
fn an_event_has_the_number_of_its_recording() {
    let mut window = ranks();
    let (comparison, _) = window.state().session().answer().expect("an answer");
    let on_axis = comparison.lanes[1].summary.peak_live_step.expect("a peak");
    assert!(on_axis > Step(1), "the axis counts the events of all");
    assert_eq!(comparison.step_text(1, on_axis), "event 1");
    assert_eq!(comparison.axis_step(1, Step(1)), Some(on_axis));
    assert_eq!(comparison.axis_text(), "events of all recordings");
    let words = comparison.recordings[1].facts();
    assert!(
        words
            .iter()
            .any(|fact| fact.label == "peak live" && fact.value.ends_with("at event 1"))
    );
    press_and_settle(&mut window, Modifiers::SHIFT, Key::P);
    window.get_by_label_contains("Peak live: event 1");
    click(&mut window, Role::Button, "Pin peak");
    window.get_by_label_contains("Pinned: event 1");
    let spot = window.state().lanes().spot.expect("a pinned step");
    assert_eq!((spot.lane, spot.step), (1, on_axis));
    // A selection in the Peak pane is one for all panes.
    window.get_by_label_contains("lane: lane 2: rank_1").click();
    window.run_steps(2);
    {
        let buttons = window.query_all_by_role(Role::Button);
        let mut entries = buttons.filter(|node| {
            let label = node.accesskit_node().label().unwrap_or_default();
            label.starts_with("lane 3: rank_2")
        });
        entries.next().expect("the lane in the list").click();
    }
    settle_chain(&mut window);
    click(&mut window, Role::Tab, "Inspector");
    window.get_by_label_contains("Peak of lane 3: rank_2");
}

/// What an engineer looks for after an out-of-memory is in the first line.
#[test]
fn a_log_of_a_failed_request_says_so_first() {
    let logs = include_str!("../mutate/seeds/plog.log").lines();
    let failed: Vec<&str> = logs.filter(|line| line.contains("Tried to allocate")).take(1).collect();
    let log = SourceSpec::Bytes {
        name: "plog.log".to_owned(),
        bytes: failed.concat().into_bytes().into(),
    };
    let mut harness = window_of_session(session(vec![log]), 800.0);
    click(&mut harness, Role::Tab, "Recordings");
    for text in ["a request failed: ", "The log tells of "] {
        assert!(harness.query_all_by_label_contains(text).next().is_some(), "{text}");
    }
}

/// A log with placements has a lane per policy, its own beside them, and its plan among the strategies.
#[test]
fn a_log_with_placements_is_simulated_beside_what_was_measured() {
    let record = |text: &str| format!("[INFO] GE(7,python3):2026-07-13-08:00:01.000.000 [a.cc:1]9 F:{text}\n");
    let log = [
        "PreRun start: graph node size 2, session id 0, graph id 11, graph name g.",
        "[IMAS]Set g_11 name[a] optype[Relu] output[0] offset to [0] streamid[0] memtype[2] size[1048576] realsize[1048576] \
         noalignsize[1048544] life time begin[1] life time end[2] child[0:1:0:0:1] isref[0] batch[], block_type[]",
        "[IMAS]InitFeatureMapAndP2PMem graph_11 MallocMemory type[F] memaddr[0x1] mem_size[1048576]Bytes",
    ];
    let log = SourceSpec::Bytes {
        name: "plog.log".to_owned(),
        bytes: log.map(record).concat().into_bytes().into(),
    };
    let mut harness = window_of_session(session(vec![log]), 800.0);
    for text in ["dynamic allocation", "static expansion", "python3 (7)"] {
        assert!(harness.query_all_by_label_contains(text).next().is_some(), "{text}");
    }
    click(&mut harness, Role::Tab, "Schedule");
    harness.get_by_label_contains("as the log says: 1 entry");
    push(&mut harness, Role::Button, "List all graphs");
    settle_chain(&mut harness);
    let session = harness.state().session();
    assert_eq!(session.document().plan.entries[0].graph, "graph_11");
    let (comparison, _) = session.answer().expect("an answer");
    assert_eq!(comparison.lanes.len(), 5);
    let mut choices = highwater_ui::panels::sweep::choices(comparison);
    assert!(choices.any(|row| row.name == highwater_plan::AS_LOGGED));
}

/// A log without memory over time has its page; the pane of lanes leads there.
#[test]
fn a_log_without_curves_is_no_error_of_the_window() {
    let record = "[INFO] GE(7,python3):2026-07-13-08:00:01.000.000 [a.cc:1]9 F:Total memory size is 34359738368\n";
    let log = SourceSpec::Bytes {
        name: "plog.log".to_owned(),
        bytes: record.as_bytes().into(),
    };
    let mut harness = window_of_session(session(vec![log]), 800.0);
    assert!(is_in_front(&harness, "Log"));
    click(&mut harness, Role::Tab, "Policies");
    push(&mut harness, Role::Button, "Show what the log tells");
    assert!(is_in_front(&harness, "Log"));
}

/// The story of a log is in front, with what to try; the tab is of logs alone.
#[test]
fn a_log_opens_with_its_story() {
    let text = include_bytes!("../../sample_traces/out_of_memory.plog");
    let log = SourceSpec::Bytes {
        name: "out_of_memory.plog".to_owned(),
        bytes: text.to_vec().into(),
    };
    let mut harness = window_of_session(session(vec![log]), 800.0);
    assert!(is_in_front(&harness, "Log"));
    for text in [
        "GE did not get 25.84\u{a0}GiB for graph 21",
        "Reduce the batch or shapes of graph 21",
        "GE evicted graph 11",
    ] {
        assert!(harness.query_all_by_label_contains(text).next().is_some(), "{text}");
    }
    let copied = copied_text(&mut harness, "Copy sentence").unwrap_or_default();
    assert!(copied.contains("no policy helps"), "{copied}");
    // The user's choice of a tab stays.
    click(&mut harness, Role::Tab, "Recordings");
    assert!(is_in_front(&harness, "Recordings"));
    let lstm = sample("lstm").expect("a sample");
    apply(&mut harness, Command::Open(vec![SourceSpec::Sample(lstm)]));
    assert!(harness.query_by_role_and_label(Role::Tab, "Log").is_none());
}

/// Two events before a request that fails, and one after it.
fn failing() -> Json {
    let used = vec![
        block(BASE, 4 * MIB, 4 * MIB, "active_allocated"),
        block(BASE + 4 * MIB, 16 * MIB, 0, "inactive"),
    ];
    let mut failed = event("oom", 2 * MIB, 64 * MIB, 30);
    failed["frames"] = serde_json::json!([{"filename": "/home/user/train.py", "name": "forward", "line": 30}]);
    let trace = vec![
        event("segment_alloc", BASE, 20 * MIB, 10),
        event("alloc", BASE, 4 * MIB, 20),
        failed,
        event("alloc", BASE + 4 * MIB, MIB, 40),
        event("free_requested", BASE + 4 * MIB, MIB, 50),
        event("free_completed", BASE + 4 * MIB, MIB, 51),
    ];
    snapshot(vec![segment(BASE, 20 * MIB, "large", used)], trace)
}

fn is_explained(window: &Window) -> bool {
    window.query_by_label("Failed request at event 2").is_some()
}

/// The mark of a failed request is clickable; the list and the pinned step lead to the same.
#[test]
fn a_failed_request_is_explained_in_the_inspector() {
    let mut window = window_of_session(session(vec![source("failed.pickle", &failing())]), 900.0);
    assert!(told(&window, "device0").contains("1 failed request, the first at event 2"));
    assert!(!is_explained(&window));
    let rect = canvas(&window, "device0").rect();
    let pos = eframe::egui::pos2(rect.left() + rect.width() * 2.0 / 6.0, rect.center().y);
    window.hover_at(pos);
    window.run_steps(1);
    window.drag_at(pos);
    window.run_steps(1);
    window.drop_at(pos);
    window.run_steps(3);
    assert!(is_explained(&window));
    for words in [
        "64.00",
        "forward (train.py:30)",
        "(reserved + free)",
        "No setting could have served it",
    ] {
        assert!(window.query_all_by_label_contains(words).count() > 0, "{words}");
    }
    click(&mut window, Role::Button, "Show the peak");
    assert!(!is_explained(&window));
    click(&mut window, Role::Button, "failed request at event 2");
    assert!(is_explained(&window));
}
