//! One selected lane: the table, Compare and differences follow it; rows under the pointer cover nothing.

use eframe::egui::{Key, Modifiers, Role, vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use highwater_options::keys;

use crate::harness::{Window, click, lane_row, policy_lane, press_and_settle, set_option, settle_chain, window_of};

fn click_row(window: &mut Window, policy: u8, modifiers: Modifiers) {
    {
        let rows = window.query_all_by_role(Role::RadioButton);
        let mut rows = rows.filter(|node| {
            let label = node.accesskit_node().label().unwrap_or_default();
            label.starts_with(&format!("policy {policy}")) && label.contains("peak reserved")
        });
        rows.next().expect("a row").click_modifiers(modifiers);
    }
    settle_chain(window);
    // A second click soon after would be a double click.
    window.run_steps(30);
}

#[test]
fn compare_follows_the_selected_lane_and_selects_one() {
    let mut window = window_of("mixed", 900.0);
    press_and_settle(&mut window, Modifiers::SHIFT, Key::V);
    click_row(&mut window, 3, Modifiers::NONE);
    window.get_by_label_contains("Changes at the peak of policy 3");
    click(&mut window, Role::RadioButton, "lane policy 4");
    window.get_by_label_contains("Changes at the peak of policy 4");
    window.get_by_label("Peak of policy 4");
}

#[test]
fn a_difference_is_from_the_selected_lane() {
    let mut window = window_of("mixed", 900.0);
    click_row(&mut window, 2, Modifiers::NONE);
    click_row(&mut window, 4, Modifiers::COMMAND);
    let difference = window.state().session().difference().last().expect("a difference");
    assert_eq!(difference.lanes, (policy_lane(4), policy_lane(2)));
    window.get_by_label_contains("difference, policy 4 less policy 2");
}

#[test]
fn a_row_under_the_pointer_is_told_in_the_status_bar() {
    let mut window = window_of("mixed", 800.0);
    window.hover_at(lane_row(&window, 2).center() + vec2(30.0, 0.0));
    for _ in 0..12 {
        window.run_steps(1);
    }
    let told = window
        .query_all_by_label_contains("peak reserved")
        .find(|node| node.rect().top() > 770.0)
        .expect("it is in the status bar");
    let text = told.accesskit_node().label().or(told.accesskit_node().value());
    assert!(text.unwrap_or_default().starts_with("policy 2, recommended"));
    let covered = window.query_all_by_label_contains("minus the selected lane");
    let rows = lane_row(&window, 0).union(lane_row(&window, 4));
    for node in covered {
        let is_row = node.accesskit_node().role() == Role::RadioButton;
        assert!(is_row || !node.rect().intersects(rows), "a tooltip covers rows");
    }
}

#[test]
fn the_row_below_is_as_high_as_its_problems() {
    let mut window = window_of("resnet50", 800.0);
    click(&mut window, Role::Tab, "Tables");
    let tab = |window: &Window| window.get_by_role_and_label(Role::Tab, "Tables").rect().top();
    let with_table = tab(&window);
    click(&mut window, Role::Button, "show problems: 0 errors, 0 warnings");
    let with_problems = tab(&window);
    assert!(
        with_problems > with_table + 60.0 && 775.0 - with_problems < 130.0,
        "{with_table} {with_problems}"
    );
    // Sizes are rounded for people.
    let problem = window
        .query_all_by_label_contains("it changes the peak of policy 0 from")
        .next()
        .expect("a remark");
    let text = problem.accesskit_node().label().unwrap_or_default();
    assert!(text.contains("GiB to") && !text.contains("\u{a0}B"), "{text}");
    click(&mut window, Role::Tab, "Tables");
    assert!((tab(&window) - with_table).abs() < 1.0, "a table has its height again");
}

#[test]
fn a_lane_that_runs_out_at_once_offers_remedies() {
    let mut window = window_of("resnet50", 800.0);
    set_option(&mut window, keys::DEVICE_MEMORY, "100MiB");
    window.get_by_label("Nothing was reserved before.");
    assert!(window.query_by_label_contains("Reserved at step").is_none());
    window.get_by_label("Find a budget");
    let device = window
        .query_all_by_label_contains("Try a device with")
        .next()
        .expect("a device that is enough");
    device.click();
    settle_chain(&mut window);
    let (comparison, _) = window.state().session().answer().expect("an answer");
    assert!(!comparison.lanes[0].summary.out_of_memory);
}

#[test]
fn long_lists_of_the_inspector_open_and_close() {
    let mut window = window_of("bert", 1000.0);
    let rows = |window: &Window| window.query_all_by_label("pool block").count();
    let before = rows(&window);
    let more = window
        .query_all_by_label_contains("regions: show ")
        .next()
        .expect("a long list")
        .accesskit_node()
        .label()
        .unwrap_or_default();
    click(&mut window, Role::Button, &more);
    assert!(rows(&window) > before, "{more}");
    click(&mut window, Role::Button, "regions: show only the largest 8");
    assert_eq!(rows(&window), before);
}
