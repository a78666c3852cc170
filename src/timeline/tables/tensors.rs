//! The table of tensors: a row per tensor of a run in the lane.

use super::column::{amount, number, text};
use super::{Column, Target, Value, View};
use crate::facts::dims_text;
use crate::grouping::stated;
use crate::search::{n_held, op_name, shown_name};
use crate::{Attribute, Row, Selected};
use highwater_analysis::OpSource;
use highwater_model::graph::Id as _;
use highwater_model::units::Step;

pub(super) const COLUMNS: [Column; 12] = [
    text("name", "its own name, or its number where it has none", 34),
    amount("bytes", "bytes", "exact bytes, without any rounding"),
    text("op", "the op that computes it", 22),
    text("op type", "the type of that op", 16),
    text("dtype", "the type of its elements", 9),
    text("shape", "its dimensions, with their values in this run", 16),
    text("role", "what it is for", 11),
    text("phase", "the phase of its op", 10),
    number("birth", "birth", "the first step on which it is live"),
    number("freed", "freed", "the step on which it is freed"),
    number(
        "steps",
        "steps",
        "number of live steps; fewer than from birth to end if it is evicted in between",
    ),
    number("run", "run", "the position of its run, from 0"),
];

fn row_of(view: &View<'_>, row: u32) -> Option<Row> {
    view.rows().get(row as usize)
}

pub(super) fn value<'a>(view: &View<'a>, row: u32, column: usize) -> Value<'a> {
    let Some(row) = row_of(view, row) else {
        return Value::Nothing;
    };
    let tensor = row.tensor;
    match column {
        0 => Value::text(shown_name(view.comparison, tensor)),
        1 => Value::Bytes(row.bytes),
        2 => Value::text(op_name(view.comparison, tensor)),
        3 => attribute(view, tensor, Attribute::OpType),
        4 => attribute(view, tensor, Attribute::DType),
        5 => Value::text(shape(view, tensor)),
        6 => attribute(view, tensor, Attribute::Role),
        7 => attribute(view, tensor, Attribute::Phase),
        8 => step(view, row.start),
        9 => end(view, row.end),
        10 => Value::Count(u64::from(n_held(&row, view.rows()))),
        _ => Value::Count(u64::from(tensor.run)),
    }
}

/// The number of a step in the lane.
pub(super) fn step<'a>(view: &View<'_>, step: Step) -> Value<'a> {
    Value::Count(u64::from(view.comparison.shown_step(view.lane, step).0))
}

/// The number of an exclusive end in the lane.
pub(super) fn end<'a>(view: &View<'_>, end: Step) -> Value<'a> {
    Value::Count(u64::from(view.comparison.shown_end(view.lane, end).0))
}

pub(super) fn attribute<'a>(view: &View<'a>, tensor: Selected, attribute: Attribute) -> Value<'a> {
    Value::text(stated(view.comparison, tensor.key(), attribute))
}

/// Dimensions with their values in the tensor's run.
fn shape(view: &View<'_>, tensor: Selected) -> String {
    let shape = match view.comparison.ops() {
        OpSource::Graphs(entries) => {
            let entry = entries.get(tensor.graph.idx());
            let entry = entry.filter(|entry| entry.graph.tensors().get(tensor.tensor).is_some());
            entry.map(|entry| {
                let none = highwater_model::graph::Bindings::new();
                let bindings = view.comparison.bindings_of(view.lane, tensor.run as usize);
                entry.graph.bound_shape_text(tensor.tensor, bindings.unwrap_or(&none))
            })
        }
        OpSource::Program(program) => {
            let variable = program.variable(tensor.graph, tensor.tensor);
            variable.map(|(_, variable)| dims_text(&variable.shape))
        }
        OpSource::Tape(_) | OpSource::None => None,
    };
    shape.unwrap_or_default()
}

/// All columns but the shape are equal in all runs.
pub(super) fn same(view: &View<'_>, row: u32, column: usize) -> u64 {
    const SHAPE: usize = 5;
    match row_of(view, row) {
        Some(found) if column != SHAPE => u64::from(found.tensor.graph.0) << 32 | u64::from(found.tensor.tensor.0),
        _ => u64::from(row),
    }
}

pub(super) fn target(view: &View<'_>, row: u32) -> Target {
    let row = row_of(view, row);
    Target {
        tensor: row.map(|row| row.tensor),
        ..Target::default()
    }
}
