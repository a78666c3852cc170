//! The panel on the left and the tabs: what acts on what is open, and nothing else.

use std::path::PathBuf;

use eframe::egui::{Key, Modifiers, Rect, Role};
use egui_kittest::kittest::Queryable as _;
use highwater_options::{ENVIRONMENT, GE_USE_STATIC_MEMORY, TABLE, keys};
use highwater_session::{Command, Notice, SourceSpec};
use highwater_ui::app::App;
use highwater_ui::panes::{PANES, Pane};

use crate::harness::{Window, apply, click, press, set_option, settle_chain, window_of_app};
use crate::sessions::session;

fn window(sources: Vec<SourceSpec>) -> Window {
    window_of_app(App::new(session(sources)).with_typed_paths(), [1280.0, 2600.0])
}

fn sample(name: &str) -> SourceSpec {
    SourceSpec::Sample(highwater_session::sample(name).expect("a sample"))
}

fn bundled(name: &str) -> SourceSpec {
    SourceSpec::Path(PathBuf::from(format!(
        "{}/../../sample_traces/{name}",
        env!("CARGO_MANIFEST_DIR")
    )))
}

fn has_row(window: &Window, name: &str) -> bool {
    [Role::TextInput, Role::ComboBox, Role::CheckBox]
        .iter()
        .any(|role| window.query_all_by_role_and_label(*role, name).next().is_some())
}

fn all_options() -> String {
    format!("All options ({})", TABLE.len() + ENVIRONMENT.len())
}

#[test]
fn options_that_act_come_first_and_a_row_opens_the_rest() {
    let mut window = window(vec![sample("resnet50")]);
    for name in [
        "static_memory_policy",
        "atomic_clean_policy",
        "device_memory",
        GE_USE_STATIC_MEMORY,
    ] {
        assert!(has_row(&window, name), "{name}");
    }
    // Neither options without effect, nor costs, nor what acts with another option alone.
    for name in [
        "debug_dir",
        "hccl_timeout",
        "malloc_ns",
        "workspace_table",
        "op_debug_level",
    ] {
        assert!(!has_row(&window, name), "{name}");
    }
    set_option(&mut window, keys::WORKSPACE_ESTIMATE, "on");
    assert!(has_row(&window, "workspace_table"));
    set_option(&mut window, "hccl_timeout", "60");
    assert!(has_row(&window, "hccl_timeout •"));
    let place = |window: &Window| -> Rect {
        window
            .get_by_role_and_label(Role::ComboBox, "static_memory_policy")
            .rect()
    };
    let before = place(&window);
    click(&mut window, Role::Button, &all_options());
    assert_eq!(place(&window), before, "nothing moves");
    assert!(window.state().kept().view.has_all_options);
    click(&mut window, Role::Button, "other options of section debugging");
    assert!(has_row(&window, "debug_dir"));
    // A row that is set while the rest is shown stays where it is.
    let row = |window: &Window, name: &str| window.get_by_role_and_label(Role::TextInput, name).rect().top();
    let top = row(&window, "debug_dir");
    set_option(&mut window, "debug_dir", "/tmp");
    assert!((row(&window, "debug_dir •") - top).abs() < 40.0);
    click(&mut window, Role::Button, &all_options());
    assert!(has_row(&window, "debug_dir •"), "it is set");
    assert!(!window.state().kept().view.has_all_options);
}

#[test]
fn a_recording_shows_its_facts_instead_of_options() {
    let mut window = window(vec![bundled("lenet_training.runmeta.pb.gz")]);
    let recordings = window
        .state()
        .session()
        .answer()
        .expect("an answer")
        .0
        .recordings
        .clone();
    assert!(!recordings.is_empty());
    for fact in recordings[0].facts() {
        assert!(window.query_all_by_label(&fact.label).count() > 0, "{fact:?}");
    }
    assert!(window.query_by_label("Search").is_none());
    for name in ["static_memory_policy", GE_USE_STATIC_MEMORY] {
        assert!(!has_row(&window, name), "{name}");
    }
    click(&mut window, Role::Button, &all_options());
    window.get_by_label("Search");
    click(&mut window, Role::Button, "other options of section memory");
    assert!(has_row(&window, "static_memory_policy"));
}

fn tabs(window: &Window) -> Vec<&'static str> {
    let is_there = |title: &str| window.query_all_by_role_and_label(Role::Tab, title).next().is_some();
    let titles = PANES.iter().map(|row| row.title);
    titles.filter(|title| is_there(title)).collect()
}

#[test]
fn tabs_exist_for_what_can_act() {
    let acting = ["Budgets", "Sweep", "Variable reuse", "Planner", "Schedule"];
    let mut window = window(vec![sample("resnet50")]);
    let of_graph = tabs(&window);
    assert!(acting.iter().all(|title| of_graph.contains(title)), "{of_graph:?}");
    assert!(!of_graph.contains(&"Measured"), "{of_graph:?}");
    let layout = window.state().kept().layout;
    window
        .state_mut()
        .apply(Command::Open(vec![bundled("lenet_training.runmeta.pb.gz")]));
    settle_chain(&mut window);
    let of_recording = tabs(&window);
    assert!(
        !acting.iter().any(|title| of_recording.contains(title)),
        "{of_recording:?}"
    );
    for title in ["Inspector", "Peak", "Device", "Measured"] {
        assert!(of_recording.contains(&title), "{of_recording:?}");
    }
    // The layout of the user is kept, and a key says why nothing happens.
    let closed = |layout: &Option<highwater_ui::panes::Layout>| layout.as_ref().map(|layout| layout.closed.clone());
    assert_eq!(closed(&window.state().kept().layout), closed(&layout));
    press(&mut window, Modifiers::NONE, Key::B);
    let notice = window.state().session().notice().cloned();
    assert!(
        matches!(&notice, Some(Notice::Failed(text)) if text.contains("budgets need")),
        "{notice:?}"
    );
    assert_eq!(tabs(&window), of_recording);
    apply(&mut window, Command::Open(vec![sample("resnet50")]));
    assert_eq!(tabs(&window), of_graph);
    for row in PANES {
        let is_there = row.pane.why_not(window.state().session()).is_none();
        let needs_recording = matches!(row.pane, Pane::MeasuredRun | Pane::Flame | Pane::Log);
        assert_eq!(is_there, !needs_recording, "{}", row.title);
    }
}

#[test]
fn a_conflict_is_told_once() {
    let mut window = window(vec![sample("resnet50")]);
    set_option(&mut window, keys::STATIC_MEMORY_POLICY, "2");
    apply(
        &mut window,
        Command::SetEnvironment {
            name: GE_USE_STATIC_MEMORY.to_owned(),
            value: Some("4".to_owned()),
        },
    );
    assert_eq!(window.query_all_by_label_contains("GE combines them").count(), 1);
    click(&mut window, Role::Link, "error R51, see static_memory_policy");
    let field = window.get_by_role_and_label(Role::ComboBox, "static_memory_policy •");
    assert!(field.is_focused());
}

#[test]
fn a_deprecated_option_is_unset_by_its_button() {
    let mut window = window(vec![sample("resnet50")]);
    set_option(&mut window, "variable_format_optimize", "False");
    window.get_by_label_contains("is deprecated: no replacement; unset it");
    click(&mut window, Role::Button, "Fix: unset variable_format_optimize");
    assert!(
        !window
            .state()
            .session()
            .document()
            .options
            .is_set("variable_format_optimize")
    );
}

#[test]
fn a_script_with_several_configurations_has_a_choice_as_wide_as_the_panel() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("a_long_name_of_a_training_script.py");
    let text = "first = NPURunConfig(deterministic=1)\nsecond = NPURunConfig(hccl_timeout=7)\n";
    std::fs::write(&script, text).expect("it can be written");
    let mut window = window(vec![sample("resnet50")]);
    apply(&mut window, Command::ImportConfig(script));
    let label = "Configuration of a_long_name_of_a_training_script.py";
    let list = window.get_by_role_and_label(Role::ComboBox, label).rect();
    let policy = window
        .get_by_role_and_label(Role::ComboBox, "static_memory_policy")
        .rect();
    assert!(
        list.right() <= policy.right() + 24.0 && list.width() > 150.0,
        "{list:?} {policy:?}"
    );
    click(&mut window, Role::ComboBox, label);
    click(&mut window, Role::Button, "first");
    assert!(window.state().session().document().options.is_set("deterministic"));
}
