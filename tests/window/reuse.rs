//! Gaps, reuse edges and their explanation in the window: found by role and label, driven by mouse and keys.

use eframe::egui::{Key, Modifiers, Role, vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use highwater_session::Command;
use highwater_timeline::{LaneView, ReuseSide, Selected, tensor_name};
use highwater_ui::app::App;

use crate::harness::{Window, apply, click, press, push, push_label, window_of};

/// Lane of policy 0.
fn lane(app: &App) -> LaneView {
    let (_, timeline) = app.session().answer().expect("an answer");
    timeline.lanes[0].clone()
}

/// A tensor of lane 0 with reuse on both sides, and the name of the largest tensor whose bytes it reuses.
fn with_both(app: &App) -> (Selected, String) {
    let (comparison, timeline) = app.session().answer().expect("an answer");
    let lane = &timeline.lanes[0];
    let name = |block: u32| tensor_name(comparison, lane.tensor(block).expect("a tensor"));
    (0..lane.blocks.len() as u32)
        .filter_map(|block| lane.tensor(block))
        .find_map(|tensor| {
            let earlier = lane.reused_bytes(tensor, ReuseSide::Earlier);
            let later = lane.reused_bytes(tensor, ReuseSide::Later);
            let largest = name(earlier.first()?.block);
            // The name is unique in the lists, so that it can be found.
            let others = earlier[1..].iter().chain(&later).map(|passed| name(passed.block));
            let beneath = lane.support(lane.blocks_of(tensor).next()?).below;
            let mut others = others.chain(beneath.iter().map(|block| name(*block)));
            (!later.is_empty() && !earlier.is_empty() && others.all(|other| other != largest))
                .then(|| (tensor, largest.to_owned()))
        })
        .expect("some tensor takes bytes over and passes them on")
}

fn select(harness: &mut Window, tensor: Selected) {
    apply(harness, Command::Select(Some(tensor)));
}

/// The words behind the toggles, such as `3 of 12 drawn`.
fn drawn(harness: &Window) -> String {
    let found = harness.query_all_by_label_contains("drawn").next();
    let label = found.and_then(|node| node.accesskit_node().label().or_else(|| node.accesskit_node().value()));
    label.unwrap_or_default()
}

#[test]
fn toggles_are_found_by_role_and_label_and_keys_move_them() {
    let mut harness = window_of("mobilenet", 1000.0);
    push_label(&mut harness, "overlays");
    harness.get_by_role_and_label(Role::CheckBox, "Gaps");
    for choice in ["off", "selection", "peak step"] {
        harness.get_by_role_and_label(Role::RadioButton, &format!("Reuse edges: {choice}"));
    }
    harness.get_by_label("select a tensor to see them");
    press(&mut harness, Modifiers::NONE, Key::E);
    assert!(drawn(&harness).ends_with("drawn"), "{}", drawn(&harness));
    press(&mut harness, Modifiers::NONE, Key::E);
    assert_eq!(drawn(&harness), "");
    push(&mut harness, Role::RadioButton, "Reuse edges: selection");
    harness.get_by_label("select a tensor to see them");
    press(&mut harness, Modifiers::NONE, Key::O);
    push(&mut harness, Role::CheckBox, "Gaps");
    let height = |harness: &Window| harness.get_by_label("lane policy 0 memory map").rect().height();
    let whole = height(&harness);
    push(&mut harness, Role::CheckBox, "Device events");
    assert!(!harness.state().lanes().marks.has_events && (height(&harness) - whole).abs() < 1.0);
    press(&mut harness, Modifiers::NONE, Key::Escape);
    // The lane that was clicked has the keyboard; the commands' letters work all the same.
    let place = harness.get_by_label("lane policy 0 memory map").rect().left_top() + vec2(4.0, 4.0);
    harness.hover_at(place);
    harness.run_steps(2);
    harness.drag_at(place);
    harness.run_steps(2);
    harness.drop_at(place);
    harness.run_steps(2);
    press(&mut harness, Modifiers::NONE, Key::E);
    assert!(drawn(&harness).ends_with("drawn"));
}

#[test]
fn the_inspector_lists_reuse_on_both_sides_of_a_tensor() {
    let mut harness = window_of("mobilenet", 1400.0);
    let (tensor, largest) = with_both(harness.state());
    select(&mut harness, tensor);
    let lane = lane(harness.state());
    for words in ["Reuses the bytes of", "Bytes reused by", "Placement"] {
        harness.get_by_label(words);
    }
    let n_edges = lane.arrows(tensor).n_total;
    assert!(n_edges > 0 && harness.query_by_label_contains("per lane").is_some());
    click(&mut harness, Role::Button, &largest);
    let selection = harness.state().session().selection().expect("the largest tensor");
    let earlier = lane.reused_bytes(tensor, ReuseSide::Earlier);
    assert_eq!(lane.tensor(earlier[0].block), Some(selection));
}

#[test]
fn a_long_list_opens_and_another_lane_can_be_explained() {
    let mut harness = window_of("resnet50", 1400.0);
    let many = {
        let lane = lane(harness.state());
        let tensors = (0..lane.blocks.len() as u32).filter_map(|block| lane.tensor(block));
        let mut tensors = tensors.filter(|tensor| lane.reused_bytes(*tensor, ReuseSide::Later).len() > 6);
        tensors.next().expect("a tensor with much reuse")
    };
    select(&mut harness, many);
    let before = harness.query_all_by_role(Role::Button).count();
    let opener = harness
        .query_all_by_label_contains("Bytes reused by: show")
        .next()
        .expect("a button that opens the list");
    opener.click();
    harness.run_steps(3);
    assert!(harness.query_all_by_role(Role::Button).count() > before);
    push(&mut harness, Role::RadioButton, "show lane policy 2");
    harness.get_by_label("Reuses the bytes of");
}

/// Weights never change while graphs run, so the scale of the map leaves them out, unless a switch is on.
#[test]
fn constant_regions_are_outside_the_scale_of_the_map() {
    let mut harness = window_of("resnet50", 1000.0);
    let heights = |harness: &Window| {
        let (_, timeline) = harness.state().session().answer().expect("an answer");
        (timeline.height.get(), timeline.changing_height().get())
    };
    let reach = |harness: &Window| harness.state().lanes().viewport.expect("a view").a1;
    let (whole, changing) = heights(&harness);
    assert!(changing < whole, "weights of {} B lie outside", whole - changing);
    assert!((reach(&harness) - changing as f64 * 1.04).abs() < 1.0);
    push_label(&mut harness, "overlays");
    push(&mut harness, Role::CheckBox, "Constant regions to scale");
    assert!((reach(&harness) - whole as f64 * 1.04).abs() < 1.0);
}
