//! The total of the bytes in a file: above 2^62 no figure of it would be true.

use super::error::ImportError;
use super::table::Imported;
use highwater_model::graph::{Bindings, Graph};
use highwater_model::units::Bytes;
use highwater_model::workload::{Lifetimes, Recording, Source, Tape};

/// Refuses content whose bytes add up to more than [`Bytes::MOST`] at any time. Requests of traces may be of any size: allocators
/// refuse them. O(tensors and blocks).
pub(super) fn check_sums(imported: &Imported) -> Result<(), ImportError> {
    let measured = imported
        .measured
        .iter()
        .find(|recording| !is_recording_countable(recording));
    let name = match &imported.source {
        Source::Graphs(entries) => {
            let graphs = entries
                .iter()
                .flat_map(|entry| std::iter::once(&entry.graph).chain(&entry.bodies));
            graphs
                .into_iter()
                .find(|graph| !is_countable(graph))
                .map(|graph| graph.name())
        }
        Source::Lifetimes(entries) => {
            let large = entries.iter().find(|(_, lifetimes)| !are_countable(lifetimes));
            large.map(|(name, _)| &**name)
        }
        Source::Tapes(tapes) => tapes
            .iter()
            .find(|tape| !is_tape_countable(tape))
            .map(|tape| &*tape.name),
        Source::Recordings(recordings) => {
            let large = recordings.iter().find(|recording| !is_recording_countable(recording));
            large.map(|recording| &*recording.name)
        }
        // Problems are checked where they are made.
        Source::Problems(_) | Source::Traces(_) | Source::Blocks(_) => None,
    };
    match name.or(measured.map(|recording| &*recording.name)) {
        None => Ok(()),
        Some(name) => Err(ImportError::at(
            "the sizes add up to more than 2^62 bytes",
            format!("\"{name}\""),
            "such sizes are beyond every device; correct them",
        )),
    }
}

/// Symbolic dimensions have no value here.
fn is_countable(graph: &Graph) -> bool {
    graph.sizes(&Bindings::new()).total().is_some()
}

fn are_countable(lifetimes: &Lifetimes) -> bool {
    Bytes::total(lifetimes.items.iter().map(|item| item.bytes)).is_some()
}

fn is_tape_countable(tape: &Tape) -> bool {
    Bytes::total(tape.tensors.iter().map(|tensor| tensor.bytes)).is_some()
}

/// Blocks of a long recording may add up to more, as long as few are live at once.
fn is_recording_countable(recording: &Recording) -> bool {
    let blocks = recording.blocks.iter().map(|block| block.bytes);
    let regions = recording.regions.iter().map(|region| region.bytes);
    if Bytes::total(blocks).is_some() && Bytes::total(regions).is_some() {
        return true;
    }
    let peaks = recording.peaks();
    peaks.live.0 <= Bytes::MOST && peaks.reserved.0 <= Bytes::MOST
}
