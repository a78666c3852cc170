//! Damaged files: every importer reads its smallest samples thousands of times, each time with other mutations.
//!
//! * Nothing may panic: not the importer, nor the figures of `inspect`, nor (for a part of the readable files) a
//!   comparison.
//! * Nothing may hang. Allocations and progress checks are counted, because they are the same on every machine: at most
//!   ten times those of the whole file, with a floor. Wall time is checked too, and a watch ends a round that does not
//!   return.
//! * Memory is bounded: peak bytes are at most ten times those of the whole file, with a floor.
//!
//! Three of four rounds go through the sample's own importer, the others through detection by content, some of them
//! compressed. Mutations are seeded by round, and a failure prints the command that repeats it. `HIGHWATER_MUTATIONS`
//! sets the number of rounds per format and ending, shared among its samples (1000 unless set; `.ci/run` takes 10000),
//! `HIGHWATER_MUTATION=NAME:ROUND` runs a single one. Samples are those of `sample_traces`, and with `HIGHWATER_SHARED`
//! the smallest files of each format there.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "tests say what they did")]

mod limits;
mod mutator;
mod reading;
mod samples;
mod watch;

use limits::Limits;
use mutator::Mutator;
use reading::{Reading, compared, read};
use samples::{Sample, packed, samples};
use watch::Watch;

/// One of so many readable files is compared under every policy.
const READABLE_TO_COMPARED: u32 = 32;

/// The rounds to run: a number per sample, or one of one sample.
#[derive(Debug)]
enum Rounds {
    All(u32),
    One { sample: String, round: u32 },
}

fn rounds() -> Rounds {
    let variable = |name: &str| std::env::var(name).ok();
    if let Some((sample, round)) = variable("HIGHWATER_MUTATION")
        .as_deref()
        .and_then(|one| one.rsplit_once(':'))
    {
        return Rounds::One {
            sample: sample.to_owned(),
            round: round.parse().expect("HIGHWATER_MUTATION is NAME:ROUND"),
        };
    }
    let asked = variable("HIGHWATER_MUTATIONS").and_then(|text| text.parse().ok());
    Rounds::All(asked.unwrap_or(1000))
}

/// The way of a round's bytes to the importers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// By the sample's own importer.
    Named,
    /// By detection of the content.
    Detected,
    /// By detection, compressed.
    Packed,
}

impl Way {
    const fn of(round: u32) -> Self {
        match round % 16 {
            3 | 7 | 11 => Self::Detected,
            15 => Self::Packed,
            _ => Self::Named,
        }
    }
}

/// The mutations of one sample, and its limits.
struct Trial<'a> {
    sample: &'a Sample,
    others: &'a [Sample],
    limits: Limits,
    /// The name of the test, for the command that repeats it.
    test: &'a str,
}

impl Trial<'_> {
    /// The bytes of a round, and their file name.
    fn damaged(&self, round: u32) -> (String, Vec<u8>, Way) {
        let Sample { name, bytes, .. } = self.sample;
        let mut mutator = Mutator::of(name, round);
        let other = &self.others[mutator.below(self.others.len())];
        let damaged = mutator.mutate(bytes, &other.bytes);
        match Way::of(round) {
            Way::Packed => (format!("{name}.gz"), packed(&damaged), Way::Packed),
            way => (name.clone(), damaged, way),
        }
    }

    /// Reads one; returns whether it was readable.
    fn round(&self, round: u32) -> bool {
        let (name, bytes, way) = self.damaged(round);
        let row = (way == Way::Named && !self.sample.is_by_content).then_some(self.sample.row);
        let Some(reading) = read(row, &name, &bytes) else {
            panic!("a panic: {}{}", self.repeat(round), kept(&bytes));
        };
        if let Some(excess) = self.limits.excess(&reading, bytes.len()) {
            // Time of a single run on a busy machine is not reliable: it is measured again.
            let again = || read(row, &name, &bytes).and_then(|reading| self.limits.excess(&reading, bytes.len()));
            assert!(
                (0..3).any(|_| again().is_none()),
                "{excess}: {}{}",
                self.repeat(round),
                kept(&bytes)
            );
        }
        let Reading { imported, .. } = reading;
        let Some(imported) = imported else { return false };
        if round.is_multiple_of(READABLE_TO_COMPARED) {
            assert!(
                compared(imported),
                "a panic in the comparison: {}{}",
                self.repeat(round),
                kept(&bytes)
            );
        }
        true
    }

    /// The command that repeats a round.
    fn repeat(&self, round: u32) -> String {
        let shared = std::env::var("HIGHWATER_SHARED")
            .map_or_else(|_| String::new(), |folder| format!("HIGHWATER_SHARED={folder} "));
        format!(
            "repeat it with {shared}HIGHWATER_MUTATION='{}:{round}' cargo test --test mutate {}",
            self.sample.name, self.test
        )
    }
}

fn mutate(test: &str, sample: &Sample, others: &[Sample]) {
    let limits = Limits::of(sample);
    let trial = Trial {
        sample,
        others,
        limits,
        test,
    };
    let watch = Watch::new(trial.repeat(0).replace(":0'", ":ROUND'"));
    let sharing = others
        .iter()
        .filter(|other| other.kind() == sample.kind())
        .count()
        .max(1);
    let rounds = match rounds() {
        Rounds::All(count) => 0..count.div_ceil(u32::try_from(sharing).unwrap_or(1)),
        Rounds::One { sample: name, round } if name == sample.name => round..round + 1,
        Rounds::One { .. } => return,
    };
    let mut readable = 0_u32;
    let count = rounds.len();
    for round in rounds {
        watch.begin(round);
        readable += u32::from(trial.round(round));
    }
    println!(
        "{}: {count} rounds, {readable} readable; whole: {}",
        sample.name, trial.limits
    );
}

/// Keeps the file of a failure, and returns its path.
fn kept(bytes: &[u8]) -> String {
    let path = std::env::temp_dir().join(format!("highwater-mutation-{}", bytes.len()));
    match std::fs::write(&path, bytes) {
        Ok(()) => format!("; the file is kept as {}", path.display()),
        Err(error) => format!("; the file cannot be kept: {error}"),
    }
}

/// The samples of an importer; one test per importer, so that they run in parallel.
fn of_format(format: &str) {
    let all = samples();
    let mine: Vec<&Sample> = all.iter().filter(|sample| sample.row.name == format).collect();
    for sample in &mine {
        let whole = read(Some(sample.row), &sample.name, &sample.bytes);
        assert!(
            whole.is_some_and(|reading| reading.imported.is_some()),
            "{} is readable",
            sample.name
        );
        mutate(format, sample, all);
    }
    if mine.is_empty() {
        println!("skipped: no sample of {format}; set HIGHWATER_SHARED");
    }
}

#[test]
fn gzip() {
    let all = samples();
    let smallest = all
        .iter()
        .find(|sample| sample.row.name == "onnx")
        .expect("there is a sample");
    let sample = Sample {
        name: format!("{}.gz", smallest.name),
        row: smallest.row,
        bytes: packed(&smallest.bytes),
        is_by_content: true,
    };
    mutate("gzip", &sample, all);
}

macro_rules! formats {
    ($($name:ident),* $(,)?) => {
        $(#[test] fn $name() { of_format(stringify!($name)); })*

        #[test]
        fn every_importer_has_a_test() {
            let known = [$(stringify!($name)),*];
            for row in highwater::import::IMPORTERS {
                assert!(known.contains(&row.name), "add {} to the list of this file", row.name);
            }
        }
    };
}

formats!(
    planner_problem,
    allocation_trace,
    op_list,
    paddle_program,
    dtr_log,
    dtr_graph,
    dtr_script,
    native,
    onnx,
    ascend_profiler,
    cann_log,
    chrome_trace,
    torch_snapshot,
    tflite,
    xla,
    ge_dump,
    tensorflow,
    tensorflow_run,
);
