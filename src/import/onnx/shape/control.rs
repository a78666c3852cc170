//! Control flow: If, Loop, Scan, and sequence ops that hold bodies.
//!
//! A result keeps a dimension only where all paths through the bodies agree on it.

use super::{Infer, Op, lists};
use crate::onnx::model::{Attribute, GraphIdx};
use crate::shape::fact::{Elem, Fact, Num, Value};
use crate::shape::sym::axis;
use highwater_model::graph::{DType, Dim};
use highwater_model::progress::Cancelled;

pub(super) fn has_rule(kind: &str) -> bool {
    matches!(kind, "If" | "Loop" | "Scan" | "SequenceMap")
}

impl Infer<'_> {
    pub(super) fn control(
        &mut self,
        op: Op<'_>,
        inputs: &[Option<Fact>],
        unknown: Vec<Fact>,
    ) -> Result<Vec<Fact>, Cancelled> {
        let mut facts = unknown;
        let results = match self.model.names.text(op.node.kind) {
            "If" => self.branches(op, inputs)?,
            "Loop" => self.repeat(op, inputs, facts.len())?,
            "Scan" => self.scan(op, inputs)?,
            _ => self.map(op, inputs)?,
        };
        for (fact, result) in facts.iter_mut().zip(results) {
            *fact = result;
        }
        Ok(facts)
    }

    /// Both branches, merged; one of them where the condition is known.
    fn branches(&mut self, op: Op<'_>, inputs: &[Option<Fact>]) -> Result<Vec<Fact>, Cancelled> {
        let mut results: Vec<Vec<Fact>> = Vec::new();
        for name in ["then_branch", "else_branch"] {
            let Some(body) = named_body(op, name) else {
                return Ok(Vec::new());
            };
            results.push(self.body(op.position, body, Vec::new())?);
        }
        let known = inputs.first().and_then(Option::as_ref).and_then(first_int);
        let (Some(other), Some(then)) = (results.pop(), results.pop()) else {
            return Ok(Vec::new());
        };
        Ok(match known {
            Some(0) => other,
            Some(_) => then,
            None => then.iter().zip(&other).map(|(a, b)| self.merged(a, b)).collect(),
        })
    }

    /// `SequenceMap`: the body on each element, then on what all elements share, whose facts the body keeps.
    fn map(&mut self, op: Op<'_>, inputs: &[Option<Fact>]) -> Result<Vec<Fact>, Cancelled> {
        let Some(body) = named_body(op, "body") else {
            return Ok(Vec::new());
        };
        let mut by_output: Vec<Vec<Fact>> = Vec::new();
        let turns = lists::turns(inputs);
        for seeds in turns.iter().flatten() {
            let results = self.body(op.position, body, seeds.clone())?;
            by_output.resize(results.len().max(by_output.len()), Vec::new());
            for (column, result) in by_output.iter_mut().zip(results) {
                column.push(result);
            }
        }
        let common = self.body(op.position, body, lists::any_turn(inputs))?;
        let n_turns = turns.map(|turns| turns.len());
        if n_turns.is_some_and(|count| count > 0 && by_output.iter().all(|column| column.len() == count)) {
            let columns = by_output.into_iter();
            return Ok(columns.map(|items| lists::of_items(items, &mut self.sym)).collect());
        }
        let first = inputs.first().and_then(Option::as_ref);
        let length = first
            .and_then(|fact| fact.handle.as_ref())
            .map_or(Dim::Unknown, |handle| handle.length);
        Ok(common.iter().map(|result| lists::of_equal(result, length)).collect())
    }

    /// The type and shape on which two facts agree.
    pub(super) fn merged(&mut self, a: &Fact, b: &Fact) -> Fact {
        Fact {
            value: None,
            ..a.merged(b, &mut self.sym)
        }
    }

    /// Loop: the body is inferred until the carried values no longer change, at most three times.
    fn repeat(&mut self, op: Op<'_>, inputs: &[Option<Fact>], n_outputs: usize) -> Result<Vec<Fact>, Cancelled> {
        let Some(body) = named_body(op, "body") else {
            return Ok(Vec::new());
        };
        let n_carried = inputs.len().saturating_sub(2);
        let without_value = |fact: &Option<Fact>| Fact {
            value: None,
            ..fact.clone().unwrap_or(Fact::UNKNOWN)
        };
        let mut carried: Vec<Fact> = inputs.iter().skip(2).map(without_value).collect();
        let condition = inputs.get(1).and_then(Option::as_ref);
        let runs_on = condition.is_none_or(|fact| first_int(fact) == Some(1));
        let mut results = Vec::new();
        for _ in 0..3 {
            let mut seeds = vec![
                self.scalar(DType::Int64, None),
                self.scalar(DType::Bool, runs_on.then_some(1)),
            ];
            seeds.extend(carried.iter().cloned());
            results = self.body(op.position, body, seeds)?;
            if results.len() <= n_carried {
                return Ok(Vec::new());
            }
            let next: Vec<Fact> = carried
                .iter()
                .zip(&results[1..])
                .map(|(a, b)| self.merged(a, b))
                .collect();
            let is_stable = next == carried;
            carried = next;
            if is_stable {
                break;
            }
        }
        let never_stops = runs_on && first_int(&results[0]) == Some(1);
        let trips = match inputs.first().and_then(Option::as_ref) {
            Some(fact) if never_stops => first_num(fact).map_or(Dim::Unknown, Num::dim),
            _ => Dim::Unknown,
        };
        let mut facts = carried;
        for result in results
            .iter()
            .skip(n_carried + 1)
            .take(n_outputs.saturating_sub(n_carried))
        {
            let dims = result.shape.map(|shape| {
                let mut dims = vec![trips];
                dims.extend_from_slice(self.sym.dims(shape));
                dims
            });
            facts.push(self.new_fact(result.dtype, dims));
        }
        Ok(facts)
    }

    fn scalar(&mut self, dtype: DType, value: Option<i64>) -> Fact {
        let mut fact = self.new_fact(dtype, Some(Vec::new()));
        fact.value = value.map(|value| std::rc::Rc::new(Value::scalar(Elem::int(value))));
        fact
    }

    /// Scan: states keep their shape, results are stacked along the scanned axis.
    fn scan(&mut self, op: Op<'_>, inputs: &[Option<Fact>]) -> Result<Vec<Fact>, Cancelled> {
        let Some(body) = named_body(op, "body") else {
            return Ok(Vec::new());
        };
        // Operator set 8 has lengths in front of the inputs and a batch in front of the dimensions.
        let is_batched = self.scope.opset == 8;
        let inputs = if is_batched {
            inputs.get(1..).unwrap_or(&[])
        } else {
            inputs
        };
        let attributes = op.attributes;
        let n_scanned = attributes.int("num_scan_inputs").unwrap_or(0);
        let n_scanned = usize::try_from(n_scanned).unwrap_or(0).min(inputs.len());
        let n_states = inputs.len() - n_scanned;
        let input_axes = attributes.list("scan_input_axes").unwrap_or(&[]);
        let output_axes = attributes.list("scan_output_axes").unwrap_or(&[]);
        let (mut length, mut batch) = (Dim::Unknown, Dim::Unknown);
        let mut seeds = Vec::with_capacity(inputs.len());
        for (position, input) in inputs.iter().enumerate() {
            let fact = input.clone().unwrap_or(Fact::UNKNOWN);
            let mut dims = fact.shape.map(|shape| self.sym.dims(shape).to_vec());
            if let Some(dims) = dims.as_mut().filter(|dims| is_batched && !dims.is_empty()) {
                batch = dims.remove(0);
            }
            if position >= n_states {
                let at = input_axes.get(position - n_states).copied().unwrap_or(0);
                dims = dims.and_then(|mut dims| {
                    let at = axis(at, dims.len())?;
                    length = dims.remove(at);
                    Some(dims)
                });
            }
            seeds.push(self.new_fact(fact.dtype, dims));
        }
        let results = self.body(op.position, body, seeds)?;
        let mut facts = Vec::with_capacity(results.len());
        for (position, result) in results.iter().enumerate() {
            let mut dims = result.shape.map(|shape| self.sym.dims(shape).to_vec());
            if position >= n_states {
                let at = output_axes.get(position - n_states).copied().unwrap_or(0);
                dims = dims.and_then(|mut dims| {
                    let at = axis(at, dims.len() + 1)?;
                    dims.insert(at, length);
                    Some(dims)
                });
            }
            if let Some(dims) = dims.as_mut().filter(|_| is_batched) {
                dims.insert(0, batch);
            }
            facts.push(self.new_fact(result.dtype, dims));
        }
        Ok(facts)
    }
}

fn named_body(op: Op<'_>, name: &str) -> Option<GraphIdx> {
    match op.attributes.get(name)? {
        Attribute::Graphs(graphs) => graphs.first().copied(),
        _ => None,
    }
}

fn first_num(fact: &Fact) -> Option<Num> {
    fact.value.as_ref()?.items.first()?.num()
}

fn first_int(fact: &Fact) -> Option<i64> {
    match first_num(fact)? {
        Num::Int(value) => Some(value),
        Num::Expr(_) => None,
    }
}
