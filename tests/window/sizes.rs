//! No size of the window and no position of a divider ends the program: every view and pane from 1x1 up.

use eframe::egui::{Key, Modifiers, Role, pos2, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use highwater_ui::app::App;
use highwater_ui::panes::PANES;

use crate::app::{press, settle, window_of};
use crate::shell::open_palette;

/// Widths and heights in points: below a gutter, around the smallest layout, common screens, and the largest texture.
const SIDES: [f32; 8] = [1.0, 8.0, 61.0, 100.0, 173.0, 320.0, 800.0, 8192.0];

/// Lays the window out at every size. A rectangle of negative size ends the test with a panic.
fn lay_out_at_every_size(harness: &mut Harness<'_, App>) {
    for width in SIDES {
        for height in SIDES {
            harness.set_size(vec2(width, height));
            harness.run_steps(1);
        }
    }
    harness.set_size(vec2(1280.0, 800.0));
    harness.run_steps(2);
}

fn run_command(harness: &mut Harness<'_, App>, name: &str) {
    open_palette(harness, name);
    press(harness, Modifiers::NONE, Key::Enter);
    settle(harness);
}

#[test]
fn every_view_has_a_layout_at_every_size() {
    // A graph under four policies, and a recording.
    for sample in [2, 5] {
        let mut harness = window_of(sample, 800.0);
        for _view in ["memory map", "areas", "lifetimes"] {
            for _layout in ["stacked", "side by side"] {
                lay_out_at_every_size(&mut harness);
                run_command(&mut harness, "Stacked or side by side");
            }
            run_command(&mut harness, "Memory map, areas or lifetimes");
        }
    }
}

#[test]
fn lanes_under_a_budget_have_a_layout_at_every_size() {
    let mut harness = window_of(2, 800.0);
    run_command(&mut harness, "Policies, passes or name reuse");
    assert!(harness.query_all_by_label_contains("memory map").count() > 0);
    lay_out_at_every_size(&mut harness);
}

#[test]
fn every_pane_has_a_layout_at_every_size() {
    let mut harness = window_of(2, 800.0);
    for row in PANES {
        run_command(&mut harness, &format!("go to pane {}", row.title));
        lay_out_at_every_size(&mut harness);
    }
}

#[test]
fn every_divider_can_be_dragged_to_both_ends() {
    let mut harness = window_of(2, 800.0);
    // The left edges of the middle and of the right column, and the upper edge of the panes below.
    for (name, is_vertical) in [("Policies", true), ("Inspector", true), ("Import report", false)] {
        let edge = |harness: &Harness<'_, App>| {
            let mut tabs = harness.query_all_by_role_and_label(Role::Tab, name);
            tabs.next().map(|tab| {
                if is_vertical {
                    tab.rect().left()
                } else {
                    tab.rect().top()
                }
            })
        };
        let before = edge(&harness).expect("the pane is open");
        let mut has_moved = false;
        for end in [0.0_f32, 1.0, 0.0, 1.0, 0.3] {
            // The divider is a few points wide and lies before the edge of the tab, whose text has a margin.
            for offset in [-20.0_f32, -16.0, -12.0, -8.0, -5.0, -3.0, -1.5] {
                let Some(edge) = edge(&harness) else { continue };
                drag(&mut harness, edge + offset, end, is_vertical);
            }
            has_moved |= edge(&harness).is_none_or(|edge| (edge - before).abs() > 50.0);
        }
        assert!(has_moved, "no divider was found at {name}");
        lay_out_at_every_size(&mut harness);
    }
}

/// Drags what lies at a place along one axis to a share of the window.
fn drag(harness: &mut Harness<'_, App>, from: f32, end: f32, is_vertical: bool) {
    let window = vec2(1280.0, 800.0);
    let at = |along: f32| {
        if is_vertical {
            pos2(along, window.y * 0.4)
        } else {
            pos2(window.x * 0.5, along)
        }
    };
    let target = at(end * if is_vertical { window.x } else { window.y });
    harness.drag_at(at(from));
    harness.run_steps(2);
    harness.hover_at(target);
    harness.run_steps(2);
    harness.drop_at(target);
    harness.run_steps(2);
}
