//! Lanes as their pictures show them: a title instead of buttons, the ruler, the canvases, the groups.

use eframe::egui::{Rect, Role};
use egui_kittest::kittest::Queryable as _;
use highwater_analysis::LaneId;
use highwater_sim::StaticMemoryPolicy;
use highwater_timeline::{Attribute, ColorBy, Coloring, ColoringRequest};
use highwater_ui::lanes::LaneLayout;

use crate::harness::{LanesApp, LanesWindow, lanes_window};
use crate::synthetic;

const LANE: LaneId = LaneId::Policy(StaticMemoryPolicy::StaticExtend);

/// A window of lanes whose blocks have the colours of groups, or those of tensors.
fn lanes(by: ColorBy, size: [f32; 2]) -> LanesWindow {
    let mut lanes = LanesApp::new(synthetic::comparison(24, 1));
    let order = ColoringRequest { by, hidden: Vec::new() };
    let look = Coloring::new(&lanes.comparison, &lanes.timeline, &order, None);
    lanes.colors = Some((look, order));
    lanes_window(lanes, size)
}

/// The parts of the picture of a lane, once it sits.
fn parts(harness: &mut LanesWindow) -> Vec<Rect> {
    harness.state_mut().lanes.begin(Some(LANE));
    harness.run_steps(3);
    harness.state().lanes.parts_of(LANE)
}

#[test]
fn a_lane_that_is_pictured_has_a_title_and_no_buttons() {
    let mut harness = lanes(ColorBy::Tensor, [1280.0, 900.0]);
    assert!(harness.query_by_label("made up: policy 2").is_none());
    harness.get_by_label("arrange policy 2");
    let parts = parts(&mut harness);
    let title = harness.get_by_label("made up: policy 2").rect();
    assert!(harness.query_by_label("arrange policy 2").is_none());
    harness.get_by_label("arrange policy 0");
    // Title, ruler, canvases, one as wide as the other; nothing else of the window.
    assert_eq!(parts.len(), 3);
    assert!(
        parts.iter().all(|part| part.x_range() == parts[0].x_range()),
        "{parts:?}"
    );
    assert!(parts[0].contains_rect(title));
    let ruler = harness.get_by_label_contains("ruler of steps").rect();
    let canvas = harness.get_by_label("lane policy 2 memory map").rect();
    assert!(parts[1].contains_rect(ruler) && parts[2].contains_rect(canvas));
    for label in ["use policy 0", "arrange policy 0", "Fit"] {
        for node in harness.query_all_by_role_and_label(Role::Button, label) {
            let button = node.rect();
            assert!(parts.iter().all(|part| !part.intersects(button)), "{label}");
        }
    }
    harness.state_mut().lanes.begin(None);
    harness.run_steps(2);
    harness.get_by_label("arrange policy 2");
}

#[test]
fn groups_are_below_the_lane_that_is_pictured() {
    let mut harness = lanes(ColorBy::By(Attribute::Size), [1280.0, 900.0]);
    assert!(harness.query_by_role_and_label(Role::Slider, "overview").is_none());
    let parts = parts(&mut harness);
    assert_eq!(parts.len(), 4);
    assert!(parts[3].top() > parts[2].bottom());
    assert_eq!(parts[3].x_range(), parts[0].x_range());
}

/// Side by side it is the ruler of the lane's own column; a lane that was scrolled away comes into view.
#[test]
fn any_lane_comes_into_view_for_its_picture() {
    let mut harness = lanes(ColorBy::Tensor, [1280.0, 900.0]);
    harness.state_mut().lanes.layout = LaneLayout::SideBySide;
    let beside = parts(&mut harness);
    assert_eq!(beside.len(), 3);
    assert!(
        beside[1].left() > 600.0 && beside[1].x_range() == beside[2].x_range(),
        "{beside:?}"
    );

    let mut harness = lanes(ColorBy::Tensor, [1280.0, 330.0]);
    let height = |parts: &[Rect]| parts.get(2).map_or(0.0, Rect::height);
    let last = LaneId::Policy(StaticMemoryPolicy::FullExtend);
    let hidden = harness.state().lanes.parts_of(last);
    harness.state_mut().lanes.begin(Some(last));
    harness.run_steps(3);
    let seen = harness.state().lanes.parts_of(last);
    assert_eq!(seen.len(), 3, "{seen:?}");
    assert!(height(&seen) > height(&hidden), "{hidden:?} {seen:?}");
}
