//! The subject of `remat`: a tape of the file, one of its graphs, or the body of an op.
//!
//! In: a request whose workload was read. Out: a [`Subject`]. Invariant: a body is chosen only by its name.

use std::sync::Arc;

use anyhow::{Context as _, bail};

use crate::choice::{choose, choose_graph};
use crate::lower_bound::lower_bound_of;
use highwater_analysis::{OpSource, Request, bound_plan, graph_tapes, study_of};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::Bindings;
use highwater_model::progress::Progress;
use highwater_model::workload::{Part, PartOf, Source, Tape};
use highwater_options::Lowered;

pub(super) struct Subject {
    pub(super) tape: Tape,
    /// The request with the subject as its whole workload.
    pub(super) alone: Request,
    /// Why the figures are lower bounds, in words; `None` where they are exact.
    pub(super) lower_bound: Option<String>,
    pub(super) diagnostics: Diagnostics,
}

/// The named tape or graph, else the first.
pub(super) fn subject(
    wanted: Option<&str>,
    request: &Request,
    lowered: &Lowered,
    progress: &Progress<'_>,
) -> anyhow::Result<Subject> {
    let workload = &request.workload;
    match study_of(workload).ops(workload) {
        OpSource::Graphs(_) => of_graphs(wanted, request, lowered, progress),
        OpSource::Tape(_) => of_tapes(wanted, request),
        OpSource::Program(_) | OpSource::None => bail!(
            "{}: nothing to run; `remat` takes a graph, a DTR log, or a MegEngine graph or script",
            workload.name
        ),
    }
}

/// The request about a part of its workload.
fn alone(request: &Request, part: &Part) -> Request {
    Request {
        workload: Arc::new(request.workload.of_part(part)),
        ..request.clone()
    }
}

fn of_tapes(wanted: Option<&str>, request: &Request) -> anyhow::Result<Subject> {
    let workload = &request.workload;
    let names: Vec<String> = workload.tapes().iter().map(|tape| tape.name.clone()).collect();
    let choice = choose(&workload.name, &names, wanted, |_| true)?;
    let mut diagnostics = Diagnostics::new();
    choice.report(&mut diagnostics);
    let tape = &workload.tapes()[choice.position];
    let part = Part {
        name: tape.name.clone(),
        of: PartOf::Entry(Source::Tapes(vec![Arc::clone(tape)])),
    };
    Ok(Subject {
        alone: alone(request, &part),
        tape: Tape::clone(tape),
        lower_bound: None,
        diagnostics,
    })
}

fn of_graphs(
    wanted: Option<&str>,
    request: &Request,
    lowered: &Lowered,
    progress: &Progress<'_>,
) -> anyhow::Result<Subject> {
    let workload = &request.workload;
    let parts = workload.parts(&[]);
    let (choice, part) = choose_graph(&workload.name, &parts, wanted)?;
    let request = alone(request, part);
    let tape = graph_tapes(&request, lowered)?.into_iter().next();
    let mut diagnostics = Diagnostics::new();
    choice.report(&mut diagnostics);
    let (plan, _) = bound_plan(&request);
    let first = |(name, values): (&String, &Vec<u64>)| Some((name.clone(), *values.first()?));
    let bindings: Bindings = plan.dims.iter().filter_map(first).collect();
    let entry = request.workload.graphs().first().context("there is such a graph")?;
    let lower_bound = lower_bound_of(entry, &bindings, progress, "part of what is run here", &mut diagnostics)?;
    Ok(Subject {
        tape: tape.context("every graph has a tape")?.tape,
        lower_bound,
        alone: request,
        diagnostics,
    })
}
