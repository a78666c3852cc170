//! Lanes as their pictures show them: a title instead of buttons, the ruler, the canvases, the groups.

use eframe::egui::{Rect, Role, Ui};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use highwater_analysis::{Comparison, LaneId};
use highwater_sim::StaticMemoryPolicy;
use highwater_timeline::{Attribute, ColorBy, Coloring, ColoringRequest, Timeline};
use highwater_ui::lanes::{Drawn, LaneLayout, LanesInput, LanesState, lanes_ui};
use highwater_ui::theme::Theme;

use crate::synthetic;

struct App {
    comparison: Comparison,
    timeline: Timeline,
    look: Coloring,
    order: ColoringRequest,
    lanes: LanesState,
}

const LANE: LaneId = LaneId::Policy(StaticMemoryPolicy::StaticExtend);

/// A window of lanes whose blocks have the colours of groups, or those of tensors.
fn harness(by: ColorBy, size: [f32; 2]) -> Harness<'static, App> {
    let comparison = synthetic::comparison(24, 1);
    let timeline = Timeline::new(&comparison);
    let order = ColoringRequest { by, hidden: Vec::new() };
    let app = App {
        look: Coloring::new(&comparison, &timeline, &order, None),
        order,
        comparison,
        timeline,
        lanes: LanesState::default(),
    };
    let ui = |ui: &mut Ui, app: &mut App| {
        let theme = Theme::of(ui.visuals());
        let input = LanesInput {
            drawn: Drawn {
                look: Some(&app.look),
                order: Some(&app.order),
                ..Drawn::default()
            },
            comparison: &app.comparison,
            timeline: &app.timeline,
            selected: None,
            matches: None,
            compared: highwater_ui::lanes::Compared::default(),
            is_stale: false,
            theme: &theme,
        };
        lanes_ui(ui, &input, &mut app.lanes, &mut Vec::new());
    };
    let mut harness = Harness::builder().with_size(size).build_ui_state(ui, app);
    harness.run();
    harness
}

/// The parts of the picture of a lane, once it sits.
fn parts(harness: &mut Harness<'_, App>) -> Vec<Rect> {
    harness.state_mut().lanes.begin(Some(LANE));
    harness.run_steps(3);
    harness.state().lanes.parts_of(LANE)
}

#[test]
fn a_lane_that_is_pictured_has_a_title_and_no_buttons() {
    let mut harness = harness(ColorBy::Tensor, [1280.0, 900.0]);
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
fn groups_stand_below_the_lane_that_is_pictured() {
    let mut harness = harness(ColorBy::By(Attribute::Size), [1280.0, 900.0]);
    assert!(harness.query_by_role_and_label(Role::Slider, "overview").is_none());
    let parts = parts(&mut harness);
    assert_eq!(parts.len(), 4);
    assert!(parts[3].top() > parts[2].bottom());
    assert_eq!(parts[3].x_range(), parts[0].x_range());
}

/// Side by side it is the ruler of the lane's own column; a lane that was scrolled away comes into view.
#[test]
fn any_lane_comes_into_view_for_its_picture() {
    let mut harness = harness(ColorBy::Tensor, [1280.0, 900.0]);
    harness.state_mut().lanes.layout = LaneLayout::SideBySide;
    let beside = parts(&mut harness);
    assert_eq!(beside.len(), 3);
    assert!(
        beside[1].left() > 600.0 && beside[1].x_range() == beside[2].x_range(),
        "{beside:?}"
    );

    let mut harness = self::harness(ColorBy::Tensor, [1280.0, 330.0]);
    let height = |parts: &[Rect]| parts.get(2).map_or(0.0, Rect::height);
    let last = LaneId::Policy(StaticMemoryPolicy::FullExtend);
    let hidden = harness.state().lanes.parts_of(last);
    harness.state_mut().lanes.begin(Some(last));
    harness.run_steps(3);
    let seen = harness.state().lanes.parts_of(last);
    assert_eq!(seen.len(), 3, "{seen:?}");
    assert!(height(&seen) > height(&hidden), "{hidden:?} {seen:?}");
}
