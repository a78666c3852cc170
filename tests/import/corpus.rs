//! The corpus' files, packed or not, and live ranges without the tensors whose bytes the oracle does not know.

use std::io::Read as _;
use std::path::Path;

use highwater_model::graph::TensorId;
use highwater_model::units::Bytes;
use highwater_model::workload::Lifetimes;
use serde_json::Value;

/// A file's content, unpacked.
pub(crate) fn unpacked(path: &Path) -> Option<Vec<u8>> {
    let bytes = std::fs::read(path).ok()?;
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Some(bytes);
    }
    let mut text = Vec::new();
    let mut packed = flate2::read::GzDecoder::new(bytes.as_slice());
    packed.read_to_end(&mut text).ok()?;
    Some(text)
}

/// A file of that name or, packed, of that name and `.gz`.
pub(crate) fn json(path: &Path) -> Option<Value> {
    let packed = || unpacked(&path.with_file_name(format!("{}.gz", path.file_name()?.to_str()?)));
    serde_json::from_slice(&unpacked(path).or_else(packed)?).ok()
}

/// Live ranges of those tensors alone that the oracle knows the bytes of.
pub(crate) fn known_alone(live: &Lifetimes, is_known: impl Fn(TensorId) -> bool) -> Lifetimes {
    let mut live = live.clone();
    for item in &mut live.items {
        if !is_known(item.tensor) {
            item.bytes = Bytes::ZERO;
        }
    }
    live
}
