//! The session: commands in, state out; the newest edit wins; only the test waits.

mod flame;
mod found_plans;
mod names;
mod peak;
mod pins;
mod remat;
mod request;
mod schedule;
mod search;
mod space;
mod sweep;

use std::path::PathBuf;
use std::sync::Arc;

use highwater::analysis::{LaneId, LaneKind};
use highwater::diagnostics::Severity;
use highwater::session::{Command, ConfigForm, Document, Notice, SAMPLES, Session, SourceSpec, Worker, sample};
use highwater::sim::StaticMemoryPolicy;
use highwater::workload::{DeviceProfiles, GraphIdx};

/// A graph with one symbolic dimension.
const SYMBOLIC: &str = r#"{"highwater_graph": 1,
    "nodes": [{"name": "a", "op": "relu", "inputs": ["x"],
               "outputs": [{"id": "y", "shape": ["seq", 1024], "dtype": "float32"}]},
              {"name": "b", "op": "relu", "inputs": ["y"],
               "outputs": [{"id": "z", "shape": ["seq"], "dtype": "float32"}]}],
    "inputs": [{"id": "x", "shape": ["seq", 1024], "dtype": "float32"}], "outputs": ["z"]}"#;

fn session() -> Session {
    session_of("resnet50")
}

/// A session of a bundled sample with its first answer.
pub(crate) fn session_of(name: &str) -> Session {
    settled(vec![SourceSpec::Sample(sample(name).unwrap())])
}

/// A session with its first answer.
pub(crate) fn settled(sources: Vec<SourceSpec>) -> Session {
    let mut session = open(sources);
    session.settle();
    session
}

/// A session that has not answered yet.
pub(crate) fn open(sources: Vec<SourceSpec>) -> Session {
    let profiles = DeviceProfiles::bundled().unwrap();
    let worker = Worker::start(|| {}).unwrap();
    Session::new(Document::new(sources), profiles, worker)
}

pub(crate) fn set(session: &mut Session, key: &str, text: &str) {
    session.apply(Command::set_option(key, text));
}

fn bytes(text: &str) -> Vec<SourceSpec> {
    vec![SourceSpec::Bytes {
        name: "dropped.json".to_owned(),
        bytes: Arc::from(text.as_bytes()),
    }]
}

#[test]
fn every_sample_opens_and_its_policies_differ_as_documented() {
    for sample in SAMPLES {
        let mut session = open(vec![SourceSpec::Sample(sample)]);
        session.settle();
        let (comparison, _) = session
            .answer()
            .unwrap_or_else(|| panic!("{}: {:?}", sample.name, session.problem()));
        if comparison.lane_kind() == LaneKind::Recordings {
            assert!(!comparison.lanes.is_empty(), "{}", sample.name);
            continue;
        }
        assert_eq!(comparison.simulated_lanes().count(), 4, "{}", sample.name);
        let is_one_static = comparison.session.graphs.len() == 1 && comparison.session.graphs[0].is_static;
        assert!(comparison.equivalence.is_none() || is_one_static, "{}", sample.name);
        let peaks: Vec<u64> = comparison
            .lanes
            .iter()
            .map(|lane| lane.summary.peak_reserved.get())
            .collect();
        if !is_one_static {
            assert!(peaks.iter().any(|peak| *peak != peaks[0]), "{}: {peaks:?}", sample.name);
        }
    }
}

#[test]
fn an_edit_changes_the_answer_and_the_findings_at_once() {
    let mut session = session();
    assert_eq!(session.answer().unwrap().0.active_policy, StaticMemoryPolicy::Dynamic);
    set(&mut session, "memory_config.static_memory_policy", "2");
    set(&mut session, "graph_max_parallel_model_num", "2");
    assert!(session.is_stale());
    assert!(
        session
            .findings()
            .iter()
            .any(|finding| finding.rule == "R20" && finding.severity == Severity::Error)
    );
    session.settle();
    let (comparison, _) = session.answer().unwrap();
    assert_eq!(comparison.active_policy, StaticMemoryPolicy::StaticExtend);
    assert!(!session.is_stale());
}

#[test]
fn the_newest_edit_wins() {
    let mut session = session();
    for iterations in 2..20 {
        session.apply(Command::SetIterations(iterations));
    }
    session.settle();
    assert_eq!(session.answer().unwrap().0.axis.runs.len(), 2 * 19);
}

#[test]
fn cancel_keeps_the_last_answer() {
    let mut session = session();
    session.apply(Command::SetIterations(900));
    session.apply(Command::Cancel);
    assert!(session.busy().is_none());
    assert!(session.is_stale());
    assert_eq!(session.answer().unwrap().0.axis.runs.len(), 2);
    set(&mut session, "external_weight", "true");
    session.apply(Command::SetIterations(1));
    session.settle();
    assert!(!session.is_stale());
}

#[test]
fn a_bad_file_is_a_sentence_and_the_answer_stays() {
    let mut session = session();
    let before = session.document().clone();
    session.apply(Command::Open(bytes("{\"nodes\": [")));
    session.settle();
    assert!(matches!(session.notice(), Some(Notice::Failed(text)) if text.contains("dropped.json")));
    assert_eq!(*session.document(), before, "what was open stays open");
    assert!(!session.is_stale());
    let mut first = open(bytes("{\"nodes\": ["));
    first.settle();
    assert!(
        first.problem().unwrap().contains("dropped.json"),
        "{:?}",
        first.problem()
    );
    session.apply(Command::Open(vec![SourceSpec::Sample(sample("mobilenet").unwrap())]));
    session.settle();
    assert_eq!(session.problem(), None);
    assert!(!session.is_stale());
}

#[test]
fn a_symbolic_dimension_starts_with_one_and_takes_a_list() {
    let mut session = open(bytes(SYMBOLIC));
    session.settle();
    assert_eq!(session.scheduled().dims["seq"], [1]);
    assert!(
        session.document().plan.dims.is_empty(),
        "a comparison edits no document"
    );
    assert!(session.assumed_dims().contains("seq"), "and says so");
    let (assumed, _) = session.answer().unwrap();
    assert!(assumed.assumed_dims.contains("seq"));
    assert!(assumed.recommendations.is_empty() && assumed.trade().is_empty() && assumed.equivalence.is_none());
    let why = assumed.assumed_sentence().expect("why");
    assert!(why.contains("seq has no value, and 1 is assumed"), "{why}");
    session.apply(Command::SetDim {
        name: "seq".to_owned(),
        values: vec![1000, 2000, 500],
    });
    session.settle();
    let (comparison, _) = session.answer().unwrap();
    assert_eq!(comparison.axis.runs.len(), 3);
    assert_eq!(comparison.equivalence, None);
    assert!(session.assumed_dims().is_empty());
    assert!(!comparison.session.graphs[0].is_static);
    // Undo, and once more where nothing is left to undo: the value is assumed, and marked as such.
    for _ in 0..2 {
        session.apply(Command::Undo);
        session.settle();
        assert!(session.assumed_dims().contains("seq"));
        assert_eq!(session.dim_values("seq"), [1]);
    }
    // The pin keeps its value when others change.
    let configuration = session.configuration();
    assert_eq!(configuration.plan.dims["seq"], [1]);
    assert!(!session.name_for_pin(&configuration).contains("seq"));
}

#[test]
fn a_training_graph_gets_its_evaluation_graph_in_one_step() {
    let text = r#"{"highwater_graph": 1, "name": "net",
        "nodes": [{"name": "f", "op": "mm", "inputs": ["x", "w"], "phase": "forward",
                   "outputs": [{"id": "loss", "shape": [64, 1024], "dtype": "float32"}]},
                  {"name": "b", "op": "mm_grad", "inputs": ["loss", "w"], "phase": "backward",
                   "outputs": [{"id": "g", "shape": [1024, 1024], "dtype": "float32"}]},
                  {"name": "o", "op": "add_", "inputs": ["w", "g"], "phase": "optimizer",
                   "outputs": [{"id": "w2", "shape": [1024, 1024], "dtype": "float32", "alias_of": "w"}]}],
        "inputs": [{"id": "x", "shape": [64, 1024], "dtype": "float32"},
                   {"id": "w", "name": "weight", "shape": [1024, 1024], "dtype": "float32", "role": "param"}],
        "outputs": ["loss"]}"#;
    let mut session = open(bytes(text));
    session.settle();
    session.apply(Command::SetEvaluation(true));
    session.settle();
    let (comparison, _) = session.answer().unwrap();
    let names: Vec<&str> = comparison
        .workload
        .graphs()
        .iter()
        .map(|entry| entry.name.as_str())
        .collect();
    assert_eq!(names, ["net", "net (evaluation)"]);
    assert_eq!(comparison.workload.graphs()[1].graph.ops().len(), 1);
    // Both graphs use one variable.
    assert_eq!(comparison.session.variables.len(), 1);
    // Its entries come back with it.
    let entries = vec!["net*3".parse().unwrap(), "net (evaluation)".parse().unwrap()];
    session.apply(Command::SetEntries {
        entries: entries.clone(),
        field: None,
    });
    session.settle();
    session.apply(Command::SetEvaluation(false));
    session.settle();
    session.apply(Command::Undo);
    session.settle();
    assert_eq!(session.document().plan.entries, entries);
}

fn export(session: &mut Session, path: PathBuf) {
    session.apply(Command::ExportConfig {
        path,
        confirmed: Vec::new(),
    });
}

#[test]
fn a_configuration_survives_export_and_import() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.json");
    let mut session = session();
    set(&mut session, "memory_config.static_memory_policy", "4");
    session.apply(Command::SetEnvironment {
        name: "ASCEND_DEVICE_ID".to_owned(),
        value: Some("3".to_owned()),
    });
    set(&mut session, "simulation.device", "generic-64GB");
    session.apply(Command::SetIterations(3));
    session.settle();
    export(&mut session, path.clone());
    let before = session.document().clone();
    wait_for_notice(&mut session);
    let text = std::fs::read_to_string(&path).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let peak = session.answer().unwrap().0.lanes[3].summary.peak_reserved.get();
    assert_eq!(json["predicted"]["4"]["peak_reserved_bytes"].as_u64(), Some(peak));
    session.apply(Command::ResetAll);
    set(&mut session, "simulation.device", "generic-16GB");
    session.apply(Command::SetIterations(1));
    session.apply(Command::DismissNotice);
    session.apply(Command::ImportConfig(path));
    wait_for_notice(&mut session);
    assert_eq!(*session.document(), before);
}

#[test]
fn another_configuration_of_a_script_is_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("train.py");
    std::fs::write(
        &path,
        "a = NPURunConfig(deterministic=1)\nb = NPURunConfig(hccl_timeout=7)\n",
    )
    .unwrap();
    let mut session = session();
    session.apply(Command::ImportConfig(path));
    wait_for_notice(&mut session);
    let taken = |session: &Session| -> Vec<String> {
        let script = session.script().expect("two configurations");
        assert_eq!(script.configurations, ["a", "b"]);
        script.taken().into_iter().map(str::to_owned).collect()
    };
    assert_eq!(taken(&session), ["b"]);
    assert!(session.document().options.is_set("hccl_timeout"));
    session.apply(Command::DismissNotice);
    session.apply(Command::ChooseConfiguration("a".to_owned()));
    wait_for_notice(&mut session);
    assert_eq!(taken(&session), ["a"]);
    let options = &session.document().options;
    assert!(options.is_set("deterministic") && !options.is_set("hccl_timeout"));
}

#[test]
fn a_configuration_with_errors_or_without_content_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session();
    let refused = |session: &mut Session, name: &str, words: &str| {
        session.apply(Command::DismissNotice);
        export(session, folder.path().join(name));
        wait_for_notice(session);
        let notice = session.notice().cloned();
        assert!(
            matches!(&notice, Some(Notice::Failed(text)) if text.contains(words)),
            "{notice:?}"
        );
    };
    set(&mut session, "memory_config.static_memory_policy", "2");
    refused(&mut session, "a.sh", "has only environment variables");
    session.apply(Command::SetEnvironment {
        name: "GE_USE_STATIC_MEMORY".to_owned(),
        value: Some("3".to_owned()),
    });
    refused(&mut session, "a.json", "R51");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    // Errors are confirmed one by one: others are refused.
    let errors = session.config_preview().errors.clone();
    let path = folder.path().join("a.json");
    for (confirmed, is_written) in [(&errors[1..], false), (&errors[..], true)] {
        session.apply(Command::DismissNotice);
        session.apply(Command::ExportConfig {
            path: path.clone(),
            confirmed: confirmed.to_vec(),
        });
        wait_for_notice(&mut session);
        assert_eq!(path.exists(), is_written, "{:?}", session.notice());
    }
}

/// Every form is previewed as it is written, and compared with the file that was read last.
#[test]
fn a_preview_is_what_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("train.py");
    std::fs::write(&script, "config = NPURunConfig(hccl_timeout=600)\n").unwrap();
    let mut session = session();
    assert_eq!(session.config_preview().base, "the defaults");
    session.apply(Command::ImportConfig(script.clone()));
    wait_for_notice(&mut session);
    session.settle();
    let preview = session.config_preview();
    assert_eq!((preview.base.as_str(), preview.differences.len()), ("train.py", 0));
    session.apply(Command::SetEnvironment {
        name: "ASCEND_DEVICE_ID".to_owned(),
        value: Some("3".to_owned()),
    });
    set(&mut session, "hccl_timeout", "700");
    session.settle();
    assert!(!session.is_current_preview(&preview));
    let preview = session.config_preview();
    assert!(session.is_current_preview(&preview));
    let told: Vec<String> = preview.differences.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        ["hccl_timeout: 700, not 600", "ASCEND_DEVICE_ID: \"3\", not unset"]
    );
    for form in ConfigForm::ALL {
        let path = folder.path().join(form.usual_name());
        session.apply(Command::DismissNotice);
        export(&mut session, path.clone());
        wait_for_notice(&mut session);
        let written = std::fs::read_to_string(&path).unwrap();
        let export = preview.export(form);
        assert_eq!(export.files.len(), 1);
        assert_eq!(export.files[0].text, written, "{form:?}");
        let states_policy = written.contains("static_memory_policy");
        assert_eq!(states_policy, form != ConfigForm::Shell, "{form:?}: {written}");
    }
    // The script that the settings come from is not replaced.
    session.apply(Command::DismissNotice);
    export(&mut session, script.clone());
    wait_for_notice(&mut session);
    assert!(matches!(session.notice(), Some(Notice::Failed(_))));
    assert!(std::fs::read_to_string(&script).unwrap().contains("hccl_timeout=600"));
}

#[test]
fn an_export_into_a_missing_folder_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session();
    export(&mut session, folder.path().join("missing/config.json"));
    wait_for_notice(&mut session);
    assert!(matches!(session.notice(), Some(Notice::Failed(text)) if text.contains("config.json")));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn the_command_line_prints_the_lanes_figures() {
    let mut session = session();
    set(&mut session, "memory_config.static_memory_policy", "2");
    session.apply(Command::SetIterations(2));
    let line = session.document().command_line(None);
    assert_eq!(
        line,
        "highwater compare sample:resnet50 --set memory_config.static_memory_policy=2 --iterations 2"
    );
}

/// Takes answers until a notice appears.
fn wait_for_notice(session: &mut Session) {
    while session.notice().is_none() {
        session.poll();
        std::thread::yield_now();
    }
    session.settle();
}

#[test]
fn edits_can_be_undone_and_redone() {
    let mut session = session();
    assert_eq!(session.can_undo_redo(), (false, false));
    set(&mut session, "memory_config.static_memory_policy", "2");
    for text in ["1", "12", "128"] {
        session.apply(Command::type_option("input_fusion_size", text));
    }
    session.apply(Command::SetIterations(3));
    session.settle();
    let last = session.document().clone();
    session.apply(Command::Undo);
    assert_eq!(session.document().plan.iterations, 1);
    session.apply(Command::Undo);
    assert!(
        !session.document().options.is_set("input_fusion_size"),
        "letters are one step"
    );
    assert_eq!(
        session.notice(),
        Some(&Notice::Done("undone: input_fusion_size".to_owned()))
    );
    session.apply(Command::Undo);
    assert!(session.document().options.is_empty());
    session.settle();
    let (comparison, _) = session.answer().unwrap();
    assert_eq!(
        comparison.active_policy,
        StaticMemoryPolicy::Dynamic,
        "the answer follows"
    );
    session.apply(Command::Undo);
    assert_eq!(session.notice(), Some(&Notice::Done("nothing to undo".to_owned())));
    for _ in 0..3 {
        session.apply(Command::Redo);
    }
    assert_eq!(session.document(), &last);
    assert_eq!(session.can_undo_redo(), (true, false));
    session.apply(Command::Undo);
    set(&mut session, "external_weight", "True");
    assert_eq!(
        session.can_undo_redo(),
        (true, false),
        "an edit ends what could be redone"
    );
    session.apply(Command::Open(vec![SourceSpec::Sample(sample("bert").unwrap())]));
    session.settle();
    assert_eq!(session.can_undo_redo(), (false, false));
}

#[test]
fn a_configuration_may_be_opened_like_a_graph() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chosen.json");
    std::fs::write(
        &path,
        r#"{"highwater_config": 1, "options": {"external_weight": true}}"#,
    )
    .unwrap();
    let mut session = session();
    set(&mut session, "memory_config.static_memory_policy", "2");
    session.apply(Command::Open(vec![SourceSpec::Path(path.clone())]));
    session.settle();
    assert!(session.document().options.is_set("external_weight"));
    assert!(matches!(session.document().sources[..], [SourceSpec::Sample(_)]));
    assert!(!session.is_stale() && session.problem().is_none());
    session.apply(Command::Undo);
    assert!(session.document().options.is_set("memory_config.static_memory_policy"));

    let mut session = open(vec![SourceSpec::Path(path)]);
    session.settle();
    assert!(session.document().options.is_set("external_weight"));
    assert!(session.answer().is_some(), "a sample stands in for the graph");
}

#[test]
fn a_file_that_an_option_names_is_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test0.cfg");
    let mut session = session();
    set(&mut session, "op_debug_config", path.to_str().unwrap());
    session.settle();
    let missing = session.findings().iter().any(|finding| finding.rule == "K6");
    std::fs::write(&path, "op_debug_config = ccec_O0,ccec_g,oom\n").unwrap();
    set(&mut session, "external_weight", "True");
    session.settle();
    let rules: Vec<&str> = session.findings().iter().map(|finding| finding.rule).collect();
    assert!(missing && rules.contains(&"R24") && !rules.contains(&"K6"), "{rules:?}");
}

#[test]
fn a_fix_removes_its_finding() {
    let mut session = session();
    set(&mut session, "mix_compile_mode", "True");
    set(&mut session, "iterations_per_loop", "10");
    let fix = session
        .findings()
        .iter()
        .find_map(|finding| finding.fixes.first().filter(|_| finding.rule == "R3"))
        .cloned()
        .expect("R3 has a fix");
    session.apply(Command::ApplyFix(fix));
    assert!(session.findings().iter().all(|finding| finding.rule != "R3"));
    session.apply(Command::Undo);
    assert!(session.findings().iter().any(|finding| finding.rule == "R3"));
}

#[test]
fn each_edited_field_is_a_separate_undo_step() {
    let mut session = session();
    let mut type_text = |texts: &[&str]| {
        for text in texts {
            session.apply(Command::type_option("input_fusion_size", *text));
        }
        session.apply(Command::EndTyping);
    };
    type_text(&["1", "12"]);
    type_text(&["2", "25"]);
    session.apply(Command::Undo);
    let value = session.document().options.get("input_fusion_size").cloned();
    assert_eq!(value, Some(highwater::options::Value::Int(12)));
}

#[test]
fn values_of_dimensions_survive_undo_and_redo() {
    let mut session = open(bytes(SYMBOLIC));
    session.settle();
    assert!(session.assumed_dims().contains("seq"));
    for values in [vec![8], vec![]] {
        session.apply(Command::SetDim {
            name: "seq".to_owned(),
            values,
        });
        session.apply(Command::EndTyping);
        session.settle();
    }
    assert!(
        session.assumed_dims().contains("seq"),
        "a cleared field is an assumption again"
    );
    session.apply(Command::Undo);
    assert_eq!(session.document().plan.dims["seq"], [8]);
    session.apply(Command::Undo);
    session.settle();
    assert!(session.assumed_dims().contains("seq"));
    session.apply(Command::Redo);
    session.settle();
    assert_eq!(session.document().plan.dims["seq"], [8]);
    assert!(session.assumed_dims().is_empty());
}

/// A problem that takes long to solve: many buffers of odd sizes with similar lives.
fn narrow_problem(n_buffers: u32) -> SourceSpec {
    let mut text = "id,lower,upper,size\n".to_owned();
    for position in 0..n_buffers {
        let lower = position * 7919 % 97;
        let (upper, size) = (lower + 5 + position * 31 % 17, position * 104_729 % 61 + 20);
        text.push_str(&format!("{position},{lower},{upper},{size}\n"));
    }
    SourceSpec::Bytes {
        name: "narrow.csv".to_owned(),
        bytes: text.into_bytes().into(),
    }
}

#[test]
fn plans_found_early_survive_a_stop() {
    let worker = Worker::start(|| {}).expect("a thread");
    let profiles = DeviceProfiles::bundled().expect("bundled");
    let mut session = Session::new(Document::new(vec![narrow_problem(400)]), profiles, worker);
    while session.answer().is_none() {
        session.poll();
        std::thread::yield_now();
    }
    assert!(session.is_preview());
    session.apply(Command::Cancel);
    session.settle();
    session.poll();
    let (comparison, _) = session.answer().expect("the plans found at once");
    assert!(comparison.lane_kind() == LaneKind::Strategies && comparison.lanes.len() == 4);
}

#[test]
fn the_planners_table_goes_on_after_an_edit() {
    let worker = Worker::start(|| {}).expect("a thread");
    let profiles = DeviceProfiles::bundled().expect("bundled");
    let mut session = Session::new(Document::new(vec![narrow_problem(40)]), profiles, worker);
    session.settle();
    session.apply(Command::ListPlans(GraphIdx(0)));
    while session.planner_table().is_none_or(|table| table.rows.is_empty()) {
        session.poll();
        std::thread::yield_now();
    }
    session.apply(Command::SetStrategy {
        lane: Some(LaneId::Problem(1)),
        strategy: Some("naive"),
    });
    session.settle();
    // As the window does in its next frame.
    assert!(!session.has_planner_table(GraphIdx(0)));
    session.apply(Command::ListPlans(GraphIdx(0)));
    session.settle();
    let table = session.planner_table().expect("a table");
    let names: Vec<&str> = table.rows.iter().map(|row| row.strategy.name).collect();
    let mut once = names.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), names.len(), "{names:?}");
    let made = highwater::plan::STRATEGIES.iter().filter(|row| row.suits(None));
    assert_eq!(names.len(), made.count());
    assert!(!session.is_planner_running() && table.pending.is_empty());
}

#[test]
fn one_file_that_cannot_be_read_leaves_the_others() {
    let unreadable = SourceSpec::Bytes {
        name: "noise.bin".to_owned(),
        bytes: Arc::from(&b"no format at all"[..]),
    };
    let mut sources = bytes(SYMBOLIC);
    sources.push(unreadable.clone());
    let mut session = open(sources);
    session.settle();
    let loaded = session.loaded().unwrap();
    assert_eq!(loaded.workload.graphs().len(), 1);
    let formats: Vec<&str> = loaded.reports.iter().map(|report| report.format).collect();
    assert_eq!(formats, ["native", ""]);
    let told = loaded.reports[1].diagnostics.entries();
    assert!(
        told.iter()
            .any(|entry| entry.severity == Severity::Error && entry.message.contains("noise.bin"))
    );
    let unread: Vec<(usize, &str)> = session.unread().collect();
    assert!(
        matches!(unread[..], [(1, why)] if why.contains("noise.bin")),
        "{unread:?}"
    );
    let mut alone = open(vec![unreadable]);
    alone.settle();
    assert!(alone.loaded().is_none() && alone.problem().is_some());
}

#[test]
fn every_unreadable_file_is_reported() {
    let unreadable = |name: &str| SourceSpec::Bytes {
        name: name.to_owned(),
        bytes: Arc::from(&b"no format at all"[..]),
    };
    let told_as = |session: &Session, severity: Severity| -> Vec<String> {
        let lines = session.problem_lines().iter();
        let of_files = lines.filter(|line| line.source == "file" && line.severity == severity);
        of_files.map(|line| line.text.clone()).collect()
    };
    let told = |session: &Session| told_as(session, Severity::Error);
    let both = [unreadable("one.bin"), unreadable("two.bin")];
    let mut session = open(both.to_vec());
    session.settle();
    let lines = told(&session);
    assert!(
        lines.len() == 2 && lines[0].contains("one.bin") && lines[1].contains("two.bin"),
        "{lines:?}"
    );
    // The previous content stays open, and failures are shown until the notice is closed.
    let mut session = open(bytes(SYMBOLIC));
    session.settle();
    session.apply(Command::Open(both.to_vec()));
    session.settle();
    assert!(session.loaded().is_some() && session.problem().is_none());
    // They are no errors of what is on the screen.
    assert_eq!(told_as(&session, Severity::Info), lines);
    assert_eq!(told(&session), Vec::<String>::new());
    assert!(matches!(session.notice(), Some(Notice::Failed(text)) if text.contains("one.bin")));
    session.apply(Command::DismissNotice);
    assert_eq!(told_as(&session, Severity::Info), Vec::<String>::new());
}
