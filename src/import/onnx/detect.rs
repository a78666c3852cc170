//! Whether a file's first bytes look like an ONNX model.

use crate::proto_kind::{self, ProtoKind};

pub(super) fn looks_like_model(head: &[u8]) -> bool {
    proto_kind::kind(head) == Some(ProtoKind::Onnx)
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
