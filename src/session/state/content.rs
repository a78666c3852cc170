//! The content of lanes besides memory maps.

use std::sync::Arc;

use super::super::task::{Failure, TaskKind};
use super::Session;
use super::request::{Request, Task};
use highwater_analysis::Comparison;
use highwater_model::progress::Progress;
use highwater_timeline::{Areas, Coloring, LaneRows, RowOrder, Timeline};

/// The content of lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContentOrder {
    /// Memory maps, which are part of every answer.
    #[default]
    Maps,
    /// The bytes of every group as areas.
    Areas,
    /// The rows of a lane.
    Lifetimes {
        /// The lane, by position.
        lane: usize,
        by: RowOrder,
    },
}

#[derive(Debug)]
pub(super) enum Content {
    Areas(Areas),
    Lifetimes(Arc<LaneRows>),
}

pub(super) struct ContentTask {
    comparison: Arc<Comparison>,
    timeline: Arc<Timeline>,
    look: Arc<Coloring>,
    order: ContentOrder,
}

impl Task for ContentTask {
    type Key = ContentOrder;
    type Output = Content;

    const KIND: TaskKind = TaskKind::Content;

    fn request(session: &mut Session) -> &mut Request<Self> {
        &mut session.content
    }

    fn new(session: &Session, order: &ContentOrder) -> Option<Self> {
        let (comparison, timeline) = session.answer.as_ref()?;
        let is_wanted = match order {
            ContentOrder::Maps => false,
            // Colours that are on their way will ask again.
            ContentOrder::Areas => session.knows_look(),
            ContentOrder::Lifetimes { .. } => true,
        };
        is_wanted.then(|| Self {
            comparison: Arc::clone(comparison),
            timeline: Arc::clone(timeline),
            look: session.look(),
            order: *order,
        })
    }

    fn perform(self, _: &Progress<'_>) -> Result<Content, Failure> {
        match self.order {
            ContentOrder::Maps => Err(Failure("memory maps exist already".to_owned())),
            ContentOrder::Areas => Ok(Content::Areas(Areas::new(&self.timeline, &self.look))),
            ContentOrder::Lifetimes { lane, by } => {
                let rows = LaneRows::new(&self.comparison, &self.timeline, lane, by);
                Ok(Content::Lifetimes(Arc::new(rows)))
            }
        }
    }
}

impl Session {
    /// The content of lanes.
    pub fn content_order(&self) -> ContentOrder {
        self.content.key().copied().unwrap_or_default()
    }

    /// The areas of the answer on the screen; `None` while unknown or not shown.
    pub fn areas(&self) -> Option<&Areas> {
        match self.content.known_at(self.revision)? {
            Content::Areas(areas) => Some(areas),
            Content::Lifetimes(_) => None,
        }
    }

    /// The rows of a lane of the answer on the screen; `None` while unknown or not shown.
    pub fn lifetimes(&self) -> Option<&Arc<LaneRows>> {
        match self.content.known_at(self.revision)? {
            Content::Lifetimes(rows) => Some(rows),
            Content::Areas(_) => None,
        }
    }

    /// Chooses the content of lanes.
    pub(super) fn show_content(&mut self, order: ContentOrder) {
        if self.content_order() != order {
            self.ask::<ContentTask>(order);
        }
        if order == ContentOrder::Maps {
            self.drop_rows_picture();
        }
    }

    /// Areas have the colours of blocks.
    pub(super) fn look_changed(&mut self) {
        if self.content_order() == ContentOrder::Areas {
            self.ask_again::<ContentTask>();
        }
    }
}
