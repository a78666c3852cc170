//! The small graph of the inspector: found by role and label, gone through by clicks and keys.

use eframe::egui::{Key, Modifiers, Role};
use egui_kittest::kittest::Queryable as _;
use highwater_session::Command;
use highwater_timeline::{NeighbourLimits, Neighbourhood, NodeKey, Selected};
use highwater_ui::app::App;

use crate::harness::{Window, apply, click, press, press_and_settle, settle, window_of};

fn around(app: &App, of: Selected) -> Neighbourhood {
    let (comparison, timeline) = app.session().answer().unwrap();
    timeline
        .neighbourhood(comparison, of, of.key(), NeighbourLimits::default())
        .unwrap()
}

/// A tensor that owns its memory, with a reader whose result does so too.
fn middle(app: &App) -> (Selected, String, Selected) {
    let (_, timeline) = app.session().answer().unwrap();
    let lane = &timeline.lanes[0];
    let tensors = (0..lane.blocks.len() as u32).filter_map(|block| lane.tensor(block));
    tensors
        .skip(5)
        .find_map(|tensor| {
            let around = around(app, tensor);
            around.producers().next()?;
            let reader = around.readers().next()?;
            let to = reader.to?;
            let is_plain = to.center == to.selected.key() && to.selected.key() != tensor.key();
            is_plain.then(|| (tensor, format!("op {} {}", reader.what, reader.name), to.selected))
        })
        .expect("a tensor that is read")
}

fn select(harness: &mut Window, tensor: Selected) {
    apply(harness, Command::Select(Some(tensor)));
}

#[test]
fn a_click_on_an_op_moves_on_and_alt_left_comes_back() {
    let mut harness = window_of("mobilenet", 1400.0);
    let (tensor, op, result) = middle(harness.state());
    select(&mut harness, tensor);
    harness.get_by_label("Neighbors");
    click(&mut harness, Role::Button, op.trim_end());
    assert_eq!(harness.state().session().selection(), Some(result));
    press(&mut harness, Modifiers::ALT, Key::ArrowLeft);
    assert_eq!(harness.state().session().selection(), Some(tensor));
    press(&mut harness, Modifiers::ALT, Key::ArrowRight);
    assert_eq!(harness.state().session().selection(), Some(result));
}

#[test]
fn every_node_has_a_name_and_enter_on_one_selects_it() {
    let mut harness = window_of("mobilenet", 1400.0);
    let (tensor, _, result) = middle(harness.state());
    select(&mut harness, tensor);
    let nodes = around(harness.state(), tensor).nodes;
    for node in &nodes {
        let (kind, text) = match node.key {
            NodeKey::Op(_) => ("op", format!("op {}", node.what)),
            NodeKey::Tensor(_) => ("tensor", format!("tensor {}", node.name)),
        };
        assert!(harness.query_all_by_label_contains(&text).count() > 0, "{kind} {text}");
    }
    let is_result = |key: NodeKey| matches!(key, NodeKey::Tensor(key) if key == result.key());
    let node = nodes.iter().find(|node| is_result(node.key));
    let name = format!("tensor {},", node.expect("the result").name);
    let found = harness.query_all_by_label_contains(&name).next().expect("a node");
    found.focus();
    harness.run_steps(2);
    press_and_settle(&mut harness, Modifiers::NONE, Key::Enter);
    assert_eq!(harness.state().session().selection(), Some(result));
}

#[test]
fn who_computes_and_reads_a_tensor_is_named_among_its_facts() {
    let mut harness = window_of("mobilenet", 1400.0);
    let (tensor, _, result) = middle(harness.state());
    select(&mut harness, tensor);
    assert!(harness.query_all_by_label_contains("computed by ").count() > 0);
    let reader = harness
        .query_all_by_label_contains("read by ")
        .next()
        .expect("a reader");
    reader.click();
    settle(&mut harness);
    assert_eq!(harness.state().session().selection(), Some(result));
}
