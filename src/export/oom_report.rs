//! Why a run ended early, as a part of other objects.

use serde::Serialize;

use highwater_analysis::OutOfMemoryReport;

/// Why a run ended early.
#[derive(Serialize, Debug)]
pub(super) struct WireOomReport {
    step: u32,
    who: String,
    asked_bytes: u64,
    requested_bytes: u64,
    in_use_bytes: u64,
    holders: Vec<WireContributor>,
    idle_bytes: u64,
    largest_idle_bytes: u64,
    idle_pages_bytes: u64,
    enough_bytes: Option<u64>,
}

#[derive(Serialize, Debug)]
struct WireContributor {
    who: String,
    bytes: u64,
}

/// The wire form.
pub(super) fn wire_story(story: &OutOfMemoryReport) -> WireOomReport {
    let holders = story.holders.iter();
    WireOomReport {
        step: story.step.0,
        who: story.who.clone(),
        asked_bytes: story.asked.get(),
        requested_bytes: story.requested.get(),
        in_use_bytes: story.in_use.get(),
        holders: holders
            .map(|(who, bytes)| WireContributor {
                who: who.clone(),
                bytes: bytes.get(),
            })
            .collect(),
        idle_bytes: story.idle.0.get(),
        largest_idle_bytes: story.idle.1.get(),
        idle_pages_bytes: story.idle_pages.get(),
        enough_bytes: story.enough.map(highwater_model::units::Bytes::get),
    }
}
