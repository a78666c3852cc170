//! The table of ops: a row per step of the axis; of a recording a row per measured op.

use super::column::{amount, number, text};
use super::{Column, Target, Value, View};
use crate::{AxisKind, Selected};
use highwater_analysis::{Comparison, LaneKind, OpSource};
use highwater_model::graph::{Id as _, Op, OpId, TensorId};
use highwater_model::units::{Bytes, Nanos, Step};
use highwater_model::workload::{AxisRun, GraphEntry, RecordedOp, Recording, TapeOp};

pub(super) const COLUMNS: [Column; 10] = [
    number("step", "step", "its position on the time axis"),
    text("name", "the op's own name", 30),
    text("type", "the type of the op", 18),
    text("phase", "its part of the training step", 10),
    text("run", "graph, iteration and the values of dimensions", 22),
    Column {
        letters: 16,
        ..number("FLOPs", "flops", "floating point operations, as the source counts them")
    },
    amount("time", "time_ns", "execution time, if the source states it"),
    amount(
        "est. time",
        "estimated_time_ns",
        "an estimate, as the axis of estimated time has it: the time that the source states, else operations and bytes over \
         the device's rates",
    ),
    amount("live", "live_bytes", "bytes that the lane holds on this step"),
    amount(
        "results",
        "result_bytes",
        "bytes of tensors that begin on this step: what it computes",
    ),
];

/// The ops of a tape that take steps, in order; sources of external tensors take none.
pub(super) fn executed(comparison: &Comparison) -> Vec<u32> {
    match comparison.ops() {
        OpSource::Tape(tape) => tape.executed().map(|(number, _)| number).collect(),
        OpSource::Graphs(_) | OpSource::Program(_) | OpSource::None => Vec::new(),
    }
}

/// The recording of the lane, if all lanes are recordings.
fn recording<'a>(view: &View<'a>) -> Option<&'a Recording> {
    let lane = view
        .lane()
        .filter(|_| view.comparison.lane_kind() == LaneKind::Recordings)?;
    view.comparison.recording(lane.id)
}

pub(super) fn count(view: &View<'_>) -> usize {
    recording(view).map_or(view.comparison.axis.n_steps as usize, |recording| recording.ops.len())
}

enum Found<'a> {
    Graph(&'a GraphEntry, OpId, &'a Op),
    Tape(&'a TapeOp),
    Other,
}

fn found<'a>(view: &View<'a>, run: &AxisRun, op: OpId) -> Found<'a> {
    let found = match view.comparison.ops() {
        OpSource::Graphs(entries) => entries.get(run.run.graph.idx()).and_then(|entry| {
            let row = entry.graph.ops().get(op)?;
            Some(Found::Graph(entry, op, row))
        }),
        OpSource::Tape(tape) => {
            let number = view.executed.get(op.idx());
            number.and_then(|number| Some(Found::Tape(tape.ops.get(*number as usize)?)))
        }
        OpSource::Program(_) | OpSource::None => None,
    };
    found.unwrap_or(Found::Other)
}

pub(super) fn value<'a>(view: &View<'a>, row: u32, column: usize) -> Value<'a> {
    if let Some(recording) = recording(view) {
        let op = recording.ops.get(row as usize);
        return op.map_or(Value::Nothing, |op| recorded(view, recording, op, column));
    }
    match column {
        0 => Value::Count(u64::from(row)),
        7 => estimated(view, row),
        8 => live(view, row),
        _ => stated(view, row, column).unwrap_or(Value::Nothing),
    }
}

fn live<'a>(view: &View<'a>, step: u32) -> Value<'a> {
    let lane = view.timeline.lanes.get(view.lane);
    lane.map_or(Value::Nothing, |lane| Value::Bytes(Bytes(lane.live.at(step))))
}

/// Duration of a step on the axis of estimated time.
fn estimated<'a>(view: &View<'a>, step: u32) -> Value<'a> {
    let Some(axis) = view.timeline.axes.get(AxisKind::Estimated) else {
        return Value::Nothing;
    };
    let time = axis.time_at(step.saturating_add(1)).saturating_sub(axis.time_at(step));
    Value::Time(Nanos(time))
}

/// The value that the source states for the op of a step.
fn stated<'a>(view: &View<'a>, step: u32, column: usize) -> Option<Value<'a>> {
    let (position, op) = view.comparison.axis.locate(Step(step))?;
    let run = &view.comparison.axis.runs[position];
    if column == 4 {
        let band = view.timeline.bands.runs.get(position)?;
        return Some(Value::text(&*band.label));
    }
    let found = found(view, run, op);
    Some(match (column, &found) {
        (1, Found::Graph(entry, op, _)) => Value::text(entry.graph.op_name(*op)),
        (1, Found::Tape(op)) => Value::text(&*op.name),
        (1, Found::Other) => match view.comparison.trace() {
            Some(trace) => Value::text(trace.command_text(*trace.commands.get(op.idx())?)),
            None => Value::Nothing,
        },
        (2, Found::Graph(entry, op, _)) => Value::text(entry.graph.op_kind(*op)),
        (3, Found::Graph(_, _, row)) => Value::text(row.phase.name()),
        (5, Found::Graph(_, _, row)) => Value::count(Some(row.flops).filter(|flops| *flops > 0)),
        (6, Found::Graph(_, _, row)) => row.time.map_or(Value::Nothing, Value::Time),
        (6, Found::Tape(op)) => Some(op.time)
            .filter(|time| *time > Nanos(0))
            .map_or(Value::Nothing, Value::Time),
        (9, found) => results(view, step, position, found),
        _ => Value::Nothing,
    })
}

/// Bytes of the op's results that are born on this step.
fn results<'a>(view: &View<'a>, step: u32, run: usize, found: &Found<'_>) -> Value<'a> {
    let mut bytes = 0_u64;
    let mut add = |tensor: TensorId| {
        let selected = Selected {
            run: u32::try_from(run).unwrap_or(u32::MAX),
            graph: view.comparison.axis.runs[run].run.graph,
            tensor,
        };
        let row = view.rows().find(selected);
        if let Some(row) = row.filter(|row| row.tensor == selected && row.start == Step(step)) {
            bytes = bytes.saturating_add(row.bytes.get());
        }
    };
    match found {
        Found::Graph(entry, op, _) => entry.graph.results(*op).iter().copied().for_each(&mut add),
        Found::Tape(op) => op.outputs.iter().copied().map(TensorId).for_each(&mut add),
        Found::Other => return Value::Nothing,
    }
    Value::Bytes(Bytes(bytes))
}

/// The step on which a measured op starts.
fn step_of(recording: &Recording, op: &RecordedOp) -> Option<u32> {
    let step = recording.times.n_before(op.start);
    let step = u32::try_from(step).unwrap_or(u32::MAX);
    (!recording.times.is_empty()).then(|| step.min(recording.n_steps.saturating_sub(1)))
}

fn recorded<'a>(view: &View<'a>, recording: &'a Recording, op: &RecordedOp, column: usize) -> Value<'a> {
    let step = step_of(recording, op);
    match column {
        0 => Value::count(step.map(u64::from)),
        1 => Value::text(recording.text(op.name)),
        2 => Value::text(recording.text(op.kind)),
        4 => Value::text(&*recording.name),
        6 => Value::Time(op.time),
        8 => step.map_or(Value::Nothing, |step| live(view, step)),
        9 => Value::Bytes(op.persistent),
        _ => Value::Nothing,
    }
}

/// Equal ops of one run have equal texts.
pub(super) fn same(view: &View<'_>, row: u32) -> u64 {
    if recording(view).is_some() {
        return u64::from(row);
    }
    let located = view.comparison.axis.locate(Step(row));
    located.map_or(u64::from(row), |(run, op)| {
        let run = u64::try_from(run).unwrap_or(u64::MAX);
        run << 32 | u64::from(op.0)
    })
}

pub(super) fn target(view: &View<'_>, row: u32) -> Target {
    let step = match recording(view) {
        Some(recording) => recording.ops.get(row as usize).and_then(|op| step_of(recording, op)),
        None => Some(row),
    };
    Target {
        step: step.map(Step),
        ..Target::default()
    }
}
