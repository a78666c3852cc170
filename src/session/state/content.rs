//! What lanes show instead of memory maps: what is asked for, and what is known of it.

use std::sync::Arc;

use super::Session;
use crate::jobs::{Answer, ContentOrder, Job};
use highwater_timeline::{Areas, LaneRows};

/// What is known of it.
#[derive(Debug, Default)]
pub(super) struct ContentWatch {
    wanted: ContentOrder,
    areas: Option<Arc<Areas>>,
    lifetimes: Option<Arc<LaneRows>>,
    /// The number of the answer that both are of.
    of: u64,
    generation: u64,
}

impl ContentWatch {
    pub(super) const fn is_waiting(&self) -> bool {
        self.generation != 0
    }

    pub(super) fn lifetimes(&self, answer: u64) -> Option<Arc<LaneRows>> {
        self.lifetimes.clone().filter(|_| self.of == answer)
    }
}

impl Session {
    /// What lanes show.
    pub fn content_order(&self) -> ContentOrder {
        self.content.wanted
    }

    /// What groups hold in the answer on the screen, where that is asked for and worked out.
    pub fn areas(&self) -> Option<&Areas> {
        let known = self.content.areas.as_deref();
        known.filter(|_| self.content.of == self.n_answers)
    }

    /// The rows of a lane of the answer on the screen, where they are asked for and worked out.
    pub fn lifetimes(&self) -> Option<&Arc<LaneRows>> {
        let known = self.content.lifetimes.as_ref();
        known.filter(|_| self.content.of == self.n_answers)
    }

    /// Chooses what lanes show.
    pub(super) fn show_content(&mut self, order: ContentOrder) {
        if self.content.wanted != order {
            self.content.wanted = order;
            self.want_content();
        }
    }

    /// Works it out, as after a new answer.
    pub(super) fn want_content(&mut self) {
        self.content.generation = 0;
        let Some((comparison, timeline)) = &self.answer else {
            return;
        };
        match self.content.wanted {
            // What nobody looks at takes no room.
            ContentOrder::Maps => {
                (self.content.areas, self.content.lifetimes) = (None, None);
                self.drop_rows_picture();
                return;
            }
            // Colours that are on their way will ask again.
            ContentOrder::Areas if !self.knows_look() => return,
            ContentOrder::Areas | ContentOrder::Lifetimes { .. } => {}
        }
        let job = Job::Content {
            comparison: Arc::clone(comparison),
            timeline: Arc::clone(timeline),
            look: self.look(),
            order: self.content.wanted,
        };
        self.content.generation = self.worker.send(job);
    }

    /// Blocks have other colours: areas are others.
    pub(super) fn look_changed(&mut self) {
        if self.content.wanted == ContentOrder::Areas {
            self.want_content();
        }
    }

    /// Takes what is about it; gives back what is not.
    pub(super) fn take_content(&mut self, generation: u64, answer: Answer) -> Option<Answer> {
        let is_own = generation == self.content.generation && generation != 0;
        match answer {
            Answer::Areas(_) | Answer::Lifetimes(_) if !is_own => return None,
            Answer::Areas(areas) => (self.content.areas, self.content.lifetimes) = (Some(areas), None),
            Answer::Lifetimes(rows) => (self.content.areas, self.content.lifetimes) = (None, Some(rows)),
            Answer::Cancelled | Answer::Failed(_) if is_own => {
                self.content.generation = 0;
                return Some(answer);
            }
            other => return Some(other),
        }
        self.content.generation = 0;
        self.content.of = self.n_answers;
        None
    }
}
