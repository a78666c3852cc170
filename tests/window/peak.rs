//! The pane Peak: found by role and label, with the figures of the library.

use eframe::egui::{Key, Modifiers, Role, pos2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use highwater_timeline::{Attribute, PeakAt, PeakReport, PeakRequest, tensor_label};

use crate::harness::{Window, click_label, press_and_settle, push, push_label, settle, window_of};

fn window() -> Window {
    let mut harness = window_of("resnet50", 1000.0);
    press_and_settle(&mut harness, Modifiers::SHIFT, Key::P);
    harness
}

fn expected(harness: &Window, by: Attribute) -> PeakReport {
    let (comparison, _) = harness.state().session().answer().expect("an answer");
    let ask = PeakRequest {
        lane: comparison.main_lane().expect("a lane"),
        at: PeakAt::Peak,
        by,
        within: None,
        n_first: 8,
        against: None,
    };
    PeakReport::new(comparison, ask).expect("a report")
}

#[test]
fn the_pane_says_what_the_library_says() {
    let mut harness = window();
    let report = expected(&harness, Attribute::OpType);
    assert_eq!(
        **harness.state().session().peak_report().last().expect("a report"),
        report
    );
    harness.get_by_label_contains("Peak live: step");
    let (comparison, _) = harness.state().session().answer().expect("an answer");
    let sign = comparison.bound_sign(report.ask.lane);
    assert_eq!(sign, "\u{2265}\u{a0}", "no op states its workspace");
    let reserved = format!("{sign}{}", report.set.reserved.expect("known"));
    for text in [report.set.live.to_string(), reserved] {
        assert!(harness.query_all_by_value(&text).count() > 0, "{text}");
    }
    for group in &report.groups {
        harness.get_by_label_contains(&format!("open {}: {}", group.text, group.bytes.exact()));
    }
    for part in ["Savings if removed", "Longest idle", "Needed by", "Bookmarks"] {
        harness.get_by_label(part);
    }
    // Another attribute is other groups.
    push(&mut harness, Role::ComboBox, "group by op type");
    click_label(&mut harness, "role");
    let report = expected(&harness, Attribute::Role);
    harness.get_by_label_contains(&format!("open {}: ", report.groups[0].text));
}

#[test]
fn a_group_opens_and_a_tensor_is_selected_without_leaving_the_pane() {
    let mut harness = window();
    let report = expected(&harness, Attribute::OpType);
    harness
        .get_by_label_contains(&format!("open {}: ", report.groups[0].text))
        .click();
    harness.run_steps(3);
    let (_, member) = report.members_of(0).next().expect("a member");
    let (comparison, _) = harness.state().session().answer().expect("an answer");
    let words = format!(
        "select {}: {}",
        tensor_label(comparison, member.tensor),
        member.bytes.exact()
    );
    harness.get_by_label_contains(&words).click();
    harness.run_steps(3);
    assert_eq!(harness.state().session().selection(), Some(member.tensor));
    harness.get_by_label("Lowering the live peak");
    let words = format!("close {}: ", report.groups[0].text);
    harness.get_by_label_contains(&words).click();
    harness.run_steps(3);
    let words = format!("open {}: ", report.groups[0].text);
    harness.get_by_label_contains(&words);
}

#[test]
fn the_pinned_step_is_explained_and_the_peak_again() {
    let mut harness = window();
    let canvas = harness.get_by_label("lane policy 2 memory map").rect();
    let place = pos2(canvas.left() + 200.0, canvas.top() + 8.0);
    harness.hover_at(place);
    harness.run_steps(1);
    harness.drag_at(place);
    harness.run_steps(1);
    harness.drop_at(place);
    harness.run_steps(3);
    settle(&mut harness);
    harness.get_by_label_contains("Pinned: step");
    harness.get_by_label("lane: policy 2");
    let session = harness.state().session();
    let report = session.peak_report().last().expect("a report");
    assert!(matches!(report.ask.at, PeakAt::Step(step) if step == report.set.step));
    click_label(&mut harness, "explain peak live");
    harness.get_by_label_contains("Peak live: step");
    push_label(&mut harness, "Copy");
    harness.get_by_label_contains("copied: ");
    harness.get_by_label("Export…");
}

#[test]
fn nothing_of_the_pane_is_cut_off() {
    let harness = window();
    let mut n_seen = 0;
    for role in [Role::Button, Role::RadioButton, Role::Label, Role::ComboBox] {
        for node in harness.query_all_by_role(role) {
            let rect = node.rect();
            if rect.left() > 1012.0 && rect.top() > 50.0 {
                n_seen += 1;
                let words = node.accesskit_node().label().or(node.accesskit_node().value());
                assert!(rect.right() <= 1280.5, "{words:?} ends at {}", rect.right());
            }
        }
    }
    assert!(n_seen > 20, "{n_seen}");
}

#[test]
fn what_another_lane_holds_otherwise_is_listed() {
    let mut harness = window();
    push(&mut harness, Role::ComboBox, "compared lane: no baseline");
    click_label(&mut harness, "baseline: policy 2");
    let report = harness.state().session().peak_report().last().expect("a report");
    let changes = report.changes.as_ref().expect("another lane");
    harness.get_by_label("Changes from policy 2");
    match changes.rows.first() {
        Some(change) => {
            let text = highwater_model::units::signed_bytes(change.difference());
            assert!(
                harness.query_all_by_value(&text).count() + harness.query_all_by_label(&text).count() > 0,
                "{text}"
            );
        }
        None => drop(harness.get_by_label("Both peaks hold the same tensors.")),
    }
}
