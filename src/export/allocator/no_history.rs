//! Recordings that hold no order of requests: why nothing can be replayed, and how to record a history.

use serde::Serialize;

use super::super::answer::{Answer, Page, lines_blocks};
use super::super::record::{Record, Rows};
use highwater_model::diagnostics::{Diagnostics, Severity};
use highwater_model::workload::Recording;

/// A recording of which nothing can be replayed, and why.
pub type WithoutHistory<'a> = (&'a Recording, String);

/// The answer where no recording can be replayed: no setting is recommended, nothing is proved.
#[derive(Clone, Copy, Debug)]
pub struct NoHistoryAnswer<'a> {
    pub recordings: &'a [WithoutHistory<'a>],
    /// The importer's diagnostics; people see its warnings.
    pub import: &'a Diagnostics,
}

impl Answer for NoHistoryAnswer<'_> {
    fn page(&self) -> Page {
        let mut blocks = lines_blocks(sentences(self.recordings));
        let warnings = self
            .import
            .entries()
            .iter()
            .filter(|entry| entry.severity < Severity::Info);
        blocks.extend(lines_blocks(
            warnings.map(|entry| format!("{}: {}", entry.severity, entry.words())),
        ));
        Page(blocks)
    }

    fn json(&self) -> impl Serialize {
        Record::new()
            .key("recommended", None::<&str>)
            .key("identical", None::<u64>)
            .key("without_history", without_history_rows(self.recordings))
    }
}

/// A sentence per reason, with the recordings that it is true of.
pub(super) fn sentences(recordings: &[WithoutHistory<'_>]) -> Vec<String> {
    let mut by_reason: Vec<(&str, Vec<&str>)> = Vec::new();
    for (recording, why) in recordings {
        match by_reason.iter_mut().find(|(known, _)| known == why) {
            Some((_, names)) => names.push(&recording.name),
            None => by_reason.push((why, vec![&recording.name])),
        }
    }
    let sentence = |(why, names): (&str, Vec<&str>)| format!("{}: {why}", names.join(", "));
    by_reason.into_iter().map(sentence).collect()
}

pub(super) fn without_history_rows<'a>(recordings: &'a [WithoutHistory<'a>]) -> Rows<'a> {
    Rows::new(recordings, |(recording, why)| {
        Record::new().key("recording", &recording.name).key("why", why)
    })
}
