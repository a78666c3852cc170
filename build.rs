//! The commit of a release build, which `--version` names.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // Tests are not built again after each commit.
    if std::env::var("PROFILE").as_deref() != Ok("release") {
        return;
    }
    if Path::new(".git/logs/HEAD").exists() {
        println!("cargo:rerun-if-changed=.git/logs/HEAD");
    }
    let git = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output();
    // Without git, as in a source archive, the commit is unknown.
    let Some(output) = git.ok().filter(|output| output.status.success()) else {
        return;
    };
    if let Ok(commit) = String::from_utf8(output.stdout) {
        println!("cargo:rustc-env=HIGHWATER_COMMIT={}", commit.trim());
    }
}
