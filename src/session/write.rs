//! Writes files atomically, without changing the kind of the target.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{BufWriter, Error, ErrorKind, Seek as _, Write};
use std::path::{Path, PathBuf};

use super::files::{FileError, TEMPORARY, io_error};
use super::under_way::{UnderWay, WRITES};
use highwater_export::ExportError;

/// The method of writing a target.
#[derive(Debug, PartialEq, Eq)]
enum Route {
    /// A temporary file takes the place of this file.
    Replace(PathBuf),
    /// The bytes go into the file itself, once a temporary copy is complete: other hard links keep their content equal.
    Overwrite(PathBuf),
    /// The bytes go straight into a pipe, a terminal or a character device.
    Stream,
}

/// Writes a file whole or not at all: into a temporary file in the same folder, which is then renamed. A program that is
/// killed during the write leaves the old file unchanged, and at worst the temporary one.
///
/// An existing file keeps its permissions and, where this process may set it, its owner; symbolic links are followed.
/// Pipes and character devices such as `/dev/null` are written straight into.
///
/// # Errors
/// [`FileError::Io`]; an existing file is unchanged then.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    write_with(path, OPEN, |out| out.write_all(bytes)).map_err(|reason: Error| io_error(path, "written", reason))
}

/// Why a file that is made piece by piece was not written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    #[error(transparent)]
    File(#[from] FileError),
    /// There is no content.
    #[error(transparent)]
    Export(ExportError),
}

/// As [`write_whole`], with content that is made piece by piece and never in memory as a whole. Where `make` fails, an
/// existing file is unchanged; what went into a pipe before stays there.
///
/// # Errors
/// [`WriteError`].
pub fn write_pieces(
    path: &Path,
    make: impl FnOnce(&mut dyn Write) -> Result<(), ExportError>,
) -> Result<(), WriteError> {
    write_with(path, OPEN, make).map_err(|error| match error {
        ExportError::Io(reason) => io_error(path, "written", reason).into(),
        other => WriteError::Export(other),
    })
}

/// An operation on files, before it is performed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    /// A file is made or opened.
    Open,
    Permissions,
    Read,
    /// So many bytes are written.
    Write(usize),
    Truncate,
    Sync,
    Rename,
}

/// Asked before each operation: how many bytes it may write at most, or the error it ends with. Tests interrupt writing
/// with it at every byte and with every error of the system.
type Gate<'a> = &'a dyn Fn(Operation) -> std::io::Result<usize>;

const OPEN: Gate<'_> = &|_| Ok(usize::MAX);

/// A file behind a gate.
struct Gated<'a> {
    file: &'a File,
    gate: Gate<'a>,
}

impl Write for Gated<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let most = (self.gate)(Operation::Write(bytes.len()))?;
        self.file.write(&bytes[..bytes.len().min(most)])
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

fn write_with<E: From<Error>>(
    path: &Path,
    gate: Gate<'_>,
    make: impl FnOnce(&mut dyn Write) -> Result<(), E>,
) -> Result<(), E> {
    match route(path)? {
        Route::Replace(target) => {
            let Temporary { file, under_way } = temporary(&target, gate, make)?;
            gate(Operation::Rename)?;
            file.persist(&target).map_err(|error| error.error)?;
            drop(under_way);
        }
        Route::Overwrite(target) => {
            let mut copy = temporary(&target, gate, make)?;
            let guard = WRITES.in_place();
            overwrite(&target, &mut copy.file, gate)?;
            drop(guard);
            copy.file.close()?;
        }
        Route::Stream => {
            gate(Operation::Open)?;
            let file = OpenOptions::new().append(true).open(path)?;
            buffered(Gated { file: &file, gate }, make)?;
        }
    }
    Ok(())
}

/// Copies the new content over the old one in place. After an error the old content is put back: its blocks still belong to the
/// file, so that a full disk does not prevent this.
fn overwrite(target: &Path, copy: &mut tempfile::NamedTempFile, gate: Gate<'_>) -> std::io::Result<()> {
    gate(Operation::Read)?;
    let old = std::fs::read(target)?;
    gate(Operation::Open)?;
    let file = OpenOptions::new().write(true).open(target)?;
    copy.rewind()?;
    let written = std::io::copy(copy, &mut Gated { file: &file, gate })
        .and_then(|len| gate(Operation::Truncate).and_then(|_| file.set_len(len)))
        .and_then(|()| gate(Operation::Sync).and_then(|_| file.sync_all()));
    written.map_err(|error| match restore(&file, &old) {
        Ok(()) => error,
        Err(second) => Error::new(
            error.kind(),
            format!("{error}; the old content is lost, too, it cannot be written back: {second}"),
        ),
    })
}

fn restore(mut file: &File, old: &[u8]) -> std::io::Result<()> {
    file.rewind()?;
    file.write_all(old)?;
    file.set_len(old.len() as u64)?;
    file.sync_all()
}

/// Bytes that are written at once.
const BUFFER: usize = 1 << 18;

fn buffered<E: From<Error>>(file: impl Write, make: impl FnOnce(&mut dyn Write) -> Result<(), E>) -> Result<(), E> {
    let mut out = BufWriter::with_capacity(BUFFER, file);
    let written = make(&mut out).and_then(|()| Ok(out.flush()?));
    // The rest of a failed file is not written when the buffer is dropped.
    drop(out.into_parts());
    written
}

fn route(path: &Path) -> std::io::Result<Route> {
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Route::Replace(end_of_links(path))),
        Err(error) => return Err(error),
    };
    if metadata.is_dir() {
        return Err(Error::new(ErrorKind::IsADirectory, "it is a folder; name a file in it"));
    }
    if is_stream(&metadata) || is_descriptor(path) {
        return Ok(Route::Stream);
    }
    if !metadata.is_file() {
        let reason = "it is a disk or a socket; name a file or a pipe";
        return Err(Error::new(ErrorKind::InvalidInput, reason));
    }
    let target = path.canonicalize()?;
    if has_other_names(&metadata) {
        return Ok(Route::Overwrite(target));
    }
    // Its folder alone decides about replacing a file; a write-protected one is refused all the same.
    OpenOptions::new().write(true).open(&target)?;
    Ok(Route::Replace(target))
}

/// A path and what it leads to by symbolic links, one after the other. A chain longer than the system follows ends early.
fn links_of(path: &Path) -> impl Iterator<Item = PathBuf> {
    const MOST_LINKS: usize = 40;
    let next = |path: &PathBuf| Some(folder_of(path).join(std::fs::read_link(path).ok()?));
    std::iter::successors(Some(path.to_owned()), next).take(MOST_LINKS + 1)
}

/// The target of a chain of symbolic links, which need not exist. Creating the end of a chain that is too long fails with the
/// system's message.
fn end_of_links(path: &Path) -> PathBuf {
    links_of(path).last().unwrap_or_else(|| path.to_owned())
}

/// Whether a path names an open file, like `/dev/stdout`, or leads there by links: its target may have another file by now.
fn is_descriptor(path: &Path) -> bool {
    let is_within = |path: &Path| path.starts_with("/dev") || path.starts_with("/proc");
    let is_there =
        |path: &Path| is_within(path) || folder_of(path).canonicalize().is_ok_and(|folder| is_within(&folder));
    links_of(path).any(|path| is_there(&path))
}

/// A temporary file that a signal removes.
struct Temporary {
    file: tempfile::NamedTempFile,
    /// Dropped after the file.
    under_way: UnderWay,
}

/// A synced temporary file in the folder of `target`, with the target's permissions and owner.
fn temporary<E: From<Error>>(
    target: &Path,
    gate: Gate<'_>,
    make: impl FnOnce(&mut dyn Write) -> Result<(), E>,
) -> Result<Temporary, E> {
    let folder = folder_of(target);
    gate(Operation::Open)?;
    // With the permissions of new files; temporary ones are their owner's alone otherwise.
    let mut under_way = None;
    let file = tempfile::Builder::new()
        .prefix(TEMPORARY)
        .make_in(folder, |path| {
            under_way = Some(WRITES.begin(path));
            OpenOptions::new().read(true).write(true).create_new(true).open(path)
        })
        .map_err(|error| match error.kind() {
            ErrorKind::NotFound => Error::new(
                ErrorKind::NotFound,
                format!("folder {} does not exist", folder.display()),
            ),
            _ => error,
        })?;
    let under_way = under_way.unwrap_or_else(|| WRITES.begin(file.path()));
    if let Ok(existing) = std::fs::metadata(target) {
        keep_owner(file.as_file(), &existing);
        gate(Operation::Permissions)?;
        file.as_file().set_permissions(existing.permissions())?;
    }
    buffered(
        Gated {
            file: file.as_file(),
            gate,
        },
        make,
    )?;
    gate(Operation::Sync)?;
    file.as_file().sync_all()?;
    Ok(Temporary { file, under_way })
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(unix)]
fn is_stream(metadata: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    metadata.file_type().is_fifo() || metadata.file_type().is_char_device()
}

#[cfg(unix)]
fn has_other_names(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    metadata.nlink() > 1
}

/// Gives a file the owner of another one. Without the right to do so the file belongs to the writing user.
#[cfg(unix)]
fn keep_owner(file: &File, existing: &Metadata) {
    use std::os::unix::fs::MetadataExt as _;
    drop(std::os::unix::fs::fchown(
        file,
        Some(existing.uid()),
        Some(existing.gid()),
    ));
}

#[cfg(not(unix))]
fn is_stream(_: &Metadata) -> bool {
    false
}

#[cfg(not(unix))]
fn has_other_names(_: &Metadata) -> bool {
    false
}

#[cfg(not(unix))]
fn keep_owner(_: &File, _: &Metadata) {}

#[cfg(all(test, unix))]
mod faults;
#[cfg(all(test, unix))]
mod tests;
