//! Who holds the bytes at a peak, as a part of other objects.

use serde::{Deserialize, Serialize};

use crate::timeline::{HolderName, PeakHolders};
use crate::units::{Bytes, Step};

/// Who holds the bytes at a peak: the largest tensors, most bytes first, the others together, and reserved bytes that are no
/// tensor's.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub(super) struct WireHolders {
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
    bytes: u64,
}

impl WireHolders {
    pub(super) fn new(holders: &PeakHolders) -> Self {
        let tensors = holders.tensors.iter().map(|(name, bytes)| WireTensor {
            graph: name.graph.clone(),
            tensor: name.name.clone(),
            bytes: bytes.get(),
        });
        let rest = holders.rest.iter().map(|(what, bytes)| WireRest {
            what: what.clone(),
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

    pub(super) fn holders(self) -> PeakHolders {
        let tensors = self.tensors.into_iter().map(|row| {
            let name = HolderName {
                graph: row.graph,
                name: row.tensor,
            };
            (name, Bytes(row.bytes))
        });
        PeakHolders {
            step: Step(self.step),
            live: Bytes(self.live_bytes),
            reserved: self.reserved_bytes.map(Bytes),
            tensors: tensors.collect(),
            others: (self.others.count, Bytes(self.others.bytes)),
            rest: self.rest.into_iter().map(|row| (row.what, Bytes(row.bytes))).collect(),
        }
    }
}
