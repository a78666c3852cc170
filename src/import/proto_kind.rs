//! What a protobuf file is, told by the shape of its messages: numbers of fields, their layouts, and what they hold.
//!
//! Protobuf has no signature, and writers may put fields in any order. So a file is compared with the messages of every
//! known kind, as far as its first bytes go: a field that a message cannot have excludes the kind; names and filled
//! messages in the right places are signs of it. The kind with the most signs counts. Damage behind the first signs
//! excludes nothing, so that the error of a damaged file can name a place. Sources: the public protos of ONNX,
//! TensorFlow, XLA and TSL (`onnx.proto`, `graph.proto`, `meta_graph.proto`, `saved_model.proto`, `step_stats.proto`,
//! `hlo.proto`, `xplane.proto`), and `mind_ir.proto` of `MindSpore`.

use super::input::HEAD_BYTES;
use super::proto_head::{HeadField, fields};

mod messages;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProtoKind {
    Onnx,
    /// `TensorProto` of ONNX, or a sequence of them; not read.
    OnnxTensor,
    /// `GraphDef`.
    TfGraph,
    /// `MetaGraphDef`.
    TfMetaGraph,
    /// `SavedModel`.
    TfSavedModel,
    /// `RunMetadata`.
    TfRun,
    /// `HloProto`.
    Hlo,
    /// `HloModuleProto` alone.
    HloModule,
    /// `XSpace`, a profile; not read.
    XSpace,
    /// `mind_ir.ModelProto` of `MindSpore`.
    MindIr,
    /// `NetParameter` of Caffe; not read.
    Caffe,
}

/// What a field holds.
enum Value {
    /// A varint.
    Number,
    /// A varint that only this kind has here. A sign.
    Stated,
    /// A version: a varint from 1 to 64. A sign.
    Version,
    /// Letters without control characters; may be empty.
    Text,
    /// A text; a sign where it is not empty.
    Title,
    /// A text that is not empty, of letters, digits and these. A sign.
    Name(&'static [u8]),
    /// The name of a device, such as `/job:localhost/...`. A sign.
    Device,
    /// A message of this shape. Its signs count.
    Message(&'static Message),
    /// Bytes that are not looked at.
    Bytes,
    /// Anything.
    Any,
}

/// The shape of a message.
struct Message {
    fields: &'static [(u64, Value)],
    /// One field of each group has to be there, where the message is not cut off.
    needs: &'static [&'static [u64]],
    /// Whether fields with numbers behind the last known one are fitting: messages that grow with every release.
    is_open: bool,
}

/// In the order in which equal numbers of signs decide.
const KINDS: &[(ProtoKind, &Message)] = &[
    (ProtoKind::TfGraph, &messages::GRAPH),
    (ProtoKind::TfSavedModel, &messages::SAVED_MODEL),
    (ProtoKind::TfMetaGraph, &messages::META_GRAPH),
    (ProtoKind::TfRun, &messages::RUN),
    (ProtoKind::Hlo, &messages::HLO),
    (ProtoKind::HloModule, &messages::HLO_MODULE),
    (ProtoKind::Onnx, &messages::ONNX),
    (ProtoKind::OnnxTensor, &messages::ONNX_TENSOR),
    (ProtoKind::OnnxTensor, &messages::ONNX_SEQUENCE),
    (ProtoKind::MindIr, &messages::MIND_IR),
    (ProtoKind::XSpace, &messages::X_SPACE),
    (ProtoKind::Caffe, &messages::CAFFE),
];

/// Signs from which on damage excludes nothing.
const ENOUGH: u32 = 2;

/// The kind of a file with this head; `None` where it is none of them.
pub(super) fn kind(head: &[u8]) -> Option<ProtoKind> {
    best(head, KINDS.iter())
}

/// The most fitting one of some kinds for a file that was opened as one of them, however few signs it has.
pub(super) fn kind_among(head: &[u8], wanted: &[ProtoKind]) -> Option<ProtoKind> {
    best(head, KINDS.iter().filter(|row| wanted.contains(&row.0)))
}

fn best<'k>(head: &[u8], kinds: impl Iterator<Item = &'k (ProtoKind, &'static Message)>) -> Option<ProtoKind> {
    let mut best: Option<(u32, ProtoKind)> = None;
    for (kind, message) in kinds {
        let Some(signs) = signs(message, head, Extent::File) else {
            continue;
        };
        if signs > best.map_or(0, |(signs, _)| signs) {
            best = Some((signs, *kind));
        }
    }
    best.map(|(_, kind)| kind)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// The head of a file: it may be cut off or damaged anywhere.
    File,
    Whole,
    /// The beginning of a message.
    Cut,
}

/// The signs that bytes are such a message; `None` where they cannot be one.
fn signs(message: &Message, bytes: &[u8], extent: Extent) -> Option<u32> {
    let mut count = 0_u32;
    let mut seen = 0_u128;
    let is_head = extent == Extent::File && bytes.len() as u64 >= HEAD_BYTES;
    let mut is_cut = extent == Extent::Cut;
    for found in fields(bytes) {
        let of_field = match &found {
            Some(found) if found.number == 0 => {
                is_cut = true;
                break;
            }
            Some(found) => {
                let bit = u32::try_from(found.number).unwrap_or(u32::MAX);
                seen |= 1_u128.checked_shl(bit).unwrap_or(0);
                is_cut |= is_cut_off(found);
                field_signs(message, found)
            }
            None if count >= ENOUGH => return Some(count),
            None => return None,
        };
        match of_field {
            Some(signs) => count = count.saturating_add(signs),
            None if extent == Extent::File && count >= ENOUGH => return Some(count),
            None => return None,
        }
    }
    let has = |number: &u64| seen >> number & 1 == 1;
    let is_complete = message.needs.iter().all(|group| group.iter().any(has));
    // A damaged file is no beginning of a longer one.
    let may_lack = is_cut && (is_head || extent != Extent::File);
    (is_complete || may_lack).then_some(count)
}

const fn is_cut_off(found: &HeadField<'_>) -> bool {
    found.layout == 2 && found.value > found.bytes.len() as u64
}

fn field_signs(message: &Message, found: &HeadField<'_>) -> Option<u32> {
    let Some((_, value)) = message.fields.iter().find(|row| row.0 == found.number) else {
        let last = message.fields.iter().map(|row| row.0).max();
        return (message.is_open && Some(found.number) > last).then_some(0);
    };
    let is_text = |further: &dyn Fn(&u8) -> bool| {
        found.layout == 2
            && found
                .bytes
                .iter()
                .all(|byte| *byte >= 32 && *byte != 127 && further(byte))
    };
    let sign_of = |is_name: bool| (is_name && !found.bytes.is_empty()).then_some(1);
    match value {
        Value::Number => (found.layout == 0).then_some(0),
        Value::Stated => (found.layout == 0).then_some(1),
        Value::Version => (found.layout == 0 && (1..=64).contains(&found.value)).then_some(1),
        Value::Text => is_text(&|_| true).then_some(0),
        Value::Title => is_text(&|_| true).then_some(u32::from(!found.bytes.is_empty())),
        Value::Name(further) => {
            let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || further.contains(byte) || *byte >= 0x80;
            sign_of(is_text(&is_letter))
        }
        Value::Device => sign_of(is_text(&|_| true) && found.bytes.iter().any(|byte| matches!(byte, b'/' | b':'))),
        Value::Message(inner) => {
            let extent = if is_cut_off(found) { Extent::Cut } else { Extent::Whole };
            let is_message = found.layout == 2;
            // An empty message is one with nothing set.
            match found.bytes {
                [] => is_message.then_some(0),
                bytes => signs(inner, bytes, extent).filter(|_| is_message),
            }
        }
        Value::Bytes => (found.layout == 2).then_some(0),
        Value::Any => Some(0),
    }
}

#[cfg(test)]
mod tests;
