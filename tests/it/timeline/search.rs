//! The query language: matches against a second implementation that tests every tensor separately, and errors of
//! unreadable texts.

use highwater::analysis::Comparison;
use highwater::graph::{Id as _, Phase, TensorId};
use highwater::progress::{Cancel, Progress};
use highwater::session::{Selected, SourceSpec, sample};
use highwater::timeline::{CONDITIONS, FORMS, Matches, Query, Row, Timeline};
use highwater::workload::GraphIdx;
use proptest::prelude::*;

use crate::sessions::session;
use crate::synthetic;

pub(super) fn find(comparison: &Comparison, timeline: &Timeline, text: &str) -> Matches {
    let cancel = Cancel::new();
    let query = Query::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    query
        .matches(comparison, timeline, 0, &Progress::silent(&cancel))
        .expect("no cancel")
}

/// Facts of a tensor for the second implementation.
struct Facts {
    name: String,
    op_kind: String,
    dtype: String,
    role: String,
    phase: Phase,
    row: Row,
}

fn facts(comparison: &Comparison, timeline: &Timeline) -> Vec<Facts> {
    let of_row = |row: Row| {
        let facts = highwater::timeline::facts(comparison, row.tensor);
        Facts {
            name: facts.name,
            op_kind: facts.op_kind,
            dtype: facts.dtype,
            role: facts.role.map_or(String::new(), |role| role.name().to_owned()),
            phase: facts.phase,
            row,
        }
    };
    timeline.rows_of(0).iter().map(of_row).collect()
}

/// A query, and an equivalent function.
type Asked = (&'static str, fn(&Facts) -> bool);

/// A query, whether it is negated, and an equivalent function.
type PickedTerm = (&'static str, bool, fn(&Facts) -> bool);

const QUESTIONS: &[Asked] = &[
    ("", |_| true),
    ("grad", |facts| facts.name.contains("grad")),
    ("GRAD", |facts| facts.name.contains("grad")),
    ("layer1.out|layer2.out", |facts| {
        facts.name.contains("layer1.out") || facts.name.contains("layer2.out")
    }),
    ("/layer1\\d\\.out$/", |facts| {
        facts.name.starts_with("layer1") && facts.name.len() == 11 && facts.name.contains(".out")
    }),
    ("name:weight", |facts| facts.name.contains("weight")),
    ("-name:weight", |facts| !facts.name.contains("weight")),
    ("op:conv", |facts| facts.op_kind.contains("conv")),
    ("op:relu|norm", |facts| {
        facts.op_kind.contains("relu") || facts.op_kind.contains("norm")
    }),
    ("-op:relu|norm", |facts| {
        !facts.op_kind.contains("relu") && !facts.op_kind.contains("norm")
    }),
    ("op:/^conv.*backward$/", |facts| facts.op_kind == "convolution_backward"),
    ("dtype:f32", |facts| facts.dtype == "float32"),
    ("dtype:float", |facts| facts.dtype.contains("float")),
    ("dtype:i8", |facts| facts.dtype == "int8"),
    ("role:activation", |facts| facts.role == "activation"),
    ("phase:back", |facts| facts.phase == Phase::Backward),
    ("phase:forward|optim", |facts| {
        matches!(facts.phase, Phase::Forward | Phase::Optimizer)
    }),
    ("scope:layer1", |facts| {
        facts
            .name
            .rsplit_once('.')
            .is_some_and(|(path, _)| path.contains("layer1"))
    }),
    ("size:>1MiB", |facts| facts.row.bytes.get() > 1 << 20),
    ("size:<=1,048,576", |facts| facts.row.bytes.get() <= 1 << 20),
    ("size:1KiB..50MB", |facts| {
        (1024..=50_000_000).contains(&facts.row.bytes.get())
    }),
    ("size:<64KiB|>=100MiB", |facts| {
        facts.row.bytes.get() < 64 << 10 || facts.row.bytes.get() >= 100 << 20
    }),
    ("life:>10", |facts| facts.row.end.0 - facts.row.start.0 > 10),
    ("life:1", |facts| facts.row.end.0 - facts.row.start.0 == 1),
    ("live:7", |facts| facts.row.start.0 <= 7 && facts.row.end.0 > 7),
    ("live:7..9", |facts| facts.row.start.0 <= 9 && facts.row.end.0 > 7),
    ("live:30..", |facts| facts.row.end.0 > 30),
    ("live:<5", |facts| facts.row.start.0 < 5),
    ("run:1", |facts| facts.row.tensor.run == 1),
    ("run:..1", |facts| facts.row.tensor.run <= 1),
];

#[test]
fn matches_equal_a_test_of_every_tensor() {
    let comparison = synthetic::comparison(24, 2);
    let timeline = Timeline::new(&comparison);
    let all = facts(&comparison, &timeline);
    assert!(all.len() > 100);
    for (text, holds) in QUESTIONS {
        check(&find(&comparison, &timeline, text), &all, holds, text);
    }
}

#[track_caller]
fn check(matches: &Matches, all: &[Facts], holds: impl Fn(&Facts) -> bool, text: &str) {
    let wanted: Vec<usize> = (0..all.len()).filter(|number| holds(&all[*number])).collect();
    let found: Vec<usize> = (0..all.len()).filter(|row| matches.contains_row(*row)).collect();
    assert_eq!(found, wanted, "{text}");
    assert_eq!(matches.len(), wanted.len(), "{text}");
    assert_eq!(matches.is_empty(), wanted.is_empty(), "{text}");
    assert_eq!(matches.n_rows(), all.len());
    let bytes: u64 = wanted.iter().map(|number| all[*number].row.bytes.get()).sum();
    assert_eq!(matches.bytes().get(), bytes, "{text}");
    for (number, facts) in all.iter().enumerate() {
        let tensor = facts.row.tensor;
        let position = wanted.iter().position(|wanted| *wanted == number);
        assert_eq!(matches.contains(tensor), position.is_some(), "{text}: {}", facts.name);
        assert_eq!(matches.position(tensor), position, "{text}: {}", facts.name);
        let next = wanted.iter().find(|wanted| **wanted > number).or(wanted.first());
        let previous = wanted.iter().rev().find(|wanted| **wanted < number).or(wanted.last());
        for (is_next, neighbour) in [(true, next), (false, previous)] {
            let found = matches.neighbour(Some(tensor), is_next).map(|found| found.row.tensor);
            let wanted = neighbour.map(|number| all[*number].row.tensor);
            assert_eq!(found, wanted, "{text}: beside {}", facts.name);
        }
    }
    let ends = [(true, wanted.first()), (false, wanted.last())];
    for (is_next, end) in ends {
        let found = matches.neighbour(None, is_next).map(|found| found.row.tensor);
        assert_eq!(found, end.map(|number| all[*number].row.tensor), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn terms_must_all_hold(picked in proptest::collection::vec((1..QUESTIONS.len(), any::<bool>()), 0..4)) {
        let comparison = synthetic::comparison(9, 2);
        let timeline = Timeline::new(&comparison);
        let all = facts(&comparison, &timeline);
        let terms: Vec<PickedTerm> = picked
            .iter()
            .map(|(at, is_not)| (QUESTIONS[*at].0, *is_not && !QUESTIONS[*at].0.starts_with('-'), QUESTIONS[*at].1))
            .collect();
        let texts: Vec<String> = terms.iter().map(|(text, is_not, _)| {
            if *is_not { format!("-{text}") } else { (*text).to_owned() }
        }).collect();
        let text = texts.join("  ");
        let matches = find(&comparison, &timeline, &text);
        let holds = |facts: &Facts| terms.iter().all(|(_, is_not, holds)| holds(facts) != *is_not);
        check(&matches, &all, holds, &text);
    }

    #[test]
    fn every_text_is_read_or_reported(text in "[-a-z:|/\"\\\\.>< 0-9é\\[(]{0,24}") {
        match Query::parse(&text) {
            Ok(query) => prop_assert_eq!(query.text(), &text),
            Err(error) => {
                prop_assert!(error.at >= 1 && error.at <= text.chars().count() + 1, "{}", error);
                prop_assert!(!error.what.is_empty() && !error.help.is_empty());
            }
        }
    }
}

#[test]
fn read_errors_have_a_place() {
    for (text, wanted) in [
        ("op:", r#"nothing follows "op:" (character 4): write op:conv|gemm"#),
        (
            "relu  op:|x",
            r#"nothing follows "op:" (character 10): write op:conv|gemm"#,
        ),
        ("op:conv|", r#"nothing follows "|" (character 9): write op:conv|gemm"#),
        ("a||b", r#"nothing follows "|" (character 3): write relu|gelu"#),
        ("|b", r#"there is nothing before "|" (character 1): write relu|gelu"#),
        (
            "é -",
            r#"nothing follows "-" (character 3): write -op:conv to leave out what matches"#,
        ),
        (
            "sise:>1MiB",
            r#"there is no condition "sise:" (character 1): did you mean size:?; to find the text itself write it in quotes"#,
        ),
        (
            "x -colour:red",
            r#"there is no condition "colour:" (character 4): there are name: op: dtype: role: phase: scope: at: stack: file: annotation: compile: metadata: stream: pool: address: size: life: live: run: lane:; to find the text itself write it in quotes"#,
        ),
        (
            "size:>big",
            r#""big" is not a size (character 7): write size:>1MiB, size:4096 or size:1KiB..1.5MiB"#,
        ),
        (
            "size:>",
            r#"a number is missing behind "size:>" (character 7): write size:>1MiB, size:4096 or size:1KiB..1.5MiB"#,
        ),
        (
            "live:12x",
            r#""12x" is not a step (character 6): write live:123 or live:100..200"#,
        ),
        (
            "live:5..x",
            r#""x" is not a step (character 9): write live:123 or live:100..200"#,
        ),
        (
            "live:200..100",
            r#"the range "200..100" ends before it begins (character 6): write live:123 or live:100..200"#,
        ),
        (
            "life:1.5",
            r#""1.5" is not a number of steps (character 6): write life:>100, life:1 or life:2..10"#,
        ),
        (
            "run:a",
            r#""a" is not a number of a run (character 5): write run:2 or run:0..3"#,
        ),
        (
            r#"name:"a b"#,
            r#"the quote is not closed (character 6): add a second " behind the text"#,
        ),
        (
            r#""""#,
            "there is nothing between the quotes (character 3): write relu|gelu",
        ),
        (
            "ok /[a/",
            "the expression cannot be read: unclosed character class (character 4): fix it, or write the text in quotes",
        ),
    ] {
        let error = Query::parse(text).expect_err(text);
        assert_eq!(error.to_string(), wanted, "{text}");
    }
}

#[test]
fn slashes_colons_and_quotes_in_names_are_found() {
    for text in [
        "/layer1/conv/Conv_output_0",
        "dense_1:0",
        r#""dense:0""#,
        r#"name:"a b|c""#,
        "a\\|b",
        "/",
        "x-y",
    ] {
        assert!(Query::parse(text).is_ok(), "{text}");
    }
}

#[test]
fn every_example_of_the_help_can_be_read() {
    let examples = CONDITIONS.iter().map(|row| row.example);
    for example in examples.chain(FORMS.iter().map(|(example, _)| *example)) {
        Query::parse(example).unwrap_or_else(|error| panic!("{example}: {error}"));
    }
    for row in CONDITIONS {
        assert!(row.example.starts_with(&format!("{}:", row.word)), "{}", row.word);
    }
}

#[test]
fn a_search_can_be_stopped() {
    let comparison = synthetic::comparison(24, 2);
    let timeline = Timeline::new(&comparison);
    let cancel = Cancel::new();
    cancel.cancel();
    let query = Query::parse("grad").expect("a query");
    assert!(
        query
            .matches(&comparison, &timeline, 0, &Progress::silent(&cancel))
            .is_err()
    );
}

#[test]
fn tensors_of_other_runs_and_graphs_are_distinct() {
    let comparison = synthetic::comparison(6, 2);
    let timeline = Timeline::new(&comparison);
    let matches = find(&comparison, &timeline, "run:0");
    for row in timeline.rows_of(0).iter() {
        assert_eq!(matches.contains(row.tensor), row.tensor.run == 0);
        let mut stranger = row.tensor;
        stranger.graph = highwater::workload::GraphIdx::from_idx(7);
        assert!(!matches.contains(stranger), "a graph that the run is not of");
    }
}

#[test]
fn tensors_are_found_by_their_views_and_name_their_region() {
    let session = session(vec![SourceSpec::Sample(sample("resnet50").unwrap())]);
    let (comparison, timeline) = session.answer().expect("an answer");
    let (by_view, all) = (find(comparison, timeline, "relu"), timeline.rows.iter().count());
    assert!(!by_view.is_empty() && by_view.len() < all, "{} of {all}", by_view.len());
    // The owner of the memory has another name.
    assert!(timeline.rows.iter().any(|row| by_view.position(row.tensor).is_some()
        && !highwater::timeline::facts(comparison, row.tensor).name.contains("relu")));
    let graph = &comparison.workload.graphs()[0].graph;
    for (name, held_in) in [
        ("conv1.weight", "variables of the session"),
        ("images", "inputs and outputs of train"),
    ] {
        let mut ids = (0..graph.tensors().len()).map(TensorId::from_idx);
        let tensor = ids.find(|id| graph.tensor_name(*id) == name).expect(name);
        let selected = Selected {
            run: 0,
            graph: GraphIdx(0),
            tensor,
        };
        let facts = timeline.facts(comparison, 0, selected);
        assert_eq!(facts.held_in, held_in, "{name}");
        assert!(facts.bytes.is_some_and(|bytes| bytes.get() > 0), "{name}");
    }
}
