//! The wait after a cancel: how long the worker goes on with each kind of job over a graph of 100,000 ops, and over a
//! recording of 100,000 allocations. Prints a table; a job is cancelled at moments spread over its whole duration.
//! `HIGHWATER_CANCEL_LAYERS` sets half the number of ops, `HIGHWATER_CANCEL_ROUNDS` the cancels per job; an argument
//! selects the jobs whose names contain it.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use highwater::analysis::sweep::{Goal, SweepAxis};
use highwater::analysis::{LaneGoal, RematLane};
use highwater::export::ExportForm;
use highwater::rewrite::remat::{Budget, HEURISTICS};
use highwater::session::{Command, Document, Session, SourceSpec, SweepOrder, Worker};
use highwater::workload::{DeviceProfiles, GraphIdx};

#[path = "pickle_writer.rs"]
#[expect(dead_code, reason = "other benches use the rest")]
mod pickle_writer;
mod size;
#[path = "training_graph.rs"]
#[expect(dead_code, reason = "other benches use the rest")]
mod training_graph;

#[cfg(unix)]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// How often the session is polled.
const LOOK: Duration = Duration::from_millis(2);

/// Commands of a job, of which the last one starts it.
type Job = (&'static str, fn(&Inputs) -> Vec<Command>);

struct Inputs {
    graph: SourceSpec,
    recording: SourceSpec,
    folder: PathBuf,
}

const OF_GRAPH: &[Job] = &[
    ("read and compare", |inputs| {
        vec![Command::Open(vec![inputs.graph.clone()])]
    }),
    ("compare", |_| {
        vec![
            option("memory_config.static_memory_policy", "2"),
            Command::SetIterations(2),
        ]
    }),
    ("compare with the strategy best", |_| {
        vec![Command::SetStrategy {
            lane: None,
            strategy: Some("best"),
        }]
    }),
    ("planner's table", |_| vec![Command::ListPlans(GraphIdx(0))]),
    ("rematerialization lane", |_| {
        vec![Command::AddRematLane(RematLane {
            heuristic: &HEURISTICS[0],
            budget: Budget::Ratio(0.5),
        })]
    }),
    ("budget sweep", |_| vec![Command::StartBudgetSweep(GraphIdx(0))]),
    ("sweep", |_| vec![Command::StartSweep(Box::new(sweep()))]),
    ("recommend", |_| {
        vec![Command::Recommend(Box::new(sweep()), Goal::Lane(LaneGoal::default()))]
    }),
    ("variable reuse", |_| vec![Command::ReuseNames(GraphIdx(0))]),
    ("report", |inputs| {
        vec![export(inputs, ExportForm::Report, "report.html")]
    }),
    ("CSV of tensors", |inputs| {
        vec![export(inputs, ExportForm::Tensors, "tensors.csv")]
    }),
    ("trace", |inputs| vec![export(inputs, ExportForm::Trace, "trace.json")]),
];

const OF_RECORDING: &[Job] = &[
    ("read a recording", |inputs| {
        vec![Command::Open(vec![inputs.recording.clone()])]
    }),
    ("replay under settings", |_| {
        vec![Command::AddSettings("expandable_segments:True".to_owned())]
    }),
    ("search of settings", |_| vec![Command::FindSettings(None)]),
    ("report of a recording", |inputs| {
        vec![export(inputs, ExportForm::Report, "blocks.html")]
    }),
    ("CSV of blocks", |inputs| {
        vec![export(inputs, ExportForm::Tensors, "blocks.csv")]
    }),
    ("trace of a recording", |inputs| {
        vec![export(inputs, ExportForm::Trace, "blocks.json")]
    }),
];

fn option(key: &str, text: &str) -> Command {
    Command::SetOption {
        key: key.to_owned(),
        text: text.to_owned(),
    }
}

fn export(inputs: &Inputs, form: ExportForm, name: &str) -> Command {
    Command::Export {
        form,
        path: inputs.folder.join(name),
        lanes: None,
    }
}

fn sweep() -> SweepOrder {
    let axes = ["policy=0,2,3,4", "malloc_ns=1..60"];
    let axis = |text: &&str| SweepAxis::parse(text, &[]).expect("an axis");
    SweepOrder {
        axes: axes.iter().map(axis).collect(),
        capacity: None,
    }
}

#[expect(clippy::print_stdout, reason = "the table is what this bench is for")]
fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let layers = number("HIGHWATER_CANCEL_LAYERS").unwrap_or(size::size(50_000, 200));
    let bytes = |name: &str, bytes: Vec<u8>| SourceSpec::Bytes {
        name: name.to_owned(),
        bytes: Arc::from(bytes),
    };
    let inputs = Inputs {
        graph: bytes("graph.json", training_graph::training_graph(layers, "32").into_bytes()),
        recording: bytes("recording.pickle", pickle_writer::synthetic(layers * 2, 4)),
        folder: folder.path().to_owned(),
    };
    let rounds = number("HIGHWATER_CANCEL_ROUNDS").unwrap_or(size::size(20, 1));
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let is_wanted = |name: &str| wanted.as_ref().is_none_or(|wanted| name.contains(wanted.as_str()));
    println!("{:32} {:>9} {:>9} {:>9}", "job", "takes", "median", "longest");
    for (source, jobs) in [(&inputs.graph, OF_GRAPH), (&inputs.recording, OF_RECORDING)] {
        for (name, commands) in jobs.iter().filter(|(name, _)| is_wanted(name)) {
            let job = Started {
                source,
                commands: commands(&inputs),
            };
            let takes = job.duration();
            let mut waits: Vec<Duration> = (0..rounds)
                .map(|round| job.wait(takes.mul_f64((round as f64 + 0.5) / rounds as f64)))
                .collect();
            waits.sort_unstable();
            println!(
                "{name:32} {takes:>9.1?} {:>9.1?} {:>9.1?}",
                waits[waits.len() / 2],
                waits[waits.len() - 1]
            );
        }
    }
}

fn number(variable: &str) -> Option<usize> {
    std::env::var(variable).ok()?.parse().ok()
}

/// A job over a source.
struct Started<'a> {
    source: &'a SourceSpec,
    commands: Vec<Command>,
}

#[expect(clippy::disallowed_methods, reason = "a bench owns a clock")]
impl Started<'_> {
    /// A session with its first answer, in which the job begins.
    fn start(&self) -> Session {
        let worker = Worker::start(|| {}).expect("a thread can be started");
        let profiles = DeviceProfiles::bundled().expect("the profiles are bundled");
        let mut session = Session::new(Document::new(vec![self.source.clone()]), profiles, worker);
        session.settle();
        for command in self.commands.iter().cloned() {
            session.apply(command);
        }
        session
    }

    /// How long the job takes, as far as it is cancelled here.
    fn duration(&self) -> Duration {
        let mut session = self.start();
        let begin = Instant::now();
        // Longer jobs are cancelled within their first part.
        let longest = Duration::from_millis(size::size(8_000, 100));
        while session.can_cancel() && begin.elapsed() < longest {
            session.poll();
            sleep(LOOK);
        }
        begin.elapsed()
    }

    /// The time from a cancel so long after the beginning until the worker has done the next task. The first cancel stops a search.
    /// The session then compares, to show the plan found so far; the second cancel stops that comparison.
    fn wait(&self, after: Duration) -> Duration {
        let mut session = self.start();
        let begin = Instant::now();
        while begin.elapsed() < after {
            session.poll();
            sleep(LOOK);
        }
        let cancelled = Instant::now();
        session.apply(Command::Cancel);
        session.apply(Command::Cancel);
        let missing = PathBuf::from("no such file");
        session.apply(Command::FindMissing(vec![missing.clone()]));
        while !session.is_missing(&missing) {
            session.poll();
            sleep(LOOK);
        }
        cancelled.elapsed()
    }
}
