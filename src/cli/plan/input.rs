//! What `plan` places: the buffers of a problem file, the storages of a graph, the requests of a trace, or bare
//! lifetimes, all as one
//! [`ProblemEntry`] with names.

use std::sync::Arc;

use anyhow::bail;

use crate::analysis::arena_order;
use crate::cli::args::{LifetimesView, PlanArgs};
use crate::cli::settings::parse_bindings;
use crate::graph::Graph;
use crate::liveness::{View, lifetimes};
use crate::plan::{AS_DUMPED, Buffer, Problem};
use crate::units::Bytes;
use crate::workload::{AllocationTrace, Names, ProblemEntry, Program, Source, Workload};

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
        Source::Blocks(_) => bail!(
            "{}: a program of blocks is for `reuse`; `plan` takes graphs, tapes, traces and problems",
            workload.name
        ),
        Source::Graphs(entries) => {
            let names: Vec<String> = entries.iter().map(|entry| entry.name.clone()).collect();
            let chosen = &entries[choose(args, &workload.name, &names)?];
            of_graph(args, &chosen.name, &chosen.graph, alignment)
        }
    }
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

fn of_graph(args: &PlanArgs, name: &str, graph: &Graph, alignment: u64) -> anyhow::Result<ProblemEntry> {
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
    let lifetimes = lifetimes(graph, &graph.sizes(&bindings), view);
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
    // Storages come and go as ops run; in the naive view there are none.
    let order = (view == View::Aliased).then(|| arena_order(graph, &program, &[]));
    let lifetimes = program.lifetimes;
    Ok(ProblemEntry {
        name: name.to_owned(),
        ids,
        problem: Problem::from_lifetimes(&lifetimes, alignment),
        order,
        ..ProblemEntry::default()
    })
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
