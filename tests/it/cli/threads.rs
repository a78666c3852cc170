//! The same answer, to the byte, with 1 and 8 threads.

use std::process::{Command, Output};

const COMMANDS: &[&[&str]] = &[
    &["compare", "sample:mixed"],
    &["compare", "sample:bert", "--dim", "batch=1,2", "--dim", "seq=16,32"],
    &["compare", "sample_traces/two_graphs.trace"],
    &[
        "compare",
        "sample_traces/language_model.snapshot.pickle.gz",
        "--conf",
        "-",
        "--conf",
        "expandable_segments:True",
    ],
    &[
        "compare",
        "sample:mixed",
        "--pin",
        "script=tests/it/fixtures/scripts/session.py",
    ],
    &["plan", "sample:resnet50"],
    &["plan", "sample:resnet50", "--strategy", "best"],
    &["plan", "sample_traces/small_problem.csv", "--strategy", "exact"],
    &["peak", "sample:resnet50"],
    &["peak", "sample_traces/language_model.snapshot.pickle.gz"],
    &[
        "sweep",
        "sample:mixed",
        "--axis",
        "memory_config.static_memory_policy=0,2,3,4",
        "--axis",
        "iterations=1,2",
        "--all",
    ],
    &[
        "recommend",
        "sample:mixed",
        "--goal",
        "lowest-peak",
        "--axis",
        "simulation.placement_strategy=ge_default,best_fit",
    ],
    &[
        "recommend",
        "sample_traces/language_model.snapshot.pickle.gz",
        "--goal",
        "lowest-peak",
    ],
    &["remat", "sample:resnet50", "--sweep", "0.9,0.7,0.5"],
    &["inspect", "sample_traces"],
];

/// Files whose drawings are pictures, made of stripes.
const FILES: &[&[&str]] = &[
    &["sample_traces/language_model.snapshot.pickle.gz", "--as", "report"],
    &["sample:resnet50", "--as", "report"],
];

fn on_threads(command: &[&str], n_threads: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_highwater"))
        .args(command)
        .env("HIGHWATER_THREADS", n_threads)
        .output()
        .expect("the program starts")
}

/// The answer without the figures that differ from run to run.
fn answer(output: &Output) -> String {
    let text = String::from_utf8(output.stdout.clone()).expect("JSON is text");
    let lines = text.lines().filter(|line| !line.contains("\"elapsed_ns\""));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn answers_do_not_depend_on_the_number_of_threads() {
    for command in COMMANDS {
        are_equal(&[command, &["--format", "json"][..]].concat());
    }
}

#[test]
fn files_do_not_depend_on_the_number_of_threads() {
    let folder = tempfile::tempdir().expect("a folder");
    for command in FILES {
        let written = ["1", "8"].map(|n_threads| {
            let to = folder.path().join(n_threads).with_extension("html");
            let path = to.to_str().expect("a path of letters");
            let output = on_threads(&[&["export"][..], command, &["--to", path]].concat(), n_threads);
            let error = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{command:?}: {error}");
            std::fs::read(&to).expect("it is written")
        });
        assert!(written[0] == written[1], "{command:?} differs");
    }
}

/// Ranks of a job, whose peaks are found concurrently.
#[test]
fn ranks_do_not_depend_on_the_number_of_threads() {
    let folder = tempfile::tempdir().expect("a folder");
    for rank in 0..5 {
        let to = folder.path().join(format!("rank{rank}.pickle.gz"));
        std::fs::copy("sample_traces/language_model.snapshot.pickle.gz", to).expect("a copy");
    }
    let folder = folder.path().to_str().expect("a path of letters");
    let answer = are_equal(&["peak", folder, "--format", "json"]);
    assert!(answer.contains("rank4"), "{answer}");
}

fn are_equal(command: &[&str]) -> String {
    let (one, eight) = (on_threads(command, "1"), on_threads(command, "8"));
    let error = String::from_utf8_lossy(&one.stderr);
    assert!(one.status.code().is_some_and(|code| code < 2), "{command:?}: {error}");
    assert!(one.stdout.len() > 100, "{command:?}: {error}");
    assert_eq!(one.status, eight.status, "{command:?}");
    assert_eq!(one.stderr, eight.stderr, "{command:?}");
    let (one, eight) = (answer(&one), answer(&eight));
    assert!(one == eight, "{command:?} differs");
    one
}

#[test]
fn a_number_of_threads_that_is_none_is_refused() {
    for text in ["0", "-1", "many", "100000"] {
        let output = on_threads(&["inspect", "sample:mixed"], text);
        assert_eq!(output.status.code(), Some(2), "{text}");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(
            error.contains(&format!("HIGHWATER_THREADS={text}: expected 1 to 1024")),
            "{error}"
        );
    }
}
