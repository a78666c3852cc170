//! The samples to mutate: the smallest files of every format.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use highwater::import::{Importer, Input, recognise};

/// A file that some importer reads.
#[derive(Debug)]
pub(crate) struct Sample {
    pub(crate) name: String,
    pub(crate) row: &'static Importer,
    pub(crate) bytes: Vec<u8>,
    /// Whether detection by content finds its importer.
    pub(crate) is_by_content: bool,
}

/// Samples per format and ending.
pub(crate) const MOST_OF_A_KIND: usize = 2;

/// Larger files take too long to be read so often, packed or unpacked.
const MOST_BYTES: usize = 200_000;

/// The smallest readable files of each format and ending: of `seeds` next to this file (hand-written, rich and small),
/// of `sample_traces` and of `HIGHWATER_SHARED`.
pub(crate) fn samples() -> &'static [Sample] {
    static SAMPLES: LazyLock<Vec<Sample>> = LazyLock::new(find_samples);
    &SAMPLES
}

fn find_samples() -> Vec<Sample> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![
        root.join("tests/mutate/seeds"),
        root.join("sample_traces"),
        root.join("tests/it/fixtures"),
    ];
    if let Ok(shared) = std::env::var("HIGHWATER_SHARED") {
        folders.push(Path::new(&shared).join("corpus"));
        folders.push(Path::new(&shared).join("conformance"));
    }
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in &folders {
        collect(folder, &mut files);
    }
    let mut contents: Vec<(usize, String, Vec<u8>)> = Vec::new();
    for path in files {
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (name, bytes) = unpacked(name, bytes);
        if bytes.len() <= MOST_BYTES {
            contents.push((bytes.len(), name, bytes));
        }
    }
    // By length, then name, then content: the order of folders is arbitrary.
    contents.sort();
    contents.dedup();
    let mut samples: Vec<Sample> = Vec::new();
    for (_, name, bytes) in contents {
        let recognised = Input::from_bytes(&name, bytes.as_slice()).ok();
        let Some(row) = recognised.and_then(|mut input| recognise(&mut input)) else {
            continue;
        };
        let alike = samples
            .iter()
            .filter(|sample| sample.kind() == (row.name, ending(&name)));
        if alike.count() >= MOST_OF_A_KIND {
            continue;
        }
        if crate::read(Some(row), &name, &bytes).is_some_and(|reading| reading.imported.is_some()) {
            samples.push(Sample {
                name,
                row,
                bytes,
                is_by_content: false,
            });
        }
    }
    samples
}

impl Sample {
    /// Its format and ending.
    pub(crate) fn kind(&self) -> (&'static str, &str) {
        (self.row.name, ending(&self.name))
    }
}

fn ending(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or("")
}

/// Bytes as gzip, quickly.
pub(crate) fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("memory can be written");
    encoder.finish().expect("memory can be written")
}

/// Damage in packed bytes would only be found by unpacking.
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

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let Ok(metadata) = entry.metadata() else { continue };
        if metadata.is_dir() {
            collect(&path, files);
        } else if metadata.len() <= MOST_BYTES as u64 {
            files.push(path);
        }
    }
}
