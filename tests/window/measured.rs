//! Measured beside simulated in the window: errors of peaks, what the run is aligned by, what is learned of it.

use eframe::egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable as _;
use highwater_session::{Notice, SourceSpec};
use highwater_ui::app::App;

use crate::harness::{Window, click_label, press_and_settle, settle_chain, window_of_app};
use crate::sessions::session;

fn sample(name: &str) -> SourceSpec {
    SourceSpec::Path(format!("{}/../../sample_traces/{name}", env!("CARGO_MANIFEST_DIR")).into())
}

fn window(sources: Vec<SourceSpec>) -> Window {
    let app = App::new(session(sources)).with_typed_paths();
    let mut harness = window_of_app(app, [1600.0, 1000.0]);
    press_and_settle(&mut harness, Modifiers::SHIFT, Key::M);
    harness
}

fn option(harness: &Window, key: &str) -> Option<String> {
    let options = &harness.state().session().document().options;
    options.get(key).map(ToString::to_string)
}

#[test]
fn what_a_run_teaches_is_set_in_one_step() {
    let mut harness = window(vec![
        sample("lenet_training.pb"),
        sample("lenet_training.runmeta.pb.gz"),
    ]);
    let keys = ["simulation.workspace_estimate", "simulation.workspace_table"];
    assert_eq!(keys.map(|key| option(&harness, key)), [None, None]);
    harness.get_by_label("Set 2 settings").scroll_to_me();
    settle_chain(&mut harness);
    click_label(&mut harness, "Set 2 settings");
    assert_eq!(option(&harness, keys[0]).as_deref(), Some("on"));
    let table = option(&harness, keys[1]).expect("a table");
    assert!(table.contains("Conv2DBackpropFilter="), "{table}");
    assert_eq!(option(&harness, "simulation.op_bytes_per_second"), None);
    harness.key_press_modifiers(Modifiers::COMMAND, Key::Z);
    settle_chain(&mut harness);
    assert_eq!(keys.map(|key| option(&harness, key)), [None, None]);
}

#[test]
fn the_run_is_aligned_by_a_click() {
    let mut harness = window(vec![
        sample("lenet_training.pb"),
        sample("lenet_training.runmeta.pb.gz"),
    ]);
    for name in ["time", "phases", "ops"] {
        click_label(&mut harness, name);
        assert_eq!(
            option(&harness, "simulation.measured_alignment")
                .as_deref()
                .unwrap_or("ops"),
            name
        );
    }
}

#[test]
fn without_a_run_there_is_no_pane_and_its_key_says_what_to_open() {
    let harness = window(vec![sample("lenet_training.pb")]);
    assert!(harness.query_by_label("Measured").is_none());
    let notice = harness.state().session().notice().cloned();
    let is_told = |text: &str| text.contains("no measured run is open");
    assert!(
        matches!(&notice, Some(Notice::Failed(text)) if is_told(text)),
        "{notice:?}"
    );
}
