//! The difference of two configurations in memory: parts of the peaks, waiting arenas, pools.

use super::chosen_lane::ChosenLane;
use crate::sweep::sentence::{Link, Sentence, WhichChoice};
use highwater_model::units::Bytes;
use highwater_model::workload::GraphIdx;
use highwater_sim::fold::ReservedParts;
use highwater_sim::{DevicePicture, RegionKind, picture};

/// The parts of reserved memory that make the difference of the peaks.
pub(super) fn parts(winner: &ChosenLane, other: &ChosenLane) -> Option<Sentence> {
    let (own, next) = (winner.figures(), other.figures());
    if own.peak_reserved == next.peak_reserved {
        return None;
    }
    let (high, low, which) = if own.peak_reserved > next.peak_reserved {
        (own, next, WhichChoice::Winner)
    } else {
        (next, own, WhichChoice::RunnerUp)
    };
    let figures = |parts: &ReservedParts| [parts.features, parts.weights, parts.variables, parts.io];
    let names = ["feature memory", "weights", "variables", "inputs and outputs"];
    let grown = figures(&high.reserved)
        .into_iter()
        .zip(figures(&low.reserved))
        .zip(names);
    let mut grown: Vec<(Bytes, &str)> = grown
        .map(|((high, low), name)| (high.saturating_sub(low), name))
        .filter(|(bytes, _)| *bytes > Bytes::ZERO)
        .collect();
    grown.sort_by_key(|(bytes, _)| std::cmp::Reverse(*bytes));
    let mut sentence = Sentence::of("The higher peak has ");
    for (position, (bytes, name)) in grown.iter().enumerate() {
        if position > 0 {
            sentence = sentence.say(" and ");
        }
        sentence = sentence
            .bytes(*bytes, Link::Lane(which))
            .say(format!(" more of {name}"));
    }
    (!grown.is_empty()).then(|| sentence.say("."))
}

/// The lane with the higher peak and the other, each with its name.
fn by_peak<'a>(winner: &'a ChosenLane, other: &'a ChosenLane) -> [(&'a ChosenLane, WhichChoice); 2] {
    let (own, next) = ((winner, WhichChoice::Winner), (other, WhichChoice::RunnerUp));
    if winner.figures().peak_reserved > other.figures().peak_reserved {
        [own, next]
    } else {
        [next, own]
    }
}

/// Memory that static graphs hold while they do not run, where policies treat it differently.
pub(super) fn waiting(winner: &ChosenLane, other: &ChosenLane) -> Option<Sentence> {
    let [(high, which), (low, _)] = by_peak(winner, other);
    let (high_row, low_row) = (high.chosen.point.policy.row(), low.chosen.point.policy.row());
    let step = high.peak_step();
    let link = Link::Step { of: which, step };
    let names = high.names();
    let at_peak = picture(&high.lane()?.simulation, step);
    let arenas = at_peak.regions.iter().filter(|region| region.kind == RegionKind::Arena);
    if !high_row.shares_static_arena && low_row.shares_static_arena {
        let running = names.running(step);
        let idle: Vec<(GraphIdx, Bytes)> = arenas
            .filter_map(|region| Some((region.graph.filter(|graph| Some(*graph) != running)?, region.held)))
            .collect();
        let bytes: Bytes = idle.iter().map(|(_, bytes)| *bytes).sum();
        let mut idle_names: Vec<&str> = Vec::new();
        for (graph, _) in &idle {
            if !idle_names.contains(&names.graph(*graph)) {
                idle_names.push(names.graph(*graph));
            }
        }
        let kept = match &idle_names[..] {
            [] => return None,
            [one] => format!(" in the arena of {one}"),
            [one, two] => format!(" in the arenas of {one} and {two}"),
            [one, more @ ..] => format!(" in the arenas of {one} and {} other graphs", more.len()),
        };
        let shared = if low_row.expands_pools {
            "maps the pages of a static graph only while it runs"
        } else {
            "shares one arena among static graphs"
        };
        return Some(
            Sentence::of(format!("Policy {} keeps ", high.policy()))
                .bytes(bytes, link)
                .say(format!(
                    "{kept} while other graphs run; policy {} {shared}.",
                    low.policy()
                )),
        );
    }
    let is_returned = high_row.shares_static_arena && !high_row.expands_pools && low_row.shares_static_arena;
    if is_returned && low_row.expands_pools && is_same_axis(high, low) {
        let held: Bytes = arenas.map(|region| region.held).sum();
        let then = picture(&low.lane()?.simulation, step);
        let mapped = then.regions.iter().filter(|region| region.kind == RegionKind::Arena);
        let mapped: Bytes = mapped.map(|region| region.held).sum();
        return (held > mapped).then(|| {
            Sentence::of(format!("Policy {} returns ", low.policy()))
                .bytes(held - mapped, link)
                .say(format!(
                    " of the static graphs' arena between runs; policy {} keeps it from load on.",
                    high.policy()
                ))
        });
    }
    None
}

/// Whether steps mean the same in both.
fn is_same_axis(one: &ChosenLane, other: &ChosenLane) -> bool {
    one.comparison.axis == other.comparison.axis
}

/// Memory of the pools of dynamic graphs.
pub(super) fn pools(winner: &ChosenLane, other: &ChosenLane) -> Option<Sentence> {
    let held = |at: &DevicePicture| -> (Bytes, Bytes) {
        let pools = at.pools.iter().filter(|pool| pool.graph.is_some());
        pools.fold((Bytes::ZERO, Bytes::ZERO), |(all, given), pool| {
            (all + pool.occupied, given + pool.given)
        })
    };
    let [(high, which), (low, low_which)] = by_peak(winner, other);
    let at = |chosen: &ChosenLane| Some(picture(&chosen.lane()?.simulation, chosen.peak_step()));
    let ((high_all, high_given), (low_all, low_given)) = (held(&at(high)?), held(&at(low)?));
    let (high_idle, low_idle) = (high_all.saturating_sub(high_given), low_all.saturating_sub(low_given));
    let link = Link::Step {
        of: which,
        step: high.peak_step(),
    };
    (high_idle > low_idle && high.policy() != low.policy()).then(|| {
        Sentence::of("At the peaks, pools of dynamic graphs hold ")
            .bytes(high_idle, link)
            .say(format!(" unused under policy {}, ", high.policy()))
            .bytes(low_idle, Link::Lane(low_which))
            .say(format!(" under policy {}.", low.policy()))
    })
}
