//! The window's shell: palette, panes that close and come back, what is kept from one start to the next, empty pages, names
//! of everything that has the keyboard.

use std::collections::BTreeMap;

use eframe::Storage;
use eframe::egui::{self, Key, Modifiers, Role};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use highwater_model::workload::DeviceProfiles;
use highwater_session::{
    Bookmark, Command, Document, Notice, PersistedDocument, Recents, Restore, SAMPLES, SourceSpec, Worker, sample,
};
use highwater_ui::app::App;
use highwater_ui::commands::{COMMANDS, UiCommand};
use highwater_ui::panes::{PANES, Pane};
use highwater_ui::persisted::Persisted;

use crate::harness::{
    Window, click_label, is_in_front, press, press_and_settle, push, push_label, settle, window_of, window_of_app,
    window_of_session,
};
use crate::sessions::{session, source};

/// A storage in memory.
#[derive(Default)]
struct Fake(BTreeMap<String, String>);

impl Storage for Fake {
    fn get_string(&self, key: &str) -> Option<String> {
        self.0.get(key).cloned()
    }

    fn set_string(&mut self, key: &str, value: String) {
        self.0.insert(key.to_owned(), value);
    }

    fn remove_string(&mut self, key: &str) {
        self.0.remove(key);
    }

    fn flush(&mut self) {}
}

/// The program as it starts with a storage, without files on the command line.
fn started(storage: &Fake, restore: Restore) -> App {
    let kept = Persisted::read(Some(storage), restore);
    let document = Document::new(vec![SourceSpec::Sample(sample("mobilenet").unwrap())]);
    let worker = Worker::start(|| {}).unwrap();
    let session = highwater_ui::session(document, DeviceProfiles::bundled().unwrap(), worker, &kept);
    let mut app = App::restored(session, &kept).with_typed_paths();
    app.settle();
    app
}

pub(crate) fn open_palette(harness: &mut Window, text: &str) {
    press(harness, Modifiers::COMMAND | Modifiers::SHIFT, Key::P);
    harness
        .get_by_role_and_label(Role::TextInput, "find a command")
        .type_text(text);
    harness.run_steps(2);
}

fn is_palette_open(harness: &Window) -> bool {
    harness
        .query_by_role_and_label(Role::TextInput, "find a command")
        .is_some()
}

/// The rows of the palette, as they are read out.
fn rows(harness: &Window) -> Vec<String> {
    let rows = harness.query_all_by_role(Role::ListBoxOption);
    rows.filter_map(|row| row.accesskit_node().label()).collect()
}

#[test]
fn every_command_runs_from_the_palette_by_its_name() {
    let mut harness = window_of("mobilenet", 800.0);
    for row in COMMANDS {
        if row.text == "All commands…" {
            continue;
        }
        open_palette(&mut harness, row.text);
        let first = rows(&harness).into_iter().next().unwrap_or_default();
        assert!(first.starts_with(row.text), "{} is not first: {first}", row.text);
        press(&mut harness, Modifiers::NONE, Key::Enter);
        let is_refused = first.ends_with(')') && is_palette_open(&harness);
        if is_refused {
            // Why is said in its row.
            assert!(first.len() > row.text.len() + 3, "{first}");
            press(&mut harness, Modifiers::NONE, Key::Escape);
        } else {
            let used = harness.state().kept().used;
            assert_eq!(
                used.first(),
                Some(&format!("command:{:?}", row.command)),
                "{}",
                row.text
            );
        }
        assert!(!is_palette_open(&harness), "{}", row.text);
        // What it opened is closed again.
        for _ in 0..2 {
            press(&mut harness, Modifiers::NONE, Key::Escape);
        }
        close_path_field(&mut harness);
    }
}

/// A command that asks for a file opened the path field.
fn close_path_field(harness: &mut Window) {
    if harness.query_by_role_and_label(Role::TextInput, "Path").is_some() {
        push_label(harness, "Close");
    }
}

#[test]
fn the_palette_finds_panes_options_and_samples_and_is_closed_by_escape() {
    let mut harness = window_of("mobilenet", 800.0);
    open_palette(&mut harness, "nothing is called like this");
    assert!(rows(&harness).is_empty());
    press(&mut harness, Modifiers::NONE, Key::Escape);
    assert!(!is_palette_open(&harness));

    open_palette(&mut harness, "pane device");
    assert_eq!(rows(&harness)[0], "go to pane Device");
    press(&mut harness, Modifiers::NONE, Key::Enter);
    assert!(is_in_front(&harness, "Device"));

    open_palette(&mut harness, "static_memory_policy");
    assert_eq!(rows(&harness)[0], "go to option memory_config.static_memory_policy");
    press(&mut harness, Modifiers::NONE, Key::Enter);
    harness.run_steps(4);
    let field = harness.get_by_role_and_label(Role::ComboBox, "static_memory_policy");
    assert!(field.is_focused());

    open_palette(&mut harness, "LSTM inference");
    let row = harness.get_by_label("open sample LSTM inference in TensorFlow Lite");
    row.click();
    settle(&mut harness);
    assert!(!is_palette_open(&harness));
    assert_eq!(harness.state().session().document().sources[0].label(), "sample:lstm");

    // The latest used command is first while nothing is typed.
    open_palette(&mut harness, "");
    let first: Vec<String> = rows(&harness).into_iter().take(2).collect();
    assert_eq!(
        first,
        [
            "open sample LSTM inference in TensorFlow Lite",
            "go to option memory_config.static_memory_policy"
        ]
    );
    press(&mut harness, Modifiers::NONE, Key::ArrowDown);
    press(&mut harness, Modifiers::NONE, Key::ArrowDown);
    press(&mut harness, Modifiers::NONE, Key::ArrowUp);
    press(&mut harness, Modifiers::NONE, Key::Enter);
    assert_eq!(
        harness.state().kept().used[0],
        "option:memory_config.static_memory_policy"
    );
}

#[test]
fn panes_close_and_come_back() {
    let mut harness = window_of("mobilenet", 800.0);
    push_label(&mut harness, "close the pane Inspector");
    assert!(harness.query_by_label("Inspector").is_none());
    assert_eq!(harness.state().kept().layout.unwrap().closed, ["inspector"]);
    // A click on a tensor does not bring back what was closed.
    press(&mut harness, Modifiers::NONE, Key::Period);
    assert!(harness.query_by_label("Inspector").is_none());
    push_label(&mut harness, "View");
    push(&mut harness, Role::Button, "Details");
    push(&mut harness, Role::CheckBox, "Inspector");
    press(&mut harness, Modifiers::NONE, Key::Escape);
    press(&mut harness, Modifiers::NONE, Key::Escape);
    assert!(is_in_front(&harness, "Inspector"));
}

#[test]
fn details_are_put_aside_together_and_lanes_get_the_window() {
    let mut harness = window_of("mobilenet", 800.0);
    press(&mut harness, Modifiers::NONE, Key::Q);
    for tab in ["Inspector", "Planner", "Device"] {
        assert!(harness.query_by_role_and_label(Role::Tab, tab).is_none(), "{tab}");
    }
    press(&mut harness, Modifiers::NONE, Key::Q);
    assert!(is_in_front(&harness, "Inspector"));
    let narrow = harness.get_by_label("lane policy 0 memory map").rect().width();
    press(&mut harness, Modifiers::NONE, Key::F11);
    assert!(harness.query_by_label("Configuration").is_none());
    assert!(harness.get_by_label("lane policy 0 memory map").rect().width() > narrow + 300.0);
    press(&mut harness, Modifiers::SHIFT, Key::Q);
    harness.get_by_label("Configuration");
    // Going to another pane brings the others back too.
    press(&mut harness, Modifiers::NONE, Key::F11);
    press(&mut harness, Modifiers::NONE, Key::P);
    assert!(is_in_front(&harness, "Planner"));
}

#[test]
fn with_every_pane_closed_one_button_brings_them_back() {
    let mut harness = window_of("mobilenet", 800.0);
    let acting: Vec<_> = PANES
        .iter()
        .filter(|row| row.pane.why_not(harness.state().session()).is_none())
        .collect();
    for row in acting {
        open_palette(&mut harness, &format!("go to pane {}", row.title));
        press(&mut harness, Modifiers::NONE, Key::Enter);
        push_label(&mut harness, &format!("close the pane {}", row.title));
    }
    push_label(&mut harness, "Show all panes");
    assert!(is_in_front(&harness, "Configuration"));
}

/// A model file in a new folder.
fn a_model() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("net.onnx");
    let bundled =
        std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("sample_traces/mobilenet_v2.onnx");
    std::fs::copy(bundled, &path).unwrap();
    (folder, path)
}

#[test]
fn bookmarks_come_back_with_their_file() {
    let (_folder, path) = a_model();
    let mut storage = Fake::default();
    let mut app = started(&storage, Restore::Everything);
    let (file, other) = (SourceSpec::Path(path), SourceSpec::Sample(sample("bert").unwrap()));
    app.apply(Command::Open(vec![file.clone()]));
    app.settle();
    let mut window = window_of_app(app, [1280.0, 800.0]);
    let note = Bookmark {
        step: highwater_model::units::Step(3),
        turn: None,
        note: "look here".to_owned(),
        lane: None,
    };
    window.state_mut().apply(Command::AddBookmark(note.clone()));
    window.run_steps(2);
    window.state().kept().write(&mut storage);

    // At the next start, and where the file is opened again after another, which has none.
    let mut app = started(&storage, Restore::Everything);
    assert_eq!(app.session().document().bookmarks, std::slice::from_ref(&note));
    for (source, bookmarks) in [(other, &[][..]), (file, std::slice::from_ref(&note))] {
        app.apply(Command::Open(vec![source.clone()]));
        app.settle();
        let mut window = window_of_app(app, [1280.0, 800.0]);
        window.run_steps(3);
        let document = window.state().session().document();
        assert_eq!((&*document.sources, &*document.bookmarks), (&[source][..], bookmarks));
        app = window.into_state();
    }
}

#[test]
fn what_was_open_is_there_again() {
    let (_folder, path) = a_model();
    let mut storage = Fake::default();
    let mut app = started(&storage, Restore::Everything);
    assert_eq!(app.session().document().sources[0].label(), "sample:mobilenet");
    let source = SourceSpec::Path(path.clone()).opened_as(Some("onnx")).unwrap();
    app.apply(Command::Open(vec![source.clone()]));
    app.settle();
    app.apply(Command::set_option(highwater_options::keys::STATIC_MEMORY_POLICY, "2"));
    app.settle();
    let mut window = window_of_app(app, [1280.0, 800.0]);
    press(&mut window, Modifiers::NONE, Key::V);
    press(&mut window, Modifiers::NONE, Key::M);
    push_label(&mut window, "close the pane Problems");
    let before = window.state().kept();
    before.write(&mut storage);

    let app = started(&storage, Restore::Everything);
    assert_eq!(app.session().document().sources, [source]);
    let policy = app.session().answer().unwrap().0.active_policy;
    assert_eq!(policy.number(), 2);
    let window = window_of_app(app, [1280.0, 800.0]);
    let again = window.state().kept();
    assert_eq!(again.layout, before.layout);
    assert_eq!(again.view, before.view);
    assert_eq!(again.document, before.document);
    assert_eq!(again.recents.list[0].paths().next(), Some(path.as_path()));
    assert!(is_in_front(&window, "Device"));
    drop(window);

    // Files on the command line win over what was open; without restoring, the list of files alone stays.
    let cases = [(Restore::Window, true), (Restore::Nothing, false)];
    for (restore, has_layout) in cases {
        let app = started(&storage, restore);
        assert_eq!(app.session().document().sources[0].label(), "sample:mobilenet");
        let kept = app.kept();
        assert_eq!(kept.layout == before.layout, has_layout);
        assert_eq!(kept.recents.list.len(), 1);
    }

    // What cannot be read any more is told, and a sample shown.
    std::fs::remove_file(&path).unwrap();
    let app = started(&storage, Restore::Everything);
    let Some(Notice::Failed(told)) = app.session().notice() else {
        panic!("a notice is shown");
    };
    assert!(
        told.contains("cannot be reopened") && told.contains("net.onnx"),
        "{told}"
    );
    assert_eq!(app.session().document().sources, [SourceSpec::Sample(&SAMPLES[0])]);
    assert!(app.session().answer().is_some());
    assert!(app.session().is_missing(&path));
    let mut window = window_of_app(app, [1280.0, 800.0]);
    push_label(&mut window, "File");
    window.get_by_label_contains("Open recent").click();
    window.run_steps(3);
    let row = window.get_by_label_contains("net.onnx, opened");
    assert!(row.accesskit_node().is_disabled());
}

#[test]
fn nothing_that_is_stored_stops_the_start() {
    let mut full = Fake::default();
    started(&full, Restore::Everything).kept().write(&mut full);
    let keys: Vec<String> = full.0.keys().cloned().collect();
    assert!(keys.len() > 3, "{keys:?}");
    let junk = [
        "",
        "null",
        "[]",
        "{}",
        "7",
        "\"x\"",
        "{\"root\":{\"pane\":\"x\"}}",
        "{\"sources\":[{\"sample\":\"gone\"}]}",
        "{\"sources\":[{\"sample\":\"bert\"}],\"configuration\":\"{\"}",
        "[{\"sources\":[{}],\"opened\":1}]",
        "\u{1}\u{2}",
        &"[".repeat(100_000),
    ];
    for text in junk {
        for key in &keys {
            let mut storage = Fake(full.0.clone());
            storage.set_string(key, text.to_owned());
            let app = started(&storage, Restore::Everything);
            assert!(app.session().answer().is_some(), "{key}: {text:.40}");
        }
        let all = keys.iter().map(|key| (key.clone(), text.to_owned()));
        let app = started(&Fake(all.collect()), Restore::Everything);
        let window = window_of_app(app, [1024.0, 768.0]);
        assert!(is_in_front(&window, "Configuration"), "{text:.40}");
    }
}

#[test]
fn settings_that_cannot_be_read_are_told() {
    let mut storage = Fake::default();
    let document: PersistedDocument = serde_json::from_str("{\"text\": \"{\"}").unwrap();
    let kept = Persisted {
        document: Some(document),
        recents: Recents::default(),
        ..Persisted::default()
    };
    kept.write(&mut storage);
    let app = started(&storage, Restore::Everything);
    let notice = app.session().notice().cloned();
    let Some(Notice::Failed(told)) = notice else {
        panic!("a notice is shown");
    };
    assert!(told.contains("so a sample is open"), "{told}");
    assert!(app.session().answer().is_some());
}

/// The window of a file that cannot be read.
fn unreadable() -> Window {
    window_of_session(session(vec![source("odd.bin", "no graph at all")]), 800.0)
}

#[test]
fn every_empty_pane_says_what_it_will_show_and_why_it_does_not() {
    let mut window = unreadable();
    for row in PANES.iter().filter(|row| row.needs_answer) {
        open_palette(&mut window, &format!("go to pane {}", row.title));
        press(&mut window, Modifiers::NONE, Key::Enter);
        assert!(
            window.query_all_by_label_contains(row.what).count() > 0,
            "{}",
            row.title
        );
        assert!(
            window.query_all_by_label_contains("odd.bin").count() > 1,
            "{}",
            row.title
        );
        window.get_by_label(&format!("open files, from the pane {}", row.title));
        window.get_by_label(&format!("open a sample, from the pane {}", row.title));
    }
    let last = PANES.iter().rfind(|row| row.needs_answer).expect("such panes");
    click_label(&mut window, &format!("open a sample, from the pane {}", last.title));
    assert!(window.state().session().answer().is_some());
}

/// Everything that takes the keyboard or a click, as (role, name).
fn controls(window: &Window) -> Vec<(Role, String)> {
    let root = window.root();
    let nodes = root.children_recursive().filter(|node| {
        let data = node.accesskit_node();
        let action = |action| data.data().supports_action(action);
        // The libraries name neither what scrolls nor the gaps between panes that can be dragged.
        !matches!(data.role(), Role::ScrollBar | Role::GenericContainer | Role::Unknown)
            && !data.is_hidden()
            && (action(egui::accesskit::Action::Focus) || action(egui::accesskit::Action::Click))
    });
    let named = nodes.map(|node| {
        let node = node.accesskit_node();
        (node.role(), node.label().or_else(|| node.value()).unwrap_or_default())
    });
    named.collect()
}

/// Focusable widgets without a name, as text.
fn nameless(window: &Window, place: &str) -> Vec<String> {
    let controls = controls(window);
    assert!(controls.len() > 10, "{place}: {controls:?}");
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (role, name) in &controls {
        *counts.entry(format!("{role:?} {name}")).or_default() += 1;
    }
    let without = controls.iter().filter(|(_, name)| name.trim().is_empty());
    let without = without.map(|(role, _)| format!("{place}: {role:?} without a name"));
    // The button of each lane that puts its policy in force is told apart by the lane before it.
    let twice = counts
        .iter()
        .filter(|(name, count)| **count > 1 && *name != "Button use");
    let twice = twice.map(|(name, count)| format!("{place}: {count} times {name}"));
    without.chain(twice).collect()
}

#[test]
fn every_focusable_widget_has_a_name() {
    let mut found = nameless(&unreadable(), "start page");
    let mut window = window_of("resnet50", 800.0);
    for row in PANES {
        open_palette(&mut window, &format!("go to pane {}", row.title));
        press_and_settle(&mut window, Modifiers::NONE, Key::Enter);
        found.extend(nameless(&window, row.title));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn the_canvas_tells_in_words_what_is_selected() {
    let mut window = window_of("mobilenet", 800.0);
    let told = |window: &Window| {
        let lane = window.get_by_label("lane policy 0 memory map");
        lane.accesskit_node().value().unwrap_or_default()
    };
    let before = told(&window);
    for words in ["peak ", " reserved at step ", "shows steps 0 to 208 of 209"] {
        assert!(before.contains(words), "{before}");
    }
    assert!(!before.contains("selected"), "{before}");
    press(&mut window, Modifiers::NONE, Key::Period);
    window.run_steps(2);
    let selected = window.state().session().selection().unwrap();
    let (comparison, _) = window.state().session().answer().unwrap();
    let name = highwater_timeline::facts(comparison, selected).name;
    assert!(
        told(&window).contains(&format!("selected: {name}")),
        "{}",
        told(&window)
    );
    press(&mut window, Modifiers::NONE, Key::W);
    assert!(!told(&window).contains("steps 0 to 208"), "{}", told(&window));
    press(&mut window, Modifiers::NONE, Key::V);
    press(&mut window, Modifiers::NONE, Key::V);
    window.run_steps(2);
    window.state_mut().settle();
    window.run_steps(2);
    let rows = window.get_by_label("lifetimes");
    assert!(rows.accesskit_node().value().unwrap_or_default().contains("selected: "));
}

#[test]
fn the_tables_of_panes_and_commands_agree() {
    let all = [
        Pane::Configuration,
        Pane::Policies,
        Pane::Inspector,
        Pane::Budgets,
        Pane::NameReuse,
        Pane::Planner,
        Pane::Device,
        Pane::Problems,
        Pane::Files,
    ];
    for pane in all {
        assert_eq!(Pane::named(pane.row().name), Some(pane));
    }
    for row in PANES {
        assert_eq!(row.pane.row().name, row.name, "{} stands twice", row.title);
        let has_command = COMMANDS
            .iter()
            .any(|known| known.command == UiCommand::TogglePane(row.pane));
        let is_always_there =
            [Pane::Configuration, Pane::Policies, Pane::Problems, Pane::Inspector].contains(&row.pane);
        assert_ne!(has_command, is_always_there, "{}", row.title);
    }
}

/// Letters that come in the frame of the shortcut are the palette's, and no command's.
#[test]
fn what_is_typed_behind_the_shortcut_is_for_the_palette() {
    let mut harness = window_of("resnet50", 1000.0);
    settle(&mut harness);
    harness.key_press_modifiers(Modifiers::COMMAND | Modifiers::SHIFT, Key::P);
    for letter in ["x", "s"] {
        harness.event(egui::Event::Text(letter.to_owned()));
    }
    harness.run_steps(4);
    let field = harness.get_by_role_and_label(Role::TextInput, "find a command");
    assert_eq!(field.value().as_deref(), Some("xs"));
}
