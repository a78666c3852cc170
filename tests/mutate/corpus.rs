//! The samples as a corpus for libFuzzer: a folder per target of `fuzz/Cargo.toml`.

use std::fs;
use std::io;
use std::path::Path;

use crate::samples::{Sample, samples};
use crate::targets::Target;

const MANIFEST: &str = include_str!("../../fuzz/Cargo.toml");

/// Targets that read by the ending of a file: a target per ending in `fuzz/`.
const BY_ENDING: &[&str] = &["script"];

/// The target in `fuzz/` of a sample.
fn fuzz_target(sample: &Sample) -> String {
    let (name, ending) = sample.kind();
    match ending {
        _ if !BY_ENDING.contains(&name) => name.to_owned(),
        "yml" => format!("{name}-yaml"),
        _ => format!("{name}-{ending}"),
    }
}

/// # Panics
/// A target is missing in `fuzz/Cargo.toml`.
pub(crate) fn check_manifest() {
    for target in Target::all() {
        let name = target.name();
        let is_there = |end: &str| MANIFEST.contains(&format!("name = \"{name}{end}"));
        let is_listed = is_there("\"") || BY_ENDING.contains(&name) && is_there("-");
        assert!(is_listed, "{name} is no target of fuzz/Cargo.toml");
    }
}

/// Writes every sample into the folder of its target.
///
/// # Errors
/// Of the system.
pub(crate) fn write(folder: &Path) -> io::Result<()> {
    for sample in samples() {
        let folder = folder.join(fuzz_target(sample));
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(&sample.name), &sample.bytes)?;
    }
    Ok(())
}
