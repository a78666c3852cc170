//! Requests that failed in a recording: whether a setting can serve them, before any is tried.
//!
//! In: the failed requests with the bytes of the device. Out: [`JudgedFailure`]s. A request for which too much is live fails
//! under every setting. One that the replay of the recorded settings serves, because the state before the recording is not
//! known, tells nothing of other settings. Both stay failed in every replay; the others are tried.

use std::collections::BTreeMap;

use highwater_model::units::{Bytes, Step};
use highwater_model::workload::{MarkKind, Recording};

/// What a replay can say of a request that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Servable {
    /// What is live leaves too little of the device.
    Never,
    /// The recorded settings, replayed, serve it; so no replay shows whether others do.
    Unknown,
    /// Settings are tried on it.
    Tried,
}

impl Servable {
    /// For programs: `never`, `unknown`, `tried`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Unknown => "unknown",
            Self::Tried => "tried",
        }
    }
}

/// A request that failed in a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JudgedFailure {
    pub step: Step,
    pub requested: Bytes,
    /// Requested bytes of the blocks that were live.
    pub live: Bytes,
    /// What the device had for the process; `None` where it is unknown.
    pub device: Option<Bytes>,
    pub servable: Servable,
}

impl JudgedFailure {
    /// For people.
    pub fn sentence(&self) -> String {
        let Self {
            step, requested, live, ..
        } = self;
        let request = format!("the request of {requested} that failed at event {step}");
        let device = self
            .device
            .map_or_else(|| "a device of unknown size".to_owned(), |bytes| format!("{bytes}"));
        match self.servable {
            Servable::Never => format!(
                "no setting can serve {request}: {live} are live, and with it more than the {device} that the process had"
            ),
            Servable::Unknown => format!(
                "{request} stays failed in every replay: the recorded settings, replayed from the blocks that are known, serve it, \
                 so no replay tells whether another setting would"
            ),
            Servable::Tried => {
                format!("{request} fails in the replay, too; {live} are live, and the process had {device}")
            }
        }
    }
}

/// The failed requests of a recording by step, as far as arithmetic answers. O(blocks log failures).
pub(super) fn failed_requests(recording: &Recording, device: Option<Bytes>) -> Vec<JudgedFailure> {
    let marks = recording.marks.iter().filter(|mark| mark.kind == MarkKind::OutOfMemory);
    let requested: BTreeMap<Step, Bytes> = marks.map(|mark| (mark.step, mark.bytes)).collect();
    let steps: Vec<Step> = requested.keys().copied().collect();
    let mut changes = vec![0_i128; steps.len() + 1];
    for block in recording.blocks.iter().filter(|_| !steps.is_empty()) {
        let position = |at: Step| steps.partition_point(|step| *step < at);
        changes[position(block.birth)] += i128::from(block.bytes.get());
        changes[position(block.end)] -= i128::from(block.bytes.get());
    }
    let mut live = 0;
    let failed = requested.into_iter().zip(changes).map(|((step, requested), change)| {
        live += change;
        let live = Bytes(u64::try_from(live).unwrap_or(0));
        let is_too_large = device.is_some_and(|device| live.get().saturating_add(requested.get()) > device.get());
        JudgedFailure {
            step,
            requested,
            live,
            device,
            servable: if is_too_large { Servable::Never } else { Servable::Tried },
        }
    });
    failed.collect()
}
