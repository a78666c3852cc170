//! Windows below the least size: nothing overlaps, and what has no room is left out or scrolled to.

use eframe::egui::{Key, Modifiers, Rect, Role, Shape, vec2};
use egui_kittest::kittest::Queryable as _;
use highwater_session::SourceSpec;
use highwater_ui::app::App;

use crate::harness::{Window, press, window_of_app};
use crate::sessions::session;

const SIZES: [[f32; 2]; 4] = [[640.0, 480.0], [900.0, 600.0], [1024.0, 640.0], [1280.0, 800.0]];

fn window(size: [f32; 2]) -> Window {
    let sample = highwater_session::sample("resnet50").expect("a sample");
    let app = App::new(session(vec![SourceSpec::Sample(sample)])).with_typed_paths();
    window_of_app(app, size)
}

/// The visible parts of texts whose middle is between two heights.
fn row(window: &Window, top: f32, bottom: f32) -> Vec<(String, Rect)> {
    let mut found = Vec::new();
    for clipped in &window.output().shapes {
        collect(&clipped.shape, clipped.clip_rect, &mut found);
    }
    let is_within = |rect: &Rect| rect.is_positive() && rect.center().y > top && rect.center().y < bottom;
    found.retain(|(_, rect)| is_within(rect));
    found
}

fn collect(shape: &Shape, clip: Rect, found: &mut Vec<(String, Rect)>) {
    match shape {
        Shape::Vec(shapes) => shapes.iter().for_each(|shape| collect(shape, clip, found)),
        Shape::Text(text) => {
            let place = text.galley.rect.translate(text.pos.to_vec2());
            found.push((text.galley.text().to_owned(), place.intersect(clip)));
        }
        _ => {}
    }
}

#[test]
fn bars_of_small_windows_do_not_overlap() {
    for size in SIZES {
        let window = window(size);
        for (top, bottom) in [(0.0, 24.0), (size[1] - 24.0, size[1])] {
            let shown = row(&window, top, bottom);
            assert!(!shown.is_empty(), "{size:?}");
            for (position, (text, rect)) in shown.iter().enumerate() {
                assert!(
                    rect.right() <= size[0] + 1.0,
                    "{size:?}: {text} ends at {}",
                    rect.right()
                );
                for (other, place) in &shown[position + 1..] {
                    let common = rect.intersect(*place);
                    let is_free = common.width() <= 1.0 || common.height() <= 1.0;
                    assert!(is_free, "{size:?}: {text:?} {rect:?} and {other:?} {place:?}");
                }
            }
        }
    }
}

#[test]
fn columns_without_room_wait_for_a_wider_window() {
    let mut window = window(SIZES[0]);
    let left = |window: &Window, name: &str| {
        let mut tabs = window.query_all_by_role_and_label(Role::Tab, name);
        tabs.next().map(|tab| tab.rect().left())
    };
    for ([width, height], has_options, has_details) in [
        (SIZES[0], false, false),
        (SIZES[1], true, false),
        (SIZES[2], true, true),
        (SIZES[3], true, true),
        (SIZES[0], false, false),
        (SIZES[3], true, true),
    ] {
        window.set_size(vec2(width, height));
        window.run_steps(3);
        let options = left(&window, "Configuration");
        let details = left(&window, "Inspector");
        assert_eq!(
            (options.is_some(), details.is_some()),
            (has_options, has_details),
            "{width}"
        );
        let middle = left(&window, "Policies").expect("the lanes");
        assert!(options.is_none_or(|options| middle - options >= 225.0), "{width}");
        assert!(details.unwrap_or(width) - middle >= 540.0, "{width}");
        let lanes = window.get_by_label("lane policy 0 memory map").rect();
        assert!(lanes.width() > 400.0 && lanes.right() <= width, "{width}: {lanes:?}");
        // What is hidden is stored as open.
        let closed = window.state().kept().layout.expect("a layout").closed;
        assert!(
            !closed.iter().any(|name| name == "inspector" || name == "configuration"),
            "{closed:?}"
        );
    }
    // A pane that is opened is there in a narrow window, too.
    window.set_size(vec2(SIZES[0][0], SIZES[0][1]));
    window.run_steps(3);
    press(&mut window, Modifiers::SHIFT, Key::P);
    window.run_steps(3);
    assert!(left(&window, "Peak").is_some() && left(&window, "Inspector").is_none());
}
