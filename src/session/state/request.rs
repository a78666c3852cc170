//! Requests: tasks about the answer on the screen that panes want, each with the last answer to it.
//!
//! A result belongs to the revision of its answer. An older result stays until a newer one arrives, so that panes are not
//! blank meanwhile.

use super::super::task::{Failure, Outcome, TaskKind};
use super::Session;
use highwater_model::progress::Progress;

/// Work on the answer on the screen, with everything that the worker needs for it.
pub(super) trait Task: Send + Sized + 'static {
    /// The user's choice: results for equal keys of one revision are equal.
    type Key: Clone + PartialEq + Send + 'static;
    type Output: Send + 'static;

    const KIND: TaskKind;

    fn request(session: &mut Session) -> &mut Request<Self>;

    /// The task on the answer on the screen; `None` where that has no such result.
    fn new(session: &Session, key: &Self::Key) -> Option<Self>;

    /// Runs on the worker's thread.
    ///
    /// # Errors
    /// The sentence for the user.
    fn perform(self, progress: &Progress<'_>) -> Result<Self::Output, Failure>;

    /// Whether a newer task waits for the running one instead of replacing it, so that results follow a moving pointer as
    /// fast as they can be made.
    fn waits(_running: &Self::Key, _wanted: &Self::Key) -> bool {
        false
    }
}

/// Which result: the revision of the answer, and the key.
type ResultId<T> = (u64, <T as Task>::Key);

/// The wanted, the running and the known result of a kind of task.
pub(super) struct Request<T: Task> {
    wanted: Option<ResultId<T>>,
    running: Option<ResultId<T>>,
    known: Option<(ResultId<T>, T::Output)>,
    /// The message of the last failure; the same task would fail again.
    failed: Option<(ResultId<T>, String)>,
}

impl<T: Task> Default for Request<T> {
    fn default() -> Self {
        Self {
            wanted: None,
            running: None,
            known: None,
            failed: None,
        }
    }
}

impl<T: Task> std::fmt::Debug for Request<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Request")
            .field("kind", &T::KIND)
            .finish_non_exhaustive()
    }
}

impl<T: Task> Request<T> {
    /// The last key.
    pub(super) fn key(&self) -> Option<&T::Key> {
        self.wanted.as_ref().map(|(_, key)| key)
    }

    /// The last result, of whatever key and revision.
    pub(super) fn known(&self) -> Option<&T::Output> {
        self.known.as_ref().map(|(_, output)| output)
    }

    /// The last result, where it is of this revision.
    pub(super) fn known_at(&self, revision: u64) -> Option<&T::Output> {
        self.known
            .as_ref()
            .filter(|((of, _), _)| *of == revision)
            .map(|(_, output)| output)
    }

    /// The result for the last key, where it is of this revision.
    pub(super) fn wanted_at(&self, revision: u64) -> Option<&T::Output> {
        let (of, _) = self.known.as_ref()?;
        self.known_at(revision).filter(|_| self.wanted.as_ref() == Some(of))
    }

    /// Why there is no result for the last key, where the task failed.
    pub(super) fn failure(&self) -> Option<&str> {
        let (id, message) = self.failed.as_ref()?;
        (self.wanted.as_ref() == Some(id)).then_some(message)
    }

    /// Whether the last result is this one.
    pub(super) fn has(&self, revision: u64, key: &T::Key) -> bool {
        self.known
            .as_ref()
            .is_some_and(|((of, known), _)| *of == revision && known == key)
    }

    /// Whether this is the last key: its result is known, pending, or failed.
    pub(super) fn wants(&self, revision: u64, key: &T::Key) -> bool {
        self.wanted
            .as_ref()
            .is_some_and(|(of, wanted)| *of == revision && wanted == key)
    }
}

impl Session {
    /// Replaces the wanted result.
    pub(super) fn ask<T: Task>(&mut self, key: T::Key) {
        let revision = self.revision;
        let request = T::request(self);
        request.wanted = Some((revision, key));
        request.failed = None;
        self.ask_wanted::<T>();
    }

    /// Requests the result for the last key again, after its inputs changed.
    pub(super) fn ask_again<T: Task>(&mut self) {
        if let Some(key) = T::request(self).key().cloned() {
            self.ask::<T>(key);
        }
    }

    /// Withdraws the request.
    pub(super) fn forget<T: Task>(&mut self) {
        self.discard(T::KIND);
        *T::request(self) = Request::default();
    }

    fn ask_wanted<T: Task>(&mut self) {
        let current = self.revision;
        let request = T::request(self);
        let Some(id) = request.wanted.clone().filter(|(revision, _)| *revision == current) else {
            return;
        };
        let running = request.running.as_ref();
        if running.is_some_and(|(revision, key)| *revision == current && T::waits(key, &id.1)) {
            return;
        }
        let task = T::new(self, &id.1);
        let request = T::request(self);
        if let Some(task) = task {
            request.running = Some(id.clone());
            let work = move |progress: &Progress<'_>| task.perform(progress);
            self.worker
                .send(T::KIND, work, move |session, outcome| session.end::<T>(id, outcome));
        } else {
            (request.running, request.known) = (None, None);
            self.discard(T::KIND);
        }
    }

    fn end<T: Task>(&mut self, id: ResultId<T>, outcome: Outcome<T::Output>) {
        let request = T::request(self);
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
        assert!(session.name_reuse().is_some());
        let id = (session.revision, graph);
        session.end::<NamesTask>(id, Outcome::Failed("why".to_owned()));
        assert!(session.name_reuse().is_none() && !session.is_reusing_names());
        assert_eq!(session.name_reuse_failure(), Some("why"));
        assert!(session.has_name_reuse(graph), "no pane asks in a circle");
        session.apply(Command::ReuseNames(graph));
        assert_eq!(session.name_reuse_failure(), None);
        session.settle();
        assert!(session.name_reuse().is_some());
    }
}
