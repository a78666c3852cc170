//! `highwater plan`: place the lifetimes of one graph in an arena.

use std::time::Instant;

use anyhow::{Context as _, bail};

use super::args::{Format, LifetimesView, PlanArgs};
use super::settings::parse_bindings;
use super::text::Table;
use super::{Verdict, print, print_json};
use crate::export::WirePlan;
use crate::graph::{Bindings, Graph};
use crate::liveness::{View, lifetimes};
use crate::plan::{PlanRequest, Problem, find, plan, reuse_edges, verify};
use crate::progress::{Cancel, Progress};
use crate::session::{SourceSpec, read_source};
use crate::units::Bytes;
use crate::workload::{Source, Workload};

/// Runs the command.
pub(super) fn run(args: &PlanArgs, progress: &Progress<'_>) -> anyhow::Result<Verdict> {
    let bindings = parse_bindings(&args.dim)?;
    let capacity = args
        .capacity
        .as_deref()
        .map(Bytes::parse)
        .transpose()
        .context("--capacity")?;
    let source = SourceSpec::from_argument(&args.file)?;
    let imported = read_source(&source, progress)?;
    let workload = Workload {
        name: source.title(),
        source: imported.source,
    };
    let (names, problem) = problem(args, &workload, &bindings)?;
    let cancel = deadline(args.deadline)?;
    let limited = Progress::silent(&cancel);
    let progress = if args.deadline.is_some() { &limited } else { progress };
    #[expect(clippy::disallowed_methods, reason = "the command line owns a clock")]
    let start = Instant::now();
    let planned = plan(find(&args.strategy)?, &PlanRequest::new(&problem), progress)
        .context("no plan within the deadline; give more time or another strategy")?;
    let elapsed_ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
    if let Err(defect) = verify(&problem, &planned.plan) {
        bail!("the plan fails its check ({defect}); the sizes are beyond every device");
    }
    let wire = WirePlan {
        strategy: planned.strategy,
        buffers: problem.buffers.len() as u64,
        lower_bound_bytes: planned.lower_bound.get(),
        footprint_bytes: planned.plan.footprint.get(),
        capacity_bytes: capacity.map(Bytes::get),
        fits: capacity.map(|capacity| planned.plan.footprint <= capacity),
        optimal: planned.is_optimal(),
        verified: true,
        nodes: planned.nodes,
        elapsed_ns,
        reuse_edges: 0,
        edges: None,
    };
    let wire = wire.with_edges(&reuse_edges(&problem, &planned.plan), &names, args.edges);
    match args.format {
        Format::Json => print_json(&wire)?,
        Format::Csv => print(&crate::export::plan_csv(&names, &problem, &planned.plan))?,
        Format::Text => print(&text(&wire))?,
        format => return Err(format.refusal()),
    }
    Ok(if wire.fits == Some(false) {
        Verdict::No
    } else {
        Verdict::Done
    })
}

/// The buffers of one graph and their names.
fn problem(args: &PlanArgs, workload: &Workload, bindings: &Bindings) -> anyhow::Result<(Vec<String>, Problem)> {
    if let Source::Lifetimes(entries) = &workload.source {
        let Some((_, lifetimes)) = entries.first() else {
            bail!("{}: there is nothing to place", workload.name);
        };
        let names = (0..lifetimes.items.len())
            .map(|position| position.to_string())
            .collect();
        return Ok((names, Problem::from_lifetimes(lifetimes, args.alignment)));
    }
    let graph = graph(args, workload)?;
    let unbound = graph.unbound_symbols(bindings);
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
    let lifetimes = lifetimes(graph, &graph.sizes(bindings), view);
    let names = lifetimes
        .items
        .iter()
        .map(|item| graph.tensor_name(item.tensor).to_owned())
        .collect();
    Ok((names, Problem::from_lifetimes(&lifetimes, args.alignment)))
}

fn graph<'a>(args: &PlanArgs, workload: &'a Workload) -> anyhow::Result<&'a Graph> {
    let graphs = workload.graphs();
    let found = match &args.graph {
        None => graphs.first(),
        Some(name) => graphs.iter().find(|entry| entry.name == *name),
    };
    let Some(entry) = found else {
        let known: Vec<&str> = graphs.iter().map(|entry| entry.name.as_str()).collect();
        bail!(
            "{}: there is no graph \"{}\"; the file holds: {}",
            workload.name,
            args.graph.as_deref().unwrap_or(""),
            known.join(", ")
        );
    };
    Ok(&entry.graph)
}

/// A flag that is set after `seconds` or by Ctrl-C.
fn deadline(seconds: Option<f64>) -> anyhow::Result<Cancel> {
    let Some(seconds) = seconds else {
        return Ok(Cancel::new());
    };
    let limit = std::time::Duration::try_from_secs_f64(seconds)
        .with_context(|| format!("--deadline {seconds}: write a positive number of seconds"))?;
    // A flag of its own: Ctrl-C ends the process by itself, and a deadline is no Ctrl-C.
    let cancel = Cancel::new();
    if limit.is_zero() {
        cancel.cancel();
        return Ok(cancel);
    }
    let flag = cancel.clone();
    // The thread ends with the process; it holds nothing but the flag.
    std::thread::Builder::new()
        .name("deadline".to_owned())
        .spawn(move || {
            std::thread::sleep(limit);
            flag.cancel();
        })
        .context("the deadline cannot be watched")?;
    Ok(cancel)
}

fn text(plan: &WirePlan) -> String {
    let mut table = Table::new(&["plan", plan.strategy, ">"]);
    let mut size = |what: &str, bytes: u64| {
        table.row(vec![what.to_owned(), Bytes(bytes).to_string(), Bytes(bytes).exact()]);
    };
    size("footprint", plan.footprint_bytes);
    size("lower bound", plan.lower_bound_bytes);
    if let Some(capacity) = plan.capacity_bytes {
        size("capacity", capacity);
    }
    let mut fact = |what: &str, value: String| table.row(vec![what.to_owned(), value, String::new()]);
    fact("buffers", plan.buffers.to_string());
    fact("reuse edges", plan.reuse_edges.to_string());
    fact("proven optimal", yes(plan.optimal));
    fact("verified", yes(plan.verified));
    if let Some(fits) = plan.fits {
        fact("fits", yes(fits));
    }
    let mut out = table.text();
    if let Some(edges) = &plan.edges {
        let mut table = Table::new(&["donor", "heir", ">bytes"]);
        for edge in edges {
            table.row(vec![edge.donor.clone(), edge.heir.clone(), edge.bytes.to_string()]);
        }
        out.push('\n');
        out.push_str(&table.text());
    }
    out
}

fn yes(fact: bool) -> String {
    if fact { "yes" } else { "no" }.to_owned()
}
