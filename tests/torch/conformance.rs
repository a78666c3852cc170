//! Every answer that the released allocators gave to the traces below `HIGHWATER_SHARED`, in every field.
//!
//! Without the variable these tests print "skipped".

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use highwater_torch::{Replay, Settings, Trace, Version, trial};
use serde_json::Value;

/// Where answers are; none without the variable.
fn folders() -> Vec<PathBuf> {
    let Ok(shared) = std::env::var("HIGHWATER_SHARED") else {
        println!("skipped: set HIGHWATER_SHARED");
        return Vec::new();
    };
    let places = ["conformance", "pending"];
    places
        .map(|place| Path::new(&shared).join(place).join("torch_alloc"))
        .to_vec()
}

fn unpacked(path: &Path) -> String {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut text = String::new();
    let mut reader = flate2::read::GzDecoder::new(&*bytes);
    reader.read_to_string(&mut text).expect("it is packed text");
    text
}

/// The first field in which two lines differ, with both values.
fn difference(ours: &str, theirs: &str) -> Option<String> {
    if ours == theirs {
        return None;
    }
    let ours: Value = serde_json::from_str(ours).unwrap_or_else(|error| panic!("{error}: {ours}"));
    let theirs: Value = serde_json::from_str(theirs).expect("a golden line is JSON");
    let (Value::Object(ours), Value::Object(theirs)) = (&ours, &theirs) else {
        return Some("no object".to_owned());
    };
    let keys: Vec<&String> = theirs.keys().chain(ours.keys()).collect();
    let differs = |key: &&&String| ours.get(**key) != theirs.get(**key);
    keys.iter().find(differs).map(|key| {
        let text = |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), Value::to_string);
        let (got, wanted) = (text(ours.get(*key)), text(theirs.get(*key)));
        format!("field {key}: {got:.600} instead of {wanted:.600}")
    })
}

/// The first difference of a replay to its golden answers.
fn first_difference(trace: &Trace, settings: Settings, golden: &str) -> Option<String> {
    let rules = settings.version.rules();
    let mut lines = golden.lines();
    let mut replay = Replay::new(trace, settings, rules);
    let mut ours = String::new();
    for answer in replay.by_ref() {
        ours.clear();
        answer.write_json(&mut ours);
        let found = difference(&ours, lines.next().unwrap_or("{}"));
        if let Some(found) = found {
            return Some(format!(
                "command {} {:?}: {found}",
                answer.index, trace.commands[answer.index]
            ));
        }
    }
    ours.clear();
    replay.closing().write_json(&mut ours);
    difference(&ours, lines.next().unwrap_or("{}")).map(|found| format!("end: {found}"))
}

/// Compares the chosen answers (folder, trace, key); returns what differs.
fn compare(answers: &str, version: Version, is_chosen: impl Fn(&Path, &str, &str) -> bool) -> Vec<String> {
    let folders = folders().into_iter().filter(|folder| folder.join(answers).is_dir());
    let wrong = folders.flat_map(|folder| compare_folder(&folder, answers, version, &is_chosen));
    wrong.collect()
}

fn compare_folder(
    folder: &Path,
    answers: &str,
    version: Version,
    is_chosen: &impl Fn(&Path, &str, &str) -> bool,
) -> Vec<String> {
    let configs = std::fs::read_to_string(folder.join("configs.json")).expect("it is there");
    let configs: BTreeMap<String, String> = serde_json::from_str(&configs).expect("it is a table");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder.join(answers))
        .expect("it is a folder")
        .map(|entry| entry.expect("it can be listed").path())
        .collect();
    files.sort();
    let mut wrong = Vec::new();
    let mut count = 0;
    for file in &files {
        let name = file.file_name().and_then(|name| name.to_str()).expect("a name");
        let mut parts = name.split('.');
        let (trace, key) = (parts.next().expect("a trace"), parts.next().expect("a key"));
        if !is_chosen(folder, trace, key) {
            continue;
        }
        count += 1;
        let text = unpacked(&folder.join("traces").join(format!("{trace}.trace.gz")));
        let trace = Trace::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let conf = configs[key].trim_start_matches('-');
        let settings = Settings::parse(conf, version).unwrap_or_else(|error| panic!("{conf}: {error}"));
        let golden = unpacked(file);
        wrong.extend(first_difference(&trace, settings, &golden).map(|found| format!("{name}: {found}")));
    }
    println!(
        "{}: {} of {count} equal with {version}",
        folder.join(answers).display(),
        count - wrong.len()
    );
    wrong
}

/// Everything a folder holds is equal.
fn check(answers: &str, version: Version) {
    let wrong = compare(answers, version, |_, _, _| true);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn newest_answers_are_equal() {
    check("answers", Version::Torch2_15);
}

#[test]
fn answers_of_2_12_are_equal() {
    check("answers_v212", Version::Torch2_12);
}

#[test]
fn answers_of_2_9_are_equal() {
    check("answers_v29", Version::Torch2_9);
}

/// Where 2.9 has no own answers it gave those of 2.15, but for keys that it does not know.
#[test]
fn other_answers_of_2_9_are_those_of_2_15() {
    let unknown = ["throw", "exp_throw", "frac5", "exp_frac5", "exp_ls", "ms20"];
    let wrong = compare("answers", Version::Torch2_9, |folder, trace, key| {
        let own = folder.join("answers_v29").join(format!("{trace}.{key}.jsonl.gz"));
        let is_known = !unknown.contains(&key) && !key.starts_with("ls");
        is_known && trace != "pool_nosplit" && !own.exists()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn settings_are_accepted_and_refused_alike() {
    let Some(folder) = folders().into_iter().next() else {
        return;
    };
    let cases = std::fs::read_to_string(folder.join("config_cases.jsonl")).expect("it is there");
    let mut wrong = Vec::new();
    for line in cases.lines() {
        let case: Value = serde_json::from_str(line).expect("a line is JSON");
        let conf = case["conf"].as_str().expect("a text");
        match Settings::parse(conf, Version::Torch2_15) {
            Ok(settings) if case["accepted"] == true => {
                let got = trial(settings);
                let blocks: Vec<Option<u64>> = serde_json::from_value(case["blocks"].clone()).expect("numbers");
                if got.blocks[..] != blocks[..] || case["reserved"] != got.reserved {
                    wrong.push(format!("{conf}: {got:?} instead of {line}"));
                }
            }
            Ok(_) => wrong.push(format!("{conf} is accepted, not refused: {}", case["message"])),
            Err(error) if case["accepted"] == true => wrong.push(format!("{conf} is refused: {error}")),
            Err(error) => println!("{conf}\n    ours:   {error}\n    theirs: {}", case["message"]),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
