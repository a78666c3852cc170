//! The runtime of the DTR paper's simulator: recorded answers of the original, cases by hand, random tapes against a
//! plain second implementation.

mod cases;
mod oracle;
mod random;
mod recorded;

use highwater_model::progress::{Cancel, Progress};
use highwater_model::units::Bytes;
use highwater_model::workload::Tape;
use highwater_rewrite::remat::{RematKind, RematRequest, RematRun, find_heuristic, remat};

/// A request with the paper's limit: recomputation may cost as much as the tape itself.
fn request(heuristic: &str, budget: Option<u64>) -> RematRequest {
    let mut request = RematRequest::unlimited(find_heuristic(heuristic).unwrap());
    request.budget = budget.map(Bytes);
    request
}

fn run(tape: &Tape, request: &RematRequest) -> RematRun {
    remat(tape, request, &Progress::silent(&Cancel::new())).unwrap()
}

/// An event as the original records it: letter, number, clock, bytes, cost of evictions.
#[derive(Clone, Debug, PartialEq)]
struct Event(char, u32, u64, u64, Option<f64>);

/// The events of a run without siblings, which the original has no events for. A computation goes by its op's first
/// result, a pin by its storage.
fn events(tape: &Tape, run: &RematRun) -> Vec<Event> {
    let told = run.events.iter().filter(|event| !event.is_sibling);
    let event = |event: &highwater_rewrite::remat::RematEvent| {
        let letter = match event.kind {
            RematKind::Compute => 'C',
            RematKind::Rematerialize => 'R',
            RematKind::Evict => 'E',
            RematKind::EagerEvict => 'F',
            RematKind::Pin => 'P',
            RematKind::Free => 'X',
            RematKind::Put | RematKind::Drop => '?',
        };
        let cost = run.choices.get(event.choice as usize).map(|choice| choice.score);
        assert!(event.tensor < u32::try_from(tape.tensors.len()).unwrap());
        Event(letter, event.tensor, event.clock, event.memory_after.get(), cost)
    };
    told.map(event).collect()
}
