//! The statements of a dump beyond its graph: offsets, streams, options, facts.
//!
//! In: drafts and the built main graph. Out: [`Dumped`]. Facts are what the dump states, under its own names, and counts
//! of what it states; nothing is worked out.

use std::collections::{BTreeMap, BTreeSet};

use super::build::Built;
use super::draft::{DraftGraph, DraftModel, DraftOutput};
use highwater_model::diagnostics::{Diagnostics, Severity};
use highwater_model::graph::{Bindings, Graph, Role};
use highwater_model::units::Bytes;
use highwater_model::workload::{Dumped, DumpedOffsets, Names};

const MAKER: &str = "Ascend GE";

/// Most graphs that the facts list one by one.
const MAX_LISTED: usize = 64;

pub(super) fn dumped(model: DraftModel, built: Built, diagnostics: &mut Diagnostics) -> (Graph, Dumped) {
    let Built { graph, offsets, .. } = built;
    let streams = match model.graphs.first() {
        Some(main) => streams(main, &graph, diagnostics),
        None => Vec::new(),
    };
    missing_graphs(&model, diagnostics);
    let mut facts = facts(&model);
    if let Some(main) = model.graphs.first() {
        facts.extend(layouts(main));
    }
    let workspaces = graph.tensors().iter().filter(|tensor| tensor.role == Role::Workspace);
    let workspaces = workspaces.count();
    if workspaces > 0 {
        facts.push(("workspaces".to_owned(), workspaces.to_string()));
    }
    let mut atomic = Names::default();
    for (id, tensor) in graph.tensors().iter_ids() {
        if tensor.is_atomic {
            atomic.push(graph.tensor_name(id));
        }
    }
    let is_planned = offsets.iter().any(Option::is_some);
    facts.extend(in_variables(&graph, &offsets, diagnostics));
    model.stamps.report(diagnostics);
    let facts = distinct(facts);
    let dumped = Dumped {
        offsets: is_planned.then(|| DumpedOffsets {
            offsets,
            sizes: Vec::new(),
            maker: MAKER.to_owned(),
        }),
        options: model.stamps.into_options(),
        streams,
        facts,
        atomic,
        ..Dumped::default()
    };
    (graph, dumped)
}

/// Computed tensors in the memory of variables: that has a separate base, often tens of GiB up, so that
/// its end is no amount of memory. The fact states the end of the others.
fn in_variables(graph: &Graph, offsets: &[Option<u64>], diagnostics: &mut Diagnostics) -> Option<(String, String)> {
    let sizes = graph.sizes(&Bindings::new());
    let (mut first, mut count, mut base, mut end) = (None, 0_u64, u64::MAX, 0_u64);
    for ((id, tensor), offset) in graph.tensors().iter_ids().zip(offsets) {
        let (Some(offset), Role::Activation | Role::Workspace) = (*offset, tensor.role) else {
            continue;
        };
        let root = graph.storages()[tensor.storage].root;
        if graph.tensors()[root].role.is_variable() {
            count += 1;
            base = base.min(offset);
            first.get_or_insert(id);
        } else {
            end = end.max(offset.saturating_add(sizes.tensor(id).unwrap_or(0)));
        }
    }
    let first = first?;
    diagnostics.counted(
        Severity::Info,
        format!(
            "a computed tensor lies in the memory of a variable, whose addresses begin behind a base of their own (here \
             from {} on): where it ends is an address, not an amount of memory",
            Bytes(base)
        ),
        graph.tensor_name(first),
        count,
    );
    Some((
        "end of offsets outside of variables, in bytes".to_owned(),
        end.to_string(),
    ))
}

/// Every key once: equal repetitions are dropped, different ones get a number.
fn distinct(facts: Vec<(String, String)>) -> Vec<(String, String)> {
    let mut numbers: BTreeMap<String, u64> = BTreeMap::new();
    let mut said: BTreeSet<(String, String)> = BTreeSet::new();
    let mut kept = Vec::with_capacity(facts.len());
    for (key, value) in facts {
        if !said.insert((key.clone(), value.clone())) {
            continue;
        }
        let number = numbers.entry(key.clone()).or_default();
        *number += 1;
        let key = if *number == 1 { key } else { format!("{key} ({number})") };
        kept.push((key, value));
    }
    kept
}

/// The stream of each op in execution order; none where all run on one.
fn streams(draft: &DraftGraph, graph: &Graph, diagnostics: &mut Diagnostics) -> Vec<u32> {
    let first = draft.ops.first().map_or(0, |op| op.stream);
    if draft.ops.iter().all(|op| op.stream == first) {
        return Vec::new();
    }
    // Ops of one name keep the order of the file among themselves.
    let mut by_name: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
    for op in draft.ops.iter().rev() {
        by_name.entry(&op.name).or_default().push(op.stream);
    }
    let mut streams = Vec::with_capacity(graph.ops().len());
    for op in graph.ops().ids() {
        let stream = by_name.get_mut(graph.op_name(op)).and_then(Vec::pop).unwrap_or(0);
        streams.push(u32::try_from(stream).unwrap_or_else(|_negative| {
            let what = "an op has no stream yet; it counts to stream 0";
            diagnostics.info(what, graph.op_name(op));
            0
        }));
    }
    streams
}

/// Attributes of the model and of its main graph, and which graphs have unknown shapes.
fn facts(model: &DraftModel) -> Vec<(String, String)> {
    let mut facts = model.facts.clone();
    for (position, graph) in model.graphs.iter().enumerate() {
        if position == 0 {
            facts.extend(graph.facts.iter().cloned());
        }
        if position < MAX_LISTED
            && let Some(is_unknown) = is_unknown(graph)
        {
            let value = if is_unknown { "unknown" } else { "known" };
            facts.push((format!("shapes of {}", graph.name), value.to_owned()));
        }
    }
    let ops = model.graphs.iter().flat_map(|graph| &graph.ops);
    for op in ops.filter(|op| !op.graphs.is_empty()).take(MAX_LISTED) {
        facts.push((format!("graphs that {} runs", op.name), op.graphs.join(", ")));
    }
    let runs = model.graphs.iter().flat_map(|graph| &graph.ops);
    let more = model.graphs.len().saturating_sub(MAX_LISTED)
        + runs
            .filter(|op| !op.graphs.is_empty())
            .count()
            .saturating_sub(MAX_LISTED);
    if more > 0 {
        facts.push((
            "graphs and ops that run them, not told one by one".to_owned(),
            more.to_string(),
        ));
    }
    if model.graphs.len() > 1 {
        facts.push(("sub-graphs".to_owned(), (model.graphs.len() - 1).to_string()));
    }
    facts
}

fn missing_graphs(model: &DraftModel, diagnostics: &mut Diagnostics) {
    let held: BTreeSet<&str> = model.graphs.iter().map(|graph| graph.name.as_str()).collect();
    for op in model.graphs.iter().flat_map(|graph| &graph.ops) {
        for name in op.graphs.iter().filter(|name| !held.contains(name.as_str())) {
            let what = "an op runs a graph that the file does not hold; what it needs is not counted";
            diagnostics.warning(what, &format!("{name} of {}", op.name));
        }
    }
}

/// Whether the ops state that their graph has unknown shapes, or have dynamic dimensions; `None` where none states it.
fn is_unknown(graph: &DraftGraph) -> Option<bool> {
    if graph
        .ops
        .iter()
        .flat_map(|op| &op.outputs)
        .any(|(_, output)| output.is_dynamic())
    {
        return Some(true);
    }
    let mut said = graph.ops.iter().filter_map(|op| op.is_unknown).peekable();
    said.peek()?;
    Some(said.any(|is_unknown| is_unknown))
}

/// Layouts of the outputs on the device, and in the framework.
fn layouts(graph: &DraftGraph) -> Vec<(String, String)> {
    let outputs = || {
        graph
            .ops
            .iter()
            .flat_map(|op| op.outputs.iter().map(move |output| (op, output)))
    };
    let mut facts = Vec::new();
    let on_device = outputs().map(|(_, (_, output))| output.layout.as_str());
    let origin = outputs().map(|(_, (_, output))| output.origin_layout.as_str());
    for (key, counted) in [
        ("device layouts of outputs", counts(on_device)),
        ("origin layouts of outputs", counts(origin)),
    ] {
        if !counted.is_empty() {
            facts.push((key.to_owned(), counted));
        }
    }
    let is_other = |output: &DraftOutput| output.origin_dims.is_some() && output.origin_dims != output.dims;
    let mut others = outputs().filter(|(_, (_, output))| is_other(output)).peekable();
    if let Some((op, (position, output))) = others.peek() {
        let (name, position) = (&op.name, *position);
        let example = format!(
            "such as {name}:{position}: {} {} of {} {}",
            output.layout,
            dims(output.dims.as_ref()),
            output.origin_layout,
            dims(output.origin_dims.as_ref())
        );
        let count = others.count();
        facts.push((
            "outputs with another shape on the device".to_owned(),
            format!("{count}, {example}"),
        ));
    }
    facts
}

/// `NCHW 3, ND 1`: each text that is not empty with its number.
fn counts<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let mut counted: BTreeMap<&str, u64> = BTreeMap::new();
    for text in texts.filter(|text| !text.is_empty()) {
        *counted.entry(text).or_default() += 1;
    }
    let counted: Vec<String> = counted.iter().map(|(text, count)| format!("{text} {count}")).collect();
    counted.join(", ")
}

fn dims(dims: Option<&Vec<i64>>) -> String {
    let dims: Vec<String> = dims.into_iter().flatten().map(ToString::to_string).collect();
    format!("[{}]", dims.join(", "))
}
