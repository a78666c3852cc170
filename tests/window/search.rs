//! Searching in the window: `/`, a query, Enter from match to match, Escape; the count, the error and the help.

use eframe::egui::{Key, Modifiers, Role};
use egui_kittest::kittest::Queryable as _;
use highwater_timeline::Query;

use crate::harness::{Window, press, press_and_settle, push, settle, window_of};

fn open() -> Window {
    let mut harness = window_of("bert", 900.0);
    settle(&mut harness);
    harness
}

fn type_query(harness: &mut Window, text: &str) {
    press(harness, Modifiers::NONE, Key::Slash);
    harness.get_by_role_and_label(Role::TextInput, "Find").type_text(text);
    harness.run_steps(3);
    settle(harness);
}

fn found(harness: &Window) -> (usize, usize) {
    let search = harness.state().session().search();
    let matches = search.matches.as_ref().expect("an answer");
    (matches.len(), matches.n_rows())
}

#[test]
fn a_slash_gives_the_keyboard_and_what_is_typed_is_counted() {
    let mut harness = open();
    type_query(&mut harness, "op:matmul");
    assert_eq!(harness.state().session().search().text, "op:matmul");
    let (n_found, n_rows) = found(&harness);
    assert!(n_found > 0 && n_found < n_rows);
    assert!(harness.query_by_label_contains(&format!("{n_found} of")).is_some());
    assert!(harness.query_by_label_contains("searching").is_none());
}

#[test]
fn enter_goes_from_match_to_match_and_round() {
    let mut harness = open();
    type_query(&mut harness, "op:matmul");
    let (n_found, _) = found(&harness);
    let matches = harness.state().session().search().matches.clone().expect("an answer");
    let mut seen = Vec::new();
    for _ in 0..n_found {
        press(&mut harness, Modifiers::NONE, Key::Enter);
        seen.push(harness.state().session().selection().expect("a match"));
    }
    let wanted = std::iter::successors(matches.neighbour(None, true), |found| {
        matches.neighbour(Some(found.row.tensor), true)
    });
    let wanted: Vec<_> = wanted.take(n_found).map(|found| found.row.tensor).collect();
    assert_eq!(seen, wanted);
    press(&mut harness, Modifiers::NONE, Key::Enter);
    assert_eq!(harness.state().session().selection(), Some(seen[0]), "round");
    press(&mut harness, Modifiers::SHIFT, Key::Enter);
    assert_eq!(harness.state().session().selection(), seen.last().copied(), "and back");
    push(&mut harness, Role::Button, "previous");
    assert_eq!(harness.state().session().selection(), Some(seen[seen.len() - 2]));
}

#[test]
fn escape_clears_the_search_and_keeps_the_selection() {
    let mut harness = open();
    type_query(&mut harness, "op:matmul");
    press(&mut harness, Modifiers::NONE, Key::Enter);
    let selected = harness.state().session().selection();
    assert!(selected.is_some());
    press_and_settle(&mut harness, Modifiers::NONE, Key::Escape);
    let search = harness.state().session().search();
    assert!(!search.is_on() && search.matches.is_none());
    assert_eq!(harness.state().session().selection(), selected);
    // The keyboard is the lanes' again.
    press(&mut harness, Modifiers::NONE, Key::Escape);
    assert_eq!(harness.state().session().selection(), None);
}

#[test]
fn an_error_is_shown_where_the_count_would_be() {
    let mut harness = open();
    type_query(&mut harness, "size:>big");
    let error = Query::parse("size:>big").expect_err("no size").to_string();
    harness.get_by_label(&error);
    assert!(harness.state().session().search().matches.is_none());
}

#[test]
fn earlier_queries_come_back_with_the_arrow_keys() {
    let mut harness = open();
    for query in ["op:matmul", "size:>1KiB"] {
        type_query(&mut harness, query);
        press(&mut harness, Modifiers::NONE, Key::Enter);
        press(&mut harness, Modifiers::NONE, Key::Escape);
    }
    press(&mut harness, Modifiers::NONE, Key::Slash);
    let text = |harness: &Window| harness.state().session().search().text.clone();
    for (key, wanted) in [
        (Key::ArrowUp, "size:>1KiB"),
        (Key::ArrowUp, "op:matmul"),
        (Key::ArrowUp, "op:matmul"),
        (Key::ArrowDown, "size:>1KiB"),
        (Key::ArrowDown, ""),
    ] {
        press(&mut harness, Modifiers::NONE, key);
        assert_eq!(text(&harness), wanted, "{key:?}");
    }
}

#[test]
fn letters_of_a_query_are_no_commands() {
    let mut harness = open();
    type_query(&mut harness, "vx/lbp");
    assert_eq!(harness.state().session().search().text, "vx/lbp");
    assert!(harness.query_by_label("table Tensors").is_none(), "X opened nothing");
    press(&mut harness, Modifiers::SHIFT, Key::B);
    press(&mut harness, Modifiers::NONE, Key::X);
    assert!(
        !harness.state().session().is_budget_sweep_running(),
        "a large letter is a letter"
    );
    assert!(harness.query_by_label("table Tensors").is_none());
}

/// After a match was visited F zooms to it; before, it is a letter of the query.
#[test]
fn f_zooms_to_a_match_that_was_visited() {
    let mut window = open();
    type_query(&mut window, "op:matmul");
    press_and_settle(&mut window, Modifiers::NONE, Key::Enter);
    assert!(window.state().session().selection().is_some());
    let before = window.state().lanes().viewport;
    press_and_settle(&mut window, Modifiers::NONE, Key::F);
    assert_ne!(window.state().lanes().viewport, before);
    assert_eq!(window.state().session().search().text, "op:matmul");
}
