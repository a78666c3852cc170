//! Ranges, rulers and differences without a pointer.

use eframe::egui::{Key, Modifiers, Role};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use highwater_model::units::{Bytes, Step};
use highwater_ui::commands::{COMMANDS, Menu};

use crate::harness::{Window, press, press_and_settle, push, push_label, window_of};
use crate::shell::open_palette;

const NONE: Modifiers = Modifiers::NONE;
const SHIFT: Modifiers = Modifiers::SHIFT;

/// The selected range, and what is said of it.
fn range(harness: &Window) -> (String, String) {
    let ruler = harness.get_by_label_contains("ruler of steps");
    let label = ruler.accesskit_node().label().unwrap_or_default();
    (label, ruler.accesskit_node().value().unwrap_or_default())
}

/// A step as it is read out.
fn said(step: u32) -> String {
    Step(step).to_string().replace('\u{a0}', " ")
}

/// What a lane says of itself.
fn lane(harness: &Window, policy: u8) -> String {
    let label = format!("lane policy {policy} memory map");
    let lane = harness.get_by_label(&label);
    lane.accesskit_node().value().unwrap_or_default()
}

fn pinned(harness: &Window) -> u32 {
    harness.state().lanes().pinned().expect("a step is pinned").step.0
}

fn often(harness: &mut Window, count: usize, key: Key) {
    for _ in 0..count {
        press(harness, NONE, key);
    }
}

#[test]
fn a_range_is_set_zoomed_to_and_cleared_by_keys() {
    let mut harness = window_of("resnet50", 800.0);
    press(&mut harness, NONE, Key::J);
    let first = pinned(&harness);
    press(&mut harness, SHIFT, Key::J);
    often(&mut harness, 5, Key::K);
    press(&mut harness, SHIFT, Key::K);
    let (label, words) = range(&harness);
    let last = first + 5;
    let (begin, end) = (Step(first), Step(last));
    assert!(label.ends_with(&format!(", {begin} to {end} selected")), "{label}");
    let (comparison, timeline) = harness.state().session().answer().unwrap();
    let at = |step: u32| timeline.lanes[0].live.at(step);
    let peak = (first..=last).max_by_key(|step| (at(*step), u32::MAX - step)).unwrap();
    let figure = Bytes(at(peak)).to_string().replace('\u{a0}', " ");
    let title = comparison.lane_title(comparison.lanes[0].id);
    assert_eq!(
        words,
        format!("6 steps, {title}: peak {figure} live at step {}", said(peak))
    );

    // The end goes before the beginning: the range is that step alone; then the beginning moves.
    often(&mut harness, 7, Key::J);
    press(&mut harness, SHIFT, Key::K);
    let (label, words) = range(&harness);
    let (early, before) = (Step(last - 7), Step(last - 9));
    assert!(label.ends_with(&format!(", {early} to {early} selected")), "{label}");
    assert!(words.starts_with("1 step, "), "{words}");
    often(&mut harness, 2, Key::J);
    press(&mut harness, SHIFT, Key::J);
    assert!(range(&harness).0.contains(&format!(", {before} to {early} ")));
    press(&mut harness, NONE, Key::Z);
    let view = harness.state().lanes().viewport.unwrap();
    assert!(
        view.t0 <= f64::from(before.0) && view.t1 <= f64::from(early.0) + 2.0,
        "{view:?}"
    );
    press(&mut harness, NONE, Key::Escape);
    assert!(!range(&harness).0.contains("selected"));
}

#[test]
fn the_life_of_a_tensor_is_a_range_and_its_bytes_are_measured() {
    let mut harness = window_of("resnet50", 800.0);
    // Nothing is selected: the keys say so, and change nothing.
    press(&mut harness, SHIFT, Key::L);
    assert!(!range(&harness).0.contains("selected"));
    assert!(harness.query_all_by_label_contains("select a tensor first").count() > 0);
    often(&mut harness, 4, Key::Period);
    press(&mut harness, SHIFT, Key::L);
    let tensor = harness.state().session().selection().expect("a tensor");
    let (_, timeline) = harness.state().session().answer().unwrap();
    let row = timeline.rows.find(tensor).expect("a row");
    let wanted = format!(", {} to {} selected", row.start, row.end.0 - 1);
    let label = range(&harness).0;
    assert!(label.ends_with(&wanted), "{label} {wanted}");
    press(&mut harness, SHIFT, Key::T);
    let block = timeline_block(&harness, 0);
    let measured = format!("measured {}", Bytes(block.1 - block.0)).replace('\u{a0}', " ");
    assert!(lane(&harness, 0).contains(&measured), "{}", lane(&harness, 0));
    // Another tensor too: from the lowest address to the highest.
    often(&mut harness, 1, Key::Period);
    run(&mut harness, "Extend byte ruler to the tensor");
    let other = timeline_block(&harness, 0);
    let both = Bytes(block.1.max(other.1) - block.0.min(other.0));
    let measured = format!("measured {both}").replace('\u{a0}', " ");
    assert!(lane(&harness, 0).contains(&measured), "{}", lane(&harness, 0));
    run(&mut harness, "Clear rulers");
    assert!(!lane(&harness, 0).contains("measured"));
    run(&mut harness, "Clear range");
    assert!(!range(&harness).0.contains("selected"));
}

/// The addresses of the selected tensor's first block in a lane.
fn timeline_block(harness: &Window, lane: usize) -> (u64, u64) {
    let tensor = harness.state().session().selection().expect("a tensor");
    let (_, timeline) = harness.state().session().answer().unwrap();
    let view = &timeline.lanes[lane];
    let block = view.blocks_of(tensor).next().expect("a block") as usize;
    let base = view.blocks.base.at(block);
    (base, base + view.blocks.bytes.at(block))
}

fn run(harness: &mut Window, command: &str) {
    open_palette(harness, command);
    press(harness, NONE, Key::Enter);
}

#[test]
fn time_is_measured_by_keys_with_what_is_live_more() {
    let mut harness = window_of("resnet50", 800.0);
    press(&mut harness, NONE, Key::K);
    let first = pinned(&harness);
    // There is nothing to measure from yet.
    press(&mut harness, SHIFT, Key::E);
    assert!(!lane(&harness, 0).contains("measured"));
    press(&mut harness, SHIFT, Key::R);
    often(&mut harness, 3, Key::J);
    press(&mut harness, SHIFT, Key::E);
    let words = lane(&harness, 0);
    let measured = words.split("measured ").nth(1).expect("a ruler").to_owned();
    assert!(measured.starts_with("4 steps"), "{measured}");
    assert!(measured.contains(", live "), "{measured}");
    let (begin, end) = (said(first - 3), said(first));
    assert!(measured.ends_with(&format!(": {begin} to {end}")), "{measured}");
    assert!(!lane(&harness, 2).contains("measured"));
    press(&mut harness, NONE, Key::Escape);
    assert!(!lane(&harness, 0).contains("measured"));
}

#[test]
fn the_difference_goes_from_lane_to_lane_by_a_key() {
    let mut harness = window_of("resnet50", 1200.0);
    let shown = |harness: &Window| {
        let found = harness.query_all_by_label_contains("difference, policy");
        let labels: Vec<String> = found.filter_map(|node| node.accesskit_node().label()).collect();
        labels
            .first()
            .and_then(|label| Some(label.split(": ").next()?.to_owned()))
    };
    assert_eq!(shown(&harness), None);
    for other in [2, 3, 4] {
        press_and_settle(&mut harness, SHIFT, Key::C);
        let wanted = format!("difference, policy 0 less policy {other}");
        assert_eq!(shown(&harness), Some(wanted));
    }
    press_and_settle(&mut harness, SHIFT, Key::C);
    assert_eq!(shown(&harness), None);
}

#[test]
fn the_palette_finds_ranges_rulers_and_differences() {
    let mut harness = window_of("resnet50", 800.0);
    for (typed, wanted) in [
        ("range", "Start range here"),
        ("ruler", "Start time ruler here"),
        ("measure", "Start byte ruler at the tensor"),
        ("clear ruler", "Clear rulers"),
        ("difference", "Next lane difference / none"),
        ("zoom range", "Zoom to range"),
    ] {
        open_palette(&mut harness, typed);
        let rows = harness.query_all_by_role(Role::ListBoxOption);
        let rows: Vec<String> = rows.filter_map(|row| row.accesskit_node().label()).collect();
        assert!(
            rows.iter().take(8).any(|row| row.starts_with(wanted)),
            "{typed}: {rows:?}"
        );
        press(&mut harness, NONE, Key::Escape);
    }
}

#[test]
fn any_lane_that_is_shown_can_be_saved() {
    let mut harness = window_of("resnet50", 800.0);
    push_label(&mut harness, "File");
    push(&mut harness, Role::Button, "Pictures");
    harness.get_by_label_contains("Save one of the lanes").click();
    harness.run_steps(3);
    for policy in [0, 2, 3, 4] {
        for form in ["picture (PNG)", "drawing (SVG)"] {
            let label = format!("policy {policy}: {form}…");
            assert_eq!(harness.query_all_by_label(&label).count(), 1, "{label}");
        }
    }
    press(&mut harness, NONE, Key::Escape);
    press(&mut harness, NONE, Key::Escape);
    push_label(&mut harness, "arrange policy 2");
    harness.get_by_label("Save picture (PNG)…");
    harness.get_by_label("Save drawing (SVG)…");
}

/// No two commands have the same keys, and everything that a drag does has a command.
#[test]
fn keys_are_of_one_command_each() {
    let mut known = Vec::new();
    for row in COMMANDS {
        let Some(shortcut) = row.shortcut else { continue };
        assert!(!known.contains(&shortcut), "{}", row.text);
        known.push(shortcut);
    }
    let measuring: Vec<&str> = COMMANDS
        .iter()
        .filter(|row| row.menu == Menu::Measure)
        .map(|row| row.text)
        .collect();
    assert_eq!(measuring.iter().filter(|text| text.contains("ange")).count(), 5);
    assert_eq!(measuring.iter().filter(|text| text.contains("uler")).count(), 5);
}
