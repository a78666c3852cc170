//! The summary of a placement problem, and of passes.

use eframe::egui::{self, RichText};

use super::overview::notes_ui;
use highwater_analysis::Comparison;
use highwater_model::units::{Bytes, percent_text};
use highwater_plan::Fit;
use highwater_rewrite::remat::RematStatus;
use highwater_session::Session;

pub(super) fn problem_text(comparison: &Comparison) -> Option<(String, String)> {
    let lane = &comparison.lanes[comparison.main_lane()?];
    let footprint = lane.plans.first()?.1.plan.footprint;
    let text = format!("Lowest footprint: {footprint} by {}", lane.strategy.label);
    Some((text, footprint.exact()))
}

/// The smallest footprint, and its distance from the bound.
pub(super) fn problem_ui(ui: &mut egui::Ui, session: &Session, comparison: &Comparison) {
    let Some(lane) = comparison.main_lane().map(|position| &comparison.lanes[position]) else {
        ui.label("No strategy gave a plan.");
        return;
    };
    let Some((_, planned)) = lane.plans.first() else { return };
    let footprint = planned.plan.footprint;
    if let Some((text, exact)) = problem_text(comparison) {
        ui.label(RichText::new(text).strong()).on_hover_text(exact);
    }
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
        _ if footprint <= bound => "proven optimal: no plan is smaller".to_owned(),
        (Some(best), _) => {
            let (label, footprint) = (best.strategy.label, best.footprint);
            format!("{over} above the bound; {label} found {footprint}{least}")
        }
        (None, Some(smaller)) => format!("{over} above the bound; the Planner found {smaller}{least}"),
        (None, None) => format!("{over} above the bound; smaller plans may exist"),
    };
    ui.label(format!(
        "{} buffers, bound {bound}: {sure}.",
        planned.plan.offsets.len()
    ))
    .on_hover_text(format!(
        "{}; the peak of live buffers is {}",
        bound.exact(),
        planned.lower_bound.exact()
    ));
    if let Some(capacity) = comparison.stated_problem().and_then(|entry| entry.capacity) {
        let text = match planned.fit(capacity) {
            Fit::Fits => format!("Fits the file's capacity {capacity}."),
            Fit::Impossible => format!("Proven not to fit the file's capacity {capacity}."),
            Fit::NotFound => format!("No plan found that fits the file's capacity {capacity}; one may exist."),
        };
        ui.label(text);
    }
    ui.weak("The Planner tab compares all strategies.");
}

pub(super) fn passes_text(comparison: &Comparison) -> Option<(String, String)> {
    let first = comparison.lanes.first()?;
    let title = comparison.lane_title(first.id);
    let peak = first.summary.peak_reserved;
    let text = format!("{title}: peak {peak} under policy {}", first.policy.number());
    Some((text, peak.exact()))
}

/// The peak of each pass, and the lowest.
pub(super) fn passes_ui(ui: &mut egui::Ui, comparison: &Comparison) {
    let Some((text, exact)) = passes_text(comparison) else {
        return;
    };
    ui.label(RichText::new(text).strong()).on_hover_text(exact);
    let peak = comparison.lanes[0].summary.peak_reserved;
    let is_whole = |lane: &&highwater_analysis::Lane| {
        let runs = lane.rewrite.iter().flat_map(|rewrite| rewrite.remat.iter().flatten());
        !lane.summary.out_of_memory && runs.into_iter().all(|run| run.answer.status == RematStatus::Ok)
    };
    let others = comparison.simulated_lanes().skip(1);
    match others
        .clone()
        .filter(is_whole)
        .min_by_key(|lane| lane.summary.peak_reserved)
    {
        Some(least) => {
            let (title, bytes) = (comparison.lane_title(least.id), least.summary.peak_reserved);
            let text = match peak.get().checked_sub(bytes.get()) {
                Some(saved) if saved > 0 => format!("Lowest peak: {title}, {bytes}, {} less.", Bytes(saved)),
                _ => format!("Lowest peak: {title}, {bytes}."),
            };
            ui.label(text).on_hover_text(bytes.exact());
        }
        None if comparison.lanes.len() > 1 => {
            ui.label("No other lane completes.");
        }
        None => {}
    }
    let n_failed = others.filter(|lane| !is_whole(lane)).count();
    if n_failed > 0 {
        ui.label(format!("{n_failed} of {} lanes stop early.", comparison.lanes.len()));
    }
    notes_ui(ui, comparison);
}
