//! Name reuse with its log: asked for by the pane that shows it, once an answer; the newest question wins.
//!
//! A report is about one graph of one answer: with another answer on the screen it is not shown, since its figures and
//! its numbers of tensors are those of the old one. A failure is kept like a report, so that nothing is asked in a circle.

use std::sync::Arc;

use super::super::jobs::{Answer, Job};
use super::super::name_reuse::{NamesQuestion, NamesReport};
use super::{Notice, Session};
use highwater_model::graph::Bindings;
use highwater_model::workload::GraphIdx;
use highwater_options::lower;

/// The dimension that stands for -1.
const BATCH: &str = "batch";

/// What is known, and what the worker has in hand.
#[derive(Debug, Default)]
pub(super) struct NamesWatch {
    /// What came back, or the message of why nothing did; belongs to what is `asked`.
    known: Option<Result<Arc<NamesReport>, String>>,
    /// The answer, by number, and the graph that was asked for last.
    asked: Option<(u64, GraphIdx)>,
    /// 0 is nothing.
    generation: u64,
}

impl Session {
    /// Name reuse with its log, for the graph of the answer on the screen that was asked for last.
    pub fn name_reuse(&self) -> Option<&Arc<NamesReport>> {
        self.known_names()?.as_ref().ok()
    }

    /// Why there is none, where the worker failed at it; asking again may do.
    pub fn name_reuse_failure(&self) -> Option<&str> {
        self.known_names()?.as_ref().err().map(String::as_str)
    }

    fn known_names(&self) -> Option<&Result<Arc<NamesReport>, String>> {
        let (answer, _) = self.names.asked?;
        let is_current = self.answer.is_some() && answer == self.n_answers;
        self.names.known.as_ref().filter(|_| is_current)
    }

    /// Forgets name reuse: it is about sources that are gone. What the worker has in hand of it ends with the comparison
    /// that follows.
    pub(super) fn drop_names(&mut self) {
        self.names = NamesWatch::default();
    }

    /// Whether name reuse was asked for this graph of the answer on the screen.
    pub fn has_name_reuse(&self, graph: GraphIdx) -> bool {
        self.answer.is_none() || self.names.asked == Some((self.n_answers, graph))
    }

    /// Whether the worker has still to say.
    pub fn is_reusing_names(&self) -> bool {
        self.names.generation != 0
    }

    /// Asks for both levels of a graph of the answer.
    pub(super) fn reuse_names(&mut self, graph: GraphIdx) {
        let Some((comparison, _)) = &self.answer else { return };
        let comparison = Arc::clone(comparison);
        let lowered = lower(
            &self.document.options,
            &self.document.environment,
            &self.document.device(),
            &*self.files,
        );
        let dims = self.document.plan.dims.iter().chain(&self.bound_dims);
        let values = dims.filter_map(|(name, values)| Some((name.clone(), *values.first()?)));
        let bindings: Bindings = values.collect();
        self.names.known = None;
        self.names.asked = Some((self.n_answers, graph));
        self.names.generation = self.worker.send(Job::NameReuse(Box::new(NamesQuestion {
            comparison,
            graph,
            batch: bindings.get(BATCH).copied().unwrap_or(1),
            bindings,
            request: lowered.name_reuse,
        })));
    }

    /// Takes what the worker says about it; gives back what is about something else.
    pub(super) fn take_names(&mut self, generation: u64, answer: Answer) -> Option<Answer> {
        if generation != self.names.generation || generation == 0 {
            let is_old = matches!(answer, Answer::NamesReused(_));
            return (!is_old).then_some(answer);
        }
        match answer {
            Answer::Progress { .. } => return None,
            Answer::NamesReused(report) => self.names.known = report.map(Ok),
            Answer::Failed(message) => {
                self.names.known = Some(Err(message.clone()));
                self.notice = Some(Notice::Failed(message));
            }
            // A comparison came in between: whoever shows it asks again.
            Answer::Cancelled => self.names.asked = None,
            _ => {}
        }
        self.names.generation = 0;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::document::{Document, SourceSpec};
    use super::super::super::samples::SAMPLES;
    use super::super::super::worker::Worker;
    use super::*;
    use crate::Command;
    use highwater_model::workload::DeviceProfiles;

    #[test]
    fn a_failure_takes_the_report_away_and_can_be_asked_again() {
        let document = Document::new(vec![SourceSpec::Sample(&SAMPLES[0])]);
        let worker = Worker::start(|| {}).expect("a thread");
        let profiles = DeviceProfiles::bundled().expect("bundled");
        let mut session = Session::new(document, profiles, worker);
        session.settle();
        let graph = GraphIdx(0);
        session.apply(Command::ReuseNames(graph));
        session.settle();
        assert!(session.name_reuse().is_some());
        session.names.generation = u64::MAX;
        assert!(session.take_names(u64::MAX, Answer::Failed("why".to_owned())).is_none());
        assert!(session.name_reuse().is_none() && !session.is_reusing_names());
        assert_eq!(session.name_reuse_failure(), Some("why"));
        assert!(session.has_name_reuse(graph), "the same is not asked in a circle");
        session.apply(Command::ReuseNames(graph));
        assert_eq!(session.name_reuse_failure(), None);
        session.settle();
        assert!(session.name_reuse().is_some());
    }
}
