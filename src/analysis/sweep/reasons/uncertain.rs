//! Caveats of a recommendation.

use super::ChosenLane;
use crate::sweep::sentence::{Link, Sentence};
use crate::sweep::{AxisOf, Recommendation, Space};
use highwater_model::units::counted;
use highwater_options::keys;

pub(in crate::sweep) fn uncertain(space: &Space, found: &Recommendation, winner: Option<&ChosenLane>) -> Vec<Sentence> {
    let mut sentences = Vec::new();
    if !found.searched.is_whole() {
        sentences.push(Sentence::of(format!(
            "{} of {} were simulated; a better configuration may exist.",
            highwater_model::units::grouped(found.searched.tried),
            counted(found.searched.of, "configuration")
        )));
    }
    let Some(winner) = winner else { return sentences };
    let comparison = &winner.comparison;
    sentences.push(
        Sentence::of("Overhead is an estimate: exact call counts times the costs of ")
            .linked(comparison.device.name.clone(), Link::Option(keys::DEVICE.to_owned()))
            .say("."),
    );
    if space.axes().iter().any(|axis| !matches!(axis.of, AxisOf::Option(_))) {
        sentences.push(Sentence::of(
            "Overhead covers the whole schedule, so it is not comparable where an axis changes the schedule.",
        ));
    }
    if let Some(note) = comparison.scratch.note() {
        sentences.push(Sentence::of(note));
    } else if comparison.lower_bound {
        sentences.push(Sentence::of(
            "Figures are lower bounds: tensors of unknown size count 0 bytes.",
        ));
    }
    for estimate in &comparison.estimates {
        sentences.push(
            Sentence::default()
                .linked(estimate.key, Link::Option(estimate.key.to_owned()))
                .say(format!(" {}: an estimate.", estimate.effect)),
        );
    }
    let entries = comparison.diagnostics.entries().iter();
    let warnings = entries.filter(|entry| entry.severity != highwater_model::diagnostics::Severity::Info);
    sentences.extend(warnings.map(|entry| Sentence::of(format!("{}.", entry.message))));
    sentences
}
