//! Axes in editing: a key and a text of values each, and the capacity.

use highwater_analysis::Comparison;
use highwater_analysis::sweep::{SweepAxis, SweepError};
use highwater_model::units::Bytes;
use highwater_model::workload::DeviceProfiles;
use highwater_options::{OptionKind, OptionRow, TABLE, find, keys};
use highwater_session::{Session, SweepOrder};
use highwater_sim::POLICIES;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Draft {
    /// An option's key, `dim:NAME` or `iterations`.
    pub(super) key: String,
    /// As on the command line.
    pub(super) values: String,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Drafts {
    pub(super) axes: Vec<Draft>,
    /// A size; empty for that of the active device.
    pub(super) capacity: String,
    has_begun: bool,
}

/// The key of the schedule's iterations.
const ITERATIONS: &str = "iterations";

impl Drafts {
    /// Adds the default axes once, and removes those over missing dimensions.
    pub(super) fn begin(&mut self, session: &Session) {
        if !self.has_begun {
            self.has_begun = true;
            for axis in SweepAxis::usual() {
                self.add(&axis.key(), session);
            }
        }
        let dims = dims(session);
        let is_there = |key: &str| {
            key.strip_prefix("dim:")
                .is_none_or(|name| dims.iter().any(|dim| dim == name))
        };
        if session.loaded().is_some() {
            self.axes.retain(|draft| is_there(&draft.key));
        }
    }

    /// With initial values.
    pub(super) fn add(&mut self, key: &str, session: &Session) {
        self.axes.push(Draft {
            key: key.to_owned(),
            values: first_values(key, session),
        });
    }

    /// Keys that can be added: common ones first, then every other option that changes memory.
    pub(super) fn addable(&self, session: &Session) -> Vec<String> {
        let common = [
            keys::STATIC_MEMORY_POLICY,
            keys::ATOMIC_CLEAN_POLICY,
            keys::EVICTION_THRESHOLD,
            keys::DEVICE,
            keys::DEVICE_MEMORY,
            keys::PLACEMENT_STRATEGY,
        ];
        let mut all: Vec<String> = dims(session).iter().map(|name| format!("dim:{name}")).collect();
        all.extend(common.map(str::to_owned));
        all.push(ITERATIONS.to_owned());
        let rest = TABLE
            .iter()
            .filter(|row| row.affects_memory() && !common.contains(&row.key));
        all.extend(rest.map(|row| row.key.to_owned()));
        all.retain(|key| self.axes.iter().all(|draft| draft.key != *key));
        all
    }

    pub(super) fn axis(draft: &Draft, dims: &[String]) -> Result<SweepAxis, String> {
        SweepAxis::parse(&format!("{}={}", draft.key, draft.values), dims).map_err(|error| match error {
            SweepError::Axis { why, .. } => format!("{}: {why}", short(&draft.key)),
            error => error.to_string(),
        })
    }

    pub(super) fn order(&self, session: &Session) -> Result<SweepOrder, String> {
        let dims = dims(session);
        let axes = self.axes.iter().map(|draft| Self::axis(draft, &dims));
        let capacity = match self.capacity.trim() {
            "" => None,
            text => match Bytes::parse(text) {
                Ok(bytes) if bytes > Bytes::ZERO => Some(bytes),
                Ok(_) => return Err("the capacity is 0: write a size, such as 16GiB".to_owned()),
                Err(error) => return Err(format!("capacity: {error}")),
            },
        };
        Ok(SweepOrder {
            axes: axes.collect::<Result<_, _>>()?,
            capacity,
        })
    }
}

/// Symbolic dimensions of the session.
pub(super) fn dims(session: &Session) -> Vec<String> {
    session
        .loaded()
        .map(|loaded| loaded.workload.symbols())
        .unwrap_or_default()
}

/// The name of an axis.
pub(super) fn short(key: &str) -> &str {
    match find(key) {
        Some(row) => row.short_key(),
        None => key.strip_prefix("dim:").unwrap_or(key),
    }
}

/// Initial values of an axis: all choices, or amounts around the current one.
fn first_values(key: &str, session: &Session) -> String {
    if let Some(name) = key.strip_prefix("dim:") {
        let value = session.dim_values(name).first().copied().unwrap_or(1).max(1);
        let (from, to) = ((value / 4).max(1), value.saturating_mul(4));
        return format!("{from}..{to}x2");
    }
    let comparison = session.answer().map(|(comparison, _)| &**comparison);
    let Some(row) = find(key) else {
        return "1,2,4".to_owned();
    };
    match key {
        keys::STATIC_MEMORY_POLICY => {
            let numbers = POLICIES.iter().map(|row| row.number.to_string());
            numbers.collect::<Vec<_>>().join(",")
        }
        keys::DEVICE => devices(),
        keys::DEVICE_MEMORY => "8GiB..64GiBx2".to_owned(),
        keys::EVICTION_THRESHOLD => thresholds(comparison),
        _ => of_kind(row),
    }
}

fn devices() -> String {
    let profiles = DeviceProfiles::bundled().map_or_else(|_damaged| Vec::new(), |bundled| bundled.profiles);
    let names: Vec<String> = profiles.into_iter().map(|profile| profile.name).collect();
    names.join(",")
}

/// No threshold, and from half of the active lane's live peak up to all of it.
fn thresholds(comparison: Option<&Comparison>) -> String {
    let lane = comparison.and_then(|comparison| comparison.lanes.get(comparison.main_lane()?));
    let peak = lane.map_or(1 << 30, |lane| lane.summary.peak_live.get()) >> 20;
    let (half, step) = ((peak / 2).max(1), (peak / 16).max(1));
    format!("None,{half}MiB..{}MiB+{step}MiB", peak.max(1))
}

fn of_kind(row: &OptionRow) -> String {
    let choices: Vec<String> = row.kind.choices().iter().map(|(value, _)| value.to_string()).collect();
    match row.kind {
        _ if !choices.is_empty() => choices.join(","),
        OptionKind::Bool => "False,True".to_owned(),
        OptionKind::Bytes { .. } => "None,1MiB..16MiBx2".to_owned(),
        OptionKind::Int { .. } => "None,1..4".to_owned(),
        OptionKind::Float { .. } => "None,0.5,2".to_owned(),
        _ => "None".to_owned(),
    }
}
