//! The schedule in the session: one undo step per edit, unique names, files that come and go.

use highwater::session::{Command, Session, SourceSpec};
use highwater::workload::{Generator, ScheduleEntry};

use crate::sessions::{STATIC, SYMBOLIC, source, two_graphs};

fn set(session: &mut Session, texts: &[&str], field: Option<&str>) {
    session.apply(Command::SetEntries {
        entries: texts.iter().map(|text| text.parse().expect(text)).collect(),
        field: field.map(str::to_owned),
    });
    session.settle();
}

fn texts(session: &Session) -> Vec<String> {
    session
        .document()
        .plan
        .entries
        .iter()
        .map(ToString::to_string)
        .collect()
}

fn n_runs(session: &Session) -> usize {
    session.answer().expect("an answer").0.axis.runs.len()
}

fn step(session: &mut Session, command: Command) {
    session.apply(command);
    session.settle();
}

#[test]
fn each_edit_of_the_schedule_is_a_step_and_letters_of_a_field_are_one() {
    let mut session = two_graphs();
    assert_eq!(n_runs(&session), 2);
    assert!(session.assumed_dims().contains("seq"));
    set(&mut session, &["fixed*2"], None);
    assert_eq!(n_runs(&session), 2);
    // No run needs the dimension any more.
    assert!(session.assumed_dims().is_empty());
    for typed in ["chain[seq=8]", "chain[seq=8,16]", "chain[seq=8,16,32]"] {
        set(&mut session, &["fixed*2", typed], Some("values of seq"));
    }
    assert_eq!(n_runs(&session), 5);
    assert_eq!(session.scheduled().entries.len(), 2);
    step(&mut session, Command::Undo);
    assert_eq!(texts(&session), ["fixed*2"]);
    step(&mut session, Command::Undo);
    assert!(texts(&session).is_empty() && n_runs(&session) == 2);
    step(&mut session, Command::Redo);
    step(&mut session, Command::Redo);
    assert_eq!(texts(&session), ["fixed*2", "chain[seq=8,16,32]"]);
    assert_eq!(n_runs(&session), 5);
}

#[test]
fn schedule_errors_keep_the_last_answer() {
    let mut session = two_graphs();
    set(&mut session, &["fixed @1", "fixed @1"], None);
    let problem = session.problem().expect("a sentence").to_owned();
    assert!(problem.contains("twice in concurrent group 1"), "{problem}");
    assert_eq!(n_runs(&session), 2);
    set(&mut session, &["fixed @1", "chain[seq=8] @1"], None);
    assert_eq!(session.problem(), None);
    assert_eq!(n_runs(&session), 2);
}

#[test]
fn names_of_graphs_are_unique_and_can_be_undone() {
    let mut session = two_graphs();
    let rename = |own: &str, name: &str| Command::RenameGraph {
        own: own.to_owned(),
        name: name.to_owned(),
    };
    let shown = |session: &Session| -> Vec<String> {
        let graphs = session.answer().expect("an answer").0.session.graphs.iter();
        graphs.map(|graph| graph.name.clone()).collect()
    };
    set(&mut session, &["fixed", "chain[seq=8]"], None);
    step(&mut session, rename("fixed", " train "));
    assert_eq!(shown(&session), ["train", "chain"]);
    step(&mut session, rename("chain", "train"));
    assert_eq!(shown(&session), ["train", "train (2)"]);
    assert_eq!(
        texts(&session),
        ["fixed", "chain[seq=8]"],
        "entries keep to their graphs"
    );
    assert_eq!(n_runs(&session), 2);
    step(&mut session, rename("chain", ""));
    assert_eq!(shown(&session), ["train", "chain"]);
    step(&mut session, Command::Undo);
    assert_eq!(shown(&session), ["train", "train (2)"]);
    // Another graph cannot take a graph's name.
    step(&mut session, rename("fixed", "chain"));
    assert_eq!(shown(&session), ["chain", "train (2)"]);
}

#[test]
fn graphs_of_one_name_are_called_after_their_files_and_schedules_follow() {
    let mut session = two_graphs();
    let shown = |session: &Session| -> Vec<String> {
        let graphs = session.answer().expect("an answer").0.session.graphs.iter();
        graphs.map(|graph| graph.name.clone()).collect()
    };
    set(&mut session, &["fixed*2", "chain[seq=8]"], None);
    step(&mut session, Command::Add(vec![source("more.onnx.json", STATIC)]));
    assert_eq!(shown(&session), ["fixed", "chain", "more.onnx"]);
    step(&mut session, Command::Add(vec![source("other.json", SYMBOLIC)]));
    assert_eq!(shown(&session), ["fixed", "chain", "more.onnx", "other"]);
    // The old form with numbers, and the form for a single graph.
    set(&mut session, &["chain (2)[seq=8]", "more.onnx"], None);
    assert_eq!(session.problem(), None);
    assert_eq!(texts(&session), ["other[seq=8]", "more.onnx"]);
    assert_eq!(n_runs(&session), 2);
    step(&mut session, Command::Remove(1));
    step(&mut session, Command::Remove(0));
    assert_eq!(shown(&session), ["fixed", "chain"]);
    assert_eq!(texts(&session), ["chain[seq=8]", "fixed"]);
    step(&mut session, Command::Undo);
    step(&mut session, Command::Undo);
    assert_eq!(texts(&session), ["other[seq=8]", "more.onnx"]);
}

#[test]
fn files_that_are_added_and_removed_come_back_by_undo() {
    let mut session = two_graphs();
    set(&mut session, &["fixed*2", "chain[seq=8,16]"], None);
    let titles =
        |session: &Session| -> Vec<String> { session.document().sources.iter().map(SourceSpec::title).collect() };
    step(&mut session, Command::Remove(1));
    assert_eq!(titles(&session), ["fixed.json"]);
    assert_eq!(
        texts(&session),
        ["fixed*2"],
        "what the file held is no part of the schedule any more"
    );
    step(&mut session, Command::Undo);
    assert_eq!(titles(&session), ["fixed.json", "chain.json"]);
    assert_eq!(texts(&session), ["fixed*2", "chain[seq=8,16]"]);
    assert_eq!(n_runs(&session), 4);
    step(&mut session, Command::Redo);
    assert_eq!(titles(&session), ["fixed.json"]);
    step(&mut session, Command::Undo);
    step(&mut session, Command::Add(vec![source("more.json", STATIC)]));
    assert_eq!(titles(&session).len(), 3);
    step(&mut session, Command::Undo);
    assert_eq!(titles(&session).len(), 2);
    step(&mut session, Command::Undo);
    assert!(texts(&session).is_empty(), "and the edit before");
    // Entries left out because of unreadable files are restored likewise.
    step(
        &mut session,
        Command::Add(vec![source("broken.json", "{\"highwater_graph\": 1,")]),
    );
    assert_eq!(titles(&session).len(), 3);
    step(&mut session, Command::Undo);
    assert_eq!(titles(&session).len(), 2);
    step(&mut session, Command::Redo);
    assert_eq!(titles(&session).len(), 3);
}

#[test]
fn values_of_entries_and_options_combine() {
    let mut session = two_graphs();
    for (key, text) in [
        ("dynamic_input", "True"),
        ("dynamic_inputs_shape_range", "data:[8],[8~64,8]"),
    ] {
        step(&mut session, Command::set_option(key, text));
    }
    let chain = || "chain[seq=4..6]".parse::<ScheduleEntry>().expect("an entry");
    session.apply(Command::SetEntries {
        entries: vec![ScheduleEntry::run("chain".to_owned()), chain()],
        field: None,
    });
    session.settle();
    let values = chain().dims["seq"].values();
    assert_eq!(values, "4..6".parse::<Generator>().expect("a range").values());
    let runs = &session.answer().expect("an answer").0.axis.runs;
    let seq: Vec<u64> = runs
        .iter()
        .filter_map(|run| run.run.bindings.get("seq").copied())
        .collect();
    assert_eq!(seq[seq.len() - 3..], [4, 5, 6]);
    assert!(seq.len() > 3, "the first entry takes what the range gives: {seq:?}");
}
