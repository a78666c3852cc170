//! House rules of the manifests: every dependency has a reason, a level of optimization and a notice, and the rooms name
//! those that ARCHITECTURE.md allows.

use std::collections::{BTreeMap, BTreeSet};

use crate::tidy::{read, root};

#[test]
fn every_dependency_has_a_reason_and_a_level() {
    let manifest = read(&root().join("Cargo.toml"));
    let page = read(&root().join("docs/internals/dependencies.md"));
    let notices = read(&root().join("THIRD-PARTY.md"));
    let levels = levels(&manifest);
    let mut shipped: BTreeSet<String> = manifests().into_values().flatten().collect();
    shipped.extend(dependencies(&manifest));
    let rows = rows(&page, "| crate | level | reason |");
    let reasons: BTreeMap<&str, &str> = rows
        .flat_map(|[names, level, _]| names.split(", ").map(move |name| (name, level)))
        .collect();
    let names: Vec<&str> = table(&manifest, "[workspace.dependencies]")
        .map(|(name, _)| name)
        .filter(|name| !name.starts_with("highwater-"))
        .collect();
    assert!(names.len() > 20, "{names:?}");
    for name in &names {
        let is_shipped = shipped.contains(*name);
        let level = if is_shipped {
            levels.get(*name).unwrap_or(&levels["*"])
        } else {
            "-"
        };
        assert_eq!(
            reasons.get(name),
            Some(&level),
            "docs/internals/dependencies.md: {name} needs a row with its reason and this level"
        );
        let has_notice = notices.contains(&format!("| {name} |"));
        assert!(!is_shipped || has_notice, "THIRD-PARTY.md lacks {name}");
    }
    for name in reasons.keys().filter(|name| **name != "libfuzzer-sys") {
        assert!(
            names.contains(name),
            "docs/internals/dependencies.md: {name} is no dependency"
        );
    }
}

#[test]
fn levels_of_optimization_are_of_crates_that_are_compiled() {
    let manifest = read(&root().join("Cargo.toml"));
    let lock = read(&root().join("Cargo.lock"));
    let levels = levels(&manifest);
    assert!(levels.len() > 20, "{levels:?}");
    for (name, level) in levels.into_iter().filter(|(name, _)| *name != "*") {
        assert!(
            lock.contains(&format!("\nname = \"{name}\"\n")),
            "{name} is not compiled"
        );
        assert!(
            ["0", "1", "3"].contains(&level),
            "{name}: the rule has no level {level}"
        );
    }
}

/// The levels of `[profile.release.package]`.
fn levels(manifest: &str) -> BTreeMap<&str, &str> {
    let lines = table(manifest, "[profile.release.package]");
    lines
        .map(|(name, level)| (name.trim_end_matches(".opt-level").trim_matches('"'), level))
        .collect()
}

#[test]
fn rooms_name_those_that_the_architecture_allows() {
    let page = read(&root().join("ARCHITECTURE.md"));
    let manifests = manifests();
    let rights: BTreeMap<&str, &str> = rows(&page, "| crate | depends on |")
        .flat_map(|[rooms, rights]| ticked(rooms).map(move |room| (room, rights)))
        .collect();
    let listed: Vec<&&str> = rights.keys().collect();
    let members: Vec<&String> = manifests.keys().collect();
    assert_eq!(listed, members, "ARCHITECTURE.md lists each room once");
    for (room, rights) in rights {
        let named = rooms_in(&manifests[room]);
        let (must, may) = rights_of(rights, room, &manifests);
        let missing: Vec<&String> = must.difference(&named).collect();
        let forbidden: Vec<&String> = named.difference(&may).collect();
        assert!(
            missing.is_empty() && forbidden.is_empty(),
            "ARCHITECTURE.md, {room}: its manifest lacks {missing:?}, and names {forbidden:?} without right"
        );
    }
}

/// The rooms that a row of the table requires, and those that it allows.
fn rights_of(
    words: &str,
    room: &str,
    manifests: &BTreeMap<String, Vec<String>>,
) -> (BTreeSet<String>, BTreeSet<String>) {
    let (all_but, words) = match words.split_once("everything else but ") {
        Some((before, but)) => (Some(but), before),
        None => (None, words),
    };
    let mut parts = words.split("; ");
    let first = parts.next().unwrap_or_default();
    let must: BTreeSet<String> = ticked(first).map(str::to_owned).collect();
    let mut may = must.clone();
    if first.contains("depends on") || first.contains("depend on") {
        for one in &must {
            may.extend(reached(one, manifests));
        }
    }
    if let Some(but) = all_but {
        may.extend(manifests.keys().cloned());
        may.remove(room);
        may.retain(|one| ticked(but).all(|excepted| excepted != one));
    }
    let excluded: Vec<&str> = parts.flat_map(ticked).collect();
    may.retain(|one| !excluded.contains(&&**one));
    (must, may)
}

/// All rooms that a room depends on.
fn reached(room: &str, manifests: &BTreeMap<String, Vec<String>>) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let mut open = vec![room.to_owned()];
    while let Some(room) = open.pop() {
        open.extend(
            rooms_in(&manifests[&room])
                .into_iter()
                .filter(|one| all.insert(one.clone())),
        );
    }
    all
}

#[test]
fn rights_follow_the_words_of_the_table() {
    let manifests: BTreeMap<String, Vec<String>> = [
        ("a", vec![]),
        ("b", vec!["highwater-a".to_owned(), "serde".to_owned()]),
        ("c", vec!["highwater-b".to_owned()]),
        ("d", vec![]),
    ]
    .map(|(room, names)| (room.to_owned(), names))
    .into();
    let rights = |words: &str| {
        let (must, may) = rights_of(words, "d", &manifests);
        (
            must.into_iter().collect::<String>(),
            may.into_iter().collect::<String>(),
        )
    };
    let pair = |must: &str, may: &str| (must.to_owned(), may.to_owned());
    assert_eq!(rights("-"), pair("", ""));
    assert_eq!(rights("`b`, `a`"), pair("ab", "ab"));
    assert_eq!(rights("`c` and what it depends on"), pair("c", "abc"));
    assert_eq!(rights("`c` and what it depends on; not `a`"), pair("c", "bc"));
    assert_eq!(rights("`b`, and to read: everything else but `a`"), pair("b", "bc"));
}

/// The dependencies of every member without those of tests, by room.
fn manifests() -> BTreeMap<String, Vec<String>> {
    let members = std::fs::read_dir(root().join("src")).expect("the folder is part of the project");
    let mut found = BTreeMap::new();
    for entry in members {
        let folder = entry.expect("the folder can be listed").path();
        let path = folder.join("Cargo.toml");
        if path.exists() {
            let room = folder
                .file_name()
                .and_then(|name| name.to_str())
                .expect("a name")
                .to_owned();
            found.insert(room, dependencies(&read(&path)));
        }
    }
    found
}

/// The dependencies of a manifest on all platforms, without those of tests.
fn dependencies(manifest: &str) -> Vec<String> {
    let is_one =
        |head: &str| head == "[dependencies]" || head.starts_with("[target.") && head.ends_with(".dependencies]");
    let heads = manifest.lines().filter(|line| is_one(line));
    let names = heads
        .flat_map(|head| table(manifest, head))
        .map(|(name, _)| name.trim_end_matches(".workspace").to_owned());
    names.collect()
}

/// The rooms among dependencies.
fn rooms_in(dependencies: &[String]) -> BTreeSet<String> {
    let rooms = dependencies.iter().filter_map(|name| name.strip_prefix("highwater-"));
    rooms.map(str::to_owned).collect()
}

/// Keys and values of a table of a manifest.
fn table<'a>(manifest: &'a str, head: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let lines = manifest.lines().skip_while(move |line| *line != head).skip(1);
    let lines = lines.take_while(|line| !line.starts_with('['));
    lines.filter_map(|line| line.split_once(" = "))
}

/// The cells of the rows of a table of a page.
fn rows<'a, const N: usize>(page: &'a str, head: &'a str) -> impl Iterator<Item = [&'a str; N]> {
    let lines = page.lines().skip_while(move |line| *line != head).skip(2);
    let lines = lines.take_while(|line| line.starts_with('|'));
    lines.map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        cells.try_into().unwrap_or_else(|cells| panic!("{N} cells: {cells:?}"))
    })
}

/// The words between backticks.
fn ticked(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}
