//! Schedules of real sessions: files, rules, answers, the command line.

use highwater::diagnostics::Severity;
use highwater::options::{Environment, NoFiles, Options, check, check_scheduled};
use highwater::script::{ConfigDocument, from_json, to_json};
use highwater::session::{Document, DocumentFile, SourceSpec};
use highwater::workload::SchedulePlan;
use proptest::prelude::*;

use super::entries::{entries, plan};
use crate::cli::{fails, json, run};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn configurations_and_documents_keep_schedules(
        entries in prop::collection::vec(entries(), 0..5),
        names in prop::collection::btree_map("[a-z ]{1,5}", "[A-Z ]{1,5}", 0..3),
    ) {
        let plan = SchedulePlan { iterations: 3, entries, names, ..SchedulePlan::default() };
        let config = ConfigDocument { schedule: Some(plan.clone()), ..ConfigDocument::new() };
        let (read, remarks) = from_json(to_json(&config).as_bytes()).unwrap();
        prop_assert!(remarks.entries().is_empty());
        prop_assert_eq!(read.schedule.as_ref(), Some(&plan));

        let mut document = Document::new(vec![SourceSpec::from_argument("sample:bert").unwrap()]);
        document.plan = plan;
        let text = DocumentFile::new(document.clone()).text(None).unwrap();
        let (file, _) = DocumentFile::read(text.as_bytes(), None).unwrap();
        prop_assert_eq!(file.document, document);
    }
}

#[test]
fn schedules_of_older_files_are_read_and_bad_ones_have_their_place() {
    let read = |text: &str| from_json(text.as_bytes());
    let (old, _) = read(r#"{"highwater_config": 1, "schedule": {"iterations": 2, "dims": {"N": [8]}}}"#).unwrap();
    let old = old.schedule.unwrap();
    assert!(old.entries.is_empty() && old.names.is_empty() && old.iterations == 2);
    let (new, _) = read(
        r#"{"highwater_config": 1, "schedule": {"entries": [{"graph": "a", "dims": {"N": "8..16 step 4"}, "group": 1},
            {"graph": "a", "kind": "unload"}], "names": {"a": "b"}}}"#,
    )
    .unwrap();
    let new = new.schedule.unwrap();
    let texts: Vec<String> = new.entries.iter().map(ToString::to_string).collect();
    assert_eq!(texts, ["a[N=8..16 step 4] @1", "unload a"]);
    let error = read(
        "{\"highwater_config\": 1,\n \"schedule\": {\"entries\": [{\"graph\": \"a\", \"dims\": {\"N\": \"8..\"}}]}}",
    )
    .unwrap_err();
    assert_eq!(error.line, 2);
    assert!(error.reason.contains("8..64 step 8"), "{}", error.reason);
    let error =
        read(r#"{"highwater_config": 1, "schedule": {"entries": [{"graph": "a", "kind": "stop"}]}}"#).unwrap_err();
    assert!(error.reason.contains("unload"), "{}", error.reason);
}

#[test]
fn graphs_that_run_at_the_same_time_break_a_rule_under_policies_2_and_4() {
    let groups = plan(&["train @1", "evaluate @1", "train"]);
    for (policy, instead) in [
        ("0", None),
        ("1", Some("0")),
        ("2", Some("0")),
        ("3", None),
        ("4", Some("3")),
    ] {
        for key in ["memory_config.static_memory_policy", "ge.exec.staticMemoryPolicy"] {
            let mut options = Options::new();
            options.set_text(key, policy).unwrap();
            let environment = Environment::new();
            let alone = check(&options, &environment, &NoFiles);
            let findings = check_scheduled(&options, &environment, &NoFiles, &groups);
            let broken: Vec<_> = findings.iter().filter(|finding| finding.rule == "R53").collect();
            assert!(alone.iter().all(|finding| finding.rule != "R53"));
            assert_eq!(broken.len(), usize::from(instead.is_some()), "policy {policy}");
            let (Some(finding), Some(instead)) = (broken.first(), instead) else {
                continue;
            };
            assert_eq!(finding.severity, Severity::Error);
            assert_eq!(finding.options, [key]);
            assert!(
                finding.message.contains("\"train\" and \"evaluate\""),
                "{}",
                finding.message
            );
            // The offered fix mends it.
            let (mut options, mut environment) = (options.clone(), environment.clone());
            finding.fixes[0].apply(&mut options, &mut environment);
            assert_eq!(options.get(key).map(ToString::to_string).as_deref(), Some(instead));
            let after = check_scheduled(&options, &environment, &NoFiles, &groups);
            assert!(after.iter().all(|finding| finding.rule != "R53"));
        }
    }
    let mut options = Options::new();
    options.set_text("memory_config.static_memory_policy", "2").unwrap();
    for apart in [
        &["train @1", "evaluate @2"][..],
        &["train", "evaluate"],
        &["train @1", "unload train", "evaluate @1"],
    ] {
        let findings = check_scheduled(&options, &Environment::new(), &NoFiles, &plan(apart));
        assert!(findings.iter().all(|finding| finding.rule != "R53"), "{apart:?}");
    }
}

const TWO: [&str; 2] = ["sample:bert", "sample:mobilenet"];

#[test]
fn compare_runs_the_lanes_of_the_flags() {
    let compare = |more: &[&str], code: i32| {
        let arguments: Vec<&str> = ["compare"]
            .iter()
            .chain(&TWO)
            .chain(more)
            .chain(&["--format", "json"])
            .copied()
            .collect();
        json(&arguments, code)
    };
    let runs = |answer: &serde_json::Value| answer["workload"]["runs"].as_array().unwrap().len();
    let names: Vec<String> = serde_json::from_value(compare(&[], 0)["workload"]["graphs"].clone()).unwrap();
    let (bert, mobile) = (&names[0], &names[1]);
    let many = format!("{bert}[seq=32..64 step 16]*2");
    assert_eq!(runs(&compare(&["--run", &many, "--run", mobile], 0)), 7);

    let group = [format!("{bert}[seq=32] @1"), format!("{mobile} @1")];
    let arguments = ["--run", &group[0], "--run", &group[1]];
    let answer = compare(&arguments, 0);
    let messages: Vec<&str> = answer["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one["message"].as_str())
        .collect();
    assert!(
        messages.iter().any(|text| text.contains("concurrent group")),
        "{messages:?}"
    );
    let policy = ["--set", "memory_config.static_memory_policy=2"];
    let answer = compare(&[&arguments[..], &policy[..]].concat(), 1);
    assert!(answer.to_string().contains("R53"));

    let renamed = format!("{mobile}=small net");
    let answer = compare(&["--name", &renamed, "--run", "small net*2"], 0);
    assert_eq!(runs(&answer), 2);
    assert!(answer.to_string().contains("small net"));
}

#[test]
fn schedules_of_the_command_line_report_errors() {
    fails(&["compare", "sample:mobilenet", "--run", "elsewhere"], "there is no");
    fails(
        &["compare", "sample:mobilenet", "--run", "main_graph*"],
        "--run main_graph*: at character 12",
    );
    fails(
        &["compare", "sample:mobilenet", "--name", "main_graph"],
        "--name GRAPH=NAME",
    );
    fails(
        &["compare", "sample:bert", "--schedule", "/nowhere/schedule.json"],
        "/nowhere/schedule.json",
    );
}

#[test]
fn a_document_states_a_command_that_reproduces_its_figures() {
    let folder = tempfile::tempdir().unwrap();
    let schedule = folder.path().join("schedule.json");
    std::fs::write(
        &schedule,
        r#"{"iterations": 2, "entries": [{"graph": "main_graph", "repeats": 2}, {"graph": "main_graph", "kind": "unload"}],
            "names": {"main_graph": "my net"}}"#,
    )
    .unwrap();
    let schedule = schedule.to_str().unwrap();
    let by_file = json(
        &[
            "compare",
            "sample:mobilenet",
            "--schedule",
            schedule,
            "--format",
            "json",
        ],
        0,
    );
    let mut document = Document::new(vec![SourceSpec::from_argument("sample:mobilenet").unwrap()]);
    document.plan = plan(&["main_graph*2", "unload main_graph"]);
    document.plan.iterations = 2;
    document.plan.names.insert("main_graph".to_owned(), "my net".to_owned());
    let command = document.command_line(None);
    assert_eq!(
        command,
        "highwater compare sample:mobilenet --run 'main_graph*2' --run 'unload main_graph' --name 'main_graph=my net' \
         --iterations 2"
    );
    let words = [
        "compare",
        "sample:mobilenet",
        "--run",
        "main_graph*2",
        "--run",
        "unload main_graph",
        "--name",
    ];
    let words = words
        .iter()
        .chain(&["main_graph=my net", "--iterations", "2", "--format", "json"]);
    let by_flags = run(&words.copied().collect::<Vec<_>>());
    let by_flags: serde_json::Value = serde_json::from_slice(&by_flags.stdout).unwrap();
    assert_eq!(by_file, by_flags);
    let path = folder.path().join("kept.highwater");
    let path = path.to_str().unwrap();
    let written = run(&["export", "sample:mobilenet", "--schedule", schedule, "--to", path]);
    assert_eq!(
        written.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&written.stderr)
    );
    assert_eq!(
        json(&["compare", path, "--format", "json"], 0)["policies"],
        by_file["policies"]
    );
}
