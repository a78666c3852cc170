//! The tensors and other contributors to a peak, as a part of other objects.

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::record::{Record, Rows};
use highwater_analysis::Comparison;
use highwater_model::units::{Bytes, Step};
use highwater_timeline::{Change, ChangeKind, Changes, ContributorName, PeakContributors, SiteName};

/// The largest tensors at a peak, most bytes first, the sum of the others, and reserved bytes without a tensor.
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    site: Option<WireSite>,
}

/// The call site of recorded blocks, in parts.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
struct WireSite {
    file: String,
    function: String,
    line: u32,
    size_class: String,
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
    fn new(peak: &PeakContributors) -> Self {
        let tensors = peak.tensors.iter().map(|(name, bytes)| WireTensor {
            graph: name.graph.clone(),
            tensor: name.name.clone(),
            bytes: bytes.get(),
            site: name.site.clone().map(|site| WireSite {
                file: site.file,
                function: site.function,
                line: site.line,
                size_class: site.class,
            }),
        });
        let rest = peak.rest.iter().map(|(of, bytes)| WireRest {
            what: of.name.clone(),
            graph: of.graph.clone(),
            bytes: bytes.get(),
        });
        Self {
            step: peak.step.0,
            live_bytes: peak.live.get(),
            reserved_bytes: peak.reserved.map(Bytes::get),
            tensors: tensors.collect(),
            others: WireOthers {
                count: peak.others.0,
                bytes: peak.others.1.get(),
            },
            rest: rest.collect(),
        }
    }

    pub(super) fn into_contributors(self) -> PeakContributors {
        let contributor = |graph, name, site, bytes| (ContributorName { graph, name, site }, Bytes(bytes));
        let site = |site: WireSite| SiteName {
            file: site.file,
            function: site.function,
            line: site.line,
            class: site.size_class,
        };
        let tensors = self.tensors.into_iter();
        let tensors = tensors.map(|row| contributor(row.graph, row.tensor, row.site.map(site), row.bytes));
        let rest = self.rest.into_iter();
        let rest = rest.map(|row| contributor(row.graph, row.what, None, row.bytes));
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

/// Both peaks of a lane, each with its largest `most` tensors.
pub(super) fn peak_fields(comparison: &Comparison, lane: usize, most: usize) -> [(String, Json); 2] {
    let wire = |peak: Option<PeakContributors>| json!(peak.as_ref().map(WireContributors::new));
    [
        (
            "at_peak".to_owned(),
            wire(PeakContributors::new(comparison, lane, most)),
        ),
        (
            "at_peak_reserved".to_owned(),
            wire(PeakContributors::reserved(comparison, lane, most)),
        ),
    ]
}

/// Contributors with other bytes than in the baseline: the largest `most` of each kind, kind by kind.
pub(super) fn change_rows<'a>(changes: &Changes, most: usize) -> Rows<'a> {
    let rows = ChangeKind::ALL
        .iter()
        .flat_map(|kind| changes.of_kind(*kind).take(most));
    let rows: Vec<Change> = rows.cloned().collect();
    Rows::indexed(rows.len(), move |position| {
        let change = &rows[position];
        Record::new()
            .key("kind", change.kind().words())
            .key("graph", change.of.graph.clone())
            .key("name", change.of.name.clone())
            .key("is_tensor", change.is_tensor)
            .key("before_bytes", change.before)
            .key("now_bytes", change.after)
            .key("difference_bytes", change.difference())
    })
}

/// The changes from another lane.
pub(super) fn other_record<'a>(lane: String, changes: &Changes, most: usize) -> Record<'a> {
    Record::new()
        .key("lane", lane)
        .key("changes", change_rows(changes, most))
        .key("unlisted_bytes", changes.unlisted)
        .key("difference_bytes", changes.live)
}
