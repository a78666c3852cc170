//! Kinds of targets: what is kept, followed, replaced or refused.

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
fn a_write_protected_file_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.json");
    std::fs::write(&path, "old").expect("it can be written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).expect("it is ours");
    if OpenOptions::new().write(true).open(&path).is_ok() {
        // No file is protected from the superuser.
        return;
    }
    assert!(write_whole(&path, b"new").is_err());
    assert_eq!(
        (
            std::fs::read(&path).expect("a file").as_slice(),
            names_in(folder.path())
        ),
        (&b"old"[..], 1)
    );
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

#[test]
fn links_to_descriptors_are_descriptors() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    for (link, target) in [
        ("a", "/dev/stdout"),
        ("b.csv", "a"),
        ("c.csv", "b.csv"),
        ("d.csv", "new.csv"),
    ] {
        symlink(target, at(link)).expect("a link");
    }
    for (name, expected) in [("a", true), ("b.csv", true), ("c.csv", true), ("d.csv", false)] {
        assert_eq!(is_descriptor(&at(name)), expected, "{name}");
    }
}
