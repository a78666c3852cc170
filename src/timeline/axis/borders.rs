//! The time at every border between the steps of an axis.

use std::sync::Arc;

use highwater_model::workload::Recording;

/// Nanoseconds from the first border, never descending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Borders {
    Listed(Box<[u64]>),
    /// The start of each event of a recording, and the end of the last, which takes no time.
    Events(Arc<Recording>),
}

impl Borders {
    /// None without events.
    pub(super) fn of_events(recording: &Arc<Recording>) -> Self {
        if recording.times.is_empty() {
            return Self::Listed(Box::default());
        }
        Self::Events(Arc::clone(recording))
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Listed(times) => times.len(),
            Self::Events(recording) => recording.times.len() + 1,
        }
    }

    /// The last beyond the end.
    #[inline]
    pub(super) fn at(&self, idx: usize) -> u64 {
        match self {
            Self::Listed(times) => times.get(idx).or(times.last()).copied().unwrap_or(0),
            Self::Events(recording) => {
                let times = &recording.times;
                let time = times.get(idx).or(times.last());
                time.zip(times.first())
                    .map_or(0, |(time, first)| time.0.saturating_sub(first.0))
            }
        }
    }

    /// The length of the axis.
    pub(super) fn last(&self) -> u64 {
        self.at(self.len().saturating_sub(1))
    }

    /// The number of borders at the start for which a condition holds, which it does for no other.
    pub(super) fn partition_point(&self, holds: impl Fn(u64) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if holds(self.at(middle)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}
