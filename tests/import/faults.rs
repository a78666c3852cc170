//! Reads that fail half way, that are short, or that a signal interrupts: the error of the system or the whole content,
//! never a part of it.

use std::io::{Error, Read, Result, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use highwater_import::{ImportError, Imported, Input, import};
use highwater_model::progress::{Cancel, Progress};

const EIO: i32 = 5;
const EINTR: i32 = 4;

/// Places of a fault per file: every byte of small ones.
const MOST_PLACES: usize = 1_500;

/// A file of which reads fail from a byte on.
struct Faulty<'a> {
    bytes: &'a [u8],
    at: usize,
    fails_at: usize,
    /// The most bytes of a read.
    most: usize,
    /// Whether every other read is interrupted; and whether the last one was.
    interrupts: Option<bool>,
}

impl<'a> Faulty<'a> {
    fn at_byte(bytes: &'a [u8], fails_at: usize) -> Self {
        Self {
            bytes,
            at: 0,
            fails_at,
            most: usize::MAX,
            interrupts: None,
        }
    }
}

impl Read for Faulty<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        if let Some(was) = &mut self.interrupts {
            *was = !*was;
            if *was {
                return Err(Error::from_raw_os_error(EINTR));
            }
        }
        if self.at >= self.fails_at {
            return Err(Error::from_raw_os_error(EIO));
        }
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        let n = rest.len().min(buffer.len()).min(self.most).min(self.fails_at - self.at);
        buffer[..n].copy_from_slice(&rest[..n]);
        self.at += n;
        Ok(n)
    }
}

impl Seek for Faulty<'_> {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        let to = match to {
            SeekFrom::Start(at) => i64::try_from(at).expect("a small file"),
            SeekFrom::End(by) => self.bytes.len() as i64 + by,
            SeekFrom::Current(by) => self.at as i64 + by,
        };
        self.at = usize::try_from(to).map_err(|error| Error::other(error.to_string()))?;
        Ok(self.at as u64)
    }
}

fn read(name: &str, file: Faulty<'_>) -> std::result::Result<Imported, ImportError> {
    let cancel = Cancel::new();
    import(&mut Input::new(name, file)?, &Progress::silent(&cancel))
}

/// What was read, to compare.
fn content(imported: &Imported) -> String {
    format!("{:?} {:?} {:?}", imported.format, imported.source, imported.measured)
}

/// Bundled samples and seeds of damaged files.
fn files() -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = ["sample_traces", "tests/mutate/seeds"].map(|folder| root.join(folder));
    let entries = folders.iter().flat_map(|folder| std::fs::read_dir(folder).expect("a folder"));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let files = paths.iter().map(|path| {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        (name, std::fs::read(path).expect("a file"))
    });
    files.filter(|(name, bytes)| read(name, Faulty::at_byte(bytes, usize::MAX)).is_ok()).collect()
}

#[test]
fn a_read_that_fails_half_way_is_an_error_of_reading() {
    let files = files();
    assert!(files.len() > 12, "{}", files.len());
    for (name, bytes) in &files {
        let whole = read(name, Faulty::at_byte(bytes, usize::MAX)).expect("readable");
        // A large file takes long to read.
        let n_places = if bytes.len() > 4096 { MOST_PLACES / 30 } else { MOST_PLACES };
        for fails_at in (0..bytes.len()).step_by(bytes.len().div_ceil(n_places)) {
            match read(name, Faulty::at_byte(bytes, fails_at)) {
                Err(ImportError::Io(error)) => assert_eq!(error.raw_os_error(), Some(EIO), "{name} at {fails_at}"),
                Err(other) => panic!("{name} at {fails_at} of {}: {other}", bytes.len()),
                // Not every format needs every byte.
                Ok(imported) => assert_eq!(content(&imported), content(&whole), "{name} at {fails_at}"),
            }
        }
    }
}

#[test]
fn short_reads_and_signals_change_nothing() {
    for (name, bytes) in &files() {
        let whole = read(name, Faulty::at_byte(bytes, usize::MAX)).expect("readable");
        let file = Faulty {
            most: 7,
            interrupts: Some(false),
            ..Faulty::at_byte(bytes, usize::MAX)
        };
        let imported = read(name, file).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(content(&imported), content(&whole), "{name}");
    }
}
