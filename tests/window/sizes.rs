//! No size of the window and no position of a divider ends the program: every view and pane from 1x1 up.

use eframe::egui::{Key, Modifiers, Pos2, Rect, Role, pos2, vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use highwater_ui::panes::PANES;

use crate::harness::{Window, press_and_settle, window_of};
use crate::shell::open_palette;

/// Widths and heights in points: below a gutter, around the smallest layout, common screens, and the largest texture.
const SIDES: [f32; 8] = [1.0, 8.0, 61.0, 100.0, 173.0, 320.0, 800.0, 8192.0];

/// Lays the window out at every size. A rectangle of negative size ends the test with a panic.
fn lay_out_at_every_size(harness: &mut Window) {
    for width in SIDES {
        for height in SIDES {
            harness.set_size(vec2(width, height));
            harness.run_steps(1);
        }
    }
    harness.set_size(vec2(1280.0, 800.0));
    harness.run_steps(2);
}

fn run_command(harness: &mut Window, name: &str) {
    open_palette(harness, name);
    press_and_settle(harness, Modifiers::NONE, Key::Enter);
}

#[test]
fn every_view_has_a_layout_at_every_size() {
    // A graph under four policies, and a recording.
    for sample in ["mobilenet", "measured"] {
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
    let mut harness = window_of("mobilenet", 800.0);
    run_command(&mut harness, "Compare policies budgets variable reuse");
    assert!(harness.query_all_by_label_contains("memory map").count() > 0);
    lay_out_at_every_size(&mut harness);
}

#[test]
fn every_pane_has_a_layout_at_every_size() {
    let mut harness = window_of("mobilenet", 800.0);
    for row in PANES {
        run_command(&mut harness, &format!("go to pane {}", row.title));
        lay_out_at_every_size(&mut harness);
    }
}

/// Dialogs that the keyboard or a command opens.
#[test]
fn every_dialog_has_a_layout_at_every_size() {
    for command in [
        "export configuration",
        "keyboard and mouse",
        "open path",
        "pin this configuration",
        "save as",
    ] {
        let mut harness = window_of("mobilenet", 800.0);
        let before = harness.root().children_recursive().count();
        run_command(&mut harness, command);
        assert!(
            harness.root().children_recursive().count() != before,
            "{command} opens nothing"
        );
        lay_out_at_every_size(&mut harness);
    }
    let mut harness = window_of("mobilenet", 800.0);
    open_palette(&mut harness, "a");
    lay_out_at_every_size(&mut harness);
}

#[test]
fn every_divider_can_be_dragged_to_both_ends() {
    // The left edges of the middle and of the right column, and the upper edge of the panes below.
    for (name, is_vertical) in [("Policies", true), ("Inspector", true), ("Import report", false)] {
        let mut harness = window_of("mobilenet", 800.0);
        let tab = |harness: &Window| {
            let mut tabs = harness.query_all_by_role_and_label(Role::Tab, name);
            tabs.next().map(|tab| tab.rect())
        };
        let edge = |rect: Rect| if is_vertical { rect.left() } else { rect.top() };
        let before = tab(&harness).expect("the pane is open");
        let mut has_moved = false;
        for end in [0.0_f32, 1.0, 0.0, 1.0, 0.3] {
            // The divider is a few points wide and lies before the tab, whose text has a margin.
            for offset in [-20.0_f32, -16.0, -12.0, -8.0, -5.0, -3.0, -1.5] {
                let Some(rect) = tab(&harness) else { continue };
                let along = edge(rect) + offset;
                let (from, to) = if is_vertical {
                    (pos2(along, 320.0), pos2(end * 1280.0, 320.0))
                } else {
                    let x = before.center().x;
                    (pos2(x, along), pos2(x, end * 800.0))
                };
                drag(&mut harness, from, to);
            }
            has_moved |= tab(&harness).is_none_or(|rect| (edge(rect) - edge(before)).abs() > 50.0);
        }
        assert!(has_moved, "no divider was found at {name}");
        lay_out_at_every_size(&mut harness);
    }
}

fn drag(harness: &mut Window, from: Pos2, to: Pos2) {
    harness.drag_at(from);
    harness.run_steps(2);
    harness.hover_at(to);
    harness.run_steps(2);
    harness.drop_at(to);
    harness.run_steps(2);
}
