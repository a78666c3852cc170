//! Reads that fail half way, that are short, or that a signal interrupts: the error of the system or the whole content,
//! never a part of it.

use std::cell::Cell;
use std::io::{Error, Read, Result, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use highwater_import::{ImportError, Imported, Input, import};
use highwater_model::progress::{Cancel, Progress};

const EIO: i32 = 5;
const EINTR: i32 = 4;

/// Places of a fault per file: every byte of small ones.
const MOST_PLACES: usize = 1_500;

/// A file of which reads fail once so many bytes were read in all, also a second time.
struct Faulty<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Bytes that can still be read.
    left: &'a Cell<usize>,
    /// The most bytes of a read.
    most: usize,
    /// Whether every other read is interrupted; and whether the last one was.
    interrupts: Option<bool>,
}

impl<'a> Faulty<'a> {
    const fn new(bytes: &'a [u8], left: &'a Cell<usize>) -> Self {
        Self {
            bytes,
            at: 0,
            left,
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
        if self.left.get() == 0 {
            return Err(Error::from_raw_os_error(EIO));
        }
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        let n = rest.len().min(buffer.len()).min(self.most).min(self.left.get());
        buffer[..n].copy_from_slice(&rest[..n]);
        self.at += n;
        self.left.set(self.left.get() - n);
        Ok(n)
    }
}

impl Seek for Faulty<'_> {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        let place = |from: usize, by: i64| i64::try_from(from).expect("a small file") + by;
        let to = match to {
            SeekFrom::Start(at) => i64::try_from(at).expect("a small file"),
            SeekFrom::End(by) => place(self.bytes.len(), by),
            SeekFrom::Current(by) => place(self.at, by),
        };
        self.at = usize::try_from(to).map_err(|error| Error::other(error.to_string()))?;
        Ok(self.at as u64)
    }
}

fn import_from(name: &str, file: Faulty<'_>) -> std::result::Result<Imported, ImportError> {
    let cancel = Cancel::new();
    import(&mut Input::new(name, file)?, &Progress::silent(&cancel))
}

/// Imports a file of which so many bytes can be read; and the number that was read.
fn read(name: &str, bytes: &[u8], most: usize) -> (std::result::Result<Imported, ImportError>, usize) {
    let left = Cell::new(most);
    let imported = import_from(name, Faulty::new(bytes, &left));
    (imported, most - left.get())
}

/// What was read, to compare.
fn content(imported: &Imported) -> String {
    format!("{:?} {:?} {:?}", imported.format, imported.source, imported.measured)
}

/// Bundled samples and seeds of damaged files.
fn files() -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = ["sample_traces", "tests/mutate/seeds"].map(|folder| root.join(folder));
    let entries = folders
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).expect("a folder"));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let files = paths.iter().map(|path| {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        (name, std::fs::read(path).expect("a file"))
    });
    files
        .filter(|(name, bytes)| read(name, bytes, usize::MAX).0.is_ok())
        .collect()
}

#[test]
fn a_read_that_fails_half_way_is_an_error_of_reading() {
    let files = files();
    assert!(files.len() > 12, "{}", files.len());
    for (name, bytes) in &files {
        let (whole, n_read) = read(name, bytes, usize::MAX);
        let whole = content(&whole.expect("readable"));
        // A large file takes long to read.
        let n_places = if bytes.len() > 4096 {
            MOST_PLACES / 30
        } else {
            MOST_PLACES
        };
        for most in (0..n_read).step_by(n_read.div_ceil(n_places)) {
            let place = format!("{name}, {most} of {n_read} bytes in all");
            match read(name, bytes, most).0 {
                Err(ImportError::Io(error)) => assert!(error.to_string().contains("os error 5"), "{place}: {error}"),
                Err(other) => panic!("{place}: {other}"),
                // Not every format needs every byte.
                Ok(imported) => assert_eq!(content(&imported), whole, "{place}"),
            }
        }
    }
}

#[test]
fn short_reads_and_signals_change_nothing() {
    for (name, bytes) in &files() {
        let whole = read(name, bytes, usize::MAX).0.expect("readable");
        let left = Cell::new(usize::MAX);
        let file = Faulty {
            most: 7,
            interrupts: Some(false),
            ..Faulty::new(bytes, &left)
        };
        let imported = import_from(name, file).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(content(&imported), content(&whole), "{name}");
    }
}
