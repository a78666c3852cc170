//! Reads `ge.proto.ModelDef` and `GraphDef` as text.

use super::draft::{DraftGraph, DraftModel, DraftOp, DraftOutput, PARENT_INDEX, Value, dtype_of, keep_fact};
use super::stamps::Stamps;
use crate::ImportError;
use crate::text_proto::{Form, Scalar, TextProto};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::workload::NET_OUTPUT;

pub(super) const NAME: usize = 64 << 10;

pub(super) const TEXT: usize = 64 << 10;

pub(super) fn read(text: &mut TextProto<'_>, diagnostics: &mut Diagnostics) -> Result<DraftModel, ImportError> {
    let mut model = DraftModel::default();
    let mut bare = DraftGraph::default();
    let mut name = String::new();
    while let Some(form) = text.field()? {
        match (text.name(), form) {
            ("graph", Form::Message) => {
                text.enter()?;
                let graph = graph(text, &mut model.stamps, diagnostics)?;
                model.graphs.push(graph);
            }
            ("op", Form::Message) => bare.push(op(text, diagnostics)?, &mut model.stamps),
            ("name", _) => name = text.text(NAME)?,
            ("attr", Form::Message) => {
                let (key, value) = attribute(text)?;
                tell_cut(&key, &value, "the model", diagnostics);
                keep_graph_attribute(&mut model.facts, &mut model.stamps, &key, &value, diagnostics);
            }
            _ => {}
        }
    }
    if !bare.ops.is_empty() {
        bare.name = name;
        model.graphs.insert(0, bare);
    }
    Ok(model)
}

/// Reports dropped parts of an attribute; dropped kernels are reported elsewhere.
pub(super) fn tell_cut(key: &str, value: &Value, owner: &str, diagnostics: &mut Diagnostics) {
    if value.is_cut && !key.starts_with("_tbe") && !key.contains("kernel") {
        let what = format!(
            "an attribute has a text of more than {TEXT} bytes or more than {} items; what is beyond is left out",
            Value::LIMIT
        );
        diagnostics.warning(what, &format!("{key} of {owner}"));
    }
}

fn keep_graph_attribute(
    facts: &mut Vec<(String, String)>,
    stamps: &mut Stamps,
    key: &str,
    value: &Value,
    diagnostics: &mut Diagnostics,
) {
    if Stamps::is_set(key) {
        for (key, text) in &value.named {
            stamps.add(key, text, "");
        }
    } else {
        keep_fact(facts, key, value, diagnostics);
    }
}

fn graph(
    text: &mut TextProto<'_>,
    stamps: &mut Stamps,
    diagnostics: &mut Diagnostics,
) -> Result<DraftGraph, ImportError> {
    let mut graph = DraftGraph::default();
    while let Some(form) = text.field()? {
        match (text.name(), form) {
            ("name", _) => graph.name = text.text(NAME)?,
            ("op", Form::Message) => graph.push(op(text, diagnostics)?, stamps),
            ("attr", Form::Message) => {
                let (key, value) = attribute(text)?;
                tell_cut(&key, &value, &graph.name, diagnostics);
                keep_graph_attribute(&mut graph.facts, stamps, &key, &value, diagnostics);
            }
            _ => {}
        }
    }
    Ok(graph)
}

fn op(text: &mut TextProto<'_>, diagnostics: &mut Diagnostics) -> Result<DraftOp, ImportError> {
    text.enter()?;
    let mut op = DraftOp::default();
    let mut n_inputs = 0_i64;
    while let Some(form) = text.field()? {
        match (text.name(), form) {
            ("name", _) => op.name = text.text(NAME)?,
            ("type", _) => op.kind = text.text(NAME)?,
            ("input", _) => op.inputs.push(text.text(NAME)?),
            ("subgraph_name", _) => op.graphs.push(text.text(NAME)?),
            ("stream_id", _) => op.stream = text.int()?,
            ("output_i", _) => op.memory.offsets.push(text.int()?),
            ("workspace", _) => op.memory.workspace_offsets.push(text.int()?),
            ("workspace_bytes", _) => op.memory.workspace_bytes.push(text.int()?),
            ("input_desc", Form::Message) if op.kind == NET_OUTPUT => {
                let position = n_inputs;
                n_inputs += 1;
                if let Some(index) = parent_index(text)? {
                    op.end_indices.insert(position, index);
                }
            }
            ("output_desc", Form::Message) => {
                text.enter()?;
                let output = output(text)?;
                let position = u32::try_from(op.outputs.len()).unwrap_or(u32::MAX);
                op.outputs.push((position, output));
            }
            ("attr", Form::Message) => {
                let place = text.place();
                let (key, value) = attribute(text)?;
                if value.named.is_empty() && value.texts.is_empty() && value.ints.is_empty() && key.starts_with("_tbe")
                {
                    diagnostics.skipped("the content of compiled kernels", &place.text());
                }
                tell_cut(&key, &value, &op.name, diagnostics);
                op.attribute(&key, value);
            }
            _ => {}
        }
    }
    Ok(op)
}

/// Of the description of an input what it is to the caller of its graph.
fn parent_index(text: &mut TextProto<'_>) -> Result<Option<i64>, ImportError> {
    text.enter()?;
    let mut found = None;
    while let Some(form) = text.field()? {
        if (text.name(), form) == ("attr", Form::Message) {
            let (key, value) = attribute(text)?;
            if key == PARENT_INDEX {
                found = value.ints.first().copied();
            }
        }
    }
    Ok(found)
}

/// The fields of an output's descriptor, whose message was entered or is the text.
pub(super) fn output(text: &mut TextProto<'_>) -> Result<DraftOutput, ImportError> {
    let mut output = DraftOutput::default();
    let (mut is_reusing, mut reused) = (false, 0);
    while let Some(form) = text.field()? {
        match (text.name(), form) {
            ("dtype", _) => output.dtype = dtype_of(&text.text(TEXT)?),
            ("shape", Form::Message) => {
                text.enter()?;
                let dims = output.dims.get_or_insert_default();
                while text.field()?.is_some() {
                    if text.name() == "dim" {
                        dims.push(text.int()?);
                    }
                }
            }
            ("layout", _) => output.layout = text.text(TEXT)?,
            ("size", _) => output.size = text.int()?,
            ("reuse_input", _) => is_reusing = text.flag()?,
            ("reuse_input_index", _) => reused = text.int()?,
            ("attr", Form::Message) => {
                let (key, value) = attribute(text)?;
                output.attribute(&key, value);
            }
            _ => {}
        }
    }
    if is_reusing {
        output.input = Some(reused);
    }
    Ok(output)
}

fn attribute(text: &mut TextProto<'_>) -> Result<(String, Value), ImportError> {
    text.enter()?;
    let mut key = String::new();
    let mut kept = Value::default();
    while let Some(form) = text.field()? {
        match (text.name(), form) {
            ("key", _) => key = text.text(NAME)?,
            ("value", Form::Message) => value(text, &mut kept)?,
            _ => {}
        }
    }
    Ok((key, kept))
}

fn value(text: &mut TextProto<'_>, kept: &mut Value) -> Result<(), ImportError> {
    text.enter()?;
    value_fields(text, kept)
}

/// The fields of a value, whose message was entered or is the text.
pub(super) fn value_fields(text: &mut TextProto<'_>, kept: &mut Value) -> Result<(), ImportError> {
    while let Some(form) = text.field()? {
        match (text.name(), form) {
            ("s" | "expression", Form::Scalar) => keep_text(text, kept)?,
            ("i" | "dt", Form::Scalar) => kept.push(text.int()?),
            ("b", Form::Scalar) => kept.push(i64::from(text.flag()?)),
            ("f", Form::Scalar) if !kept.is_list => kept.float = Some(text.float()?),
            ("list", Form::Message) => {
                kept.is_list = true;
                value(text, kept)?;
            }
            ("func", Form::Message) => {
                text.enter()?;
                while let Some(form) = text.field()? {
                    if (text.name(), form) == ("attr", Form::Message) {
                        let (key, value) = attribute(text)?;
                        kept.is_cut |= value.is_cut || kept.named.len() >= Value::LIMIT;
                        if let Some(text) = value.scalar()
                            && kept.named.len() < Value::LIMIT
                        {
                            kept.named.push((key, text));
                        }
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Keeps a text unless it is a kernel or weights.
pub(super) fn keep_text(text: &mut TextProto<'_>, kept: &mut Value) -> Result<(), ImportError> {
    let has_room = kept.texts.len() < Value::LIMIT;
    match text.scalar(TEXT)? {
        Scalar::Text(bytes, length) if length == bytes.len() as u64 && has_room => {
            kept.texts.push(String::from_utf8_lossy(bytes).into_owned());
        }
        _ => kept.is_cut = true,
    }
    Ok(())
}
