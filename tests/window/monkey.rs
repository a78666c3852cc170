//! Random input to the whole window: keys, texts, clicks, drags from and to everything, wheel, sizes, the palette, dialogs with
//! typed paths.
//!
//! * Nothing may panic or hang.
//! * No pane in front is without words.
//! * The verdict, the table of lanes and the Inspector give the peaks of the answer.
//!
//! Sessions run in processes of their own, in an empty folder, because dialogs write where they are told to. They are seeded, and
//! a failure prints its seed and last actions. `HIGHWATER_MONKEY_ACTIONS` sets the number of all actions,
//! `HIGHWATER_MONKEY_SEED` repeats one session.

mod actions;
mod invariants;

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use eframe::egui;
use highwater_session::{SAMPLES, SourceSpec};

use crate::harness::{Window, settle_chain, window_of_session};
use crate::sessions::session;
use actions::{Action, Draw};

/// Actions of all sessions, unless set.
const ACTIONS: u64 = 400;

/// Actions of one session.
const SESSION: u64 = 400;

/// Of so many actions one waits for the worker.
const SETTLED: u64 = 6;

/// Actions that a failure prints.
const REMEMBERED: usize = 40;

/// One action takes less on the slowest machine; more is a hang.
const HANG: Duration = Duration::from_mins(5);

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Files that dialogs find in the folder of a session.
const FILES: [(&str, &[u8]); 3] = [
    ("a.onnx", include_bytes!("../../sample_traces/mobilenet_v2.onnx")),
    ("b.csv", include_bytes!("../../sample_traces/small_problem.csv")),
    ("c.plog", include_bytes!("../../sample_traces/out_of_memory.plog")),
];

#[test]
fn random_input_breaks_nothing() {
    if let Some(seed) = number("HIGHWATER_MONKEY_SEED") {
        run_session(seed, number("HIGHWATER_MONKEY_ACTIONS").unwrap_or(SESSION));
        return;
    }
    let all = number("HIGHWATER_MONKEY_ACTIONS").unwrap_or(ACTIONS);
    let n_sessions = all.div_ceil(SESSION);
    let next = AtomicU64::new(0);
    let failed = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= n_sessions {
                        break;
                    }
                    if let Err(what) = run_process(seed, SESSION.min(all - seed * SESSION)) {
                        failed.lock().expect("no thread panics").push(what);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().expect("no thread panicked");
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// A session in its own process and folder; the error is what it printed.
fn run_process(seed: u64, n_actions: u64) -> Result<(), String> {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, bytes) in FILES {
        std::fs::write(folder.path().join(name), bytes).expect("a file");
    }
    let output = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "monkey::random_input_breaks_nothing", "--nocapture"])
        .current_dir(folder.path())
        .env("HOME", folder.path())
        .env("HIGHWATER_MONKEY_SEED", seed.to_string())
        .env("HIGHWATER_MONKEY_ACTIONS", n_actions.to_string())
        .stdin(Stdio::null())
        .output()
        .expect("it runs");
    if output.status.success() {
        return Ok(());
    }
    let printed = String::from_utf8_lossy(&output.stderr);
    Err(format!(
        "HIGHWATER_MONKEY_SEED={seed} HIGHWATER_MONKEY_ACTIONS={n_actions}: {}\n{printed}",
        output.status
    ))
}

/// Ends the process where an action does not return.
fn watch(done: &'static AtomicU64) {
    let watching = move || {
        loop {
            let before = done.load(Ordering::Relaxed);
            std::thread::sleep(HANG);
            if done.load(Ordering::Relaxed) == before {
                eprintln!("action {before} hangs");
                std::process::abort();
            }
        }
    };
    let thread = std::thread::Builder::new().name("watch".to_owned());
    thread.spawn(watching).expect("a thread");
}

fn run_session(seed: u64, n_actions: u64) {
    static DONE: AtomicU64 = AtomicU64::new(0);
    watch(&DONE);
    let mut draw = Draw::new(seed);
    let sample = &SAMPLES[draw.below(SAMPLES.len())];
    let mut window = window_of_session(session(vec![SourceSpec::Sample(sample)]), 800.0);
    // Texts have letters that the bundled fonts lack.
    window.ctx.set_missing_glyph_policy(egui::MissingGlyphPolicy::Tofu);
    let mut last: VecDeque<Action> = VecDeque::new();
    let run = catch_unwind(AssertUnwindSafe(|| {
        for position in 0..n_actions {
            let action = Action::draw(&mut draw, &window);
            last.truncate(REMEMBERED - 1);
            last.push_front(action.clone());
            act(&mut window, &action, position % SETTLED == 0);
            DONE.store(position + 1, Ordering::Relaxed);
        }
    }));
    if let Err(cause) = run {
        eprintln!(
            "sample {}, {} actions, the last first:",
            sample.name,
            DONE.load(Ordering::Relaxed) + 1
        );
        for action in &last {
            eprintln!("  {action:?}");
        }
        resume_unwind(cause);
    }
}

fn act(window: &mut Window, action: &Action, is_settled: bool) {
    action.run(window);
    if is_settled {
        settle_chain(window);
        invariants::figures_agree(window);
    }
    invariants::panes_have_words(window);
}
