//! MegEngine's rematerialization: the static planner and the eager interpreter, and the files that hold what they run.

mod cases;
mod eager_recorded;
mod import;
mod oracle;
mod static_recorded;

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use highwater_import::{ImportError, Imported, Input, import};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::{Cancel, Progress};
use highwater_model::units::Bytes;
use highwater_model::workload::{Source, Tape};
use highwater_rewrite::remat::{DtrFactors, RematRequest, find_heuristic};
use serde_json::Value as Json;

/// Reads a text under a name.
fn read(name: &str, text: impl AsRef<[u8]>) -> Result<Imported, ImportError> {
    let cancel = Cancel::new();
    import(&mut Input::from_bytes(name, text)?, &Progress::silent(&cancel))
}

/// The one tape of a text.
#[track_caller]
fn tape(name: &str, text: impl AsRef<[u8]>) -> Arc<Tape> {
    let imported = read(name, text).unwrap();
    assert_eq!(imported.diagnostics, Diagnostics::new());
    match imported.source {
        Source::Tapes(tapes) => tapes[0].clone(),
        other => panic!("no tape: {other:?}"),
    }
}

/// A request.
fn request(heuristic: &str, budget: Option<u64>, factors: (u64, f64, f64)) -> RematRequest {
    RematRequest {
        budget: budget.map(Bytes),
        factors: DtrFactors {
            evictee_minimum_size: Bytes(factors.0),
            recomp_memory_factor: factors.1,
            recomp_time_factor: factors.2,
        },
        thrash_limit: None,
        ..RematRequest::unlimited(find_heuristic(heuristic).unwrap())
    }
}

/// Recorded answers of a folder: bytes as they lie there, and what they say.
fn recorded(folder: &Path) -> Vec<(PathBuf, Vec<u8>, Json)> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let is_recorded = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        [".json", ".json.gz"].iter().any(|ending| name.ends_with(ending))
    };
    let read = |path: PathBuf| {
        let bytes = std::fs::read(&path).unwrap();
        let mut text = Vec::new();
        if path.extension().is_some_and(|extension| extension == "gz") {
            flate2::read::GzDecoder::new(&bytes[..]).read_to_end(&mut text).unwrap();
        } else {
            text.clone_from(&bytes);
        }
        let json = serde_json::from_slice(&text).unwrap();
        (path, bytes, json)
    };
    paths.into_iter().filter(is_recorded).map(read).collect()
}

/// Whether two figures are the same but for the last bits.
fn is_near(one: f64, other: f64) -> bool {
    one == other || (one - other).abs() <= 1e-9 * one.abs().max(other.abs())
}
