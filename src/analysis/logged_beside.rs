//! Logs beside graphs of the same run: which graph of a log is which, what differs tensor by tensor, and the log's offsets as
//! the plan of a graph without one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use indexmap::IndexMap;

use super::logged_join::{Pair, SideTensor, join, of_graph, of_ops};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::{Id as _, TensorId};
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::units::counted;
use highwater_model::workload::{
    Dumped, DumpedOffsets, GraphEntry, LOG_MAKER, LoggedGraph, LoggedPlace, LoggedProcess, ProblemEntry, Recording,
};
use highwater_plan::{PlanError, PlanRequest, default_strategy, plan};

/// Most differences that are told one by one.
const MOST_DIFFERENCES: usize = 20;

/// Names that a sentence lists.
const MOST_NAMES: usize = 3;

/// Most pairs of a graph and a plan that are compared.
const MOST_TRIED: usize = 400;

type Places = IndexMap<String, LoggedPlace>;

/// What a log may be joined with: its tensors, and the offset of each that another plan states.
struct Side<'a> {
    /// A name of the graph in the log.
    name: &'a str,
    /// What reports are about.
    origin: &'a str,
    tensors: Vec<SideTensor<'a>>,
    offsets: Vec<Option<u64>>,
    /// Whose offsets these are.
    whose: &'static str,
}

/// A graph of a log that is one of the sides.
struct Found<'a> {
    side: usize,
    logged: &'a LoggedGraph,
    places: &'a Places,
    pairs: Vec<Pair>,
}

/// Joins the graphs of logs with graphs; a graph without offsets takes those of the log.
///
/// # Errors
/// [`Cancelled`].
pub fn join_logs(
    graphs: &mut [GraphEntry],
    recordings: &[Arc<Recording>],
    diagnostics: &mut Diagnostics,
    progress: &Progress<'_>,
) -> Result<(), Cancelled> {
    for recording in recordings {
        let Some(process) = recording.process.as_deref().filter(|process| !process.plans.is_empty()) else {
            continue;
        };
        let read: Vec<(Vec<SideTensor<'_>>, Vec<TensorId>)> =
            graphs.iter().map(|entry| of_graph(&entry.graph)).collect();
        let (tensors, ids): (Vec<_>, Vec<_>) = read.into_iter().unzip();
        let sides: Vec<Side<'_>> = graphs
            .iter()
            .zip(tensors)
            .zip(&ids)
            .map(|((entry, tensors), ids)| Side {
                name: entry.graph.name(),
                origin: &entry.name,
                tensors,
                offsets: ids.iter().map(|id| stated_offset(entry, *id)).collect(),
                whose: "in the dump",
            })
            .collect();
        let found = found(&sides, process, progress)?;
        if found.is_empty() {
            let text = "no graph of the log joins a graph that is open with it: the names of their ops differ";
            diagnostics.warning(text.to_owned(), &recording.name);
        }
        let mut given = Vec::new();
        for one in &found {
            one.report(&sides[one.side], &recording.name, diagnostics);
            given.push((one.side, one.logged.id, one.offsets(&ids[one.side])));
        }
        for (graph, id, offsets) in given {
            give(&mut graphs[graph], id, offsets);
        }
    }
    Ok(())
}

/// Compares the graphs of logs with op lists: their sizes, and the offsets that the engine's planner gives the lists.
///
/// # Errors
/// [`Cancelled`].
pub fn compare_ops(
    problems: &[Arc<ProblemEntry>],
    recordings: &[Arc<Recording>],
    diagnostics: &mut Diagnostics,
    progress: &Progress<'_>,
) -> Result<(), Cancelled> {
    let mut sides = Vec::new();
    for entry in problems {
        let Some(ops) = &entry.ops else { continue };
        let request = PlanRequest {
            order: entry.order.as_ref(),
            ..PlanRequest::new(&entry.problem)
        };
        let planned = match plan(default_strategy(), &request, progress) {
            Ok(planned) => planned.plan.offsets,
            Err(PlanError::Cancelled(cancelled)) => return Err(cancelled),
            Err(_) => Vec::new(),
        };
        let (tensors, buffers) = of_ops(ops);
        let offset = |buffer: Option<u32>| planned.get(buffer? as usize).copied();
        sides.push(Side {
            name: &entry.name,
            origin: &entry.name,
            tensors,
            offsets: buffers.into_iter().map(offset).collect(),
            whose: "as GE plans this list",
        });
    }
    for recording in recordings.iter().filter(|_| !sides.is_empty()) {
        let Some(process) = recording.process.as_deref().filter(|process| !process.plans.is_empty()) else {
            continue;
        };
        for one in found(&sides, process, progress)? {
            one.report(&sides[one.side], &recording.name, diagnostics);
        }
    }
    Ok(())
}

fn stated_offset(entry: &GraphEntry, tensor: TensorId) -> Option<u64> {
    let offsets = &entry.dumped.as_ref()?.offsets.as_ref()?.offsets;
    offsets.get(tensor.idx()).copied().flatten()
}

/// The sides that graphs of a log are: each once, the best joined first.
fn found<'a>(
    sides: &[Side<'_>],
    process: &'a LoggedProcess,
    progress: &Progress<'_>,
) -> Result<Vec<Found<'a>>, Cancelled> {
    let mut last: BTreeMap<u64, (&LoggedGraph, &Places)> = BTreeMap::new();
    for logged in &process.graphs {
        if let Some(places) = logged.plan.as_ref().and_then(|name| process.plans.get(name)) {
            last.insert(logged.id, (logged, places));
        }
    }
    let mut all = Vec::new();
    let tried = last
        .values()
        .flat_map(|logged| (0..sides.len()).map(move |side| (logged, side)));
    for ((logged, places), side) in tried.take(MOST_TRIED) {
        progress.check()?;
        let pairs = join(&sides[side].tensors, places, &process.op_kinds);
        // Some names, such as those of inputs, occur in many graphs.
        if pairs.len() * 4 >= places.len().min(sides[side].tensors.len()).max(1) {
            all.push(Found {
                side,
                logged,
                places,
                pairs,
            });
        }
    }
    let rank = |one: &Found<'_>| (sides[one.side].name == one.logged.name, one.pairs.len());
    all.sort_by_key(|one| std::cmp::Reverse(rank(one)));
    let (mut is_taken, mut ids) = (vec![false; sides.len()], Vec::new());
    all.retain(|one| {
        let is_free = !is_taken[one.side] && !ids.contains(&one.logged.id);
        if is_free {
            is_taken[one.side] = true;
            ids.push(one.logged.id);
        }
        is_free
    });
    all.sort_by_key(|one| one.side);
    Ok(all)
}

impl Found<'_> {
    /// The log's offsets by tensor id.
    fn offsets(&self, ids: &[TensorId]) -> BTreeMap<TensorId, u64> {
        let place = |pair: &Pair| self.places.get_index(pair.place).map(|(_, place)| place);
        let pairs = self.pairs.iter();
        pairs
            .filter_map(|pair| Some((ids[pair.tensor], place(pair)?.offset?)))
            .collect()
    }

    /// What joins, and what differs.
    fn report(&self, side: &Side<'_>, log: &str, diagnostics: &mut Diagnostics) {
        let mut how: BTreeMap<&str, usize> = BTreeMap::new();
        for pair in &self.pairs {
            *how.entry(pair.by.words()).or_default() += 1;
        }
        let how: Vec<String> = how
            .into_iter()
            .map(|(words, count)| format!("{count} {words}"))
            .collect();
        let (n_pairs, n_places, n_tensors) = (self.pairs.len(), self.places.len(), side.tensors.len());
        let mut text = format!(
            "graph {} of the log of {log} is this graph: {n_pairs} of its {} join {n_pairs} of {} ({})",
            self.logged.id,
            counted(n_places as u64, "placement"),
            counted(n_tensors as u64, "tensor"),
            how.join(", ")
        );
        let places: BTreeSet<usize> = self.pairs.iter().map(|pair| pair.place).collect();
        text += &not_joined(
            "in the log",
            self.places.keys().map(String::as_str),
            n_places - n_pairs,
            &places,
        );
        let names: Vec<String> = side.tensors.iter().map(name_of).collect();
        let tensors: BTreeSet<usize> = self.pairs.iter().map(|pair| pair.tensor).collect();
        text += &not_joined(
            "in the graph",
            names.iter().map(String::as_str),
            n_tensors - n_pairs,
            &tensors,
        );
        diagnostics.info(text, side.origin);
        let (mut differences, mut n_compared) = (Vec::new(), 0);
        for pair in &self.pairs {
            let Some((_, place)) = self.places.get_index(pair.place) else {
                continue;
            };
            let name = &names[pair.tensor];
            let bytes = side.tensors[pair.tensor].bytes.zip(place.unpadded);
            if let Some((own, logged)) = bytes.filter(|(own, logged)| own.div_ceil(32) != logged.div_ceil(32)) {
                differences.push(format!("\"{name}\" has {logged} B in the log and {own} B here"));
            }
            if let Some((own, logged)) = side.offsets[pair.tensor].zip(place.offset) {
                n_compared += 1;
                if own != logged {
                    differences.push(format!(
                        "\"{name}\" is at {logged} in the log and at {own} {}",
                        side.whose
                    ));
                }
            }
        }
        tell(differences, n_compared, side, diagnostics);
    }
}

/// `; not joined in the log: a:0, b:0 and 3 more`.
fn not_joined<'a>(whose: &str, names: impl Iterator<Item = &'a str>, count: usize, joined: &BTreeSet<usize>) -> String {
    if count == 0 {
        return String::new();
    }
    let left = names.enumerate().filter(|(position, _)| !joined.contains(position));
    let shown: Vec<&str> = left.map(|(_, name)| name).take(MOST_NAMES).collect();
    let more = match count.saturating_sub(shown.len()) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("; not joined {whose}: {}{more}", shown.join(", "))
}

fn name_of(tensor: &SideTensor<'_>) -> String {
    let (is_workspace, index) = tensor.slot;
    let slot = if is_workspace { "workspace" } else { "" };
    format!("{}:{slot}{index}", tensor.op)
}

fn tell(differences: Vec<String>, n_compared: usize, side: &Side<'_>, diagnostics: &mut Diagnostics) {
    let count = differences.len();
    if count == 0 && n_compared > 0 {
        let text = format!(
            "all {} are where the log says, {}",
            counted(n_compared as u64, "joined offset"),
            side.whose
        );
        diagnostics.info(text, side.origin);
    }
    for text in differences.into_iter().take(MOST_DIFFERENCES) {
        diagnostics.info(text, side.origin);
    }
    if let Some(more) = count.checked_sub(MOST_DIFFERENCES).filter(|more| *more > 0) {
        diagnostics.info(
            format!("{more} more differences between the log and the graph"),
            side.origin,
        );
    }
}

/// The graph's id in the log, and the log's offsets where the graph has none.
fn give(entry: &mut GraphEntry, id: u64, offsets: BTreeMap<TensorId, u64>) {
    let dumped = entry.dumped.get_or_insert_with(|| Arc::new(Dumped::default()));
    let dumped = Arc::make_mut(dumped);
    dumped.log_graph.get_or_insert(id);
    if dumped.offsets.is_none() {
        let mut given = vec![None; entry.graph.tensors().len()];
        for (tensor, offset) in offsets {
            given[tensor.idx()] = Some(offset);
        }
        dumped.offsets = Some(DumpedOffsets {
            offsets: given,
            sizes: Vec::new(),
            maker: LOG_MAKER.to_owned(),
        });
    }
}
