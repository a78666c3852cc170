//! Functions of a saved object as graphs: `SavedModels` may have no signature, or none for some of them.
//!
//! In: a model and the object graph. Out: a graph for each member of the saved object that is a function of the library
//! and that no signature calls: its arguments are placeholders with the stated types and shapes, captured variables are handles from outside.

use indexmap::IndexMap;

use super::model::{Attribute, GraphIdx, Model, RawGraph};
use super::parse::{Object, Objects, TensorSpec};
use super::signatures::Runnable;
use crate::names::NameIdx;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::DType;

/// By name. Of a function that was traced several times, the first trace. `is_called`, by graph: whether it runs already.
/// Each function is copied once, however many members name it, so the copies have no more nodes than the library.
pub(super) fn functions(
    model: &mut Model,
    objects: &Objects,
    is_called: &[bool],
    diagnostics: &mut Diagnostics,
) -> Vec<Runnable> {
    if objects.members.is_empty() {
        return Vec::new();
    }
    let keys = Keys::new(model);
    let mut members = members(model, objects);
    members.sort_by_key(|member| member.name);
    members.dedup_by_key(|member| member.name);
    let mut is_taken = is_called.to_vec();
    let mut found = Vec::new();
    for member in members {
        if std::mem::replace(&mut is_taken[member.idx.0], true) {
            if !is_called[member.idx.0] {
                let what =
                    "a member of the saved object is the same function as one listed before it; it is listed once";
                diagnostics.info(what, member.name);
            }
            continue;
        }
        if member.n_traces > 1 {
            let what = "a function of the saved object was traced for several kinds of arguments; only its first trace \
                        can be chosen";
            diagnostics.info(what, member.name);
        }
        let function = &model.graphs[member.idx.0];
        let arguments = arguments_of(function, objects, member.trace);
        found.push(Runnable {
            key: member.name.to_owned(),
            graph: keys.alone(function, &arguments),
        });
    }
    found
}

/// A member of the saved object that is a function of the library.
struct Member<'a> {
    name: &'a str,
    trace: &'a str,
    idx: GraphIdx,
    n_traces: usize,
}

fn members<'a>(model: &Model, objects: &'a Objects) -> Vec<Member<'a>> {
    let known = model.functions.iter();
    let known: IndexMap<&str, GraphIdx> = known.map(|(name, idx)| (model.names.text(*name), *idx)).collect();
    // Many members may be one object with many traces, so that each object is looked through once.
    let mut firsts: IndexMap<usize, Option<(&str, GraphIdx, usize)>> = IndexMap::new();
    let mut found = Vec::new();
    for (name, position) in &objects.members {
        let Ok(at) = usize::try_from(*position) else { continue };
        let Some(Object::Function(traces)) = objects.all.get(at) else {
            continue;
        };
        let first = firsts.entry(at).or_insert_with(|| {
            let mut of_library = traces
                .iter()
                .filter_map(|trace| Some((trace.as_str(), *known.get(trace.as_str())?)));
            let (trace, idx) = of_library.next()?;
            Some((trace, idx, 1 + of_library.count()))
        });
        found.extend(first.map(|(trace, idx, n_traces)| Member {
            name,
            trace,
            idx,
            n_traces,
        }));
    }
    found
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
