//! The document's file field by field, as serde reads and writes it.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json};

use super::DOCUMENT_VERSION;
use crate::bookmarks::{PersistedBookmark, lane_of, lane_text};
use crate::persisted::PersistedSource;
use highwater_analysis::{LaneSet, LaneStrategies, RematLane};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::units::Bytes;
use highwater_model::workload::{CategoryRule, FrameRule};
use highwater_rewrite::remat::{Budget, find_heuristic};

/// The version of the format; reading refuses newer ones, at their place in the file.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Version(pub(super) u64);

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u64::deserialize(deserializer)? {
            0 => Err(D::Error::custom("versions of documents start at 1")),
            version if version > DOCUMENT_VERSION => Err(D::Error::custom(format!(
                "document version {version} is newer than {DOCUMENT_VERSION}, the latest that this highwater reads; \
                 update highwater"
            ))),
            version => Ok(Self(version)),
        }
    }
}

/// The version alone, read first: a newer version may have other fields.
#[derive(Debug, Deserialize)]
pub(super) struct Probe {
    #[serde(rename = "highwater_document")]
    pub(super) _version: Version,
}

/// The raw text of the settings, so that errors in them have their place in the file.
#[derive(Debug, Deserialize)]
pub(super) struct SettingsInPlace<'a> {
    #[serde(borrow, default)]
    pub(super) settings: Option<&'a RawValue>,
}

/// The whole file, in the order of its fields.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Wire {
    pub(super) highwater_document: Version,
    #[serde(default)]
    pub(super) tool_version: String,
    #[serde(default)]
    pub(super) sources: Vec<PersistedSource>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) part: Option<String>,
    /// A configuration without derived fields.
    #[serde(default)]
    pub(super) settings: Map<String, Json>,
    #[serde(default, skip_serializing_if = "WireLanes::is_usual")]
    pub(super) lanes: WireLanes,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) strategies: BTreeMap<String, String>,
    /// Before the built-in rules.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) frame_rules: Vec<FrameRule>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) category_rules: Vec<CategoryRule>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) allocator_settings: Vec<WireSetting>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) bookmarks: Vec<PersistedBookmark>,
    /// Read one by one, so that a damaged one does not harm the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) pins: Vec<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) baseline: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) goal: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) view: Option<Json>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct WireLanes {
    kind: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    runs: Vec<WireRun>,
}

/// A run under a budget; without both fields it has none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct WireRun {
    heuristic: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    budget_bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    budget_ratio: Option<f64>,
}

const POLICIES: &str = "policies";
const NAME_REUSE: &str = "name_reuse";
const BUDGETS: &str = "budgets";

/// Values of `lanes.kind`.
pub(super) const LANE_KINDS: [&str; 3] = [POLICIES, NAME_REUSE, BUDGETS];

impl Default for WireLanes {
    fn default() -> Self {
        Self::of(&LaneSet::Policies)
    }
}

impl WireLanes {
    pub(super) fn of(lanes: &LaneSet) -> Self {
        let (kind, runs) = match lanes {
            LaneSet::Policies => (POLICIES, &[][..]),
            LaneSet::NameReuse => (NAME_REUSE, &[][..]),
            LaneSet::Remat(runs) => (BUDGETS, &runs[..]),
        };
        Self {
            kind: kind.to_owned(),
            runs: runs.iter().map(WireRun::of).collect(),
        }
    }

    fn is_usual(&self) -> bool {
        *self == Self::default()
    }

    /// Unknown lanes are left out, with a remark.
    pub(super) fn lanes(&self, remarks: &mut Diagnostics) -> LaneSet {
        match self.kind.as_str() {
            POLICIES => LaneSet::Policies,
            NAME_REUSE => LaneSet::NameReuse,
            BUDGETS => LaneSet::Remat(self.runs.iter().filter_map(|run| run.lane(remarks)).collect()),
            kind => {
                let message = format!("unknown kind of lanes \"{kind}\"; policies are compared");
                remarks.warning(message, "lanes");
                LaneSet::Policies
            }
        }
    }
}

impl WireRun {
    fn of(lane: &RematLane) -> Self {
        let (budget_bytes, budget_ratio) = match lane.budget {
            Budget::Unlimited => (None, None),
            Budget::Bytes(bytes) => (Some(bytes.get()), None),
            Budget::Ratio(ratio) => (None, Some(ratio)),
        };
        Self {
            heuristic: lane.heuristic.name.to_owned(),
            budget_bytes,
            budget_ratio,
        }
    }

    fn lane(&self, remarks: &mut Diagnostics) -> Option<RematLane> {
        let Ok(heuristic) = find_heuristic(&self.heuristic) else {
            let message = format!("unknown heuristic \"{}\"; its lane is left out", self.heuristic);
            remarks.warning(message, "lanes");
            return None;
        };
        let budget = match (self.budget_bytes, self.budget_ratio) {
            (Some(bytes), _) => Budget::Bytes(Bytes(bytes)),
            (None, Some(ratio)) => Budget::Ratio(ratio.max(0.0)),
            (None, None) => Budget::Unlimited,
        };
        Some(RematLane { heuristic, budget })
    }
}

pub(super) fn strategies_of(strategies: &LaneStrategies) -> BTreeMap<String, String> {
    strategies
        .iter()
        .map(|(lane, strategy)| (lane_text(lane), strategy.name.to_owned()))
        .collect()
}

/// Unknown strategies are left out, with a remark.
pub(super) fn strategies(wire: &BTreeMap<String, String>, remarks: &mut Diagnostics) -> LaneStrategies {
    let mut strategies = LaneStrategies::default();
    for (lane, name) in wire {
        match (lane_of(lane), highwater_plan::find(name)) {
            (Some(lane), Ok(strategy)) => strategies.set(lane, Some(strategy)),
            _ => remarks.warning(
                format!("unknown lane \"{lane}\" or strategy \"{name}\"; the entry is kept unused"),
                "strategies",
            ),
        }
    }
    strategies
}

/// Allocator settings of a lane.
#[derive(Serialize, Deserialize, Debug)]
pub(super) struct WireSetting {
    pub(super) settings: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) torch: Option<String>,
}
