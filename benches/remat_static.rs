//! Time of the static planner: a training-like chain with residuals at half its peak, and recorded graphs.
//!
//! Recorded graphs are those of `$HIGHWATER_SHARED/conformance/megdtr` with more than 1,000 ops.

use criterion::{Criterion, criterion_group, criterion_main};
use highwater::import::{Input, import};
use highwater::progress::{Cancel, Progress};
use highwater::rewrite::remat::{RematRequest, find_heuristic, remat, unlimited_peak};
use highwater::units::Bytes;
use highwater::workload::{Source, Tape};

mod size;

/// Forward ops with a residual every fourth, a loss, and backward ops that read gradient and activations.
fn training(n_ops: usize) -> String {
    let n = n_ops / 2;
    let bytes = |at: usize| 1_048_576 * (1 + (at * 7 + 3) % 5);
    let (mut vars, mut ops) = (Vec::new(), Vec::new());
    for at in 0..n {
        vars.push(format!(r#"{{"name": "a{at}", "bytes": {}}}"#, bytes(at)));
        let mut inputs: Vec<String> = (1..=at.min(1)).map(|back| format!(r#""a{}""#, at - back)).collect();
        if at >= 4 && at.is_multiple_of(4) {
            inputs.push(format!(r#""a{}""#, at - 4));
        }
        ops.push(format!(
            r#"{{"name": "f{at}", "inputs": [{}], "outputs": ["a{at}"]}}"#,
            inputs.join(",")
        ));
    }
    for at in (0..n).rev() {
        vars.push(format!(r#"{{"name": "g{at}", "bytes": {}}}"#, bytes(at)));
        let gradient = if at + 1 < n {
            format!(r#""g{}","#, at + 1)
        } else {
            String::new()
        };
        let before = if at > 0 {
            format!(r#","a{}""#, at - 1)
        } else {
            String::new()
        };
        ops.push(format!(
            r#"{{"name": "b{at}", "inputs": [{gradient}"a{at}"{before}], "outputs": ["g{at}"]}}"#
        ));
    }
    format!(r#"{{"vars": [{}], "ops": [{}]}}"#, vars.join(","), ops.join(","))
}

fn tape(bytes: Vec<u8>) -> Option<Tape> {
    let cancel = Cancel::new();
    let imported = import(
        &mut Input::from_bytes("graph.json", bytes).ok()?,
        &Progress::silent(&cancel),
    )
    .ok()?;
    match imported.source {
        Source::Tapes(tapes) => tapes.first().map(|tape| Tape::clone(tape)),
        _ => None,
    }
}

fn plans(criterion: &mut Criterion) {
    let mut tapes: Vec<(String, Tape)> = Vec::new();
    tapes.extend(tape(training(size::size(5000, 100)).into_bytes()).map(|tape| ("training 5000".to_owned(), tape)));
    if let Some(root) = std::env::var_os("HIGHWATER_SHARED") {
        let folder = std::path::Path::new(&root).join("conformance/megdtr");
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let files = entries.filter_map(|entry| Some((entry.file_name(), std::fs::read(entry.path()).ok()?)));
        let read = files.filter_map(|(name, bytes)| Some((name.to_string_lossy().into_owned(), tape(bytes)?)));
        tapes.extend(read.filter(|(_, tape)| tape.ops.len() > 1000));
    }
    let cancel = Cancel::new();
    let progress = Progress::silent(&cancel);
    let Ok(heuristic) = find_heuristic("megengine") else {
        return;
    };
    for (name, tape) in &tapes {
        let Ok(peak) = unlimited_peak(tape, heuristic, &progress) else {
            return;
        };
        for percent in [80, 50] {
            let request = RematRequest {
                budget: Some(Bytes(peak.0 / 100 * percent)),
                thrash_limit: None,
                ..RematRequest::unlimited(heuristic)
            };
            criterion.bench_function(&format!("{name} at {percent} %"), |bencher| {
                bencher.iter(|| remat(tape, &request, &progress));
            });
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = plans
}
criterion_main!(benches);
