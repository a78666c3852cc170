//! Ranges of input shapes become values of symbolic dimensions.
//!
//! ```text
//! data:[2~8, 3],[4~16]     inputs by name: a [batch, 3], b [batch]     batch: 2~8 and 4~16 -> 4, 5, 6, 8
//! ```
//!
//! Shapes of placeholders go to the inputs in alphabetical order; shapes of the dataset go to the remaining inputs,
//! those fed by `IteratorGetNext` first, in the order of the file; without placeholder shapes the dataset feeds all
//! inputs. Values of the user take precedence. Diagnostics name ranges that do not fit. Source: NPURunConfig option
//! reference.

use indexmap::IndexMap;

use super::request::Request;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::{Dim, DimExpr, Graph, Role, TensorId};
use highwater_model::workload::{SchedulePlan, Workload, samples};
use highwater_options::{DimRange, InputSource, Lowered, ShapeRanges};

/// Part of the names of inputs that a dataset feeds.
const DATASET_INPUT: &str = "IteratorGetNext";

/// The schedule of a request with the values that its options give to symbolic dimensions, and ranges that do not fit.
/// Callers that add values for unbound dimensions must start from this schedule.
pub fn bound_plan(request: &Request) -> (SchedulePlan, Diagnostics) {
    bind(&request.workload, &request.plan, &request.lowered())
}

/// Inputs without a range that are named.
const MAX_NAMES: usize = 4;

/// See [`bound_plan`].
pub(super) fn bind(workload: &Workload, plan: &SchedulePlan, lowered: &Lowered) -> (SchedulePlan, Diagnostics) {
    let mut plan = plan.clone();
    let mut binder = Binder::default();
    let Some(ranges) = &lowered.shape_ranges else {
        return (plan, binder.diagnostics);
    };
    for entry in workload.graphs() {
        binder.graph(&entry.name, &entry.graph, ranges);
    }
    for (symbol, limit) in std::mem::take(&mut binder.limits) {
        let given = plan.dims.get(&symbol).filter(|values| !values.is_empty());
        match (given, limit.range.max) {
            (Some(values), _) => binder.compare(&symbol, &limit, values),
            (None, Some(max)) if limit.range.is_fixed() && !limit.is_empty => {
                plan.dims.insert(symbol, vec![max]);
            }
            (None, Some(max)) if !limit.is_empty => {
                let values = samples(limit.range.min, max, lowered.shape_samples);
                plan.linked_dims.insert(symbol.clone());
                plan.dims.insert(symbol, values);
            }
            _ => {}
        }
    }
    (plan, binder.diagnostics)
}

#[derive(Debug)]
struct Limit {
    range: DimRange,
    /// The place that narrowed it last.
    place: Place,
    is_empty: bool,
}

/// A dimension of an input.
#[derive(Clone, Debug)]
struct Place {
    graph: String,
    input: String,
    dim: usize,
}

impl Place {
    fn text(&self) -> String {
        format!("dimension {} of input \"{}\"", self.dim, self.input)
    }
}

#[derive(Debug, Default)]
struct Binder {
    /// By symbol, in the order of the ranges.
    limits: IndexMap<String, Limit>,
    diagnostics: Diagnostics,
}

impl Binder {
    fn graph(&mut self, name: &str, graph: &Graph, ranges: &ShapeRanges) {
        let inputs: Vec<TensorId> = graph
            .tensors()
            .iter_ids()
            .filter(|(_, tensor)| tensor.role == Role::Input)
            .map(|(id, _)| id)
            .collect();
        let given = ranges.of(InputSource::Data).len() + ranges.of(InputSource::GetNext).len();
        if given > inputs.len() {
            let message = format!(
                "{given} shape ranges for {} inputs of the graph: the last ranges have no effect",
                inputs.len()
            );
            self.diagnostics.warning(message, name);
        }
        let pairs = assigned(graph, &inputs, ranges);
        self.without_range(name, graph, &inputs, &pairs);
        for (input, shape) in pairs {
            self.input(name, graph, input, shape);
        }
    }

    /// The documentation wants an entry for each input, static ones included.
    fn without_range(&mut self, name: &str, graph: &Graph, inputs: &[TensorId], pairs: &[(TensorId, &[DimRange])]) {
        let has_range = |input: &TensorId| pairs.iter().any(|(other, _)| other == input);
        let without: Vec<String> = inputs
            .iter()
            .filter(|input| !has_range(input))
            .map(|input| format!("\"{}\"", graph.tensor_name(*input)))
            .collect();
        let n_more = without.len().saturating_sub(MAX_NAMES);
        let (Some(names), false) = (without.get(..MAX_NAMES.min(without.len())), without.is_empty()) else {
            return;
        };
        let more = match n_more {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        self.diagnostics.warning(
            format!(
                "{} of {} inputs have no shape range, {}{more}: write one for each input, static ones included",
                without.len(),
                inputs.len(),
                names.join(", ")
            ),
            name,
        );
    }

    fn input(&mut self, name: &str, graph: &Graph, input: TensorId, shape: &[DimRange]) {
        let Some(dims) = graph.dims(input) else {
            return;
        };
        if dims.len() != shape.len() {
            let message = format!(
                "input \"{}\" has {} dimensions, its shape range {}: the range has no effect",
                graph.tensor_name(input),
                dims.len(),
                shape.len()
            );
            self.diagnostics.warning(message, name);
            return;
        }
        for (position, (dim, range)) in dims.iter().zip(shape).enumerate() {
            let place = Place {
                graph: name.to_owned(),
                input: graph.tensor_name(input).to_owned(),
                dim: position,
            };
            match dim {
                Dim::Known(value) if !range.contains(*value) => {
                    let message = format!(
                        "{} is {value} in the graph, outside its range {range} (shapes of data go to the inputs in the \
                         alphabetical order of their names)",
                        place.text()
                    );
                    self.diagnostics.warning(message, name);
                }
                Dim::Expr(id) => {
                    if let Some(DimExpr::Symbol(symbol)) = graph.exprs().get(*id)
                        && let Some(symbol) = graph.exprs().symbols().nth(symbol as usize)
                    {
                        self.narrow(symbol, *range, place);
                    }
                }
                _ => {}
            }
        }
    }

    fn narrow(&mut self, symbol: &str, range: DimRange, place: Place) {
        let Some(limit) = self.limits.get_mut(symbol) else {
            let limit = Limit {
                range,
                place,
                is_empty: false,
            };
            self.limits.insert(symbol.to_owned(), limit);
            return;
        };
        if limit.is_empty {
            return;
        }
        let common = DimRange {
            min: limit.range.min.max(range.min),
            max: match (limit.range.max, range.max) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (one, other) => one.or(other),
            },
        };
        if common.max.is_some_and(|max| max < common.min) {
            limit.is_empty = true;
            let message = format!(
                "{} has the range {range}, {} the range {}: no value of the shared symbol \"{symbol}\" is in both",
                place.text(),
                limit.place.text(),
                limit.range
            );
            self.diagnostics.warning(message, &place.graph);
        } else if common != limit.range {
            limit.range = common;
            limit.place = place;
        }
    }

    /// Compares values of the user with the range.
    fn compare(&mut self, symbol: &str, limit: &Limit, values: &[u64]) {
        if limit.is_empty {
            return;
        }
        for value in values.iter().filter(|value| !limit.range.contains(**value)) {
            let message = format!(
                "{} is \"{symbol}\" with the value {value}, outside its range {}",
                limit.place.text(),
                limit.range
            );
            self.diagnostics.warning(message, &limit.place.graph);
        }
    }
}

/// Assigns shapes to inputs.
fn assigned<'a>(graph: &Graph, inputs: &[TensorId], ranges: &'a ShapeRanges) -> Vec<(TensorId, &'a [DimRange])> {
    let comes_from_dataset = |input: &TensorId| graph.tensor_name(*input).starts_with(DATASET_INPUT);
    let data = ranges.of(InputSource::Data);
    let dataset = ranges.of(InputSource::GetNext);
    let mut by_name = inputs.to_vec();
    by_name.sort_by_key(|input| graph.tensor_name(*input));
    if !dataset.is_empty() {
        by_name.sort_by_key(comes_from_dataset);
    }
    let mut pairs: Vec<(TensorId, &[DimRange])> = by_name
        .iter()
        .zip(data)
        .map(|(input, shape)| (*input, shape.as_slice()))
        .collect();
    let covered: Vec<TensorId> = pairs.iter().map(|(input, _)| *input).collect();
    let mut left: Vec<TensorId> = inputs
        .iter()
        .filter(|input| !covered.contains(input))
        .copied()
        .collect();
    if !data.is_empty() {
        left.sort_by_key(|input| !comes_from_dataset(input));
    }
    pairs.extend(
        left.into_iter()
            .zip(dataset)
            .map(|(input, shape)| (input, shape.as_slice())),
    );
    pairs
}
