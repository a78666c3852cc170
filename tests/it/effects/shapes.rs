//! Ranges of input shapes: assignment of shapes to inputs, values of dimensions, errors.

use highwater::analysis::{AnalysisError, bound_plan, compare};
use highwater::diagnostics::Severity;
use highwater::progress::{Cancel, Progress};
use highwater::session::{Document, Session, SourceSpec, Worker};
use highwater::workload::{DeviceProfiles, DimValues};

use super::{Ask, Settings, messages};

/// One input with one symbolic dimension.
pub(super) const SYMBOLIC: &str = r#"{"name": "g", "nodes": [
    {"op": "Add", "inputs": ["x"], "outputs": [{"id": "a", "shape": ["batch", 1024], "dtype": "float32"}]},
    {"op": "Relu", "inputs": ["a"], "outputs": [{"id": "z", "shape": ["batch"], "dtype": "float32"}]}],
  "inputs": [{"id": "x", "shape": ["batch"], "dtype": "float32"}], "outputs": ["z"]}"#;

/// Results of more than 1 GiB, op by op in two shapes.
pub(super) const POOLED: &str = r#"{"name": "g", "nodes": [
    {"op": "Add", "inputs": ["x"], "outputs": [{"id": "a", "shape": [400000000], "dtype": "float32"}]},
    {"op": "Relu", "inputs": ["a"], "outputs": [{"id": "z", "shape": ["batch"], "dtype": "float32"}]},
    {"op": "Relu", "inputs": ["z"], "outputs": [{"id": "y", "shape": ["batch"], "dtype": "float32"}]}],
  "inputs": [{"id": "x", "shape": [4], "dtype": "float32"}], "outputs": ["z"]}"#;

/// Inputs in the order of the file: `b [n]`, `IteratorGetNext:1 [m, 3]`, `a [n, k]`, `IteratorGetNext [2*n]`.
const SEVERAL: &str = r#"{"name": "g", "nodes": [
    {"op": "Add", "inputs": ["b", "i1", "a", "i0"], "outputs": [{"id": "z", "shape": ["n"], "dtype": "float32"}]}],
  "inputs": [
    {"id": "b", "shape": ["n"], "dtype": "float32"},
    {"id": "i1", "name": "IteratorGetNext:1", "shape": ["m", 3], "dtype": "float32"},
    {"id": "a", "shape": ["n", "k"], "dtype": "float32"},
    {"id": "i0", "name": "IteratorGetNext", "shape": ["2*n"], "dtype": "float32"}],
  "outputs": ["z"]}"#;

fn dims(ask: &Ask<'_>) -> (DimValues, Vec<String>) {
    let (plan, diagnostics) = bound_plan(&ask.request());
    let texts = diagnostics.entries().iter().map(|entry| entry.message.clone());
    (plan.dims, texts.collect())
}

/// Dimensions with their values.
type Pairs<'a> = &'a [(&'a str, &'a [u64])];

fn values(pairs: Pairs<'_>) -> DimValues {
    pairs
        .iter()
        .map(|(name, values)| ((*name).to_owned(), values.to_vec()))
        .collect()
}

#[test]
fn ranges_bind_the_inputs_they_are_for() {
    let rows: &[(&str, Pairs<'_>, &[&str])] = &[
        // Placeholders in alphabetical order: IteratorGetNext, IteratorGetNext:1, a, b.
        (
            "data:[-1],[5,3],[2~8,7],[4~16]",
            &[("m", &[5]), ("n", &[4, 5, 6, 8]), ("k", &[7])],
            &[],
        ),
        // The dataset's inputs in the order of the file: b, IteratorGetNext:1, a, IteratorGetNext.
        (
            "getnext:[4~16],[5,3]",
            &[("n", &[4, 6, 10, 16]), ("m", &[5])],
            &["2 of 4 inputs have no shape range, \"a\", \"IteratorGetNext\""],
        ),
        // Both: a and b are placeholders, then the dataset's inputs in the order of the file.
        (
            "data:[9,1~2],[-1];getnext:[6,3],[18]",
            &[("n", &[9]), ("k", &[1, 2]), ("m", &[6])],
            &[],
        ),
        // The rest of the dataset's shapes go to the remaining inputs.
        (
            "data:[9,1~2];getnext:[6,3],[18],[9~20]",
            &[("n", &[9]), ("k", &[1, 2]), ("m", &[6])],
            &[],
        ),
        ("getnext:[-1],[3~-1,3]", &[], &["2 of 4 inputs have no shape range"]),
        (
            "getnext:[2~-1],[-1,3],[1~3,1]",
            &[("n", &[2, 3]), ("k", &[1])],
            &["1 of 4 inputs"],
        ),
        (
            "getnext:[1~3],[-1,4],[4~9,1]",
            &[("k", &[1])],
            &["1 of 4 inputs", "is 3 in the graph, outside its range 4", "is in both"],
        ),
        (
            "getnext:[1~3,1],[-1]",
            &[],
            &[
                "2 of 4 inputs",
                "has 1 dimensions, its shape range 2",
                "has 2 dimensions, its shape range 1",
            ],
        ),
        (
            "getnext:[1],[1,3],[1,1],[1],[1]",
            &[("k", &[1]), ("m", &[1]), ("n", &[1])],
            &["5 shape ranges for 4 inputs"],
        ),
    ];
    for (text, expected, said) in rows {
        let settings = [("dynamic_input", "True"), ("dynamic_inputs_shape_range", *text)];
        let (mut found, messages) = dims(&Ask::new(SEVERAL, &settings));
        // Short ranges repeat values, so that each shape has one value per dimension.
        found.values_mut().for_each(Vec::dedup);
        assert_eq!(found, values(expected), "{text}");
        assert_eq!(messages.len(), said.len(), "{text}: {messages:?}");
        for (message, part) in messages.iter().zip(*said) {
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}

#[test]
fn values_of_the_user_stay() {
    let settings = [("dynamic_input", "True"), ("dynamic_inputs_shape_range", "data:[2~8]")];
    let mut ask = Ask::new(SYMBOLIC, &settings);
    ask.dims = &[("batch", &[4, 9])];
    let (found, said) = dims(&ask);
    assert_eq!(found, values(ask.dims));
    assert_eq!(said.len(), 1);
    assert!(said[0].contains("input \"x\"") && said[0].contains("\"batch\" with the value 9, outside its range 2~8"));
    assert_eq!(messages(&ask.run(), Severity::Warning), said);
}

#[test]
fn a_range_runs_every_value_and_makes_the_graph_dynamic() {
    let range: Settings<'_> = &[
        ("dynamic_input", "True"),
        ("dynamic_inputs_shape_range", "data:[1~1000]"),
    ];
    let comparison = Ask::new(SYMBOLIC, range).run();
    let batches: Vec<u64> = comparison
        .axis
        .runs
        .iter()
        .map(|run| run.run.bindings["batch"])
        .collect();
    assert_eq!(batches, [1, 10, 100, 1000]);
    assert!(!comparison.session.graphs[0].is_static);
    assert_eq!(comparison.lanes[0].summary.peak_live.get(), 1000 * 4096);
    let given = [range[0], range[1], ("simulation.shape_samples", "1")];
    let one = Ask::new(SYMBOLIC, &given).run();
    assert!(one.session.graphs[0].is_static && one.axis.runs.len() == 1);
    let mut same = Ask::new(SYMBOLIC, &[]);
    same.dims = &[("batch", &[1, 10, 100, 1000])];
    assert_eq!(comparison.lanes, same.run().lanes);
}

#[test]
fn without_dynamic_input_a_range_has_no_effect() {
    for settings in [
        &[("dynamic_inputs_shape_range", "data:[2~8]")][..],
        &[("dynamic_inputs_shape_range", "data:[2~8]"), ("dynamic_input", "False")],
        &[("dynamic_inputs_shape_range", "data:[2~"), ("dynamic_input", "True")],
    ] {
        let cancel = Cancel::new();
        let answer = compare(&Ask::new(SYMBOLIC, settings).request(), &Progress::silent(&cancel));
        assert!(matches!(answer, Err(AnalysisError::Unbound { .. })), "{settings:?}");
    }
}

#[test]
fn a_session_assumes_no_value_where_a_range_gives_some() {
    let mut document = Document::new(vec![SourceSpec::Bytes {
        name: "g.json".to_owned(),
        bytes: SYMBOLIC.as_bytes().into(),
    }]);
    document
        .options
        .set_text("dynamic_inputs_shape_range", "data:[2~8]")
        .expect("known");
    let profiles = DeviceProfiles::bundled().expect("bundled profiles");
    let mut session = Session::new(document, profiles, Worker::start(|| {}).expect("a thread"));
    session.settle();
    assert_eq!(session.assumed_dims().iter().collect::<Vec<_>>(), ["batch"]);
    let set = |text: &str| highwater::session::Command::set_option("dynamic_input", text);
    session.apply(set("True"));
    session.settle();
    assert!(session.assumed_dims().is_empty() && session.document().plan.dims.is_empty());
    assert!(!session.is_stale());
    let runs = |session: &Session| session.answer().map_or(0, |(comparison, _)| comparison.axis.runs.len());
    assert_eq!(runs(&session), 4);
    session.apply(set("False"));
    session.settle();
    assert_eq!((session.assumed_dims().len(), runs(&session)), (1, 1));
}
