//! `highwater compare`: all policies of one workload.

pub(crate) mod baseline;
mod drawing;

use anyhow::bail;

pub(super) use drawing::{axis_of, coloring};

use super::Verdict;
use super::args::CompareArgs;
use super::request::{Prepared, policies};
use super::settings::Settings;
use super::text::print_answer;
use highwater_analysis::{
    Comparison, Lane, LaneId, LaneKind, OutOfMemoryReport, Request, compare, study_of, with_figures,
};
use highwater_export::{BaselineComparison, CompareAnswer, Shortage};
use highwater_model::diagnostics::Severity;
use highwater_model::progress::Progress;
use highwater_options::{check_scheduled, keys};
use highwater_plan::{Effort, PlanError, find};
use highwater_session::OutputKind;
use highwater_sim::POLICIES;

pub(super) fn run(args: &CompareArgs, progress: &Progress<'_>) -> anyhow::Result<Verdict> {
    let baseline_args = baseline::BaselineArgs::new(args, progress)?;
    let mut settings = Settings::read(&args.files, &args.common, progress)?;
    settings.add_lanes(&args.lanes)?;
    if let Some(path) = &args.svg {
        let mut read = settings.read_files();
        read.extend(baseline_args.files.clone());
        read.refuse(path, OutputKind::Other)?;
    }
    let strategy = args.strategy.as_deref().map(find).transpose()?;
    let recorded = strategy.filter(|strategy| strategy.effort == Effort::Recorded);
    if let Some(strategy) = strategy.filter(|_| recorded.is_none()) {
        let options = &mut settings.document.options;
        options.set_text(keys::PLACEMENT_STRATEGY, strategy.name)?;
    }
    args.alignment.set(&mut settings.document.options)?;
    let mut prepared = Prepared::new(settings, args.graph.as_ref(), progress)?;
    let workload = &prepared.loaded.workload;
    if study_of(workload).stated_problem(workload).is_some() {
        let graph = prepared.settings.document.part.as_ref();
        let chosen = graph.map_or_else(String::new, |name| format!(" --graph \"{name}\""));
        bail!(
            "{}: a placement problem has no policies; use `highwater plan {}{chosen}`",
            prepared.loaded.whole.name,
            args.files
                .iter()
                .map(|file| file.display().to_string())
                .collect::<Vec<_>>()
                .join(" ")
        );
    }
    if let Some(strategy) = recorded {
        if !workload.has_logged_plans() {
            bail!("--strategy {}: {}", strategy.name, PlanError::NoRecordedPlan);
        }
        for row in POLICIES {
            prepared
                .request
                .strategies
                .set(LaneId::Policy(row.policy), Some(strategy));
        }
    }
    prepared.request.policies = policies(&args.policies)?;
    let Prepared { settings, request, .. } = &prepared;
    let document = &settings.document;
    let comparison = compare(request, progress)?;
    args.alignment.warn_without_effect(&comparison);
    if !args.verifying.holds(&comparison, progress)? {
        return Ok(Verdict::No);
    }
    let findings = check_scheduled(&document.options, &document.environment, &*request.files, &request.plan);
    let findings = with_figures(findings, &comparison);
    if let Some(path) = &args.svg {
        drawing::write(path, args, &comparison)?;
    }
    let lane_baseline = baseline_args.lane_baseline(&comparison)?;
    let options = request.configuration();
    let compared = baseline_args.comparison(&comparison, &options, lane_baseline.as_ref())?;
    let shortage = shortage(request, &comparison, progress)?;
    let import = prepared.diagnostics();
    let answer = CompareAnswer {
        baseline_comparison: compared.as_ref(),
        shortage: shortage.as_ref(),
        lane_baseline: lane_baseline.as_ref(),
        explains: args.explain,
        maps: args.map,
        most: args.top,
        ..CompareAnswer::new(&comparison, document.goal, &findings, &import, &options)
    };
    print_answer(&answer, args.format, false)?;
    let has_error = findings.iter().any(|finding| finding.severity == Severity::Error);
    let is_broken = compared.as_ref().is_some_and(BaselineComparison::has_broken_limit);
    let is_no = has_error
        || has_refused_settings(request, &comparison)
        || comparison.has_exception()
        || is_broken
        || shortage.is_some();
    Ok(Verdict::yes_if(!is_no))
}

/// Whether settings of an allocator that were asked for have no lane; a diagnostic says why.
fn has_refused_settings(request: &Request, comparison: &Comparison) -> bool {
    let simulated = |conf: &str| {
        let mut simulations = comparison
            .lanes
            .iter()
            .filter_map(|lane| comparison.simulation(lane.id));
        simulations.any(|simulation| simulation.settings == conf)
    };
    request
        .allocator_settings
        .iter()
        .any(|setting| !simulated(&setting.conf))
}

/// Why the active policy does not run to its end, in sentences. It is simulated alone where `--policies` leaves it out.
fn shortage(request: &Request, comparison: &Comparison, progress: &Progress<'_>) -> anyhow::Result<Option<Shortage>> {
    if comparison.trace().is_some() {
        // A trace goes on after a refused request.
        return Ok(None);
    }
    if let Some(lane) = comparison.lane(comparison.active_policy) {
        return Ok(why_early(lane, comparison));
    }
    if matches!(comparison.lane_kind(), LaneKind::Passes | LaneKind::Recordings) {
        // No lane is active.
        return Ok(None);
    }
    let mut alone = request.clone();
    alone.policies = vec![comparison.active_policy];
    alone.pins.clear();
    Ok(compare(&alone, progress)?
        .simulated_lanes()
        .find_map(|lane| why_early(lane, comparison)))
}

/// Why the active lane does not run to its end; `None` where it does.
fn why_early(lane: &Lane, comparison: &Comparison) -> Option<Shortage> {
    let number = lane.policy.number();
    let title = comparison.in_force().map_or_else(
        || format!("policy {number}"),
        |mark| format!("policy {number}, which is {mark}{},", comparison.in_force_if()),
    );
    if lane.stops_under_budget() {
        return Some(Shortage {
            verdict: format!("{title} stops before the end of a run under its memory budget"),
            details: String::new(),
        });
    }
    if !lane.summary.out_of_memory {
        return None;
    }
    let shortage = lane.out_of_memory_report.as_ref();
    let sentences = shortage.map_or_else(Vec::new, OutOfMemoryReport::sentences).join(" ");
    Some(Shortage {
        verdict: format!("{title} runs out of memory."),
        details: sentences,
    })
}
