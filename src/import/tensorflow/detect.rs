//! Whether a file's first bytes look like TensorFlow's, and which of its files.
//!
//! Binary: the kind of protobuf. Text: the names of its first fields, in any order, and what a node must have. A file that
//! is cut off or damaged further on is still recognised, so that its error can name a place.

use super::parse::FileKind;
use crate::proto_head::fields;
use crate::proto_kind::{self, ProtoKind};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Model(FileKind),
    Run,
}

/// The kind of a file with this head, and whether it is text.
pub(super) fn content(head: &[u8]) -> Option<(Content, bool)> {
    if let Some(found) = text_content(head) {
        return Some((found, true));
    }
    let found = proto_kind::kind(head).and_then(binary_content)?;
    Some((found, false))
}

pub(super) fn is_text(head: &[u8]) -> bool {
    let is_control = |byte: &u8| *byte < 32 && !matches!(*byte, b'\n' | b'\r' | b'\t');
    !head.iter().take(512).any(is_control) && head.first() != Some(&b'\n')
}

// ---- text ----

fn text_content(head: &[u8]) -> Option<Content> {
    let text = skip_blank(head);
    let end = text
        .iter()
        .position(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_'))?;
    let (word, rest) = text.split_at(end);
    let rest = skip_blank(rest.strip_prefix(b":").unwrap_or(rest));
    let is_message = matches!(rest.first(), Some(b'{' | b'<'));
    match word {
        b"node" if is_message && has_field(rest, b"op") && has_field(rest, b"name") && !has_descriptors(rest) => {
            Some(Content::Model(FileKind::Graph))
        }
        // A graph may begin with its library or its versions: text has no order of fields.
        b"library" if is_message && has_message(rest, b"function") && has_message(rest, b"signature") => {
            Some(Content::Model(FileKind::Graph))
        }
        b"versions" if is_message && starts_with_producer(rest) => {
            let is_graph = has_message(rest, b"node") && has_field(rest, b"op");
            let is_library = has_message(rest, b"function") && has_message(rest, b"signature");
            (is_graph || is_library).then_some(Content::Model(FileKind::Graph))
        }
        b"saved_model_schema_version" => Some(Content::Model(FileKind::SavedModel)),
        // Modules of TensorFlow Hub lack the version.
        b"meta_graphs" if is_message => Some(Content::Model(FileKind::SavedModel)),
        b"meta_info_def" if is_message => Some(Content::Model(FileKind::MetaGraph)),
        b"graph_def" if is_message && has_message(rest, b"node") => Some(Content::Model(FileKind::MetaGraph)),
        b"saver_def" | b"collection_def" | b"signature_def" | b"object_graph_def"
            if is_message && has_message(text, b"graph_def") =>
        {
            Some(Content::Model(FileKind::MetaGraph))
        }
        b"step_stats" if is_message && (rest.len() < 64 || has_message(rest, b"dev_stats")) => Some(Content::Run),
        _ => None,
    }
}

/// Whether a message holds versions: `{ producer: 1087`, or nothing.
fn starts_with_producer(message: &[u8]) -> bool {
    let inside = skip_blank(&message[1..]);
    let is_name = |name: &[u8]| inside.starts_with(name);
    is_name(b"producer") || is_name(b"min_consumer") || is_name(b"bad_consumers") || is_name(b"}") || is_name(b">")
}

fn skip_blank(mut text: &[u8]) -> &[u8] {
    loop {
        text = text.trim_ascii_start();
        match text.strip_prefix(b"#") {
            Some(comment) => {
                let end = comment.iter().position(|byte| *byte == b'\n').unwrap_or(comment.len());
                text = &comment[end..];
            }
            None => return text,
        }
    }
}

/// Whether a text has a field with a string: `op: "`.
fn has_field(text: &[u8], name: &[u8]) -> bool {
    follows(text, name, |rest| {
        let value = rest.strip_prefix(b":").map(<[u8]>::trim_ascii_start);
        value.is_some_and(|value| matches!(value.first(), Some(b'"' | b'\'')))
    })
}

/// Whether an attribute is a descriptor of GE (`[o]y`), as in torchair's dumps, which have this syntax.
fn has_descriptors(text: &[u8]) -> bool {
    follows(text, b"key", |rest| {
        let value = rest.strip_prefix(b":").map_or(rest, <[u8]>::trim_ascii_start);
        matches!(value, [b'"' | b'\'', b'[', b'i' | b'o', b']', ..])
    })
}

fn has_message(text: &[u8], name: &[u8]) -> bool {
    follows(text, name, |rest| {
        let rest = rest.strip_prefix(b":").unwrap_or(rest).trim_ascii_start();
        matches!(rest.first(), Some(b'{' | b'<'))
    })
}

/// Whether something with a property follows a word somewhere.
fn follows(text: &[u8], word: &[u8], is_wanted: impl Fn(&[u8]) -> bool) -> bool {
    let mut words = text.windows(word.len() + 1).enumerate();
    words.any(|(at, window)| {
        let is_start = at == 0 || !(text[at - 1].is_ascii_alphanumeric() || text[at - 1] == b'_');
        is_start && window.starts_with(word) && is_wanted(text[at + word.len()..].trim_ascii_start())
    })
}

// ---- binary ----

fn binary_content(kind: ProtoKind) -> Option<Content> {
    match kind {
        ProtoKind::TfGraph => Some(Content::Model(FileKind::Graph)),
        ProtoKind::TfMetaGraph => Some(Content::Model(FileKind::MetaGraph)),
        ProtoKind::TfSavedModel => Some(Content::Model(FileKind::SavedModel)),
        ProtoKind::TfRun => Some(Content::Run),
        ProtoKind::Onnx
        | ProtoKind::OnnxTensor
        | ProtoKind::Hlo
        | ProtoKind::HloModule
        | ProtoKind::MindIr
        | ProtoKind::XSpace
        | ProtoKind::Caffe => None,
    }
}

/// The message of a binary file that was opened as a graph: what fits best, else what its first field can be.
pub(super) fn opened_as_model(head: &[u8]) -> FileKind {
    use ProtoKind::{TfGraph, TfMetaGraph, TfSavedModel};
    let kind = proto_kind::kind_among(head, &[TfGraph, TfMetaGraph, TfSavedModel]);
    if let Some(Content::Model(kind)) = kind.and_then(binary_content) {
        return kind;
    }
    match fields(head).next().flatten() {
        Some(first) if (first.number, first.layout) == (1, 0) => FileKind::SavedModel,
        _ => FileKind::Graph,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_apart() {
        let node = b"\x0a\x09\x0a\x01x\x12\x04NoOp";
        assert_eq!(content(node), Some((Content::Model(FileKind::Graph), false)));
        let meta = [b"\x0a\x0a\x22\x05serve\x2a\x012\x12\x0b".as_slice(), node].concat();
        assert_eq!(content(&meta), Some((Content::Model(FileKind::MetaGraph), false)));
        let saved = [b"\x08\x01\x12\x19".as_slice(), &meta].concat();
        assert_eq!(content(&saved), Some((Content::Model(FileKind::SavedModel), false)));
        let run = b"\x0a\x0c\x0a\x0a\x0a\x06/cpu:0\x12\x00";
        assert_eq!(content(run), Some((Content::Run, false)));
        let text = b"# a graph\nnode {\n  name: \"x\"\n  op: \"NoOp\"\n}";
        assert_eq!(content(text), Some((Content::Model(FileKind::Graph), true)));
        assert_eq!(content(b"step_stats { dev_stats {"), Some((Content::Run, true)));
        for text in [
            &b"library { function { signature { name: \"f\" } } }"[..],
            b"versions { producer: 1087 }\nnode { name: \"x\" op: \"NoOp\" }",
            b"versions { producer: 1087 } library { function { signature { name: \"f\" } } }",
        ] {
            assert_eq!(content(text), Some((Content::Model(FileKind::Graph), true)));
        }
    }

    #[test]
    fn a_graph_may_begin_with_its_library_or_its_versions() {
        let node = b"\x0a\x09\x0a\x01x\x12\x04NoOp".as_slice();
        let function = b"\x12\x0e\x0a\x0c\x0a\x03\x0a\x01f\x22\x05\x0a\x01y\x12\x00".as_slice();
        let versions = b"\x22\x03\x08\xbf\x08".as_slice();
        let graph = Some((Content::Model(FileKind::Graph), false));
        for parts in [
            &[function, node][..],
            &[function],
            &[versions, node],
            &[versions, function, node],
            &[b"\x12\x00", versions, node],
        ] {
            assert_eq!(content(&parts.concat()), graph, "{parts:?}");
        }
        // Versions alone, a library without a signature, versions with a text, another field.
        for other in [
            versions,
            b"\x12\x04\x0a\x02hi",
            b"\x22\x03\x0a\x01a",
            &[versions, b"\x3a\x00"].concat(),
        ] {
            assert_eq!(
                content(&[other, node].concat()).filter(|_| other != versions),
                None,
                "{other:?}"
            );
            assert_eq!(content(other), None, "{other:?}");
        }
    }
}
