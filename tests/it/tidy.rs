//! House rules that the compiler does not check: who may name whom, and a header in every file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Everyone may use these.
const SHARED: &[&str] = &["units", "diagnostics", "progress"];

/// Module, and what it may use besides itself and the shared ones. A contract of ARCHITECTURE.md.
const LAYERS: &[(&str, &[&str])] = &[
    ("units", &[]),
    ("diagnostics", &[]),
    ("progress", &[]),
    ("graph", &[]),
    ("workload", &["graph"]),
    ("import", &["workload", "graph"]),
    ("liveness", &["workload", "graph"]),
    ("rewrite", &["liveness", "workload", "graph"]),
    ("plan", &["liveness", "workload", "graph"]),
    ("sim", &["plan", "liveness", "workload", "graph"]),
    ("options", &["rewrite", "plan", "sim", "workload", "graph"]),
    (
        "analysis",
        &["options", "sim", "plan", "rewrite", "liveness", "workload", "graph"],
    ),
    (
        "timeline",
        &["analysis", "sim", "plan", "rewrite", "liveness", "workload", "graph"],
    ),
    (
        "export",
        &[
            "timeline", "analysis", "options", "sim", "plan", "rewrite", "liveness", "workload", "graph",
        ],
    ),
    (
        "session",
        &[
            "export", "timeline", "analysis", "import", "options", "sim", "plan", "rewrite", "liveness", "workload",
            "graph",
        ],
    ),
    (
        "cli",
        &[
            "session", "export", "timeline", "analysis", "import", "options", "sim", "plan", "rewrite", "liveness",
            "workload", "graph",
        ],
    ),
    (
        "ui",
        &[
            "session", "timeline", "analysis", "import", "options", "sim", "plan", "rewrite", "liveness", "workload",
            "graph",
        ],
    ),
];

#[test]
fn layers_point_one_way() {
    let layers: BTreeMap<&str, &[&str]> = LAYERS.iter().copied().collect();
    let mut broken = Vec::new();
    for file in rust_files("src") {
        let module = module_of(&file);
        let Some(allowed) = layers.get(module.as_str()) else {
            assert!(
                matches!(module.as_str(), "lib" | "main"),
                "{module} is not in the table of layers"
            );
            continue;
        };
        for (number, line) in read(&file).lines().enumerate() {
            for named in named_modules(line) {
                let is_allowed = named == module || SHARED.contains(&named) || allowed.contains(&named);
                if layers.contains_key(named) && !is_allowed {
                    broken.push(format!(
                        "{module} must not name crate::{named} ({}:{})",
                        file.display(),
                        number + 1
                    ));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_file_says_what_it_is() {
    let folders = ["src", "tests", "benches"];
    let files = folders.iter().flat_map(|folder| rust_files(folder));
    let silent: Vec<String> = files
        .filter(|file| !read(file).starts_with("//!"))
        .map(|file| file.display().to_string())
        .collect();
    assert!(
        silent.is_empty(),
        "these files lack a //! header: {}",
        silent.join(", ")
    );
}

#[test]
fn only_the_window_names_egui() {
    let outside: Vec<String> = rust_files("src")
        .into_iter()
        .filter(|file| module_of(file) != "ui" && read(file).contains("egui"))
        .map(|file| file.display().to_string())
        .collect();
    assert!(outside.is_empty(), "egui is named outside ui: {}", outside.join(", "));
}

#[test]
fn colours_stand_in_the_theme_alone() {
    let outside: Vec<String> = rust_files("src/ui")
        .into_iter()
        .filter(|file| !file.ends_with("theme.rs") && read(file).contains("Color32::from"))
        .map(|file| file.display().to_string())
        .collect();
    assert!(outside.is_empty(), "colours outside the theme: {}", outside.join(", "));
}

#[test]
fn every_sample_is_documented() {
    let readme = read(&root().join("sample_traces/README.md"));
    for file in highwater::session::SAMPLES.iter().flat_map(|sample| sample.files) {
        assert!(
            readme.contains(file.name),
            "{} is not in sample_traces/README.md",
            file.name
        );
        assert!(root().join("sample_traces").join(file.name).exists(), "{}", file.name);
    }
}

#[test]
fn the_readme_lists_every_format() {
    const HEAD: &str = "| format | what is read |\n|---|---|\n";
    let path = root().join("README.md");
    let readme = read(&path);
    let start = readme.find(HEAD).expect("README.md has the list of formats") + HEAD.len();
    let end = readme[start..]
        .find("\n\n")
        .map_or(readme.len(), |found| start + found + 1);
    let row = |importer: &highwater::import::Importer| format!("| {} | {} |\n", importer.name, importer.description);
    let rows: String = highwater::import::IMPORTERS.iter().map(row).collect();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, format!("{}{rows}{}", &readme[..start], &readme[end..]))
            .expect("README.md can be written");
        return;
    }
    assert_eq!(
        &readme[start..end],
        rows,
        "the list of formats in README.md is generated: run this test with UPDATE_EXPECT=1"
    );
}

#[test]
fn every_format_is_explained() {
    let text = read(&root().join("docs/formats.md"));
    for importer in highwater::import::IMPORTERS {
        let heading = format!("\n## {}\n", importer.name);
        let Some(start) = text.find(&heading) else {
            panic!("docs/formats.md has no section {}", importer.name);
        };
        let section = &text[start + heading.len()..];
        let section = &section[..section.find("\n## ").unwrap_or(section.len())];
        for word in ["Read: ", "Counted: "] {
            assert!(
                section.contains(word),
                "docs/formats.md, {}: no \"{word}\"",
                importer.name
            );
        }
    }
    assert!(read(&root().join("README.md")).contains("docs/formats.md"));
}

#[test]
fn every_dependency_has_its_reason() {
    let manifest = read(&root().join("Cargo.toml"));
    let reasons = read(&root().join("ARCHITECTURE.md"));
    let notices = read(&root().join("THIRD-PARTY.md"));
    let mut section = "";
    for line in manifest.lines() {
        if line.starts_with('[') {
            section = line;
        } else if section.ends_with("dependencies]") && !line.starts_with('#') {
            let Some((name, _)) = line.split_once(" = ") else {
                continue;
            };
            assert!(reasons.contains(name), "ARCHITECTURE.md gives no reason for {name}");
            let is_shipped = section == "[dependencies]";
            assert!(
                !is_shipped || notices.contains(&format!("| {name} |")),
                "THIRD-PARTY.md lacks {name}"
            );
        }
    }
}

/// Modules that a line of code names with `crate::` or, in groups, `crate::{`.
fn named_modules(line: &str) -> Vec<&str> {
    let code = line.split("//").next().unwrap_or("");
    code.match_indices("crate::")
        .map(|(at, found)| {
            let rest = &code[at + found.len()..];
            let end = rest
                .find(|c: char| !(c.is_alphanumeric() || c == '_'))
                .unwrap_or(rest.len());
            &rest[..end]
        })
        .collect()
}

/// The room of a file: the first folder below `src`, or the file's own name.
fn module_of(file: &Path) -> String {
    let below = file.strip_prefix(root().join("src")).unwrap_or(file);
    let first = below
        .components()
        .next()
        .map_or_else(String::new, |part| part.as_os_str().to_string_lossy().into_owned());
    first.trim_end_matches(".rs").to_owned()
}

fn rust_files(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root().join(folder)];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).expect("the folder is part of the project") {
            let path = entry.expect("the folder can be listed").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
