//! Names with control and bidirectional characters: no label, accessible name or title has one.

use eframe::egui::{Key, Modifiers, Shape, ViewportCommand};
use highwater_model::visible::is_hidden;
use highwater_session::Command;
use highwater_ui::panes::PANES;
use serde_json::json;

use crate::harness::{Window, press_and_settle, settle_chain, window_of_session};
use crate::sessions::{session, source};
use crate::shell::open_palette;

const NASTY: &str = "x\u{1b}[31m\u{7f}\u{9b}2J\u{202e}\u{2066}";

fn texts_of(shape: &Shape, texts: &mut Vec<String>) {
    match shape {
        Shape::Vec(shapes) => shapes.iter().for_each(|shape| texts_of(shape, texts)),
        Shape::Text(text) => texts.push(text.galley.text().to_owned()),
        _ => {}
    }
}

/// Everything that the last frame says.
pub(crate) fn texts(window: &Window) -> Vec<String> {
    let output = window.output();
    let mut texts = Vec::new();
    output
        .shapes
        .iter()
        .for_each(|clipped| texts_of(&clipped.shape, &mut texts));
    let nodes = output.platform_output.accesskit_update.iter();
    for (_, node) in nodes.flat_map(|update| &update.nodes) {
        let of_node = [node.label(), node.value(), node.description()];
        texts.extend(of_node.into_iter().flatten().map(str::to_owned));
    }
    for command in output.viewport_output.values().flat_map(|viewport| &viewport.commands) {
        if let ViewportCommand::Title(title) = command {
            texts.push(title.clone());
        }
    }
    texts
}

#[test]
fn hidden_characters_of_names_are_visible_everywhere() {
    let name = |part: &str| format!("{NASTY}{part}");
    let graph = json!({
        "highwater_graph": 1, "name": name("graph"),
        "nodes": [{
            "name": name("op"), "op": name("kind"), "inputs": [name("in")],
            "outputs": [{"id": name("out"), "shape": [64, 1024], "dtype": "float32"}],
        }],
        "inputs": [{"id": name("in"), "shape": [64], "dtype": "float32"}], "outputs": [name("out")],
    });
    let source = source(&name("file.json"), &graph.to_string());
    let mut window = window_of_session(session(vec![source]), 900.0);
    settle_chain(&mut window);
    window
        .state_mut()
        .apply(Command::set_option(&name("key"), name("value")));
    let mut n_marked = 0;
    for row in PANES {
        open_palette(&mut window, &format!("go to pane {}", row.title));
        press_and_settle(&mut window, Modifiers::NONE, Key::Enter);
        for text in texts(&window) {
            assert!(!text.contains(is_hidden), "{}: {text:?}", row.title);
            n_marked += usize::from(text.contains("\\x1b"));
        }
    }
    assert!(n_marked > 20, "{n_marked}");
}
