//! Reads torchair's dumps in `TensorFlow`'s syntax: `dynamo_optimized_graph_1.pbtxt`.
//!
//! ```text
//! node { name: "MatMul" op: "MatMul" input: "arg0_1:0"      "^a" or "a:-1" is a control edge
//!        attr { key: "index" value { s: "i: 0\n" } }        every value is a text: an attribute of the op,
//!        attr { key: "[i]x1" value { s: "name: \"x1\"\ndtype: DT_FLOAT\n..." } }        the descriptor of an input,
//!        attr { key: "[o]y" value { s: "name: \"y\"\ndtype: DT_FLOAT\nshape {\n  dim: 8\n}\n" } } }     or of an output
//! ```
//! Source: `convert_to_tensorboard` and `convert_to_pbtxt` of torchair (`torch_npu` 2.1 to 2.14). In: the text reader. Out:
//! drafts. The first of the two writes attributes sorted by their keys, so outputs are in the order of their names there.

use std::io::Cursor;

use super::draft::{DraftGraph, DraftModel, DraftOp, Value};
use super::model::{NAME, TEXT, output, tell_cut, value_fields};
use crate::ImportError;
use crate::text_proto::{Form, Scalar, TextProto};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;

/// What the key of a descriptor of an output begins with.
pub(super) const OUTPUT: &str = "[o]";

/// What the key of a descriptor of an input begins with.
pub(super) const INPUT: &str = "[i]";

pub(super) fn read(
    text: &mut TextProto<'_>,
    progress: Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<DraftModel, ImportError> {
    let mut model = DraftModel::default();
    let mut graph = DraftGraph::default();
    while let Some(form) = text.field()? {
        if (text.name(), form) == ("node", Form::Message) {
            text.enter()?;
            graph.push(node(text, progress, diagnostics)?, &mut model.stamps);
        }
    }
    model.graphs.push(graph);
    Ok(model)
}

fn node(
    text: &mut TextProto<'_>,
    progress: Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<DraftOp, ImportError> {
    let mut op = DraftOp::default();
    while let Some(form) = text.field()? {
        match (text.name(), form) {
            ("name", _) => op.name = text.text(NAME)?,
            ("op", _) => op.kind = text.text(NAME)?,
            ("input", _) => {
                let input = text.text(NAME)?;
                op.inputs.push(match input.strip_prefix('^') {
                    Some(from) => format!("{from}:-1"),
                    None => input,
                });
            }
            ("attr", Form::Message) => {
                let place = text.place().text();
                let (key, content) = attribute(text)?;
                let read = describe(&mut op, &key, &content, progress, diagnostics);
                if let Err(error) = read {
                    progress.check()?;
                    let message = format!("an attribute cannot be read: {error}");
                    diagnostics.warning(message, &format!("{key} of {}, {place}", op.name));
                }
            }
            _ => {}
        }
    }
    Ok(op)
}

/// Key and text of an attribute; an empty text where it is none or too long.
fn attribute(text: &mut TextProto<'_>) -> Result<(String, Vec<u8>), ImportError> {
    text.enter()?;
    let (mut key, mut content) = (String::new(), Vec::new());
    while let Some(form) = text.field()? {
        match (text.name(), form) {
            ("key", _) => key = text.text(NAME)?,
            ("value", Form::Message) => {
                text.enter()?;
                while let Some(form) = text.field()? {
                    if (text.name(), form) == ("s", Form::Scalar)
                        && let Scalar::Text(bytes, length) = text.scalar(TEXT)?
                        && length == bytes.len() as u64
                    {
                        content = bytes.to_vec();
                    }
                }
            }
            _ => {}
        }
    }
    Ok((key, content))
}

/// Takes in what an attribute says of its op, in text of protobuf.
fn describe(
    op: &mut DraftOp,
    key: &str,
    content: &[u8],
    progress: Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<(), ImportError> {
    let mut reader = Cursor::new(content);
    let mut text = TextProto::new(&mut reader, content.len() as u64, progress);
    if key.starts_with(OUTPUT) {
        let position = u32::try_from(op.outputs.len()).unwrap_or(u32::MAX);
        let output = output(&mut text);
        // An output that cannot be read keeps its position.
        op.outputs
            .push((position, output.as_ref().ok().cloned().unwrap_or_default()));
        output.map(|_| ())
    } else if key.starts_with(INPUT) {
        Ok(())
    } else {
        let mut value = Value::default();
        value_fields(&mut text, &mut value)?;
        tell_cut(key, &value, &op.name, diagnostics);
        op.attribute(key, value);
        Ok(())
    }
}
