//! A subgraph's tables -> a [`Graph`].
//!
//! In: a [`Model`] and the subgraph's table. Out: a graph whose tensors have the file's order, so that a tensor's id is
//! the number by which the file names it. Roles: inputs of the subgraph, variables, tensors with a buffer (weights);
//! other tensors that no operator computes are kept without memory. Results share memory by `in_place`. Sizes are those that the interpreter plans with
//! unless inputs are resized; where the file states none, it is a symbol: `batch` in front, else the tensor's name and
//! the axis. A loop's output that no op reads and that the body returns unchanged is left out, as the interpreter does.

use std::collections::BTreeSet;

use super::flatbuffer::{Flat, List, Table};
use super::in_place::{self, Operator};
use super::model::{self, Model, RawOp, RawTensor};
use super::uses;
use crate::element_types::TFLITE;
use crate::{ImportError, notices};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::{DType, Dim, Graph, GraphBuilder, Id as _, NewOp, NewTensor, Phase, Role, TensorId};
use highwater_model::workload::{BodyUse, ops_to_steps};

pub(super) struct Built {
    pub(super) graph: Graph,
    pub(super) tensors: u64,
    pub(super) uses: Vec<BodyUse>,
}

struct Lists {
    tensors: List,
    operators: List,
    inputs: Vec<i32>,
    outputs: Vec<i32>,
}

pub(super) fn graph(
    flat: &mut Flat<'_>,
    model: &Model,
    place: u64,
    diagnostics: &mut Diagnostics,
) -> Result<Built, ImportError> {
    let table = flat.nth(model.subgraphs, place, "subgraph")?;
    let lists = lists(flat, table)?;
    let mut builder = GraphBuilder::new(&flat.text(table, 4, "a subgraph's name")?);
    tensors(flat, model, &lists, &mut builder, diagnostics)?;
    let mut uses = ops(flat, model, place, &lists, &mut builder, diagnostics)?;
    for output in &lists.outputs {
        builder.output(known(*output, &lists, "an output of a subgraph")?);
    }
    let (graph, steps) = builder.finish_with_steps()?;
    ops_to_steps(&mut uses, &steps);
    notices::sorted(&graph, diagnostics);
    notices::texts(&graph, diagnostics);
    Ok(Built {
        graph,
        tensors: lists.tensors.len,
        uses,
    })
}

fn lists(flat: &mut Flat<'_>, table: Table) -> Result<Lists, ImportError> {
    Ok(Lists {
        tensors: flat.tables(table, 0, "the list of tensors")?,
        inputs: flat.ints(table, 1, "a subgraph's inputs")?.unwrap_or_default(),
        outputs: flat.ints(table, 2, "a subgraph's outputs")?.unwrap_or_default(),
        operators: flat.tables(table, 3, "the list of operators")?,
    })
}

fn known(number: i32, lists: &Lists, what: &'static str) -> Result<TensorId, ImportError> {
    match u64::try_from(number) {
        Ok(place) if place < lists.tensors.len => Ok(TensorId::from_idx(usize::try_from(place).unwrap_or(usize::MAX))),
        _ => Err(ImportError::at_byte(
            format!("{what} is tensor {number}, but there are {}", lists.tensors.len),
            lists.tensors.at,
        )),
    }
}

fn tensors(
    flat: &mut Flat<'_>,
    model: &Model,
    lists: &Lists,
    builder: &mut GraphBuilder,
    diagnostics: &mut Diagnostics,
) -> Result<(), ImportError> {
    let inputs: BTreeSet<i32> = lists.inputs.iter().copied().collect();
    for input in &lists.inputs {
        known(*input, lists, "an input of a subgraph")?;
    }
    for place in 0..lists.tensors.len {
        let raw = model::tensor(flat, lists.tensors, place)?;
        let is_input = i32::try_from(place).is_ok_and(|number| inputs.contains(&number));
        let role = role(&raw, model, is_input);
        if raw.is_sparse {
            diagnostics.info(
                "a tensor is stored sparse; it counts the bytes of its full shape",
                &raw.name,
            );
        }
        if raw.is_free {
            diagnostics.info(
                "the signature leaves a size free; it counts as the file states it, which is what the interpreter plans \
                 with unless inputs are resized",
                &raw.name,
            );
        }
        let dtype = TFLITE.of_code(raw.dtype.into());
        let shape = dims(&raw, builder, diagnostics);
        check_length(&raw, model, dtype, builder.dims(shape), diagnostics);
        builder.tensor(NewTensor {
            name: &raw.name,
            dtype,
            shape: Some(shape),
            role,
        })?;
    }
    Ok(())
}

fn role(raw: &RawTensor, model: &Model, is_input: bool) -> Role {
    let is_in_file = raw.buffer != 0 && model.buffers.get(raw.buffer as usize).is_some_and(|bytes| *bytes > 0);
    let is_stored = is_in_file || raw.external_buffer != 0;
    if is_input {
        Role::Input
    } else if raw.is_variable {
        Role::Buffer
    } else if is_stored {
        Role::Weight
    } else {
        Role::Activation
    }
}

/// Reports a constant whose shape does not have the bytes that are stored for it. Its shape counts.
fn check_length(raw: &RawTensor, model: &Model, dtype: DType, dims: &[Dim], diagnostics: &mut Diagnostics) {
    let external = model.external_buffers.get(&raw.external_buffer);
    let is_external = raw.external_buffer != 0;
    if is_external && external.is_none() {
        let what = "a tensor names an external buffer that the model does not list";
        diagnostics.warning(what, &raw.name);
    }
    let stored = if is_external {
        external
            .filter(|external| external.is_plain)
            .map(|external| external.bytes)
    } else {
        let in_file = model.buffers.get(raw.buffer as usize).copied();
        in_file.filter(|_| raw.buffer != 0)
    };
    let elements = dims.iter().try_fold(1_u64, |product, dim| match dim {
        Dim::Known(size) => Some(product.saturating_mul(*size)),
        _ => None,
    });
    let (Some(stored), Some(elements)) = (stored.filter(|stored| *stored > 0), elements) else {
        return;
    };
    let has_bytes = !raw.is_sparse && !matches!(dtype, DType::Unknown | DType::Text);
    if has_bytes && dtype.bytes(elements) != stored {
        diagnostics.warning(
            "a constant is stored with another number of bytes than its shape has; its shape counts",
            &raw.name,
        );
    }
}

fn dims(raw: &RawTensor, builder: &mut GraphBuilder, diagnostics: &mut Diagnostics) -> highwater_model::graph::ShapeId {
    let mut dims = Vec::with_capacity(raw.dims.len());
    for (axis, size) in raw.dims.iter().enumerate() {
        dims.push(match u64::try_from(*size) {
            Ok(size) => Dim::Known(size),
            Err(_) if axis == 0 => {
                diagnostics.info(
                    "a size in front is not stated; it is taken as the batch, give it with --dim batch=VALUE",
                    &raw.name,
                );
                Dim::Expr(builder.exprs.symbol("batch"))
            }
            Err(_) => Dim::Expr(builder.exprs.symbol(&format!("{}.{axis}", raw.name))),
        });
    }
    builder.shape(&dims)
}

fn ops(
    flat: &mut Flat<'_>,
    model: &Model,
    graph: u64,
    lists: &Lists,
    builder: &mut GraphBuilder,
    diagnostics: &mut Diagnostics,
) -> Result<Vec<BodyUse>, ImportError> {
    let mut all_uses = Vec::new();
    let mut is_read = vec![false; usize::try_from(lists.tensors.len).unwrap_or(0)];
    let mut raws = Vec::new();
    for place in 0..lists.operators.len {
        let raw = model::op(flat, lists.operators, place)?;
        for number in &raw.inputs {
            if let Some(slot) = usize::try_from(*number).ok().and_then(|number| is_read.get_mut(number)) {
                *slot = true;
            }
        }
        raws.push(raw);
    }
    for number in &lists.outputs {
        is_read[known(*number, lists, "an output of a subgraph")?.idx()] = true;
    }
    for (place, raw) in (0..).zip(&mut raws) {
        let Some(kind) = model.kinds.get(raw.kind as usize) else {
            return Err(ImportError::at_byte(
                format!(
                    "operator {place} has type {}, but there are {}",
                    raw.kind,
                    model.kinds.len()
                ),
                lists.operators.at,
            ));
        };
        if raw.intermediates > 0 {
            diagnostics.info(
                "an operator keeps tensors within itself; the file does not say how much memory they need",
                kind,
            );
        }
        if kind == "WHILE" {
            let passed = model::passed_through(flat, model, lists.operators, place)?;
            let is_left_out = |output: &i32| usize::try_from(*output).is_ok_and(|at| is_read.get(at) == Some(&false));
            for (output, _) in raw.outputs.iter_mut().zip(passed).filter(|(_, is_passed)| *is_passed) {
                if is_left_out(output) {
                    *output = -1;
                }
            }
        }
        op(raw, kind, lists, builder)?;
        let of_op = uses::of_op(flat, model, graph, lists.operators, place, raw, diagnostics)?;
        all_uses.extend(of_op);
    }
    let operators = raws.iter().map(|raw| Operator {
        kind: model.kinds.get(raw.kind as usize).map_or("", |kind| kind),
        inputs: &raw.inputs,
        outputs: &raw.outputs,
    });
    let n_tensors = usize::try_from(lists.tensors.len).unwrap_or(0);
    for (result, owner) in in_place::shared(builder, n_tensors, operators, &[&lists.inputs, &lists.outputs]) {
        builder.alias(result, owner);
    }
    without_source(builder, lists, diagnostics);
    Ok(all_uses)
}

fn op(raw: &RawOp, kind: &str, lists: &Lists, builder: &mut GraphBuilder) -> Result<(), ImportError> {
    // -1 is an optional tensor that is left out.
    let ids = |numbers: &[i32], what: &'static str| -> Result<Vec<TensorId>, ImportError> {
        let present = numbers.iter().filter(|number| **number != -1);
        present.map(|number| known(*number, lists, what)).collect()
    };
    let operands = ids(&raw.inputs, "an input of an operator")?;
    let results = ids(&raw.outputs, "an output of an operator")?;
    builder.op(NewOp {
        kind,
        operands: &operands,
        results: &results,
        phase: Phase::Unknown,
        ..NewOp::default()
    })?;
    Ok(())
}

/// Tensors that nothing computes, stores or feeds hold no known memory.
fn without_source(builder: &GraphBuilder, lists: &Lists, diagnostics: &mut Diagnostics) {
    let count = usize::try_from(lists.tensors.len).unwrap_or(0);
    for place in 0..count {
        let tensor = builder.get(TensorId::from_idx(place));
        if tensor.role == Role::Activation && tensor.producer.is_none() {
            diagnostics.info(
                "a tensor is listed that no operator computes and no buffer stores; it counts no memory",
                &format!("tensor {place}"),
            );
        }
    }
}
