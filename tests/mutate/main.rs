//! Damaged files: every importer reads its smallest samples thousands of times, each time mutated in another way.
//!
//! Nothing may panic, take more than ten times what the whole file takes (told apart from noise by trying again), or grow
//! the process beyond a bound. The mutations are seeded, so a failure can be had again: the message names the sample, the
//! seed and the round. `HIGHWATER_MUTATIONS` sets the number of rounds a sample (1000 unless given; the checks before a
//! change lands take 10000); samples are those of `sample_traces`, and with `HIGHWATER_SHARED` the smallest files of each
//! format there.

#![expect(clippy::print_stdout, reason = "tests say what they did")]

mod mutator;
mod samples;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use highwater::import::{Importer, Input, import_as};
use highwater::progress::{Cancel, Progress};

use mutator::Mutator;
use samples::{Sample, samples};

/// Rounds of each sample.
fn n_rounds() -> u32 {
    let asked = std::env::var("HIGHWATER_MUTATIONS").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(1000)
}

/// A read that takes less than this is not worth a second look.
const LEAST: Duration = Duration::from_millis(250);

/// Most bytes that the process may hold while damaged files are read.
const MOST_BYTES: u64 = 1 << 30;

fn read(row: Option<&'static Importer>, name: &str, bytes: &[u8]) -> bool {
    let cancel = Cancel::new();
    let mut input = Input::from_bytes(name, bytes).expect("memory can be read");
    import_as(&mut input, row, &Progress::silent(&cancel)).is_ok()
}

#[expect(clippy::disallowed_methods, reason = "this test is about time")]
fn timed(row: Option<&'static Importer>, name: &str, bytes: &[u8]) -> Duration {
    let start = Instant::now();
    read(row, name, bytes);
    start.elapsed()
}

/// The most bytes that the process held since the last call, where the system tells.
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    // Where the mark cannot be set back, later calls tell more than they should: still a bound.
    drop(std::fs::write("/proc/self/clear_refs", "5"));
    Some(kib << 10)
}

fn mutate(sample: &Sample, others: &[Sample]) {
    let Sample { name, row, bytes } = sample;
    let clean = (0..3).map(|_| timed(Some(row), name, bytes)).min().unwrap_or_default();
    let limit = (clean * 10).max(LEAST);
    let seed = name.bytes().fold(0x9e37_79b9_u64, |seed, byte| {
        seed.wrapping_mul(31).wrapping_add(u64::from(byte))
    });
    let mut mutator = Mutator::new(seed);
    let mut readable = 0_u32;
    for round in 0..n_rounds() {
        let other = &others[mutator.below(others.len())];
        let damaged = mutator.mutate(bytes, &other.bytes);
        // Every eighth round the content has to say itself what it is.
        let row = (round % 8 != 7).then_some(*row);
        let place = || format!("{name}, seed {seed:#x}, round {round}");
        let before =
            timed_or_panic(row, name, &damaged).unwrap_or_else(|| panic!("a panic: {}{}", place(), kept(&damaged)));
        readable += u32::from(before.1);
        if before.0 > limit {
            let again = (0..4).map(|_| timed(row, name, &damaged)).min().unwrap_or_default();
            assert!(
                again <= limit,
                "{again:?} instead of {clean:?}: {}{}",
                place(),
                kept(&damaged)
            );
        }
        if round % 256 == 255
            && let Some(peak) = peak_bytes()
        {
            assert!(peak < MOST_BYTES, "{peak} bytes are held: {}", place());
        }
    }
    println!("{name}: {} rounds, {readable} readable, clean {clean:?}", n_rounds());
}

/// Keeps a file that broke something, and says where.
fn kept(bytes: &[u8]) -> String {
    let path = std::env::temp_dir().join(format!("highwater-mutation-{}", bytes.len()));
    match std::fs::write(&path, bytes) {
        Ok(()) => format!("; the file is kept as {}", path.display()),
        Err(error) => format!("; the file cannot be kept: {error}"),
    }
}

#[expect(clippy::disallowed_methods, reason = "this test is about time")]
fn timed_or_panic(row: Option<&'static Importer>, name: &str, bytes: &[u8]) -> Option<(Duration, bool)> {
    let start = Instant::now();
    let is_readable = catch_unwind(AssertUnwindSafe(|| read(row, name, bytes))).ok()?;
    Some((start.elapsed(), is_readable))
}

/// The samples of an importer, one after the other: a test each, so that they run beside each other.
fn of_format(format: &str) {
    let all = samples();
    let mine = all.iter().filter(|sample| sample.row.name == format);
    let mut n_read = 0;
    for sample in mine {
        assert!(
            read(Some(sample.row), &sample.name, &sample.bytes),
            "{} is readable",
            sample.name
        );
        mutate(sample, &all);
        n_read += 1;
    }
    if n_read == 0 {
        println!("skipped: no sample of {format}; set HIGHWATER_SHARED");
    }
}

macro_rules! formats {
    ($($name:ident),* $(,)?) => {
        $(#[test] fn $name() { of_format(stringify!($name)); })*

        #[test]
        fn every_importer_has_its_test() {
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
    chrome_trace,
    torch_snapshot,
    tflite,
    xla,
    ge_dump,
    tensorflow,
    tensorflow_run,
);
