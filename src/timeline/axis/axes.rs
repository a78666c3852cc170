//! The axes that an answer has, and why others are missing.

use std::sync::Arc;

use super::{AxisKind, TimeAxis, WallRun};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axes {
    pub(super) estimated: Result<Arc<TimeAxis>, &'static str>,
    pub(super) wall: Result<Arc<TimeAxis>, &'static str>,
    pub(super) wall_run: Option<WallRun>,
}

impl Axes {
    /// `None` for program order, and where the data has no such times.
    pub fn get(&self, kind: AxisKind) -> Option<&Arc<TimeAxis>> {
        self.known(kind).and_then(|known| known.as_ref().ok())
    }

    /// The run whose times the wall time uses; `None` where the axis is one of recorded events.
    pub const fn wall_run(&self) -> Option<&WallRun> {
        self.wall_run.as_ref()
    }

    /// The name of a kind, with that of the measured run whose times it uses.
    pub fn name(&self, kind: AxisKind) -> String {
        match (kind, &self.wall_run) {
            (AxisKind::Wall, Some(run)) => format!("{} of {}", kind.name(), run.name),
            _ => kind.name().to_owned(),
        }
    }

    /// The kind that is drawn for a requested one: program order where the data has no such times.
    pub fn effective(&self, kind: AxisKind) -> AxisKind {
        if self.get(kind).is_some() {
            kind
        } else {
            AxisKind::Order
        }
    }

    /// The next available kind, cyclic.
    pub fn next(&self, kind: AxisKind) -> AxisKind {
        let from = AxisKind::ALL.iter().position(|known| *known == self.effective(kind));
        let after = AxisKind::ALL.iter().cycle().skip(from.unwrap_or(0) + 1);
        let mut there = after
            .take(AxisKind::ALL.len())
            .filter(|kind| self.why_not(**kind).is_none());
        there.next().copied().unwrap_or_default()
    }

    /// Why the axis is missing, in a sentence.
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
