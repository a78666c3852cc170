//! Pipes, devices and the kernel's files: a person may name one on the command line, a document or a folder may not.
//!
//! Reading one may wait forever (`/proc/kmsg`), or have an effect.

use std::path::Path;

/// Folders whose files are made by the kernel; `/dev/shm` is memory for ordinary files.
#[cfg(unix)]
const KERNEL: [&str; 3] = ["/proc", "/sys", "/dev"];

/// What a path is, where it is neither a regular file nor a folder on a disk; `None` also where there is nothing.
pub(crate) fn special_kind(path: &Path) -> Option<&'static str> {
    let metadata = std::fs::metadata(path).ok()?;
    if !metadata.is_file() && !metadata.is_dir() {
        return Some("a pipe, socket or device");
    }
    is_of_kernel(path).then_some("a file of the kernel")
}

#[cfg(unix)]
fn is_of_kernel(path: &Path) -> bool {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    KERNEL.iter().any(|folder| real.starts_with(folder)) && !real.starts_with("/dev/shm")
}

#[cfg(not(unix))]
fn is_of_kernel(_: &Path) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_and_folders_on_disks_are_ordinary() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "x").expect("a file");
        std::os::unix::fs::symlink("/proc/version", at("link")).expect("a link");
        let socket = std::os::unix::net::UnixListener::bind(at("socket"));
        assert!(socket.is_ok());
        for (path, is_special) in [
            (at("file"), false),
            (folder.path().to_owned(), false),
            (at("missing"), false),
            (at("link"), true),
            (at("socket"), true),
            ("/dev/null".into(), true),
            ("/proc/version".into(), true),
            ("/proc".into(), true),
        ] {
            assert_eq!(special_kind(&path).is_some(), is_special, "{}", path.display());
        }
    }
}
