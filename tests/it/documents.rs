//! House rules of the documents: their lists match the tables of the program, and what they name exists.

use std::path::{Path, PathBuf};

use crate::tidy::{files_with, read, root, rust_files};

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
fn the_documents_list_every_format() {
    const HEAD: &str = "| format | what is read |\n|---|---|\n";
    let path = root().join("docs/formats.md");
    let page = read(&path);
    let start = page.find(HEAD).expect("docs/formats.md has the list of formats") + HEAD.len();
    let end = page[start..].find("\n\n").map_or(page.len(), |found| start + found + 1);
    let row = |importer: &highwater::import::Importer| format!("| {} | {} |\n", importer.name, importer.description);
    let rows: String = highwater::import::IMPORTERS.iter().map(row).collect();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, format!("{}{rows}{}", &page[..start], &page[end..]))
            .expect("docs/formats.md can be written");
        return;
    }
    assert_eq!(
        &page[start..end],
        rows,
        "the list of formats in docs/formats.md is generated: run this test with UPDATE_EXPECT=1"
    );
}

#[test]
fn the_documents_list_every_exported_form() {
    let page = read(&root().join("docs/exports.md"));
    for row in &highwater::export::EXPORT_FORMS {
        let cell = format!("| {} |", row.name);
        assert!(
            page.contains(&cell),
            "the table of docs/exports.md has no form {}",
            row.name
        );
    }
}

#[test]
fn named_documents_exist() {
    let folders = ["src", "tests", "benches", "examples", "docs"];
    let mut texts: Vec<PathBuf> = folders
        .into_iter()
        .flat_map(|folder| files_with(folder, &["rs", "md"]))
        .collect();
    texts.extend(["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"].map(|name| root().join(name)));
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || "/-_.".contains(letter);
    let mut missing = Vec::new();
    for file in texts {
        let text = read(&file);
        let beside = file.parent().expect("a folder");
        let is_page = file.extension().is_some_and(|ending| ending == "md");
        let links = text
            .match_indices("](")
            .filter(|_| is_page)
            .map(|(at, _)| (&text[at + 2..], beside.to_owned()));
        let names = text.match_indices("docs/").map(|(at, _)| (&text[at..], root()));
        for (rest, folder) in names.chain(links) {
            let name = &rest[..rest.find(|letter| !is_name(letter)).unwrap_or(rest.len())];
            let name = name.trim_end_matches('.');
            let is_document = [".md", ".json", ".png"].iter().any(|ending| name.ends_with(ending));
            if is_document && !folder.join(name).exists() {
                missing.push(format!("{} names {name}", file.display()));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn named_source_files_exist() {
    let folders = ["src", "tests", "benches", "examples"];
    let sources: Vec<PathBuf> = folders.into_iter().flat_map(rust_files).collect();
    let pages = files_with("docs/internals", &["md"]).into_iter();
    let pages = pages.chain(["ARCHITECTURE.md", "CONTRIBUTING.md"].map(|name| root().join(name)));
    let mut missing = Vec::new();
    for page in pages {
        let text = read(&page);
        let names = text
            .split('`')
            .skip(1)
            .step_by(2)
            .filter(|name| Path::new(name).extension().is_some_and(|ending| ending == "rs"));
        let names = names.filter(|name| !name.contains([' ', '<']));
        let unknown = names.filter(|name| !sources.iter().any(|source| source.ends_with(name)));
        missing.extend(unknown.map(|name| format!("{} names {name}", page.display())));
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn the_architecture_is_short() {
    let n_words = read(&root().join("ARCHITECTURE.md")).split_whitespace().count();
    assert!(
        n_words <= 2_500,
        "ARCHITECTURE.md has {n_words} words; docs/internals has room for rules and reasons"
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
