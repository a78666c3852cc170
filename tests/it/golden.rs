//! Folders of recorded answers of the originals.

use std::path::PathBuf;

use crate::support::shared;

/// The folders of one kind of answers: those equal from the start (`conformance`), and those that became so later
/// (`pending`).
pub(crate) fn folders(part: &str) -> Vec<PathBuf> {
    let kinds = ["conformance", "pending"].into_iter();
    kinds.filter_map(|kind| shared(&format!("{kind}/{part}"))).collect()
}
