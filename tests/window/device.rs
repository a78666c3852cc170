//! The device panel: pictures of a step that the worker makes, pools with free lists, regions, the end out of memory.

use eframe::egui::{self, Key, Modifiers, Role};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use highwater_analysis::LaneId;
use highwater_model::units::Step;
use highwater_model::workload::DeviceFigure;
use highwater_session::{Command, Session};
use highwater_sim::{RegionKind, StaticMemoryPolicy, picture};
use highwater_timeline::TickClass;

use crate::harness::{Window, click_label, press, press_and_settle, push_label, settle, window_of_session};
use crate::sessions::{session, source};

/// A graph whose sizes change from run to run, so that pools serve it.
const CHAIN: &str = r#"{"highwater_graph": 1, "name": "chain", "nodes": [
    {"name": "a", "op": "A", "inputs": ["x"], "outputs": [{"id": "p", "shape": ["seq", 1024], "dtype": "float32"}]},
    {"name": "b", "op": "B", "inputs": ["p"], "outputs": [{"id": "q", "shape": ["seq", 1024], "dtype": "float32"}]},
    {"name": "c", "op": "C", "inputs": ["p", "q"], "outputs": [{"id": "r", "shape": ["seq"], "dtype": "float32"}]},
    {"name": "d", "op": "D", "inputs": ["r"], "outputs": [{"id": "z", "shape": ["seq"], "dtype": "float32"}]}],
  "inputs": [{"id": "x", "shape": ["seq", 8], "dtype": "float32"}], "outputs": ["z"]}"#;

fn chain() -> Session {
    let mut session = session(vec![source("chain.json", CHAIN)]);
    session.apply(Command::SetDim {
        name: "seq".to_owned(),
        values: vec![512, 3000, 64],
    });
    session.settle();
    session
}

fn window(session: Session) -> Window {
    let mut harness = window_of_session(session, 900.0);
    press_and_settle(&mut harness, Modifiers::NONE, Key::M);
    harness
}

const LANE: LaneId = LaneId::Policy(StaticMemoryPolicy::DynamicExtend);

#[test]
fn the_worker_draws_the_device_and_the_newest_wish_wins() {
    let mut session = chain();
    for step in 0..8 {
        session.apply(Command::PictureDevice(LANE, Step(step)));
    }
    assert!(
        !session.device_picture().has(&(LANE, Step(7))),
        "nobody waits for the worker"
    );
    session.settle();
    assert!(session.device_picture().has(&(LANE, Step(7))));
    let (comparison, _) = session.answer().expect("an answer");
    let lane = comparison.lanes.iter().find(|lane| lane.id == LANE).expect("a lane");
    let known = session.device_picture().last().expect("a picture");
    assert_eq!(known.picture, picture(&lane.simulation, Step(7)));
    // An edit makes another answer: what is known stays, but is not of it.
    session.apply(Command::SetIterations(2));
    session.settle();
    assert!(session.device_picture().last().is_some() && !session.device_picture().has(&(LANE, Step(7))));
    session.apply(Command::PictureDevice(LANE, Step(7)));
    session.settle();
    assert!(session.device_picture().has(&(LANE, Step(7))));
}

fn at(harness: &Window) -> String {
    let line = harness.get_by_label_contains("chain runs");
    line.accesskit_node().value().unwrap_or_default()
}

#[test]
fn the_panel_shows_pools_free_lists_and_regions_of_the_pinned_step() {
    let mut harness = window(chain());
    harness.get_by_label("Pools of dynamic memory");
    harness.get_by_label("outline the device pool in the memory map");
    push_label(&mut harness, "outline the pool of chain in the memory map");
    assert!(harness.query_by_label("Physical pages").is_none(), "policy 0 has none");
    click_label(&mut harness, "device under policy 3");
    harness.get_by_label("Physical pages");
    let before = at(&harness);
    press_and_settle(&mut harness, Modifiers::NONE, Key::K);
    assert_ne!(at(&harness), before);
    press_and_settle(&mut harness, Modifiers::NONE, Key::J);
    assert_eq!(at(&harness), before);
    press_and_settle(&mut harness, Modifiers::NONE, Key::OpenBracket);
    assert_ne!(at(&harness), before);
    harness.get_by_label("sorted in reverse by reserved");
    push_label(&mut harness, "sort by live");
    harness.get_by_label("sorted in reverse by live");
    let session = harness.state().session();
    let known = session.device_picture().last().expect("a picture");
    assert_eq!(known.lane, LANE);
    assert!(
        known
            .picture
            .regions
            .iter()
            .any(|row| row.kind == RegionKind::PagedRange)
    );
    let row = harness.get_by_label_contains("paged range of chain, in the memory map");
    row.click();
    harness.run_steps(2);
    press_and_settle(&mut harness, Modifiers::NONE, Key::Escape);
}

#[test]
fn nothing_of_the_panel_is_cut_off_and_all_has_a_name() {
    let harness = window(chain());
    let mut n_seen = 0;
    for role in [Role::Button, Role::RadioButton, Role::Label, Role::ProgressIndicator] {
        for node in harness.query_all_by_role(role) {
            let rect = node.rect();
            if rect.left() > 1012.0 && rect.top() > 50.0 {
                n_seen += 1;
                assert!(
                    rect.right() <= 1280.5,
                    "{:?} ends at {}",
                    node.accesskit_node().label(),
                    rect.right()
                );
                assert!(
                    role == Role::Label || !node.accesskit_node().label().unwrap_or_default().is_empty(),
                    "a {role:?} at {rect:?} has no name"
                );
            }
        }
    }
    assert!(n_seen > 20, "{n_seen}");
}

#[test]
fn a_lane_that_runs_out_tells_its_story() {
    let mut session = chain();
    session.apply(Command::set_option("simulation.device_memory", "20971520"));
    session.settle();
    let mut harness = window(session);
    let (comparison, timeline) = harness.state().session().answer().expect("an answer");
    let lane = &comparison.lanes[0];
    assert!(lane.simulation.out_of_memory.is_some());
    assert_eq!(timeline.lanes[0].ticks.totals()[TickClass::Trouble as usize], 1);
    click_label(&mut harness, "device under policy 0");
    // The last event is the request that failed.
    for _ in 0..20 {
        press(&mut harness, Modifiers::NONE, Key::CloseBracket);
    }
    settle(&mut harness);
    assert!(harness.query_by_label_contains("Out of memory at").is_some());
}

#[test]
fn a_problem_has_no_device() {
    let problem = "id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\n";
    let harness = window(session(vec![source("two.csv", problem)]));
    assert!(harness.query_by_role_and_label(Role::Tab, "Device").is_none());
}

/// The events of step 0 are at the left edge, between curve and map.
#[test]
fn a_click_on_events_pins_their_step_and_shows_the_device() {
    let mut harness = window_of_session(chain(), 800.0);
    let canvas = harness.get_by_label("lane policy 0 memory map").rect();
    let is_shown = |harness: &Window| harness.query_by_label("Device under policy").is_some();
    assert!(!is_shown(&harness));
    let mut y = canvas.top() + 2.0;
    while y < canvas.bottom() && !is_shown(&harness) {
        let pos = egui::pos2(canvas.left() + 3.0, y);
        harness.hover_at(pos);
        harness.run_steps(1);
        harness.drag_at(pos);
        harness.run_steps(1);
        harness.drop_at(pos);
        harness.run_steps(3);
        y += 3.0;
    }
    assert!(is_shown(&harness));
    settle(&mut harness);
    let known = harness.state().session().device_picture().last().expect("a picture");
    assert_eq!(known.picture.step, Step(0));
}

#[test]
fn figures_of_the_device_are_set_by_slider_and_field_and_reset() {
    let mut harness = window(chain());
    let memory = |harness: &Window| harness.state().session().document().device().memory().get();
    let before = memory(&harness);
    harness.get_by_role_and_label(Role::Slider, "capacity").focus();
    harness.run_steps(1);
    press(&mut harness, Modifiers::NONE, Key::ArrowRight);
    press_and_settle(&mut harness, Modifiers::NONE, Key::ArrowRight);
    assert!(memory(&harness) > before, "{}", memory(&harness));
    harness.get_by_label("set by you");
    // The way of the slider is one step.
    press_and_settle(&mut harness, Modifiers::COMMAND, Key::Z);
    assert_eq!(memory(&harness), before);
    assert!(harness.query_by_label("set by you").is_none());

    harness.get_by_role_and_label(Role::TextInput, "exact bytes").focus();
    harness.run_steps(1);
    press(&mut harness, Modifiers::COMMAND, Key::A);
    harness
        .get_by_role_and_label(Role::TextInput, "exact bytes")
        .type_text("5GiB");
    settle(&mut harness);
    assert_eq!(memory(&harness), 5 << 30);
    click_label(&mut harness, "reset memory to the profile's value");
    assert_eq!(memory(&harness), before);

    harness.get_by_label_contains("Timings: 11 of 12 assumed").click();
    harness.run_steps(12);
    harness.get_by_role_and_label(Role::TextInput, "driver malloc").focus();
    harness.run_steps(1);
    press(&mut harness, Modifiers::COMMAND, Key::A);
    harness
        .get_by_role_and_label(Role::TextInput, "driver malloc")
        .type_text("nothing");
    harness.run_steps(2);
    harness.get_by_label_contains("malloc_ns is \"nothing\"");
    // Enter leaves it to be mended, with what is wrong.
    press(&mut harness, Modifiers::NONE, Key::Enter);
    harness.get_by_label_contains("malloc_ns is \"nothing\"");
    harness.get_by_role_and_label(Role::TextInput, "driver malloc").focus();
    harness.run_steps(1);
    press(&mut harness, Modifiers::COMMAND, Key::A);
    harness
        .get_by_role_and_label(Role::TextInput, "driver malloc")
        .type_text("0.5 us");
    settle(&mut harness);
    assert_eq!(
        harness
            .state()
            .session()
            .document()
            .device()
            .figure(DeviceFigure::MallocNs),
        500
    );
    harness.get_by_label_contains("Timings: 10 of 12 assumed, 1 set by you");
}

/// A snapshot of PyTorch: a segment with a block, a gap and a block that waits for its stream, and a free segment of another
/// stream in a private pool; one annotation.
const SNAPSHOT: &str = "(dVsegments\n(l(dVaddress\nL4096L\nsVtotal_size\nL4096L\nsVstream\nL0L\nsVsegment_type\nVsmall\n\
    sVsegment_pool_id\n(lL0L\naL0L\nasVblocks\n(l(dVaddress\nL4096L\nsVsize\nL512L\nsVrequested_size\nL496L\n\
    sVstate\nVactive_allocated\nsa(dVaddress\nL4608L\nsVsize\nL1536L\nsVrequested_size\nL0L\nsVstate\n\
    Vinactive\nsa(dVaddress\nL6144L\nsVsize\nL2048L\nsVrequested_size\nL2048L\nsVstate\nVactive_pending_free\n\
    sasa(dVaddress\nL32768L\nsVtotal_size\nL8192L\nsVstream\nL9L\nsVsegment_type\nVlarge\nsVsegment_pool_id\n\
    (lL0L\naL4L\nasVblocks\n(l(dVaddress\nL32768L\nsVsize\nL8192L\nsVrequested_size\nL0L\nsVstate\nVinactive\n\
    sasasVdevice_traces\n(l(l(dVaction\nValloc\nsVaddr\nL4096L\nsVsize\nL496L\nsVtime_us\nL5L\nsa(dVaction\n\
    Valloc\nsVaddr\nL6144L\nsVsize\nL2048L\nsVtime_us\nL6L\nsa(dVaction\nVfree_requested\nsVaddr\nL6144L\n\
    sVsize\nL2048L\nsVtime_us\nL7L\nsaasVexternal_annotations\n(l(dVstage\nVSTART\nsVname\nVProfilerStep#7\n\
    sVdevice\nL0L\nsVtime_us\nL5L\nsa(dVstage\nVEND\nsVname\nVProfilerStep#7\nsVdevice\nL0L\nsVtime_us\nL7L\n\
    sas.";

fn event_at(harness: &Window) -> u32 {
    let known = harness
        .state()
        .session()
        .device_picture()
        .last()
        .expect("the worker answers");
    known.recorded.as_ref().expect("a recorded lane").event.0
}

#[test]
fn the_allocator_of_a_recording_is_listed_segment_by_segment() {
    let mut harness = window(session(vec![source("snapshot.pickle", SNAPSHOT)]));
    harness.get_by_label("Segments: 2");
    for text in ["inactive split", "largest free block", "1000", "8000"] {
        harness.get_by_label(text);
    }
    // A narrow pane shows all figures; a wide one has the pools, too.
    let size = harness.ctx.content_rect().size();
    let inactive = harness.get_by_label("sort by inactive or free bytes").rect();
    assert!(inactive.right() <= size.x, "{inactive:?}");
    // The events around the step, of which one is shown; a click and a key go to another.
    assert_eq!(event_at(&harness), 1);
    harness.get_by_label("The file states no call stack of this event.");
    click_label(&mut harness, "event 2");
    settle(&mut harness);
    assert_eq!(event_at(&harness), 2);
    press_and_settle(&mut harness, Modifiers::NONE, Key::J);
    assert_eq!(event_at(&harness), 1);
    // Each pool over time: a click goes to its first event.
    harness.get_by_label("private pool (0, 4) of stream 9 over time");
    let picture = harness.get_by_label("default pool of stream 0 over time").rect();
    let first = picture.left_center() + eframe::egui::vec2(2.0, 0.0);
    harness.hover_at(first);
    harness.run_steps(2);
    harness.drag_at(first);
    harness.run_steps(2);
    harness.drop_at(first);
    settle(&mut harness);
    assert_eq!(event_at(&harness), 0);
    click_label(&mut harness, "event 1");
    settle(&mut harness);
    // A click on a segment finds its blocks.
    let segment = harness.get_by_label("1000").rect().center();
    harness.drag_at(segment);
    harness.run_steps(2);
    harness.drop_at(segment);
    harness.run_steps(3);
    let search = &harness.state().session().search().text;
    assert!(search.starts_with("address:0x1000..0x1fff live:"), "{search}");
    harness.set_size(eframe::egui::vec2(2600.0, size.y));
    harness.run_steps(3);
    for text in ["0x1000", "0x8000", "Pools: 2"] {
        harness.get_by_label(text);
    }
    // In the sums of pools, and in its segment.
    assert_eq!(harness.query_all_by_label("9, large, private (0, 4)").count(), 2);
    harness.get_by_label("sorted by address of segments");
    push_label(&mut harness, "sort by size of segments");
    harness.get_by_label("sorted in reverse by size of segments");
    let session = harness.state().session();
    let known = session.device_picture().last().expect("the worker answers");
    let allocator = known
        .recorded
        .as_ref()
        .and_then(|recorded| recorded.allocator.as_ref())
        .expect("the file lists segments");
    assert_eq!((allocator.segments.len(), allocator.sums.gaps), (2, 1));
    let (_, timeline) = session.answer().expect("an answer");
    let names: Vec<&str> = timeline.bands.annotations[0].iter().map(|band| &*band.name).collect();
    assert_eq!(names, ["ProfilerStep#7"]);
}
