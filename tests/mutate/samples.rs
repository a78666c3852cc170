//! What is mutated: of every format the smallest files there are.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use highwater::import::{Importer, Input, recognise};

/// A file that some importer reads.
#[derive(Debug)]
pub(crate) struct Sample {
    pub(crate) name: String,
    pub(crate) row: &'static Importer,
    pub(crate) bytes: Vec<u8>,
}

/// Samples of each format and ending.
const MOST_OF_A_KIND: usize = 1;

/// Larger files take too long to be read so often.
const MOST_BYTES: u64 = 200_000;

/// The smallest readable files of each format, below `sample_traces` and what `HIGHWATER_SHARED` names.
pub(crate) fn samples() -> Vec<Sample> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_traces")];
    folders.push(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures"));
    if let Ok(shared) = std::env::var("HIGHWATER_SHARED") {
        folders.push(Path::new(&shared).join("corpus"));
        folders.push(Path::new(&shared).join("conformance"));
    }
    let mut files: Vec<(u64, PathBuf)> = Vec::new();
    for folder in &folders {
        collect(folder, &mut files);
    }
    files.sort();
    let mut samples: Vec<Sample> = Vec::new();
    for (_, path) in files {
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (name, bytes) = unpacked(name, bytes);
        let Some(row) = Input::from_bytes(&name, bytes.as_slice())
            .ok()
            .and_then(|mut input| recognise(&mut input))
        else {
            continue;
        };
        let is_readable = crate::read(Some(row), &name, &bytes);
        let ending = |name: &str| name.rsplit('.').next().unwrap_or("").to_owned();
        let alike = |sample: &&Sample| sample.row.name == row.name && ending(&sample.name) == ending(&name);
        if is_readable && samples.iter().filter(alike).count() < MOST_OF_A_KIND {
            samples.push(Sample { name, row, bytes });
        }
    }
    samples
}

/// Damage in packed bytes would be found by the unpacking alone.
fn unpacked(name: String, bytes: Vec<u8>) -> (String, Vec<u8>) {
    let Some(plain) = name.strip_suffix(".gz") else {
        return (name, bytes);
    };
    let mut out = Vec::new();
    match flate2::read::MultiGzDecoder::new(bytes.as_slice()).read_to_end(&mut out) {
        Ok(_) => (plain.to_owned(), out),
        Err(_) => (name, bytes),
    }
}

fn collect(folder: &Path, files: &mut Vec<(u64, PathBuf)>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let Ok(metadata) = entry.metadata() else { continue };
        if metadata.is_dir() {
            collect(&path, files);
        } else if metadata.len() <= MOST_BYTES {
            files.push((metadata.len(), path));
        }
    }
}
