//! Tells the forms of a text apart.
//!
//! Its first op must be in the first bytes, with a name and a type; other text protobufs (TensorFlow's `node`, lists of
//! op definitions, XLA's modules, ONNX models of others) have none. Of torchair's nodes one of the first must have a
//! descriptor among its attributes.

use std::io::Cursor;

use super::{json, nodes};
use crate::ImportError;
use crate::text_proto::{Form as Field, TextProto};
use highwater_model::progress::{Cancel, Progress};

pub(super) const ONNX_PREFIX: &str = "ge:";

const TEXT: usize = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `ge.proto.ModelDef` or `GraphDef`.
    Model,
    /// `onnx.ModelProto`.
    Onnx,
    /// `tensorflow.GraphDef` with descriptors of GE in attributes.
    Nodes,
    /// `ge.proto.ModelDef` or `GraphDef` as JSON.
    Json,
}

/// Nodes of which one has a descriptor: all but ends of the graph have some.
const FIRST_NODES: usize = 16;

/// The form, or `None` where the text is none of them.
pub(super) fn form_of(head: &[u8]) -> Option<Form> {
    if json::detect(head) {
        return Some(Form::Json);
    }
    let first = head.iter().find(|byte| !byte.is_ascii_whitespace())?;
    if !first.is_ascii_lowercase() && *first != b'#' {
        return None;
    }
    let cancel = Cancel::new();
    let mut reader = Cursor::new(head);
    let mut text = TextProto::new(&mut reader, head.len() as u64, Progress::silent(&cancel));
    in_model(&mut text).ok().flatten()
}

fn in_model(text: &mut TextProto<'_>) -> Result<Option<Form>, ImportError> {
    let mut n_nodes = 0;
    while let Some(field) = text.field()? {
        match (text.name(), field) {
            ("node", Field::Message) if n_nodes < FIRST_NODES => {
                n_nodes += 1;
                text.enter()?;
                if has_descriptor(text)? {
                    return Ok(Some(Form::Nodes));
                }
            }
            ("graph", Field::Message) => {
                text.enter()?;
                return in_graph(text);
            }
            ("op", Field::Message) => return in_op(text, "type", ""),
            (
                "name" | "version" | "custom_version" | "input" | "output" | "ir_version" | "producer_name"
                | "producer_version" | "domain" | "model_version" | "doc_string",
                Field::Scalar,
            )
            | ("attr" | "attr_groups" | "opset_import" | "metadata_props", Field::Message) => {}
            _ => return Ok(None),
        }
    }
    Ok(None)
}

fn in_graph(text: &mut TextProto<'_>) -> Result<Option<Form>, ImportError> {
    while let Some(field) = text.field()? {
        match (text.name(), field) {
            ("op", Field::Message) => return in_op(text, "type", ""),
            ("node", Field::Message) => return in_op(text, "op_type", ONNX_PREFIX),
            ("name" | "doc_string", Field::Scalar)
            | ("input" | "output" | "attr" | "attr_groups" | "value_info" | "initializer", _) => {}
            _ => return Ok(None),
        }
    }
    Ok(None)
}

/// Whether an attribute of a node is a descriptor of GE. Reads the node to its end, or to that attribute.
fn has_descriptor(text: &mut TextProto<'_>) -> Result<bool, ImportError> {
    while let Some(field) = text.field()? {
        if (text.name(), field) != ("attr", Field::Message) {
            continue;
        }
        text.enter()?;
        while let Some(field) = text.field()? {
            if (text.name(), field) == ("key", Field::Scalar) {
                let key = text.text(TEXT)?;
                if key.starts_with(nodes::OUTPUT) || key.starts_with(nodes::INPUT) {
                    return Ok(true);
                }
            }
        }
    }
    Ok(false)
}

/// Whether the op has a type, in a field of this name with this prefix.
fn in_op(text: &mut TextProto<'_>, kind: &str, prefix: &str) -> Result<Option<Form>, ImportError> {
    text.enter()?;
    let mut has_name = false;
    while let Some(field) = text.field()? {
        match (text.name(), field) {
            ("name", Field::Scalar) => has_name = true,
            (name, Field::Scalar) if name == kind => {
                let is_one = text.text(TEXT)?.starts_with(prefix);
                let form = if prefix.is_empty() { Form::Model } else { Form::Onnx };
                return Ok((is_one && (has_name || form == Form::Onnx)).then_some(form));
            }
            ("input" | "output", Field::Scalar) | ("attr", _) => {}
            _ => return Ok(None),
        }
    }
    Ok(None)
}
