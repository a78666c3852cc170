//! What `plan` places: the buffers of a problem file, the storages of a graph, the requests of a trace, or bare
//! lifetimes, all as one
//! [`ProblemEntry`] with names.

use std::sync::Arc;

use anyhow::bail;

use crate::analysis::{arena_order, dumped_plan};
use crate::cli::args::{LifetimesView, PlanArgs};
use crate::cli::settings::parse_bindings;
use crate::graph::{Graph, Role, Sizes};
use crate::liveness::{View, lifetimes};
use crate::plan::{AS_DUMPED, Buffer, Problem};
use crate::units::{Bytes, Step};
use crate::workload::{
    AllocationTrace, GraphEntry, Lifetime, Lifetimes, Names, ProblemEntry, Program, Recording, Source, Workload,
};

/// Divisor of offsets and sizes where the file is no problem with its own.
const DEFAULT_ALIGNMENT: u64 = 512;

/// The buffers of the chosen graph or problem.
pub(super) fn entry(args: &PlanArgs, workload: Workload) -> anyhow::Result<ProblemEntry> {
    let alignment = args.alignment.unwrap_or(DEFAULT_ALIGNMENT);
    match workload.source {
        Source::Problems(entries) => {
            let names: Vec<String> = entries.iter().map(|entry| entry.name.clone()).collect();
            let chosen = choose(args, &workload.name, &names)?;
            let entry = entries.into_iter().nth(chosen).map(Arc::unwrap_or_clone);
            Ok(with_flags(args, entry.unwrap_or_default()))
        }
        Source::Lifetimes(entries) => {
            let names: Vec<String> = entries.iter().map(|(name, _)| name.clone()).collect();
            let (name, lifetimes) = &entries[choose(args, &workload.name, &names)?];
            let ids: Vec<String> = (0..lifetimes.items.len()).map(|item| item.to_string()).collect();
            Ok(ProblemEntry {
                name: name.clone(),
                ids: ids.iter().map(String::as_str).collect(),
                problem: Problem::from_lifetimes(lifetimes, alignment),
                ..ProblemEntry::default()
            })
        }
        Source::Traces(entries) => {
            let names: Vec<String> = entries.iter().map(|trace| trace.name.clone()).collect();
            let chosen = &entries[choose(args, &workload.name, &names)?];
            Ok(of_trace(chosen, alignment))
        }
        Source::Tapes(entries) => {
            let names: Vec<String> = entries.iter().map(|tape| tape.name.clone()).collect();
            let tape = &entries[choose(args, &workload.name, &names)?];
            let lifetimes = tape.lifetimes();
            let names = lifetimes
                .items
                .iter()
                .map(|item| &*tape.tensors[item.tensor.0 as usize].name);
            Ok(ProblemEntry {
                name: tape.name.clone(),
                ids: names.collect(),
                problem: Problem::from_lifetimes(&lifetimes, alignment),
                ..ProblemEntry::default()
            })
        }
        Source::Recordings(entries) => {
            let names: Vec<String> = entries.iter().map(|recording| recording.name.clone()).collect();
            let chosen = &entries[choose(args, &workload.name, &names)?];
            if chosen.blocks.is_empty() {
                bail!(
                    "{}: the recording {} lists no block, so there is nothing to place; the file holds: {}",
                    workload.name,
                    chosen.name,
                    names.join(", ")
                );
            }
            Ok(of_recording(chosen, alignment))
        }
        Source::Blocks(_) => bail!(
            "{}: a program of blocks is for `reuse`; `plan` takes graphs, tapes, traces and problems",
            workload.name
        ),
        Source::Graphs(entries) => of_graphs(args, &workload.name, &entries, alignment),
    }
}

/// The chosen graph, or the arena that a compiler dumped with it: by its own name, or where its plan is asked for.
fn of_graphs(args: &PlanArgs, file: &str, entries: &[GraphEntry], alignment: u64) -> anyhow::Result<ProblemEntry> {
    let arenas = |entry: &GraphEntry| entry.dumped.iter().flat_map(|dumped| dumped.arenas.clone()).collect();
    let all: Vec<Arc<ProblemEntry>> = entries.iter().flat_map(|entry| -> Vec<_> { arenas(entry) }).collect();
    let names = entries.iter().map(|entry| entry.name.clone());
    let names: Vec<String> = names.chain(all.iter().map(|arena| arena.name.clone())).collect();
    let chosen = choose(args, file, &names)?;
    let Some(graph) = entries.get(chosen) else {
        let arena = all.into_iter().nth(chosen - entries.len()).map(Arc::unwrap_or_clone);
        return Ok(with_flags(args, arena.unwrap_or_default()));
    };
    if args.strategy == AS_DUMPED {
        let mut arenas = arenas(graph).into_iter();
        if let Some(arena) = arenas.find(|arena| arena.recorded.is_some()) {
            return Ok(with_flags(args, Arc::unwrap_or_clone(arena)));
        }
    }
    of_graph(args, graph, alignment)
}

/// The position of the name that was asked for.
fn choose(args: &PlanArgs, file: &str, names: &[String]) -> anyhow::Result<usize> {
    let found = match &args.graph {
        None if !names.is_empty() => Some(0),
        None => bail!("{file}: there is nothing to place"),
        Some(wanted) => names.iter().position(|name| name == wanted),
    };
    let Some(found) = found else {
        bail!(
            "{file}: there is no graph \"{}\"; the file holds: {}",
            args.graph.as_deref().unwrap_or(""),
            names.join(", ")
        );
    };
    Ok(found)
}

/// A problem file as the flags want it. The plan that it carries is judged by what could be planned freely: against
/// its own fixed offsets it could only be found optimal.
fn with_flags(args: &PlanArgs, mut entry: ProblemEntry) -> ProblemEntry {
    let shows_recorded = args.strategy == AS_DUMPED && entry.recorded.is_some();
    for buffer in &mut entry.problem.buffers {
        if args.free_offsets || shows_recorded {
            buffer.offset = None;
        }
        if let Some(alignment) = args.alignment {
            if buffer.alignment <= 1 {
                buffer.alignment = alignment;
            }
            buffer.size = buffer.size.align_up(alignment);
        }
    }
    entry
}

/// What a trace asked for; steps are positions of commands.
fn of_trace(trace: &AllocationTrace, alignment: u64) -> ProblemEntry {
    let lifetimes = trace.lifetimes();
    let names: Vec<String> = lifetimes.iter().map(|one| trace.label(one)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    ProblemEntry {
        name: trace.name.clone(),
        ids: unique(&names),
        problem: Problem::of(lifetimes.iter().map(|one| Buffer {
            lower: one.birth,
            upper: one.end,
            size: one.bytes.align_up(alignment),
            alignment: alignment.max(1),
            offset: None,
        })),
        ..ProblemEntry::default()
    }
}

/// What a recorded run asked for; steps are positions of events.
fn of_recording(recording: &Recording, alignment: u64) -> ProblemEntry {
    let blocks = &recording.blocks;
    let names: Vec<&str> = blocks.iter().map(|block| recording.text(block.name)).collect();
    ProblemEntry {
        name: recording.name.clone(),
        ids: unique(&names),
        problem: Problem::of(blocks.iter().map(|block| Buffer {
            lower: block.birth,
            upper: block.end,
            size: block.bytes.align_up(alignment),
            alignment: alignment.max(1),
            offset: None,
        })),
        ..ProblemEntry::default()
    }
}

fn of_graph(args: &PlanArgs, entry: &GraphEntry, alignment: u64) -> anyhow::Result<ProblemEntry> {
    let graph: &Graph = &entry.graph;
    let bindings = parse_bindings(&args.dim)?;
    let unbound = graph.unbound_symbols(&bindings);
    if !unbound.is_empty() {
        let flags: Vec<String> = unbound.iter().map(|name| format!("--dim {name}=N")).collect();
        bail!(
            "dimension {} has no value; give one with {}",
            unbound.join(", "),
            flags.join(" ")
        );
    }
    let view = match args.lifetimes {
        LifetimesView::Naive => View::Naive,
        LifetimesView::Aliased => View::Aliased,
    };
    let sizes = graph.sizes(&bindings);
    let mut lifetimes = lifetimes(graph, &sizes, view);
    if args.with_inputs {
        add_inputs(graph, &sizes, &mut lifetimes);
    }
    let names: Vec<&str> = lifetimes
        .items
        .iter()
        .map(|item| graph.tensor_name(item.tensor))
        .collect();
    let ids = unique(&names);
    let program = Program {
        lifetimes,
        kept_apart: Vec::new(),
    };
    // Storages come and go as ops run; in the naive view there are none, and inputs come before any op.
    let order = (view == View::Aliased && !args.with_inputs).then(|| arena_order(graph, &program, &[]));
    let lifetimes = program.lifetimes;
    let dumped = entry.dumped.as_ref().and_then(|dumped| dumped.offsets.as_ref());
    let recorded = dumped.map(|plan| dumped_plan(plan, &lifetimes));
    let mut placed = ProblemEntry {
        name: entry.name.clone(),
        ids,
        problem: Problem::from_lifetimes(&lifetimes, alignment),
        order,
        ..ProblemEntry::default()
    };
    match recorded {
        Some(Err(missing)) if args.strategy == AS_DUMPED => bail!(
            "{}: the dump states no offset for {} of {} buffers, such as \"{}\"; another --strategy places them all",
            entry.name,
            missing.len(),
            lifetimes.items.len(),
            missing.first().map_or("", |first| placed.ids.get(*first))
        ),
        Some(Ok(plan)) if args.strategy == AS_DUMPED => {
            // What the dump states, to the byte; its own rule of alignment is in its offsets.
            let alignment = args.alignment.unwrap_or_else(|| common_alignment(&plan.offsets));
            placed.problem = Problem::from_lifetimes(&lifetimes, args.alignment.unwrap_or(1));
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

/// The largest power of two up to the usual alignment that divides every offset.
fn common_alignment(offsets: &[u64]) -> u64 {
    let bits = offsets.iter().fold(DEFAULT_ALIGNMENT, |bits, offset| bits | offset);
    1 << bits.trailing_zeros()
}

/// Adds the graph's inputs as buffers that live all run, in front of what the first op computes.
fn add_inputs(graph: &Graph, sizes: &Sizes, lifetimes: &mut Lifetimes) {
    let inputs = graph.tensors().iter_ids();
    let inputs = inputs.filter(|(_, tensor)| tensor.role == Role::Input && lifetimes.n_steps > 0);
    let added: Vec<Lifetime> = inputs
        .map(|(id, _)| Lifetime {
            birth: Step(0),
            end: Step(lifetimes.n_steps),
            bytes: Bytes(sizes.tensor(id).unwrap_or(0)),
            tensor: id,
        })
        .collect();
    lifetimes.items.extend(added);
    lifetimes.items.sort_by_key(|item| (item.birth, item.tensor));
}

/// Names that can stand for buffers: one that is empty or stands twice gets a number. O(n log n).
fn unique(names: &[&str]) -> Names {
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_unstable_by_key(|position| (names[*position], *position));
    let mut is_taken = vec![false; names.len()];
    for pair in order.windows(2) {
        is_taken[pair[1]] = names[pair[0]] == names[pair[1]];
    }
    let mut unique = Names::default();
    for (position, name) in names.iter().enumerate() {
        if is_taken[position] || name.is_empty() {
            unique.push(&format!("{name}#{position}"));
        } else {
            unique.push(name);
        }
    }
    unique
}

/// The capacity that was asked about: the flag's, else the file's.
pub(super) fn capacity(args: &PlanArgs, entry: &ProblemEntry) -> anyhow::Result<Option<Bytes>> {
    use anyhow::Context as _;
    match &args.capacity {
        Some(text) => Ok(Some(Bytes::parse(text).context("--capacity")?)),
        None => Ok(entry.capacity),
    }
}
