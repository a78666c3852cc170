//! Which axes an answer has, and why it has not the others.

use std::sync::Arc;

use super::{AxisKind, TimeAxis, WallRun};

/// The axes that an answer has besides the order of its steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axes {
    pub(super) estimated: Result<Arc<TimeAxis>, &'static str>,
    pub(super) wall: Result<Arc<TimeAxis>, &'static str>,
    pub(super) wall_run: Option<WallRun>,
}

impl Axes {
    /// An axis; `None` for the order of steps, and where the data has no such times.
    pub fn get(&self, kind: AxisKind) -> Option<&Arc<TimeAxis>> {
        self.known(kind).and_then(|known| known.as_ref().ok())
    }

    /// What wall time rests on where it stands along the steps of graphs; `None` where it is that of events.
    pub const fn wall_run(&self) -> Option<&WallRun> {
        self.wall_run.as_ref()
    }

    /// The name of a kind, with that of the run whose times it counts where it stands along other steps than its own.
    pub fn name(&self, kind: AxisKind) -> String {
        match (kind, &self.wall_run) {
            (AxisKind::Wall, Some(run)) => format!("{} of {}", kind.name(), run.name),
            _ => kind.name().to_owned(),
        }
    }

    /// What is drawn where a kind is asked for: the order of steps where the data has no such times.
    pub fn effective(&self, kind: AxisKind) -> AxisKind {
        if self.get(kind).is_some() {
            kind
        } else {
            AxisKind::Order
        }
    }

    /// The kind that comes next of those that there are.
    pub fn next(&self, kind: AxisKind) -> AxisKind {
        let from = AxisKind::ALL.iter().position(|known| *known == self.effective(kind));
        let after = AxisKind::ALL.iter().cycle().skip(from.unwrap_or(0) + 1);
        let mut there = after
            .take(AxisKind::ALL.len())
            .filter(|kind| self.why_not(**kind).is_none());
        there.next().copied().unwrap_or_default()
    }

    /// Why there is no such axis, in a sentence; `None` where there is one.
    pub fn why_not(&self, kind: AxisKind) -> Option<&'static str> {
        self.known(kind).and_then(|known| known.as_ref().err().copied())
    }

    fn known(&self, kind: AxisKind) -> Option<&Result<Arc<TimeAxis>, &'static str>> {
        match kind {
            AxisKind::Order => None,
            AxisKind::Estimated => Some(&self.estimated),
            AxisKind::Wall => Some(&self.wall),
        }
    }
}
