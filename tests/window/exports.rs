//! Files of the answer from the window: every form by name or key, the path typed, the file whole.

use std::path::Path;

use eframe::egui::{Key, Modifiers, Role};
use egui_kittest::kittest::Queryable as _;
use highwater_session::{EXPORT_FORMS, ExportForm, Notice};
use highwater_ui::commands::{COMMANDS, UiCommand};
use highwater_ui::dialogs::Purpose;

use crate::document::window;
use crate::harness::{Window, click, press, press_and_settle, settle, window_of};
use crate::shell::open_palette;

/// Types a path into the field that opens where there is no dialog service.
pub(crate) fn save_as(harness: &mut Window, path: &Path) {
    harness.get_by_role_and_label(Role::TextInput, "Path").focus();
    harness.run_steps(2);
    press(harness, Modifiers::COMMAND, Key::A);
    harness
        .get_by_role_and_label(Role::TextInput, "Path")
        .type_text(path.to_str().expect("a path in Unicode"));
    harness.run_steps(2);
    press(harness, Modifiers::NONE, Key::Enter);
    // Whether the file is there is looked up first.
    settle(harness);
    settle(harness);
}

#[test]
fn every_form_is_written_from_the_window() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut harness = window_of("mobilenet", 800.0);
    // The configuration has a dialog, the peak is that of its pane.
    let of_panes = [ExportForm::Config, ExportForm::Peak];
    for row in EXPORT_FORMS.iter().filter(|row| !of_panes.contains(&row.form)) {
        let path = folder.path().join(row.usual);
        if row.form == ExportForm::Report {
            press(&mut harness, Modifiers::COMMAND | Modifiers::SHIFT, Key::E);
        } else {
            let known = COMMANDS
                .iter()
                .find(|known| known.command == UiCommand::AskPath(Purpose::Export(row.form)));
            open_palette(&mut harness, known.expect("every form has a command").text);
            press(&mut harness, Modifiers::NONE, Key::Enter);
        }
        save_as(&mut harness, &path);
        let notice = harness.state().session().notice().cloned();
        assert!(
            matches!(&notice, Some(Notice::Done(text)) if text.contains(row.usual)),
            "{}: {notice:?}",
            row.name
        );
        assert!(path.metadata().expect("the file is there").len() > 100, "{}", row.name);
    }
}

#[test]
fn what_cannot_be_written_is_told_in_the_window() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut harness = window_of("mobilenet", 800.0);
    for (name, words) in [
        ("timeline.jpg", ".svg, .png"),
        ("no/folder/timeline.svg", "cannot be written"),
    ] {
        open_palette(&mut harness, "Export timeline");
        press(&mut harness, Modifiers::NONE, Key::Enter);
        save_as(&mut harness, &folder.path().join(name));
        let notice = harness.state().session().notice().cloned();
        assert!(
            matches!(&notice, Some(Notice::Failed(text)) if text.contains(words)),
            "{name}: {notice:?}"
        );
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 0);
}

#[test]
fn files_are_written_over_only_when_asked_twice() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("report.html");
    std::fs::write(&path, "mine").expect("a file");
    let mut harness = window_of("mobilenet", 800.0);
    press(&mut harness, Modifiers::COMMAND | Modifiers::SHIFT, Key::E);
    save_as(&mut harness, &path);
    harness.get_by_label_contains("The file exists");
    assert_eq!(std::fs::read(&path).expect("it is there"), b"mine");
    // Another path is checked first; the same path is overwritten at the second request.
    let field = harness.get_by_role_and_label(Role::TextInput, "Path");
    field.type_text("x");
    harness.run_steps(2);
    assert!(harness.query_by_label_contains("The file exists").is_none());
    save_as(&mut harness, &path);
    press_and_settle(&mut harness, Modifiers::NONE, Key::Enter);
    assert!(std::fs::read(&path).expect("it is there").len() > 1000);
}

#[test]
fn what_is_open_is_not_written_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("net.html");
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../../sample_traces/mobilenet_v2.onnx");
    std::fs::copy(model, &path).expect("a copy");
    let mut harness = window(&path);
    press(&mut harness, Modifiers::COMMAND | Modifiers::SHIFT, Key::E);
    save_as(&mut harness, &path);
    click(&mut harness, Role::Button, "Replace");
    settle(&mut harness);
    let notice = harness.state().session().notice().cloned();
    assert!(
        matches!(&notice, Some(Notice::Failed(text)) if text.contains("not overwritten")),
        "{notice:?}"
    );
    assert!(std::fs::read(&path).expect("it is there") == std::fs::read(model).expect("it is there"));
}
