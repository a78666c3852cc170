//! The option panel without a screen, driven by keys alone wherever users may.

use eframe::egui::{self, Key, Modifiers, Role};
use egui_kittest::kittest::Queryable as _;
use highwater_options::Value;
use highwater_session::Command;

use crate::harness::{Window, press, push_label, settle, window_of};

const POLICY: &str = "memory_config.static_memory_policy";

fn window(height: f32) -> Window {
    window_of("mobilenet", height)
}

fn plain(harness: &mut Window, key: Key) {
    press(harness, Modifiers::NONE, key);
}

/// Types into whatever has the keyboard.
fn type_text(harness: &mut Window, text: &str) {
    harness.event(egui::Event::Text(text.to_owned()));
    harness.run_steps(3);
}

fn search(harness: &mut Window, text: &str) {
    press(harness, Modifiers::COMMAND, Key::F);
    press(harness, Modifiers::COMMAND, Key::A);
    type_text(harness, text);
}

fn value(harness: &Window, key: &str) -> Option<Value> {
    harness.state().session().document().options.get(key).cloned()
}

/// Walks with Tab until the widget of that role and name has the keyboard.
fn tab_to(harness: &mut Window, role: Role, name: &str) {
    for _ in 0..120 {
        plain(harness, Key::Tab);
        let has_focus = harness
            .query_all_by_role_and_label(role, name)
            .any(|node| node.is_focused());
        if has_focus {
            return;
        }
    }
    panic!("Tab does not reach {name}");
}

#[test]
fn a_choice_is_made_undone_and_done_again_by_keys() {
    let mut harness = window(900.0);
    search(&mut harness, "static_memory_policy");
    tab_to(&mut harness, Role::ComboBox, "static_memory_policy");
    plain(&mut harness, Key::ArrowDown);
    plain(&mut harness, Key::ArrowDown);
    assert_eq!(value(&harness, POLICY), Some(Value::Int(2)));
    press(&mut harness, Modifiers::COMMAND, Key::Z);
    assert_eq!(value(&harness, POLICY), Some(Value::Int(1)));
    press(&mut harness, Modifiers::COMMAND | Modifiers::SHIFT, Key::Z);
    assert_eq!(value(&harness, POLICY), Some(Value::Int(2)));
    plain(&mut harness, Key::ArrowUp);
    plain(&mut harness, Key::ArrowUp);
    assert_eq!(value(&harness, POLICY), Some(Value::Int(0)));
    settle(&mut harness);
    assert!(!harness.state().session().is_stale());
}

#[test]
fn a_size_is_typed_and_undo_takes_its_letters_together() {
    let mut harness = window(900.0);
    search(&mut harness, "input_fusion_size");
    tab_to(&mut harness, Role::TextInput, "input_fusion_size");
    press(&mut harness, Modifiers::COMMAND, Key::A);
    for letter in ["1", "K", "i", "B"] {
        type_text(&mut harness, letter);
    }
    assert_eq!(value(&harness, "input_fusion_size"), Some(Value::Int(1024)));
    press(&mut harness, Modifiers::COMMAND, Key::Z);
    assert_eq!(value(&harness, "input_fusion_size"), None);
    let field = harness.get_by_role_and_label(Role::TextInput, "input_fusion_size");
    assert_eq!(field.value().as_deref(), Some("131072"), "the field follows");
}

#[test]
fn f1_explains_the_field_with_the_keyboard() {
    let mut harness = window(900.0);
    search(&mut harness, "atomic_clean_policy");
    tab_to(&mut harness, Role::ComboBox, "atomic_clean_policy");
    let explanation = "Memory in this simulation";
    assert_eq!(harness.query_all_by_label_contains(explanation).count(), 0);
    plain(&mut harness, Key::F1);
    assert_eq!(harness.query_all_by_label_contains(explanation).count(), 1);
    plain(&mut harness, Key::F1);
    assert_eq!(harness.query_all_by_label_contains(explanation).count(), 0);
}

#[test]
fn a_fix_button_mends_by_keys() {
    let mut harness = window(900.0);
    search(&mut harness, "mix_compile_mode");
    tab_to(&mut harness, Role::CheckBox, "mix_compile_mode");
    plain(&mut harness, Key::Space);
    assert_eq!(value(&harness, "mix_compile_mode"), Some(Value::Bool(true)));
    search(&mut harness, "iterations_per_loop");
    tab_to(&mut harness, Role::TextInput, "iterations_per_loop");
    press(&mut harness, Modifiers::COMMAND, Key::A);
    type_text(&mut harness, "100");
    assert!(harness.query_all_by_label_contains("error R3").count() > 0);
    tab_to(&mut harness, Role::Button, "Fix: set iterations_per_loop to 1");
    plain(&mut harness, Key::Space);
    assert_eq!(harness.query_all_by_label_contains("error R3").count(), 0);
    assert_eq!(value(&harness, "iterations_per_loop"), Some(Value::Int(1)));
}

#[test]
fn sections_open_by_keys_and_say_what_is_set_in_them() {
    let mut harness = window(2400.0);
    assert_eq!(harness.query_all_by_label("hccl_timeout").count(), 0);
    search(&mut harness, "x");
    press(&mut harness, Modifiers::COMMAND, Key::A);
    plain(&mut harness, Key::Backspace);
    harness.get_by_label_contains("All options (").click();
    harness.run_steps(3);
    press(&mut harness, Modifiers::COMMAND, Key::F);
    tab_to(&mut harness, Role::Button, "other options of section exception remedy");
    plain(&mut harness, Key::Space);
    assert!(harness.query_all_by_label("hccl_timeout").count() > 0);
    plain(&mut harness, Key::Space);
    assert_eq!(harness.query_all_by_label("hccl_timeout").count(), 0);
}

#[test]
fn names_are_added_and_taken_out() {
    let mut harness = window(900.0);
    search(&mut harness, "skip_opt_set");
    tab_to(&mut harness, Role::TextInput, "skip_opt_set");
    for name in ["fc.w, fc.b", "loss"] {
        type_text(&mut harness, name);
        plain(&mut harness, Key::Enter);
    }
    let names = |names: &[&str]| Some(Value::List(names.iter().map(|name| Value::from(*name)).collect()));
    let key = "memory_optimize.skip_opt_set";
    assert_eq!(value(&harness, key), names(&["fc.w", "fc.b", "loss"]));
    push_label(&mut harness, "fc.b ×");
    assert_eq!(value(&harness, key), names(&["fc.w", "loss"]));
}

#[test]
fn a_shape_range_says_where_it_is_wrong() {
    let mut harness = window(900.0);
    search(&mut harness, "dynamic_inputs_shape_range");
    tab_to(&mut harness, Role::TextInput, "dynamic_inputs_shape_range");
    type_text(&mut harness, "data:[1~32, x]");
    assert!(harness.query_all_by_label_contains("at character 13").count() > 0);
    press(&mut harness, Modifiers::COMMAND, Key::A);
    type_text(&mut harness, "data:[1~32, 3]");
    assert_eq!(harness.query_all_by_label_contains("at character").count(), 0);
}

#[test]
fn filters_narrow_the_rows() {
    let mut harness = window(2400.0);
    let n_rows = |harness: &Window| {
        [Role::TextInput, Role::ComboBox, Role::CheckBox]
            .iter()
            .map(|role| harness.query_all_by_role(*role).count())
            .sum::<usize>()
    };
    let all = n_rows(&harness);
    push_label(&mut harness, "Changed");
    assert!(n_rows(&harness) < all);
    assert!(harness.query_all_by_label_contains("No option matches").count() > 0);
    push_label(&mut harness, "Show all options");
    assert_eq!(n_rows(&harness), all);
}

fn has_focus(harness: &Window, role: Role, name: &str) -> bool {
    harness
        .query_all_by_role_and_label(role, name)
        .any(|node| node.is_focused())
}

#[test]
fn a_jump_takes_away_what_hides_its_field_and_brings_the_keyboard() {
    let mut harness = window(900.0);
    harness
        .state_mut()
        .apply(Command::set_option("memory_optimize.level", "7"));
    search(&mut harness, "no such option");
    plain(&mut harness, Key::F8);
    harness.run_steps(4);
    assert!(has_focus(&harness, Role::ComboBox, "level •"));
    plain(&mut harness, Key::ArrowDown);
    assert_eq!(value(&harness, "memory_optimize.level"), Some(Value::Int(0)));
}

#[test]
fn the_keyboard_goes_back_into_the_field_after_a_fix() {
    let mut harness = window(900.0);
    for (key, text) in [("mix_compile_mode", "True"), ("iterations_per_loop", "9")] {
        harness.state_mut().apply(Command::set_option(key, text));
    }
    search(&mut harness, "iterations_per_loop");
    tab_to(&mut harness, Role::Button, "Fix: set iterations_per_loop to 1");
    plain(&mut harness, Key::Space);
    harness.run_steps(3);
    assert!(has_focus(&harness, Role::TextInput, "iterations_per_loop •"));
}

#[test]
fn undo_shows_what_it_changed() {
    let mut harness = window(900.0);
    harness.state_mut().apply(Command::set_option("hccl_timeout", "600"));
    search(&mut harness, "precision");
    // Out of the search field, whose letters are its own.
    plain(&mut harness, Key::Tab);
    press(&mut harness, Modifiers::COMMAND, Key::Z);
    harness.run_steps(3);
    assert_eq!(value(&harness, "hccl_timeout"), None);
    assert!(has_focus(&harness, Role::TextInput, "hccl_timeout"));
}

#[test]
fn what_acts_is_said_where_it_differs() {
    let mut harness = window(900.0);
    search(&mut harness, "hccl_timeout");
    assert_eq!(harness.query_all_by_label_contains("acts as").count(), 0);
    tab_to(&mut harness, Role::TextInput, "hccl_timeout");
    type_text(&mut harness, "600");
    assert!(harness.query_all_by_label("acts as 544 s").count() > 0);
}
