//! `highwater plan`: the live ranges of one graph, or the buffers of a problem, placed in an arena.

mod input;

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, bail};

use super::args::{Format, PlanArgs, YesNo};
use super::opened::plan_of;
use super::text::print_answer;
use super::verified::say_verified;
use super::{Verdict, print_json_line, say, say_progress};
use highwater_analysis::{Verified, dumped_problems, logged_arenas};
use highwater_export::{PlanAnswer, PlanDetails, engine_plan_json};
use highwater_model::diagnostics::{Diagnostics, Severity};
use highwater_model::progress::{Cancel, Progress};
use highwater_model::units::{Bytes, percent_text};
use highwater_model::workload::{ProblemEntry, Source, Workload};
use highwater_plan::{
    ASSIGNERS, BEST, Effort, Limits, PlanError, PlanRequest, Planned, Strategy, Tried, engine_plan, find,
    fragmentation, peak_chain, placement_reason, plan, recorded_name, reuse_edges, verify,
};
use highwater_rewrite::inline::with_calls_inlined;
use highwater_session::read_source;
use input::Chosen;

pub(super) fn run(args: &PlanArgs, progress: &Progress<'_>) -> anyhow::Result<Verdict> {
    args.format.check(&[Format::Text, Format::Json, Format::Csv])?;
    let strategy = find(&args.strategy)?;
    let (mut args, source, remarks) = plan_of(args, progress)?;
    let source = &source;
    let mut imported = read_source(source, progress)?;
    imported.diagnostics.extend(&remarks);
    let logged = match &imported.source {
        Source::Recordings(recordings) => logged_arenas(recordings),
        _ => Vec::new(),
    };
    if let Some(one) = logged.iter().find(|one| args.graph.as_deref() == Some(one.graph())) {
        args.graph = Some(one.problem.name.clone());
    }
    let args = &args;
    if !logged.is_empty() {
        imported.source = Source::Problems(logged.iter().map(|one| Arc::clone(&one.problem)).collect());
    }
    // A dumped plan is of the graph before calls are inlined.
    let dumped = match &imported.source {
        Source::Graphs(entries) => dumped_problems(entries),
        _ => Vec::new(),
    };
    if let Source::Graphs(entries) = &mut imported.source
        && strategy.effort != Effort::Recorded
    {
        with_calls_inlined(entries, progress, &mut imported.diagnostics)?;
    }
    let is_problem = matches!(imported.source, Source::Problems(_));
    let mut workload = Workload::new(source.title(), imported.source);
    if args.shapes_keep_alive == YesNo::No {
        workload = workload.without_shape_reads();
    }
    let Chosen {
        entry,
        choice,
        diagnostics: of_entry,
        lower_bound,
    } = input::chosen(args, workload, &dumped, progress)?;
    let mut diagnostics = imported.diagnostics;
    diagnostics.extend(&of_entry);
    if let Some(one) = logged.iter().find(|one| one.problem.name == entry.name) {
        diagnostics.extend(&one.remarks(progress)?);
    }
    if args.events {
        return events(args, strategy, &entry, progress);
    }
    let explained = explained_buffers(args, &entry)?;
    let capacity = input::capacity(args, &entry)?;
    let (planned, elapsed_ns) = search(args, strategy, &entry, capacity, progress)
        .map_err(|error| what_lacks(error, imported.format, &diagnostics))?;
    let defect = verify(&entry.problem, &planned.plan).err();
    if args.verifying.verify {
        if let Some(defect) = &defect {
            say(&format!("--verify: {}: {defect}", entry.name));
            return Ok(Verdict::No);
        }
        say_verified(Verified {
            simulations: 0,
            plans: 1,
        });
    }
    let edges = match defect {
        // Colliding buffers do not reuse each other in an order.
        Some(_) => Vec::new(),
        None => reuse_edges(&entry.problem, &planned.plan),
    };
    let remark = choice.remark();
    let answer = PlanAnswer {
        entry: &entry,
        planned: &planned,
        defect: defect.as_ref(),
        capacity,
        edges: &edges,
        others: &choice.others,
        choice: remark.as_deref(),
        states_alignment: is_problem,
        lower_bound: lower_bound.as_deref(),
        diagnostics: &diagnostics,
        elapsed_ns,
        details: &details(args, &entry, &planned, &explained, defect.is_none()),
    };
    print_answer(&answer, args.format, args.raw)?;
    let is_no = defect.is_some() || answer.fit().is_some_and(|fit| fit != highwater_plan::Fit::Fits);
    Ok(Verdict::yes_if(!is_no))
}

/// The line by which the engine's planner is compared.
fn events(
    args: &PlanArgs,
    strategy: &'static Strategy,
    entry: &ProblemEntry,
    progress: &Progress<'_>,
) -> anyhow::Result<Verdict> {
    let Some((_, assigner)) = ASSIGNERS.iter().find(|(name, _)| *name == strategy.name) else {
        let names: Vec<&str> = ASSIGNERS.iter().map(|(name, _)| *name).collect();
        bail!(
            "--events needs a planner of the engine; add --strategy {}",
            names.join("|")
        );
    };
    let Some(ops) = &entry.ops else {
        bail!(
            "--events needs an op list (docs/text-formats.md); {} has no ops",
            entry.name
        );
    };
    let plan = engine_plan(&entry.problem, entry.order.as_ref(), *assigner, progress)?;
    print_json_line(&engine_plan_json(ops, &plan, *assigner, args.stable))?;
    Ok(Verdict::Done)
}

/// Positions of the buffers of `--why`.
fn explained_buffers(args: &PlanArgs, entry: &ProblemEntry) -> anyhow::Result<Vec<usize>> {
    let mut positions = Vec::with_capacity(args.why.len());
    for id in &args.why {
        let Some(position) = (0..entry.ids.len()).find(|position| entry.ids.get(*position) == id) else {
            bail!("--why {id}: no such buffer in {}; --format csv lists them", entry.name);
        };
        positions.push(position);
    }
    Ok(positions)
}

/// The plan, and the nanoseconds that it took.
fn search(
    args: &PlanArgs,
    strategy: &'static Strategy,
    entry: &ProblemEntry,
    capacity: Option<Bytes>,
    progress: &Progress<'_>,
) -> anyhow::Result<(Planned, u64)> {
    #[expect(clippy::disallowed_methods, reason = "the command line owns a clock")]
    let start = Instant::now();
    let clock = || u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let stop = deadline(args.deadline)?;
    let is_shown = std::io::stderr().is_terminal();
    let watch = |found: Planned| {
        let (footprint, bound) = (found.plan.footprint, found.proved_bound);
        let over = percent_text(footprint.percent_over(bound));
        say_progress(&format!("searching: {footprint}, {over} above the bound"));
    };
    let request = PlanRequest {
        problem: &entry.problem,
        recorded: entry.recorded.as_ref(),
        order: entry.order.as_ref(),
        limits: Limits {
            capacity,
            nodes: args.node_limit.unwrap_or(Limits::DEFAULT_NODES),
            race: args.race,
            stop: Some(&stop),
            clock: Some(&clock),
            watch: is_shown.then_some(&watch),
        },
    };
    let mut planned = plan(strategy, &request, progress).map_err(|error| match error {
        PlanError::Problem(error) => anyhow::anyhow!("{}: {}", entry.name, entry.sentence(&error)),
        error => error.into(),
    })?;
    if strategy.name == BEST {
        planned.tried.extend(recorded(entry));
    }
    Ok((planned, clock()))
}

/// Names the missing file where an XLA text has no plan.
fn what_lacks(error: anyhow::Error, format: &str, diagnostics: &Diagnostics) -> anyhow::Error {
    let is_no_plan = matches!(error.downcast_ref(), Some(PlanError::NoRecordedPlan));
    let mut warnings = diagnostics.entries().iter();
    let warning = warnings.find(|entry| entry.severity == Severity::Warning && format == "xla");
    match warning.filter(|_| is_no_plan) {
        Some(warning) => anyhow::anyhow!(
            "no plan \"as dumped\" in this file alone: {}; use another --strategy",
            warning.message
        ),
        None => error,
    }
}

/// The plan of the file as a row of the strategies, where it is valid.
fn recorded(entry: &ProblemEntry) -> Option<Tried> {
    let recorded = entry.recorded.as_ref()?;
    let plan = highwater_plan::Plan::new(&entry.problem, recorded.offsets.clone());
    verify(&entry.problem, &plan).ok()?;
    Some(Tried {
        strategy: recorded_name(recorded),
        footprint: plan.footprint,
        nodes: 0,
        elapsed_ns: None,
    })
}

/// The lists and explanations that flags request. Offsets of colliding buffers have no explanation.
fn details(
    args: &PlanArgs,
    entry: &ProblemEntry,
    planned: &Planned,
    explained: &[usize],
    is_valid: bool,
) -> PlanDetails {
    let (problem, plan) = (&entry.problem, &planned.plan);
    let is_explained = args.explain && is_valid;
    let explained = explained.iter().filter(|_| is_valid);
    PlanDetails {
        lists_edges: args.edges,
        chain: is_explained.then(|| peak_chain(problem, plan)),
        fragmentation: is_explained.then(|| fragmentation(problem, plan)),
        reasons: explained
            .filter_map(|position| placement_reason(problem, plan, *position))
            .collect(),
    }
}

/// A flag that is set after `seconds`: searches then end with their best plan so far.
fn deadline(seconds: Option<f64>) -> anyhow::Result<Cancel> {
    let stop = Cancel::new();
    let Some(seconds) = seconds else {
        return Ok(stop);
    };
    let limit = std::time::Duration::try_from_secs_f64(seconds)
        .with_context(|| format!("--deadline {seconds:?}: expected a positive number of seconds"))?;
    if limit.is_zero() {
        stop.cancel();
        return Ok(stop);
    }
    let flag = stop.clone();
    // The thread ends with the process; it holds nothing but the flag.
    std::thread::Builder::new()
        .name("deadline".to_owned())
        .spawn(move || {
            std::thread::sleep(limit);
            flag.cancel();
        })
        .context("the deadline cannot be watched")?;
    Ok(stop)
}
