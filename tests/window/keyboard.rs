//! The window without a pointer: keys reach a pane's controls, lists close and give the keyboard back, Esc goes to what it closes.

use eframe::egui::{Key, Modifiers, Role};
use egui_kittest::kittest::Queryable as _;
use highwater_session::Notice;

use crate::harness::{Window, press, press_and_settle, settle, window_of};
use crate::shell::open_palette;

fn pinned(harness: &Window) -> Option<u32> {
    harness.state().lanes().pinned().map(|spot| spot.step.0)
}

fn first_row(harness: &Window) -> String {
    let row = harness.query_all_by_role(Role::ListBoxOption).next();
    row.map(|row| format!("{row:?}")).unwrap_or_default()
}

fn is_palette_open(harness: &Window) -> bool {
    let field = harness.query_by_role_and_label(Role::TextInput, "find a command");
    field.is_some()
}

#[test]
fn the_schedule_is_edited_by_keys_alone() {
    let mut harness = window_of("mixed", 900.0);
    press(&mut harness, Modifiers::COMMAND, Key::R);
    harness.run_steps(3);
    assert!(harness.get_by_role_and_label(Role::Button, "Add run").is_focused());
    open_palette(&mut harness, "list all graphs in schedule");
    press_and_settle(&mut harness, Modifiers::NONE, Key::Enter);
    let n_entries = harness.state().session().document().plan.entries.len();
    assert!(n_entries > 1, "{n_entries}");
    let combo = "entry 1: action, run";
    assert!(harness.get_by_role_and_label(Role::ComboBox, combo).is_focused());
    // Esc closes the list, and the box has the keyboard again.
    for (keys, label, after) in [
        (&[Key::Escape][..], combo, combo),
        (
            &[Key::ArrowDown, Key::ArrowDown, Key::Enter],
            combo,
            "entry 1: action, load",
        ),
    ] {
        assert!(harness.get_by_role_and_label(Role::ComboBox, label).is_focused());
        press(&mut harness, Modifiers::NONE, Key::Enter);
        assert!(harness.query_by_label("unload").is_some(), "the list is open");
        for key in keys {
            press(&mut harness, Modifiers::NONE, *key);
        }
        settle(&mut harness);
        assert!(harness.query_by_label("unload").is_none(), "the list is closed");
        assert!(
            harness.get_by_role_and_label(Role::ComboBox, after).is_focused(),
            "{after}"
        );
    }
    open_palette(&mut harness, "add run to schedule");
    press_and_settle(&mut harness, Modifiers::NONE, Key::Enter);
    assert_eq!(harness.state().session().document().plan.entries.len(), n_entries + 1);
}

#[test]
fn esc_goes_to_what_it_closes() {
    let mut harness = window_of("mobilenet", 900.0);
    settle(&mut harness);
    open_palette(&mut harness, "step 5");
    assert!(first_row(&harness).contains("Go to step 5"), "{}", first_row(&harness));
    press(&mut harness, Modifiers::NONE, Key::Enter);
    harness.run_steps(3);
    assert_eq!(pinned(&harness), Some(5));
    open_palette(&mut harness, "anything");
    press(&mut harness, Modifiers::NONE, Key::Escape);
    assert!(!is_palette_open(&harness));
    assert_eq!(pinned(&harness), Some(5), "the palette's Esc");
    press(&mut harness, Modifiers::NONE, Key::Questionmark);
    press(&mut harness, Modifiers::NONE, Key::Escape);
    assert!(harness.query_by_label("Keys and gestures").is_none());
    assert_eq!(pinned(&harness), Some(5), "the list's Esc");
    press(&mut harness, Modifiers::COMMAND, Key::F);
    press(&mut harness, Modifiers::NONE, Key::Escape);
    assert_eq!(pinned(&harness), Some(5), "the field's Esc");
    press(&mut harness, Modifiers::NONE, Key::Escape);
    assert_eq!(pinned(&harness), None);
}

#[test]
fn enter_on_nothing_keeps_the_field() {
    let mut harness = window_of("mobilenet", 900.0);
    open_palette(&mut harness, "qqqq");
    press(&mut harness, Modifiers::NONE, Key::Enter);
    let field = harness.get_by_role_and_label(Role::TextInput, "find a command");
    assert!(field.is_focused());
    field.type_text("x");
    harness.run_steps(2);
    let field = harness.get_by_role_and_label(Role::TextInput, "find a command");
    assert_eq!(field.value().as_deref(), Some("qqqqx"));
}

#[test]
fn commands_are_found_by_further_words() {
    let cases = [
        ("theme", "Light / dark"),
        ("baseline", "Compare"),
        ("capacity", "Device"),
        ("go 3", "Go to step 3"),
        ("shortcuts", "Keys and gestures"),
    ];
    let mut harness = window_of("mobilenet", 900.0);
    settle(&mut harness);
    for (typed, expected) in cases {
        open_palette(&mut harness, typed);
        let first = first_row(&harness);
        assert!(first.contains(expected), "{typed}: {first}");
        press(&mut harness, Modifiers::NONE, Key::Escape);
    }
}

#[test]
fn the_list_of_keys_scrolls_by_keys() {
    let mut harness = window_of("mobilenet", 560.0);
    press(&mut harness, Modifiers::NONE, Key::Questionmark);
    let top = |harness: &Window| harness.get_by_label("In the lanes").rect().top();
    let before = top(&harness);
    for (keys, is_up) in [
        (&[Key::PageDown][..], true),
        (&[Key::Home], false),
        (&[Key::End], true),
        (&[Key::PageUp, Key::PageUp, Key::PageUp, Key::PageUp], false),
        (&[Key::ArrowDown], true),
    ] {
        for key in keys {
            press(&mut harness, Modifiers::NONE, *key);
        }
        assert_eq!(top(&harness) < before, is_up, "{keys:?}");
    }
}

#[test]
fn points_of_a_sweep_get_the_keyboard_and_a_pin_says_where_its_lane_is() {
    let mut harness = window_of("mixed", 800.0);
    press(&mut harness, Modifiers::COMMAND | Modifiers::SHIFT, Key::M);
    for _ in 0..3 {
        settle(&mut harness);
    }
    let focused = |harness: &Window| {
        let mut rows = harness.query_all_by_label_contains("pin static_memory_policy");
        rows.find_map(|row| row.is_focused().then(|| row.rect().top()))
    };
    let first = focused(&harness).expect("a row has the keyboard");
    press(&mut harness, Modifiers::NONE, Key::ArrowDown);
    assert!(focused(&harness).expect("the next row has it") > first);
    press(&mut harness, Modifiers::NONE, Key::Enter);
    assert_eq!(harness.state().session().names_of_pins().count(), 1);
    let notice = harness.state().session().notice();
    assert!(matches!(notice, Some(Notice::Done(text)) if text.contains("as a lane")));
}

#[test]
fn the_lists_of_compare_are_reached_by_keys() {
    let mut harness = window_of("mixed", 800.0);
    press_and_settle(&mut harness, Modifiers::SHIFT, Key::V);
    let title = |harness: &Window| {
        let rows = harness.query_all_by_label_contains("at the peak of");
        rows.map(|row| row.rect().top()).next()
    };
    // The chosen row comes into view by itself, as far as the pane scrolls: that has to be over first.
    press_and_settle(&mut harness, Modifiers::NONE, Key::PageUp);
    let top = title(&harness).expect("a title");
    press(&mut harness, Modifiers::NONE, Key::PageDown);
    let scrolled = title(&harness);
    assert!(scrolled.is_none_or(|now| now < top), "{top}, then {scrolled:?}");
    press(&mut harness, Modifiers::NONE, Key::PageUp);
    assert_eq!(title(&harness), Some(top));
}

/// Letters are typed by accident: they are commands of the drawing alone.
#[test]
fn letters_act_only_while_the_drawing_has_the_focus() {
    let mut harness = window_of("resnet50", 900.0);
    let content = |harness: &Window| harness.state().lanes().content;
    let type_v = |harness: &mut Window| {
        harness.key_press_modifiers(Modifiers::NONE, Key::V);
        harness.run_steps(3);
    };
    let before = content(&harness);
    type_v(&mut harness);
    assert_eq!(content(&harness), before, "nothing has the focus");
    let drawing = harness.get_by_label("lane policy 0 memory map").rect().center();
    harness.hover_at(drawing);
    harness.drag_at(drawing);
    harness.run_steps(1);
    harness.drop_at(drawing);
    harness.run_steps(2);
    type_v(&mut harness);
    assert_ne!(content(&harness), before, "the drawing was clicked");
    let shown = content(&harness);
    harness.key_press_modifiers(Modifiers::NONE, Key::B);
    harness.run_steps(3);
    type_v(&mut harness);
    assert_eq!(content(&harness), shown, "Budgets covers the drawing");
}
