//! The pane Flame and the call stack in the inspector: zoom, paths, options, copy, export.

use eframe::egui::{Key, Modifiers, Role};
use egui_kittest::kittest::Queryable as _;
use highwater_session::{Command, Notice, SourceSpec};
use highwater_timeline::{FlameGraph, FlameRequest, PeakAt};
use highwater_ui::panes::Pane;

use crate::harness::{
    Window, apply, click, copied_text, press, press_and_settle, push, push_label, window_of, window_of_session,
};
use crate::sessions::session;

/// A dump of msmemscope with call stacks, innermost frame first.
const DUMP: &str = "ID,Event,Event Type,Name,Timestamp(ns),Process Id,Thread Id,Device Id,Ptr,Attr,\
Call Stack(Python),Call Stack(C)
1,MALLOC,PTA,N/A,10,1,1,0,0x10,\"{allocation_id:1,addr:0x10,size:1024,total:8192,used:1024}\",\"model.py(3): forward
train.py(9): main
\",
2,MALLOC,PTA,N/A,20,1,1,0,0x20,\"{allocation_id:2,addr:0x20,size:3072,total:8192,used:4096}\",\"model.py(7): loss
lib.so(+0x1) [0xff]
train.py(9): main
\",
3,MALLOC,PTA,N/A,30,1,1,0,0x30,\"{allocation_id:3,addr:0x30,size:512,total:8192,used:4608}\",,
4,FREE,PTA,N/A,40,1,1,0,0x10,\"{allocation_id:1,addr:0x10,size:1024,total:8192,used:3584}\",,
";

/// The window on the dump, with its pane in front.
fn window() -> Window {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("dump.csv");
    std::fs::write(&path, DUMP).expect("it is written");
    let mut window = window_of_session(session(vec![SourceSpec::Path(path)]), 1000.0);
    press_and_settle(&mut window, Modifiers::SHIFT, Key::G);
    window
}

fn zoom_to(window: &mut Window, frame: &str) {
    let words = format!("zoom to {frame}: ");
    window.get_by_label_contains(&words).click();
    // A second click soon after would be a double click.
    window.run_steps(2);
}

fn has_box(window: &Window, frame: &str) -> bool {
    let words = format!("zoom to {frame}: ");
    window.query_all_by_label_contains(&words).next().is_some()
}

/// The width of a box as a part of the graph's.
fn part(window: &Window, frame: &str) -> f32 {
    let words = format!("zoom to {frame}: ");
    let whole = window.get_by_role_and_label(Role::Canvas, "flame graph").rect();
    window.get_by_label_contains(&words).rect().width() / whole.width()
}

#[test]
fn the_pane_draws_what_the_library_computes() {
    let window = window();
    let session = window.state().session();
    let (comparison, _) = session.answer().expect("an answer");
    let ask = FlameRequest {
        lane: 0,
        at: PeakAt::Peak,
        is_inverse: false,
        keeps_native: false,
    };
    let graph = FlameGraph::new(comparison, ask).expect("a graph");
    assert_eq!(**session.flame_graph().current().expect("a graph"), graph);
    for node in 0..3 {
        let text = format!(
            "zoom to {}: {}",
            graph.frame(node).text,
            graph.exact(graph.node(node).total)
        );
        window.get_by_label_contains(&text);
    }
    let expected = 3072.0 / 4608.0;
    assert!((part(&window, "model.py:7 loss") - expected).abs() < 0.01);
    window.get_by_label_contains("live bytes by call stack, peak at event 2");
}

#[test]
fn a_click_zooms_and_the_path_leads_back() {
    let mut window = window();
    assert!(part(&window, "model.py:7 loss") < 0.7 && has_box(&window, "(no call stack)"));
    zoom_to(&mut window, "model.py:7 loss");
    assert!(part(&window, "model.py:7 loss") > 0.99, "it fills the width");
    assert!(has_box(&window, "train.py:9 main"), "its callers stay");
    assert!(!has_box(&window, "model.py:3 forward") && !has_box(&window, "(no call stack)"));
    push(&mut window, Role::Button, "zoom out to train.py:9 main");
    assert!(has_box(&window, "model.py:3 forward") && !has_box(&window, "(no call stack)"));
    push(&mut window, Role::Button, "zoom out to all");
    assert!(has_box(&window, "(no call stack)"));
}

#[test]
fn orders_and_frames_are_chosen() {
    let mut window = window();
    click(&mut window, Role::RadioButton, "order of frames inverse");
    let innermost = window.get_by_label_contains("zoom to model.py:7 loss: ").rect();
    let caller = window.get_by_label_contains("zoom to train.py:9 main: 3").rect();
    assert!(innermost.top() < caller.top());
    click(&mut window, Role::RadioButton, "order of frames outermost first");
    assert!(!has_box(&window, "lib.so(+0x1) [0xff]"));
    click(&mut window, Role::CheckBox, "C++ frames");
    assert!(has_box(&window, "lib.so(+0x1) [0xff]"));
    let asked = window.state().session().flame_graph().current().expect("a graph").ask;
    assert!(asked.keeps_native && !asked.is_inverse);
}

#[test]
fn the_graph_is_exported_by_its_menu_entry() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut window = window();
    click(&mut window, Role::Button, "export flame graph");
    let path = folder.path().join("flame.folded");
    apply(&mut window, Command::ExportFlame(path.clone()));
    let text = std::fs::read_to_string(path).expect("it was written");
    assert!(text.contains("train.py:9 main;model.py:7 loss 3072\n"), "{text}");
}

#[test]
fn without_call_stacks_there_is_no_tab() {
    let mut window = window_of("resnet50", 800.0);
    assert!(Pane::Flame.why_not(window.state().session()).is_some());
    assert!(window.query_all_by_role_and_label(Role::Tab, "Flame").next().is_none());
    press(&mut window, Modifiers::SHIFT, Key::G);
    let notice = window.state().session().notice().cloned();
    assert!(
        matches!(&notice, Some(Notice::Failed(text)) if text.contains("call stacks")),
        "{notice:?}"
    );
}

/// Selects the block that `loss` allocates.
fn select_loss(window: &mut Window) {
    let session = window.state().session();
    let (comparison, timeline) = session.answer().expect("an answer");
    let has_loss = |tensor: &highwater_session::Selected| {
        let stack = highwater_timeline::CallStack::new(comparison, *tensor);
        stack.is_some_and(|stack| stack.text().contains("loss"))
    };
    let tensor = timeline.rows.iter().map(|row| row.tensor).find(has_loss);
    apply(window, Command::Select(tensor));
}

#[test]
fn the_inspector_shows_the_whole_stack() {
    let mut window = window();
    select_loss(&mut window);
    assert!(
        window.query_all_by_label("loss (model.py:7)").count() > 0,
        "in the list"
    );
    assert!(window.query_all_by_label("model.py:7 loss").count() > 0, "in the stack");
    window.get_by_label("train.py:9 main");
    assert!(window.query_by_label("lib.so(+0x1) [0xff]").is_none(), "C++ is folded");
    push_label(&mut window, "C++ (1 frame)");
    window.get_by_label("lib.so(+0x1) [0xff]");
    let copied = copied_text(&mut window, "copy call stack");
    assert_eq!(
        copied.as_deref(),
        Some("model.py:7 loss\nlib.so(+0x1) [0xff]\ntrain.py:9 main\n")
    );
}

#[test]
fn a_frame_opens_in_the_chosen_editor() {
    let mut window = window();
    select_loss(&mut window);
    click(&mut window, Role::Button, "choose editor");
    let field = window.get_by_role_and_label(Role::TextInput, "editor command");
    field.focus();
    field.type_text("no-such-editor +{line} {file}");
    window.run_steps(3);
    click(&mut window, Role::Button, "open model.py:7 loss");
    let notice = window.state().session().notice().cloned();
    assert!(
        matches!(&notice, Some(Notice::Failed(text)) if text.contains("no-such-editor does not start")),
        "{notice:?}"
    );
    assert_eq!(window.state().kept().editor, "no-such-editor +{line} {file}");
}
