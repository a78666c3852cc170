//! Static plans as a table: exact, without overlaps, rejected where there is no plan.

use expect_test::expect;
use highwater::export::ExportForm;

use super::{exported, file, sample_subject, text};
use crate::cli::Place;

#[test]
fn a_small_plan_is_a_small_table() {
    let place = Place::new();
    let graph = r#"{"highwater_graph": 1,
        "nodes": [{"name": "a", "op": "relu", "inputs": ["x"], "outputs": [{"id": "y, z", "shape": [1000], "dtype": "float32"}]},
                  {"name": "b", "op": "relu", "inputs": ["y, z"], "outputs": [{"id": "u", "shape": [300], "dtype": "float32"}]},
                  {"name": "c", "op": "relu", "inputs": ["u"], "outputs": [{"id": "v", "shape": [1], "dtype": "float32"}]}],
        "inputs": [{"id": "x", "shape": [10], "dtype": "float32"}], "outputs": ["v"]}"#;
    let source = place.write("small.json", graph);
    expect![[r#"
        lane,policy,strategy,graph,tensor,storage,birth,death,offset,size_bytes,placed_bytes,region,region_offset
        policy 0,0,ge_default,small.json,"y, z",1,0,2,0,4000,4096,arena of small.json,0
        policy 0,0,ge_default,small.json,u,2,1,3,4096,1200,1536,arena of small.json,4096
    "#]]
    .assert_eq(&exported(&place, &[&source], "plan.csv"));
}

/// The buffers of one lane's plans: graph, life, offset and placed bytes.
fn rows(csv: &str) -> Vec<(String, [u64; 4])> {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let rows = reader.records().map(|record| {
        let record = record.unwrap();
        assert_eq!(record.len(), 13);
        let number = |at: usize| record[at].parse().unwrap();
        (
            format!("{} {}", &record[0], &record[3]),
            [number(6), number(7), number(8), number(10)],
        )
    });
    rows.collect()
}

#[test]
fn buffers_that_live_together_do_not_overlap() {
    let mut subject = sample_subject("resnet50");
    subject.lanes = Some((0..subject.comparison.lanes.len()).collect());
    let csv = text(&subject, ExportForm::Plan, "plan.csv");
    let rows = rows(&csv);
    let planned = subject.comparison.lanes.iter().flat_map(|lane| &lane.plans);
    assert_eq!(
        rows.len(),
        planned.map(|(_, planned)| planned.plan.offsets.len()).sum::<usize>()
    );
    assert!(!rows.is_empty());
    for (position, (graph, [birth, death, offset, bytes])) in rows.iter().enumerate() {
        for (other, [born, dead, at, size]) in &rows[position + 1..] {
            let meets = graph == other && birth < dead && born < death;
            assert!(!meets || offset + bytes <= *at || at + size <= *offset, "{position}");
        }
    }
}

#[test]
fn a_problem_keeps_names_and_times_when_written() {
    let place = Place::new();
    let source = place.write("problem.csv", "id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\n");
    expect![[r"
        lane,policy,strategy,graph,tensor,storage,birth,death,offset,size_bytes,placed_bytes,region,region_offset
        lane 1: best,,best,problem.csv,b1,,0,3,0,4,4,arena of problem.csv,0
        lane 1: best,,best,problem.csv,b2,,3,9,0,4,4,arena of problem.csv,0
        lane 1: best,,best,problem.csv,b3,,0,9,4,4,4,arena of problem.csv,4
    "]]
    .assert_eq(&exported(&place, &[&source], "plan.csv"));
    let html = exported(&place, &[&source], "report.html");
    super::page::well_formed(&html);
    assert!(html.contains("highwater plan ") && html.contains("Lowest peak, "));
}

#[test]
fn a_graph_of_changing_sizes_has_no_plan() {
    let mut subject = sample_subject("mobilenet");
    let comparison = std::sync::Arc::make_mut(&mut subject.comparison);
    comparison.lanes.iter_mut().for_each(|lane| lane.plans.clear());
    let error = file(&subject, ExportForm::Plan, "plan.csv").unwrap_err().to_string();
    assert!(error.contains("no graph is static"), "{error}");
}
