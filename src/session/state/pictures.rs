//! Pictures of lanes, and the colours of their blocks: what was asked for, and what there is.

use std::sync::Arc;

use super::Session;
use crate::session::jobs::{Answer, Job};
use crate::session::painter::{LanePicture, Painting, PictureOrder};
use crate::timeline::{Look, LookOrder};

/// What is known of pictures and colours.
#[derive(Debug, Default)]
pub(super) struct PictureWatch {
    /// The newest pictures, one a lane and kind.
    pictures: Vec<Arc<LanePicture>>,
    /// The last order; 0 where all of it is drawn.
    generation: u64,
    last_generation: u64,
    /// What colours stand for, and which groups step back.
    order: LookOrder,
    /// The colours of the answer with this number.
    look: Arc<Look>,
    look_of: u64,
    n_looks: u64,
    look_generation: u64,
}

impl PictureWatch {
    pub(super) fn is_waiting(&self) -> bool {
        self.generation != 0 || self.look_generation != 0
    }
}

impl Session {
    /// The newest pictures, one a lane and kind, whatever view they show.
    pub fn pictures(&self) -> &[Arc<LanePicture>] {
        &self.pictures.pictures
    }

    /// What pictures are drawn from: the number of the answer and of its colours.
    pub fn picture_version(&self) -> (u64, u64) {
        (self.n_answers, self.pictures.n_looks)
    }

    /// The colours of the answer on the screen; single tensors' own until others are worked out.
    pub fn look(&self) -> Arc<Look> {
        if self.pictures.look_of == self.n_answers {
            Arc::clone(&self.pictures.look)
        } else {
            Arc::default()
        }
    }

    /// What colours are to stand for.
    pub fn look_order(&self) -> &LookOrder {
        &self.pictures.order
    }

    /// Asks for pictures of the answer on the screen.
    pub(super) fn paint(&mut self, order: PictureOrder) {
        let Some((_, timeline)) = &self.answer else { return };
        self.pictures.last_generation += 1;
        self.pictures.generation = self.pictures.last_generation;
        self.worker.paint(Painting {
            generation: self.pictures.generation,
            timeline: Arc::clone(timeline),
            look: self.look(),
            version: self.picture_version(),
            order,
        });
    }

    /// Chooses what colours stand for.
    pub(super) fn set_look(&mut self, order: LookOrder) {
        if self.pictures.order != order {
            self.pictures.order = order;
            self.want_look();
        }
    }

    /// Asks for the colours of the answer on the screen.
    pub(super) fn want_look(&mut self) {
        let Some((comparison, timeline)) = &self.answer else {
            return;
        };
        self.pictures.look_generation = self.worker.send(Job::Colors {
            comparison: Arc::clone(comparison),
            timeline: Arc::clone(timeline),
            order: self.pictures.order.clone(),
            found: self.search().matches.clone(),
        });
    }

    /// Forgets the pictures of an answer that is no longer on the screen.
    pub(super) fn drop_pictures(&mut self) {
        self.pictures.pictures.clear();
    }

    /// Takes what is about pictures; gives back what is not.
    pub(super) fn take_pictures(&mut self, generation: u64, answer: Answer) -> Option<Answer> {
        match answer {
            Answer::Painted(Some(picture)) => {
                if picture.version.0 == self.n_answers {
                    let key = (picture.of.lane, picture.of.kind);
                    self.pictures
                        .pictures
                        .retain(|known| (known.of.lane, known.of.kind) != key);
                    self.pictures.pictures.push(picture);
                }
            }
            Answer::Painted(None) => {
                if generation == self.pictures.generation {
                    self.pictures.generation = 0;
                }
            }
            Answer::Colored(look) => {
                if generation == self.pictures.look_generation {
                    self.pictures.look_generation = 0;
                    self.pictures.look = look;
                    self.pictures.look_of = self.n_answers;
                    self.pictures.n_looks += 1;
                }
            }
            Answer::Cancelled | Answer::Failed(_) if generation == self.pictures.look_generation => {
                self.pictures.look_generation = 0;
                return Some(answer);
            }
            other => return Some(other),
        }
        None
    }
}
