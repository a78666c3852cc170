//! Entries: as texts, and as runs with groups, loads and unloads.

use std::collections::BTreeMap;

use highwater::graph::Id as _;
use highwater::workload::{EntryKind, Schedule, ScheduleEntry, ScheduleError, SchedulePlan, ScheduledGraph};
use proptest::prelude::*;

use super::generators::generators;

fn graphs() -> Vec<ScheduledGraph> {
    let graph = |name: &str, symbols: &[&str]| ScheduledGraph {
        name: name.to_owned(),
        symbols: symbols.iter().map(|symbol| (*symbol).to_owned()).collect(),
    };
    vec![graph("a", &[]), graph("b", &["batch", "seq"]), graph("c d", &["seq"])]
}

pub(super) fn plan(entries: &[&str]) -> SchedulePlan {
    SchedulePlan {
        entries: entries.iter().map(|text| text.parse().expect(text)).collect(),
        ..SchedulePlan::default()
    }
}

/// Runs as texts: the graph's number and its values; groups in brackets, changes before the run that they precede.
fn story(schedule: &Schedule) -> String {
    let mut words = Vec::new();
    for position in 0..=schedule.runs.len() {
        let at = u32::try_from(position).unwrap();
        if schedule.groups.iter().any(|group| group.end == at) {
            words.push("]".to_owned());
        }
        for change in schedule.changes.iter().filter(|change| change.before == at) {
            words.push(format!(
                "{}{}",
                if change.is_load { "+" } else { "-" },
                change.graph.idx()
            ));
        }
        if schedule.groups.iter().any(|group| group.start == at) {
            words.push("[".to_owned());
        }
        if let Some(run) = schedule.runs.get(position) {
            let values: Vec<String> = run.bindings.values().map(u64::to_string).collect();
            words.push(format!("{}({})", run.graph.idx(), values.join(",")));
        }
    }
    words.join(" ")
}

#[test]
fn entries_become_runs_in_order() {
    for (entries, iterations, expected) in [
        (&["a"][..], 1, "0()"),
        (&["a*3", "c d[seq=7]"], 1, "0() 0() 0() 2(7)"),
        (&["b[batch=1,2; seq=8..9]"], 1, "1(1,8) 1(1,9) 1(2,8) 1(2,9)"),
        // Dimensions without explicit values take the plan's: seq is 5 and 6.
        (&["b[batch=1]", "c d"], 1, "1(1,5) 1(1,6) 2(5) 2(6)"),
        (&["b[batch=1; seq=3]*2", "a"], 2, "1(1,3) 1(1,3) 0() 1(1,3) 1(1,3) 0()"),
        (
            &["load c d", "a", "unload a", "c d[seq=1]", "unload c d"],
            1,
            "+2 0() -0 2(1) -2",
        ),
        (&["a @1", "c d[seq=1,2] @1", "a"], 1, "[ 0() 2(1) 2(2) ] 0()"),
        // Two adjacent groups, and a single run, which is none.
        (
            &["a @1", "c d[seq=1] @1", "a @2", "c d[seq=2] @2", "a @3"],
            1,
            "[ 0() 2(1) ] [ 0() 2(2) ] 0()",
        ),
        // Entries in between split a group.
        (&["a @1", "unload a", "c d[seq=1] @1"], 1, "0() -0 2(1)"),
        (&["a @1", "c d[seq=1] @1"], 2, "[ 0() 2(1) ] [ 0() 2(1) ]"),
    ] {
        let mut plan = plan(entries);
        plan.iterations = iterations;
        plan.dims.insert("seq".to_owned(), vec![5, 6]);
        let schedule = plan.schedule_of(&graphs()).expect("a schedule");
        assert_eq!(story(&schedule), expected, "{entries:?}");
    }
}

#[test]
fn without_entries_every_graph_runs_once_as_before() {
    let mut plan = SchedulePlan {
        iterations: 2,
        ..SchedulePlan::default()
    };
    plan.dims.insert("seq".to_owned(), vec![5, 6]);
    plan.dims.insert("batch".to_owned(), vec![1]);
    let symbols: Vec<Vec<String>> = graphs().into_iter().map(|graph| graph.symbols).collect();
    let schedule = plan.schedule_of(&graphs()).unwrap();
    assert_eq!(Ok(schedule.clone()), plan.schedule(&symbols));
    assert_eq!(
        story(&schedule),
        "0() 1(1,5) 1(1,6) 2(5) 2(6) 0() 1(1,5) 1(1,6) 2(5) 2(6)"
    );
}

#[test]
fn entries_that_cannot_be_run_say_why() {
    for (entries, expected) in [
        (&["x"][..], "there is \"a\", \"b\", \"c d\""),
        (&["a[seq=1]"], "it has none"),
        (&["c d[batch=1]"], "it has \"seq\""),
        (&["a @4", "a @4"], "twice in concurrent group 4"),
        (&["load a", "c d[seq=1]"], "never runs it"),
        (&["unload a"], "runs nothing"),
        (&["c d[seq=1..1000]*101"], "101000 runs"),
        (&["a*4294967295"], "more than the 100000"),
    ] {
        let error = plan(entries).schedule_of(&graphs()).expect_err("refused").to_string();
        assert!(error.contains(expected), "{entries:?}: {error}");
    }
}

#[test]
fn only_dimensions_that_a_run_needs_are_unbound() {
    let unbound = |entries: &[&str]| plan(entries).unbound(&graphs());
    assert_eq!(unbound(&[]), ["batch", "seq"]);
    assert!(unbound(&["a"]).is_empty());
    assert_eq!(unbound(&["b[batch=1]"]), ["seq"]);
    assert_eq!(unbound(&["c d[seq=1]", "c d"]), ["seq"]);
    assert!(unbound(&["c d[seq=1]", "b[seq=1; batch=2]"]).is_empty());
}

#[test]
fn graphs_go_by_their_own_name_and_by_the_one_that_the_user_gave() {
    let mut plan = plan(&["main*2", "train"]);
    plan.names.insert("main".to_owned(), "train".to_owned());
    let graph = ScheduledGraph {
        name: plan.shown_name("main").to_owned(),
        symbols: Vec::new(),
    };
    let schedule = plan.schedule_of(std::slice::from_ref(&graph)).unwrap();
    assert_eq!(schedule.runs.len(), 3);
    plan.entries.clear();
    plan.entries.push(ScheduleEntry::run("other".to_owned()));
    let error = plan.schedule_of(&[graph]);
    assert!(matches!(error, Err(ScheduleError::UnknownGraph { .. })), "{error:?}");
}

#[test]
fn texts_of_entries_by_a_table() {
    let read = |text: &str| text.parse::<ScheduleEntry>().map_err(|error| error.to_string());
    for (text, same) in [
        ("a", "a"),
        ("  net v1.2/b  ", "net v1.2/b"),
        ("a*3", "a*3"),
        ("a * 3 @2", "a*3 @2"),
        ("\"a\"", "a"),
        ("\"a [b]\"*2", "\"a [b]\"*2"),
        ("\"say \\\"x\\\"\"", "\"say \\\"x\\\"\""),
        ("a[ seq = 8,16 ;batch=1..3]", "a[batch=1..3; seq=8,16]"),
        ("load a", "load a"),
        ("unload  \"load b\"", "unload \"load b\""),
        ("\"load b\"", "\"load b\""),
        ("a*1 @0", "a @0"),
        // Without quotes the word would be that of an entry that loads.
        ("load@1", "\"load\" @1"),
        ("unload*2", "\"unload\"*2"),
        ("\"load\tb\"", "\"load\tb\""),
        ("loader @1", "loader @1"),
    ] {
        let entry = read(text).unwrap();
        assert_eq!(entry.to_string(), same, "{text}");
        assert_eq!(read(same), Ok(entry), "{text}");
    }
    for (text, expected) in [
        ("", "at character 1, a name belongs here"),
        ("*3", "a name belongs here"),
        ("a*", "a number of repeats"),
        ("a*0", "at least 1"),
        ("a @x", "a number of a group"),
        ("a[seq]", "= and the values"),
        ("a[seq=]", "8..64 step 8"),
        ("a[seq=8", "] belongs here"),
        ("a[seq=1; seq=2]", "has values already"),
        ("a @1 *3", "at character 6, nothing belongs here"),
        ("load a*3", "nothing belongs here"),
        ("\"a", "a quote is missing"),
        ("\"\"", "between the quotes"),
    ] {
        let error = read(text).expect_err(text);
        assert!(error.contains(expected), "{text}: {error}");
    }
}

pub(super) fn entries() -> impl Strategy<Value = ScheduleEntry> {
    let name = "[ -~]{1,12}".prop_filter("a name", |name| name.trim() == name && !name.is_empty());
    let dims = prop::collection::btree_map(name.clone(), generators(), 0..3);
    let kind = prop::sample::select(EntryKind::ALL.to_vec());
    (name, kind, dims, 1_u32.., prop::option::of(any::<u32>())).prop_map(|(graph, kind, dims, repeats, group)| {
        if kind == EntryKind::Run {
            ScheduleEntry {
                graph,
                kind,
                dims,
                repeats,
                group,
            }
        } else {
            ScheduleEntry {
                kind,
                dims: BTreeMap::new(),
                ..ScheduleEntry::run(graph)
            }
        }
    })
}

proptest! {
    #[test]
    fn written_files_are_read_back_equal(entry in entries()) {
        prop_assert_eq!(entry.to_string().parse::<ScheduleEntry>(), Ok(entry));
    }

    #[test]
    fn no_text_panics(text in "[\\[\\]*@;\"\\\\=0-9 a-z]{0,16}") {
        if let Ok(entry) = text.parse::<ScheduleEntry>() {
            prop_assert_eq!(entry.to_string().parse::<ScheduleEntry>(), Ok(entry));
        }
    }
}
