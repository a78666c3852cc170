//! The policy with the lowest peak, and why policies are equivalent, in sentences with figures.

use super::lane::Lane;
use super::selection::{are_peaks_equivalent, granule};
use highwater_model::units::Bytes;
use highwater_sim::{DeviceSession, StaticMemoryPolicy};

/// The policy with the lowest peak that runs to its end; the smallest number on a tie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LowestPeak {
    pub policy: StaticMemoryPolicy,
    /// A sentence with figures.
    pub why: String,
}

/// The lane with the lowest peak that no rule forbids, runs to its end and refuses nothing; the smallest number on a tie.
pub(super) fn lowest_peak(lanes: &[Lane]) -> Option<LowestPeak> {
    let complete = || lanes.iter().filter(|lane| lane.may_be_recommended());
    let winner = complete().min_by_key(|lane| (lane.summary.peak_reserved, lane.policy))?;
    let peak = winner.summary.peak_reserved;
    let ties = complete().filter(|lane| lane.summary.peak_reserved == peak).count();
    let reference = lanes.iter().find(|lane| lane.policy == StaticMemoryPolicy::Dynamic);
    let why = match reference {
        _ if lanes.len() == 1 => format!("the only policy that was simulated: peak {peak}"),
        Some(zero) if zero.summary.out_of_memory => format!("it peaks at {peak} where policy 0 runs out of memory"),
        Some(zero) if zero.refusals.is_some() => format!("policy 0 refuses requests, this one peaks at {peak}"),
        Some(zero) if zero.summary.peak_reserved > peak => {
            let saved = zero.summary.peak_reserved - peak;
            format!(
                "the lowest peak, {peak}: {saved} ({}) below policy 0",
                percent(saved, zero.summary.peak_reserved)
            )
        }
        _ if ties == lanes.len() => format!("all policies have the same peak, {peak}; the simplest is named"),
        _ => {
            let next = complete()
                .filter(|lane| lane.summary.peak_reserved > peak)
                .min_by_key(|lane| (lane.summary.peak_reserved, lane.policy));
            match next {
                Some(next) => format!(
                    "the lowest peak, {peak}: {} below policy {}",
                    next.summary.peak_reserved - peak,
                    next.policy.number()
                ),
                None => format!("the lowest peak, {peak}"),
            }
        }
    };
    let why = match reference.filter(|zero| !zero.summary.out_of_memory) {
        Some(zero) => why + &cost_clause(winner, zero),
        None => why,
    };
    let equals: Vec<String> = complete()
        .filter(|lane| lane.summary.peak_reserved == peak && lane.policy != winner.policy)
        .map(|lane| lane.policy.number().to_string())
        .collect();
    let why = match &equals[..] {
        [] => why,
        _ if ties == lanes.len() => why,
        [one] => format!("{why}; policy {one} has the same peak"),
        several => format!("{why}; policies {} have the same peak", several.join(" and ")),
    };
    let why = why + &forbidden_clause(lanes);
    Some(LowestPeak {
        policy: winner.policy,
        why,
    })
}

/// The policies that rules forbid, which therefore are not compared.
fn forbidden_clause(lanes: &[Lane]) -> String {
    let forbidden = || lanes.iter().filter(|lane| !lane.forbidden.is_empty());
    let numbers: Vec<String> = forbidden().map(|lane| lane.policy.number().to_string()).collect();
    let mut rules: Vec<&str> = forbidden()
        .flat_map(|lane| &lane.forbidden)
        .map(|finding| finding.rule)
        .collect();
    rules.sort_unstable();
    rules.dedup();
    match &numbers[..] {
        [] => String::new(),
        [one] => format!("; policy {one} is forbidden by {}", rules.join(" and ")),
        several => format!(
            "; policies {} are forbidden by {}",
            several.join(" and "),
            rules.join(" and ")
        ),
    }
}

/// The overhead of the winner, where it is more than twice that of policy 0.
fn cost_clause(winner: &Lane, zero: &Lane) -> String {
    let (own, other) = (winner.summary.estimated_overhead, zero.summary.estimated_overhead);
    if own.0 > other.0.saturating_mul(2) {
        format!("; its device calls take about {own} instead of {other} (estimate)")
    } else {
        String::new()
    }
}

/// `saved` as a share of `whole`, with one decimal.
fn percent(saved: Bytes, whole: Bytes) -> String {
    let whole = u128::from(whole.get().max(1));
    let per_mille = (u128::from(saved.get()) * 1000 + whole / 2) / whole;
    format!("{}.{} %", per_mille / 10, per_mille % 10)
}

/// Why policies differ by rounding alone, with the largest difference; `None` where they do not.
pub(super) fn equivalence(session: &DeviceSession, lanes: &[Lane]) -> Option<String> {
    let is_one_static_graph = session.graphs.len() == 1 && session.graphs[0].is_static;
    if !is_one_static_graph || lanes.len() < 2 || lanes.iter().any(|lane| lane.summary.out_of_memory) {
        return None;
    }
    let peaks = lanes.iter().map(|lane| lane.summary.peak_reserved);
    let (low, high) = (peaks.clone().min()?, peaks.max()?);
    let granule = lanes.iter().map(|lane| granule(lane.policy)).max()?;
    are_peaks_equivalent(low, high, granule).then(|| {
        format!(
            "One static graph: all policies are equivalent here (differences of {} are rounding).",
            high - low
        )
    })
}
