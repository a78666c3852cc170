//! The subgraphs that operators run.
//!
//! In: an operator. Out: its uses, the operator numbered by position. `CALL`, `CALL_ONCE` (at the first run) and
//! `STABLEHLO_COMPOSITE` hand their inputs to the subgraph's one by one, and take its outputs as theirs; `IF` has two branches,
//! `WHILE` a condition and a body, `STABLEHLO_CASE` any number of branches. Subgraphs are numbered as in the entry, the main one 0.

use super::flatbuffer::{Flat, List};
use super::model::{self, Model, RawOp};
use crate::ImportError;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::{Id as _, OpId, TensorId};
use highwater_model::workload::{BodyMap, BodyUse, UseKind};

/// The uses of one operator of the subgraph `graph`.
pub(super) fn of_op(
    flat: &mut Flat<'_>,
    model: &Model,
    graph: u64,
    operators: List,
    place: u64,
    raw: &RawOp,
    diagnostics: &mut Diagnostics,
) -> Result<Vec<BodyUse>, ImportError> {
    let kind = model.kinds.get(raw.kind as usize).map_or("", |kind| kind);
    let Some((called, how)) = model::called(flat, kind, operators, place)? else {
        return Ok(Vec::new());
    };
    let mut uses = Vec::with_capacity(called.len());
    for body in called {
        if u64::from(body) >= model.subgraphs.len || body == 0 {
            let what = "an operator runs a subgraph that the model does not have, or the main one; it is left out";
            diagnostics.warning(what, kind);
            continue;
        }
        let map = match how {
            UseKind::Call => {
                let (inputs, outputs) = model::ends(flat, model, body)?;
                map(&inputs, &outputs, raw)
            }
            _ => None,
        };
        uses.push(BodyUse {
            graph: u32::try_from(graph).unwrap_or(u32::MAX),
            op: OpId::from_idx(usize::try_from(place).unwrap_or(usize::MAX)),
            body,
            kind: how,
            map,
        });
    }
    Ok(uses)
}

/// The mapping of a call; `None` where there are more outputs than the subgraph returns.
fn map(inputs: &[i32], outputs: &[i32], raw: &RawOp) -> Option<BodyMap> {
    let tensor = |number: i32| u32::try_from(number).ok().map(TensorId);
    let mut map = BodyMap::default();
    for (input, given) in inputs.iter().zip(&raw.inputs) {
        map.inputs.extend(tensor(*input).zip(tensor(*given)));
    }
    for (position, result) in raw.outputs.iter().enumerate() {
        if let Some(result) = tensor(*result) {
            map.results.push((result, tensor(*outputs.get(position)?)?));
        }
    }
    Some(map)
}
