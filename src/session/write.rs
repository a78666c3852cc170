//! Writes files atomically, without changing the kind of the target.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{BufWriter, Error, ErrorKind, Seek as _, Write};
use std::path::{Path, PathBuf};

use super::files::{FileError, TEMPORARY, io_error};
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
/// [`FileError::Io`]; an existing regular file with one name is unchanged then.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    write_with(path, |out| out.write_all(bytes)).map_err(|reason: Error| io_error(path, "written", reason))
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
    write_with(path, make).map_err(|error| match error {
        ExportError::Io(reason) => io_error(path, "written", reason).into(),
        other => WriteError::Export(other),
    })
}

fn write_with<E: From<Error>>(path: &Path, make: impl FnOnce(&mut dyn Write) -> Result<(), E>) -> Result<(), E> {
    match route(path)? {
        Route::Replace(target) => {
            let written = temporary(&target, make)?;
            written.persist(&target).map_err(|error| error.error)?;
        }
        Route::Overwrite(target) => {
            let mut copy = temporary(&target, make)?;
            copy.rewind()?;
            std::io::copy(&mut copy, &mut File::create(&target)?)?;
            copy.close()?;
        }
        Route::Stream => buffered(OpenOptions::new().append(true).open(path)?, make)?,
    }
    Ok(())
}

/// Bytes that are written at once.
const BUFFER: usize = 1 << 18;

fn buffered<E: From<Error>>(file: impl Write, make: impl FnOnce(&mut dyn Write) -> Result<(), E>) -> Result<(), E> {
    let mut out = BufWriter::with_capacity(BUFFER, file);
    make(&mut out)?;
    Ok(out.flush()?)
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
    Ok(if has_other_names(&metadata) {
        Route::Overwrite(target)
    } else {
        Route::Replace(target)
    })
}

/// The target of a chain of symbolic links, which need not exist. A chain longer than the system follows ends early; creating
/// that file then fails with the system's message.
fn end_of_links(path: &Path) -> PathBuf {
    const MOST_LINKS: usize = 40;
    let mut end = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(next) = std::fs::read_link(&end) else {
            break;
        };
        end = folder_of(&end).join(next);
    }
    end
}

/// Whether a path names an open file, like `/dev/stdout`: its target may have another file by now.
fn is_descriptor(path: &Path) -> bool {
    let is_within = |path: &Path| path.starts_with("/dev") || path.starts_with("/proc");
    is_within(path) || std::fs::read_link(path).is_ok_and(|next| is_within(&next))
}

/// A synced temporary file in the folder of `target`, with the target's permissions and owner.
fn temporary<E: From<Error>>(
    target: &Path,
    make: impl FnOnce(&mut dyn Write) -> Result<(), E>,
) -> Result<tempfile::NamedTempFile, E> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // The umask still applies; the default of temporary files is the owner alone.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let folder = folder_of(target);
    let file = builder.tempfile_in(folder).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Error::new(
            ErrorKind::NotFound,
            format!("folder {} does not exist", folder.display()),
        ),
        // The message names the user's file, not the temporary one.
        kind => Error::from(kind),
    })?;
    if let Ok(existing) = std::fs::metadata(target) {
        keep_owner(file.as_file(), &existing);
        file.as_file().set_permissions(existing.permissions())?;
    }
    buffered(file.as_file(), make)?;
    file.as_file().sync_all()?;
    Ok(file)
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
mod tests {
    use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _, symlink};
    use std::process::Command;

    use super::*;

    fn names_in(folder: &Path) -> usize {
        std::fs::read_dir(folder).expect("a folder").count()
    }

    fn mode_of(path: &Path) -> u32 {
        std::fs::metadata(path).expect("a file").permissions().mode() & 0o7777
    }

    #[test]
    fn an_existing_file_keeps_its_permissions() {
        let folder = tempfile::tempdir().expect("a folder");
        for mode in [0o600, 0o640, 0o755, 0o666] {
            let path = folder.path().join(format!("{mode:o}.json"));
            std::fs::write(&path, "old").expect("it can be written");
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("it is ours");
            write_whole(&path, b"new").expect("it can be written");
            assert_eq!(mode_of(&path), mode, "{mode:o}");
            assert_eq!(std::fs::read(&path).expect("a file"), b"new");
        }
        assert_eq!(names_in(folder.path()), 4);
    }

    #[test]
    fn symbolic_links_are_followed_and_stay_links() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("deep")).expect("a folder");
        std::fs::write(at("deep/old.json"), "old").expect("it can be written");
        // A link, a link to a link, and a link whose target is still to be written.
        symlink("deep/old.json", at("link")).expect("a link");
        symlink("link", at("second")).expect("a link");
        symlink("deep/new.json", at("dangling")).expect("a link");
        for (link, target) in [
            ("link", "deep/old.json"),
            ("second", "deep/old.json"),
            ("dangling", "deep/new.json"),
        ] {
            write_whole(&at(link), link.as_bytes()).expect("it can be written");
            assert!(at(link).is_symlink(), "{link}");
            assert!(!at(target).is_symlink(), "{target}");
            assert_eq!(std::fs::read(at(target)).expect("a file"), link.as_bytes());
        }
        assert_eq!(names_in(&at("deep")), 2);
    }

    #[test]
    fn hard_links_stay_one_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, other) = (folder.path().join("a"), folder.path().join("b"));
        std::fs::write(&path, "a longer old text").expect("it can be written");
        std::fs::hard_link(&path, &other).expect("a link");
        write_whole(&path, b"new").expect("it can be written");
        assert_eq!(std::fs::read(&other).expect("a file"), b"new");
        assert_eq!(std::fs::metadata(&path).expect("a file").nlink(), 2);
        assert_eq!(names_in(folder.path()), 2);
    }

    #[test]
    fn devices_and_pipes_are_written_into_and_never_replaced() {
        write_whole(Path::new("/dev/null"), b"text").expect("it takes everything");
        let kind = std::fs::symlink_metadata("/dev/null").expect("a device").file_type();
        assert!(kind.is_char_device());

        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        let made = Command::new("mkfifo").arg(&pipe).status().expect("mkfifo is there");
        assert!(made.success());
        let reader = std::thread::Builder::new().spawn({
            let pipe = pipe.clone();
            move || std::fs::read(pipe)
        });
        write_whole(&pipe, b"through the pipe").expect("somebody reads it");
        let read = reader.expect("a thread").join().expect("it does not panic");
        assert_eq!(read.expect("a pipe"), b"through the pipe");
        let kind = std::fs::symlink_metadata(&pipe).expect("a pipe").file_type();
        assert!(kind.is_fifo());
    }

    #[test]
    fn folders_and_sockets_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let socket = folder.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
        for (path, words) in [(folder.path(), "it is a folder"), (socket.as_path(), "a socket")] {
            let error = write_whole(path, b"text").expect_err("it is no file").to_string();
            assert!(error.contains(words), "{error}");
            assert!(error.contains(&path.display().to_string()), "{error}");
        }
        assert_eq!(names_in(folder.path()), 1);
    }

    #[test]
    fn a_missing_folder_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let missing = folder.path().join("missing");
        let error = write_whole(&missing.join("a.json"), b"text")
            .expect_err("no folder")
            .to_string();
        assert!(
            error.contains(&format!("folder {} does not exist", missing.display())),
            "{error}"
        );
    }

    #[test]
    fn descriptors_are_told_from_files() {
        for (path, expected) in [
            ("/dev/stdout", true),
            ("/dev/fd/1", true),
            ("/proc/self/fd/1", true),
            ("out.csv", false),
        ] {
            assert_eq!(is_descriptor(Path::new(path)), expected, "{path}");
        }
    }
}
