//! Lifetimes and areas in the window: found by label, sorted, folded, by mouse and by keys; many rows as a picture.

use eframe::egui::{Key, Modifiers, pos2};
use egui_kittest::kittest::Queryable as _;
use highwater_session::{Command, ContentOrder};
use highwater_timeline::{Attribute, ColorBy, RowOrder};
use highwater_ui::lanes::LaneContent;

use crate::harness::{Window, apply, click_label, press_and_settle, settle_chain, window_of};

fn window(sample: &str, n_iterations: u32) -> Window {
    let mut window = window_of(sample, 800.0);
    if n_iterations > 1 {
        apply(&mut window, Command::SetIterations(n_iterations));
    }
    window
}

fn show(harness: &mut Window, content: &str) {
    click_label(harness, content);
}

fn choose(harness: &mut Window, combo: &str, row: &str) {
    harness.get_by_label(combo).click();
    harness.run();
    click_label(harness, row);
}

#[test]
fn every_order_of_rows_is_found_and_shown() {
    let mut harness = window("bert", 1);
    show(&mut harness, "Lifetimes");
    let mut now = RowOrder::Birth;
    for by in RowOrder::ALL {
        if by != now {
            choose(&mut harness, &format!("rows by {}", now.words()), by.words());
            now = by;
        }
        let rows = harness.state().session().lifetimes().expect("rows");
        assert_eq!((rows.by, rows.is_empty()), (by, false));
        harness.get_by_label("lifetimes");
        let wanted = ContentOrder::Lifetimes { lane: 0, by };
        assert_eq!(harness.state().session().content_order(), wanted);
    }
    show(&mut harness, "Memory map");
    assert!(
        harness.state().session().lifetimes().is_none(),
        "what nobody looks at takes no room"
    );
}

#[test]
fn scopes_fold_by_click_and_by_key() {
    let mut harness = window("bert", 1);
    show(&mut harness, "Lifetimes");
    choose(&mut harness, "rows by birth", RowOrder::Tree.words());
    // In a narrow pane the button is in the menu of the row.
    click_label(&mut harness, "more controls");
    click_label(&mut harness, "Collapse all");
    let scopes = |harness: &Window| harness.query_all_by_label_contains("scope ").count();
    let folded = scopes(&harness);
    assert!(folded > 0);
    let label = {
        let rows = harness.state().session().lifetimes().expect("rows");
        format!("scope {}", rows.scopes()[0].path)
    };
    click_label(&mut harness, &label);
    let open = scopes(&harness);
    assert!(open > folded, "{open} scopes, {folded} when all are folded");
    harness.get_by_label(&label).focus();
    harness.step();
    harness.key_press(Key::Enter);
    settle_chain(&mut harness);
    assert_eq!(scopes(&harness), folded);
}

#[test]
fn areas_are_of_groups_and_pin_steps() {
    let mut harness = window("resnet50", 1);
    show(&mut harness, "Areas");
    assert_eq!(
        harness.state().session().look_order().by,
        ColorBy::By(Attribute::OpType)
    );
    let areas = harness.state().session().areas().expect("areas");
    assert!(areas.lanes.iter().all(|lane| !lane.bands.is_empty()));
    let rect = harness.get_by_label("lane policy 0 memory map").rect();
    let place = pos2(rect.center().x, rect.bottom() - 8.0);
    harness.hover_at(place);
    harness.run();
    harness.drag_at(place);
    harness.run();
    harness.drop_at(place);
    harness.run();
    harness.hover_at(pos2(4.0, 4.0));
    harness.run();
    let value = harness
        .get_by_label("lane policy 0 memory map")
        .value()
        .unwrap_or_default();
    assert!(value.contains("at step"), "the step stays pinned: {value}");
    press_and_settle(&mut harness, Modifiers::NONE, Key::V);
    assert_eq!(harness.state().kept().view.content, LaneContent::Lifetimes);
    let by = harness.state().session().look_order().by;
    assert_eq!(by, ColorBy::Tensor, "the colours from before are back");
}

#[test]
fn many_rows_are_a_picture_and_are_still_picked() {
    let mut harness = window("resnet50", 40);
    show(&mut harness, "Lifetimes");
    let picture = harness.state().session().rows_picture().expect("a picture");
    let n_rows = picture.shown.layout.n_alive;
    assert!(n_rows > 6_000, "{n_rows} rows");
    assert!(picture.shown.raster.rgba.chunks(4).any(|pixel| pixel[3] > 0));
    let rect = harness.get_by_label("lifetimes").rect();
    harness.hover_at(rect.center());
    harness.run();
    let value = harness.get_by_label("lifetimes").value().unwrap_or_default();
    assert!(value.contains("under the pointer"), "{value}");
}
