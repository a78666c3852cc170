//! Functions of a saved object as graphs: `SavedModels` may have no signature, or none for some of them.
//!
//! In: a model and the object graph. Out: a graph for each member of the saved object that is a function of the library
//! and that no signature calls: its arguments are placeholders with the stated types and shapes, captured variables are handles from outside.

use super::model::{Attribute, GraphIdx, Model, RawGraph};
use super::parse::{Object, Objects, TensorSpec};
use super::signatures::Runnable;
use crate::names::NameIdx;
use highwater_model::graph::DType;

/// By name. Of a function that was traced several times, the first trace. `is_called`, by graph: whether it runs already.
pub(super) fn functions(model: &mut Model, objects: &Objects, is_called: &[bool]) -> Vec<Runnable> {
    if objects.members.is_empty() {
        return Vec::new();
    }
    let keys = Keys::new(model);
    let mut found: Vec<Runnable> = Vec::new();
    for (name, position) in &objects.members {
        let object = usize::try_from(*position).ok().and_then(|at| objects.all.get(at));
        let Some(Object::Function(traces)) = object else {
            continue;
        };
        let trace = traces.iter().find_map(|trace| Some((trace, idx_of(model, trace)?)));
        if let Some((trace, idx)) = trace.filter(|(_, idx)| !is_called[idx.0]) {
            let arguments = arguments_of(&model.graphs[idx.0], objects, trace);
            found.push(Runnable {
                key: name.clone(),
                graph: keys.alone(&model.graphs[idx.0], &arguments),
            });
        }
    }
    found.sort_by(|a, b| a.key.cmp(&b.key));
    found.dedup_by(|a, b| a.key == b.key);
    found
}

fn idx_of(model: &Model, name: &str) -> Option<GraphIdx> {
    let mut functions = model.functions.iter();
    functions
        .find(|(known, _)| model.names.text(**known) == name)
        .map(|(_, idx)| *idx)
}

/// The specification of each argument; `None` where the file states none for it.
fn arguments_of(graph: &RawGraph, objects: &Objects, trace: &str) -> Vec<Option<TensorSpec>> {
    let n_args = graph.n_args as usize;
    let mut specs = vec![None; n_args];
    let Some(concrete) = objects.functions.get(trace) else {
        return specs;
    };
    let n_own = n_args.saturating_sub(concrete.captures.len());
    // Composite arguments are several tensors, of which the object graph does not list each.
    if concrete.arguments.len() == n_own {
        for (spec, stated) in specs.iter_mut().zip(&concrete.arguments) {
            *spec = Some(stated.clone());
        }
    }
    for (spec, captured) in specs.iter_mut().skip(n_own).zip(&concrete.captures) {
        let captured = usize::try_from(*captured).ok().and_then(|at| objects.all.get(at));
        if let Some(Object::Variable(stated)) = captured {
            *spec = Some(stated.clone());
        }
    }
    specs
}

/// Names of the placeholders' op and attributes.
struct Keys {
    placeholder: NameIdx,
    dtype: NameIdx,
    shape: NameIdx,
    handle_dtypes: NameIdx,
    handle_shapes: NameIdx,
}

impl Keys {
    fn new(model: &mut Model) -> Self {
        let names = &mut model.names;
        Self {
            placeholder: names.intern("Placeholder"),
            dtype: names.intern("dtype"),
            shape: names.intern("shape"),
            handle_dtypes: names.intern("_handle_dtypes"),
            handle_shapes: names.intern("_handle_shapes"),
        }
    }

    /// A function as a main graph.
    fn alone(&self, function: &RawGraph, specs: &[Option<TensorSpec>]) -> RawGraph {
        let end = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        let mut graph = RawGraph {
            n_args: 0,
            name: NameIdx::EMPTY,
            results: Vec::new(),
            nodes: function.nodes.clone(),
            operands: function.operands.clone(),
            controls: function.controls.clone(),
            attributes: function.attributes.clone(),
            dtypes: function.dtypes.clone(),
        };
        for (node, spec) in graph.nodes.iter_mut().zip(specs) {
            let dtype = function.dtypes.get(node.first_value as usize).copied();
            let dtype = dtype.unwrap_or(DType::Unknown);
            node.kind = self.placeholder;
            node.attributes = end(graph.attributes.len());
            graph.attributes.push((self.dtype, Attribute::Type(dtype)));
            match spec {
                Some(spec) if dtype == DType::Handle => {
                    let shapes = vec![spec.shape.clone()];
                    let types = vec![spec.dtype];
                    graph
                        .attributes
                        .push((self.handle_dtypes, Attribute::Types(types.into())));
                    graph
                        .attributes
                        .push((self.handle_shapes, Attribute::Shapes(shapes.into())));
                }
                Some(spec) => graph
                    .attributes
                    .push((self.shape, Attribute::Shape(spec.shape.clone()))),
                None => {}
            }
            node.attributes_end = end(graph.attributes.len());
        }
        graph
    }
}
