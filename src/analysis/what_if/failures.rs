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
    /// For people; `outgrown` is what the recorded device had, where the given one is larger.
    pub fn sentence(&self, outgrown: Option<Bytes>) -> String {
        let Self {
            step, requested, live, ..
        } = self;
        let request = format!("the request of {requested} that failed at event {step}");
        let device = self
            .device
            .map_or_else(|| "a device of unknown size".to_owned(), |bytes| format!("{bytes}"));
        match self.servable {
            Servable::Never => format!(
                "no setting can serve {request}: {live} are live, and with it more than the {device} of the device"
            ),
            Servable::Unknown => format!(
                "{request} stays failed in every replay: the recorded settings, replayed from the blocks that are known, serve it, \
                 so no replay tells whether another setting would"
            ),
            Servable::Tried => match outgrown {
                Some(had) => format!("{request}, when the process had {had}, is tried with {device}"),
                None => format!("{request} fails in the replay, too; {live} are live, and the process had {device}"),
            },
        }
    }
}

/// The failed requests of a recording by step, as far as arithmetic answers. Where no device is `given`, it had at each of them
/// what was reserved and free then; where the file does not state that, what it had at all. O((blocks + regions) log failures).
pub(super) fn failed_requests(recording: &Recording, given: Option<Bytes>, had: Option<Bytes>) -> Vec<JudgedFailure> {
    let marks = || recording.marks.iter().filter(|mark| mark.kind == MarkKind::OutOfMemory);
    let requested: BTreeMap<Step, (Bytes, Option<Bytes>)> = marks()
        .map(|mark| (mark.step, (mark.bytes, mark.failed.and_then(|failed| failed.free))))
        .collect();
    let steps: Vec<Step> = requested.keys().copied().collect();
    let blocks = recording
        .blocks
        .iter()
        .map(|block| (block.birth, block.end, block.bytes));
    let regions = recording
        .regions
        .iter()
        .map(|region| (region.birth, region.end, region.bytes));
    let held = sums_at(&steps, blocks).into_iter().zip(sums_at(&steps, regions));
    let failed = requested
        .into_iter()
        .zip(held)
        .map(|((step, (requested, free)), (live, reserved))| {
            let stated = free.filter(|_| !recording.regions.is_empty());
            let stated = stated.map(|free| Bytes(free.get().saturating_add(reserved.get())));
            let device = given.or(stated).or(had);
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

/// The bytes of ranges on each of some ascending steps.
fn sums_at(steps: &[Step], ranges: impl Iterator<Item = (Step, Step, Bytes)>) -> Vec<Bytes> {
    let mut changes = vec![0_i128; steps.len() + 1];
    for (birth, end, bytes) in ranges.filter(|_| !steps.is_empty()) {
        let position = |at: Step| steps.partition_point(|step| *step < at);
        changes[position(birth)] += i128::from(bytes.get());
        changes[position(end)] -= i128::from(bytes.get());
    }
    let mut sum = 0;
    let sums = changes.into_iter().take(steps.len()).map(|change| {
        sum += change;
        Bytes(u64::try_from(sum).unwrap_or(0))
    });
    sums.collect()
}
