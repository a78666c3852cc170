//! Allocator settings of a recording: the search, its lanes, its line to copy; curves of all lanes on one axis.

use std::path::PathBuf;

use eframe::egui::{Key, Modifiers, Role};
use egui_kittest::kittest::Queryable as _;
use highwater_analysis::TriedSetting;
use highwater_model::units::counted;
use highwater_session::{Command, Notice, SourceSpec};

use crate::harness::{Window, apply, click, click_label, press_and_settle, settle_chain, window_of_session};
use crate::sessions::session;
use crate::snapshots::{event, pickle, snapshot};

const MIB: u64 = 1 << 20;

/// A run that frees small and large blocks in turn, so that settings matter.
fn window() -> Window {
    let mut trace = Vec::new();
    let mut time = 0;
    let mut add = |action: &str, address: u64, size: u64| {
        time += 1;
        trace.push(event(action, address, size, time));
    };
    for round in 1..=6_u64 {
        let at = |slot: u64| 0x7000_0000_0000 + (round * 8 + slot) * 256 * MIB;
        add("alloc", at(0), round * 11 * MIB);
        add("alloc", at(1), 3 * MIB);
        add("alloc", at(2), round * 7 * MIB);
        add("free_completed", at(0), round * 11 * MIB);
        add("free_completed", at(2), round * 7 * MIB);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.pickle");
    std::fs::write(&path, pickle(&snapshot(Vec::new(), trace))).expect("it is written");
    window_of_file(path)
}

fn window_of_file(path: PathBuf) -> Window {
    let mut window = window_of_session(session(vec![SourceSpec::Path(path)]), 1000.0);
    settle_chain(&mut window);
    window
}

fn n_lanes(window: &Window) -> usize {
    let (comparison, _) = window.state().session().answer().expect("an answer");
    comparison.lanes.len()
}

#[test]
fn the_search_runs_with_its_pane_and_a_row_opens_a_lane() {
    let mut window = window();
    press_and_settle(&mut window, Modifiers::COMMAND, Key::M);
    let found = window.state().session().found_settings().expect("an answer").clone();
    let winner = found.winner().expect("a winner");
    let calls = counted(winner.device_calls(), "device call");
    window.get_by_label_contains(&format!("reserves at most {}", winner.peak()));
    window.get_by_label_contains(&format!("; {calls}."));
    let least = found.search.tried.iter().map(TriedSetting::peak).min();
    assert!(least.is_some_and(|least| winner.peak() <= least + found.search.least_saving()));
    assert_eq!(n_lanes(&window), 1);
    let row = format!("open as a lane {}: ", winner.conf);
    window.get_by_label_contains(&row).click();
    settle_chain(&mut window);
    assert_eq!(n_lanes(&window), 2);
    assert!(window.query_by_label("Show as a lane").is_none());
    let (comparison, _) = window.state().session().answer().expect("an answer");
    let simulation = comparison.simulation(comparison.lanes[1].id).expect("a simulated lane");
    assert_eq!((&simulation.settings, simulation.peak), (&winner.conf, winner.peak()));
    // The search is still that of the recording; the measured lane stays the main one.
    assert!(window.state().session().found_settings().is_some());
    assert_eq!(comparison.main_lane(), Some(0));
    apply(&mut window, Command::Undo);
    assert_eq!(n_lanes(&window), 1);
}

#[test]
fn the_recorded_peak_is_listed_with_the_settings() {
    let samples = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../sample_traces");
    let mut window = window_of_file(samples.join("language_model.snapshot.pickle.gz"));
    press_and_settle(&mut window, Modifiers::COMMAND, Key::M);
    let found = window.state().session().found_settings().expect("an answer");
    let recorded = found.recorded_peak().expect("a recorded peak");
    let replayed = found.search.replayed().peak();
    window.get_by_label_contains(&format!("against the {replayed} of the recorded settings"));
    // It is above them in every order.
    window.get_by_label_contains(&format!("recorded: peak {recorded}"));
    for verb in ["sort", "sorted"] {
        click(&mut window, Role::Button, &format!("{verb} by settings, of settings"));
    }
    window.get_by_label_contains(&format!("recorded: peak {recorded}"));
}

#[test]
fn refused_settings_say_why_and_have_no_lane() {
    let mut window = window();
    window
        .state_mut()
        .apply(Command::AddSettings("max_split_size_mb:19".to_owned()));
    settle_chain(&mut window);
    assert_eq!(n_lanes(&window), 1);
    let Some(Notice::Failed(why)) = window.state().session().notice() else {
        panic!("no notice");
    };
    assert!(why.contains("at least 20 MiB"), "{why}");
}

#[test]
fn curves_of_all_lanes_are_drawn_on_one_axis() {
    let mut window = window();
    window
        .state_mut()
        .apply(Command::AddSettings("expandable_segments:True".to_owned()));
    settle_chain(&mut window);
    press_and_settle(&mut window, Modifiers::SHIFT, Key::V);
    click_label(&mut window, "Curves on one axis");
    assert_eq!(n_lanes(&window), 2);
}
