//! Writing that is interrupted: at every byte, at every operation, with every error that the system gives.

use std::cell::Cell;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use super::*;

/// Errors of open, write, fsync, close and rename (their manual pages), by number on Linux.
const ERRORS: [(i32, &str); 14] = [
    (1, "EPERM"),
    (5, "EIO"),
    (9, "EBADF"),
    (12, "ENOMEM"),
    (13, "EACCES"),
    (18, "EXDEV"),
    (23, "ENFILE"),
    (24, "EMFILE"),
    (26, "ETXTBSY"),
    (27, "EFBIG"),
    (28, "ENOSPC"),
    (30, "EROFS"),
    (32, "EPIPE"),
    (122, "EDQUOT"),
];

const OLD: &[u8] = b"the old content, longer than the new one";
const NEW: &[u8] = b"the new content";

/// What is written over.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Target {
    Missing,
    File,
    HardLink,
    SymbolicLink,
}

const TARGETS: [Target; 4] = [Target::Missing, Target::File, Target::HardLink, Target::SymbolicLink];

/// A folder with a target; returns its path as it is named.
fn prepared(folder: &Path, target: Target) -> PathBuf {
    let (path, other) = (folder.join("a.json"), folder.join("b.json"));
    let file = if target == Target::SymbolicLink { &other } else { &path };
    if target != Target::Missing {
        std::fs::write(file, OLD).expect("a file");
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o640)).expect("it is ours");
    }
    match target {
        Target::HardLink => std::fs::hard_link(&path, &other).expect("a link"),
        Target::SymbolicLink => std::os::unix::fs::symlink("b.json", &path).expect("a link"),
        Target::Missing | Target::File => {}
    }
    path
}

/// Names, links, permissions and contents of a folder.
fn state_of(folder: &Path) -> Vec<(PathBuf, bool, u64, u32, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut state: Vec<_> = entries
        .map(|entry| {
            let path = entry.expect("an entry").path();
            let metadata = std::fs::metadata(&path).expect("a file");
            let content = std::fs::read(&path).expect("a file");
            let is_link = path.is_symlink();
            (path, is_link, metadata.nlink(), metadata.mode(), content)
        })
        .collect();
    state.sort();
    state
}

/// Writes the new content through a gate.
fn write(path: &Path, gate: Gate<'_>) -> Result<(), FileError> {
    write_with(path, gate, |out| out.write_all(NEW)).map_err(|reason: Error| io_error(path, "written", reason))
}

/// The operations of an undisturbed write.
fn operations(target: Target) -> Vec<Operation> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = prepared(folder.path(), target);
    let seen = std::cell::RefCell::new(Vec::new());
    let gate = |operation| {
        seen.borrow_mut().push(operation);
        Ok(usize::MAX)
    };
    write(&path, &gate).expect("nothing disturbs it");
    seen.into_inner()
}

/// A failed write changes nothing, names the file, and says what to do.
fn check_failed(target: Target, gate: Gate<'_>, what: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = prepared(folder.path(), target);
    let before = state_of(folder.path());
    let error = write(&path, gate).expect_err(what).to_string();
    assert_eq!(state_of(folder.path()), before, "{target:?} {what}: {error}");
    assert!(error.starts_with(&path.display().to_string()), "{what}: {error}");
    assert!(error.contains("; "), "{what} is without advice: {error}");
}

#[test]
fn every_error_of_every_operation_leaves_the_old_file() {
    for target in TARGETS {
        let operations = operations(target);
        assert!(
            operations.contains(&Operation::Write(NEW.len())),
            "{target:?} {operations:?}"
        );
        for (failing, operation) in operations.iter().enumerate() {
            for (number, name) in ERRORS {
                let next = Cell::new(0);
                let gate = |_| {
                    let now = next.replace(next.get() + 1);
                    if now == failing {
                        return Err(Error::from_raw_os_error(number));
                    }
                    Ok(usize::MAX)
                };
                check_failed(target, &gate, &format!("{name} at {operation:?}"));
            }
        }
    }
}

/// A gate behind which `most` bytes fit, and then `number` is the error of every write.
fn full_after(most: usize, number: i32) -> impl Fn(Operation) -> std::io::Result<usize> {
    let left = Cell::new(most);
    move |operation| {
        let Operation::Write(len) = operation else {
            return Ok(usize::MAX);
        };
        if left.get() == 0 {
            return Err(Error::from_raw_os_error(number));
        }
        let now = len.min(left.get());
        left.set(left.get() - now);
        Ok(now)
    }
}

#[test]
fn an_interruption_at_any_byte_leaves_the_old_file() {
    for target in TARGETS {
        // With another hard link the bytes are written twice: into the temporary copy, then in place.
        let len = if target == Target::HardLink {
            2 * NEW.len()
        } else {
            NEW.len()
        };
        for most in 0..len {
            for (number, name) in ERRORS {
                check_failed(target, &full_after(most, number), &format!("{name} after {most} bytes"));
            }
        }
    }
}

#[test]
fn short_writes_and_signals_do_not_end_a_write() {
    const EINTR: i32 = 4;
    for target in TARGETS {
        let folder = tempfile::tempdir().expect("a folder");
        let path = prepared(folder.path(), target);
        let before = state_of(folder.path());
        let is_signal = Cell::new(false);
        let gate = |operation| {
            let is_write = matches!(operation, Operation::Write(_));
            is_signal.set(is_write && !is_signal.get());
            if is_signal.get() {
                return Err(Error::from_raw_os_error(EINTR));
            }
            Ok(1)
        };
        write(&path, &gate).unwrap_or_else(|error| panic!("{target:?}: {error}"));
        assert_eq!(std::fs::read(&path).expect("a file"), NEW, "{target:?}");
        let mut expected = before;
        for entry in &mut expected {
            entry.4 = NEW.to_vec();
        }
        if target != Target::Missing {
            assert_eq!(state_of(folder.path()), expected, "{target:?}");
        }
    }
}

#[test]
fn a_full_device_is_told_in_a_sentence() {
    let error = write_whole(Path::new("/dev/full"), NEW)
        .expect_err("it is full")
        .to_string();
    assert!(error.starts_with("/dev/full: cannot be written: "), "{error}");
    assert!(error.contains("; free some space"), "{error}");
}
