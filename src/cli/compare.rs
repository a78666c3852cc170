//! `highwater compare`: every policy beside the others.

mod against;
mod drawing;
mod measured;
mod pinned;
mod text;

use std::sync::Arc;

use anyhow::bail;

pub(super) use drawing::{axis_of, color_by_of};

use super::args::{CompareArgs, Format, Opening};
use super::choice;
use super::dims::unused_dims;
use super::opened::Named;
use super::settings::Settings;
use super::{Verdict, print, print_json};
use highwater_analysis::{Comparison, Lane, LaneSet, OutOfMemoryReport, Request, bound_plan, compare};
use highwater_export::{Against, CompareAnswer, WireAgainst, WireBeside, WireComparison, comparison_markdown};
use highwater_model::diagnostics::{Diagnostics, Severity};
use highwater_model::progress::Progress;
use highwater_model::workload::ScheduleEntry;
use highwater_options::{check_scheduled, keys};
use highwater_plan::{Effort, Limits, PlanError, find};
use highwater_session::{
    Loaded, OnFailure, SourceSpec, load, look_at_files_with, preset_iterations, presets_of, refuse_source,
};
use highwater_sim::StaticMemoryPolicy;

/// So many tensors of each peak are listed in JSON unless it is said.
const MOST_LISTED: usize = 100;

/// Runs the command.
pub(super) fn run(args: &CompareArgs, progress: &Progress<'_>) -> anyhow::Result<Verdict> {
    let asked = against::Asked::new(args)?;
    let named = Named::of(&args.files, &args.common.opening, progress)?;
    let mut settings = named.settings(&args.common)?;
    settings.add_pins(&args.pins.pin)?;
    let sources = named.sources;
    if let Some(path) = &args.svg {
        refuse_source(path, &sources)?;
    }
    if let Some(name) = &args.strategy {
        let strategy = find(name)?;
        if strategy.effort == Effort::Recorded {
            bail!("--strategy {name}: {}", PlanError::NoRecordedPlan);
        }
        settings.options.set_text(keys::PLACEMENT_STRATEGY, strategy.name)?;
    }
    let mut loaded = load(&sources, settings.evaluation, OnFailure::Stop, progress).map_err(anyhow::Error::msg)?;
    let graph = args.graph.as_ref().or(settings.part.as_ref());
    if let Some(name) = graph {
        show(&mut loaded, name)?;
    }
    if !loaded.workload.problems().is_empty() {
        let chosen = graph.map_or_else(String::new, |name| format!(" --graph \"{name}\""));
        bail!(
            "{}: a placement problem has no policies; use `highwater plan {}{chosen}`",
            loaded.whole.name,
            args.files.join(" ")
        );
    }
    let mut request = request_of(&loaded, &settings, &sources, args.common.iterations.is_none());
    request.policies = policies(&args.policies)?;
    let comparison = compare(&request, progress)?;
    let findings = check_scheduled(&settings.options, &settings.environment, &*request.files, &request.plan);
    let import = import_diagnostics(&loaded, &settings);
    if let Some(path) = &args.svg {
        let asked = drawing::Asked {
            policy: args.policy.as_deref(),
            axis: args.axis.as_deref(),
            color_by: args.color_by.as_deref(),
        };
        drawing::write(path, asked, &comparison)?;
    }
    let beside = asked.beside(&comparison)?;
    let options = request.configuration();
    let against = asked.against(&comparison, &options, beside.as_ref())?;
    let shortage = shortage(&request, &comparison, progress)?;
    let answer = CompareAnswer {
        comparison: &comparison,
        findings: &findings,
        options: &options,
        against: against.as_ref(),
        shortage: shortage.as_deref(),
        beside: beside.as_ref(),
        most: args.top.unwrap_or(against::FEW),
    };
    print_answer(args, &answer, &import)?;
    let has_error = findings.iter().any(|finding| finding.severity == Severity::Error);
    let is_broken = against.as_ref().is_some_and(Against::is_no);
    let is_no = has_error || is_broken || shortage.is_some();
    Ok(if is_no { Verdict::No } else { Verdict::Done })
}

/// Prints the answer in the form that is asked for.
fn print_answer(args: &CompareArgs, answer: &CompareAnswer<'_>, import: &Diagnostics) -> anyhow::Result<()> {
    let CompareAnswer {
        comparison,
        findings,
        options,
        against,
        beside,
        most,
        shortage: _,
    } = *answer;
    match args.format {
        Format::Json => {
            let (listed, all) = (args.top.unwrap_or(MOST_LISTED), args.top.unwrap_or(usize::MAX));
            let wire = WireComparison::new((comparison, options), (findings, import), listed);
            let baseline = against.map(|against| WireAgainst::new(against, all));
            let beside = beside.map(|beside| WireBeside::new(beside, comparison, all));
            print_json(&wire.against(baseline).beside(beside))
        }
        Format::Markdown => print(&comparison_markdown(answer)),
        Format::Text => {
            let mut text = text::text(args, comparison, findings, import);
            text.push_str(&pinned::text(comparison, options));
            if let Some(beside) = beside {
                text.push_str(&against::beside_text(beside, comparison, most));
            }
            if let Some(against) = against {
                text.push_str(&against::text(against, most));
            }
            text.push_str(&against::verdict_text(answer));
            print(&text)
        }
        format => Err(format.refusal()),
    }
}

/// What settings ask of what was read, under every policy; samples among the sources bring what they suggest.
pub(super) fn request_of(
    loaded: &Loaded,
    settings: &Settings,
    sources: &[SourceSpec],
    takes_iterations: bool,
) -> Request {
    let mut request = Request {
        lanes: LaneSet::Policies,
        workload: Arc::clone(&loaded.workload),
        plan: settings.plan.clone(),
        options: settings.options.clone(),
        environment: settings.environment.clone(),
        files: Arc::new(look_at_files_with(
            &settings.options,
            &settings.environment,
            &settings.pins,
        )),
        device: settings.device.clone(),
        policies: Vec::new(),
        strategies: settings.strategies.clone(),
        search_nodes: Limits::DEFAULT_NODES,
        pins: settings.pins.iter().map(|pin| pin.beside(&settings.plan)).collect(),
    };
    loaded.follow(&mut request.plan);
    for pin in &mut request.pins {
        loaded.follow(&mut pin.configuration.plan);
    }
    fill_presets(&mut request, sources, takes_iterations && !settings.has_document);
    if !Arc::ptr_eq(&loaded.workload, &loaded.whole) {
        // Entries of graphs that are not looked at wait; those of graphs that are nowhere are told.
        let (part, whole) = (loaded.workload.scheduled_graphs(), loaded.whole.scheduled_graphs());
        let pins = request.pins.iter_mut().map(|pin| &mut pin.configuration.plan);
        for plan in std::iter::once(&mut request.plan).chain(pins) {
            let names = plan.clone();
            let is_elsewhere = |entry: &ScheduleEntry| {
                names.graph_of(entry, &part).is_none() && names.graph_of(entry, &whole).is_some()
            };
            plan.entries.retain(|entry| !is_elsewhere(entry));
        }
    }
    if !request.workload.graphs().is_empty() {
        // What no graph has is told apart, as everywhere.
        let known = request.workload.symbols();
        request.plan.dims.retain(|name, _| known.contains(name));
    }
    request
}

/// Looks at one part of what was read.
pub(super) fn show(loaded: &mut Loaded, name: &str) -> anyhow::Result<()> {
    if loaded.show(Some(name)) {
        return Ok(());
    }
    let file = &loaded.workload.name;
    if loaded.parts.is_empty() {
        bail!("{file}: it holds no graph, so --graph has nothing to choose from");
    }
    let names: Vec<String> = loaded.parts.iter().map(|part| part.name.clone()).collect();
    bail!(
        "{file}: there is no graph \"{name}\" in it; it holds {}",
        choice::list(&names)
    );
}

/// The sources of the arguments.
pub(super) fn sources(files: &[String], opening: &Opening) -> anyhow::Result<Vec<SourceSpec>> {
    opening.sources(files)
}

/// A bundled sample brings values for its dimensions, and its iterations where nobody asks for others; flags and options
/// win over them.
pub(super) fn fill_presets(request: &mut Request, sources: &[SourceSpec], takes_iterations: bool) {
    if takes_iterations && request.plan.iterations == 1 {
        request.plan.iterations = preset_iterations(sources);
    }
    let (bound, _) = bound_plan(request);
    for (name, values) in presets_of(sources) {
        if !bound.dims.contains_key(&name) {
            request.plan.dims.insert(name, values);
        }
    }
}

/// What importers and configuration files found odd, and values of dimensions that nothing has.
pub(super) fn import_diagnostics(loaded: &Loaded, settings: &Settings) -> Diagnostics {
    let mut all = loaded.diagnostics.clone();
    for (name, remarks) in &settings.remarks {
        all.extend(&remarks.prefixed(name));
    }
    let dims = settings.plan.dims.iter();
    let first = dims.filter_map(|(name, values)| Some((name.clone(), *values.first()?)));
    all.extend(&unused_dims(&loaded.workload, &first.collect()));
    all
}

/// Policy numbers as the option takes them.
pub(super) fn policies(texts: &[String]) -> anyhow::Result<Vec<StaticMemoryPolicy>> {
    let mut policies = Vec::new();
    for text in texts {
        let number = text.trim().parse().ok();
        match number.and_then(StaticMemoryPolicy::from_number) {
            Some(policy) => policies.push(policy),
            None => bail!("--policies {text}: write a list of 0, 1, 2, 3, 4, such as 0,2"),
        }
    }
    Ok(policies)
}

/// Why the policy in force does not run to its end, in sentences; it is simulated apart where it is not among those asked for.
fn shortage(request: &Request, comparison: &Comparison, progress: &Progress<'_>) -> anyhow::Result<Option<String>> {
    if comparison.trace().is_some() {
        // A request that is refused is an answer: the trace goes on.
        return Ok(None);
    }
    if let Some(lane) = comparison.lane(comparison.active_policy) {
        return Ok(why_early(lane));
    }
    if comparison.compares_passes() || comparison.is_measured() {
        // Lanes beside each other, as in a sweep: none is in force.
        return Ok(None);
    }
    let mut alone = request.clone();
    alone.policies = vec![comparison.active_policy];
    alone.pins.clear();
    Ok(compare(&alone, progress)?.simulated_lanes().find_map(why_early))
}

/// Why a lane, which is in force, does not run to its end; `None` where it does.
fn why_early(lane: &Lane) -> Option<String> {
    let title = format!("policy {}, which is in force,", lane.policy.number());
    if lane.stops_under_budget() {
        return Some(format!(
            "{title} does not bring a run to its end under its memory budget"
        ));
    }
    if !lane.summary.out_of_memory {
        return None;
    }
    let story = lane.out_of_memory_report.as_ref();
    let sentences = story.map_or_else(Vec::new, OutOfMemoryReport::sentences);
    Some(
        format!("{title} runs out of memory. {}", sentences.join(" "))
            .trim_end()
            .to_owned(),
    )
}
