//! Whether a file's first bytes look like an ONNX model.
//!
//! The top-level fields are walked. They must be known ones with their own layouts, start with a version or a
//! producer, and contain a graph that starts like one; a file that is cut off or damaged further on is still
//! recognised, so that its error can name a place. TensorFlow graphs start with a node (field 1 holds bytes).

use crate::proto_head::fields;

pub(super) fn looks_like_model(head: &[u8]) -> bool {
    let (mut has_version, mut has_other) = (false, false);
    for found in fields(head) {
        let Some(found) = found else { return false };
        match (found.number, found.layout) {
            (0, _) => break,
            (1, 0) if (1..=64).contains(&found.value) && !has_version => has_version = true,
            (7, 2) => return (has_version || has_other) && starts_like_graph(found.bytes),
            // A producer's name is text. A saved model of TensorFlow has a message there.
            (2 | 3, 2) if found.bytes.first().is_some_and(|byte| *byte < 32) => return false,
            (5, 0) | (2 | 3 | 4 | 6 | 8 | 14 | 20 | 25 | 26, 2) => has_other = true,
            _ => return false,
        }
    }
    has_version && has_other
}

/// Nodes, a name, weights, text or types, in bytes; an empty graph is one too.
fn starts_like_graph(body: &[u8]) -> bool {
    match fields(body).next() {
        Some(Some(first)) => first.layout == 2 && matches!(first.number, 0 | 1 | 2 | 5 | 10..=16),
        Some(None) => false,
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_told_from_other_files() {
        for model in [
            &[8, 7, 0x12, 1, b'x', 0x3a, 2, 0x0a, 0][..],
            &[8, 10, 0x3a, 0][..],
            &[8, 10, 0x12, 5, b'p', b'y'][..],
            &[0x42, 2, 16, 11, 0x3a, 3, 0x12, 1, b'g'][..],
            &[8, 3, 0x3a, 0xff, 0x7f, 0x0a, 4][..],
        ] {
            assert!(looks_like_model(model), "{model:?}");
        }
        for other in [
            &b""[..],
            b"{\"graph\": 1}",
            b"\x0a\x05hello\x12\x02no",
            b"\x80\x04\x95",
            b"PK\x03\x04",
            b"HloModule x",
            &[8, 7],
            &[8, 1, 0x12, 4, 0x0a, 2, 0x0a, 0],
            &[8, 0, 0x3a, 0],
            &[0; 64],
            &[0xff; 64],
        ] {
            assert!(!looks_like_model(other), "{other:?}");
        }
    }
}
