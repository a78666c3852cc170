//! The dialog that exports the configuration: its preview, its differences, the confirmation of errors, keys.

use std::path::Path;

use eframe::egui::{Key, Modifiers, Role};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use highwater_options::{GE_USE_STATIC_MEMORY, keys};
use highwater_session::{Command, ConfigForm, Notice};

use crate::exports::save_as;
use crate::harness::{Window, apply, click, press, press_and_settle, set_option, settle_chain, window_of};

fn set_variable(window: &mut Window, value: Option<&str>) {
    apply(
        window,
        Command::SetEnvironment {
            name: GE_USE_STATIC_MEMORY.to_owned(),
            value: value.map(str::to_owned),
        },
    );
}

fn open(window: &mut Window) {
    press_and_settle(window, Modifiers::COMMAND, Key::E);
}

fn is_open(window: &Window) -> bool {
    window.query_by_role_and_label(Role::Tab, "JSON").is_some()
}

fn preview(window: &Window, form: ConfigForm) -> Option<String> {
    let label = format!("preview of {}", form.usual_name());
    let field = window.query_by_label(&label)?;
    field.accesskit_node().value()
}

fn is_enabled(window: &Window, button: &str) -> bool {
    let button = window.get_by_role_and_label(Role::Button, button);
    !button.accesskit_node().is_disabled()
}

#[test]
fn every_form_is_written_as_it_is_previewed() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut window = window_of("mobilenet", 800.0);
    set_variable(&mut window, Some("2"));
    for form in ConfigForm::ALL {
        open(&mut window);
        click(&mut window, Role::Tab, form.title());
        let shown = preview(&window, form).expect("a preview");
        let is_explicit = shown.contains("static_memory_policy");
        assert!(is_explicit || shown.contains(GE_USE_STATIC_MEMORY), "{shown}");
        click(&mut window, Role::Button, "Save as…");
        let path = folder.path().join(form.usual_name());
        // The ending is added.
        save_as(&mut window, &path.with_extension(""));
        settle_chain(&mut window);
        assert!(!is_open(&window), "{:?}", window.state().session().notice());
        let written = std::fs::read_to_string(&path).expect("the file is there");
        assert_eq!(shown, written, "{form:?}");
    }
}

#[test]
fn the_policy_is_explicit_and_never_becomes_a_variable() {
    let mut window = window_of("mobilenet", 800.0);
    open(&mut window);
    for form in [ConfigForm::Json, ConfigForm::Python] {
        click(&mut window, Role::Tab, form.title());
        let shown = preview(&window, form).expect("a preview");
        assert!(shown.contains("static_memory_policy"), "{shown}");
    }
    assert!(is_enabled(&window, "Save as…"));
    click(&mut window, Role::Tab, ConfigForm::Shell.title());
    assert_eq!(preview(&window, ConfigForm::Shell), None);
    window.get_by_label_contains("The Shell form is empty");
    assert!(!is_enabled(&window, "Save as…") && !is_enabled(&window, "Copy"));
}

#[test]
fn differences_from_the_file_that_was_read_are_listed() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("train.py");
    std::fs::write(&script, "config = NPURunConfig(hccl_timeout=600)\n").expect("it can be written");
    let mut window = window_of("mobilenet", 800.0);
    open(&mut window);
    window.get_by_label("No difference from the defaults");
    press(&mut window, Modifiers::NONE, Key::Escape);
    assert!(!is_open(&window));
    apply(&mut window, Command::ImportConfig(script));
    open(&mut window);
    window.get_by_label("No difference from train.py");
    press(&mut window, Modifiers::NONE, Key::Escape);
    set_option(&mut window, "hccl_timeout", "700");
    open(&mut window);
    window.get_by_label("1 difference from train.py");
    window.get_by_label("hccl_timeout:");
    window.get_by_label("600 ->");
}

#[test]
fn errors_are_confirmed_and_each_change_withdraws_that() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("config.json");
    let mut window = window_of("mobilenet", 800.0);
    set_option(&mut window, keys::STATIC_MEMORY_POLICY, "2");
    set_variable(&mut window, Some("4"));
    open(&mut window);
    assert!(window.query_all_by_label_contains("GE combines them").count() > 0);
    assert!(!is_enabled(&window, "Save as…"));
    click(&mut window, Role::CheckBox, "Export despite 1 error");
    assert!(is_enabled(&window, "Save as…"));
    // Another value with the same error is another configuration.
    set_variable(&mut window, Some("3"));
    assert!(!is_enabled(&window, "Save as…"), "the confirmation is withdrawn");
    click(&mut window, Role::CheckBox, "Export despite 1 error");
    click(&mut window, Role::Button, "Save as…");
    save_as(&mut window, &path);
    settle_chain(&mut window);
    assert!(
        path.exists() && !is_open(&window),
        "{:?}",
        window.state().session().notice()
    );
}

#[test]
fn a_failed_export_is_told_in_the_dialog_and_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut window = window_of("mobilenet", 800.0);
    open(&mut window);
    let save = |window: &mut Window, path: &Path| {
        click(window, Role::Button, "Save as…");
        save_as(window, path);
        settle_chain(window);
    };
    save(&mut window, &folder.path().join("missing/config.json"));
    assert!(is_open(&window));
    assert!(matches!(window.state().session().notice(), Some(Notice::Failed(_))));
    save(&mut window, &folder.path().join("config.py"));
    assert!(is_open(&window));
    window.get_by_label_contains("ends in .json");
    assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 0);
}

#[test]
fn the_dialog_works_by_keys() {
    let mut window = window_of("mobilenet", 800.0);
    open(&mut window);
    let tab = |window: &Window, title: &str| window.get_by_role_and_label(Role::Tab, title).is_focused();
    assert!(tab(&window, "JSON"));
    press(&mut window, Modifiers::NONE, Key::Tab);
    assert!(tab(&window, "Python"));
    press(&mut window, Modifiers::NONE, Key::Space);
    assert!(preview(&window, ConfigForm::Python).is_some());
    // Letters are no commands while it is open.
    let before = window.state().kept().view;
    press(&mut window, Modifiers::NONE, Key::V);
    assert_eq!(window.state().kept().view, before);
    press(&mut window, Modifiers::NONE, Key::Escape);
    assert!(!is_open(&window));
}
