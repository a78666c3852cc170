//! Name reuse in the window: both levels, the log line by line, a line selects the tensors that it is about.

use eframe::egui::{Key, Modifiers, Role};
use egui_kittest::kittest::Queryable as _;
use highwater_model::workload::GraphIdx;
use highwater_session::{Command, SourceSpec};

use crate::harness::{Window, press_and_settle, push, settle_chain, window_of_session};
use crate::sessions::{session, source};

/// Four results of one shape, one after the other: the third takes the name of the first, the fourth of the second.
const CHAIN: &str = r#"{"highwater_graph": 1, "name": "chain",
    "nodes": [{"name": "a", "op": "relu", "inputs": ["x"], "outputs": [{"id": "t1", "shape": [64], "dtype": "float32"}]},
              {"name": "b", "op": "relu", "inputs": ["t1"], "outputs": [{"id": "t2", "shape": [64], "dtype": "float32"}]},
              {"name": "c", "op": "relu", "inputs": ["t2"], "outputs": [{"id": "t3", "shape": [64], "dtype": "float32"}]},
              {"name": "d", "op": "relu", "inputs": ["t3"], "outputs": [{"id": "t4", "shape": [64], "dtype": "float32"}]}],
    "inputs": [{"id": "x", "shape": [64], "dtype": "float32"}], "outputs": ["t4"]}"#;

fn chain() -> SourceSpec {
    source("chain.json", CHAIN)
}

fn window(source: SourceSpec) -> Window {
    let mut harness = window_of_session(session(vec![source]), 800.0);
    press_and_settle(&mut harness, Modifiers::NONE, Key::N);
    harness
}

fn selected_name(harness: &Window) -> String {
    let session = harness.state().session();
    let selected = session.selection().expect("a selection");
    let (comparison, _) = session.answer().expect("an answer");
    comparison.tensor_name(selected.graph, selected.tensor).to_owned()
}

#[test]
fn a_line_selects_the_variable_and_with_shift_the_one_whose_name_it_takes() {
    let mut harness = window(chain());
    let report = harness
        .state()
        .session()
        .name_reuse()
        .wanted()
        .expect("a report")
        .clone();
    let lines: Vec<&str> = report.levels[0].reuse.log.iter().map(|line| &*line.text).collect();
    let first = "!!! 0,  t3[64] => t1[64], cache idx 0, pool size 1";
    assert_eq!(lines.first(), Some(&first), "{lines:?}");
    push(&mut harness, Role::Button, first);
    assert_eq!(selected_name(&harness), "t3");
    harness
        .get_by_role_and_label(Role::Button, first)
        .click_modifiers(Modifiers::SHIFT);
    harness.run_steps(3);
    assert_eq!(selected_name(&harness), "t1");
}

#[test]
fn keys_walk_the_lines_and_enter_selects() {
    let mut harness = window(SourceSpec::from_argument("sample:resnet50").expect("a sample"));
    let report = harness
        .state()
        .session()
        .name_reuse()
        .wanted()
        .expect("a report")
        .clone();
    let log = &report.levels[0].reuse.log;
    assert!(log.len() > 60, "{}", log.len());
    harness
        .query_all_by_role_and_label(Role::Button, &log[0].text)
        .next()
        .expect("a line")
        .focus();
    harness.run_steps(2);
    for _ in 0..5 {
        harness.key_press(Key::PageDown);
        harness.run_steps(2);
    }
    harness.key_press(Key::ArrowUp);
    harness.run_steps(2);
    harness.key_press(Key::Enter);
    harness.run_steps(3);
    let wanted = report.tensors_of(&log[49])[0].expect("a tensor");
    let selected = harness.state().session().selection().expect("a selection");
    assert_eq!((selected.graph, selected.tensor), (wanted.graph, wanted.tensor));
}

#[test]
fn both_levels_are_shown_and_the_log_is_filtered() {
    let mut harness = window(chain());
    harness.get_by_role_and_label(Role::RadioButton, "show level 0");
    push(&mut harness, Role::RadioButton, "show level 1");
    let report = harness
        .state()
        .session()
        .name_reuse()
        .wanted()
        .expect("a report")
        .clone();
    let n_lines = report.levels[1].reuse.log.len();
    harness.get_by_role_and_label(Role::TextInput, "filter the log").focus();
    harness.run_steps(2);
    harness
        .get_by_role_and_label(Role::TextInput, "filter the log")
        .type_text("T4[");
    harness.run_steps(3);
    let left = report.levels[1]
        .reuse
        .log
        .iter()
        .filter(|line| line.text.contains("t4["))
        .count();
    harness.get_by_label_contains(&format!("{left} of {n_lines} lines"));
    push(&mut harness, Role::Button, "Set level 1");
    settle_chain(&mut harness);
    let line = harness.state().session().command_line();
    assert!(line.contains("memory_optimize.level=1"), "{line}");
}

#[test]
fn the_newest_question_wins_and_edits_make_it_old() {
    let mut session = session(vec![chain()]);
    assert!(session.name_reuse().wanted().is_none() && !session.name_reuse().wants(&GraphIdx(0)));
    session.apply(Command::ReuseNames(GraphIdx(0)));
    session.apply(Command::ReuseNames(GraphIdx(0)));
    assert!(session.name_reuse().wants(&GraphIdx(0)) && session.name_reuse().is_pending());
    session.settle();
    assert_eq!(
        session.name_reuse().wanted().expect("a report").levels[0].reuse.hits(),
        2
    );
    session.apply(Command::set_option("memory_optimize.skip_opt_set", r#"["t3"]"#));
    session.settle();
    assert!(!session.name_reuse().wants(&GraphIdx(0)), "there is a newer answer");
    session.apply(Command::ReuseNames(GraphIdx(0)));
    session.settle();
    assert_eq!(
        session.name_reuse().wanted().expect("a report").levels[0].reuse.hits(),
        1
    );
}
