//! The lanes under the hand: found by label, hovered, clicked, driven by keys.

use eframe::egui::{Event, Key, Modifiers, MouseWheelUnit, Pos2, TouchPhase, pos2, vec2};
use egui_kittest::kittest::Queryable as _;
use highwater_timeline::View;
use highwater_ui::lanes::{LaneContent, LaneLayout, LanesState};

use crate::harness::{LanesApp, LanesWindow, lanes_window, press};
use crate::synthetic;

fn lanes(size: [f32; 2]) -> LanesWindow {
    lanes_window(LanesApp::new(synthetic::comparison(24, 1)), size)
}

/// A place on the lowest large block of policy 0's map, a quarter into its life.
fn on_a_block(harness: &LanesWindow) -> Pos2 {
    let rect = harness.get_by_label("lane policy 0 memory map").rect();
    // The map is the lower part of the canvas; the first tensor is just above the band of the variables.
    pos2(rect.left() + rect.width() * 0.3, rect.bottom() - 20.0)
}

fn click(harness: &mut LanesWindow, pos: Pos2) {
    harness.hover_at(pos);
    harness.run();
    harness.drag_at(pos);
    harness.run();
    harness.drop_at(pos);
    harness.run();
}

#[test]
fn every_lane_is_found_by_its_label_and_says_what_it_is() {
    let harness = lanes([720.0, 740.0]);
    for number in [0, 2, 3, 4] {
        harness.get_by_label(&format!("lane policy {number} memory map"));
    }
    assert_eq!(harness.query_all_by_label_contains("header of policy").count(), 4);
}

#[test]
fn a_click_on_a_block_selects_its_tensor_and_escape_clears_it() {
    let mut harness = lanes([720.0, 740.0]);
    let place = on_a_block(&harness);
    harness.hover_at(place);
    harness.run();
    let hovered = harness.state().lanes.hovered.expect("a tensor under the pointer");
    click(&mut harness, place);
    assert_eq!(harness.state().selected, Some(hovered));
    harness.key_press(Key::Escape);
    harness.run();
    assert_eq!(harness.state().selected, None);
}

#[test]
fn keys_zoom_move_focus_and_fit() {
    let mut harness = lanes([720.0, 740.0]);
    let whole = harness.state().lanes.viewport.expect("a view");
    press(&mut harness, Modifiers::NONE, Key::W);
    harness.run();
    let zoomed = harness.state().lanes.viewport.expect("a view");
    assert!(zoomed.steps() < whole.steps());
    press(&mut harness, Modifiers::NONE, Key::D);
    harness.run();
    assert!(harness.state().lanes.viewport.expect("a view").t0 > zoomed.t0);
    press(&mut harness, Modifiers::NONE, Key::H);
    harness.run();
    assert_eq!(harness.state().lanes.viewport, Some(whole));
    press(&mut harness, Modifiers::NONE, Key::Period);
    harness.run();
    let first = harness.state().selected.expect("the first tensor");
    press(&mut harness, Modifiers::NONE, Key::Period);
    harness.run();
    assert_ne!(harness.state().selected, Some(first));
    // F is a command of the whole window.
    harness.state_mut().lanes.wish = Some(highwater_ui::lanes::Wish::ZoomToSelection);
    harness.run();
    assert_ne!(harness.state().lanes.viewport, Some(whole));
    harness.state_mut().lanes.wish = Some(highwater_ui::lanes::Wish::ZoomToSelection);
    harness.run();
    assert_eq!(harness.state().lanes.viewport, Some(whole));
}

#[test]
fn the_wheel_with_ctrl_zooms_at_the_pointer_and_a_drag_pans() {
    let mut harness = lanes([720.0, 740.0]);
    let rect = harness.get_by_label("lane policy 2 memory map").rect();
    let pos = rect.center();
    harness.hover_at(pos);
    harness.run();
    let step_at = |lanes: &LanesState| {
        let viewport = lanes.viewport.expect("a view");
        View::from(viewport).step_from_x(f64::from(pos.x - rect.left()), f64::from(rect.width()))
    };
    let before = step_at(&harness.state().lanes);
    let wheel = Event::MouseWheel {
        unit: MouseWheelUnit::Point,
        delta: vec2(0.0, 120.0),
        phase: TouchPhase::Move,
        source: eframe::egui::MouseWheelSource::Wheel,
        modifiers: Modifiers::CTRL,
    };
    harness.event_modifiers(wheel, Modifiers::CTRL);
    harness.run_steps(20);
    let viewport = harness.state().lanes.viewport.expect("a view");
    assert!(viewport.steps() < harness.state().timeline.fit().steps());
    assert!((step_at(&harness.state().lanes) - before).abs() < 0.5);
    harness.drag_at(pos);
    harness.run_steps(2);
    harness.hover_at(pos + vec2(60.0, 0.0));
    harness.run_steps(2);
    harness.drop_at(pos + vec2(60.0, 0.0));
    harness.run_steps(2);
    assert!(harness.state().lanes.viewport.expect("a view").t0 < viewport.t0);
}

#[test]
fn the_wheel_alone_zooms_where_that_is_set() {
    let mut harness = lanes([720.0, 740.0]);
    let pos = harness.get_by_label("lane policy 2 memory map").rect().center();
    harness.hover_at(pos);
    harness.run();
    let turn = |harness: &mut LanesWindow| {
        harness.event(Event::MouseWheel {
            unit: MouseWheelUnit::Point,
            delta: vec2(0.0, 120.0),
            phase: TouchPhase::Move,
            source: eframe::egui::MouseWheelSource::Wheel,
            modifiers: Modifiers::NONE,
        });
        harness.run_steps(20);
        harness.state().lanes.viewport.expect("a view").steps()
    };
    let whole = harness.state().timeline.fit().steps();
    assert!((turn(&mut harness) - whole).abs() < 1e-9);
    harness.state_mut().lanes.has_plain_wheel = true;
    assert!(turn(&mut harness) < whole);
}

#[test]
fn toggles_change_layout_and_content() {
    let mut harness = lanes([1280.0, 740.0]);
    harness.get_by_label("lane arrangement").click();
    harness.run();
    harness.get_by_label("Side by side").click();
    harness.run();
    harness.key_press(Key::Escape);
    harness.run();
    assert_eq!(harness.state().lanes.layout, LaneLayout::SideBySide);
    let [left, right] = [0, 2].map(|n| harness.get_by_label(&format!("lane policy {n} memory map")).rect());
    assert!(left.right() < right.left() && (left.top() - right.top()).abs() < 1.0);
    harness.get_by_label("Lifetimes").click();
    harness.run();
    harness.run();
    assert_eq!(harness.state().lanes.content, LaneContent::Lifetimes);
    let pos = harness.get_by_label("lifetimes").rect().left_top() + vec2(40.0, 3.0);
    click(&mut harness, pos);
    assert!(harness.state().selected.is_some());
}

#[test]
fn lanes_scroll_in_a_small_window_and_an_idle_window_asks_for_no_frame() {
    let mut harness = lanes([700.0, 300.0]);
    harness.get_by_label("lane policy 0 memory map");
    assert!(harness.run() <= 2);
}

/// Everything with a label in the lanes' headers: no two overlap, in wide lanes and in narrow ones.
#[test]
fn header_parts_never_lie_on_each_other() {
    for width in [420.0, 500.0, 560.0, 640.0, 660.0, 704.0, 760.0, 850.0, 1000.0_f32] {
        let harness = lanes([width, 900.0]);
        let mut parts: Vec<(String, eframe::egui::Rect)> = Vec::new();
        let mut add = |harness: &LanesWindow, part: &str| {
            for node in harness.query_all_by_label_contains(part) {
                let rect = node.rect();
                parts.push((format!("{part} at {rect:?}"), rect));
            }
        };
        for part in [
            "header of",
            "GiB",
            "MiB",
            "reserved",
            "live",
            "Fit",
            "lane arrangement",
            "overlays",
        ] {
            add(&harness, part);
        }
        let is_twice = |a: &eframe::egui::Rect, b: &eframe::egui::Rect| (a.min - b.min).length() < 0.5;
        for (idx, (name, rect)) in parts.iter().enumerate() {
            assert!(rect.right() <= width + 0.5, "{width}: {name} is cut");
            for (other, place) in &parts[idx + 1..] {
                let met = rect.shrink(0.6).intersect(place.shrink(0.6));
                let is_apart = met.width() <= 0.0 || met.height() <= 0.0 || is_twice(rect, place);
                assert!(is_apart, "{width}: {name} lies on {other}");
            }
        }
        assert!(parts.len() > 2, "{width}: {}", parts.len());
    }
}
