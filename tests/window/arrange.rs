//! Lanes are folded, hidden, moved, compared and coloured; the overview shows where the view is.

use eframe::egui::{Key, Modifiers, Role, vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use highwater_analysis::LaneId;
use highwater_session::Command;
use highwater_sim::StaticMemoryPolicy;
use highwater_timeline::{Attribute, ColorBy, ColoringRequest};
use highwater_ui::commands::{COMMANDS, UiCommand};

use crate::harness::{Window, click_label, press, push, push_label, settle, window_of};

fn window() -> Window {
    window_of("mixed", 900.0)
}

/// Opens the menu of a lane and chooses an entry.
fn choose(harness: &mut Window, lane: &str, entry: &str) {
    push_label(harness, &format!("arrange {lane}"));
    push_label(harness, entry);
    press(harness, Modifiers::NONE, Key::Escape);
}

fn canvas(policy: u8) -> String {
    format!("lane policy {policy} memory map")
}

#[test]
fn a_lane_is_hidden_and_brought_back() {
    let mut harness = window();
    choose(&mut harness, "policy 2", "Hide");
    assert!(harness.query_by_label(&canvas(2)).is_none());
    push_label(&mut harness, "1 lane hidden: show");
    harness.get_by_label(&canvas(2));
    choose(&mut harness, "policy 3", "Show this lane alone");
    assert_eq!(harness.query_all_by_label_contains("memory map").count(), 1);
    choose(&mut harness, "policy 3", "Show all lanes");
    assert_eq!(harness.query_all_by_label_contains("memory map").count(), 4);
}

#[test]
fn a_folded_lane_leaves_its_room_to_others() {
    let mut harness = window();
    let height = |harness: &Window, policy| harness.get_by_label(&canvas(policy)).rect().height();
    let before = (height(&harness, 0), height(&harness, 3));
    choose(&mut harness, "policy 0", "Collapse");
    assert!(height(&harness, 0) < before.0);
    assert!(height(&harness, 3) > before.1);
    choose(&mut harness, "policy 0", "Expand");
    assert!((height(&harness, 0) - before.0).abs() < 1.0);
}

#[test]
fn a_lane_moves_past_another() {
    let mut harness = window();
    let top = |harness: &Window, policy| harness.get_by_label(&canvas(policy)).rect().top();
    choose(&mut harness, "policy 4", "Move up");
    assert!(top(&harness, 4) < top(&harness, 3));
    choose(&mut harness, "policy 4", "Move down");
    assert!(top(&harness, 4) > top(&harness, 3));
}

#[test]
fn the_edge_of_a_lane_changes_its_height() {
    let mut harness = window();
    let before = harness.get_by_label(&canvas(0)).rect().height();
    let edge = harness.get_by_label("height of policy 0").rect().center();
    harness.drag_at(edge);
    harness.run_steps(2);
    harness.hover_at(edge + vec2(0.0, 40.0));
    harness.run_steps(2);
    harness.drop_at(edge + vec2(0.0, 40.0));
    harness.run_steps(2);
    let after = harness.get_by_label(&canvas(0)).rect().height();
    assert!(after > before + 10.0, "{before} to {after}");
}

#[test]
fn two_lanes_are_subtracted() {
    let mut harness = window();
    let lane = |policy| LaneId::Policy(StaticMemoryPolicy::from_number(policy).unwrap());
    harness
        .state_mut()
        .apply(Command::SetDifference(Some((lane(0), lane(2)))));
    settle(&mut harness);
    harness.get_by_role_and_label(Role::Canvas, "difference, policy 0 less policy 2: reserved");
    let (comparison, _) = harness.state().session().answer().unwrap();
    let curve = |policy| {
        &comparison
            .lanes
            .iter()
            .find(|row| row.id == lane(policy))
            .unwrap()
            .curves
            .reserved
    };
    let difference = harness.state().session().difference().last().unwrap();
    for step in 0..comparison.axis.n_steps {
        let bytes = |policy| curve(policy).get(step as usize).unwrap().get().cast_signed();
        assert_eq!(difference.reserved.at(step), bytes(0) - bytes(2));
    }
    click_label(&mut harness, "Close");
    assert!(
        harness
            .query_all_by_label_contains("difference, policy")
            .next()
            .is_none()
    );
}

#[test]
fn colours_mean_what_is_chosen_and_the_legend_filters() {
    let mut harness = window();
    push_label(&mut harness, "color by tensor");
    click_label(&mut harness, "role");
    let order = harness.state().session().look_order().clone();
    assert_eq!(order.by, ColorBy::By(Attribute::Role));
    let group = harness.get_by_role_and_label(Role::CheckBox, "group activation");
    group.click();
    settle(&mut harness);
    let order = harness.state().session().look_order().clone();
    assert_eq!(order.hidden, ["activation"]);
    click_label(&mut harness, "show all groups");
    assert!(harness.state().session().look_order().hidden.is_empty());
}

#[test]
fn every_attribute_has_a_legend() {
    let mut harness = window();
    for by in ColorBy::all() {
        harness
            .state_mut()
            .apply(Command::SetLook(ColoringRequest { by, hidden: Vec::new() }));
        settle(&mut harness);
        harness.get_by_label(&format!("color by {}", by.words()));
        let has_command = COMMANDS.iter().any(|row| row.command == UiCommand::ColorBy(by));
        assert!(has_command, "no command colors by {}", by.words());
        let n_groups = harness.query_all_by_label_contains("group ").count();
        assert_eq!(n_groups > 0, by != ColorBy::Tensor, "{by:?}");
    }
}

#[test]
fn the_overview_follows_and_leads_the_view() {
    let mut harness = window();
    let label = |harness: &Window| {
        let strip = harness.query_all_by_label_contains("overview, shows").next().unwrap();
        (strip.rect(), strip.accesskit_node().label().unwrap())
    };
    let (rect, whole) = label(&harness);
    let (from, to) = (
        rect.left_center() + vec2(rect.width() * 0.4, 0.0),
        rect.left_center() + vec2(rect.width() * 0.6, 0.0),
    );
    // From the edge of the window, which is at the end of the strip.
    let end = rect.right_center() - vec2(2.0, 0.0);
    harness.drag_at(end);
    harness.run_steps(2);
    harness.hover_at(to);
    harness.run_steps(2);
    harness.drop_at(to);
    harness.run_steps(2);
    let (_, cut) = label(&harness);
    assert_ne!(cut, whole);
    // The window as a whole.
    harness.drag_at(from);
    harness.run_steps(2);
    harness.hover_at(from + vec2(rect.width() * 0.2, 0.0));
    harness.run_steps(2);
    harness.drop_at(from + vec2(rect.width() * 0.2, 0.0));
    harness.run_steps(2);
    let (_, moved) = label(&harness);
    assert_ne!(moved, cut);
    press(&mut harness, Modifiers::NONE, Key::H);
    assert_eq!(label(&harness).1, whole);
}

#[test]
fn lanes_have_separate_scales_on_request() {
    let mut harness = window();
    push_label(&mut harness, "lane arrangement");
    push(&mut harness, Role::CheckBox, "Independent y-axes");
    assert!(harness.state().lanes().arrangement.has_own_scales);
    press(&mut harness, Modifiers::NONE, Key::Y);
    assert!(!harness.state().lanes().arrangement.has_own_scales);
    // Everything that could be found before is still there.
    for policy in [0, 2, 3, 4] {
        harness.get_by_label(&canvas(policy));
    }
}
