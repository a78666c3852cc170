//! Performs the worker's tasks in order, each on a thread that the worker can let go of.
//!
//! Work looks at its cancel flag at its loop heads. Between two looks it may sort a million values, free an answer or
//! wait for a file, which takes longer than a user who cancelled waits. So the worker waits for cancelled work only for
//! a moment. Then it goes on with the next task on a new thread; the old one ends with its values at its next look,
//! without an answer. Work that is not cancelled, such as the last step of writing a file, is always waited for.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded, unbounded};

use super::worker::{Message, Reply, TaskId};
use highwater_model::progress::{Cancel, Progress};

pub(super) type Say = Arc<dyn Fn(Message) + Send + Sync>;

pub(super) type Work = Box<dyn FnOnce(&Progress<'_>) -> Reply + Send>;

pub(super) struct Order {
    pub(super) id: TaskId,
    pub(super) cancel: Cancel,
    pub(super) work: Work,
    /// The reply where the worker does not wait for the end of cancelled work.
    pub(super) let_go: Reply,
}

/// How often the worker looks whether running work was cancelled.
const LOOK: Duration = Duration::from_millis(10);

/// Looks after a cancel for which it waits.
const MOST_LOOKS: u32 = 3;

/// Threads that may end on their own at a time; each holds memory and a core.
const MOST_LET_GO: usize = 2;

/// A thread that performs one work after the other, until its handle is dropped.
pub(super) struct Performer {
    works: Sender<(TaskId, Cancel, Work)>,
    replies: Receiver<Reply>,
    thread: JoinHandle<()>,
}

impl Performer {
    /// # Errors
    /// The error of the operating system where it cannot start a thread.
    pub(super) fn start(say: &Say) -> std::io::Result<Self> {
        let (works, inbox) = unbounded::<(TaskId, Cancel, Work)>();
        let (outbox, replies) = bounded(1);
        let say = Arc::clone(say);
        let perform = move || {
            while let Ok((id, cancel, work)) = inbox.recv() {
                if outbox.send(performed(id, &cancel, work, &*say)).is_err() {
                    return;
                }
            }
        };
        Ok(Self {
            works,
            replies,
            thread: std::thread::Builder::new()
                .name("highwater-task".to_owned())
                .spawn(perform)?,
        })
    }
}

fn performed(id: TaskId, cancel: &Cancel, work: Work, say: &dyn Fn(Message)) -> Reply {
    let last = std::cell::Cell::new(("", -1));
    // Passes on only new stages and steps of two percent.
    let report = |stage: &'static str, fraction: f32| {
        #[expect(clippy::cast_possible_truncation, reason = "0 to 50")]
        let now = (stage, (fraction * 50.0) as i32);
        if last.replace(now) != now {
            say(Message::Progress(id, stage, fraction));
        }
    };
    work(&Progress::new(cancel, &report))
}

/// Performs orders until their sender is dropped.
pub(super) fn serve(inbox: &Receiver<Order>, say: &Say, mut performer: Performer) {
    let mut let_go: Vec<JoinHandle<()>> = Vec::new();
    while let Ok(order) = inbox.recv() {
        let cancel = order.cancel.clone();
        // The thread ends only with its handle.
        drop(performer.works.send((order.id, order.cancel, order.work)));
        let mut n_looks = 0;
        let reply = loop {
            match performer.replies.recv_timeout(LOOK) {
                Ok(reply) => break reply,
                Err(RecvTimeoutError::Timeout) if !cancel.is_cancelled() => continue,
                Err(RecvTimeoutError::Timeout) => n_looks += 1,
                // A fault outside of all work, in the wake-up.
                Err(RecvTimeoutError::Disconnected) => n_looks = u32::MAX,
            }
            let_go.retain(|thread| !thread.is_finished());
            if n_looks <= MOST_LOOKS || let_go.len() >= MOST_LET_GO {
                continue;
            }
            // Without another thread there is nothing but to wait.
            if let Ok(next) = Performer::start(say) {
                let_go.push(std::mem::replace(&mut performer, next).thread);
                break order.let_go;
            }
        };
        say(Message::Done(order.id, reply));
    }
}

/// Frees what may be large on another thread, so that no frame waits for it.
pub(super) fn free<T: Send + 'static>(value: T) {
    // Where no thread can be started, it is freed here.
    drop(std::thread::Builder::new().spawn(move || drop(value)));
}
