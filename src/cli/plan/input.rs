//! The input of `plan`: buffers of a problem file, storages of a graph, requests of a trace, or bare live ranges, all as one
//! [`ProblemEntry`] with names.

use std::sync::Arc;

use anyhow::bail;

use crate::args::{LifetimesView, PlanArgs};
use crate::choice::{self, Choice};
use crate::dims::{unbound, unused_dims};
use crate::lower_bound::lower_bound_of;
use crate::settings::parse_bindings;
use highwater_analysis::{DEFAULT_LEVEL, USUAL_ALIGNMENT, arena_order, common_alignment, dumped_plan, with_inputs};
use highwater_export::NOTHING_TO_PLACE;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::{Bindings, Graph};
use highwater_model::liveness::{View, lifetimes};
use highwater_model::progress::Progress;
use highwater_model::units::Bytes;
use highwater_model::workload::{GraphEntry, Names, ProblemEntry, Program, Source, Workload};
use highwater_plan::{Buffer, Effort, PlacementProblem, find};

/// Plans that dumps state for their own graphs, by position of the graph.
pub(super) type DumpedProblems = [(usize, Arc<ProblemEntry>)];

#[derive(Debug, Default)]
pub(super) struct Chosen {
    pub(super) entry: ProblemEntry,
    pub(super) choice: Choice,
    pub(super) diagnostics: Diagnostics,
    /// Why the sizes are lower bounds, in words; `None` where they are exact.
    pub(super) lower_bound: Option<String>,
}

pub(super) fn chosen(
    args: &PlanArgs,
    workload: Workload,
    dumped: &DumpedProblems,
    progress: &Progress<'_>,
) -> anyhow::Result<Chosen> {
    let bindings = parse_bindings(&args.dim)?;
    let mut chosen = Chosen {
        diagnostics: unused_dims(&workload, &bindings),
        ..Chosen::default()
    };
    (chosen.choice, chosen.entry) = entry(args, workload, dumped, &bindings, &mut chosen, progress)?;
    let Chosen { entry, diagnostics, .. } = &mut chosen;
    if entry.problem.buffers.is_empty() {
        diagnostics.info(
            format!("{NOTHING_TO_PLACE}: no result needs memory in an arena"),
            &entry.name,
        );
    } else if entry.problem.buffers.iter().all(|buffer| buffer.size == Bytes::ZERO) {
        diagnostics.info(format!("{NOTHING_TO_PLACE}: every buffer has 0 bytes"), &entry.name);
    }
    Ok(chosen)
}

fn entry(
    args: &PlanArgs,
    workload: Workload,
    dumped: &DumpedProblems,
    bindings: &Bindings,
    chosen: &mut Chosen,
    progress: &Progress<'_>,
) -> anyhow::Result<(Choice, ProblemEntry)> {
    let alignment = args.alignment.unwrap_or(USUAL_ALIGNMENT);
    if let Source::Graphs(_) = &workload.source {
        return of_graphs(args, &workload, dumped, bindings, chosen, progress);
    }
    let file = workload.name;
    match workload.source {
        Source::Problems(entries) => {
            let choice = choose(args, &file, entries.iter().map(|entry| &entry.name), |_| true)?;
            let entry = entries.into_iter().nth(choice.position).map(Arc::unwrap_or_clone);
            Ok((choice, with_flags(args, entry.unwrap_or_default())))
        }
        Source::Lifetimes(entries) => {
            let choice = choose(args, &file, entries.iter().map(|(name, _)| name), |_| true)?;
            let (name, lifetimes) = &entries[choice.position];
            let ids: Vec<String> = (0..lifetimes.items.len()).map(|item| item.to_string()).collect();
            let ids = ids.iter().map(String::as_str).collect();
            let problem = PlacementProblem::from_lifetimes(lifetimes, alignment);
            Ok((choice, placed(name, ids, problem)))
        }
        Source::Traces(entries) => {
            let choice = choose(args, &file, entries.iter().map(|trace| &trace.name), |_| true)?;
            let trace = &entries[choice.position];
            let lifetimes = trace.lifetimes();
            let names: Vec<String> = lifetimes.iter().map(|one| trace.label(one)).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let buffers = lifetimes
                .iter()
                .map(|one| Buffer::unplaced(one.birth, one.end, one.bytes, alignment));
            let placed = placed(&trace.name, Names::unique(&names), PlacementProblem::of(buffers));
            Ok((choice, placed))
        }
        Source::Tapes(entries) => {
            let choice = choose(args, &file, entries.iter().map(|tape| &tape.name), |_| true)?;
            let tape = &entries[choice.position];
            let lifetimes = tape.lifetimes();
            let items = lifetimes.items.iter();
            let ids = items.map(|item| &*tape.tensors[item.tensor.0 as usize].name).collect();
            let problem = PlacementProblem::from_lifetimes(&lifetimes, alignment);
            Ok((choice, placed(&tape.name, ids, problem)))
        }
        Source::Recordings(entries) => {
            let names = entries.iter().map(|recording| &recording.name);
            let choice = choose(args, &file, names, |position| !entries[position].blocks.is_empty())?;
            let recording = &entries[choice.position];
            if recording.process.is_some() {
                bail!("{file}: nothing can be placed. {DEFAULT_LEVEL}");
            }
            if recording.blocks.is_empty() {
                bail!(
                    "{file}: \"{}\" is a curve without blocks, so nothing can be placed; use `inspect`{}",
                    recording.name,
                    match entries.iter().find(|other| !other.blocks.is_empty()) {
                        Some(other) => format!(", and --graph \"{}\" has blocks", other.name),
                        None => String::new(),
                    }
                );
            }
            let blocks = recording.blocks.iter();
            let names: Vec<&str> = blocks.clone().map(|block| recording.block_name(block)).collect();
            let buffers = blocks.map(|one| Buffer::unplaced(one.birth, one.end, one.bytes, alignment));
            let placed = placed(&recording.name, Names::unique(&names), PlacementProblem::of(buffers));
            Ok((choice, placed))
        }
        Source::Blocks(_) => bail!(
            "{file}: a program of blocks is for `reuse`; `plan` takes graphs, tapes, traces, recordings and problems"
        ),
        Source::Graphs(_) => bail!("{file}: no graph"),
    }
}

/// The chosen graph, or the arena that its compiler dumped: by the arena's name, or with the strategy `as_dumped`.
fn of_graphs(
    args: &PlanArgs,
    workload: &Workload,
    dumped: &DumpedProblems,
    bindings: &Bindings,
    chosen: &mut Chosen,
    progress: &Progress<'_>,
) -> anyhow::Result<(Choice, ProblemEntry)> {
    let parts = workload.parts(dumped);
    let mut choice = choose(args, &workload.name, parts.iter().map(|part| &part.name), |_| true)?;
    let part = workload.of_part(&parts[choice.position]);
    let graph = match part.source {
        Source::Problems(arenas) => {
            let arena = arenas.into_iter().next().map(Arc::unwrap_or_clone);
            return Ok((choice, with_flags(args, arena.unwrap_or_default())));
        }
        Source::Graphs(graphs) => graphs.into_iter().next(),
        _ => None,
    };
    let Some(graph) = &graph else {
        bail!("{}: \"{}\" is not a graph", workload.name, choice.name);
    };
    let dumped_arenas = graph.dumped.as_ref().map_or(&[][..], |dumped| &dumped.arenas[..]);
    if is_recorded(args) {
        let mut arenas = dumped_arenas.iter().cloned();
        if let Some(arena) = arenas.find(|arena| arena.recorded.is_some()) {
            let name = std::mem::replace(&mut choice.name, arena.name.clone());
            choice.others.retain(|other| *other != arena.name);
            choice.others.insert(0, name);
            chosen.diagnostics.info(
                format!(
                    "shows the compiler's own assignment of buffers, not the tensors of the graph; --graph \"{}\" \
                     places the same buffers with another --strategy",
                    arena.name
                ),
                &arena.name,
            );
            return Ok((choice, with_flags(args, Arc::unwrap_or_clone(arena))));
        }
    }
    let placed = of_graph(args, graph, bindings, chosen, progress)?;
    if let Some(arena) = dumped_arenas.first() {
        chosen.diagnostics.info(
            format!(
                "places the tensors of the graph, not the buffers of the compiler's assignment (--graph \"{}\"); \
                 --strategy as_dumped shows the compiler's offsets",
                arena.name
            ),
            &graph.name,
        );
    }
    Ok((choice, placed))
}

/// Whether the plan of the file is asked for.
fn is_recorded(args: &PlanArgs) -> bool {
    find(&args.strategy).is_ok_and(|strategy| strategy.effort == Effort::Recorded)
}

/// The entry of `--graph`, else the first that can be placed.
fn choose<'a>(
    args: &PlanArgs,
    file: &str,
    names: impl Iterator<Item = &'a String>,
    is_usable: impl Fn(usize) -> bool,
) -> anyhow::Result<Choice> {
    let names: Vec<String> = names.cloned().collect();
    choice::choose(file, &names, args.graph.as_deref(), is_usable)
}

/// Buffers without a graph. Steps of traces are positions of commands, those of recordings positions of events.
fn placed(name: &str, ids: Names, problem: PlacementProblem) -> ProblemEntry {
    ProblemEntry {
        name: name.to_owned(),
        ids,
        problem,
        ..ProblemEntry::default()
    }
}

/// A problem file under the flags. Its recorded plan is compared with free offsets: under its own fixed offsets it would always be
/// optimal.
fn with_flags(args: &PlanArgs, mut entry: ProblemEntry) -> ProblemEntry {
    let shows_recorded = is_recorded(args) && entry.recorded.is_some();
    for buffer in &mut entry.problem.buffers {
        if args.free_offsets || shows_recorded {
            buffer.offset = None;
        }
        // The offsets of the file go with its own sizes.
        if let Some(alignment) = args.alignment.filter(|_| !shows_recorded) {
            if alignment.is_multiple_of(buffer.alignment.max(1)) {
                buffer.alignment = alignment;
            }
            buffer.size = buffer.size.align_up(alignment);
        }
    }
    entry
}

fn of_graph(
    args: &PlanArgs,
    entry: &GraphEntry,
    bindings: &Bindings,
    chosen: &mut Chosen,
    progress: &Progress<'_>,
) -> anyhow::Result<ProblemEntry> {
    let graph: &Graph = &entry.graph;
    let of_format = entry.dumped.as_ref().and_then(|dumped| dumped.alignment);
    let alignment = args.alignment.or(of_format).unwrap_or(USUAL_ALIGNMENT);
    unbound(graph, bindings)?;
    let view = match args.lifetimes {
        LifetimesView::Naive => View::Naive,
        LifetimesView::Aliased => View::Aliased,
    };
    let sizes = graph.sizes(bindings);
    chosen.lower_bound = lower_bound_of(entry, bindings, progress, "placed here", &mut chosen.diagnostics)?;
    let mut lifetimes = lifetimes(graph, &sizes, view);
    if args.with_inputs {
        with_inputs(graph, &sizes, &mut lifetimes);
    }
    let names: Vec<&str> = lifetimes
        .items
        .iter()
        .map(|item| graph.tensor_name(item.tensor))
        .collect();
    let ids = Names::unique(&names);
    let program = Program::from(lifetimes);
    // Only storages of the aliased view have the order of ops; inputs come before any op.
    let order = (view == View::Aliased && !args.with_inputs).then(|| arena_order(graph, &program, &[]));
    let lifetimes = program.lifetimes;
    let dumped = entry.dumped.as_ref().and_then(|dumped| dumped.offsets.as_ref());
    let recorded = dumped.map(|plan| dumped_plan(plan, &lifetimes));
    let problem = PlacementProblem::from_lifetimes(&lifetimes, alignment);
    let mut placed = ProblemEntry {
        order,
        ..placed(&entry.name, ids, problem)
    };
    match recorded {
        Some(Err(missing)) if is_recorded(args) => bail!(
            "{}: the dump has no offset for {} of {} buffers, e.g. \"{}\"; use another --strategy",
            entry.name,
            missing.len(),
            lifetimes.items.len(),
            missing.first().map_or("", |first| placed.ids.get(*first))
        ),
        Some(Ok(plan)) if is_recorded(args) => {
            // The dump's offsets to the byte; they imply its alignment.
            let alignment = args.alignment.unwrap_or_else(|| common_alignment(&plan.offsets));
            placed.problem = PlacementProblem::from_lifetimes(&lifetimes, args.alignment.unwrap_or(1));
            for buffer in &mut placed.problem.buffers {
                buffer.alignment = alignment;
            }
            placed.recorded = Some(plan);
        }
        Some(Ok(plan)) => placed.recorded = Some(plan),
        Some(Err(_)) | None => {}
    }
    Ok(placed)
}

/// The capacity of the flag, else of the file.
pub(super) fn capacity(args: &PlanArgs, entry: &ProblemEntry) -> anyhow::Result<Option<Bytes>> {
    use anyhow::Context as _;
    match &args.capacity {
        Some(text) => Ok(Some(Bytes::parse(text).context("--capacity")?)),
        None => Ok(entry.capacity),
    }
}
