//! Searches and tables in the session: the newest wins, a new answer is searched again, old results stay meanwhile.

use highwater::session::{Command, SAMPLES, Session, SourceSpec};
use highwater::timeline::{Sort, TableKind, TableSpec};

use super::settled;
use crate::sessions::source;

/// Three names have "a", the two of them with "ad" have "add".
const NAMES: &str = r#"{"highwater_graph": 1, "name": "net", "nodes": [
    {"name": "f", "op": "F", "inputs": ["x"], "outputs": [{"id": "early", "shape": [64], "dtype": "float32"}]},
    {"name": "g", "op": "G", "inputs": ["early"], "outputs": [{"id": "added", "shape": [64], "dtype": "float32"}]},
    {"name": "h", "op": "H", "inputs": ["added"], "outputs": [{"id": "readdress", "shape": [64], "dtype": "float32"}]},
    {"name": "k", "op": "K", "inputs": ["readdress"], "outputs": [{"id": "end", "shape": [64], "dtype": "float32"}]}],
  "inputs": [{"id": "x", "shape": [64], "dtype": "float32"}], "outputs": ["end"]}"#;

fn session() -> Session {
    settled(vec![SourceSpec::Sample(&SAMPLES[0])])
}

fn search(text: &str) -> Command {
    Command::Search {
        text: text.to_owned(),
        lane: 0,
    }
}

#[test]
fn the_newest_search_wins_and_a_blank_one_finds_nothing() {
    let mut session = settled(vec![source("net.json", NAMES)]);
    for text in ["a", "ad", "add"] {
        session.apply(search(text));
    }
    session.settle();
    let found = session.search().clone();
    let matches = found.matches.clone().expect("an answer");
    assert!(found.is_on() && found.text == "add" && !session.is_searching());
    let (comparison, timeline) = session.answer().unwrap();
    let rows = timeline.rows_of(0);
    let tensors = (0..rows.len()).map(|row| rows.get(row).unwrap().tensor);
    let names = tensors
        .filter(|tensor| matches.contains(*tensor))
        .map(|tensor| comparison.tensor_name(tensor.graph, tensor.tensor));
    assert_eq!(names.collect::<Vec<&str>>(), ["added", "readdress"]);
    assert_eq!(matches.len(), 2);
    session.apply(search("size:>"));
    session.settle();
    let wrong = session.search();
    assert!(wrong.error.is_some());
    assert_eq!(wrong.matches.as_deref(), Some(&*matches), "what was found last stays");
    session.apply(search(" "));
    session.settle();
    let blank = session.search();
    assert!(!blank.is_on() && blank.error.is_none() && blank.matches.is_none());
}

#[test]
fn a_new_answer_repeats_the_search() {
    let mut session = session();
    session.apply(Command::SetIterations(1));
    session.apply(search("size:>1KiB"));
    session.settle();
    let rows = |session: &Session| session.search().matches.as_ref().expect("an answer").n_rows();
    let before = rows(&session);
    session.apply(Command::SetIterations(3));
    session.settle();
    assert_eq!(rows(&session), before * 3);
    session.apply(Command::Open(vec![SourceSpec::Sample(&SAMPLES[1])]));
    assert!(session.search().matches.is_none(), "found in graphs that are gone");
    session.settle();
    let (_, timeline) = session.answer().unwrap();
    assert_eq!(rows(&session), timeline.rows_of(0).len());
}

#[test]
fn a_table_is_made_for_the_answer_on_the_screen() {
    let mut session = session();
    let spec = TableSpec {
        sort: Some(Sort {
            column: 7,
            is_descending: true,
        }),
        ..TableSpec::default()
    };
    session.apply(Command::SetIterations(1));
    session.settle();
    assert!(
        !session.table().has(&session.table_key(spec.clone()))
            && !session.table().wants(&session.table_key(spec.clone()))
    );
    session.apply(Command::ListRows(Box::new(spec.clone())));
    assert!(session.table().wants(&session.table_key(spec.clone())));
    session.settle();
    assert!(session.table().has(&session.table_key(spec.clone())) && !session.table().is_pending());
    let n_rows = session.table().last().unwrap().len();
    session.apply(Command::SetIterations(2));
    session.settle();
    assert!(
        !session.table().has(&session.table_key(spec.clone())),
        "of another answer"
    );
    assert_eq!(
        session.table().last().unwrap().len(),
        n_rows,
        "and shown until the new one is there"
    );
    session.apply(Command::ListRows(Box::new(spec.clone())));
    session.settle();
    assert_eq!(session.table().last().unwrap().len(), n_rows * 2);
}

#[test]
fn steps_that_follow_the_pointer_end_with_the_last() {
    let mut session = session();
    for step in 0..40 {
        let spec = TableSpec {
            kind: TableKind::Live,
            step: highwater::units::Step(step),
            ..TableSpec::default()
        };
        session.apply(Command::ListRows(Box::new(spec)));
    }
    session.settle();
    assert_eq!(session.table().last().unwrap().spec().step.0, 39);
}

#[test]
fn the_table_of_problems_follows_the_problems() {
    let mut session = session();
    let spec = TableSpec {
        kind: TableKind::Problems,
        ..TableSpec::default()
    };
    session.apply(Command::ListRows(Box::new(spec.clone())));
    session.settle();
    assert!(session.table().has(&session.table_key(spec.clone())));
    session.apply(Command::set_option("no.such.option", "1"));
    session.apply(Command::SetEnvironment {
        name: "ASCEND_DEVICE_ID".to_owned(),
        value: Some("none".to_owned()),
    });
    session.settle();
    session.apply(Command::ListRows(Box::new(spec.clone())));
    session.settle();
    let table = session.table().last().unwrap();
    assert_eq!(table.n_total(), session.problem_lines().len());
}

#[test]
fn without_a_table_there_is_nothing_to_write() {
    let mut session = session();
    session.apply(Command::ExportTable("/nowhere/x.csv".into()));
    let notice = format!("{:?}", session.notice());
    assert!(notice.contains("no table to export yet"), "{notice}");
}
