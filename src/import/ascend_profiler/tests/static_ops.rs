//! `static_op_mem`.

use std::sync::Arc;

use super::{error, read};
use crate::test_help::tells;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::units::Step;
use highwater_model::workload::{ProblemEntry, Source};

fn problems(text: &str) -> (Vec<Arc<ProblemEntry>>, Diagnostics) {
    let imported = read(text.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    match imported.source {
        Source::Problems(problems) => (problems, imported.diagnostics),
        _ => panic!("static graphs are problems"),
    }
}

/// A problem as text: its name, and live range and size of each buffer.
fn text(entry: &ProblemEntry) -> String {
    let buffers = (0..).zip(&entry.problem.buffers);
    let buffers = buffers.map(|(position, one)| {
        format!(
            " {} {}..{} {}",
            entry.ids.get(position),
            one.lower.0,
            one.upper.0,
            one.size.get()
        )
    });
    format!("{}:{}", entry.name, buffers.collect::<Vec<_>>().join(","))
}

const HEADER: &str = "Device_id,Op Name,Model Name,Graph ID,Node Index Start,Node Index End,Size(KB)";

#[test]
fn intervals_are_closed_and_the_total_is_none() {
    let (problems, diagnostics) = problems(&format!(
        "{HEADER}\nhost,a,m,0,1,3,1.5\nhost,TOTAL,m,0,1,4294967295,100\nhost,b,m,0,3,4294967295,1\nhost,c,m,0,4,7,2\n\
         host,d,m,1,5,5,0.200195313\nhost,e,m,0,2,4294967294,1\nhost,f,m,0,9,8,1\n"
    ));
    let found: Vec<String> = problems.iter().map(|problem| text(problem)).collect();
    assert_eq!(
        found,
        [
            "host/0: a 1..4 1536, b 3..8 1024, c 4..8 2048, e 2..8 1024",
            "host/1: d 5..6 205"
        ]
    );
    tells(
        &diagnostics,
        &[("it says 102400 bytes", 1), ("ends before it begins", 1)],
    );
}

#[test]
fn files_without_device_and_models_of_one_graph_id() {
    let (bare, _) = problems("Op Name,Model Name,Graph ID,Node Index Start,Node Index End,Size(KB)\na,m,7,1,2,1\n");
    assert_eq!(bare[0].name, "7");
    let (two, _) = problems(&format!("{HEADER}\n0,a,m,7,1,2,1\n0,a,n,7,1,2,1\n"));
    assert_eq!(two[1].name, "0/7 model n");
}

#[test]
fn large_indexes_become_few_steps() {
    let (problems, _) = problems(&format!(
        "{HEADER}\n0,a,m,0,5,4294967293,1\n0,b,m,0,4000000000,4294967295,1\n"
    ));
    let entry = &problems[0];
    assert_eq!(text(entry), "0/0: a 0..2 1024, b 1..2 1024");
    assert_eq!(entry.time(Step(1)), 4_000_000_000);
}

#[test]
fn a_table_of_totals_has_nothing() {
    let text = error(&format!("{HEADER}\n0,TOTAL,m,0,1,4294967295,5\n"));
    assert!(text.contains("no row of the table says"), "{text}");
    let huge = error(&format!(
        "{HEADER}\n0,a,m,0,1,2,9007199254740991\n0,b,m,0,1,2,9007199254740991\n"
    ));
    assert!(huge.contains("2^62"), "{huge}");
}
