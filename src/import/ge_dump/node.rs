//! Reads the ONNX form: a node for each op, with everything else as its attributes.
//!
//! In: the text reader. Out: drafts. A list without items is not written, so a type without a shape is a scalar's.

use super::detect::ONNX_PREFIX;
use super::draft::{DraftGraph, DraftModel, DraftOp, PARENT_INDEX, Value, dtype_of};
use super::model::{NAME, keep_text, tell_cut};
use crate::ImportError;
use crate::text_proto::{Form, TextProto};
use highwater_model::diagnostics::Diagnostics;

pub(super) fn read(text: &mut TextProto<'_>, diagnostics: &mut Diagnostics) -> Result<DraftModel, ImportError> {
    let mut reader = Reader {
        model: DraftModel::default(),
        diagnostics,
    };
    while let Some(form) = text.field()? {
        match (text.name(), form) {
            ("graph", Form::Message) => {
                text.enter()?;
                // Sub-graphs within the graph follow it.
                let position = reader.model.graphs.len();
                reader.model.graphs.push(DraftGraph::default());
                reader.model.graphs[position] = reader.graph(text)?;
            }
            ("producer_name" | "producer_version", Form::Scalar) => {
                let key = text.name().to_owned();
                let value = text.text(NAME)?;
                reader.model.facts.push((key, value));
            }
            _ => {}
        }
    }
    Ok(reader.model)
}

struct Reader<'a> {
    model: DraftModel,
    diagnostics: &'a mut Diagnostics,
}

impl Reader<'_> {
    fn graph(&mut self, text: &mut TextProto<'_>) -> Result<DraftGraph, ImportError> {
        let mut graph = DraftGraph::default();
        while let Some(form) = text.field()? {
            match (text.name(), form) {
                ("name", _) => graph.name = text.text(NAME)?,
                ("node", Form::Message) => {
                    text.enter()?;
                    if let Some(op) = self.node(text)? {
                        graph.push(op, &mut self.model.stamps);
                    }
                }
                _ => {}
            }
        }
        Ok(graph)
    }

    /// An op, or `None` where the node is a sub-graph.
    fn node(&mut self, text: &mut TextProto<'_>) -> Result<Option<DraftOp>, ImportError> {
        let mut op = DraftOp::default();
        let mut outputs = Vec::new();
        let mut is_described = false;
        while let Some(form) = text.field()? {
            match (text.name(), form) {
                ("name", _) => op.name = text.text(NAME)?,
                ("op_type", _) => op.kind = text.text(NAME)?,
                ("input", _) => op.inputs.push(text.text(NAME)?),
                ("output", _) => outputs.push(text.text(NAME)?),
                ("attribute", Form::Message) => {
                    text.enter()?;
                    let (key, value) = self.attribute(text)?;
                    is_described |= key == "output_desc_nums";
                    tell_cut(&key, &value, &op.name, self.diagnostics);
                    take_in(&mut op, &key, value);
                }
                _ => {}
            }
        }
        let Some(kind) = op.kind.strip_prefix(ONNX_PREFIX) else {
            if op.kind != "subgraph" {
                let what = format!("a node of type {} (not written by GE)", op.kind);
                self.diagnostics.skipped(&what, &op.name);
            }
            return Ok(None);
        };
        op.kind = String::from(kind);
        if !is_described {
            // The shortest kind of dump only names the outputs that are read.
            for name in outputs {
                let position = name.rsplit_once(':').and_then(|(_, at)| at.parse::<u32>().ok());
                if let Some(position) = position {
                    op.output(position);
                }
            }
        }
        for (_, output) in &mut op.outputs {
            if output.dtype != highwater_model::graph::DType::Unknown {
                output.dims.get_or_insert_default();
            }
        }
        Ok(Some(op))
    }

    fn attribute(&mut self, text: &mut TextProto<'_>) -> Result<(String, Value), ImportError> {
        let mut key = String::new();
        let mut kept = Value::default();
        while let Some(form) = text.field()? {
            match (text.name(), form) {
                ("name", _) => key = text.text(NAME)?,
                ("s", Form::Scalar) => keep_text(text, &mut kept)?,
                ("i", Form::Scalar) => kept.ints.push(text.int()?),
                ("strings", Form::Scalar) => {
                    kept.is_list = true;
                    keep_text(text, &mut kept)?;
                }
                ("ints", Form::Scalar) => {
                    kept.is_list = true;
                    kept.push(text.int()?);
                }
                ("g", Form::Message) => {
                    text.enter()?;
                    let graph = self.graph(text)?;
                    self.model.graphs.push(graph);
                }
                _ => {}
            }
        }
        Ok((key, kept))
    }
}

/// An attribute of a node is a field of the op, a field of one of its outputs, or an attribute of either.
fn take_in(op: &mut DraftOp, key: &str, value: Value) {
    let first = value.ints.first().copied();
    match key {
        "stream_id" => op.stream = first.unwrap_or(0),
        "output_i" => op.memory.offsets = value.ints,
        "workspace" => op.memory.workspace_offsets = value.ints,
        "workspace_bytes" => op.memory.workspace_bytes = value.ints,
        "subgraph_name" => op.graphs = value.texts,
        key if end_of(key).is_some() => op.end_indices.extend(end_of(key).zip(first)),
        key => match key.strip_prefix("output_desc_").and_then(|rest| rest.rsplit_once(':')) {
            Some((field, position)) => {
                if let Ok(position) = position.parse() {
                    let output = op.output(position);
                    let word = value.texts.first().cloned().unwrap_or_default();
                    match field {
                        "dtype" => output.dtype = dtype_of(&word),
                        "shape" => output.dims = Some(value.ints),
                        "layout" => output.layout = word,
                        "origin_shape" => output.origin_dims = Some(value.ints),
                        "origin_layout" => output.origin_layout = word,
                        "size" => output.size = first.unwrap_or(0),
                        field => {
                            if let Some(key) = field.strip_prefix("attr_") {
                                output.attribute(key, value);
                            }
                        }
                    }
                }
            }
            None => op.attribute(key, value),
        },
    }
}

/// The position of the input that an attribute ties to an output of the graph's caller.
fn end_of(key: &str) -> Option<i64> {
    let (key, position) = key.strip_prefix("input_desc_attr_")?.rsplit_once(':')?;
    (key == PARENT_INDEX).then(|| position.parse().ok())?
}
