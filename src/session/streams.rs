//! Streams without a length: standard input and pipes. A thread of their own opens and reads them, because both may wait for a
//! writer for ever, and waiting ends when the work is cancelled. That thread ends with its stream.

use std::fs::File;
use std::io::{BufReader, Error, ErrorKind, Read, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use highwater_import::{ImportError, Input};
use highwater_model::progress::Progress;

/// The most bytes that are read from a stream.
const MOST_BYTES: u64 = 16 << 30;

/// Bytes of a stream that are held in memory; more go to a temporary file.
const SPOOL_BYTES: usize = 16 << 20;

/// Bytes of one read, and pieces that wait.
const PIECE: usize = 256 << 10;
const MOST_WAITING: usize = 4;

/// How often a wait looks whether it was cancelled.
const LOOK: Duration = Duration::from_millis(30);

#[derive(Debug)]
pub(super) enum Stream {
    StandardInput,
    Pipe(PathBuf),
}

impl Stream {
    /// The pipe at a path; `None` where it is none.
    pub(super) fn at(path: &Path) -> Option<Self> {
        is_pipe(path).then(|| Self::Pipe(path.to_owned()))
    }

    /// The content: in memory where it is small, else in an unnamed temporary file.
    pub(super) fn spooled(self, name: &str, progress: &Progress<'_>) -> Result<Input<'static>, ImportError> {
        let mut spool = tempfile::spooled_tempfile(SPOOL_BYTES);
        self.each_piece(progress, |piece, len| {
            if len > MOST_BYTES {
                return Err(ImportError::at(
                    format!("a pipe of more than {} GiB is not read", MOST_BYTES >> 30),
                    format!("byte {MOST_BYTES}"),
                    "save it to a file and open that",
                ));
            }
            spool.write_all(piece).map_err(|error| {
                ImportError::at(
                    format!("the piped input cannot be written to a temporary file ({error}),"),
                    format!("byte {len}"),
                    "save it to a file, or set TMPDIR to a folder with free space",
                )
            })?;
            Ok(true)
        })?;
        Input::new(name, BufReader::with_capacity(64 << 10, spool))
    }

    /// The content as far as `limit` bytes and a few more.
    pub(super) fn head(self, limit: u64, progress: &Progress<'_>) -> Result<Vec<u8>, ImportError> {
        let mut bytes = Vec::new();
        self.each_piece(progress, |piece, len| {
            bytes.extend_from_slice(piece);
            Ok(len <= limit)
        })?;
        Ok(bytes)
    }

    /// Takes pieces, and the bytes so far, until the end or until `take` wants no more.
    fn each_piece(
        self,
        progress: &Progress<'_>,
        mut take: impl FnMut(&[u8], u64) -> Result<bool, ImportError>,
    ) -> Result<(), ImportError> {
        let mut len = 0_u64;
        let pieces = self.start()?;
        loop {
            progress.set("reading", len, MOST_BYTES)?;
            let piece = match pieces.recv_timeout(LOOK) {
                Ok(piece) => piece?,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            };
            len += piece.len() as u64;
            if !take(&piece, len)? {
                return Ok(());
            }
        }
    }

    fn start(self) -> Result<Receiver<Result<Vec<u8>, Error>>, Error> {
        let (sender, pieces) = bounded(MOST_WAITING);
        let read = move || match self {
            Self::StandardInput => send_all(std::io::stdin().lock(), &sender),
            Self::Pipe(path) => match File::open(path) {
                Ok(file) => send_all(file, &sender),
                // The reader may have been cancelled.
                Err(error) => drop(sender.send(Err(error))),
            },
        };
        std::thread::Builder::new().name("stream".to_owned()).spawn(read)?;
        Ok(pieces)
    }
}

fn send_all(mut stream: impl Read, sender: &Sender<Result<Vec<u8>, Error>>) {
    loop {
        let mut piece = vec![0; PIECE];
        let read = match stream.read(&mut piece) {
            Ok(0) => return,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Ok(n) => {
                piece.truncate(n);
                Ok(piece)
            }
            Err(error) => Err(error),
        };
        let is_last = read.is_err();
        if sender.send(read).is_err() || is_last {
            return;
        }
    }
}

#[cfg(unix)]
fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    std::fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_fifo())
}

#[cfg(not(unix))]
fn is_pipe(_: &Path) -> bool {
    false
}
