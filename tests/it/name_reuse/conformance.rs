//! Recorded answers of the original: every case of every file.

use std::io::Read as _;
use std::path::Path;

use highwater::progress::{Cancel, Progress};
use highwater::rewrite::name_reuse::{
    NameReuse, NameReuseRequest, ReuseDefect, ReuseDefectKind, SkipOptSet, VERSIONS, Version, verify,
};
use highwater::workload::{BlockProgram, Slots};
use serde_json::{Map, Value as Json, json};

use super::{program, reused};
use crate::{golden, support};

#[test]
fn the_answers_are_those_of_the_original() {
    let mut files = Vec::new();
    for folder in golden::folders("paddle") {
        files.extend(support::files(&folder, ".json"));
        files.extend(support::files(&folder, ".json.gz"));
    }
    if files.is_empty() {
        return;
    }
    let mut n_cases = 0;
    for path in files {
        let bytes = std::fs::read(&path).unwrap();
        let program = program(&support::name(&path), &bytes);
        let document: Json = serde_json::from_slice(&unpacked(&path, bytes)).unwrap();
        assert_eq!(program.name, document["name"], "{}", path.display());
        for (number, case) in document["cases"].as_array().unwrap().iter().enumerate() {
            check(&format!("{} case {number}", support::name(&path)), &program, case);
            n_cases += 1;
        }
    }
    eprintln!("{n_cases} cases");
}

fn unpacked(path: &Path, bytes: Vec<u8>) -> Vec<u8> {
    if path.extension().is_none_or(|extension| extension != "gz") {
        return bytes;
    }
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(&bytes[..])
        .read_to_end(&mut plain)
        .unwrap();
    plain
}

/// The call of a case.
fn request(options: &Json) -> NameReuseRequest {
    let known = ["level", "print_log", "skip_grads", "skip_opt_set", "skip_opt_set_kind"];
    for (key, _) in options.as_object().unwrap() {
        assert!(known.contains(&key.as_str()), "unknown option {key}");
    }
    let skip = SkipOptSet {
        names: skipped(options),
        ..SkipOptSet::default()
    };
    NameReuseRequest {
        level: match &options["level"] {
            Json::Bool(level) => i64::from(*level),
            level => level.as_i64().unwrap_or(0),
        },
        skip: skip.of_kind(kind(options)).unwrap(),
        skip_grads: options["skip_grads"] == true,
        print_log: options["print_log"] == true,
        ..NameReuseRequest::default()
    }
}

fn skipped(options: &Json) -> Vec<Box<str>> {
    match &options["skip_opt_set"] {
        Json::String(name) => vec![name.as_str().into()],
        Json::Array(names) => names.iter().map(|name| name.as_str().unwrap().into()).collect(),
        _ => Vec::new(),
    }
}

fn kind(options: &Json) -> &str {
    options["skip_opt_set_kind"].as_str().unwrap_or("set")
}

/// The argument as a script writes it; `None` for variables.
fn written(options: &Json) -> Option<String> {
    let names = skipped(options);
    let quoted: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    let listed = quoted.join(", ");
    Some(match kind(options) {
        "set" if names.is_empty() => "[]".to_owned(),
        "set" => format!("{{{listed}}}"),
        "list" => format!("[{listed}]"),
        "tuple" => format!("({listed},)"),
        "str" => listed,
        "bad_element" => format!("[{listed}, 3]"),
        _ => return None,
    })
}

/// Both commands lower options the same way: for each case with its argument as a script writes it, by version, they
/// raise what the pass raises for that argument, which for version 3 is the original's answer.
#[test]
fn both_commands_raise_what_the_original_raises() {
    let Some(path) = golden::folders("paddle")
        .iter()
        .map(|folder| folder.join("skip_opt_set_kinds.json"))
        .find(|path| path.exists())
    else {
        return;
    };
    let bytes = std::fs::read(&path).unwrap();
    let program = program("skip_opt_set_kinds.json", &bytes);
    let document: Json = serde_json::from_slice(&bytes).unwrap();
    let file = path.to_str().unwrap();
    let mut n_raised = 0;
    for case in document["cases"].as_array().unwrap() {
        let options = &case["options"];
        let Some(skip) = written(options) else { continue };
        for version in VERSIONS {
            for skip_grads in [false, true] {
                let request = NameReuseRequest {
                    version: version.version,
                    skip_grads,
                    print_log: false,
                    ..request(options)
                };
                let expected = json!(reused(&program, &request).exception);
                if version.version == Version::V3 && json!(skip_grads) == options["skip_grads"] {
                    assert_eq!(expected, case["result"]["exception"], "{options}");
                }
                n_raised += usize::from(!expected.is_null());
                let settings = [
                    format!("memory_optimize.level={}", level_text(&options["level"])),
                    format!("memory_optimize.skip_opt_set={skip}"),
                    format!(
                        "memory_optimize.skip_grads={}",
                        if skip_grads { "True" } else { "False" }
                    ),
                    format!("simulation.memory_optimize_version={}", version.release),
                ];
                let mut flags = vec![file, "--format", "json"];
                flags.extend(settings.iter().flat_map(|setting| ["--set", setting.as_str()]));
                let code = i32::from(!expected.is_null());
                let answer = crate::cli::json(&[&["reuse"], &flags[..]].concat(), code);
                assert_eq!(answer["exception"], expected, "reuse {flags:?}");
                let of_level = |level| {
                    json!(
                        reused(
                            &program,
                            &NameReuseRequest {
                                level,
                                ..request.clone()
                            }
                        )
                        .exception
                    )
                };
                check_lanes(&flags, &[Json::Null, of_level(0), of_level(1)]);
            }
        }
    }
    assert!(n_raised > 20, "{n_raised}");
}

fn level_text(level: &Json) -> String {
    match level {
        Json::Bool(level) => if *level { "True" } else { "False" }.to_owned(),
        level => level.to_string(),
    }
}

/// `compare` has a lane without the pass, which never fails, and one per level, whatever level the option says.
fn check_lanes(flags: &[&str], expected: &[Json]) {
    let output = crate::cli::run(&[&["compare"], flags].concat());
    let answer: Json = serde_json::from_slice(&output.stdout).unwrap();
    let lanes = answer["policies"].as_array().unwrap();
    let exceptions: Vec<Json> = lanes.iter().map(|lane| lane["exception"].clone()).collect();
    assert_eq!(exceptions, expected, "compare {flags:?}");
}

fn check(what: &str, program: &BlockProgram, case: &Json) {
    let request = request(&case["options"]);
    let expected = &case["result"];
    let answer = reused(program, &request);
    assert_eq!(json!(answer.exception), expected["exception"], "{what}");
    assert_eq!(answer.stderr, expected["stderr"], "{what}");
    let renames: Vec<Json> = answer
        .renames
        .iter()
        .map(|rename| {
            json!({"var": rename.variable, "cache": rename.cache, "cfg_op_index": rename.cfg_op_index,
               "block": rename.block, "op_index": rename.op_index})
        })
        .collect();
    let expected_renames = expected["renames"].as_array().unwrap();
    for (number, (ours, theirs)) in renames.iter().zip(expected_renames).enumerate() {
        assert_eq!(ours, theirs, "{what} rename {number}");
    }
    assert_eq!(renames.len(), expected_renames.len(), "{what}");
    let log: Vec<&str> = answer.log.iter().map(|line| &*line.text).collect();
    let expected_log: Vec<&str> = expected["log_lines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line.as_str().unwrap())
        .collect();
    assert_eq!(log, expected_log, "{what}");
    if let Some(blocks) = expected["final_blocks"].as_array() {
        check_blocks(what, &answer, blocks);
    }
    if case["safety"].is_object() {
        check_safety(what, &verified(program, &answer), &case["safety"]);
    }
    let quiet = reused(
        program,
        &NameReuseRequest {
            print_log: !request.print_log,
            ..request
        },
    );
    assert_eq!(quiet.renames, answer.renames, "{what}: the log changes nothing");
}

fn verified(program: &BlockProgram, answer: &NameReuse) -> Vec<ReuseDefect> {
    let cancel = Cancel::new();
    verify(program, &answer.program, &Progress::silent(&cancel)).expect("no cancel")
}

fn check_safety(what: &str, findings: &[ReuseDefect], safety: &Json) {
    let of = |kind: ReuseDefectKind| findings.iter().filter(move |finding| finding.kind == kind);
    let wrong: Vec<Json> = of(ReuseDefectKind::WrongValue)
        .map(|finding| json!([finding.op, finding.position]))
        .collect();
    let ops = |kind: ReuseDefectKind| -> Vec<Json> { of(kind).map(|finding| json!(finding.op)).collect() };
    assert_eq!(json!(wrong), safety["wrong_value_reads"], "{what}");
    assert_eq!(
        json!(ops(ReuseDefectKind::NewInPlace)),
        safety["new_inplace_ops"],
        "{what}"
    );
    assert_eq!(
        json!(ops(ReuseDefectKind::CollidingOutputs)),
        safety["ops_with_colliding_outputs"],
        "{what}"
    );
    assert_eq!(of(ReuseDefectKind::WrongValueInside).count(), 0, "{what}");
}

fn check_blocks(what: &str, answer: &NameReuse, blocks: &[Json]) {
    assert_eq!(answer.program.blocks.len(), blocks.len(), "{what}");
    for (number, (ours, theirs)) in answer.program.blocks.iter().zip(blocks).enumerate() {
        let theirs = theirs["ops"].as_array().unwrap();
        assert_eq!(ours.ops.len(), theirs.len(), "{what} block {number}");
        for (position, (ours, theirs)) in ours.ops.iter().zip(theirs).enumerate() {
            let mut op = json!({"type": ours.kind, "inputs": slots(&ours.inputs), "outputs": slots(&ours.outputs)});
            if let Some(names) = &ours.role_variables {
                op["op_role_var"] = json!(names);
            }
            assert_eq!(op, *theirs, "{what} block {number} op {position}");
        }
    }
}

fn slots(slots: &Slots) -> Json {
    let object: Map<String, Json> = slots
        .iter()
        .map(|(slot, names)| (slot.to_string(), json!(names)))
        .collect();
    Json::Object(object)
}
