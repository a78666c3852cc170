//! Graphs as Ascend's compiler (GE) dumps them, in both of its text forms, as JSON, and as torchair dumps them.
//!
//! ```text
//! ge_proto_*.txt    text protobuf of ge.proto.ModelDef: graph { name op { ... } attr { ... } } ... attr { ... }, the first
//!                   graph is the main one; or a GraphDef by itself: name, op { ... }
//!   op              name, type, input: "producer:output" (":-1" is a control edge, "" an absent input), stream_id,
//!                   output_desc { dtype shape { dim } layout size attr { origin_shape, ... } } per output,
//!                   output_i, workspace (offsets in bytes), workspace_bytes, subgraph_name, attr { key value { s|i|b|list } }
//! ge_onnx_*.pbtxt   text protobuf of onnx.ModelProto with op_type "ge:Type"; everything else as attributes of the node:
//!                   output_desc_nums, output_desc_dtype:0, output_desc_shape:0 (absent for a scalar), ..._origin_shape:0,
//!                   ..._layout:0, ..._size:0, stream_id, output_i, workspace, workspace_bytes; a sub-graph is a node
//!                   of type "subgraph" with an attribute "graph"
//! dynamo_*.txt      torchair's graph before GE: a GraphDef whose results have their shapes in `_meta` (meta.rs)
//! dynamo_*.pbtxt    the same in TensorFlow's syntax (nodes.rs)
//! *.json            `atc --mode=1` and `--mode=5`: ModelDef as JSON (json.rs)
//! ```
//! Source: `ge_ir.proto` and the ONNX writer of the public GE sources, and dumps in public repositories.
//!
//! In: text, streamed; kernels and weights of many megabytes are passed over. Out: the main graph with its sub-graphs as
//! bodies, and the statements beyond it ([`Dumped`](highwater_model::workload::Dumped)): offsets, streams, options stamped on
//! ops, facts. Shapes are those of the device layout. Invariants: nothing is inferred; what is missing is unknown.

mod build;
mod detect;
mod draft;
mod dumped;
mod json;
mod meta;
mod model;
mod node;
mod nodes;
mod stamps;
#[cfg(test)]
mod tests;
mod uses;

use std::io::Cursor;

use self::detect::{Form, form_of};
use super::text_proto::TextProto;
use super::{ImportError, Input};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_model::workload::Source;

/// One of the forms, with an op in its first 64 KiB.
pub(super) fn detect(input: &Input<'_>) -> bool {
    form_of(input.head()).is_some()
}

pub(super) fn import(
    input: &mut Input<'_>,
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Source, ImportError> {
    let form = form_of(input.head()).unwrap_or(Form::Model);
    let name = input.name().to_owned();
    let len = input.len();
    let model = if form == Form::Json {
        let text = json::as_text(input, progress)?;
        let len = text.len() as u64;
        let mut reader = Cursor::new(text.into_bytes());
        model::read(&mut TextProto::new(&mut reader, len, *progress), diagnostics)?
    } else {
        let mut text = TextProto::new(&mut **input.reader()?, len, *progress);
        match form {
            Form::Onnx => node::read(&mut text, diagnostics)?,
            Form::Nodes => nodes::read(&mut text, *progress, diagnostics)?,
            Form::Model | Form::Json => model::read(&mut text, diagnostics)?,
        }
    };
    let entry = build::entry(model, &name, progress, diagnostics)?;
    Ok(Source::Graphs(vec![entry]))
}
