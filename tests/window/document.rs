//! Documents in the window: saved and opened again as they were seen, asked about before changes would be lost, sources
//! located, edits recovered after a crash.

use std::path::{Path, PathBuf};

use eframe::egui::{self, Key, Modifiers, Role, ViewportCommand};
use egui_kittest::kittest::Queryable as _;
use highwater_session::{Command, Notice, PersistedDocument, Recovery, SourceSpec};
use highwater_ui::app::App;
use highwater_ui::lanes::LaneContent;

use crate::harness::{Window, apply, click_label, press, press_and_settle, push, settle, window_of_app};
use crate::sessions::session;

const POLICY: &str = "memory_config.static_memory_policy";

fn app_of(path: &Path) -> App {
    App::new(session(vec![SourceSpec::Path(path.to_owned())])).with_typed_paths()
}

pub(crate) fn window(path: &Path) -> Window {
    window_of(app_of(path))
}

fn window_of(app: App) -> Window {
    window_of_app(app, [1280.0, 800.0])
}

/// A small model.
fn model(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    let bundled = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("sample_traces/mobilenet_v2.onnx");
    std::fs::copy(bundled, &path).unwrap();
    path
}

fn set_policy(harness: &mut Window, text: &str) {
    apply(harness, Command::set_option(POLICY, text));
    harness.run_steps(2);
}

fn save_as(harness: &mut Window, path: &Path) {
    let path = path.to_owned();
    apply(harness, Command::SaveDocument { path, view: None });
}

/// The titles that the window was given in the last frame.
fn titles(harness: &Window) -> Vec<String> {
    let output = &harness.output().viewport_output;
    let commands = output.values().flat_map(|viewport| &viewport.commands);
    let title = |command: &ViewportCommand| match command {
        ViewportCommand::Title(title) => Some(title.clone()),
        _ => None,
    };
    commands.filter_map(title).collect()
}

fn asks_to_close(harness: &mut Window) -> Vec<ViewportCommand> {
    let viewport = harness.input_mut().viewports.entry(egui::ViewportId::ROOT).or_default();
    viewport.events.push(egui::ViewportEvent::Close);
    harness.step();
    let output = &harness.output().viewport_output;
    output.values().flat_map(|viewport| viewport.commands.clone()).collect()
}

#[test]
fn a_document_is_saved_and_opened_as_it_was_seen() {
    let folder = tempfile::tempdir().unwrap();
    let mut harness = window(&model(folder.path(), "net.onnx"));
    assert!(!harness.state().session().is_changed());
    set_policy(&mut harness, "2");
    assert!(harness.state().session().is_changed());
    // Without a path Ctrl+S asks for one.
    press(&mut harness, Modifiers::COMMAND, Key::S);
    harness.get_by_role_and_label(Role::TextInput, "Path").focus();
    harness.run_steps(2);
    press(&mut harness, Modifiers::COMMAND, Key::A);
    let typed = folder.path().join("a");
    let typed = typed.to_str().unwrap();
    harness.get_by_role_and_label(Role::TextInput, "Path").type_text(typed);
    harness.run_steps(2);
    press_and_settle(&mut harness, Modifiers::NONE, Key::Enter);
    let path = folder.path().join("a.highwater");
    assert_eq!(harness.state().session().file_path(), Some(&*path));
    assert!(!harness.state().session().is_changed());
    // Another look is no change, but is saved along.
    press(&mut harness, Modifiers::NONE, Key::V);
    assert!(!harness.state().session().is_changed());
    press_and_settle(&mut harness, Modifiers::COMMAND, Key::S);
    let recent = harness.state().kept().recents.list[0].title();
    assert_eq!(recent, "a.highwater");

    let mut harness = window(&path);
    settle(&mut harness);
    let session = harness.state().session();
    assert_eq!(session.document().options.get(POLICY).unwrap().to_string(), "2");
    assert!(!session.is_changed());
    assert_eq!(harness.state().lanes().content, LaneContent::Areas);
    set_policy(&mut harness, "0");
    assert!(harness.query_by_label("•").is_some());
    press_and_settle(&mut harness, Modifiers::COMMAND, Key::Z);
    assert!(!harness.state().session().is_changed());
    assert!(harness.query_by_label("•").is_none());
}

#[test]
fn closing_with_changes_asks_once() {
    let folder = tempfile::tempdir().unwrap();
    let net = model(folder.path(), "net.onnx");
    let path = folder.path().join("a.highwater");
    let mut harness = window(&net);
    // What was never saved is kept for the next start, and not asked about.
    set_policy(&mut harness, "2");
    assert!(!asks_to_close(&mut harness).contains(&ViewportCommand::CancelClose));
    save_as(&mut harness, &path);
    assert!(!asks_to_close(&mut harness).contains(&ViewportCommand::CancelClose));
    set_policy(&mut harness, "4");
    assert!(titles(&harness).is_empty() || titles(&harness)[0].starts_with('•'));
    assert!(asks_to_close(&mut harness).contains(&ViewportCommand::CancelClose));
    harness.run_steps(2);
    press(&mut harness, Modifiers::NONE, Key::Escape);
    assert!(harness.query_by_label("Save changes").is_none());
    // Opening something else asks too; the keyboard is on the button that saves.
    harness.state_mut().apply(Command::DismissNotice);
    asks_to_close(&mut harness);
    harness.run_steps(2);
    harness.get_by_label_contains("Save the changes to a.highwater?");
    press_and_settle(&mut harness, Modifiers::NONE, Key::Enter);
    assert!(!harness.state().session().is_changed());
    assert!(
        std::fs::read_to_string(&path)
            .unwrap()
            .contains("\"memory_config.static_memory_policy\": 4")
    );
    set_policy(&mut harness, "3");
    asks_to_close(&mut harness);
    harness.run_steps(2);
    assert!(
        std::fs::read_to_string(&path)
            .unwrap()
            .contains("\"memory_config.static_memory_policy\": 4")
    );
}

#[test]
fn a_file_that_somebody_else_changed_is_not_overwritten_unasked() {
    const THEIRS: &str = "{\"highwater_document\": 1, \"sources\": [{\"sample\": \"bert\"}]}";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.highwater");
    let read = || std::fs::read_to_string(&path).unwrap();
    let mut harness = window(&model(folder.path(), "net.onnx"));
    save_as(&mut harness, &path);
    // Its own saves, one after another, and a file that is gone, ask nothing.
    for policy in ["2", "4"] {
        set_policy(&mut harness, policy);
        press_and_settle(&mut harness, Modifiers::COMMAND, Key::S);
        assert!(!harness.state().session().is_changed());
        std::fs::remove_file(&path).unwrap();
    }
    drop(harness);
    let mut first = window(&model(folder.path(), "net.onnx"));
    save_as(&mut first, &path);
    drop(first);
    let mut harness = window(&path);
    settle(&mut harness);
    set_policy(&mut harness, "2");
    std::fs::write(&path, THEIRS).unwrap();
    let save = |harness: &mut Window| {
        press_and_settle(harness, Modifiers::COMMAND, Key::S);
        harness.run_steps(3);
        harness.get_by_label("a.highwater was changed by another program");
        assert_eq!(read(), THEIRS);
        assert!(harness.state().session().is_changed());
    };
    save(&mut harness);
    press(&mut harness, Modifiers::NONE, Key::Escape);
    assert!(harness.query_by_label("Save anyway").is_none());
    save(&mut harness);
    // The keyboard is on the button that keeps both.
    press(&mut harness, Modifiers::NONE, Key::Enter);
    harness.run_steps(2);
    harness.get_by_role_and_label(Role::TextInput, "Path");
    press(&mut harness, Modifiers::NONE, Key::Escape);
    harness.run_steps(2);
    save(&mut harness);
    harness.get_by_role_and_label(Role::Button, "Cancel");
    push(&mut harness, Role::Button, "Save anyway");
    settle(&mut harness);
    assert!(!harness.state().session().is_changed());
    assert!(read().contains("net.onnx"));
    // On the way out too, which then goes on.
    set_policy(&mut harness, "4");
    std::fs::write(&path, THEIRS).unwrap();
    asks_to_close(&mut harness);
    harness.run_steps(2);
    press_and_settle(&mut harness, Modifiers::NONE, Key::Enter);
    harness.run_steps(3);
    assert_eq!(read(), THEIRS);
    push(&mut harness, Role::Button, "Save anyway");
    settle(&mut harness);
    harness.run_steps(2);
    assert!(read().contains("net.onnx") && harness.query_by_label("Save anyway").is_none());
    assert!(!asks_to_close(&mut harness).contains(&ViewportCommand::CancelClose));
}

#[test]
fn sources_that_are_gone_are_located() {
    let folder = tempfile::tempdir().unwrap();
    let net = model(folder.path(), "net.onnx");
    let path = folder.path().join("a.highwater");
    let mut harness = window(&net);
    set_policy(&mut harness, "2");
    save_as(&mut harness, &path);
    drop(harness);
    let moved = folder.path().join("moved.onnx");
    std::fs::rename(&net, &moved).unwrap();

    let mut harness = window(&path);
    settle(&mut harness);
    harness.run_steps(2);
    harness.get_by_label_contains("net.onnx: the file does not exist. Locate it");
    harness.get_by_role_and_label(Role::Button, "locate net.onnx");
    press(&mut harness, Modifiers::NONE, Key::Escape);
    assert!(harness.query_by_label("locate net.onnx").is_none());
    assert!(harness.state().session().answer().is_none());
    let path = moved.clone();
    apply(&mut harness, Command::Locate { position: 0, path });
    let session = harness.state().session();
    assert!(session.answer().is_some() && session.is_changed());
    assert_eq!(session.source_troubles(), []);
    assert_eq!(session.answer().unwrap().0.active_policy.number(), 2);
    // Another file than the one that was saved is told.
    let other = folder.path().join("other.onnx");
    let mut bytes = std::fs::read(&moved).unwrap();
    bytes.extend([0x72, 0]);
    std::fs::write(&other, bytes).unwrap();
    apply(
        &mut harness,
        Command::Locate {
            position: 0,
            path: other,
        },
    );
    let troubles = harness.state().session().source_troubles();
    assert!(
        troubles[0].1.contains("changed since the document was saved"),
        "{troubles:?}"
    );
}

#[test]
fn documents_that_cannot_be_read_are_told_and_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let net = model(folder.path(), "net.onnx");
    let mut harness = window(&net);
    let cases = [
        ("{\"highwater_document\": 3}", "is newer than"),
        ("{\"highwater_document\": 1, \"sources\": [", "line 1, column 38"),
    ];
    for (text, expected) in cases {
        let path = folder.path().join("odd.highwater");
        std::fs::write(&path, text).unwrap();
        harness
            .state_mut()
            .apply(Command::Open(vec![SourceSpec::Path(path.clone())]));
        settle(&mut harness);
        let Some(Notice::Failed(told)) = harness.state().session().notice() else {
            panic!("it is told");
        };
        assert!(told.contains(expected), "{told}");
        assert_eq!(
            harness.state().session().document().sources,
            [SourceSpec::Path(net.clone())]
        );
        assert!(harness.state().session().answer().is_some());
        let beside = vec![SourceSpec::Path(net.clone()), SourceSpec::Path(path)];
        apply(&mut harness, Command::Open(beside));
        let Some(Notice::Failed(told)) = harness.state().session().notice() else {
            panic!("it is told");
        };
        assert!(told.contains("together with other files"), "{told}");
    }
}

#[test]
fn edits_of_a_crash_are_offered_and_those_of_others_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("recovery");
    let net = model(folder.path(), "net.onnx");
    let path = folder.path().join("a.highwater");
    let files = || std::fs::read_dir(&kept).unwrap().count();
    let app = |source: &Path| {
        let mut app = app_of(source);
        app.recover_from(Some(&kept));
        app
    };
    let mut first = window_of(app(&net));
    save_as(&mut first, &path);
    set_policy(&mut first, "2");
    first.state().recovery().unwrap().settle();
    assert_eq!(files(), 2);
    // Another instance sees that the first one runs.
    let second = window_of(app(&net));
    assert!(second.state().recovery().unwrap().offered().is_none());
    drop(second);
    assert_eq!(files(), 2);
    // The first is killed: its files stay, and the lock is free.
    let left: Vec<PathBuf> = std::fs::read_dir(&kept)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    let copies: Vec<(PathBuf, Vec<u8>)> = left
        .iter()
        .map(|path| (path.clone(), std::fs::read(path).unwrap()))
        .collect();
    drop(first);
    assert_eq!(files(), 0);
    for (path, bytes) in &copies {
        std::fs::write(path, bytes).unwrap();
    }
    let mut third = window_of(app(&net));
    third.run_steps(2);
    third.get_by_label("Recover unsaved changes to a.highwater?");
    third.get_by_label_contains("1 source (net.onnx), with 1 setting");
    // While it is offered here, it is not offered there.
    assert!(Recovery::start(&kept).unwrap().offered().is_none());
    click_label(&mut third, "Recover");
    third.run_steps(3);
    let session = third.state().session();
    assert_eq!(session.document().options.get(POLICY).unwrap().to_string(), "2");
    assert!(session.is_changed() && session.file_path() == Some(&*path));
    third.state().recovery().unwrap().settle();
    assert_eq!(files(), 2, "its own");
    assert!(!left.iter().any(|path| path.exists()));
    press_and_settle(&mut third, Modifiers::COMMAND, Key::S);
    third.run_steps(2);
    third.state().recovery().unwrap().settle();
    assert_eq!(files(), 0);
    assert!(!third.state().session().is_changed());
}

#[test]
fn what_is_kept_of_a_document_is_where_it_lies() {
    let folder = tempfile::tempdir().unwrap();
    let net = model(folder.path(), "net.onnx");
    let path = folder.path().join("a.highwater");
    let mut harness = window(&net);
    save_as(&mut harness, &path);
    let kept = PersistedDocument::of(harness.state().session()).unwrap();
    let (document, told) = kept.document().unwrap();
    assert_eq!((document.sources, told), (vec![SourceSpec::Path(path.clone())], None));
    std::fs::remove_file(&path).unwrap();
    let (document, told) = kept.document().unwrap();
    assert_eq!(document.sources, [SourceSpec::Path(net)]);
    assert!(told.unwrap().contains("no longer exists"));
}

#[test]
fn a_note_that_is_being_written_is_saved_and_lanes_keep_their_layout() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kept.highwater");
    let mut first = window(&model(folder.path(), "net.onnx"));
    apply(
        &mut first,
        Command::SaveDocument {
            path: path.clone(),
            view: None,
        },
    );
    press(&mut first, Modifiers::NONE, Key::Y);
    press(&mut first, Modifiers::NONE, Key::G);
    for (text, keys) in [("3", Key::Enter), ("half written", Key::F24)] {
        first.event(egui::Event::Text(text.to_owned()));
        first.run_steps(2);
        press(&mut first, Modifiers::NONE, keys);
        if keys == Key::Enter {
            press(&mut first, Modifiers::COMMAND, Key::B);
        }
    }
    assert!(first.state().session().document().bookmarks.is_empty());
    press_and_settle(&mut first, Modifiers::COMMAND, Key::S);
    let again = window(&path);
    let notes = |window: &Window| {
        let bookmarks = window.state().session().document().bookmarks.iter();
        bookmarks.map(|one| (one.step.0, one.note.clone())).collect::<Vec<_>>()
    };
    assert_eq!(notes(&first), [(3, "half written".to_owned())]);
    assert_eq!(notes(&again), notes(&first));
    assert!(again.state().lanes().arrangement.has_own_scales);
}

#[test]
fn files_outside_the_documents_folder_are_asked_about_once() {
    let root = tempfile::tempdir().unwrap();
    let here = root.path().join("here");
    std::fs::create_dir(&here).unwrap();
    model(root.path(), "outside.onnx");
    let path = here.join("a.highwater");
    let text = r#"{"highwater_document": 1, "sources": [{"path": "../outside.onnx"}]}"#;
    std::fs::write(&path, text).unwrap();
    let mut harness = window_of(App::new(session(vec![SourceSpec::Sample(
        highwater_session::sample("lenet").unwrap(),
    )])));
    let open = |harness: &mut Window| {
        let path = SourceSpec::Path(path.clone());
        apply(harness, Command::Open(vec![path]));
    };
    open(&mut harness);
    let asked = harness.state().session().outside().unwrap().paths.clone();
    assert_eq!(asked, [root.path().join("outside.onnx").canonicalize().unwrap()]);
    harness.get_by_label_contains("outside.onnx");
    // The keyboard is on Cancel, and nothing else is opened.
    press_and_settle(&mut harness, Modifiers::NONE, Key::Enter);
    assert!(harness.state().session().outside().is_none());
    assert!(harness.state().session().file_path().is_none());
    open(&mut harness);
    push(&mut harness, Role::Button, "Read them");
    settle(&mut harness);
    assert_eq!(harness.state().session().file_path(), Some(&*path));
    assert!(harness.state().session().answer().is_some());
    // The answer is kept for the next start.
    let kept = harness.state().kept();
    let mut again = window_of(App::restored(session(vec![SourceSpec::Path(path.clone())]), &kept));
    settle(&mut again);
    assert!(again.state().session().outside().is_none());
    assert_eq!(again.state().session().file_path(), Some(&*path));
}
