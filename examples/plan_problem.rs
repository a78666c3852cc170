//! Places the buffers of a problem in one arena: `cargo run --release --example plan_problem [FILE]`.
#![expect(clippy::print_stdout, reason = "an example prints its answer")]

use std::error::Error;

use highwater::import::{Input, import};
use highwater::plan::{BEST, PlanRequest, find, plan, verify};
use highwater::progress::{Cancel, Progress};
use highwater::workload::Source;

fn main() -> Result<(), Box<dyn Error>> {
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/sample_traces/small_problem.csv");
    let path = std::env::args().nth(1).unwrap_or_else(|| sample.to_owned());
    let cancel = Cancel::new();
    let progress = Progress::silent(&cancel);
    let imported = import(&mut Input::from_bytes(&path, std::fs::read(&path)?)?, &progress)?;
    let Source::Problems(entries) = imported.source else {
        return Err(format!("{path}: this is {}, not a placement problem", imported.format).into());
    };
    for entry in entries {
        let planned = plan(find(BEST)?, &PlanRequest::new(&entry.problem), &progress)?;
        verify(&entry.problem, &planned.plan)?;
        for (position, offset) in planned.plan.offsets.iter().enumerate() {
            println!("{}\t{offset}", entry.ids.get(position));
        }
        println!(
            "footprint {}, lower bound {}",
            planned.plan.footprint, planned.lower_bound
        );
    }
    Ok(())
}
