//! A part of a session's files: a graph of several, a graph that ops call or repeat, a compiler's arena.

use highwater::analysis::LaneKind;
use highwater::plan::{AS_DUMPED, AS_LOGGED, recorded_name};
use highwater::session::{Command, Document, Session, SourceSpec, Worker};
use highwater::workload::{DeviceProfiles, PartOf, Workload};

use crate::cli::plan::file;
use crate::cli::{fails, json};
use crate::support::{files, shared};

fn opened(sources: Vec<SourceSpec>) -> Session {
    let worker = Worker::start(|| {}).unwrap();
    let mut session = Session::new(Document::new(sources), DeviceProfiles::bundled().unwrap(), worker);
    session.settle();
    session
}

fn sample(name: &str) -> SourceSpec {
    SourceSpec::Path(format!("{}/sample_traces/{name}", env!("CARGO_MANIFEST_DIR")).into())
}

/// Commands that the window offers to copy must work for any answer.
#[track_caller]
fn run_command(line: &str) {
    assert!(line.contains(" --graph "), "{line}");
    let words = line.replacen("highwater", env!("CARGO_BIN_EXE_highwater"), 1);
    let output = std::process::Command::new("sh").args(["-c", &words]).output().unwrap();
    let code = output.status.code();
    assert!(
        matches!(code, Some(0 | 1)),
        "{line}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Every part of a session can be answered, and undo restores the whole.
#[track_caller]
fn check(sources: Vec<SourceSpec>) -> usize {
    let mut session = opened(sources);
    let loaded = session.loaded().unwrap_or_else(|| panic!("{:?}", session.problem()));
    let (whole, parts) = (loaded.whole.clone(), loaded.parts.clone());
    for part in &parts {
        session.apply(Command::ShowPart(Some(part.name.clone())));
        session.settle();
        let (comparison, _) = session.answer().unwrap();
        assert!(!session.is_stale(), "{}: {:?}", part.name, session.problem());
        match &part.of {
            PartOf::Arena(arena) => {
                assert!(comparison.lane_kind() == LaneKind::Strategies, "{}", part.name);
                let mut lanes = comparison.lanes.iter().map(|lane| lane.strategy.name);
                let recorded = lanes.find(|name| [AS_DUMPED, AS_LOGGED].contains(name));
                let wanted = arena.recorded.as_ref().map(recorded_name);
                assert_eq!(recorded, wanted, "{}", part.name);
            }
            PartOf::Entry(source) => {
                let alone = Workload::new(part.name.clone(), source.clone()).with_logged_graphs();
                assert_eq!(comparison.workload.source, alone.source);
            }
            PartOf::Graph(_) | PartOf::Body(..) => {
                assert_eq!(comparison.workload.graphs().len(), 1);
                assert_eq!(comparison.workload.graphs()[0].name, part.name);
            }
        }
        run_command(&session.command_line());
        session.apply(Command::Undo);
        session.settle();
        assert_eq!(session.document().part, None);
        assert!(std::sync::Arc::ptr_eq(&session.loaded().unwrap().workload, &whole));
    }
    // A part that vanished is replaced by the whole.
    session.apply(Command::ShowPart(Some("missing".to_owned())));
    session.settle();
    assert_eq!(session.document().part, None);
    parts.len()
}

#[test]
fn parts_of_the_samples_are_looked_at_alone() {
    let mut n_parts = 0;
    for path in files(format!("{}/sample_traces", env!("CARGO_MANIFEST_DIR")).as_ref(), "") {
        if path.extension().is_some_and(|ending| ending == "md") {
            continue;
        }
        n_parts += check(vec![SourceSpec::Path(path)]);
    }
    assert!(n_parts > 5, "{n_parts}");
    assert!(check(vec![sample("mobilenet_v2.onnx"), sample("lstm_tiny.tflite")]) >= 4);
}

#[test]
fn arenas_of_the_corpus_are_compared_with_our_plans() {
    let mut n_parts = 0;
    for folder in ["corpus/made/tflite", "corpus/made/xla", "corpus/fetched/ge_dumps"] {
        let Some(folder) = shared(folder) else { return };
        let subfolders = files(&folder, "").into_iter().filter(|path| path.is_dir());
        for folder in subfolders.chain([folder.clone()]) {
            for path in files(&folder, "") {
                let name = path.to_string_lossy();
                if [".tflite", ".hlo.pb", "_Build.txt"]
                    .iter()
                    .any(|ending| name.ends_with(ending))
                {
                    n_parts += check(vec![SourceSpec::Path(path)]);
                }
            }
        }
    }
    assert!(n_parts > 10, "{n_parts}");
}

#[test]
fn graphs_of_logs_and_their_arenas_are_looked_at_alone() {
    let Some(folder) = shared("corpus/made/plog") else {
        return;
    };
    let source = |name: &str| SourceSpec::Path(folder.join(name));
    let logs = files(&folder.join("p0_train_eval/debug/plog"), "log").into_iter();
    let logs = logs.chain([folder.join("p2_train_eval.debug.log")]);
    let texts: Vec<String> = logs.map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let both = file("both.log", &texts.concat());
    for (sources, count) in [
        // Three graphs, two of them placed.
        (vec![source("p0_train_eval")], 5),
        (vec![source("old_2020.log")], 2),
        // Two processes, each with two arenas.
        (vec![SourceSpec::Path(both.path.clone().into())], 6),
        (vec![source("multi_process.log")], 0),
    ] {
        assert_eq!(check(sources), count);
    }
}

#[test]
fn compare_takes_one_graph_by_name() {
    let file = format!("{}/sample_traces/lstm_tiny.tflite", env!("CARGO_MANIFEST_DIR"));
    let name = "sequential_1/lstm_1/while_body";
    let answer = json(&["compare", &file, "--graph", name, "--format", "json"], 0);
    assert!(answer["policies"][0]["peak_live_bytes"].as_u64().unwrap() > 0);
    let alone = json(&["compare", &file, "--graph", "main", "--format", "json"], 0);
    let whole = json(&["compare", &file, "--format", "json"], 0);
    assert_eq!(alone["policies"][0], whole["policies"][0]);
    fails(
        &["compare", &file, "--graph", "missing"],
        "the file has main, sequential_1/lstm_1",
    );
}
