//! Pictures of lanes, and the colours of their blocks: what was asked for, and what there is.

use std::sync::Arc;

use super::{Notice, Session};
use crate::jobs::{Answer, Job};
use crate::painter::{LanePicture, Painting, PictureOrder, RowsPicture};
use highwater_timeline::{Coloring, ColoringRequest};

/// What is known of pictures and colours.
#[derive(Debug, Default)]
pub(super) struct PictureWatch {
    /// The newest pictures, one a lane and kind.
    pictures: Vec<Arc<LanePicture>>,
    /// The newest picture of rows.
    rows: Option<Arc<RowsPicture>>,
    /// The last order; 0 where all of it is drawn.
    generation: u64,
    last_generation: u64,
    /// What colours stand for, and which groups step back.
    order: ColoringRequest,
    /// The colours of the answer with this number.
    look: Arc<Coloring>,
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

    /// The newest picture of rows, whatever view it shows.
    pub fn rows_picture(&self) -> Option<&Arc<RowsPicture>> {
        self.pictures.rows.as_ref()
    }

    /// What pictures are drawn from: the number of the answer and of its colours.
    pub fn picture_version(&self) -> (u64, u64) {
        (self.n_answers, self.pictures.n_looks)
    }

    /// The colours of the answer on the screen; single tensors' own until others are worked out.
    pub fn look(&self) -> Arc<Coloring> {
        if self.pictures.look_of == self.n_answers {
            Arc::clone(&self.pictures.look)
        } else {
            Arc::default()
        }
    }

    /// What colours are to stand for.
    pub fn look_order(&self) -> &ColoringRequest {
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
            lifetimes: self.content.lifetimes(self.n_answers),
            version: self.picture_version(),
            order,
        });
    }

    /// Chooses what colours stand for.
    pub(super) fn set_look(&mut self, order: ColoringRequest) {
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

    /// Forgets the picture of rows that nobody looks at.
    pub(super) fn drop_rows_picture(&mut self) {
        self.pictures.rows = None;
    }

    /// Whether the colours of the answer on the screen are known, or nobody wants others than those of tensors.
    pub(super) fn knows_look(&self) -> bool {
        self.pictures.look_of == self.n_answers || self.pictures.look_generation == 0
    }

    /// Forgets the pictures of an answer that is no longer on the screen.
    pub(super) fn drop_pictures(&mut self) {
        self.pictures.pictures.clear();
        self.pictures.rows = None;
    }

    /// Takes what the painter says; gives back what the worker does.
    pub(super) fn take_painted(&mut self, generation: u64, answer: Answer) -> Option<Answer> {
        match answer {
            Answer::Painted(Some(picture)) => {
                if picture.version.0 == self.n_answers {
                    let key = (picture.of.lane, picture.of.kind);
                    let is_other = |known: &Arc<LanePicture>| (known.of.lane, known.of.kind) != key;
                    self.pictures.pictures.retain(is_other);
                    self.pictures.pictures.push(picture);
                }
            }
            Answer::PaintedRows(picture) => {
                if picture.version.0 == self.n_answers {
                    self.pictures.rows = Some(picture);
                }
            }
            Answer::Painted(None) => {
                if generation == self.pictures.generation {
                    self.pictures.generation = 0;
                }
            }
            Answer::Unpainted(message) => self.notice = Some(Notice::Failed(message)),
            other => return Some(other),
        }
        None
    }

    /// Takes the colours; gives back what is about something else.
    pub(super) fn take_look(&mut self, generation: u64, answer: Answer) -> Option<Answer> {
        let is_own = generation == self.pictures.look_generation;
        match answer {
            Answer::Colored(look) => {
                if is_own {
                    self.pictures.look_generation = 0;
                    self.pictures.look = look;
                    self.pictures.look_of = self.n_answers;
                    self.pictures.n_looks += 1;
                    self.look_changed();
                }
                None
            }
            Answer::Cancelled | Answer::Failed(_) if is_own => {
                self.pictures.look_generation = 0;
                Some(answer)
            }
            other => Some(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, Session};
    use crate::{Document, SourceSpec, Worker, sample};
    use highwater_model::workload::DeviceProfiles;

    /// The painter counts its orders by itself, so that its numbers are those of jobs too.
    #[test]
    fn what_the_painter_says_ends_no_job() {
        let worker = Worker::start(|| {}).expect("a thread");
        let source = SourceSpec::Sample(sample("lenet").expect("a sample"));
        let profiles = DeviceProfiles::bundled().expect("the profiles are bundled");
        let mut session = Session::new(Document::new(vec![source]), profiles, worker);
        session.settle();
        session.search_for("conv".to_owned(), 0);
        assert!(session.is_searching());
        for generation in 1..200 {
            session.take(generation, Answer::Painted(None));
        }
        assert!(session.is_searching());
        session.settle();
        assert!(session.search().matches.is_some());
    }
}
