//! The tables of the window: every table by role and label, sorted by a click, filtered, walked through, written.

use eframe::egui::{Key, Modifiers, Role};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use highwater_timeline::{Sort, TableKind};

use crate::harness::{Window, click, press, press_and_settle, push_label, settle, window_of};

fn open() -> Window {
    let mut harness = window_of("bert", 1000.0);
    press_and_settle(&mut harness, Modifiers::NONE, Key::X);
    settle(&mut harness);
    harness
}

fn choose(harness: &mut Window, kind: TableKind) {
    let label = format!("table {}", kind.words());
    click(harness, Role::RadioButton, &label);
    settle(harness);
}

/// The text of a cell, as files hold it.
fn cell(harness: &Window, row: usize, column: usize) -> String {
    let table = harness.state().session().table().last().expect("a table");
    table.value(row, column).raw().into_owned()
}

/// The row that says something.
fn row_of<'h>(harness: &'h Window, text: &str) -> egui_kittest::Node<'h> {
    let mut rows = harness.query_all_by_role(Role::Row);
    let says = |row: &egui_kittest::Node<'_>| {
        let label = row.accesskit_node().label().unwrap_or_default();
        label.split(", ").any(|cell| cell == text)
    };
    rows.find(says).expect("a row")
}

#[test]
fn every_table_is_found_by_role_and_label() {
    let mut harness = open();
    for kind in TableKind::ALL.into_iter().filter(|kind| *kind != TableKind::Evictions) {
        choose(&mut harness, kind);
        let table = harness.state().session().table().last().expect("a table");
        assert_eq!(table.spec().kind, kind);
        let label = format!("table of {}", kind.words());
        assert!(harness.query_by_role(Role::Table).is_some(), "{kind:?}");
        assert!(harness.query_all_by_label_contains(&label).next().is_some(), "{kind:?}");
        for column in table.columns() {
            let label = format!("sort by {}", column.title);
            harness.get_by_role_and_label(Role::ColumnHeader, &label);
        }
        if kind != TableKind::Problems {
            assert!(!table.is_empty(), "{kind:?}");
        }
    }
}

#[test]
fn a_click_on_a_column_sorts_and_another_turns_it_round() {
    let mut harness = open();
    let bytes = |harness: &Window| -> Vec<u64> {
        let n_rows = harness.state().session().table().last().expect("a table").len();
        (0..n_rows)
            .map(|row| cell(harness, row, 1).parse().expect("bytes"))
            .collect()
    };
    let natural = bytes(&harness);
    for (label, is_sorted) in [
        ("sort by bytes", Some(true)),
        ("sorted in reverse by bytes", Some(false)),
        ("sorted by bytes", None),
    ] {
        click(&mut harness, Role::ColumnHeader, label);
        settle(&mut harness);
        let found = bytes(&harness);
        match is_sorted {
            Some(true) => assert!(found.is_sorted_by(|a, b| a >= b)),
            Some(false) => assert!(found.is_sorted()),
            None => assert_eq!(found, natural),
        }
    }
}

#[test]
fn a_filter_narrows_the_table_and_an_error_leaves_it() {
    let mut harness = open();
    let all = harness.state().session().table().last().expect("a table").len();
    let field = harness.get_by_role_and_label(Role::TextInput, "filter");
    field.focus();
    field.type_text("op:matmul");
    settle(&mut harness);
    settle(&mut harness);
    let found = harness.state().session().table().last().expect("a table").len();
    assert!(found > 0 && found < all);
    assert!(
        harness
            .query_all_by_label_contains(&format!("{found} of"))
            .next()
            .is_some()
    );
    harness
        .get_by_role_and_label(Role::TextInput, "filter")
        .type_text(" size:>");
    settle(&mut harness);
    assert!(harness.query_by_label_contains("a number is missing").is_some());
    assert_eq!(harness.state().session().table().last().expect("a table").len(), found);
}

#[test]
fn a_row_selects_its_tensor_and_the_keys_walk_on() {
    let mut harness = open();
    let name = cell(&harness, 1, 0);
    row_of(&harness, &name).click();
    harness.run_steps(3);
    let target = |harness: &Window, row: usize| {
        let table = harness.state().session().table().last().expect("a table");
        table.target(row).tensor
    };
    assert_eq!(harness.state().session().selection(), target(&harness, 1));
    for _ in 0..2 {
        press(&mut harness, Modifiers::NONE, Key::ArrowDown);
    }
    assert_eq!(
        harness.state().session().selection(),
        target(&harness, 1),
        "arrows only look"
    );
    press(&mut harness, Modifiers::NONE, Key::Enter);
    assert_eq!(harness.state().session().selection(), target(&harness, 3));
}

#[test]
fn a_step_of_the_ops_is_pinned() {
    let mut harness = open();
    choose(&mut harness, TableKind::Ops);
    let name = cell(&harness, 2, 1);
    row_of(&harness, &name).click();
    harness.run_steps(3);
    choose(&mut harness, TableKind::Live);
    let spec = harness
        .state()
        .session()
        .table()
        .last()
        .expect("a table")
        .spec()
        .clone();
    assert_eq!(spec.step.0, 2, "what is live is that of the pinned step");
}

#[test]
fn a_table_is_written_whole_and_in_its_order() {
    let mut harness = open();
    click(&mut harness, Role::ColumnHeader, "sort by bytes");
    settle(&mut harness);
    let spec = harness
        .state()
        .session()
        .table()
        .last()
        .expect("a table")
        .spec()
        .clone();
    assert_eq!(
        spec.sort,
        Some(Sort {
            column: 1,
            is_descending: true
        })
    );
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("tensors.csv");
    harness.get_by_role_and_label(Role::Button, "Export as CSV…").click();
    // Without a dialog service the path field opens.
    for _ in 0..1500 {
        if harness.query_by_role_and_label(Role::TextInput, "Path").is_some() {
            break;
        }
        std::thread::park_timeout(std::time::Duration::from_millis(20));
        harness.run_steps(1);
    }
    let field = harness.get_by_role_and_label(Role::TextInput, "Path");
    field.focus();
    harness.run_steps(2);
    press(&mut harness, Modifiers::COMMAND, Key::A);
    harness
        .get_by_role_and_label(Role::TextInput, "Path")
        .type_text(path.to_str().expect("a path in Unicode"));
    harness.run_steps(3);
    push_label(&mut harness, "Save");
    while harness.state().session().notice().is_none() {
        harness.run_steps(1);
        std::thread::yield_now();
    }
    let text = std::fs::read_to_string(&path).expect("a file");
    let table = harness.state().session().table().last().expect("a table");
    assert_eq!(text.lines().count(), table.len() + 1);
    assert!(text.starts_with("name,bytes,op,op type,dtype,shape,role,phase,birth,freed,steps,run\n"));
    let first: Vec<&str> = text.lines().nth(1).expect("a row").rsplit(',').collect();
    assert_eq!(first[10], cell(&harness, 0, 1), "the largest comes first");
}
