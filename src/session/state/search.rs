//! The search for tensors: read at once, worked out by the worker; the newest wins.
//!
//! What was found last stays while a newer search is on its way, or while what is typed cannot be read. A new answer is
//! searched again.

use std::sync::Arc;

use super::super::jobs::{Answer, Job};
use super::{Notice, Session};
use highwater_timeline::{Matches, Query, QueryError};

/// What is looked for, and what was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Search {
    /// The query as it was typed.
    pub text: String,
    /// The lane in whose rows is searched, by position.
    pub lane: usize,
    /// What is wrong with the query.
    pub error: Option<QueryError>,
    /// What was found last; `None` where nothing is looked for.
    pub matches: Option<Arc<Matches>>,
}

impl Search {
    /// Whether something is looked for.
    pub fn is_on(&self) -> bool {
        !self.text.trim().is_empty()
    }
}

/// The search, and what the worker has in hand of it.
#[derive(Debug, Default)]
pub(super) struct SearchWatch {
    search: Search,
    query: Option<Query>,
    /// 0 is nothing.
    generation: u64,
}

impl Session {
    /// What is looked for, and what was found.
    pub fn search(&self) -> &Search {
        &self.search.search
    }

    /// Whether the worker has still to say what it found.
    pub fn is_searching(&self) -> bool {
        self.search.generation != 0
    }

    pub(super) fn search_for(&mut self, text: String, lane: usize) {
        let watch = &mut self.search;
        if watch.search.text == text && watch.search.lane == lane {
            return;
        }
        watch.search.lane = lane;
        watch.search.error = None;
        match Query::parse(&text) {
            Ok(query) => watch.query = (!query.is_empty()).then_some(query),
            Err(error) => watch.search.error = Some(error),
        }
        watch.search.text = text;
        if self.search.search.error.is_none() {
            self.search_again();
        }
    }

    /// Searches the answer on the screen.
    pub(super) fn search_again(&mut self) {
        let watch = &mut self.search;
        let Some((query, (comparison, timeline))) = watch.query.as_ref().zip(self.answer.as_ref()) else {
            let had_matches = watch.search.matches.take().is_some();
            watch.generation = 0;
            self.worker.cancel_search();
            if had_matches {
                self.want_look();
            }
            return;
        };
        watch.generation = self.worker.send(Job::Search {
            comparison: Arc::clone(comparison),
            timeline: Arc::clone(timeline),
            lane: watch.search.lane,
            query: query.clone(),
        });
    }

    /// What was found belongs to other sources.
    pub(super) fn drop_matches(&mut self) {
        self.search.search.matches = None;
    }

    /// Takes what the worker says about a search; gives back what is about something else.
    pub(super) fn take_search(&mut self, generation: u64, answer: Answer) -> Option<Answer> {
        if generation != self.search.generation || generation == 0 {
            let is_old = matches!(answer, Answer::Searched(_));
            return (!is_old).then_some(answer);
        }
        match answer {
            Answer::Progress { .. } => return None,
            Answer::Searched(matches) => {
                self.search.search.matches = Some(matches);
                // What was not found steps back in every lane.
                self.want_look();
            }
            Answer::Failed(message) => {
                self.search.search.matches = None;
                self.notice = Some(Notice::Failed(message));
            }
            _ => {}
        }
        self.search.generation = 0;
        None
    }
}
