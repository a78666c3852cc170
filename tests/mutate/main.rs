//! Damaged files: every target (an importer, or a reader of documents, scripts, schedules, searches, settings, answers)
//! reads its smallest samples thousands of times, each time with other mutations.
//!
//! * Nothing may panic: not the reader, nor the figures of `inspect`, nor (for a part of the readable files) a
//!   comparison and the files of its answer. Documents and configurations that are readable survive writing.
//! * Nothing may hang. Allocations and progress checks are counted, because they are the same on every machine: at most
//!   ten times those of the whole file, with a floor. Processor time is checked too, and a watch ends a round that does not
//!   return.
//! * Memory is bounded: peak bytes are at most ten times those of the whole file, with a floor.
//!
//! Three of four rounds of an importer go through the importer itself, the others through detection by content, some of
//! them compressed. Mutations are seeded by round, and a failure prints the command that repeats it. Samples are those
//! of `seeds`, of `sample_traces`, and with `HIGHWATER_SHARED` the smallest files of each format there.
//!
//! `cargo test --test mutate -- TARGET...` takes some targets; `-- --write-corpus FOLDER` writes the samples for `fuzz/`. `HIGHWATER_MUTATIONS` is the number of rounds per target
//! and ending, shared among their samples (1000 unless set), or a range of rounds (`6000..20000`, for rounds that were
//! not run before); `HIGHWATER_MUTATION=NAME:ROUND` runs a single one.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "tests say what they did")]

mod arguments;
mod corpus;
mod limits;
mod mutator;
mod reading;
mod samples;
mod targets;
mod watch;

use std::ops::Range;
use std::panic::catch_unwind;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use arguments::{Arguments, Rounds};
use limits::Limits;
use mutator::Mutator;
use reading::read;
use samples::{Sample, packed, samples, words_of};
use targets::{Target, compared};
use watch::Watch;

/// One of so many readable files is compared under every policy.
const READABLE_TO_COMPARED: u64 = 32;

/// The way of a round's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// To the sample's own target.
    Named,
    /// By detection of the content.
    Detected,
    /// By detection, compressed.
    Packed,
}

impl Way {
    const fn of(target: Target, round: u64) -> Self {
        match (target, round % 16) {
            (Target::Importer(_), 3 | 7 | 11) => Self::Detected,
            (Target::Importer(_), 15) => Self::Packed,
            _ => Self::Named,
        }
    }
}

fn by_content() -> Target {
    Target::named("content").expect("there is such a target")
}

/// The mutations of one sample, and its limits.
struct Trial<'a> {
    sample: &'a Sample,
    others: &'a [&'a Sample],
    words: &'a [Vec<u8>],
    limits: Limits,
}

/// The input of a round.
struct Damaged {
    target: Target,
    /// Of the file.
    name: String,
    bytes: Vec<u8>,
    /// The number of bytes before they were packed, by which the work is limited.
    len: usize,
}

impl Trial<'_> {
    fn damaged(&self, round: u64) -> Damaged {
        let Sample { name, bytes, target } = self.sample;
        let mut mutator = Mutator::of(name, round, self.words);
        let other = &self.others[mutator.below(self.others.len())];
        let damaged = mutator.mutate(bytes, &other.bytes);
        let len = damaged.len();
        let (target, name, bytes) = match Way::of(*target, round) {
            Way::Named => (*target, name.clone(), damaged),
            Way::Detected => (by_content(), name.clone(), damaged),
            Way::Packed => (by_content(), format!("{name}.gz"), packed(&damaged)),
        };
        Damaged {
            target,
            name,
            bytes,
            len,
        }
    }

    /// Reads one; returns whether it was readable.
    fn round(&self, round: u64) -> bool {
        let Damaged {
            target,
            name,
            bytes,
            len,
        } = self.damaged(round);
        let Some(reading) = read(target, &name, &bytes) else {
            panic!("a panic: {}{}", self.repeat(round), kept(&bytes));
        };
        if let Some(excess) = self.limits.excess(&reading, len) {
            // Time of a single run is not reliable: it is measured again.
            let again = || read(target, &name, &bytes).and_then(|reading| self.limits.excess(&reading, len));
            assert!(
                (0..3).any(|_| again().is_none()),
                "{excess}: {}{}",
                self.repeat(round),
                kept(&bytes)
            );
        }
        let Some(readable) = reading.readable else {
            return false;
        };
        assert!(
            !round.is_multiple_of(READABLE_TO_COMPARED) || compared(readable),
            "a panic in the comparison: {}{}",
            self.repeat(round),
            kept(&bytes)
        );
        true
    }

    /// The command that repeats a round.
    fn repeat(&self, round: u64) -> String {
        let shared = std::env::var("HIGHWATER_SHARED")
            .map_or_else(|_| String::new(), |folder| format!("HIGHWATER_SHARED={folder} "));
        format!(
            "repeat it with {shared}HIGHWATER_MUTATION='{}:{round}' cargo test --test mutate -- {}",
            self.sample.name,
            self.sample.target.name()
        )
    }
}

/// Returns the number of rounds.
fn mutate(sample: &Sample, others: &[&Sample], words: &[Vec<u8>], rounds: Range<u64>) -> u64 {
    assert!(sample.is_readable(), "{} is readable", sample.name);
    let trial = Trial {
        sample,
        others,
        words,
        limits: Limits::of(sample),
    };
    let watch = Watch::new(trial.repeat(0).replace(":0'", ":ROUND'"));
    let mut readable = 0_u64;
    let count = rounds.end.saturating_sub(rounds.start);
    for round in rounds {
        watch.begin(round);
        readable += u64::from(trial.round(round));
    }
    println!(
        "{}: {}: {count} rounds, {readable} readable; whole: {}",
        sample.target.name(),
        sample.name,
        trial.limits
    );
    count
}

/// The rounds of all samples of a target.
fn of_target(target: Target, rounds: &Rounds) -> u64 {
    let all: Vec<&Sample> = samples().iter().collect();
    let is_mine = |sample: &&&Sample| sample.target.name() == target.name();
    let mine: Vec<&Sample> = all.iter().filter(is_mine).copied().collect();
    let words = words_of(&mine);
    // A crossover of files of one target gets further than one with another format.
    let others: Vec<&Sample> = mine.iter().cycle().take(all.len()).chain(&all).copied().collect();
    let of_sample = |sample: &&Sample| {
        let alike = mine.iter().filter(|other| other.kind() == sample.kind());
        let rounds = rounds.of(&sample.name, speed(sample), alike.map(|other| speed(other)).sum());
        rounds.map_or(0, |rounds| mutate(sample, &others, &words, rounds))
    };
    if mine.is_empty() {
        println!("{}: skipped, no sample; set HIGHWATER_SHARED", target.name());
    }
    mine.iter().map(of_sample).sum()
}

/// Samples of a kind share its rounds by their speed: the smaller its work, the more rounds a sample gets.
fn speed(sample: &Sample) -> u64 {
    1_000_000_000 / (sample.work().unwrap_or(0) + 200)
}

/// Keeps the file of a failure, and returns its path.
fn kept(bytes: &[u8]) -> String {
    let path = std::env::temp_dir().join(format!("highwater-mutation-{}", bytes.len()));
    match std::fs::write(&path, bytes) {
        Ok(()) => format!("; the file is kept as {}", path.display()),
        Err(error) => format!("; the file cannot be kept: {error}"),
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::of_process();
    let targets: Vec<Target> = Target::all().filter(|target| arguments.takes(target.name())).collect();
    if arguments.is_list {
        targets.iter().for_each(|target| println!("{}: test", target.name()));
        return ExitCode::SUCCESS;
    }
    corpus::check_manifest();
    if let Some(folder) = &arguments.corpus {
        corpus::write(folder).expect("the corpus can be written");
        return ExitCode::SUCCESS;
    }
    let (next, executions) = (AtomicUsize::new(0), AtomicU64::new(0));
    let failed = AtomicUsize::new(0);
    let work = || {
        while let Some(target) = targets.get(next.fetch_add(1, Ordering::Relaxed)) {
            match catch_unwind(|| of_target(*target, &arguments.rounds)) {
                Ok(count) => drop(executions.fetch_add(count, Ordering::Relaxed)),
                Err(_) => {
                    eprintln!("{}: FAILED", target.name());
                    failed.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..arguments.threads {
            scope.spawn(work);
        }
    });
    let failed = failed.into_inner();
    println!(
        "{} executions of {} targets, {failed} failed",
        executions.into_inner(),
        targets.len()
    );
    ExitCode::from(u8::from(failed > 0))
}
