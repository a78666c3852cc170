//! Logs of CANN in the shared corpus: `inspect` answers with the figures of `expected.json`, key by key.
//!
//! The corpus is found by the variable `HIGHWATER_SHARED`; without it the test prints "skipped".

use highwater::analysis::inspect;
use highwater::export::{Answer as _, InspectAnswer, InspectedFile};
use highwater::graph::Bindings;
use highwater::progress::{Cancel, Progress};
use highwater::session::{SourceSpec, read_source};
use highwater::workload::Workload;
use serde_json::Value as Json;

use crate::support::shared;

#[test]
fn logs_have_the_figures_of_their_maker() {
    let Some(folder) = shared("corpus/made/plog") else {
        return;
    };
    let text = std::fs::read_to_string(folder.join("expected.json")).expect("the figures are there");
    let expected: Json = serde_json::from_str(&text).expect("JSON");
    let logs = expected["logs"].as_object().expect("an object of logs");
    let mut faults = Vec::new();
    for (name, wanted) in logs {
        let target = folder.join(wanted["target"].as_str().expect("a path"));
        let cancel = Cancel::new();
        let imported = read_source(&SourceSpec::Path(target), &Progress::silent(&cancel));
        let imported = imported.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(imported.format, "cann_log", "{name}");
        let diagnostics = imported.diagnostics;
        let workload = Workload::new(name.clone(), imported.source);
        for recording in workload.recordings() {
            assert_eq!(recording.check(), Ok(()), "{name}");
        }
        let files = [InspectedFile {
            name: name.clone(),
            format: "cann_log",
            inspection: inspect(&workload, &Bindings::new()),
            import: diagnostics,
        }];
        let answer = InspectAnswer {
            files: &files,
            is_single: true,
        };
        let answer = serde_json::to_value(answer.json()).expect("JSON");
        same(
            &format!("{name}: log"),
            &wanted["cann_log"],
            &answer["cann_log"],
            &mut faults,
        );
        if wanted["plans"] != answer["plans"] {
            same(
                &format!("{name}: plans"),
                &wanted["plans"],
                &answer["plans"],
                &mut faults,
            );
            faults.push(format!("{name}: the plans differ"));
        }
    }
    assert!(!logs.is_empty() && faults.is_empty(), "{}", faults.join("\n"));
}

/// Objects may have further keys, lists no further entries.
fn same(place: &str, wanted: &Json, ours: &Json, faults: &mut Vec<String>) {
    match (wanted, ours) {
        (Json::Object(wanted), Json::Object(ours)) => {
            for (key, value) in wanted {
                let own = ours.get(key).unwrap_or(&Json::Null);
                if !ours.contains_key(key) {
                    faults.push(format!("{place}: no {key}"));
                }
                same(&format!("{place}.{key}"), value, own, faults);
            }
        }
        (Json::Array(wanted), Json::Array(ours)) if wanted.len() == ours.len() => {
            for (position, (value, own)) in wanted.iter().zip(ours).enumerate() {
                same(&format!("{place}[{position}]"), value, own, faults);
            }
        }
        _ if wanted != ours => faults.push(format!("{place}: {ours}, not {wanted}")),
        _ => {}
    }
}
