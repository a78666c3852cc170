//! The sweep in the window: start, stop, hide a heuristic, open a point as a lane by pointer and by keys, set it as the
//! configuration; the choice of what lanes are compared for.

use eframe::egui::{self, Key, Modifiers, Role};
use egui_kittest::kittest::Queryable as _;
use highwater_analysis::LaneSet;
use highwater_rewrite::remat::{HEURISTICS, RematStatus};

use crate::harness::{Window, click, press, push, set_option, settle_chain, window_of};
use crate::visible_texts::texts;

/// A window on a sweep that has come to its end.
fn swept() -> Window {
    let mut harness = window_of("resnet50", 800.0);
    press(&mut harness, Modifiers::NONE, Key::B);
    harness.run_steps(2);
    click(&mut harness, Role::Button, "Start");
    harness
}

fn lanes(harness: &Window) -> LaneSet {
    harness.state().session().document().lanes.clone()
}

/// Of the selected run, while the lanes are policies.
const REPLACE: &str = "Show instead of these lanes";

#[test]
fn start_runs_and_stop_ends_the_sweep() {
    let mut harness = window_of("resnet50", 800.0);
    press(&mut harness, Modifiers::NONE, Key::B);
    harness.run_steps(2);
    push(&mut harness, Role::Button, "Start");
    assert!(harness.state().session().is_budget_sweep_running());
    while harness
        .state()
        .session()
        .budget_sweep()
        .is_none_or(|table| table.points.is_empty())
    {
        harness.run_steps(1);
    }
    harness.run_steps(1);
    harness.get_by_label_contains("of 162 runs");
    push(&mut harness, Role::Button, "Stop");
    assert!(!harness.state().session().is_budget_sweep_running());
    harness.get_by_label_contains("stopped at");
    click(&mut harness, Role::Button, "Continue");
    harness.get_by_label("162 runs, all tried");
}

#[test]
fn the_shortcut_starts_and_shows_the_sweep() {
    let mut harness = window_of("resnet50", 800.0);
    press(&mut harness, Modifiers::SHIFT, Key::B);
    harness.run_steps(2);
    settle_chain(&mut harness);
    harness.get_by_label("162 runs, all tried");
}

#[test]
fn every_heuristic_has_a_legend_a_limit_and_rows() {
    let mut harness = swept();
    for heuristic in HEURISTICS {
        harness.get_by_role_and_label(Role::CheckBox, &format!("hide {}", heuristic.label));
    }
    let rows = |harness: &Window| harness.query_all_by_label_contains("select MegEngine static").count();
    assert!(rows(&harness) > 3, "{}", rows(&harness));
    push(&mut harness, Role::CheckBox, "hide MegEngine static");
    assert_eq!(rows(&harness), 0);
    push(&mut harness, Role::Button, "Show all");
    assert!(rows(&harness) > 3);
}

/// Overheads have a sign, those up to an early end brackets; strips say where runs failed, and from where on they fit.
#[test]
fn ends_of_runs_are_told_in_table_plot_and_legend() {
    let mut harness = swept();
    let table = harness.state().session().budget_sweep().expect("a sweep");
    let n_failed = table
        .points
        .iter()
        .filter(|point| point.status != RematStatus::Ok)
        .count();
    assert!(n_failed > 0);
    let shown = texts(&harness);
    for text in [" thrash / out of memory ", " feasible ", "feasible from", "none"] {
        assert!(shown.iter().any(|shown| shown == text), "{text}: {shown:?}");
    }
    let is_signed = |text: &String| text.starts_with('+') && text.ends_with('%');
    assert!(shown.iter().any(is_signed), "{shown:?}");
    click(&mut harness, Role::Button, "sort by status, of runs");
    click(&mut harness, Role::Button, "sorted by status, of runs");
    let shown = texts(&harness);
    let is_early = |text: &String| text.starts_with('(') && text.ends_with("%)");
    assert!(shown.iter().any(is_early), "{shown:?}");
    let signs = ["small: ", "×: "].iter().filter_map(|sign| {
        let counted = shown.iter().find_map(|text| text.strip_prefix(sign))?;
        counted.split(' ').next()?.parse::<usize>().ok()
    });
    assert_eq!(signs.sum::<usize>(), n_failed);
}

#[test]
fn a_row_opens_a_lane_and_the_lane_closes() {
    let mut harness = swept();
    harness
        .query_all_by_label_contains("select MegEngine static under")
        .next()
        .expect("a row")
        .click();
    harness.run_steps(2);
    settle_chain(&mut harness);
    assert_eq!(lanes(&harness), LaneSet::Policies, "a click replaces no lanes");
    click(&mut harness, Role::Button, REPLACE);
    let LaneSet::Remat(open) = lanes(&harness) else {
        panic!("{:?}", lanes(&harness));
    };
    assert_eq!(open.len(), 1);
    assert_eq!(open[0].heuristic.name, "megengine");
    let (comparison, _) = harness.state().session().answer().expect("an answer");
    assert_eq!(comparison.lanes.len(), 2);
    assert_eq!(comparison.lanes[1].title.as_deref(), Some(open[0].title().as_str()));
    harness.get_by_label_contains("is lane of MegEngine static under");
    click(&mut harness, Role::Button, "Close lane");
    assert_eq!(lanes(&harness), LaneSet::Policies);
}

#[test]
fn keys_walk_the_rows_and_enter_opens() {
    let mut harness = swept();
    harness
        .query_all_by_label_contains("select MegEngine static under")
        .next()
        .expect("a row")
        .focus();
    harness.run_steps(2);
    for _ in 0..30 {
        harness.key_press(Key::ArrowDown);
        harness.run_steps(2);
    }
    harness.key_press(Key::Enter);
    harness.run_steps(2);
    click(&mut harness, Role::Button, REPLACE);
    let table = harness.state().session().budget_sweep().expect("a sweep");
    let point = &table.points[30];
    let LaneSet::Remat(open) = lanes(&harness) else {
        panic!("{:?}", lanes(&harness));
    };
    assert_eq!(open[0].heuristic, point.heuristic);
    assert!(
        open[0].title().contains(&point.budget.to_string()),
        "{}",
        open[0].title()
    );
}

#[test]
fn a_point_of_the_plot_opens_by_pointer_and_by_keys() {
    let mut harness = swept();
    let plot = harness.get_by_label_contains("plot of overhead").rect();
    // Somewhere in the plot there is a point under the pointer.
    let mut found = false;
    'search: for row in 1..24 {
        for column in 2..40 {
            let part = egui::vec2(column as f32 / 40.0, row as f32 / 24.0);
            let pos = plot.min + plot.size() * part;
            harness.hover_at(pos);
            harness.drag_at(pos);
            harness.run_steps(1);
            harness.drop_at(pos);
            harness.run_steps(2);
            if harness.query_by_label(REPLACE).is_some() {
                found = true;
                break 'search;
            }
        }
    }
    assert!(found);
    click(&mut harness, Role::Button, REPLACE);
    harness.get_by_label_contains("plot of overhead").focus();
    harness.run_steps(2);
    harness.key_press(Key::ArrowLeft);
    harness.run_steps(2);
    harness.key_press(Key::ArrowDown);
    harness.run_steps(2);
    harness.key_press(Key::Enter);
    harness.run_steps(2);
    settle_chain(&mut harness);
    let LaneSet::Remat(open) = lanes(&harness) else {
        panic!("{:?}", lanes(&harness));
    };
    assert_eq!(open.len(), 2, "{open:?}");
}

#[test]
fn a_point_becomes_the_configuration_in_one_step() {
    let mut harness = swept();
    harness
        .query_all_by_label_contains("select MegEngine static under")
        .nth(2)
        .expect("a row")
        .click();
    harness.run_steps(2);
    settle_chain(&mut harness);
    click(&mut harness, Role::Button, "Set as dtr.eviction_threshold");
    let session = harness.state().session();
    let budget = session.budget_sweep().expect("a sweep").points[2].budget;
    let line = session.command_line();
    assert!(
        line.contains(&format!("dtr.eviction_threshold={}", budget.get())),
        "{line}"
    );
    assert!(!session.is_budget_sweep_stale());
    harness.key_press_modifiers(egui::Modifiers::COMMAND, Key::Z);
    harness.run_steps(2);
    settle_chain(&mut harness);
    let line = harness.state().session().command_line();
    assert!(
        !line.contains("eviction_threshold") && !line.contains("remat_heuristic"),
        "{line}"
    );
}

#[test]
fn other_settings_are_told() {
    let mut harness = swept();
    assert!(harness.query_by_label_contains("The settings changed").is_none());
    set_option(&mut harness, "simulation.thrash_limit", "0.25");
    harness.get_by_label_contains("The settings changed");
    click(&mut harness, Role::Button, "Start again");
    assert!(harness.query_by_label_contains("The settings changed").is_none());
}

#[test]
fn axes_change_by_click() {
    let mut harness = swept();
    for label in [
        "budget in bytes",
        "overhead, log",
        "budget in % of the peak",
        "overhead, linear",
    ] {
        push(&mut harness, Role::RadioButton, label);
    }
    for order in [
        "budget",
        "part",
        "status",
        "overhead",
        "peak",
        "evictions",
        "recomputed",
    ] {
        click(&mut harness, Role::Button, &format!("sort by {order}, of runs"));
        harness.get_by_role_and_label(Role::Button, &format!("sorted by {order}, of runs"));
    }
}

fn choose_kind(harness: &mut Window, from: &str, to: &str) {
    click(harness, Role::ComboBox, &format!("compare {from}"));
    click(harness, Role::Button, to);
}

#[test]
fn lanes_are_policies_budgets_or_name_reuse() {
    let mut harness = window_of("resnet50", 800.0);
    settle_chain(&mut harness);
    choose_kind(&mut harness, "policies", "budgets");
    let LaneSet::Remat(open) = lanes(&harness) else {
        panic!("{:?}", lanes(&harness));
    };
    assert_eq!(open.len(), 1, "half of the peak, by the configured heuristic");
    assert_eq!(open[0].heuristic.name, "megengine");
    let title = open[0].title();
    harness.get_by_role_and_label(Role::Button, &format!("close the lane of {title}"));
    choose_kind(&mut harness, "budgets", "policies");
    assert_eq!(lanes(&harness), LaneSet::Policies);
    // The keys go round, and what was open is open again.
    press(&mut harness, Modifiers::NONE, Key::C);
    harness.run_steps(2);
    settle_chain(&mut harness);
    assert_eq!(lanes(&harness), LaneSet::Remat(open));
    click(&mut harness, Role::Button, &format!("close the lane of {title}"));
    assert_eq!(lanes(&harness), LaneSet::Policies);
}

/// The budgets end in one sentence, and a lane under a budget has a name that no policy has.
#[test]
fn the_smallest_feasible_budget_is_one_sentence() {
    let mut harness = swept();
    let table = harness.state().session().budget_sweep().expect("a sweep");
    let limits = HEURISTICS
        .iter()
        .filter_map(|heuristic| highwater_analysis::feasible_limit(&table.points, heuristic));
    let least = limits.min().expect("some run fits");
    harness.get_by_label_contains(&format!("Smallest feasible budget: {least}"));
    harness
        .query_all_by_label_contains("select MegEngine static under")
        .next()
        .expect("a row")
        .click();
    harness.run_steps(2);
    click(&mut harness, Role::Button, REPLACE);
    let (comparison, _) = harness.state().session().answer().expect("an answer");
    for lane in &comparison.lanes {
        let mark = comparison.lane_mark(lane.id);
        assert!(mark.parse::<u32>().is_err(), "{mark}");
        assert!(!comparison.lane_title(lane.id).starts_with("lane "));
    }
}

#[test]
fn the_plot_keeps_its_size_where_every_heuristic_is_hidden() {
    let mut harness = swept();
    let head = "sort by budget, of runs";
    let before = harness.get_by_role_and_label(Role::Button, head).rect();
    for heuristic in HEURISTICS {
        push(&mut harness, Role::CheckBox, &format!("hide {}", heuristic.label));
    }
    assert!(harness.query_by_label_contains("plot of overhead").is_none());
    let after = harness.get_by_role_and_label(Role::Button, head).rect();
    assert!((after.top() - before.top()).abs() < 1.0, "{before:?} {after:?}");
    push(&mut harness, Role::Button, "Show all");
    harness.get_by_label_contains("plot of overhead");
}
