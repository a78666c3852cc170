//! The schedule editor: everything by role and name, one step of the history an edit.

use eframe::egui::{Key, Modifiers, Role};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use highwater_session::{Command, Session};

use crate::harness::{Window, click_label, press, press_and_settle, push, settle, window_of_session};
use crate::sessions::two_graphs;

fn window(session: Session) -> Window {
    let mut harness = window_of_session(session, 1000.0);
    press_and_settle(&mut harness, Modifiers::COMMAND, Key::R);
    harness
}

fn texts(harness: &Window) -> Vec<String> {
    let entries = &harness.state().session().document().plan.entries;
    entries.iter().map(ToString::to_string).collect()
}

fn click(harness: &mut Window, label: &str) {
    click_label(harness, label);
}

fn choose(harness: &mut Window, combo: &str, choice: &str) {
    push(harness, Role::ComboBox, combo);
    let choices = harness.query_all_by_label(choice);
    let last = choices.last().expect("a choice");
    last.click();
    settle(harness);
}

fn retype(harness: &mut Window, field: &str, text: &str) {
    harness.get_by_role_and_label(Role::TextInput, field).focus();
    harness.run_steps(1);
    press(harness, Modifiers::COMMAND, Key::A);
    harness.get_by_role_and_label(Role::TextInput, field).type_text(text);
    settle(harness);
}

#[test]
fn an_empty_schedule_says_what_to_do_and_runs_are_added_ordered_and_removed() {
    let mut harness = window(two_graphs());
    harness.get_by_label_contains("Every graph runs once per iteration");
    click(&mut harness, "List all graphs");
    assert_eq!(texts(&harness), ["fixed", "chain"]);
    click(&mut harness, "move down entry 1");
    assert_eq!(texts(&harness), ["chain", "fixed"]);
    click(&mut harness, "duplicate entry 2");
    click(&mut harness, "move up entry 3");
    assert_eq!(texts(&harness), ["chain", "fixed", "fixed"]);
    click(&mut harness, "remove entry 1");
    click(&mut harness, "add a run of chain");
    assert_eq!(texts(&harness), ["fixed", "fixed", "chain"]);
    harness.get_by_label("3 runs");
    for expected in [&["fixed", "fixed"][..], &["chain", "fixed", "fixed"]] {
        press_and_settle(&mut harness, Modifiers::COMMAND, Key::Z);
        assert_eq!(texts(&harness), expected);
    }
    click(&mut harness, "Clear");
    assert!(texts(&harness).is_empty());
    click(&mut harness, "Add run");
    assert_eq!(texts(&harness), ["fixed"]);
}

#[test]
fn values_come_from_generators_with_a_preview_and_what_is_wrong_is_said() {
    let mut harness = window(two_graphs());
    click(&mut harness, "add a run of chain");
    choose(
        &mut harness,
        "entry 1: where values of seq come from, same as session",
        "range",
    );
    retype(&mut harness, "entry 1: values of seq", "8..16 step 4");
    assert_eq!(texts(&harness), ["chain[seq=8..16 step 4]"]);
    harness.get_by_label("= 8, 12, 16");
    harness.get_by_label("3 runs");
    retype(&mut harness, "entry 1: values of seq", "8..16 stride 4");
    assert_eq!(
        texts(&harness),
        ["chain[seq=8..16 step 4]"],
        "what cannot be read changes nothing"
    );
    harness.get_by_label_contains("is none of");
    retype(&mut harness, "entry 1: values of seq", "1..1000 log 40 seed 3");
    harness.get_by_label_contains("(40 values)");
    choose(
        &mut harness,
        "entry 1: where values of seq come from, log-uniform",
        "shape range",
    );
    assert!(texts(&harness)[0].contains('~'), "{:?}", texts(&harness));
    choose(
        &mut harness,
        "entry 1: where values of seq come from, shape range",
        "same as session",
    );
    assert_eq!(texts(&harness), ["chain"]);
}

#[test]
fn groups_loads_and_unloads_are_chosen_and_rules_speak_up() {
    let mut harness = window(two_graphs());
    click(&mut harness, "List all graphs");
    choose(&mut harness, "entry 1: concurrent group, alone", "group 1");
    harness.get_by_label_contains("Group 1 has one run");
    choose(&mut harness, "entry 2: concurrent group, alone", "group 1");
    assert_eq!(texts(&harness), ["fixed @1", "chain @1"]);
    harness.get_by_label_contains("1 concurrent group: drawn one graph after another");
    assert_eq!(harness.query_all_by_label_contains("R53: the policy").count(), 0);
    let mut session = two_graphs();
    session.apply(Command::set_option("memory_config.static_memory_policy", "2"));
    session.settle();
    let mut harness = window(session);
    click(&mut harness, "List all graphs");
    choose(&mut harness, "entry 1: concurrent group, alone", "group 1");
    choose(&mut harness, "entry 2: concurrent group, alone", "group 1");
    harness.get_by_label_contains("R53: the active policy forbids");

    let mut harness = window(two_graphs());
    click(&mut harness, "List all graphs");
    choose(&mut harness, "entry 1: action, run", "unload");
    harness.get_by_label_contains("the graph is not loaded");
    choose(&mut harness, "entry 1: action, unload", "load");
    assert_eq!(texts(&harness), ["load fixed", "chain"]);
    assert!(harness.query_all_by_label_contains("never runs it").count() > 0);
    click(&mut harness, "add a run of fixed");
    assert_eq!(harness.query_all_by_label_contains("never runs it").count(), 0);
}

#[test]
fn graphs_are_renamed_and_files_removed_and_brought_back() {
    let mut harness = window(two_graphs());
    click(&mut harness, "List all graphs");
    retype(&mut harness, "name of fixed", "training");
    press_and_settle(&mut harness, Modifiers::NONE, Key::Enter);
    harness.get_by_role_and_label(Role::ComboBox, "entry 1: graph, training");
    click(&mut harness, "remove chain.json from the session");
    assert_eq!(texts(&harness), ["fixed"]);
    press_and_settle(&mut harness, Modifiers::COMMAND, Key::Z);
    assert_eq!(texts(&harness), ["fixed", "chain"]);
    press_and_settle(&mut harness, Modifiers::COMMAND, Key::Z);
    harness.get_by_role_and_label(Role::ComboBox, "entry 1: graph, fixed");
    harness.get_by_label("Add from a file…");
}

#[test]
fn everything_in_the_editor_has_a_name_and_the_keyboard_reaches_it() {
    let mut harness = window(two_graphs());
    click(&mut harness, "List all graphs");
    choose(
        &mut harness,
        "entry 2: where values of seq come from, same as session",
        "list",
    );
    for role in [Role::Button, Role::ComboBox, Role::SpinButton, Role::TextInput] {
        for node in harness.query_all_by_role(role) {
            let label = node.accesskit_node().label().unwrap_or_default();
            assert!(!label.is_empty(), "a {role:?} at {:?} has no name", node.rect());
        }
    }
    harness.get_by_label("move up entry 2").focus();
    harness.run_steps(1);
    press_and_settle(&mut harness, Modifiers::NONE, Key::Enter);
    assert_eq!(texts(&harness)[0], "chain[seq=1]");
}
