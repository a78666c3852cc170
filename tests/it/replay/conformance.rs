//! Every recorded answer of the engine's own allocators below `HIGHWATER_SHARED`, field by field.
//!
//! `NAME.trace` is replayed for each `NAME.KIND.jsonl` next to it. Where a `stable` answer exists, only the totals of
//! the plain one of that policy are compared: its ties among equal sizes depend on a library's sort. Left out are fixed
//! memory under policies without it, and runs of graphs whose load failed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use highwater::sim::replay::ReplayRules;
use highwater::workload::AllocationTrace;
use serde_json::Value as Json;

use super::{lines, rules, trace};
use crate::cli::run;
use crate::golden;

/// Number of differences shown per file.
const SHOWN: usize = 3;

/// A kind of answers: the policy, whether the legacy allocator gave them, whether ties are in a stable order.
#[derive(Clone, Copy, Debug)]
struct Kind {
    policy: u8,
    is_legacy: bool,
    is_stable: bool,
}

fn kind(name: &str) -> Option<Kind> {
    let is_legacy = name == "v1";
    let number = name.strip_prefix('p').map(|rest| rest.trim_end_matches("stable"));
    let policy = if is_legacy { Some(0) } else { number?.parse().ok() };
    Some(Kind {
        policy: policy?,
        is_legacy,
        is_stable: name.ends_with("stable"),
    })
}

/// A file of answers with its trace.
#[derive(Debug)]
struct Case {
    trace: PathBuf,
    answers: PathBuf,
    kind: Kind,
    /// Compare totals only.
    is_loose: bool,
}

fn cases(folder: &Path) -> Vec<Case> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let mut found = Vec::new();
    for stem in names.iter().filter_map(|name| name.strip_suffix(".trace")) {
        for name in &names {
            let middle = name
                .strip_prefix(&format!("{stem}."))
                .and_then(|rest| rest.strip_suffix(".jsonl"));
            let Some(kind) = middle.and_then(kind) else {
                continue;
            };
            let stable = format!("{stem}.p{}stable.jsonl", kind.policy);
            found.push(Case {
                trace: folder.join(format!("{stem}.trace")),
                answers: folder.join(name),
                kind,
                is_loose: !kind.is_legacy && !kind.is_stable && names.contains(&stable),
            });
        }
    }
    found
}

fn all_cases() -> Option<Vec<Case>> {
    let folders = ["ge/dyn", "ge/static"].into_iter().flat_map(golden::folders);
    let cases: Vec<Case> = folders.flat_map(|folder| cases(&folder)).collect();
    (!cases.is_empty()).then_some(cases)
}

fn read_trace(path: &Path) -> std::sync::Arc<AllocationTrace> {
    trace(&std::fs::read_to_string(path).unwrap())
}

fn rules_of(trace: &AllocationTrace, kind: Kind) -> ReplayRules {
    ReplayRules {
        is_legacy: kind.is_legacy,
        ..rules(trace, kind.policy)
    }
}

#[test]
fn every_recorded_answer_is_given() {
    let Some(cases) = all_cases() else {
        return;
    };
    let mut wrong = Vec::new();
    for case in &cases {
        let trace = read_trace(&case.trace);
        let given = lines(&trace, rules_of(&trace, case.kind));
        let recorded = std::fs::read_to_string(&case.answers).unwrap();
        let differences = differences(case, &recorded, &given);
        if !differences.is_empty() {
            wrong.push(format!(
                "{} ({} differences)",
                case.answers.display(),
                differences.len()
            ));
            wrong.extend(differences.into_iter().take(SHOWN));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_command_line_gives_the_same_lines() {
    let Some(cases) = all_cases() else {
        return;
    };
    for case in cases
        .iter()
        .filter(|case| case.kind.is_legacy || case.kind.is_stable)
        .take(4)
    {
        let (path, policy) = (case.trace.to_string_lossy(), case.kind.policy.to_string());
        let mut arguments = vec!["replay", &path, "--policy", &policy, "--events"];
        if case.kind.is_legacy {
            arguments.push("--legacy");
        }
        let output = run(&arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        let given = String::from_utf8(output.stdout).unwrap();
        let given: Vec<String> = given.lines().map(str::to_owned).collect();
        let recorded = std::fs::read_to_string(&case.answers).unwrap();
        let differences = differences(case, &recorded, &given);
        assert!(differences.is_empty(), "{arguments:?}\n{}", differences.join("\n"));
    }
}

/// One sentence for each field that differs.
fn differences(case: &Case, recorded: &str, given: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    let recorded: Vec<&str> = recorded.lines().collect();
    if recorded.len() != given.len() {
        found.push(format!("  {} lines expected, got {}", recorded.len(), given.len()));
    }
    let mut not_loaded = BTreeSet::new();
    for (number, (expected, got)) in recorded.iter().zip(given).enumerate() {
        let expected: Json = serde_json::from_str(expected).unwrap();
        let got: Json = serde_json::from_str(got).unwrap();
        let graph = expected["g"].as_str().unwrap_or("").to_owned();
        match expected["ev"].as_str() {
            Some("load") if expected["ok"] == false => {
                not_loaded.insert(graph);
            }
            Some("load") => {
                not_loaded.remove(&graph);
            }
            Some("exec" | "begin" | "finish") if not_loaded.contains(&graph) => continue,
            Some("fixed" | "unfixed") if matches!(case.kind.policy, 0 | 3) => continue,
            _ => {}
        }
        let loose = case.is_loose.then(|| (totals(&expected), totals(&got)));
        let (expected, got) = loose.unwrap_or((expected, got));
        for (field, value) in expected.as_object().unwrap() {
            if got.get(field) != Some(value) {
                found.push(difference(number + 1, field, value, got.get(field)));
            }
        }
        // The order of fields is that of the recorded lines.
        if !case.is_loose && found.is_empty() && expected["ok"] != false {
            let fields = |line: &str| -> Vec<String> {
                let object: key_order::Fields = serde_json::from_str(line).unwrap();
                object.0
            };
            let (wanted, have) = (fields(recorded[number]), fields(&given[number]));
            if wanted != have {
                found.push(format!(
                    "  line {}: fields {wanted:?} expected, got {have:?}",
                    number + 1
                ));
            }
        }
    }
    found
}

fn difference(line: usize, field: &str, expected: &Json, got: Option<&Json>) -> String {
    let short = |value: &Json| value.to_string().chars().take(400).collect::<String>();
    let got = got.map_or_else(|| "nothing".to_owned(), short);
    format!(
        "  line {line}, {field}:\n    expected {}\n    got      {got}",
        short(expected)
    )
}

/// The fields that do not depend on the order of equal sizes.
fn totals(line: &Json) -> Json {
    let arena = |field: &str| line["am"][field].clone();
    let driver = |field: &str| line["dev"].get(field).cloned().unwrap_or(Json::Null);
    serde_json::json!({
        "ev": line["ev"], "size": line["size"], "ok": line["ok"], "used": line["used"], "phys": line["phys"],
        "total": arena("total"), "arena_used": arena("used"), "peak": arena("peak"), "users": arena("used_count"),
        "mallocs": driver("malloc"), "frees": driver("free"), "pallocs": driver("palloc"), "pfrees": driver("pfree"),
        "peak_used": driver("peak_used"), "memset_bytes": driver("memset_bytes"),
    })
}

/// The keys of an object in the order of the text, which a map of values does not keep.
mod key_order {
    use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};

    pub(super) struct Fields(pub(super) Vec<String>);

    impl<'de> Deserialize<'de> for Fields {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Keys;
            impl<'de> Visitor<'de> for Keys {
                type Value = Fields;
                fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    formatter.write_str("an object")
                }
                fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                    let mut keys = Vec::new();
                    while let Some((key, IgnoredAny)) = map.next_entry::<String, IgnoredAny>()? {
                        keys.push(key);
                    }
                    Ok(Fields(keys))
                }
            }
            deserializer.deserialize_map(Keys)
        }
    }
}
