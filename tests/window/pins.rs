//! Pins in the window: pinned by key and by button under a name that is asked for, as lanes with a badge, and in the pane that puts
//! lanes side by side; renamed, moved, used and removed by keyboard and pointer.

use eframe::egui::{Key, Modifiers, Role};
use egui_kittest::kittest::Queryable as _;
use highwater_analysis::{COMPARED, LaneId, Metric};
use highwater_model::units::Bytes;
use highwater_session::Command;
use highwater_sim::StaticMemoryPolicy;

use crate::harness::{
    Window, apply, click, click_label, press, press_and_settle, push, set_option, settle, window_of, window_of_session,
};
use crate::sessions::{SYMBOLIC, session, source};

fn names(harness: &Window) -> Vec<String> {
    harness.state().session().names_of_pins().map(str::to_owned).collect()
}

/// Pins what is set by its key, under the name that is offered, or another.
fn pin(harness: &mut Window, name: Option<&str>) {
    press(harness, Modifiers::COMMAND, Key::D);
    if let Some(name) = name {
        harness.get_by_role_and_label(Role::TextInput, "Name").type_text(name);
        harness.run_steps(2);
    }
    press_and_settle(harness, Modifiers::NONE, Key::Enter);
}

/// Opens the menu of a pin and chooses an entry of it.
fn choose(harness: &mut Window, pin: &str, entry: &str) {
    let label = format!("menu of pin {pin}");
    push(harness, Role::Button, &label);
    click_label(harness, entry);
}

fn cell(harness: &Window, part: &str) -> bool {
    harness.query_all_by_label_contains(part).next().is_some()
}

#[test]
fn a_pin_is_asked_for_a_name_and_becomes_a_lane() {
    let mut harness = window_of("mixed", 1400.0);
    set_option(&mut harness, "memory_config.static_memory_policy", "4");
    press(&mut harness, Modifiers::COMMAND, Key::D);
    assert!(
        cell(&harness, "memory_config.static_memory_policy: 4"),
        "the prompt says what is special"
    );
    press(&mut harness, Modifiers::NONE, Key::Escape);
    assert_eq!(names(&harness), [""; 0], "Escape pins nothing");
    pin(&mut harness, None);
    assert_eq!(names(&harness), ["policy 4"]);
    assert!(cell(&harness, "pinned policy 4"), "the lane has a row");
    // The same name again is refused with a sentence, and the field keeps the keyboard.
    press(&mut harness, Modifiers::COMMAND, Key::D);
    harness
        .get_by_role_and_label(Role::TextInput, "Name")
        .type_text("policy 4");
    harness.run_steps(2);
    assert!(cell(&harness, "a pin \"policy 4\" exists already"));
    press(&mut harness, Modifiers::NONE, Key::Enter);
    assert_eq!(names(&harness).len(), 1);
    harness
        .get_by_role_and_label(Role::TextInput, "Name")
        .type_text("again");
    harness.run_steps(2);
    click(&mut harness, Role::Button, "Pin");
    assert_eq!(names(&harness).len(), 2);
    // The button beside the options asks, too.
    let buttons = harness.query_all_by_role_and_label(Role::Button, "Pin this configuration…");
    buttons.last().expect("beside the session").click();
    harness.run_steps(3);
    assert!(harness.query_by_role_and_label(Role::TextInput, "Name").is_some());
}

#[test]
fn pins_are_used_renamed_moved_and_removed_in_their_pane() {
    let mut harness = window_of("mixed", 1400.0);
    pin(&mut harness, Some("plain"));
    set_option(&mut harness, "memory_config.static_memory_policy", "4");
    pin(&mut harness, Some("four"));
    press_and_settle(&mut harness, Modifiers::SHIFT, Key::V);
    choose(&mut harness, "four", "Move up");
    assert_eq!(names(&harness), ["four", "plain"]);
    choose(&mut harness, "plain", "Duplicate");
    assert_eq!(names(&harness), ["four", "plain", "plain (2)"]);
    choose(&mut harness, "plain", "Apply");
    assert!(
        !harness
            .state()
            .session()
            .document()
            .options
            .is_set("memory_config.static_memory_policy")
    );
    choose(&mut harness, "plain (2)", "Remove");
    choose(&mut harness, "four", "Rename…");
    harness
        .get_by_role_and_label(Role::TextInput, "new pin name")
        .type_text(" and more");
    harness.run_steps(2);
    press_and_settle(&mut harness, Modifiers::NONE, Key::Enter);
    assert_eq!(names(&harness), ["four and more", "plain"]);
    press_and_settle(&mut harness, Modifiers::COMMAND, Key::Z);
    assert_eq!(names(&harness), ["four", "plain"]);
}

#[test]
fn lanes_are_side_by_side_with_their_differences() {
    let mut harness = window_of("mixed", 1400.0);
    set_option(&mut harness, "simulation.device_memory", "1GiB");
    pin(&mut harness, Some("small"));
    set_option(&mut harness, "simulation.device_memory", "32GiB");
    press_and_settle(&mut harness, Modifiers::SHIFT, Key::V);
    let session = harness.state().session();
    let (comparison, _) = session.answer().expect("an answer");
    assert_eq!(session.baseline(comparison), 0);
    let changes = session.lane_changes().last().expect("they are worked out").lanes;
    assert_eq!(changes, (comparison.lanes[0].id, LaneId::Pinned(0)));
    let pinned = comparison.lanes.iter().position(|lane| lane.id == LaneId::Pinned(0));
    let metric = Metric::find(COMPARED[0]).expect("a metric");
    let figure = comparison.figure(pinned.expect("a lane"), metric).expect("a figure");
    let words = format!("lanes side by side, baseline policy 0, pinned small: peak reserved {figure}");
    assert!(cell(&harness, &words), "{words}");
    assert!(
        cell(&harness, "out of memory at step"),
        "the pin's own device is too small"
    );
    assert!(cell(&harness, "Changes at the peak of pinned small, baseline policy 0"));
    // Arrow keys choose a lane, Enter makes it the baseline.
    press(&mut harness, Modifiers::NONE, Key::Home);
    assert!(cell(&harness, "Changes at the peak of policy 2, baseline policy 0"));
    press_and_settle(&mut harness, Modifiers::NONE, Key::Enter);
    let two = StaticMemoryPolicy::from_number(2).expect("a policy");
    let session = harness.state().session();
    let (comparison, _) = session.answer().expect("an answer");
    assert_eq!(comparison.lanes[session.baseline(comparison)].id, LaneId::Policy(two));
    assert!(cell(&harness, "Changes at the peak of policy 0, baseline policy 2"));
    let told = [
        "Both peaks hold the same tensors.",
        "Total live bytes unchanged.",
        "Live ",
    ];
    assert!(told.iter().any(|part| cell(&harness, part)), "the lists are there");
    // By the list, any lane: a pin, too.
    push(&mut harness, Role::ComboBox, "baseline: policy 2");
    let entries = harness.query_all_by_label("pinned small");
    entries.last().expect("an entry").click();
    settle(&mut harness);
    assert!(
        harness
            .query_by_role_and_label(Role::ComboBox, "baseline: pinned small")
            .is_some()
    );
}

#[test]
fn the_inspector_lists_tensors_of_the_lane_that_it_explains() {
    let mut harness = window_of_session(session(vec![source("chain.json", SYMBOLIC)]), 1400.0);
    let set_length = |harness: &mut Window, length: u64| {
        apply(
            harness,
            Command::SetDim {
                name: "seq".to_owned(),
                values: vec![length],
            },
        );
    };
    set_length(&mut harness, 4096);
    pin(&mut harness, Some("wide"));
    set_length(&mut harness, 2);
    harness.get_by_label_contains("show lane pinned wide").click();
    harness.run_steps(3);
    // The largest tensor has 4096 x 1024 floats in that lane, and 2 x 1024 in the others.
    let is_listed = |bytes: u64| {
        let text = format!("{:>11}", Bytes(bytes).to_string());
        harness.query_all_by_label(&text).next().is_some()
    };
    assert!(is_listed(4096 * 1024 * 4));
    assert!(!is_listed(2 * 1024 * 4));
}
