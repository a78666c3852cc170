//! Replays an allocation trace under every policy: `cargo run --release --example replay_trace [FILE]`.
//! docs/text-formats.md describes traces.
#![expect(clippy::print_stdout, reason = "an example prints its answer")]

use std::error::Error;
use std::sync::Arc;

use highwater::import::{Input, import};
use highwater::progress::{Cancel, Progress};
use highwater::sim::POLICIES;
use highwater::sim::replay::{Replay, ReplayRules};
use highwater::workload::Source;

/// Two static graphs that run in turn, and a tensor in a pool.
const SAMPLE: &str = "device 32G
load A 100M
exec A
load B 200M 100M
exec B
use 1
a x 1.5M
f x
";

fn main() -> Result<(), Box<dyn Error>> {
    let (name, bytes) = match std::env::args().nth(1) {
        Some(path) => (path.clone(), std::fs::read(path)?),
        None => ("sample.trace".to_owned(), SAMPLE.as_bytes().to_vec()),
    };
    let cancel = Cancel::new();
    let progress = Progress::silent(&cancel);
    let imported = import(&mut Input::from_bytes(&name, bytes)?, &progress)?;
    let Source::Traces(traces) = imported.source else {
        return Err(format!("{name}: this is {}, not an allocation trace", imported.format).into());
    };
    for trace in &traces {
        for row in POLICIES {
            let rules = ReplayRules::new(trace, row.policy, None);
            let summary = Replay::new(&Arc::clone(trace), rules).run(&progress)?;
            println!(
                "policy {}: {} commands, {} failed, peak reserved {}, peak live {}",
                row.policy.number(),
                summary.commands,
                summary.failed,
                summary.peak_reserved,
                summary.peak_live
            );
        }
    }
    Ok(())
}
