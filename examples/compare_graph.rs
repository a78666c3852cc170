//! Simulates a graph under every policy: `cargo run --release --example compare_graph [FILE]`.
#![expect(clippy::print_stdout, reason = "an example prints its answer")]

use std::error::Error;

use highwater::analysis::{Configuration, Request, compare};
use highwater::import::{Input, import};
use highwater::progress::{Cancel, Progress};
use highwater::workload::Workload;

fn main() -> Result<(), Box<dyn Error>> {
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/sample_traces/mobilenet_v2.onnx");
    let path = std::env::args().nth(1).unwrap_or_else(|| sample.to_owned());
    let cancel = Cancel::new();
    let progress = Progress::silent(&cancel);
    let imported = import(&mut Input::from_bytes(&path, std::fs::read(&path)?)?, &progress)?;
    let request = Request::new(Workload::new(path, imported.source), Configuration::default());
    for lane in compare(&request, &progress)?.lanes {
        let summary = &lane.summary;
        println!(
            "policy {}: peak reserved {}, peak live {}",
            lane.policy.number(),
            summary.peak_reserved,
            summary.peak_live
        );
    }
    Ok(())
}
