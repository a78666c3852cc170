//! `--verify`: one line on standard error, and the same answer.

use super::{fails, run};

const COMMANDS: &[&[&str]] = &[
    &["compare", "sample:mixed", "--format", "json"],
    &[
        "compare",
        "sample:mixed",
        "--pin",
        "script=tests/it/fixtures/scripts/session.py",
        "--format",
        "json",
    ],
    &["compare", "sample_traces/two_graphs.trace", "--format", "json"],
    &[
        "compare",
        "sample_traces/language_model.snapshot.pickle.gz",
        "--conf",
        "-",
        "--format",
        "json",
    ],
    &["peak", "sample:bert", "--format", "json"],
    &["peak", "sample_traces/small_problem.csv"],
    &["plan", "sample_traces/small_problem.csv", "--format", "csv"],
    &["plan", "sample:resnet50", "--strategy", "ge_default", "--format", "csv"],
    // A pin that evicts is verified on its own steps.
    &[
        "compare",
        "sample:resnet50",
        "--pin",
        "evicting=tests/it/fixtures/evicting.json",
    ],
    &[
        "sweep",
        "sample:mixed",
        "--axis",
        "policy=0,2,3,4",
        "--axis",
        "iterations=1,2",
    ],
    &["sweep", "sample_traces/two_graphs.trace", "--axis", "policy=0,3"],
    &[
        "recommend",
        "sample:mixed",
        "--goal",
        "lowest-peak",
        "--axis",
        "policy=0,3",
    ],
    &["remat", "sample:resnet50", "--budget", "0.8"],
    &["remat", "sample:resnet50", "--sweep", "0.9,0.7", "--heuristic", "lru"],
    &["remat", "sample:mixed", "--graph", "train", "--budget", "0.9"],
    &["replay", "sample_traces/two_graphs.trace", "--policy", "2", "--events"],
    &[
        "replay",
        "sample_traces/two_graphs.trace",
        "--policy",
        "0",
        "--legacy",
        "--events",
    ],
    &[
        "export",
        "sample:mixed",
        "--to",
        "x.csv",
        "--as",
        "tensors",
        "--preview",
    ],
];

#[test]
fn answers_are_verified_in_every_command() {
    for command in COMMANDS {
        let plain = run(command);
        let verified = run(&[*command, &["--verify"]].concat());
        let error = String::from_utf8_lossy(&verified.stderr);
        assert_eq!(verified.status.code(), plain.status.code(), "{command:?} {error}");
        assert_eq!(verified.stdout, plain.stdout, "{command:?}");
        let lines: Vec<&str> = error
            .lines()
            .filter(|line| line.starts_with("highwater: verified: "))
            .collect();
        assert_eq!(lines.len(), 1, "{command:?} {error}");
        assert!(!lines[0].contains("0 simulations, 0 plans"), "{command:?} {error}");
    }
}

#[test]
fn a_plan_of_a_file_that_does_not_hold_is_the_answer_no() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("plan.csv");
    std::fs::write(&path, "id,lower,upper,size,offset\na,0,2,10,0\nb,1,3,10,5\n").expect("a file");
    let output = run(&["plan", &path.to_string_lossy(), "--strategy", "as_dumped", "--verify"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("--verify: plan"), "{error}");
    assert!(error.contains("both hold byte 5"), "{error}");
}

#[test]
fn torch_is_verified_by_compare() {
    let snapshot = "sample_traces/language_model.snapshot.pickle.gz";
    fails(
        &["replay", snapshot, "--allocator", "torch", "--verify"],
        "highwater compare SNAPSHOT --conf",
    );
    fails(
        &["recommend", snapshot, "--verify"],
        "highwater compare SNAPSHOT --conf",
    );
}
