//! Whether a file's first bytes look like TensorFlow's, and which of its files.
//!
//! Binary: the top-level fields are walked; the first message must start like the one that it has to be. A node has a
//! name and an op that are such names, and inputs that are text. Text: the first field's name, and what a node must
//! have. A file that is cut off or damaged further on is still recognised, so that its error can name a place. ONNX
//! starts with a version and a producer's name, XLA's modules with messages where a node has text.

use super::parse::FileKind;
use crate::proto_head::{HeadField, fields};

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
    let found = if is_graph(head) {
        Content::Model(FileKind::Graph)
    } else if is_saved_model(head) {
        Content::Model(FileKind::SavedModel)
    } else if is_meta_graph(head) {
        Content::Model(FileKind::MetaGraph)
    } else if is_run(head) {
        Content::Run
    } else {
        return None;
    };
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
        b"node" if is_message && has_field(rest, b"op") && has_field(rest, b"name") => {
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
        b"meta_info_def" if is_message => Some(Content::Model(FileKind::MetaGraph)),
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

/// Nodes, a library and versions in any order; the first of each kind must be what it has to be, and there must be a node or
/// a function.
fn is_graph(head: &[u8]) -> bool {
    let (mut has_node, mut has_function) = (false, false);
    for found in fields(head) {
        // Damage: the fields before it are enough.
        let Some(found) = found else { break };
        let is_fitting = match (found.number, found.layout) {
            (1, 2) => has_node || is_node(found.bytes),
            (2, 2) => has_node || has_function || found.bytes.is_empty() || is_library(found.bytes),
            (4, 2) => has_node || has_function || is_versions(found.bytes),
            (0 | 5, 2) | (3, 0) => has_node || has_function,
            _ => false,
        };
        if !is_fitting {
            return false;
        }
        has_node |= found.number == 1;
        has_function |= found.number == 2 && !found.bytes.is_empty();
    }
    has_node || has_function
}

/// Functions: each begins with its signature, which begins with its name, and goes on with nodes and results.
fn is_library(bytes: &[u8]) -> bool {
    let inner = |bytes| fields(bytes).next()??.part(1);
    let Some(function) = inner(bytes) else { return false };
    let name = inner(function).and_then(inner);
    let is_fitting = |found: HeadField<'_>| match (found.number, found.layout) {
        (3, 2) => is_node(found.bytes),
        (0 | 1 | 4..=7, 2) => true,
        _ => false,
    };
    let mut parts = fields(function).map_while(|found| found);
    name.is_some_and(|name| is_name(name, b"._-/\\>$:")) && parts.all(is_fitting)
}

/// A producer, the least consumer, bad consumers.
fn is_versions(bytes: &[u8]) -> bool {
    !bytes.is_empty()
        && fields(bytes)
            .all(|found| found.is_some_and(|found| matches!((found.number, found.layout), (1..=3, 0) | (3, 2))))
}

/// `name`, `op`, then inputs, a device and attributes.
fn is_node(bytes: &[u8]) -> bool {
    let (mut has_name, mut has_op) = (false, false);
    for found in fields(bytes) {
        let Some(found) = found else { break };
        match (found.number, found.layout) {
            (0, _) => break,
            (1, 2) if is_name(found.bytes, b"._-/\\>$:") => has_name = true,
            (2, 2) if is_name(found.bytes, b"._>-") => has_op = true,
            (3 | 4, 2) if is_plain(found.bytes) => {}
            (5, 2) if found.bytes.is_empty() || found.bytes[0] == 0x0a => {}
            (6 | 7, 2) => {}
            _ => return false,
        }
    }
    has_name && has_op
}

fn is_name(bytes: &[u8], further: &[u8]) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || further.contains(byte) || *byte >= 0x80;
    !bytes.is_empty() && bytes.iter().all(is_letter)
}

fn is_plain(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte >= 32 && *byte != 127)
}

fn is_saved_model(head: &[u8]) -> bool {
    let mut all = fields(head);
    let version = all.next().flatten();
    let content = all.next().flatten().and_then(|content| content.part(2));
    let has_version =
        version.is_some_and(|found| (found.number, found.layout) == (1, 0) && (1..=16).contains(&found.value));
    let graph = |meta| fields(meta).next()??.part(2);
    has_version && content.is_some_and(|meta| is_meta_graph(meta) || graph(meta).is_some_and(is_graph))
}

/// Its description (versions, tags, the ops that it uses), then a graph.
fn is_meta_graph(head: &[u8]) -> bool {
    let mut all = fields(head);
    let Some(Some(info)) = all.next().filter(|_| head.len() > 2) else {
        return false;
    };
    if (info.number, info.layout) != (1, 2) {
        return false;
    }
    let mut has_sign = false;
    for found in fields(info.bytes) {
        let Some(found) = found else { break };
        match (found.number, found.layout) {
            (0, _) => break,
            (1 | 4 | 5 | 6, 2) if is_plain(found.bytes) => has_sign |= found.number != 1 && !found.bytes.is_empty(),
            (2, 2) if found.bytes.is_empty() || is_op_list(found.bytes) => has_sign |= !found.bytes.is_empty(),
            (3 | 8, 2) | (7, 0) => {}
            _ => return false,
        }
    }
    let is_cut_off = info.value > info.bytes.len() as u64;
    let graph = all.next().flatten().and_then(|graph| graph.part(2));
    has_sign && (is_cut_off || graph.is_some_and(|graph| graph.is_empty() || is_graph(graph)))
}

/// A list of ops: each starts with its name.
fn is_op_list(bytes: &[u8]) -> bool {
    let first = |bytes| fields(bytes).next()??.part(1);
    first(bytes).and_then(first).is_some_and(|name| is_name(name, b"._>-"))
}

/// Statistics of devices: each has a name such as `/job:localhost/...`, and nodes.
fn is_run(head: &[u8]) -> bool {
    let first = |bytes| fields(bytes).next()??.part(1);
    let Some(device) = first(head).filter(|_| head.len() > 4).and_then(first) else {
        return false;
    };
    let mut parts = fields(device);
    let name = parts.next().flatten().and_then(|name| name.part(1));
    name.is_some_and(|name| is_plain(name) && (name.contains(&b'/') || name.contains(&b':')))
        && matches!(
            parts.next(),
            None | Some(
                None | Some(HeadField {
                    number: 0 | 2,
                    layout: 2,
                    ..
                })
            )
        )
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

    #[test]
    fn other_files_are_not_claimed() {
        for other in [
            &b""[..],
            b"\x0a\x05hello\x12\x02no",
            // An XLA module: a name, an entry computation, a computation.
            b"\x0a\x18\x0a\x03jit\x12\x04main\x1a\x08\x0a\x04main\x12\x00\x28\x01\x1a\x00",
            b"\x08\x07\x12\x04onnx\x3a\x00",
            b"node { calculator: \"X\" }",
            b"graph { node { name: \"x\" op: \"y\" } }",
            b"ir_version: 3",
            b"library { name: \"libm\" }",
            b"versions { major: 1 } node { name: \"x\" op: \"y\" }",
            b"HloModule x",
            b"PK\x03\x04",
            b"\x80\x04\x95",
            &[0; 64],
            &[0xff; 64],
        ] {
            assert_eq!(content(other), None, "{other:?}");
        }
    }
}
