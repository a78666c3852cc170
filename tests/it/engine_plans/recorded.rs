//! Recorded answers of the engine's planner, line by line: all fields for variants with a stable sort, figures for the
//! others, and that no recorded plan lets live buffers overlap.

use std::path::Path;

use highwater::export::engine_plan_json;
use highwater::plan::{Assigner, Plan, verify};
use highwater::workload::ProblemEntry;
use serde_json::Value as Json;

use super::{first, planned};
use crate::support;

/// Variants planned here: name, assigner, whether sorting is stable.
const VARIANTS: [(&str, Assigner, bool); 6] = [
    ("stable_default", Assigner::Default, true),
    ("stable_only_binary", Assigner::Binary, true),
    ("default", Assigner::Default, false),
    ("only_binary", Assigner::Binary, false),
    ("only_max", Assigner::Max, false),
    ("no_reuse", Assigner::NoReuse, false),
];

fn cases() -> Vec<(String, ProblemEntry, Vec<Json>)> {
    let Some(folder) = support::shared("conformance/ge/plan") else {
        return Vec::new();
    };
    let read = |path: &Path| {
        let entry = first(support::read(&support::name(path), &std::fs::read(path).unwrap()).unwrap());
        let answers = std::fs::read_to_string(path.with_extension("jsonl")).unwrap();
        let answers = answers.lines().map(|line| serde_json::from_str(line).unwrap());
        (support::name(path), entry, answers.collect())
    };
    let cases: Vec<_> = support::files(&folder, ".ops").iter().map(|path| read(path)).collect();
    assert!(!cases.is_empty());
    cases
}

#[test]
fn plans_equal_the_recorded_ones() {
    for (name, entry, answers) in cases() {
        for answer in answers {
            let variant = answer["variant"].as_str().unwrap();
            let Some((_, assigner, is_stable)) = VARIANTS.iter().find(|row| row.0 == variant) else {
                continue;
            };
            let plan = planned(&entry, *assigner);
            let ops = entry.ops.as_ref().unwrap();
            let own = serde_json::to_value(engine_plan_json(ops, &plan, *assigner, *is_stable)).unwrap();
            // An unstable sort moves offsets and blocks, but changes no figure.
            let is_loose = matches!(variant, "default" | "only_binary");
            for (field, value) in answer.as_object().unwrap() {
                if !is_loose || !matches!(field.as_str(), "ops" | "blocks") {
                    assert_eq!(&own[field], value, "{name} {variant} {field}");
                }
            }
            assert_eq!(own.as_object().unwrap().len(), answer.as_object().unwrap().len());
        }
    }
}

#[test]
fn no_recorded_plan_lets_live_buffers_overlap() {
    for (name, entry, answers) in cases() {
        let ids: Vec<&str> = (0..entry.ids.len()).map(|position| entry.ids.get(position)).collect();
        for answer in answers {
            let offset = |id: &&str| {
                let (op, place) = id.rsplit_once(':').unwrap();
                let list = if place.starts_with("ws") { "ws" } else { "out" };
                let number: usize = place.trim_start_matches("ws").parse().unwrap();
                answer["ops"][op][list][number].as_u64().unwrap()
            };
            let plan = Plan::new(&entry.problem, ids.iter().map(offset).collect());
            assert_eq!(verify(&entry.problem, &plan), Ok(()), "{name} {}", answer["variant"]);
            assert!(plan.footprint.get() <= answer["arena"].as_u64().unwrap(), "{name}");
        }
    }
}

#[test]
fn the_command_line_writes_the_recorded_lines() {
    let Some(folder) = support::shared("conformance/ge/plan") else {
        return;
    };
    for path in support::files(&folder, ".ops") {
        let answers = std::fs::read_to_string(path.with_extension("jsonl")).unwrap();
        let path = path.to_string_lossy();
        for (strategy, flags, variant) in [
            ("ge_default", &["--stable"][..], "stable_default"),
            ("ge_binary", &["--stable"][..], "stable_only_binary"),
            ("ge_max", &[][..], "only_max"),
            ("ge_no_reuse", &[][..], "no_reuse"),
        ] {
            let arguments = [&["plan", &path, "--strategy", strategy, "--events"][..], flags].concat();
            let output = crate::cli::run(&arguments);
            let own = String::from_utf8(output.stdout).unwrap();
            let marked = format!("{{\"variant\":\"{variant}\",");
            let expected = answers.lines().find(|line| line.starts_with(&marked)).unwrap();
            assert_eq!(own.trim_end(), expected, "{path} {variant}");
        }
    }
}
