//! Ranges, rulers, views and bookmarks under the hand.

use eframe::egui::{Event, Key, Modifiers, Pos2, Rect, Role, pos2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use highwater_model::units::Step;
use highwater_timeline::StepRange;

use crate::harness::{Window, press, press_and_settle, push_label, settle, window_of};

/// The window on the first sample.
fn window() -> Window {
    window_of("resnet50", 800.0)
}

fn ruler(harness: &Window) -> Rect {
    harness.get_by_label_contains("ruler of steps").rect()
}

fn drag(harness: &mut Window, from: Pos2, to: Pos2) {
    harness.hover_at(from);
    harness.run_steps(1);
    harness.drag_at(from);
    harness.run_steps(1);
    for part in [0.3, 0.7, 1.0] {
        harness.hover_at(from + (to - from) * part);
        harness.run_steps(1);
    }
    harness.drop_at(to);
    harness.run_steps(3);
}

fn click(harness: &mut Window, place: Pos2) {
    harness.hover_at(place);
    harness.run_steps(1);
    harness.drag_at(place);
    harness.drop_at(place);
    harness.run_steps(3);
}

/// The selected steps, as the ruler tells them.
fn selected(harness: &Window) -> Option<String> {
    let words = harness.get_by_label_contains("ruler of steps");
    let words = words.accesskit_node().label()?;
    words.strip_suffix(" selected").map(str::to_owned)
}

#[test]
fn a_drag_on_the_ruler_selects_a_range_and_escape_lets_it_go() {
    let mut harness = window();
    assert_eq!(selected(&harness), None);
    let place = ruler(&harness);
    let y = place.center().y;
    drag(
        &mut harness,
        pos2(place.left() + 60.0, y),
        pos2(place.left() + 260.0, y),
    );
    let first = selected(&harness).expect("a range");
    // The pane tells the same range, with figures of the library.
    press_and_settle(&mut harness, Modifiers::SHIFT, Key::P);
    harness.get_by_label("Within the range");
    let session = harness.state().session();
    let report = session.peak_report().last().expect("a report");
    let stats = report.range.as_ref().expect("of a range");
    assert!(
        first.ends_with(&format!("{} to {}", stats.range.start, stats.range.last())),
        "{first}"
    );
    press(&mut harness, Modifiers::NONE, Key::Escape);
    assert_eq!(selected(&harness), None);
    settle(&mut harness);
    assert!(harness.query_by_label("Within the range").is_none());
    // Backwards is as good; a click lets it go.
    drag(
        &mut harness,
        pos2(place.left() + 260.0, y),
        pos2(place.left() + 60.0, y),
    );
    assert_eq!(selected(&harness), Some(first));
    click(&mut harness, place.center());
    assert_eq!(selected(&harness), None);
}

/// The steps on the screen, by what a drag over the whole ruler selects.
fn shown(harness: &mut Window) -> String {
    let place = ruler(harness);
    let y = place.center().y;
    drag(harness, pos2(place.left() + 0.5, y), pos2(place.right() - 0.5, y));
    let words = selected(harness).expect("a range");
    press(harness, Modifiers::NONE, Key::Escape);
    words
}

#[test]
fn z_and_alt_drag_zoom_and_backspace_goes_back_and_forth() {
    let mut harness = window();
    let whole = shown(&mut harness);
    let place = ruler(&harness);
    let y = place.center().y;
    drag(
        &mut harness,
        pos2(place.left() + 100.0, y),
        pos2(place.left() + 300.0, y),
    );
    let range = selected(&harness).expect("a range");
    press(&mut harness, Modifiers::NONE, Key::Z);
    press(&mut harness, Modifiers::NONE, Key::Escape);
    assert_eq!(shown(&mut harness), range);
    press(&mut harness, Modifiers::NONE, Key::Backspace);
    assert_eq!(shown(&mut harness), whole);
    press(&mut harness, Modifiers::SHIFT, Key::Backspace);
    assert_eq!(shown(&mut harness), range);
    press(&mut harness, Modifiers::NONE, Key::H);
    let lane = harness.get_by_label("lane policy 0 memory map").rect();
    harness.event(Event::ModifiersChanged(Modifiers::ALT));
    let y = lane.top() + 20.0;
    drag(
        &mut harness,
        pos2(place.left() + 100.0, y),
        pos2(place.left() + 300.0, y),
    );
    harness.event(Event::ModifiersChanged(Modifiers::NONE));
    assert_eq!(shown(&mut harness), range);
}

#[test]
fn r_and_t_measure_until_escape_and_move_nothing() {
    let mut harness = window();
    let whole = shown(&mut harness);
    let lane = harness.get_by_label("lane policy 0 memory map").rect();
    for (key, to) in [
        (Key::R, pos2(lane.left() + 200.0, lane.bottom() - 20.0)),
        (Key::T, pos2(lane.left() + 60.0, lane.bottom() - 60.0)),
    ] {
        harness.key_down(key);
        harness.run_steps(1);
        drag(&mut harness, pos2(lane.left() + 60.0, lane.bottom() - 20.0), to);
        harness.key_up(key);
        harness.run_steps(1);
    }
    press(&mut harness, Modifiers::NONE, Key::Escape);
    assert_eq!(shown(&mut harness), whole);
}

#[test]
fn rulers_over_a_difference_tell_its_bytes() {
    let mut harness = window();
    press_and_settle(&mut harness, Modifiers::SHIFT, Key::C);
    let said = |harness: &Window| {
        let lane = harness.get_by_label_contains("difference, policy 0 less policy 2");
        (lane.rect(), lane.accesskit_node().label().unwrap_or_default())
    };
    let (lane, before) = said(&harness);
    assert!(!before.contains("measured"), "{before}");
    let whole = shown(&mut harness);
    for (key, to) in [
        (Key::R, pos2(lane.left() + 200.0, lane.center().y)),
        (Key::T, pos2(lane.left() + 60.0, lane.bottom() - 6.0)),
    ] {
        harness.key_down(key);
        harness.run_steps(1);
        drag(&mut harness, pos2(lane.left() + 60.0, lane.top() + 6.0), to);
        harness.key_up(key);
        harness.run_steps(1);
    }
    let (_, words) = said(&harness);
    let measured = words.split_once("; measured ").expect("both rulers").1;
    let (time, bytes) = measured.split_once("; ").expect("time and bytes");
    assert!(time.contains(" steps, "), "{words}");
    let difference = harness.state().session().difference().last().expect("a difference");
    let extremes = difference.reserved.extremes().expect("steps");
    let most = extremes.high.0.max(0).abs_diff(extremes.low.0.min(0)).max(1);
    let bytes: f64 = bytes
        .split(' ')
        .next()
        .and_then(|number| number.parse().ok())
        .expect("a number");
    assert!(bytes > 0.0 && most > 0, "{words}");
    press(&mut harness, Modifiers::NONE, Key::Escape);
    assert!(!said(&harness).1.contains("measured"));
    assert_eq!(shown(&mut harness), whole);
}

#[test]
fn a_step_is_typed_to_go_to() {
    let mut harness = window();
    let pinned = |harness: &Window| harness.state().lanes().pinned().map(|spot| spot.step);
    let mut go = |text: &str| {
        press(&mut harness, Modifiers::NONE, Key::G);
        {
            let mut fields = harness.query_all_by_label_contains("Go to step (0 to ");
            let field = fields.find(|node| node.accesskit_node().role() == Role::TextInput);
            field.expect("a field for the step").type_text(text);
        }
        harness.run_steps(2);
        press(&mut harness, Modifiers::NONE, Key::Enter);
        harness.run_steps(3);
        pinned(&harness)
    };
    for (text, step) in [("7", 7), ("+ 5", 12), ("-2", 10), ("what", 10)] {
        assert_eq!(go(text), Some(Step(step)), "{text}");
    }
    // What could not be read is still there to be mended.
    harness.get_by_label("write a whole number");
    press(&mut harness, Modifiers::NONE, Key::Escape);
    harness.run_steps(2);
    assert!(harness.query_by_label("write a whole number").is_none());
    assert_eq!(pinned(&harness), Some(Step(10)), "the pin stays");
}

#[test]
fn a_bookmark_is_noted_in_place_flagged_listed_changed_and_removed() {
    let mut harness = window();
    let lane = harness.get_by_label("lane policy 0 memory map").rect();
    let place = pos2(lane.left() + 200.0, lane.top() + 8.0);
    click(&mut harness, place);
    press(&mut harness, Modifiers::COMMAND, Key::B);
    {
        let mut fields = harness.query_all_by_label_contains("Note for step");
        let field = fields.find(|node| node.accesskit_node().role() == Role::TextInput);
        field.expect("a field for the note").type_text("why so high");
    }
    harness.run_steps(2);
    press(&mut harness, Modifiers::NONE, Key::Enter);
    harness.run_steps(3);
    let step = {
        let bookmarks = &harness.state().session().document().bookmarks;
        assert_eq!(bookmarks.len(), 1);
        assert_eq!(bookmarks[0].note, "why so high");
        assert!(bookmarks[0].lane.is_some(), "the step is pinned in a lane");
        bookmarks[0].step
    };
    harness.get_by_label_contains("go to bookmark: why so high");
    press_and_settle(&mut harness, Modifiers::SHIFT, Key::P);
    push_label(&mut harness, &format!("bookmark 1: go to step {step}"));
    harness
        .get_by_role_and_label(Role::TextInput, "note of bookmark 1")
        .focus();
    harness.run_steps(1);
    harness
        .get_by_role_and_label(Role::TextInput, "note of bookmark 1")
        .type_text("!");
    harness.run_steps(2);
    assert!(harness.state().session().document().bookmarks[0].note.contains('!'));
    push_label(&mut harness, "remove bookmark 1");
    assert!(harness.state().session().document().bookmarks.is_empty());
    press(&mut harness, Modifiers::COMMAND, Key::Z);
    assert_eq!(harness.state().session().document().bookmarks.len(), 1);
}

#[test]
fn ranges_are_ordered_and_cut() {
    let range = StepRange::between(Step(9), Step(3), 8).unwrap();
    assert_eq!((range.start, range.end, range.n_steps()), (Step(3), Step(8), 5));
    assert_eq!(StepRange::between(Step(0), Step(0), 0), None);
}
