//! The worker: tasks on threads of their own, so that the window never waits.
//!
//! Tasks run in the order in which they were sent (`performer`); [`TaskKind::rule`] says which replace or cancel others.
//! An answer comes back as a closure over the session, and is dropped where its task was replaced. Of partial answers,
//! which come before, the session takes the last one. A panic becomes a failure of its task. The wake-up is a closure,
//! so this file knows no GUI.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, unbounded};

use super::painter::{Painter, Painting};
use super::performer::{Order, Performer, Say, serve};
use super::state::{Notice, Session};
use super::task::{Failure, Outcome, TaskKind};
use highwater_model::progress::{Cancel, Progress};

/// The urgency of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// At once.
    Now,
    /// With the next frame or later: the message is progress alone, and a frame may cost as much as the reported part of
    /// the task.
    Soon,
}

/// The number of a task, counted from 1.
pub(super) type TaskId = u64;

/// Applies an answer to the session.
pub(super) type Reply = Box<dyn FnOnce(&mut Session) + Send>;

/// The last partial answer of a task that the session has not taken yet: a newer one takes its place.
type Slot = Arc<Mutex<Option<Reply>>>;

/// A message of the worker or the painter.
pub(super) enum Message {
    /// The stage's name and the done share, 0.0 to 1.0.
    Progress(TaskId, &'static str, f32),
    /// A partial answer. There is one message for all that came since the session took the last one.
    Partial(TaskId, Slot),
    Done(TaskId, Reply),
    /// A picture for an order, which may be older than the last one.
    Painted(Reply),
}

/// Sends partial answers of a task.
pub(super) struct Partial {
    id: TaskId,
    slot: Slot,
    say: Say,
}

impl Partial {
    /// Replaces the answer that the session has not taken yet.
    pub(super) fn offer(&self, reply: impl FnOnce(&mut Session) + Send + 'static) {
        let Ok(mut slot) = self.slot.lock() else { return };
        let is_first = slot.replace(Box::new(reply)).is_none();
        drop(slot);
        if is_first {
            (self.say)(Message::Partial(self.id, Arc::clone(&self.slot)));
        }
    }
}

/// A task without an answer yet.
struct Pending {
    id: TaskId,
    kind: TaskKind,
    cancel: Cancel,
    stage: &'static str,
    fraction: f32,
}

/// The handle of the worker's thread and of the painter's; joins them when dropped.
pub struct Worker {
    orders: Option<Sender<Order>>,
    messages: Receiver<Message>,
    say: Say,
    /// In the order in which they were sent.
    pending: Vec<Pending>,
    last_id: TaskId,
    /// The most threads of a task; 0 is one per core.
    n_threads: usize,
    thread: Option<JoinHandle<()>>,
    painter: Painter,
}

impl std::fmt::Debug for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Worker")
            .field("last_id", &self.last_id)
            .finish_non_exhaustive()
    }
}

impl Worker {
    /// Starts both threads. `wake` is called after every message.
    ///
    /// # Errors
    /// The error of the operating system where it cannot start a thread.
    pub fn start(wake: impl Fn() + Send + Sync + 'static) -> std::io::Result<Self> {
        Self::start_with(0, move |_| wake())
    }

    /// Starts the thread; tasks and pictures use at most so many threads (0: one per core), and `wake` gets the urgency of
    /// the message.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn start_with(n_threads: usize, wake: impl Fn(Wake) + Send + Sync + 'static) -> std::io::Result<Self> {
        let (orders, inbox) = unbounded::<Order>();
        let (outbox, messages) = unbounded();
        let say: Say = Arc::new(move |message: Message| {
            let when = match message {
                Message::Progress(..) | Message::Partial(..) => Wake::Soon,
                Message::Done(..) | Message::Painted(_) => Wake::Now,
            };
            // The receiver is gone only while the program ends.
            drop(outbox.send(message));
            wake(when);
        });
        let painter = {
            let say = Arc::clone(&say);
            Painter::start(Cancel::on_threads(n_threads).n_threads(), move |message| say(message))?
        };
        let performer = Performer::start(&say)?;
        let of_worker = Arc::clone(&say);
        let thread = std::thread::Builder::new()
            .name("highwater-worker".to_owned())
            .spawn(move || serve(&inbox, &of_worker, performer))?;
        Ok(Self {
            orders: Some(orders),
            messages,
            say,
            pending: Vec::new(),
            last_id: 0,
            n_threads,
            thread: Some(thread),
            painter,
        })
    }

    /// Sends work; `then` applies its outcome, unless the work is replaced.
    pub(super) fn send<A: Send + 'static>(
        &mut self,
        kind: TaskKind,
        work: impl FnOnce(&Progress<'_>) -> Result<A, Failure> + Send + 'static,
        then: impl FnOnce(&mut Session, Outcome<A>) + Send + 'static,
    ) {
        self.send_in_parts(kind, |_, progress| work(progress), then);
    }

    /// Sends work that has partial answers. They are applied until the task ends or is cancelled.
    pub(super) fn send_in_parts<A: Send + 'static>(
        &mut self,
        kind: TaskKind,
        work: impl FnOnce(Partial, &Progress<'_>) -> Result<A, Failure> + Send + 'static,
        then: impl FnOnce(&mut Session, Outcome<A>) + Send + 'static,
    ) {
        let (id, cancel) = self.register(kind);
        // One of two replies is applied.
        let then = Arc::new(Mutex::new(Some(then)));
        let end = move |session: &mut Session, outcome: Outcome<A>| {
            let then = then.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(then) = then {
                then(session, outcome);
            }
        };
        let let_go = {
            let end = end.clone();
            Box::new(move |session: &mut Session| end(session, Outcome::Cancelled))
        };
        let partial = Partial {
            id,
            slot: Slot::default(),
            say: Arc::clone(&self.say),
        };
        let work = Box::new(move |progress: &Progress<'_>| -> Reply {
            let result = guarded(|| {
                progress.check()?;
                work(partial, progress)
            });
            // The answer of cancelled work is freed here, not by the session.
            let outcome = match result {
                _ if progress.check().is_err() => Outcome::Cancelled,
                Ok(answer) => Outcome::Done(answer),
                Err(Failure(message)) => Outcome::Failed(message),
            };
            Box::new(move |session| {
                if let Outcome::Failed(message) = &outcome {
                    session.notify(Notice::Failed(message.clone()));
                }
                end(session, outcome);
            })
        });
        if let Some(orders) = &self.orders {
            // A closed channel means that the thread is gone, which only dropping this handle does.
            drop(orders.send(Order {
                id,
                cancel,
                work,
                let_go,
            }));
        }
    }

    /// Draws these pictures instead of those ordered before.
    pub(super) fn paint(&mut self, mut painting: Painting) {
        (painting.id, _) = self.register(TaskKind::Paint);
        self.painter.paint(painting);
    }

    /// Registers a new task and cancels those that it interrupts or replaces.
    fn register(&mut self, kind: TaskKind) -> (TaskId, Cancel) {
        let rule = kind.rule();
        if !rule.is_queued {
            self.discard(kind);
        }
        for other in rule.interrupts {
            self.cancel(*other);
        }
        self.last_id += 1;
        let cancel = Cancel::on_threads(self.n_threads);
        self.pending.push(Pending {
            id: self.last_id,
            kind,
            cancel: cancel.clone(),
            stage: "",
            fraction: 0.0,
        });
        (self.last_id, cancel)
    }

    /// Cancels tasks of a kind: [`Outcome::Cancelled`] follows.
    pub(super) fn cancel(&self, kind: TaskKind) {
        self.cancel_if(|pending| pending.kind == kind);
    }

    /// Cancels the tasks that the user may stop.
    pub(super) fn cancel_all(&self) {
        self.cancel_if(|pending| pending.kind.rule().is_cancellable);
    }

    /// Whether the user may stop a task that runs or waits.
    pub(super) fn can_cancel(&self) -> bool {
        let can = |pending: &Pending| pending.kind.rule().is_cancellable && pending.cancel.is_running();
        self.pending.iter().any(can)
    }

    fn cancel_if(&self, is_it: impl Fn(&Pending) -> bool) {
        for pending in self.pending.iter().filter(|pending| is_it(pending)) {
            pending.cancel.cancel();
        }
    }

    /// Cancels tasks of a kind and drops their outcomes.
    pub(super) fn discard(&mut self, kind: TaskKind) {
        self.cancel(kind);
        self.pending.retain(|pending| pending.kind != kind);
    }

    pub(super) fn is_waiting(&self, kind: TaskKind) -> bool {
        self.pending.iter().any(|pending| pending.kind == kind)
    }

    pub(super) fn is_idle(&self) -> bool {
        self.pending.is_empty()
    }

    /// Progress of the first uncancelled task of a kind: its stage (empty before the first) and 0.0 to 1.0.
    pub(super) fn progress(&self, kind: TaskKind) -> Option<(&'static str, f32)> {
        let mut running = self.pending.iter().filter(|pending| pending.kind == kind);
        let first = running.find(|pending| !pending.cancel.is_cancelled())?;
        Some((first.stage, first.fraction))
    }

    /// The next message, if there is one. Never waits.
    pub(super) fn poll(&self) -> Option<Message> {
        self.messages.try_recv().ok()
    }

    /// The next message, for callers without a frame. Waits.
    pub(super) fn wait(&self) -> Option<Message> {
        self.messages.recv().ok()
    }

    /// The reply of a message; `None` where its task was replaced.
    pub(super) fn receive(&mut self, message: Message) -> Option<Reply> {
        match message {
            Message::Progress(id, stage, fraction) => {
                let pending = self.pending.iter_mut().find(|pending| pending.id == id)?;
                (pending.stage, pending.fraction) = (stage, fraction);
                None
            }
            Message::Partial(id, slot) => {
                let reply = slot.lock().ok()?.take();
                let mut pending = self.pending.iter();
                let is_wanted = pending.any(|pending| pending.id == id && !pending.cancel.is_cancelled());
                reply.filter(|_| is_wanted)
            }
            Message::Done(id, reply) => {
                let position = self.pending.iter().position(|pending| pending.id == id)?;
                self.pending.remove(position);
                Some(reply)
            }
            Message::Painted(reply) => Some(reply),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Documents and configurations are written even so. Another file may be a pipe without a reader.
        self.cancel_if(|pending| !matches!(pending.kind, TaskKind::Save | TaskKind::WriteConfig));
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            // The thread catches panics of tasks; there is nothing left to report on the way out.
            drop(thread.join());
        }
    }
}

/// The result of work; a panic in it is a failure.
pub(super) fn guarded<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("no message");
        Err(Failure(format!(
            "this is a fault in highwater, not in your file; please report it: {text}"
        )))
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::mpsc::channel;

    use super::*;
    use crate::{Command, Document, SAMPLES, SourceSpec};
    use highwater_model::workload::DeviceProfiles;

    fn session() -> Session {
        let document = Document::new(vec![SourceSpec::Sample(&SAMPLES[0])]);
        let profiles = DeviceProfiles::bundled().expect("the profiles are bundled");
        let mut session = Session::new(document, profiles, Worker::start(|| {}).expect("a thread"));
        session.settle();
        session
    }

    #[test]
    fn a_panic_ends_its_task_whatever_the_task_is_for() {
        let mut session = session();
        for (position, kind) in TaskKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, position, "the list has every kind once");
            let work = |_: &Progress<'_>| -> Result<(), Failure> { panic!("oh") };
            session.worker().send(kind, work, |_, _| {});
            assert!(session.worker().is_waiting(kind));
            session.settle();
            let notice = session.notice().cloned();
            let is_told = |text: &str| text.contains("this is a fault in highwater") && text.ends_with("oh");
            assert!(
                matches!(&notice, Some(Notice::Failed(text)) if is_told(text)),
                "{kind:?} {notice:?}"
            );
        }
        // The thread goes on.
        let gone = PathBuf::from("/no/such/folder");
        session.apply(Command::FindMissing(vec![gone.clone()]));
        session.settle();
        assert!(session.is_missing(&gone));
    }

    /// Sends two tasks of a kind; the numbers of those whose end is noticed.
    fn two_of_a_kind(session: &mut Session, kind: TaskKind) -> Vec<i32> {
        let (say, told) = channel();
        for number in [1, 2] {
            let say = say.clone();
            let then = move |_: &mut Session, _| say.send(number).expect("the test waits");
            session.worker().send(kind, |_| Ok(()), then);
        }
        session.settle();
        told.try_iter().collect()
    }

    /// Work that does not look at its flag is not waited for: it ends only after the test has its outcome.
    #[test]
    fn a_cancel_does_not_wait_for_the_next_look() {
        let mut session = session();
        let (say, told) = channel();
        let (release, held) = channel::<()>();
        let (start, started) = channel();
        let work = move |_: &Progress<'_>| {
            start.send(()).expect("the test waits");
            Ok(held.recv().is_ok())
        };
        let then = move |_: &mut Session, outcome: Outcome<bool>| {
            let is_cancelled = matches!(outcome, Outcome::Cancelled);
            say.send(is_cancelled).expect("the test waits");
        };
        session.worker().send(TaskKind::Compare, work, then);
        started.recv().expect("the work starts");
        session.worker().cancel_all();
        session.settle();
        assert_eq!(told.try_iter().collect::<Vec<_>>(), [true]);
        // The next task does not wait either.
        let gone = PathBuf::from("/no/such/folder");
        session.apply(Command::FindMissing(vec![gone.clone()]));
        session.settle();
        assert!(session.is_missing(&gone));
        release.send(()).expect("it still waits");
    }

    #[test]
    fn the_newest_task_wins_unless_its_kind_is_queued() {
        let mut session = session();
        assert_eq!(two_of_a_kind(&mut session, TaskKind::FindMissing), [2]);
        assert_eq!(two_of_a_kind(&mut session, TaskKind::WriteConfig), [1, 2]);
    }

    #[test]
    fn a_comparison_interrupts_what_is_long_and_a_cancel_leaves_what_is_short() {
        let mut session = session();
        let pending = |session: &mut Session, kind| session.worker().register(kind).1;
        let (sweep, table) = (
            pending(&mut session, TaskKind::Sweep),
            pending(&mut session, TaskKind::Table),
        );
        let compare = pending(&mut session, TaskKind::Compare);
        assert!(sweep.is_cancelled() && !table.is_cancelled() && !compare.is_cancelled());
        assert!(session.worker().is_waiting(TaskKind::Sweep), "it may go on behind it");
        session.worker().cancel_all();
        assert!(compare.is_cancelled() && !table.is_cancelled());
        assert_eq!(session.busy(), None, "no bar for what is cancelled");
        for kind in [TaskKind::Sweep, TaskKind::Table, TaskKind::Compare] {
            session.worker().discard(kind);
        }
        assert!(session.worker().is_idle());
    }
}
