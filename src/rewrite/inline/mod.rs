//! Inlines calls: the memory of a called function is held while its caller runs.
//!
//! In: an entry with its bodies and the table of uses. Out: the entry without calls that can be inlined; bodies are
//! processed callees first, so nothing recurses. Loops and branches stay ops (their iteration count is unknown), and so
//! do recursive calls, calls whose operands do not match the body's inputs, and calls that would make more than
//! [`MAX_OPS`] ops: [`Inlined`] counts them. Bodies stay listed; large ones that are only called stay as in the file.
//! Residents of bodies of loops and branches become residents of the surrounding graph, once each.
//!
//! Invariants: tensors of the entry's graph keep their ids, so that offsets of a dump stay valid; a weight of a body
//! counts once however often the body is called; without calls the entry is unchanged. O(copied ops, tensors and
//! names).

mod diagnostics;
mod exprs;
mod join;
mod limits;
mod residents;
mod site;
#[cfg(test)]
mod tests;
mod totals;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use self::diagnostics::report;
use self::join::{Call, Flat, JoinError, Kept, ResidentKey, joined};
pub use self::limits::MAX_OPS;
use self::limits::{Budget, Cost};
use self::residents::resident_roots;
use self::site::{is_complete, loses_cost, prefix, read_tensors};
use self::totals::Totals;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::{Graph, Id as _, OpId, TensorId};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::workload::{BodyMap, BodyUse, Dumped, GraphEntry, UseKind};

/// Calls of an entry's own graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inlined {
    /// Inlined calls, without those within called bodies.
    pub calls: u64,
    pub ops_before: u64,
    pub ops: u64,
    /// Calls that stay because the result would be too large; those in graphs that it runs included.
    pub too_large: u64,
    /// Graphs whose weights are not counted, because there are too many.
    pub uncounted: u64,
    /// Recursive calls, which stay; those in graphs that it runs included.
    pub circular: u64,
}

/// # Errors
/// [`Cancelled`].
pub fn with_calls_inlined(
    entries: &mut [GraphEntry],
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<(), Cancelled> {
    for entry in entries {
        report(&inline(entry, MAX_OPS, progress)?, &entry.name, diagnostics);
    }
    Ok(())
}

/// A processed graph, unchanged or joined.
struct Known {
    graph: Arc<Graph>,
    replaced_by: BTreeMap<TensorId, TensorId>,
    uses: Vec<BodyUse>,
    residents: BTreeMap<TensorId, ResidentKey>,
    cost: Cost,
}

impl Known {
    fn unchanged(graph: &Arc<Graph>, uses: Vec<BodyUse>) -> Self {
        Self {
            graph: Arc::clone(graph),
            replaced_by: BTreeMap::new(),
            uses,
            residents: BTreeMap::new(),
            cost: Cost::of(graph),
        }
    }

    /// The replacement of a result of the body.
    fn target(&self, tensor: TensorId) -> TensorId {
        self.replaced_by.get(&tensor).copied().unwrap_or(tensor)
    }
}

/// Inlines calls in the entry's graph and in its bodies; copies at most `max_ops` ops.
///
/// # Errors
/// [`Cancelled`].
pub fn inline(entry: &mut GraphEntry, max_ops: u64, progress: &Progress<'_>) -> Result<Inlined, Cancelled> {
    let mut done = Inlined {
        ops_before: entry.graph.ops().len() as u64,
        ops: entry.graph.ops().len() as u64,
        ..Inlined::default()
    };
    if entry.uses.is_empty() {
        return Ok(done);
    }
    let order = entry.call_order();
    let by_graph = entry.uses_by_graph();
    let totals = Totals::new(entry, &order, &by_graph, max_ops);
    let mut known: BTreeMap<u32, Known> = BTreeMap::new();
    let (mut budget, mut kept) = (Budget::new(max_ops), Budget::kept());
    let is_run = entry.graphs_run();
    let mut callers = Callers::new(entry);
    let mut remaining = RemainingCalls::default();
    for number in order.order {
        progress.check()?;
        let positions = by_graph.get(&number).map_or(&[][..], Vec::as_slice);
        if !totals.needs(number) {
            known.insert(
                number,
                Known::unchanged(shared(entry, number), uses_of(entry, positions)),
            );
            callers.done(entry, positions);
            continue;
        }
        let part = Part {
            entry,
            number,
            positions,
            is_circular: &order.is_circular,
            totals: &totals,
        };
        let is_shown_alone = is_run.get(number as usize) == Some(&false);
        let budget = if is_shown_alone { &mut kept } else { &mut budget };
        let (flat, (calls, too_large, uncounted)) = part.flat(&known, budget, progress)?;
        remaining.too_large.insert(number, too_large);
        remaining.uncounted.insert(number, uncounted);
        if number == 0 {
            done.calls = calls;
        }
        let one = match flat {
            Some(flat) => {
                if number == 0 {
                    done.ops = flat.graph.ops().len() as u64;
                    entry.dumped = entry.dumped.take().map(|dumped| Arc::new(dumped_of(&dumped, &flat)));
                }
                Known {
                    cost: Cost::of(&flat.graph),
                    graph: Arc::new(flat.graph),
                    replaced_by: flat.replaced_by,
                    uses: flat.uses,
                    residents: flat.residents,
                }
            }
            None => Known::unchanged(shared(entry, number), uses_of(entry, positions)),
        };
        known.insert(number, one);
        for body in callers.done(entry, positions) {
            if let Some(one) = known.get_mut(&body).filter(|one| !kept.take(&one.cost, 0)) {
                let positions = by_graph.get(&body).map_or(&[][..], Vec::as_slice);
                *one = Known::unchanged(shared(entry, body), uses_of(entry, positions));
            }
        }
    }
    for (number, positions) in &by_graph {
        let circular = positions.iter().filter(|position| order.is_circular[**position]);
        let calls = circular.filter(|position| {
            let one = &entry.uses[**position];
            one.kind == UseKind::Call && entry.graph_by_number(one.body).is_some()
        });
        remaining.circular.insert(*number, calls.count() as u64);
    }
    take_over(entry, known);
    remaining.sum(entry, &mut done);
    Ok(done)
}

/// Calls that stay, by graph.
#[derive(Default)]
struct RemainingCalls {
    too_large: BTreeMap<u32, u64>,
    uncounted: BTreeMap<u32, u64>,
    circular: BTreeMap<u32, u64>,
}

impl RemainingCalls {
    /// Sums over the graphs that the entry's own graph runs.
    fn sum(&self, entry: &GraphEntry, done: &mut Inlined) {
        let is_run = entry.graphs_run();
        let sum = |counts: &BTreeMap<u32, u64>| {
            let counts = counts
                .iter()
                .filter(|(number, _)| is_run.get(**number as usize) == Some(&true));
            counts.map(|(_, count)| *count).sum()
        };
        done.too_large = sum(&self.too_large);
        done.uncounted = sum(&self.uncounted);
        done.circular = sum(&self.circular);
    }
}

fn shared(entry: &GraphEntry, number: u32) -> &Arc<Graph> {
    match number.checked_sub(1) {
        None => &entry.graph,
        Some(body) => &entry.bodies[body as usize],
    }
}

fn uses_of(entry: &GraphEntry, positions: &[usize]) -> Vec<BodyUse> {
    positions.iter().map(|position| entry.uses[*position].clone()).collect()
}

/// Uses of bodies not yet processed.
struct Callers {
    /// By body: remaining uses.
    open: Vec<usize>,
    /// By body: whether ops use it other than by calling it.
    is_run: Vec<bool>,
}

impl Callers {
    fn new(entry: &GraphEntry) -> Self {
        let n_graphs = entry.bodies.len() + 1;
        let (mut open, mut is_run) = (vec![0; n_graphs], vec![false; n_graphs]);
        for one in &entry.uses {
            let body = one.body as usize;
            if body < n_graphs {
                open[body] += 1;
                is_run[body] |= one.kind != UseKind::Call;
            }
        }
        Self { open, is_run }
    }

    /// Marks a graph as processed; returns bodies that are only called and have no callers left.
    fn done(&mut self, entry: &GraphEntry, positions: &[usize]) -> BTreeSet<u32> {
        let mut last = BTreeSet::new();
        for position in positions {
            let number = entry.uses[*position].body;
            let Some(open) = self.open.get_mut(number as usize) else {
                continue;
            };
            *open = open.saturating_sub(1);
            if *open == 0 && number > 0 && !self.is_run[number as usize] {
                last.insert(number);
            }
        }
        last
    }
}

/// Replaces the graphs of the entry. Uses name tensors of the new bodies.
fn take_over(entry: &mut GraphEntry, known: BTreeMap<u32, Known>) {
    let mut uses = Vec::new();
    for (number, one) in &known {
        for mut body_use in one.uses.iter().cloned() {
            body_use.graph = *number;
            if let (Some(map), Some(body)) = (&mut body_use.map, known.get(&body_use.body)) {
                map.results
                    .iter_mut()
                    .for_each(|(_, of_body)| *of_body = body.target(*of_body));
            }
            uses.push(body_use);
        }
    }
    entry.uses = uses;
    for (number, one) in known {
        match number.checked_sub(1) {
            None => entry.graph = one.graph,
            Some(body) => entry.bodies[body as usize] = one.graph,
        }
    }
}

/// The dump's facts for the joined graph: tensors from bodies have no offsets, ops run where their callers did.
fn dumped_of(dumped: &Dumped, flat: &Flat) -> Dumped {
    let mut dumped = dumped.clone();
    if let Some(plan) = &mut dumped.offsets {
        plan.offsets.resize(flat.graph.tensors().len(), None);
    }
    if !dumped.streams.is_empty() {
        let stream = |op: &OpId| dumped.streams.get(op.idx()).copied().unwrap_or(0);
        dumped.streams = flat.origins.iter().map(stream).collect();
    }
    dumped
}

/// (inlined calls, calls too large, bodies with too many residents).
type Counts = (u64, u64, u64);

/// A graph of an entry before inlining.
struct Part<'a> {
    entry: &'a GraphEntry,
    number: u32,
    positions: &'a [usize],
    is_circular: &'a [bool],
    totals: &'a Totals,
}

impl Part<'_> {
    /// The inlined graph, `None` where unchanged, and counts.
    fn flat(
        &self,
        known: &BTreeMap<u32, Known>,
        budget: &mut Budget,
        progress: &Progress<'_>,
    ) -> Result<(Option<Flat>, Counts), Cancelled> {
        let Some(graph) = self.entry.graph_by_number(self.number) else {
            return Ok((None, (0, 0, 0)));
        };
        let mut per_op: BTreeMap<OpId, u32> = BTreeMap::new();
        for position in self.positions {
            *per_op.entry(self.entry.uses[*position].op).or_default() += 1;
        }
        let is_read = read_tensors(graph);
        let (mut calls, mut rest, mut too_large) = (Vec::new(), Vec::new(), 0);
        for position in self.positions {
            let one = &self.entry.uses[*position];
            let is_alone = per_op.get(&one.op) == Some(&1) && graph.ops().get(one.op).is_some();
            let body = known
                .get(&one.body)
                .filter(|_| !self.is_circular[*position] && is_alone);
            let call = body.and_then(|body| call_of(graph, one, &is_read, body));
            match call {
                Some(call)
                    if self.totals.fits(one.body)
                        && budget.take(&known[&one.body].cost, prefix(graph, call.op, call.body).len()) =>
                {
                    calls.push(call);
                }
                call => {
                    too_large += u64::from(call.is_some());
                    rest.push(one.clone());
                }
            }
        }
        let (kept, uncounted) = self.kept(&rest, known, budget);
        if calls.is_empty() && kept.is_empty() {
            return Ok((None, (0, too_large, uncounted)));
        }
        calls.sort_by_key(|call| call.op);
        let n_calls = calls.len() as u64;
        match joined(graph, &calls, &rest, &kept, progress) {
            Ok(flat) => Ok((Some(flat), (n_calls, too_large, uncounted))),
            Err(JoinError::Cancelled(cancelled)) => Err(cancelled),
            // The ops stay; diagnostics of unsimulated ops mention them.
            Err(JoinError::NoGraph) => Ok((None, (0, too_large, uncounted))),
        }
    }
}

impl Part<'_> {
    /// Residents of bodies whose ops stay, each body once, and the number of bodies with too many. An op without a map
    /// may be a kernel (a fusion), whose constants are code.
    fn kept<'a>(&self, rest: &[BodyUse], known: &'a BTreeMap<u32, Known>, budget: &mut Budget) -> (Vec<Kept<'a>>, u64) {
        let (mut kept, mut uncounted, mut seen) = (Vec::new(), 0, BTreeSet::new());
        let Some(graph) = self.entry.graph_by_number(self.number) else {
            return (kept, uncounted);
        };
        for one in rest {
            let is_run = (one.kind != UseKind::Call || one.map.is_some()) && graph.ops().get(one.op).is_some();
            let Some(body) = known.get(&one.body).filter(|_| is_run && seen.insert(one.body)) else {
                continue;
            };
            let tensors = resident_roots(&body.graph, &body.residents);
            if tensors.is_empty() {
                continue;
            }
            let prefix = prefix(graph, one.op, &body.graph);
            if !budget.take(&Cost::of_tensors(&body.graph, &tensors), prefix.len()) {
                uncounted += 1;
                continue;
            }
            kept.push(Kept {
                number: one.body,
                body: &body.graph,
                residents: &body.residents,
                tensors,
                prefix,
            });
        }
        (kept, uncounted)
    }
}

/// The call that an op makes, if it can be inlined.
fn call_of<'a>(graph: &Graph, one: &BodyUse, is_read: &[bool], body: &'a Known) -> Option<Call<'a>> {
    let map = one.map.as_ref().filter(|_| one.kind == UseKind::Call)?;
    let map = BodyMap {
        inputs: map.inputs.clone(),
        results: map
            .results
            .iter()
            .map(|(result, of)| (*result, body.target(*of)))
            .collect(),
    };
    let is_whole =
        is_complete(graph, one.op, is_read, &body.graph, &map) && !loses_cost(graph, one.op, &body.graph, &map);
    is_whole.then_some(Call {
        op: one.op,
        number: one.body,
        body: &body.graph,
        uses: &body.uses,
        residents: &body.residents,
        map,
    })
}
