//! The worker: one named thread that loads, compares and writes, so that the window never waits.
//!
//! The newest load or comparison wins: a newer one cancels it, and answers of older generations are dropped by
//! the session. Files are written in order, none is dropped. A panic in the engine becomes an answer. The wake-up
//! is a closure, so this file knows no GUI.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, unbounded};

use super::document::SourceSpec;
use super::jobs::{Answer, Job};
use super::overwrite::refuse_source;
use super::painter::{Painter, Painting};
use super::perform::perform;
use super::sweep::is_of_space;
use highwater_model::progress::{Cancel, Progress};

/// How soon an answer should be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// At once.
    Now,
    /// With the next frame, or a little later: it only tells how far a job is, and a frame may cost as much as the part of
    /// the job that it tells of.
    Soon,
}

struct Order {
    generation: u64,
    job: Job,
    cancel: Cancel,
    /// Files that it does not write over.
    kept: Arc<[SourceSpec]>,
}

/// The handle of the worker thread; joins it when dropped.
pub struct Worker {
    orders: Option<Sender<Order>>,
    answers: Receiver<(u64, Answer)>,
    current: Arc<Mutex<Cancel>>,
    planning: Cancel,
    sweeping: Cancel,
    trying: Cancel,
    naming: Cancel,
    searching: Cancel,
    listing: Cancel,
    exporting: Cancel,
    /// Files that no job writes over.
    kept: Arc<[SourceSpec]>,
    generation: u64,
    thread: Option<JoinHandle<()>>,
    painter: Painter,
}

impl std::fmt::Debug for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Worker")
            .field("generation", &self.generation)
            .finish_non_exhaustive()
    }
}

impl Worker {
    /// Starts the thread, and the painter's. `wake` is called after every answer.
    ///
    /// # Errors
    /// What the operating system says where it cannot start a thread.
    pub fn start(wake: impl Fn() + Send + Sync + 'static) -> std::io::Result<Self> {
        Self::start_with(move |_| wake())
    }

    /// The same, told how soon somebody should look.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn start_with(wake: impl Fn(Wake) + Send + Sync + 'static) -> std::io::Result<Self> {
        let (orders, inbox) = unbounded::<Order>();
        let (outbox, answers) = unbounded();
        let wake = Arc::new(wake);
        let painter = {
            let (outbox, wake) = (outbox.clone(), Arc::clone(&wake));
            Painter::start(move |generation, answer| {
                // The receiver is gone only while the program ends.
                drop(outbox.send((generation, answer)));
                wake(Wake::Now);
            })?
        };
        let thread = std::thread::Builder::new()
            .name("highwater-worker".to_owned())
            .spawn(move || serve(&inbox, &outbox, &*wake))?;
        Ok(Self {
            orders: Some(orders),
            answers,
            current: Arc::new(Mutex::new(Cancel::new())),
            planning: Cancel::new(),
            sweeping: Cancel::new(),
            trying: Cancel::new(),
            naming: Cancel::new(),
            searching: Cancel::new(),
            listing: Cancel::new(),
            exporting: Cancel::new(),
            kept: Arc::from([]),
            generation: 0,
            thread: Some(thread),
            painter,
        })
    }

    /// Names the files that jobs after this do not write over.
    pub(super) fn keep(&mut self, sources: &[SourceSpec]) {
        self.kept = sources.into();
    }

    /// Sends a job and returns its generation. A load or comparison cancels the one before.
    pub fn send(&mut self, job: Job) -> u64 {
        let cancel = match job {
            // Files are written in order, and none is dropped for another; only the user stops them, all at once.
            Job::Export(_) => self.exporting.clone(),
            _ => Cancel::new(),
        };
        if matches!(job, Job::Load { .. } | Job::Compare(..)) {
            self.cancel();
            *self.lock() = cancel.clone();
        }
        if matches!(job, Job::PlannerSubject { .. } | Job::PlannerRow(..)) {
            self.planning.cancel();
            self.planning = cancel.clone();
        }
        if matches!(job, Job::BudgetSweepSubject(..) | Job::SweepPoints(..)) {
            self.sweeping.cancel();
            self.sweeping = cancel.clone();
        }
        if is_of_space(&job) {
            self.trying.cancel();
            self.trying = cancel.clone();
        }
        if matches!(job, Job::NameReuse(_)) {
            self.naming.cancel();
            self.naming = cancel.clone();
        }
        if matches!(job, Job::Search { .. }) {
            self.searching.cancel();
            self.searching = cancel.clone();
        }
        if matches!(job, Job::Table(..)) {
            self.listing.cancel();
            self.listing = cancel.clone();
        }
        self.generation += 1;
        if let Some(orders) = &self.orders {
            // A closed channel means that the thread is gone, which only dropping this handle does.
            let order = Order {
                generation: self.generation,
                job,
                cancel,
                kept: Arc::clone(&self.kept),
            };
            drop(orders.send(order));
        }
        self.generation
    }

    /// Asks the current load or comparison, the planner's table, the sweeps and name reuse to stop.
    pub fn cancel(&self) {
        self.trying.cancel();
        self.planning.cancel();
        self.sweeping.cancel();
        self.naming.cancel();
        self.lock().cancel();
    }

    /// Draws these pictures instead of those asked for before.
    pub(super) fn paint(&self, painting: Painting) {
        self.painter.paint(painting);
    }

    /// Asks the sweep to stop.
    pub fn cancel_sweep(&self) {
        self.sweeping.cancel();
    }

    /// Asks the trying of configurations to stop.
    pub fn cancel_space(&self) {
        self.trying.cancel();
    }

    /// Asks files of answers that are not written yet not to be.
    pub fn cancel_exports(&mut self) {
        self.exporting.cancel();
        self.exporting = Cancel::new();
    }

    /// Asks a search to stop. Searches and tables are short, so that nothing else stops them.
    pub fn cancel_search(&self) {
        self.searching.cancel();
    }

    /// The next answer with its generation, if there is one. Never waits.
    pub fn poll(&self) -> Option<(u64, Answer)> {
        self.answers.try_recv().ok()
    }

    /// The next answer, for callers without a frame. Waits.
    pub fn wait(&self) -> Option<(u64, Answer)> {
        self.answers.recv().ok()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Cancel> {
        self.current.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.cancel();
        self.searching.cancel();
        self.listing.cancel();
        self.exporting.cancel();
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            // The thread catches panics of jobs; there is nothing left to report on the way out.
            drop(thread.join());
        }
    }
}

fn serve(inbox: &Receiver<Order>, outbox: &Sender<(u64, Answer)>, wake: &dyn Fn(Wake)) {
    while let Ok(order) = inbox.recv() {
        let say = |answer: Answer| {
            let when = match answer {
                Answer::Progress { .. } => Wake::Soon,
                _ => Wake::Now,
            };
            // The receiver is gone only while the program ends.
            drop(outbox.send((order.generation, answer)));
            wake(when);
        };
        if order.cancel.is_cancelled() {
            say(Answer::Cancelled);
            continue;
        }
        let report = |stage: &'static str, fraction: f32| say(Answer::Progress { stage, fraction });
        let throttled = Throttle::new(&report);
        let progress_report = |stage: &'static str, fraction: f32| throttled.report(stage, fraction);
        let progress = Progress::new(&order.cancel, &progress_report);
        let result = catch_unwind(AssertUnwindSafe(|| {
            if let Some(target) = order.job.target() {
                refuse_source(target, &order.kept).map_err(|error| error.to_string())?;
            }
            perform(order.job, &progress, &say)
        }));
        let answer = result.unwrap_or_else(|panic| Err(panic_text(&*panic)));
        say(match answer {
            _ if order.cancel.is_cancelled() => Answer::Cancelled,
            Ok(answer) => answer,
            Err(message) => Answer::Failed(message),
        });
    }
}

/// Passes on a report when the stage or the whole percent changes, so that loops may report as they like.
struct Throttle<'a> {
    report: &'a dyn Fn(&'static str, f32),
    last: std::cell::Cell<(&'static str, i32)>,
}

impl<'a> Throttle<'a> {
    fn new(report: &'a dyn Fn(&'static str, f32)) -> Self {
        Self {
            report,
            last: std::cell::Cell::new(("", -1)),
        }
    }

    fn report(&self, stage: &'static str, fraction: f32) {
        #[expect(clippy::cast_possible_truncation, reason = "0 to 50")]
        let now = (stage, (fraction * 50.0) as i32);
        if self.last.replace(now) != now {
            (self.report)(stage, fraction);
        }
    }
}

pub(super) fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    format!("this is a fault in highwater, not in your file; please report it: {text}")
}
