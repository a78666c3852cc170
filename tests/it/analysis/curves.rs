//! Recordings that are curves without blocks.

use std::sync::Arc;

use highwater::analysis::{Configuration, Request, compare};
use highwater::progress::{Cancel, Progress};

use crate::workloads::workload;

#[test]
fn a_curve_without_blocks_is_not_said_to_be_that_of_blocks() {
    let timeline = "[[1000, 1001], [[0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 5, 0, 0, 0, 7, 0, 0, 1]]]";
    let workload = workload("timeline.json", timeline.as_bytes());
    let request = Request::new(Arc::new(workload), Configuration::default());
    let comparison = compare(&request, &Progress::silent(&Cancel::new())).expect("compared");
    let said: Vec<&str> = comparison.lanes[0]
        .explanation
        .iter()
        .map(|remark| &*remark.text)
        .collect();
    let said = said.join(" ");
    assert!(
        said.contains("the curve shows the bytes in use that it states"),
        "{said}"
    );
    assert!(!said.contains("blocks"), "{said}");
}
