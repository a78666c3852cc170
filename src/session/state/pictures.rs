//! Pictures of lanes, and the colours of their blocks.

use std::sync::Arc;

use super::super::task::TaskKind;
use super::Session;
use crate::painter::{LanePicture, Painting, PictureOrder, RowsPicture};
use highwater_timeline::{Coloring, ColoringRequest, MatchTest};

#[derive(Debug, Default)]
pub(super) struct Pictures {
    /// The newest pictures, one per lane and kind.
    lanes: Vec<Arc<LanePicture>>,
    rows: Option<Arc<RowsPicture>>,
    order: ColoringRequest,
    look: Arc<Coloring>,
    /// The revision of the answer that the colours are of.
    look_revision: u64,
    /// The number of colourings so far.
    n_looks: u64,
}

impl Session {
    /// The newest pictures, one per lane and kind, whatever view they show.
    pub fn pictures(&self) -> &[Arc<LanePicture>] {
        &self.pictures.lanes
    }

    /// The newest picture of rows, whatever view it shows.
    pub fn rows_picture(&self) -> Option<&Arc<RowsPicture>> {
        self.pictures.rows.as_ref()
    }

    /// The version of pictures: the revision of the answer, and the number of the colouring.
    pub fn picture_version(&self) -> (u64, u64) {
        (self.answers.revision(), self.pictures.n_looks)
    }

    /// The colours of the answer on the screen; a colour per tensor until they are known.
    pub fn look(&self) -> Arc<Coloring> {
        if self.pictures.look_revision == self.answers.revision() {
            Arc::clone(&self.pictures.look)
        } else {
            Arc::default()
        }
    }

    /// The attribute of colours, and the dimmed groups.
    pub fn look_order(&self) -> &ColoringRequest {
        &self.pictures.order
    }

    /// Draws pictures of the answer on the screen, instead of those ordered before.
    pub(super) fn paint(&mut self, order: PictureOrder) {
        let Some((_, timeline)) = self.answer() else { return };
        self.worker.paint(Painting {
            id: 0,
            timeline: Arc::clone(timeline),
            look: self.look(),
            lifetimes: self.lifetimes().cloned(),
            version: self.picture_version(),
            order,
        });
    }

    /// Chooses the attribute of colours.
    pub(super) fn set_look(&mut self, order: ColoringRequest) {
        if self.pictures.order != order {
            self.pictures.order = order;
            self.color_blocks();
        }
    }

    /// Colours the blocks of the answer on the screen.
    pub(super) fn color_blocks(&mut self) {
        let Some((comparison, timeline)) = self.answer() else {
            return;
        };
        let (comparison, timeline) = (Arc::clone(comparison), Arc::clone(timeline));
        let (revision, order) = (self.answers.revision(), self.pictures.order.clone());
        // A search dims all tensors that do not match.
        let matches = self.search.matches.clone();
        self.run(
            TaskKind::Colors,
            move |_| {
                let is_match = |_: usize, tensor| matches.as_deref().is_some_and(|matches| matches.contains(tensor));
                let lit: Option<MatchTest<'_>> = matches.is_some().then_some(&is_match);
                Ok(Coloring::new(&comparison, &timeline, &order, lit))
            },
            move |session, look| {
                session.pictures.look = Arc::new(look);
                session.pictures.look_revision = revision;
                session.pictures.n_looks += 1;
                session.look_changed();
            },
        );
    }

    /// Whether no colours of the answer on the screen are pending.
    pub(super) fn knows_look(&self) -> bool {
        self.pictures.look_revision == self.answers.revision() || !self.worker.is_waiting(TaskKind::Colors)
    }

    pub(super) fn drop_rows_picture(&mut self) {
        self.pictures.rows = None;
    }

    pub(super) fn drop_pictures(&mut self) {
        self.pictures.lanes.clear();
        self.pictures.rows = None;
    }

    /// Takes a picture of a lane, where it is of the answer on the screen.
    pub(crate) fn take_picture(&mut self, picture: LanePicture) {
        if picture.version.0 == self.answers.revision() {
            let key = (picture.of.lane, picture.of.kind);
            let lanes = &mut self.pictures.lanes;
            lanes.retain(|known| (known.of.lane, known.of.kind) != key);
            lanes.push(Arc::new(picture));
        }
    }

    /// Takes a picture of rows, where it is of the answer on the screen.
    pub(crate) fn take_rows_picture(&mut self, picture: RowsPicture) {
        if picture.version.0 == self.answers.revision() {
            self.pictures.rows = Some(Arc::new(picture));
        }
    }
}
