//! A step explained: asked for by lane and step, worked out by the worker, newest wins.
//!
//! One report is being worked out at a time; what is asked for meanwhile waits, and only the last of it. A report belongs to one
//! answer: whoever shows it asks again when there is another.

use std::sync::Arc;

use highwater_timeline::{PeakReport, PeakRequest};

/// Which report: the answer by number, and what is asked of it.
pub(super) type PeakKey = (u64, PeakRequest);

/// What was asked for, what is being worked out, and what is known.
#[derive(Debug, Default)]
pub(super) struct PeakWatch {
    pub(super) wanted: Option<PeakKey>,
    /// What the worker has in hand, with the job's generation.
    pub(super) asked: Option<(PeakKey, u64)>,
    /// `None` inside where there is nothing to explain.
    pub(super) known: Option<(PeakKey, Option<Arc<PeakReport>>)>,
}

impl PeakWatch {
    /// What the worker has to do next; nothing while it is at work, or where it is known.
    pub(super) fn next(&self) -> Option<PeakKey> {
        let known = self.known.as_ref().map(|(key, _)| *key);
        self.wanted.filter(|key| self.asked.is_none() && known != Some(*key))
    }

    /// Whether the worker has something in hand.
    pub(super) fn is_waiting(&self) -> bool {
        self.asked.is_some()
    }
}
