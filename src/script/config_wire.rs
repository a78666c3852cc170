//! The fields of the configuration file, for serde.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value as Json};

use highwater_model::workload::{EntryKind, Generator, ScheduleEntry, SchedulePlan};
use highwater_options::{NoFiles, effective_values};

use super::config_document::{CONFIG_VERSION, ConfigDevice, ConfigDocument, Predicted};
use super::json_value::json_of;

/// The format's version. An unreadable version is an error at its place in the file.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Version(pub(super) u64);

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u64::deserialize(deserializer)? {
            0 => Err(D::Error::custom("configuration versions start at 1")),
            version if version > CONFIG_VERSION => Err(D::Error::custom(format!(
                "configuration version {version} is newer than {CONFIG_VERSION}, the latest that this highwater \
                 reads; update highwater"
            ))),
            version => Ok(Self(version)),
        }
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Probe {
    #[serde(default)]
    pub(super) highwater_config: Option<Version>,
}

/// The whole file, in the order of its fields.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Wire {
    pub(super) highwater_config: Version,
    #[serde(default)]
    pub(super) tool_version: String,
    #[serde(default)]
    pub(super) options: Map<String, Json>,
    /// For readers of the file; never read back, because it follows from the other fields.
    #[serde(default)]
    pub(super) effective: Map<String, Json>,
    #[serde(default)]
    pub(super) environment: BTreeMap<String, String>,
    /// The framework whose defaults act.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) framework: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) device: Option<ConfigDevice>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) schedule: Option<WireSchedule>,
    #[serde(default)]
    pub(super) evaluation: bool,
    #[serde(default)]
    pub(super) sources: Vec<String>,
    #[serde(default)]
    pub(super) predicted: BTreeMap<String, Predicted>,
    #[serde(flatten)]
    pub(super) other: Map<String, Json>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct WireSchedule {
    iterations: NonZeroU32,
    dims: BTreeMap<String, Vec<u64>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    entries: Vec<WireEntry>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    names: BTreeMap<String, String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct WireEntry {
    graph: String,
    #[serde(default, with = "WireKind")]
    kind: EntryKind,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    dims: BTreeMap<String, WireGenerator>,
    #[serde(default = "once", skip_serializing_if = "is_once")]
    repeats: NonZeroU32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    group: Option<u32>,
}

const fn once() -> NonZeroU32 {
    NonZeroU32::MIN
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_once(repeats: &NonZeroU32) -> bool {
    *repeats == NonZeroU32::MIN
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "EntryKind", rename_all = "snake_case")]
enum WireKind {
    Run,
    Load,
    Unload,
}

#[derive(Debug)]
struct WireGenerator(Generator);

impl Serialize for WireGenerator {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for WireGenerator {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Self).map_err(D::Error::custom)
    }
}

impl WireEntry {
    fn of(entry: &ScheduleEntry) -> Self {
        let dims = entry.dims.iter();
        Self {
            graph: entry.graph.clone(),
            kind: entry.kind,
            dims: dims
                .map(|(dim, from)| (dim.clone(), WireGenerator(from.clone())))
                .collect(),
            repeats: NonZeroU32::new(entry.repeats).unwrap_or(NonZeroU32::MIN),
            group: entry.group,
        }
    }

    fn into_entry(self) -> ScheduleEntry {
        ScheduleEntry {
            graph: self.graph,
            kind: self.kind,
            dims: self.dims.into_iter().map(|(dim, from)| (dim, from.0)).collect(),
            repeats: self.repeats.get(),
            group: self.group,
        }
    }
}

impl Default for WireSchedule {
    fn default() -> Self {
        Self {
            iterations: NonZeroU32::MIN,
            dims: BTreeMap::new(),
            entries: Vec::new(),
            names: BTreeMap::new(),
        }
    }
}

impl WireSchedule {
    pub(super) fn from_plan(plan: &SchedulePlan) -> Self {
        Self {
            iterations: NonZeroU32::new(plan.iterations).unwrap_or(NonZeroU32::MIN),
            dims: plan.dims.clone(),
            entries: plan.entries.iter().map(WireEntry::of).collect(),
            names: plan.names.clone(),
        }
    }

    pub(super) fn into_plan(self) -> SchedulePlan {
        SchedulePlan {
            iterations: self.iterations.get(),
            dims: self.dims,
            entries: self.entries.into_iter().map(WireEntry::into_entry).collect(),
            names: self.names,
            ..SchedulePlan::default()
        }
    }
}

impl Wire {
    /// Overrides in the order of the table, then unknown options.
    pub(super) fn options_of(document: &ConfigDocument) -> Map<String, Json> {
        let known = document.options.overrides();
        let mut options: Map<String, Json> = known.map(|(key, value)| (key.to_owned(), json_of(value))).collect();
        for (key, json) in &document.unknown_options {
            options.entry(key.clone()).or_insert_with(|| json.clone());
        }
        options
    }

    pub(super) fn effective_of(document: &ConfigDocument) -> Map<String, Json> {
        effective_values(&document.options, &document.environment, &NoFiles)
            .into_iter()
            .map(|(key, value)| (key, json_of(&value)))
            .collect()
    }
}
