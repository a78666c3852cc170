//! The search for tensors. The text is parsed at once; the worker finds the matches, of every new answer too.
//!
//! The last matches stay while a newer search is on its way, or while the text cannot be parsed.

use std::sync::Arc;

use super::super::task::{Outcome, TaskKind};
use super::Session;
use highwater_timeline::{Matches, Query, QueryError};

/// A search and its matches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Search {
    /// The query as it was typed.
    pub text: String,
    /// The lane in whose rows is searched, by position.
    pub lane: usize,
    /// Why the text cannot be parsed.
    pub error: Option<QueryError>,
    /// The last matches; `None` for a blank text.
    pub matches: Option<Arc<Matches>>,
    /// The last text that could be parsed and is not blank.
    query: Option<Query>,
}

impl Search {
    /// Whether the text is not blank.
    pub fn is_on(&self) -> bool {
        !self.text.trim().is_empty()
    }
}

impl Session {
    /// The search and its matches.
    pub fn search(&self) -> &Search {
        &self.search
    }

    /// Whether matches are pending.
    pub fn is_searching(&self) -> bool {
        self.worker.is_waiting(TaskKind::Search)
    }

    pub(super) fn search_for(&mut self, text: String, lane: usize) {
        let search = &mut self.search;
        if search.text == text && search.lane == lane {
            return;
        }
        let parsed = Query::parse(&text);
        (search.text, search.lane) = (text, lane);
        search.error = parsed.as_ref().err().cloned();
        if let Ok(query) = parsed {
            search.query = (!query.is_empty()).then_some(query);
            self.search_again();
        }
    }

    /// Searches the answer on the screen.
    pub(super) fn search_again(&mut self) {
        let Some((query, (comparison, timeline))) = self.search.query.as_ref().zip(self.answers.pair()) else {
            self.discard(TaskKind::Search);
            if self.search.matches.take().is_some() {
                self.color_blocks();
            }
            return;
        };
        let (comparison, timeline) = (Arc::clone(comparison), Arc::clone(timeline));
        let (lane, query) = (self.search.lane, query.clone());
        self.worker.send(
            TaskKind::Search,
            move |progress| Ok(query.matches(&comparison, &timeline, lane, progress)?),
            |session, outcome| match outcome {
                Outcome::Done(matches) => {
                    session.search.matches = Some(Arc::new(matches));
                    // Tensors that do not match are dimmed in every lane.
                    session.color_blocks();
                }
                Outcome::Failed(_) => session.search.matches = None,
                Outcome::Cancelled => {}
            },
        );
    }
}
