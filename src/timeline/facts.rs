//! Facts about a tensor or a step, as texts and figures for tooltips and the inspector; computed on demand.

use highwater_analysis::{Comparison, LaneKind, OpSource};
use highwater_model::graph::{Bindings, Graph, Id as _, OpId, Phase, Role, TensorId};
use highwater_model::units::{Bytes, Nanos, Step, counted};
use highwater_model::workload::{
    BlockProgram, CategoryBasis, GraphEntry, GraphIdx, ProblemEntry, RecordedBlock, Recording, Tape, segment_of,
};
use highwater_rewrite::op_of_workspace;
use highwater_sim::DeviceSession;

use super::{MOST_NAMED, Selected, SharedMemory, Timeline};

/// A tensor of a run. Unstated texts are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TensorFacts {
    pub name: String,
    pub graph: String,
    pub op: String,
    pub op_kind: String,
    pub phase: Phase,
    pub dtype: String,
    pub shape: String,
    pub role: Option<Role>,
    /// Exact, unrounded; `None` if unknown or if another tensor owns the memory.
    pub bytes: Option<Bytes>,
    /// The region that holds it outside feature memory, such as `weights of train`.
    pub held_in: String,
    /// From the first step on which it is live to the last, exclusive, on the common axis.
    pub life: Option<(Step, Step)>,
    /// Number of live ranges: several where it is evicted and recomputed, or its memory is lent out meanwhile.
    pub n_pieces: u32,
    /// Number of steps on which it is live.
    pub n_held: u32,
    pub sharing: SharedMemory,
    /// Further facts of a recorded block: stream, address, how it begins and ends.
    pub recorded: Vec<(&'static str, String)>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepFacts {
    pub run: usize,
    pub graph: String,
    pub iteration: u32,
    pub op: String,
    /// Empty where the source has no graph.
    pub op_kind: String,
    pub phase: Phase,
    /// Whether the step recomputes an op. Where lanes recompute different ops here, `op` is the next one executed by
    /// all.
    pub is_recomputed: bool,
    /// Time of a recorded step since the first event.
    pub time: Option<Nanos>,
}

/// The live range is that of the first lane; sharing is left out. O(lifetimes).
pub fn facts(comparison: &Comparison, selected: Selected) -> TensorFacts {
    lane_facts(comparison, 0, selected)
}

/// The live range is that of the lane; sharing is left out. O(lifetimes).
pub fn lane_facts(comparison: &Comparison, lane: usize, selected: Selected) -> TensorFacts {
    let life = |facts: &mut TensorFacts, lane: usize| add_life(facts, comparison.session_of(lane), selected);
    facts_with(comparison, lane, selected, &life)
}

impl Timeline {
    /// With sharing; the live range comes from the rows. O(its live ranges + tensors of its storage).
    pub fn facts(&self, comparison: &Comparison, lane: usize, selected: Selected) -> TensorFacts {
        let life = |facts: &mut TensorFacts, lane: usize| {
            let rows = self.rows_of(lane);
            let Some(row) = rows.find(selected) else { return };
            facts.life = Some((row.start, row.end));
            facts.bytes = Some(row.bytes);
            for (start, end) in rows.pieces(selected) {
                facts.n_pieces += 1;
                facts.n_held = facts.n_held.saturating_add(end.0 - start.0);
            }
        };
        let mut facts = facts_with(comparison, lane, selected, &life);
        if comparison.lane_kind() != LaneKind::Strategies {
            facts.sharing = self.sharing(comparison, selected);
        }
        facts
    }
}

/// `life` adds the live range.
fn facts_with(
    comparison: &Comparison,
    lane: usize,
    selected: Selected,
    life: &dyn Fn(&mut TensorFacts, usize),
) -> TensorFacts {
    let tensor = selected.tensor;
    // A recorded block belongs to its own recording's lane.
    let measured = comparison.measured_lane(selected.graph);
    let own = measured.and_then(|id| comparison.position(id));
    let lane = own.unwrap_or(lane);
    let mut facts = TensorFacts {
        name: format!("tensor {}", tensor.0),
        graph: graph_name(comparison, lane, selected.graph),
        ..TensorFacts::default()
    };
    life(&mut facts, lane);
    match comparison.ops() {
        OpSource::Graphs(entries) => {
            if let Some(entry) = entries.get(selected.graph.idx()) {
                let bindings = comparison.bindings_of(lane, selected.run as usize);
                let bindings = bindings.cloned().unwrap_or_default();
                add_graph_facts(&mut facts, entry, tensor, &bindings);
                if let Some(name) = comparison.workspaces.name(selected.graph, tensor) {
                    name.clone_into(&mut facts.name);
                    facts.role = Some(Role::Workspace);
                    add_producer(&mut facts, entry, op_of_workspace(&entry.graph, tensor));
                }
            }
        }
        OpSource::Tape(tape) => add_tape_facts(&mut facts, tape, tensor),
        OpSource::Program(program) => add_variable_facts(&mut facts, program, selected),
        OpSource::None => {}
    }
    if let Some(entry) = comparison.stated_problem() {
        add_problem_facts(&mut facts, entry, tensor);
    }
    if let Some((trace, request)) = comparison.request(tensor) {
        facts.name = trace.label(&request.lifetime);
        facts.graph = graph_name(comparison, lane, request.graph);
    }
    if let Some((recording, block)) = comparison.recorded_block(selected.graph, tensor) {
        add_recorded_facts(&mut facts, recording, block);
    }
    facts
}

fn add_recorded_facts(facts: &mut TensorFacts, recording: &Recording, block: &RecordedBlock) {
    recording.block_name(block).clone_into(&mut facts.name);
    let rows = &mut facts.recorded;
    if block.held != block.bytes {
        rows.push(("allocated", block.held.exact()));
    }
    if let Some(address) = block.address {
        rows.push(("address", format!("{:#x}", address.get())));
    }
    if let Some(stream) = block.stated_stream() {
        rows.push(("stream", stream.to_string()));
    }
    if let Some(segment) = segment_of(recording, block) {
        let kind = recording.text(segment.kind);
        rows.push(("segment", format!("{:#x}, {kind}", segment.address)));
    }
    if block.basis != CategoryBasis::Nothing {
        let (category, basis) = (block.category.name(), block.basis.text());
        rows.push(("category", format!("{category}, inferred: {basis}")));
    }
    if block.freed_at < block.end {
        let waited = block.end.0 - block.freed_at.0;
        let waited = counted(u64::from(waited), "event");
        rows.push(("free requested", format!("{waited} before the allocator freed it")));
    }
    if block.appears() {
        rows.push(("begins", "the recording does not show how".to_owned()));
    } else if block.is_older {
        rows.push(("begins", "predates recording".to_owned()));
    }
    if !block.is_freed {
        rows.push(("ends", "not freed in trace".to_owned()));
    }
    let time = |step: Step| recording.times.get(step.idx());
    if let Some((first, last)) = time(block.birth).zip(time(block.end)) {
        rows.push(("for", Nanos(last.0 - first.0).to_string()));
    }
}

fn add_variable_facts(facts: &mut TensorFacts, program: &BlockProgram, selected: Selected) {
    let Some((name, variable)) = program.variable(selected.graph, selected.tensor) else {
        return;
    };
    name.clone_into(&mut facts.name);
    (*variable.dtype).clone_into(&mut facts.dtype);
    facts.shape = dims_text(&variable.shape);
}

pub(super) fn dims_text(shape: &[i64]) -> String {
    let dims: Vec<String> = shape.iter().map(i64::to_string).collect();
    dims.join("×")
}

/// The picture shows several blocks for a buffer with gaps or in a group; its range and bytes are those of the problem.
fn add_problem_facts(facts: &mut TensorFacts, entry: &ProblemEntry, tensor: TensorId) {
    let Some(buffer) = entry.problem.buffers.get(tensor.idx()) else {
        return;
    };
    let id = entry.ids.get(tensor.idx());
    facts.name = match id {
        "" => format!("buffer {}", tensor.0),
        id => format!("buffer {id}"),
    };
    facts.bytes = Some(buffer.size);
    facts.life = Some((buffer.lower, buffer.upper));
    let group = entry.problem.groups.iter().find(|group| group.contains(&tensor.0));
    let together = group.map_or(&[][..], Vec::as_slice);
    let others = together.iter().filter(|other| **other != tensor.0);
    facts.sharing = SharedMemory {
        n_tensors: together.len().max(1),
        others: others
            .take(MOST_NAMED)
            .map(|other| format!("buffer {}", entry.ids.get(*other as usize)))
            .collect(),
        read_last: None,
    };
}

fn add_graph_facts(facts: &mut TensorFacts, entry: &GraphEntry, id: TensorId, bindings: &Bindings) {
    let graph = &entry.graph;
    let Some(tensor) = graph.tensors().get(id) else { return };
    if !graph.tensor_name(id).is_empty() {
        graph.tensor_name(id).clone_into(&mut facts.name);
    }
    tensor.dtype.name().clone_into(&mut facts.dtype);
    facts.shape = graph.bound_shape_text(id, bindings);
    facts.role = Some(tensor.role);
    add_producer(facts, entry, tensor.producer);
    add_holder(facts, graph, id, bindings);
}

/// Weights, variables, inputs and outputs have no rows: a region holds them as a whole.
fn add_holder(facts: &mut TensorFacts, graph: &Graph, id: TensorId, bindings: &Bindings) {
    let tensor = &graph.tensors()[id];
    let is_owner = graph.storages()[tensor.storage].root == id;
    if facts.life.is_some() || !is_owner {
        return;
    }
    facts.held_in = match tensor.role {
        role if role.is_variable() => "variables of the session".to_owned(),
        role if role.is_resident() => format!("weights of {}", facts.graph),
        Role::Input => format!("inputs and outputs of {}", facts.graph),
        _ if tensor.is_output => format!("inputs and outputs of {}", facts.graph),
        _ => return,
    };
    facts.bytes = graph.tensor_sizes(bindings)(id).map(Bytes);
}

fn add_producer(facts: &mut TensorFacts, entry: &GraphEntry, op: Option<OpId>) {
    let graph = &entry.graph;
    let Some(id) = op else { return };
    let Some(op) = graph.ops().get(id) else { return };
    graph.op_name(id).clone_into(&mut facts.op);
    graph.op_kind(id).clone_into(&mut facts.op_kind);
    facts.phase = op.phase;
}

/// Empty where the source has none. O(1).
pub fn tensor_name(comparison: &Comparison, tensor: Selected) -> &str {
    comparison.tensor_name(tensor.graph, tensor.tensor)
}

/// `None` beyond the end.
pub fn step_facts(comparison: &Comparison, step: Step) -> Option<StepFacts> {
    let (idx, op) = comparison.axis.locate(step)?;
    let run = &comparison.axis.runs[idx].run;
    let mut facts = StepFacts {
        run: idx,
        graph: graph_name(comparison, 0, run.graph),
        iteration: run.iteration,
        ..StepFacts::default()
    };
    if let Some(entry) = comparison.workload.graphs().get(run.graph.idx()) {
        add_op(&mut facts, entry, op);
    }
    let op_name = comparison.study().op_name(&comparison.workload, run.graph, op);
    facts.op = op_name.into_owned();
    let slots = comparison.axis.runs[idx].slots.as_deref();
    let inside = step.0 - comparison.axis.runs[idx].start.0;
    facts.is_recomputed = slots
        .and_then(|slots| slots.get(inside as usize))
        .is_some_and(|slot| slot.is_recomputed);
    if let [recording] = comparison.workload.recordings()
        && comparison.lane_kind() == LaneKind::Recordings
    {
        let times = &recording.times;
        let time = times.get(op.idx()).zip(times.first());
        facts.time = time.map(|(time, first)| Nanos(time.0 - first.0));
    }
    Some(facts)
}

fn add_op(facts: &mut StepFacts, entry: &GraphEntry, id: OpId) {
    let Some(op) = entry.graph.ops().get(id) else { return };
    entry.graph.op_name(id).clone_into(&mut facts.op);
    entry.graph.op_kind(id).clone_into(&mut facts.op_kind);
    facts.phase = op.phase;
}

impl StepFacts {
    /// The op's type, else its name.
    pub fn op_text(&self) -> &str {
        if self.op_kind.is_empty() {
            &self.op
        } else {
            &self.op_kind
        }
    }

    /// The op's type and name; empty where the source states none.
    pub fn kind_and_name(&self) -> String {
        let texts = [self.op_kind.as_str(), self.op.as_str()];
        let texts: Vec<&str> = texts.into_iter().filter(|text| !text.is_empty()).collect();
        texts.join(" ")
    }
}

fn graph_name(comparison: &Comparison, lane: usize, graph: GraphIdx) -> String {
    let name = comparison.session_of(lane).graph_name(graph);
    name.unwrap_or_default().to_owned()
}

/// The type of the op of a step, else its name; empty where the source states none.
pub fn op_text(comparison: &Comparison, step: Step) -> String {
    let facts = step_facts(comparison, step);
    facts.map_or_else(String::new, |facts| facts.op_text().to_owned())
}

/// From the first step on which the tensor is live to the last.
fn add_life(facts: &mut TensorFacts, session: &DeviceSession, selected: Selected) {
    let Some(run) = session.runs.get(selected.run as usize) else {
        return;
    };
    for item in run.bound.lifetimes().filter(|item| item.tensor == selected.tensor) {
        let (start, end) = (Step(run.start.0 + item.birth.0), Step(run.start.0 + item.end.0));
        let known = facts.life.unwrap_or((start, end));
        facts.life = Some((known.0.min(start), known.1.max(end)));
        facts.bytes = facts.bytes.max(Some(item.bytes));
        facts.n_pieces += 1;
        facts.n_held = facts.n_held.saturating_add(item.n_steps());
    }
}

fn add_tape_facts(facts: &mut TensorFacts, tape: &Tape, tensor: TensorId) {
    let Some(known) = tape.tensors.get(tensor.idx()) else {
        return;
    };
    if !known.name.is_empty() {
        facts.name = known.name.to_string();
    }
    let storage = tape.tensors.get(known.storage as usize);
    facts.bytes = storage.map(|storage| storage.bytes);
    let op = tape.ops.get(known.op as usize);
    facts.op = op.map_or(String::new(), |op| op.name.to_string());
}
