//! The sweep over configurations in the window: axes, start and stop, the plot and the table by pointer and by keys, the
//! recommendation with figures that lead somewhere.

use eframe::egui::{self, Key, Role};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use highwater_analysis::sweep::SweepPoint;
use highwater_options::keys;
use highwater_session::SweepTable;

use crate::harness::{Window, click, press, press_and_settle, push, set_option, settle_chain, window_of};

const TRY: egui::Modifiers = egui::Modifiers::COMMAND.plus(egui::Modifiers::SHIFT);

/// A window on a space that was tried.
fn tried(sample: &str) -> Window {
    let mut harness = window_of(sample, 800.0);
    // So few points are tried at once.
    press_and_settle(&mut harness, egui::Modifiers::COMMAND, Key::M);
    harness
}

fn n_points(harness: &Window) -> usize {
    harness.state().session().sweep().map_or(0, |table| table.points.len())
}

fn option(harness: &Window, key: &str) -> String {
    harness.state().session().document().options.written(key).to_string()
}

#[test]
fn a_cheap_sweep_starts_with_its_pane() {
    let mut harness = tried("resnet50");
    harness.get_by_role_and_label(Role::TextInput, "values of static_memory_policy");
    harness.get_by_role_and_label(Role::TextInput, "values of atomic_clean_policy");
    assert_eq!(n_points(&harness), 8);
    harness.get_by_label("8 configurations, all tried");
    harness.get_by_label_contains("plot of overhead against peak");
    let rows = harness.query_all_by_label_contains("pin static_memory_policy").count();
    assert!(rows > 3, "{rows}");
    press(&mut harness, egui::Modifiers::COMMAND, Key::M);
    assert!(
        harness.query_by_label("8 configurations, all tried").is_none(),
        "the lanes are in front again"
    );
}

#[test]
fn the_keys_start_and_stop_and_what_is_known_stays() {
    let mut harness = tried("mixed");
    let field = harness.get_by_role_and_label(Role::TextInput, "values of atomic_clean_policy");
    field.focus();
    harness.run_steps(2);
    push(&mut harness, Role::Button, "remove the axis atomic_clean_policy");
    harness.get_by_label("4 configurations");
    // One frame sees the key; the run has no time to end.
    harness.key_press_modifiers(TRY, Key::M);
    harness.run_steps(1);
    assert!(harness.state().session().is_sweep_running());
    press(&mut harness, TRY, Key::M);
    assert!(!harness.state().session().is_sweep_running());
    let known = n_points(&harness);
    press_and_settle(&mut harness, TRY, Key::M);
    assert_eq!(n_points(&harness), 4);
    assert!(known <= 4);
    harness.get_by_label("4 configurations, all tried");
}

#[test]
fn axes_are_typed_and_what_cannot_be_read_is_said() {
    let mut harness = tried("bert");
    let field = "values of atomic_clean_policy";
    harness.get_by_role_and_label(Role::TextInput, field).focus();
    harness.run_steps(2);
    press(&mut harness, egui::Modifiers::COMMAND, Key::A);
    harness.get_by_role_and_label(Role::TextInput, field).type_text("0..x");
    harness.run_steps(3);
    harness.get_by_label_contains("atomic_clean_policy: \"0..x\" is not a range");
    assert!(harness.query_by_label("Start").is_none());
    press(&mut harness, egui::Modifiers::COMMAND, Key::A);
    harness.get_by_role_and_label(Role::TextInput, field).type_text("1");
    harness.run_steps(3);
    harness.get_by_label("4 configurations");
    let capacity = "capacity that configurations must fit";
    harness.get_by_role_and_label(Role::TextInput, capacity).focus();
    harness.run_steps(2);
    harness
        .get_by_role_and_label(Role::TextInput, capacity)
        .type_text("100MiB");
    harness.run_steps(3);
    harness.key_press(Key::Enter);
    harness.run_steps(2);
    settle_chain(&mut harness);
    let table = harness.state().session().sweep().expect("a space");
    assert!(
        table
            .points
            .iter()
            .all(|point| point.fitting().is_none() && point.figures().is_some())
    );
    click(&mut harness, Role::Button, "Recommend");
    harness.get_by_label("Nothing fits.");
}

#[test]
fn rows_are_sorted_and_walked_with_the_keys() {
    let mut harness = tried("mixed");
    let titles = |harness: &Window| -> Vec<String> {
        let rows = harness.query_all_by_label_contains("pin static_memory_policy");
        rows.map(|row| format!("{row:?}")).collect()
    };
    let before = titles(&harness);
    push(&mut harness, Role::Button, "sort by peak, of configurations");
    assert_ne!(titles(&harness), before);
    harness.get_by_role_and_label(Role::Button, "sorted by peak, of configurations");
    let label = {
        let table = harness.state().session().sweep().expect("a space");
        let peak = |point: &SweepPoint| point.figures().map(|figures| (figures.peak_reserved, point.idx));
        let first = table.points.iter().min_by_key(|point| peak(point)).expect("a point");
        format!("pin {}: ", table.space.title(first.idx))
    };
    harness
        .query_all_by_label_contains(&label)
        .next()
        .expect("the first row")
        .focus();
    harness.run_steps(2);
    harness.key_press(Key::ArrowDown);
    harness.run_steps(3);
    harness.get_by_role_and_label(Role::Button, "Apply");
}

#[test]
fn the_plot_is_walked_with_the_keys() {
    let mut harness = tried("mixed");
    let plot = "plot of overhead against peak; arrow keys choose a point, Enter: pin";
    harness.get_by_role_and_label(Role::Image, plot).focus();
    harness.run_steps(2);
    let selected = |harness: &mut Window, key: Key, wanted: fn(&SweepTable) -> u64| {
        harness.key_press(key);
        harness.run_steps(2);
        let table = harness.state().session().sweep().expect("a space");
        let label = format!("{}: fits, peak", table.space.title(wanted(table)));
        let lines = harness.query_all_by_label_contains(&label).count();
        // A row of the table says it too.
        assert!(lines > 0, "{label}");
        harness.get_by_role_and_label(Role::Button, "Apply");
    };
    selected(&mut harness, Key::ArrowRight, |table| table.points[table.front[0]].idx);
    selected(&mut harness, Key::ArrowDown, |table| table.points[table.front[1]].idx);
}

#[test]
fn a_recommendation_is_told_applied_and_undone_in_one_step() {
    let mut harness = window_of("mixed", 800.0);
    press_and_settle(&mut harness, TRY, Key::G);
    let found = harness
        .state()
        .session()
        .sweep()
        .and_then(|table| table.recommendation.clone());
    let found = found.expect("a recommendation");
    let winner = found.winner.as_ref().expect("something fits");
    assert!(!found.reasons.is_empty());
    harness.get_by_label(&winner.title);
    harness.get_by_label_contains(", the least");
    let before = option(&harness, keys::STATIC_MEMORY_POLICY);
    click(&mut harness, Role::Button, "Apply this configuration");
    let applied = option(&harness, keys::STATIC_MEMORY_POLICY);
    assert_eq!(
        applied,
        winner
            .configuration
            .options
            .written(keys::STATIC_MEMORY_POLICY)
            .to_string()
    );
    assert_ne!(applied, before);
    assert!(
        !harness.state().session().is_sweep_stale(),
        "what axes set makes no points old"
    );
    press_and_settle(&mut harness, egui::Modifiers::COMMAND, Key::Z);
    assert_eq!(option(&harness, keys::STATIC_MEMORY_POLICY), before);
}

#[test]
fn figures_of_reasons_lead_to_steps_and_options() {
    let mut harness = window_of("mixed", 1000.0);
    press_and_settle(&mut harness, TRY, Key::G);
    harness
        .query_all_by_label_contains("selects it in the recommended configuration")
        .next()
        .expect("a tensor")
        .click();
    harness.run_steps(2);
    settle_chain(&mut harness);
    assert!(
        harness.state().session().selection().is_some(),
        "a tensor is selected in its lane"
    );
    press_and_settle(&mut harness, egui::Modifiers::COMMAND, Key::M);
    if harness.query_by_label_contains("goes to simulation.device").is_none() {
        press(&mut harness, egui::Modifiers::COMMAND, Key::M);
    }
    harness
        .query_all_by_label_contains("goes to simulation.device")
        .next()
        .expect("an option")
        .click();
    harness.run_steps(4);
}

#[test]
fn other_settings_make_points_old_and_axes_do_not() {
    let mut harness = tried("resnet50");
    set_option(&mut harness, keys::STATIC_MEMORY_POLICY, "4");
    assert!(!harness.state().session().is_sweep_stale());
    // A cheap sweep follows the settings.
    set_option(&mut harness, keys::DEVICE_MEMORY, "3GiB");
    settle_chain(&mut harness);
    assert!(!harness.state().session().is_sweep_stale());
    let table = harness.state().session().sweep().expect("a sweep");
    let mut figures = table.points.iter().filter_map(|point| point.figures());
    assert!(figures.all(|figures| figures.capacity == highwater_model::units::Bytes::gib(3)));
}

#[test]
fn a_recording_of_torch_sweeps_allocator_settings() {
    let mut harness = window_of("measured", 800.0);
    press_and_settle(&mut harness, egui::Modifiers::COMMAND, Key::M);
    harness.get_by_label("Find the lowest peak");
}

/// Names of rows from top to bottom.
fn rows(harness: &Window) -> Vec<String> {
    let nodes = harness.query_all_by_label_contains("pin static_memory_policy");
    let mut rows: Vec<(f32, String)> = nodes
        .filter_map(|node| Some((node.rect().top(), node.accesskit_node().label()?)))
        .collect();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    rows.into_iter().map(|(_, name)| name).collect()
}

#[test]
fn a_second_click_reverses_the_order_by_the_front() {
    let mut harness = tried("mixed");
    push(&mut harness, Role::Button, "sort by front, of configurations");
    let first = rows(&harness);
    push(&mut harness, Role::Button, "sorted by front, of configurations");
    let reversed = rows(&harness);
    assert!(first.len() > 1 && first[0] != reversed[0], "{first:?} {reversed:?}");
    let table = harness.state().session().sweep().expect("a space");
    let is_on_front = |row: &String| {
        let mut front = table.front.iter().map(|at| table.space.title(table.points[*at].idx));
        front.any(|title| row.starts_with(&format!("pin {title}: ")))
    };
    assert!(is_on_front(&first[0]) && !is_on_front(&reversed[0]));
}

/// Figures of configurations that run out of memory end early.
#[test]
fn what_fits_is_above_what_fails_in_the_order_of_a_figure() {
    let mut harness = tried("mixed");
    let peaks = |harness: &Window| -> Vec<u64> {
        let table = harness.state().session().sweep().expect("a space");
        let figures = table.points.iter().filter_map(|point| point.figures());
        figures.map(|figures| figures.peak_reserved.get()).collect()
    };
    let (least, most) = (peaks(&harness).into_iter().min(), peaks(&harness).into_iter().max());
    let between = least
        .zip(most)
        .map(|(least, most)| u64::midpoint(least, most))
        .expect("points");
    set_option(&mut harness, keys::DEVICE_MEMORY, &between.to_string());
    settle_chain(&mut harness);
    for verb in ["sort", "sorted"] {
        push(
            &mut harness,
            Role::Button,
            &format!("{verb} by peak, of configurations"),
        );
        let rows = rows(&harness);
        let has_failed: Vec<bool> = rows.iter().map(|row| !row.contains(": fits, ")).collect();
        assert!(has_failed.is_sorted() && has_failed.contains(&false), "{rows:?}");
        assert!(has_failed.contains(&true), "{rows:?}");
    }
}
