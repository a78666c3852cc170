//! A range of events of what was read: for formats whose reader does not give the others up while it reads.

use std::sync::Arc;

use super::{ImportError, Imported};
use highwater_model::workload::{EventRange, Recording, Source};

const ADVICE: &str = "leave out --event-range and --last-steps, or choose events that the file has";

impl Imported {
    /// A range of the events of every recording that is whole.
    ///
    /// # Errors
    /// The content has no events, none of them are within the range, or nothing marks steps.
    pub fn within(mut self, wanted: EventRange) -> Result<Self, ImportError> {
        let Source::Recordings(recordings) = &mut self.source else {
            return Err(without_events(self.format));
        };
        if recordings.iter().any(|one| one.process.is_some()) {
            return Err(without_events(self.format));
        }
        let n_events = recordings.iter().map(|one| one.n_steps).max().unwrap_or(0);
        let mut kept = Vec::with_capacity(recordings.len());
        for one in std::mem::take(recordings) {
            if one.range.is_some() || !one.has_content() {
                kept.push(one);
                continue;
            }
            let events = one.events_of(wanted).map_err(without_steps)?;
            let Some((first, end)) = events else {
                let what = format!(
                    "it has only {} events, none of them in the range, and is left out",
                    one.n_steps
                );
                self.diagnostics.warning(what, &one.name);
                continue;
            };
            kept.push(Arc::new(Arc::unwrap_or_clone(one).within(first, end)));
        }
        if !kept.iter().any(|one| one.range.is_some()) {
            return Err(outside(n_events));
        }
        for one in &kept {
            if let Some(range) = one.range {
                self.diagnostics.info(range.sentence(), &one.name);
            }
        }
        self.source = Source::Recordings(kept);
        Ok(self)
    }
}

fn without_events(format: &str) -> ImportError {
    ImportError::NoSuchEvents {
        what: format!("{format} has no events"),
        advice: "leave out --event-range and --last-steps, which are for recordings",
    }
}

/// Nothing marks the last steps.
pub(super) fn without_steps(why: &'static str) -> ImportError {
    ImportError::NoSuchEvents {
        what: "the last steps are not known".to_owned(),
        advice: why,
    }
}

/// No event is within the range.
pub(super) fn outside(n_events: u32) -> ImportError {
    let count = highwater_model::units::counted(u64::from(n_events), "event");
    ImportError::NoSuchEvents {
        what: format!("the file has {count}, and none is in the range"),
        advice: ADVICE,
    }
}

/// Whether a range of recordings can be told by it: used by readers that give events up themselves.
pub(super) fn last_steps(marks: &Recording, count: u32) -> Result<u32, ImportError> {
    let found = marks.events_of(EventRange::LastSteps(count)).map_err(without_steps)?;
    Ok(found.map_or(0, |(first, _)| first))
}
