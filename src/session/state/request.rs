//! Requests: tasks about the answer on the screen that panes want, each with the last answer to it.
//!
//! A result belongs to the revision of its answer. An older result stays until a newer one arrives, so that panes are not
//! blank meanwhile.

use super::super::task::{Failure, Outcome, TaskKind};
use super::Session;
use super::requests::Requests;
use highwater_model::progress::Progress;

/// What the worker does; no output where the answer has no such result.
pub(super) type Work<O> = Box<dyn FnOnce(&Progress<'_>) -> Result<Option<O>, Failure> + Send>;

/// A kind of work on the answer on the screen.
pub(super) trait Task: 'static {
    /// The user's choice: results for equal keys of one revision are equal.
    type Key: Clone + PartialEq + Send + 'static;
    type Output: Send + 'static;

    const KIND: TaskKind;

    fn request(requests: &mut Requests) -> &mut Request<Self::Key, Self::Output>;

    /// The work on the answer on the screen, with everything that it needs; `None` where that has no such result.
    fn work(session: &Session, key: &Self::Key) -> Option<Work<Self::Output>>;

    /// Whether a newer task waits for the running one instead of replacing it, so that results follow a moving pointer as
    /// fast as they can be made.
    fn waits(_running: &Self::Key, _wanted: &Self::Key) -> bool {
        false
    }
}

/// Which result: the revision of the answer, and the key.
type ResultId<K> = (u64, K);

/// The wanted, the running and the known result of a kind of task.
#[derive(Debug)]
pub(super) struct Request<K, O> {
    wanted: Option<ResultId<K>>,
    running: Option<ResultId<K>>,
    known: Option<(ResultId<K>, Option<O>)>,
    /// The message of the last failure; the same task would fail again.
    failed: Option<(ResultId<K>, String)>,
}

impl<K, O> Default for Request<K, O> {
    fn default() -> Self {
        Self {
            wanted: None,
            running: None,
            known: None,
            failed: None,
        }
    }
}

/// A kind of result as the answer on the screen has it.
#[derive(Debug)]
pub struct Requested<'a, K, O> {
    request: &'a Request<K, O>,
    /// Of the answer on the screen.
    revision: Option<u64>,
}

impl<'a, K: PartialEq, O> Requested<'a, K, O> {
    /// The last key.
    pub fn key(&self) -> Option<&'a K> {
        self.request.wanted.as_ref().map(|(_, key)| key)
    }

    /// The last result; perhaps for another key or of another answer.
    pub fn last(&self) -> Option<&'a O> {
        self.request.known.as_ref()?.1.as_ref()
    }

    /// The last result, where it is of the answer on the screen; perhaps for another key.
    pub fn current(&self) -> Option<&'a O> {
        let ((of, _), _) = self.request.known.as_ref()?;
        self.last().filter(|_| Some(*of) == self.revision)
    }

    /// The result for the last key, where it is of the answer on the screen.
    pub fn wanted(&self) -> Option<&'a O> {
        let (id, _) = self.request.known.as_ref()?;
        self.current().filter(|_| self.request.wanted.as_ref() == Some(id))
    }

    /// Why there is no result for the last key, where the task failed; the next request may succeed.
    pub fn failure(&self) -> Option<&'a str> {
        let (id, message) = self.request.failed.as_ref()?;
        (self.request.wanted.as_ref() == Some(id)).then_some(message)
    }

    /// Whether the last result is this one, of the answer on the screen.
    pub fn has(&self, key: &K) -> bool {
        self.is_current(self.request.known.as_ref().map(|(id, _)| id), key)
    }

    /// Whether this is the last key, of the answer on the screen: its result is known, pending, or failed.
    pub fn wants(&self, key: &K) -> bool {
        self.is_current(self.request.wanted.as_ref(), key)
    }

    pub fn is_pending(&self) -> bool {
        self.request.running.is_some()
    }

    fn is_current(&self, id: Option<&ResultId<K>>, key: &K) -> bool {
        id.is_some_and(|(of, known)| Some(*of) == self.revision && known == key)
    }
}

impl Session {
    pub(super) fn requested<'a, K: PartialEq, O>(&self, request: &'a Request<K, O>) -> Requested<'a, K, O> {
        Requested {
            request,
            revision: self.answers.pair().map(|_| self.answers.revision()),
        }
    }

    /// Replaces the wanted result.
    pub(super) fn ask<T: Task>(&mut self, key: T::Key) {
        let revision = self.answers.revision();
        let request = T::request(&mut self.requests);
        request.wanted = Some((revision, key));
        request.failed = None;
        self.ask_wanted::<T>();
    }

    /// Requests the result for the last key again, after its inputs changed.
    pub(super) fn ask_again<T: Task>(&mut self) {
        if let Some((_, key)) = T::request(&mut self.requests).wanted.clone() {
            self.ask::<T>(key);
        }
    }

    /// Withdraws the request.
    pub(super) fn forget<T: Task>(&mut self) {
        self.discard(T::KIND);
        *T::request(&mut self.requests) = Request::default();
    }

    fn ask_wanted<T: Task>(&mut self) {
        let current = self.answers.revision();
        let request = T::request(&mut self.requests);
        let Some(id) = request.wanted.clone().filter(|(revision, _)| *revision == current) else {
            return;
        };
        let running = request.running.as_ref();
        if running.is_some_and(|(revision, key)| *revision == current && T::waits(key, &id.1)) {
            return;
        }
        let work = T::work(self, &id.1);
        let request = T::request(&mut self.requests);
        if let Some(work) = work {
            request.running = Some(id.clone());
            self.worker
                .send(T::KIND, work, move |session, outcome| session.end::<T>(id, outcome));
        } else {
            (request.running, request.known) = (None, None);
            self.discard(T::KIND);
        }
    }

    fn end<T: Task>(&mut self, id: ResultId<T::Key>, outcome: Outcome<Option<T::Output>>) {
        let request = T::request(&mut self.requests);
        request.running = None;
        let wants_another = request.wanted.as_ref().is_some_and(|wanted| *wanted != id);
        match outcome {
            Outcome::Done(output) => request.known = Some((id, output)),
            Outcome::Failed(message) => {
                request.known.take_if(|(known, _)| *known == id);
                request.failed = Some((id, message));
            }
            // Another task took its turn: panes that show the result ask again.
            Outcome::Cancelled => drop(request.wanted.take_if(|wanted| *wanted == id)),
        }
        if wants_another {
            self.ask_wanted::<T>();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name_reuse::NamesTask;
    use crate::{Command, Document, SAMPLES, SourceSpec, Worker};
    use highwater_model::workload::{DeviceProfiles, GraphIdx};

    #[test]
    fn a_failure_takes_the_result_away_and_another_request_brings_it_back() {
        let document = Document::new(vec![SourceSpec::Sample(&SAMPLES[0])]);
        let worker = Worker::start(|| {}).expect("a thread");
        let profiles = DeviceProfiles::bundled().expect("bundled");
        let mut session = Session::new(document, profiles, worker);
        session.settle();
        let graph = GraphIdx(0);
        session.apply(Command::ReuseNames(graph));
        session.settle();
        assert!(session.name_reuse().wanted().is_some());
        let id = (session.answers.revision(), graph);
        session.end::<NamesTask>(id, Outcome::Failed("why".to_owned()));
        assert!(session.name_reuse().wanted().is_none() && !session.name_reuse().is_pending());
        assert_eq!(session.name_reuse().failure(), Some("why"));
        assert!(session.name_reuse().wants(&graph), "no pane asks in a circle");
        session.apply(Command::ReuseNames(graph));
        assert_eq!(session.name_reuse().failure(), None);
        session.settle();
        assert!(session.name_reuse().wanted().is_some());
    }
}
