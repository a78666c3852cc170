//! A session under a budget in the lanes: marks found by label, the budget's line dragged and moved by keys, headers.

use eframe::egui::{Key, Modifiers, Pos2, vec2};
use egui_kittest::kittest::Queryable as _;
use highwater_model::units::Bytes;
use highwater_options::keys;
use highwater_session::Command;
use highwater_timeline::Timeline;
use highwater_ui::lanes::LaneContent;

use crate::harness::{LanesApp, LanesWindow, lanes_window, press};
use crate::synthetic_remat::{End, comparison};

fn lanes(end: End, size: [f32; 2]) -> LanesWindow {
    lanes_window(LanesApp::new(comparison(24, end)), size)
}

const LINE: &str = "budget line of policy 0";

fn line(harness: &LanesWindow) -> Pos2 {
    harness.get_by_label(LINE).rect().center()
}

fn budgets(harness: &LanesWindow) -> Vec<Bytes> {
    let asked = harness.state().commands.iter().filter_map(|command| match command {
        Command::TypeOption { key, text } if key == keys::EVICTION_THRESHOLD => text.parse().ok().map(Bytes),
        _ => None,
    });
    asked.collect()
}

fn answered(harness: &LanesWindow) -> Bytes {
    let remat = harness.state().timeline.lanes[0].remat.as_ref();
    remat.and_then(|remat| remat.budget).expect("a budget")
}

#[test]
fn a_drag_of_the_line_asks_for_budgets_and_ends() {
    let mut harness = lanes(End::Whole, [1000.0, 900.0]);
    let from = line(&harness);
    harness.hover_at(from);
    harness.run();
    harness.drag_at(from);
    harness.run();
    for down in [8.0, 14.0, 20.0] {
        harness.hover_at(from + vec2(0.0, down));
        harness.run();
    }
    let moved = line(&harness);
    assert!(
        (moved.y - from.y - 20.0).abs() < 1.5,
        "the line is where the hand is: {from:?} {moved:?}"
    );
    harness.drop_at(from + vec2(0.0, 20.0));
    harness.run();
    let asked = budgets(&harness);
    assert!(asked.len() >= 3, "{asked:?}");
    assert!(
        asked.windows(2).all(|pair| pair[1] < pair[0]) && asked[0] < answered(&harness),
        "{asked:?}"
    );
    assert_eq!(harness.state().commands.last(), Some(&Command::EndTyping));
}

#[test]
fn while_an_answer_is_awaited_nothing_more_is_asked_until_the_end() {
    let mut harness = lanes(End::Whole, [1000.0, 900.0]);
    let from = line(&harness);
    harness.hover_at(from);
    harness.run();
    harness.drag_at(from);
    harness.run();
    harness.hover_at(from + vec2(0.0, 8.0));
    harness.run();
    assert_eq!(budgets(&harness).len(), 1);
    harness.state_mut().is_stale = true;
    for down in [12.0, 16.0] {
        harness.hover_at(from + vec2(0.0, down));
        harness.run();
    }
    assert_eq!(budgets(&harness).len(), 1);
    harness.state_mut().is_stale = false;
    harness.run();
    assert_eq!(
        budgets(&harness).len(),
        2,
        "the newest is asked for when the answer is there"
    );
    harness.state_mut().is_stale = true;
    harness.hover_at(from + vec2(0.0, 18.0));
    harness.run();
    harness.drop_at(from + vec2(0.0, 18.0));
    harness.run();
    assert_eq!(budgets(&harness).len(), 3, "the last place counts, whatever is awaited");
}

#[test]
fn arrow_keys_move_the_line_when_it_has_the_focus() {
    let mut harness = lanes(End::Whole, [1000.0, 900.0]);
    harness.get_by_label(LINE).focus();
    harness.run();
    harness.key_press(Key::ArrowDown);
    harness.run();
    harness.key_press(Key::PageUp);
    harness.run();
    let asked = budgets(&harness);
    assert_eq!(asked.len(), 2, "{asked:?}");
    assert!(asked[0] < answered(&harness) && asked[1] > answered(&harness));
    // The view does not move: the keys belong to the line.
    assert_eq!(
        harness.state().lanes.viewport,
        Some(harness.state().timeline.fit_changing())
    );
}

#[test]
fn marks_are_found_by_label_and_reached_by_keys() {
    let mut harness = lanes(End::Whole, [1000.0, 900.0]);
    let label = "evictions and recomputed ops of policy 2: 2 evicted, 2 recomputed";
    harness.get_by_label(label).focus();
    harness.run();
    harness.key_press(Key::ArrowRight);
    harness.run();
    let evicted = harness.state().selected.expect("the evicted tensor");
    let step = harness.state().lanes.pinned().expect("a step").step;
    harness.key_press(Key::ArrowRight);
    harness.run();
    assert!(harness.state().lanes.pinned().expect("a step").step > step);
    let remat = harness.state().timeline.lanes[0].remat.clone().expect("a budget");
    assert!(
        remat
            .eviction_intervals
            .iter()
            .any(|interval| interval.tensor == evicted)
    );
}

#[test]
fn headers_say_how_runs_end() {
    for (end, words) in [
        (End::Whole, "over budget"),
        (End::Thrash, "thrash"),
        (End::OutOfMemory, "budget: out of memory"),
    ] {
        let harness = lanes(end, [1250.0, 900.0]);
        assert_eq!(harness.query_all_by_label(words).count(), 4, "{words}");
        assert_eq!(harness.query_all_by_label_contains("2 evicted ·").count(), 4);
    }
}

#[test]
fn rows_show_gaps() {
    let mut harness = lanes(End::Whole, [1000.0, 900.0]);
    harness.get_by_label("Lifetimes").click();
    harness.run();
    harness.run();
    assert_eq!(harness.state().lanes.content, LaneContent::Lifetimes);
    harness.get_by_label("lifetimes");
}

/// The axis grows or shrinks with recomputation: the view stays the same part of it.
#[test]
fn another_number_of_steps_keeps_the_view() {
    let mut harness = lanes(End::Whole, [1000.0, 900.0]);
    press(&mut harness, Modifiers::NONE, Key::W);
    harness.run();
    let whole = harness.state().timeline.fit();
    let before = harness.state().lanes.viewport.expect("a view");
    let other = comparison(24, End::Thrash);
    harness.state_mut().timeline = Timeline::new(&other);
    harness.state_mut().comparison = other;
    harness.run();
    let after = harness.state().lanes.viewport.expect("a view");
    let fit = harness.state().timeline.fit();
    assert!((whole.t1 - fit.t1).abs() > 0.5, "another number of steps");
    assert!((before.t0 / whole.t1 - after.t0 / fit.t1).abs() < 1e-9);
    assert!((before.steps() / whole.t1 - after.steps() / fit.t1).abs() < 1e-9);
}
