//! Sentences about the lanes of a placement problem, and of rematerialization.

use highwater_analysis::Comparison;
use highwater_model::units::{Bytes, percent_text};
use highwater_plan::Fit;
use highwater_session::Session;

/// Where no strategy gave a plan.
pub(super) const NO_PLAN: &str = "No strategy gave a plan.";

pub(super) fn problem_text(comparison: &Comparison) -> Option<(String, String)> {
    let lane = &comparison.lanes[comparison.main_lane()?];
    let footprint = lane.plans.first()?.1.plan.footprint;
    let text = format!("Lowest footprint: {footprint} by {}", lane.strategy.label);
    Some((text, footprint.exact()))
}

/// The distance of the smallest footprint from the bound, and whether it fits.
pub(super) fn problem_details(session: &Session, comparison: &Comparison) -> Vec<String> {
    let lane = comparison.main_lane().map(|position| &comparison.lanes[position]);
    let Some((_, planned)) = lane.and_then(|lane| lane.plans.first()) else {
        return Vec::new();
    };
    let footprint = planned.plan.footprint;
    let plans = comparison.lanes.iter().flat_map(|lane| &lane.plans);
    let table = session
        .planner_table()
        .filter(|_| session.has_planner_table(highwater_model::workload::GraphIdx(0)));
    let proved = table.map(highwater_session::PlannerTable::proved_bound);
    let best = session.best_plan();
    let bound = plans
        .map(|(_, planned)| planned.proved_bound)
        .chain(proved)
        .chain(best.map(|best| best.proved_bound))
        .max()
        .unwrap_or_default();
    let smaller = table
        .and_then(highwater_session::PlannerTable::smallest)
        .filter(|smallest| *smallest < footprint);
    let over = percent_text(footprint.percent_over(planned.lower_bound));
    let shown_before = best.filter(|best| best.footprint < smaller.unwrap_or(footprint));
    let known = shown_before.map(|best| best.footprint).or(smaller);
    let least = known.filter(|known| *known <= bound).map_or("", |_| ", the minimum");
    let sure = match (shown_before, smaller) {
        _ if footprint <= bound => planned
            .optimality()
            .unwrap_or_else(|| "proven optimal: no plan is smaller".to_owned()),
        (Some(best), _) => {
            let (label, footprint) = (best.strategy.label, best.footprint);
            format!("{over} above the bound; {label} found {footprint}{least}")
        }
        (None, Some(smaller)) => format!("{over} above the bound; the Planner found {smaller}{least}"),
        (None, None) => format!("{over} above the bound; smaller plans may exist"),
    };
    let mut texts = vec![format!(
        "{} buffers, bound {bound}: {sure}.",
        planned.plan.offsets.len()
    )];
    if let Some(capacity) = comparison.stated_problem().and_then(|entry| entry.capacity) {
        texts.push(match planned.fit(capacity) {
            Fit::Fits => format!("Fits the file's capacity {capacity}."),
            Fit::Impossible => format!("Proven not to fit the file's capacity {capacity}."),
            Fit::NotFound => format!("No plan found that fits the file's capacity {capacity}; one may exist."),
        });
    }
    texts.push("The Planner tab compares all strategies.".to_owned());
    texts
}

pub(super) fn passes_text(comparison: &Comparison) -> Option<(String, String)> {
    let first = comparison.lanes.first()?;
    let title = comparison.lane_title(first.id);
    let peak = first.summary.peak_reserved;
    let text = format!("{title}: peak {peak} under policy {}", first.policy.number());
    Some((text, peak.exact()))
}

/// The lowest peak of the lanes that run to their end, and how many do not.
pub(super) fn passes_details(comparison: &Comparison) -> Vec<String> {
    let Some(first) = comparison.lanes.first() else {
        return Vec::new();
    };
    let peak = first.summary.peak_reserved;
    let others = comparison.simulated_lanes().skip(1);
    let n_failed = others.clone().filter(|lane| lane.ends_early()).count();
    let whole = others.filter(|lane| !lane.ends_early());
    let mut texts = Vec::new();
    match whole.min_by_key(|lane| lane.summary.peak_reserved) {
        Some(least) => {
            let (title, bytes) = (comparison.lane_title(least.id), least.summary.peak_reserved);
            texts.push(match peak.get().checked_sub(bytes.get()) {
                Some(saved) if saved > 0 => format!("Lowest peak: {title}, {bytes}, {} less.", Bytes(saved)),
                _ => format!("Lowest peak: {title}, {bytes}."),
            });
        }
        None if comparison.lanes.len() > 1 => texts.push("No other lane completes.".to_owned()),
        None => {}
    }
    if n_failed > 0 {
        texts.push(format!(
            "{n_failed} of {} lanes end early; the table says why.",
            comparison.lanes.len()
        ));
    }
    texts
}
