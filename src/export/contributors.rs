//! Who holds the bytes at a peak, as a part of other objects.

use serde::{Deserialize, Serialize};

use highwater_analysis::Comparison;
use highwater_model::units::{Bytes, Step};
use highwater_timeline::{ChangeKind, Changes, ContributorName, PeakContributors};

/// Who holds the bytes at a peak: the largest tensors, most bytes first, the others together, and reserved bytes that are no
/// tensor's.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub(super) struct WireContributors {
    step: u32,
    live_bytes: u64,
    reserved_bytes: Option<u64>,
    tensors: Vec<WireTensor>,
    others: WireOthers,
    rest: Vec<WireRest>,
}

#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
struct WireTensor {
    graph: String,
    tensor: String,
    bytes: u64,
}

#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
struct WireOthers {
    count: u64,
    bytes: u64,
}

#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
struct WireRest {
    what: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    graph: String,
    bytes: u64,
}

impl WireContributors {
    fn new(holders: &PeakContributors) -> Self {
        let tensors = holders.tensors.iter().map(|(name, bytes)| WireTensor {
            graph: name.graph.clone(),
            tensor: name.name.clone(),
            bytes: bytes.get(),
        });
        let rest = holders.rest.iter().map(|(of, bytes)| WireRest {
            what: of.name.clone(),
            graph: of.graph.clone(),
            bytes: bytes.get(),
        });
        Self {
            step: holders.step.0,
            live_bytes: holders.live.get(),
            reserved_bytes: holders.reserved.map(Bytes::get),
            tensors: tensors.collect(),
            others: WireOthers {
                count: holders.others.0,
                bytes: holders.others.1.get(),
            },
            rest: rest.collect(),
        }
    }

    pub(super) fn holders(self) -> PeakContributors {
        let tensors = self.tensors.into_iter().map(|row| {
            let name = ContributorName {
                graph: row.graph,
                name: row.tensor,
            };
            (name, Bytes(row.bytes))
        });
        let rest = self.rest.into_iter().map(|row| {
            let name = ContributorName {
                graph: row.graph,
                name: row.what,
            };
            (name, Bytes(row.bytes))
        });
        PeakContributors {
            step: Step(self.step),
            live: Bytes(self.live_bytes),
            reserved: self.reserved_bytes.map(Bytes),
            tensors: tensors.collect(),
            others: (self.others.count, Bytes(self.others.bytes)),
            rest: rest.collect(),
        }
    }
}

/// Who holds the bytes at both peaks of a lane.
#[derive(Serialize, Clone, Debug, PartialEq, Eq)]
pub(super) struct WirePeaks {
    at_peak: Option<WireContributors>,
    at_peak_reserved: Option<WireContributors>,
}

impl WirePeaks {
    /// With the largest `most` tensors of each.
    pub(super) fn new(comparison: &Comparison, lane: usize, most: usize) -> Self {
        let wire = |holders: Option<PeakContributors>| holders.as_ref().map(WireContributors::new);
        Self {
            at_peak: wire(PeakContributors::new(comparison, lane, most)),
            at_peak_reserved: wire(PeakContributors::reserved(comparison, lane, most)),
        }
    }
}

/// A name that holds other bytes than before.
#[derive(Serialize, Debug)]
pub(super) struct WireChange {
    kind: &'static str,
    graph: String,
    name: String,
    is_tensor: bool,
    before_bytes: u64,
    now_bytes: u64,
    difference_bytes: i128,
}

impl WireChange {
    /// The largest `most` of each kind, kind by kind.
    pub(super) fn all(changes: &Changes, most: usize) -> Vec<Self> {
        let rows = ChangeKind::ALL
            .iter()
            .flat_map(|kind| changes.of_kind(*kind).take(most));
        let wire = rows.map(|change| Self {
            kind: change.kind().words(),
            graph: change.of.graph.clone(),
            name: change.of.name.clone(),
            is_tensor: change.is_tensor,
            before_bytes: change.before.get(),
            now_bytes: change.after.get(),
            difference_bytes: change.difference(),
        });
        wire.collect()
    }
}

/// What a lane holds otherwise than another.
#[derive(Serialize, Debug)]
pub(super) struct WireOther {
    lane: String,
    changes: Vec<WireChange>,
    unlisted_bytes: i128,
    difference_bytes: i128,
}

impl WireOther {
    pub(super) fn new(lane: String, changes: &Changes, most: usize) -> Self {
        Self {
            lane,
            changes: WireChange::all(changes, most),
            unlisted_bytes: changes.unlisted,
            difference_bytes: changes.live,
        }
    }
}
