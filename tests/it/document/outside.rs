//! Documents from elsewhere: what they name outside their folder is listed before it is read, and nothing but regular
//! files and folders is.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::model;
use crate::cli::{fails, run};

/// A document with these paths as sources.
fn document(folder: &Path, paths: &[&str]) -> String {
    let sources: Vec<_> = paths.iter().map(|path| json!({"path": path})).collect();
    let path = folder.join("a.highwater");
    let text = json!({"highwater_document": 1, "sources": sources}).to_string();
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn files_outside_the_folder_need_a_flag() {
    let root = tempfile::tempdir().unwrap();
    let here = root.path().join("here");
    model(&here, "net.onnx");
    let outside = model(root.path(), "outside.onnx");
    #[cfg(unix)]
    std::os::unix::fs::symlink(&outside, here.join("link.onnx")).unwrap();
    let inside = document(&here, &["net.onnx"]);
    assert!(run(&["compare", &inside]).status.success());
    let ways = [&["../outside.onnx"][..], &["net.onnx", outside.to_str().unwrap()]];
    // A folder is read with the links in it.
    #[cfg(unix)]
    {
        std::fs::create_dir_all(here.join("sub/below")).unwrap();
        std::os::unix::fs::symlink(&outside, here.join("sub/below/a.onnx")).unwrap();
    }
    let links = if cfg!(unix) {
        &[&["link.onnx"][..], &["sub"], &["."]][..]
    } else {
        &[]
    };
    for paths in ways.iter().chain(links) {
        let named = document(&here, paths);
        for command in [
            &["compare", named.as_str()][..],
            &["inspect", &named],
            &["peak", &named],
            &["export", &named, "--to", "/dev/null", "--as", "report"],
        ] {
            fails(command, "outside its folder");
            fails(command, "outside.onnx; add --allow-outside");
            let allowed: Vec<&str> = command.iter().copied().chain(["--allow-outside"]).collect();
            let output = run(&allowed);
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
    }
}

#[cfg(unix)]
#[test]
fn documents_and_folders_never_wait_for_special_files() {
    let folder = tempfile::tempdir().unwrap();
    model(folder.path(), "net.onnx");
    let pipe = folder.path().join("pipe.json");
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    // A file of the kernel that looks regular, and waits for messages when it is read.
    std::os::unix::fs::symlink("/proc/kmsg", folder.path().join("kernel.json")).unwrap();
    for path in [
        "pipe.json",
        "kernel.json",
        "/proc/kmsg",
        "/dev/zero",
        "/dev/stdin",
        "/proc/self",
    ] {
        let named = document(folder.path(), &["net.onnx", path]);
        for command in [
            &["compare", named.as_str(), "--allow-outside"][..],
            &["inspect", &named],
        ] {
            fails(command, "a document names regular files and folders");
        }
    }
    std::fs::remove_file(folder.path().join("a.highwater")).unwrap();
    let output = run(&["compare", folder.path().to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // An option that names one is not read either.
    let kernel = folder.path().join("kernel.json");
    let set = format!("op_precision_mode={}", kernel.display());
    assert!(run(&["check", "--set", &set]).status.code() < Some(2));
}
