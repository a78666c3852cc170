//! What the time axis counts, under the hand: one choice for all that lies along it.

use eframe::egui::{Key, Modifiers, pos2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use highwater_session::Notice;
use highwater_timeline::{AxisKind, View};

use crate::harness::{Window, press, push_label, settle, window_of};

fn ruler_words(harness: &Window) -> String {
    let ruler = harness.get_by_label_contains("ruler of");
    ruler.accesskit_node().label().unwrap_or_default()
}

#[test]
fn a_key_and_a_choice_change_the_axis_and_the_same_steps_stay_in_view() {
    let mut harness = window_of("resnet50", 800.0);
    assert!(ruler_words(&harness).starts_with("ruler of steps, "));
    press(&mut harness, Modifiers::NONE, Key::W);
    let view = harness.state().lanes().viewport;
    press(&mut harness, Modifiers::NONE, Key::U);
    assert_eq!(harness.state().lanes().shown_axis(), AxisKind::Estimated);
    assert_eq!(harness.state().lanes().viewport, view);
    assert!(ruler_words(&harness).starts_with("ruler of steps along estimated time, "));
    settle(&mut harness);
    // Back by the choice in the toolbar; what there is no time for cannot be chosen.
    push_label(&mut harness, "Axis: estimated time");
    assert!(harness.get_by_label("wall time").accesskit_node().is_disabled());
    push_label(&mut harness, "program order");
    assert_eq!(harness.state().lanes().shown_axis(), AxisKind::Order);
    harness.get_by_label("Axis: program order");
    assert_eq!(harness.state().lanes().viewport, view);
}

#[test]
fn the_step_under_the_pointer_is_the_one_that_is_drawn_there() {
    let mut harness = window_of("resnet50", 800.0);
    press(&mut harness, Modifiers::NONE, Key::U);
    let place = harness.get_by_label_contains("ruler of").rect();
    for part in [0.1, 0.35, 0.8] {
        let x = place.left() + place.width() * part;
        harness.hover_at(pos2(x, place.bottom() + 120.0));
        harness.run_steps(2);
        let app = harness.state();
        let (_, timeline) = app.session().answer().expect("an answer");
        let axis = timeline.axes.get(AxisKind::Estimated).expect("an estimate");
        let view = View::new(app.lanes().viewport.expect("a view"), Some(axis));
        let step = view.step_from_x(f64::from(x - place.left()), f64::from(place.width()));
        assert_eq!(app.lanes().cursor, Some(step.floor()));
        assert!(axis.time_at(step as u32) > 0);
    }
    // Zooming in keeps it there.
    let before = harness.state().lanes().cursor;
    press(&mut harness, Modifiers::NONE, Key::W);
    assert_eq!(harness.state().lanes().cursor, before);
}

#[test]
fn a_graph_beside_its_run_has_wall_time() {
    let mut harness = window_of("lenet", 800.0);
    press(&mut harness, Modifiers::NONE, Key::U);
    press(&mut harness, Modifiers::NONE, Key::U);
    assert_eq!(harness.state().lanes().shown_axis(), AxisKind::Wall);
    let words = ruler_words(&harness);
    assert!(words.starts_with("ruler of steps along wall time of CPU:0"), "{words}");
    settle(&mut harness);
    harness.get_by_label_contains("Axis: wall time of CPU:0").click();
    harness.run_steps(3);
    push_label(&mut harness, "estimated time");
    assert_eq!(harness.state().lanes().shown_axis(), AxisKind::Estimated);
    press(&mut harness, Modifiers::NONE, Key::U);
    press(&mut harness, Modifiers::NONE, Key::U);
    assert_eq!(harness.state().lanes().shown_axis(), AxisKind::Order);
}

#[test]
fn a_recording_has_the_time_of_the_clock() {
    let mut harness = window_of("measured", 800.0);
    assert!(ruler_words(&harness).starts_with("ruler of events, "));
    press(&mut harness, Modifiers::NONE, Key::U);
    assert!(ruler_words(&harness).starts_with("ruler of events along wall time, "));
    press(&mut harness, Modifiers::NONE, Key::V);
    assert!(ruler_words(&harness).starts_with("ruler of events along wall time, "));
    press(&mut harness, Modifiers::NONE, Key::U);
    assert_eq!(harness.state().lanes().shown_axis(), AxisKind::Order);
    assert!(!matches!(harness.state().session().notice(), Some(Notice::Failed(_))));
}
