//! Recorded answers of the original: every case of every file.

use std::io::Read as _;
use std::path::Path;

use highwater::progress::{Cancel, Progress};
use highwater::rewrite::name_reuse::{
    NameReuse, NameReuseRequest, ReuseDefect, ReuseDefectKind, SkipKind, SkipOptSet, verify,
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
    let names: Vec<Box<str>> = match &options["skip_opt_set"] {
        Json::String(name) => vec![name.as_str().into()],
        Json::Array(names) => names.iter().map(|name| name.as_str().unwrap().into()).collect(),
        _ => Vec::new(),
    };
    let kind = options["skip_opt_set_kind"].as_str().unwrap_or("set");
    NameReuseRequest {
        level: match &options["level"] {
            Json::Bool(level) => i64::from(*level),
            level => level.as_i64().unwrap_or(0),
        },
        skip: SkipOptSet {
            kind: SkipKind::find(kind).unwrap(),
            names,
        },
        skip_grads: options["skip_grads"] == true,
        print_log: options["print_log"] == true,
        ..NameReuseRequest::default()
    }
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
