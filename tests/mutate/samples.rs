//! The samples to mutate: the smallest files of every target.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::mutator::is_of_word;
use crate::reading::read;
use crate::targets::Target;

/// A file that some target reads.
#[derive(Debug)]
pub(crate) struct Sample {
    pub(crate) name: String,
    pub(crate) target: Target,
    pub(crate) bytes: Vec<u8>,
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
        for target in Target::of_file(&name, &bytes) {
            let (name, bytes) = (name.clone(), bytes.clone());
            let sample = Sample { name, target, bytes };
            let alike = samples.iter().filter(|other| other.kind() == sample.kind());
            if alike.count() < MOST_OF_A_KIND && sample.is_readable() {
                samples.push(sample);
            }
        }
    }
    let smallest = samples.iter().find(|sample| sample.target.name() == "onnx");
    let packed = smallest.map(|smallest| Sample {
        name: format!("{}.gz", smallest.name),
        target: crate::by_content(),
        bytes: packed(&smallest.bytes),
    });
    samples.extend(packed);
    samples
}

impl Sample {
    /// Its target and ending.
    pub(crate) fn kind(&self) -> (&'static str, &str) {
        (self.target.name(), ending(&self.name))
    }

    pub(crate) fn is_readable(&self) -> bool {
        self.work().is_some()
    }

    /// Allocations and progress checks of a reading; `None` after an error.
    pub(crate) fn work(&self) -> Option<u64> {
        let reading = read(self.target, &self.name, &self.bytes)?;
        reading.readable.is_some().then_some(reading.work)
    }
}

/// The words of samples, without repetition.
pub(crate) fn words_of(samples: &[&Sample]) -> Vec<Vec<u8>> {
    const LENGTHS: std::ops::RangeInclusive<usize> = 2..=40;
    const MOST_WORDS: usize = 2_000;
    let words = samples
        .iter()
        .flat_map(|sample| sample.bytes.split(|byte| !is_of_word(byte)));
    let words: BTreeSet<&[u8]> = words.filter(|word| LENGTHS.contains(&word.len())).collect();
    words.into_iter().take(MOST_WORDS).map(<[u8]>::to_vec).collect()
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
