//! The device: its memory and the figures of estimates, each with its basis.
//!
//! Profiles are data (`assets/devices.json`); every figure without a public source is marked as an estimate there and
//! wherever it is shown.

mod figure;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

pub use figure::{Basis, DeviceFigure, FigureUnit};

use crate::units::Bytes;

const PROFILES: &str = include_str!("../../../assets/devices.json");

/// A device with its active figures; each has a basis ([`Device::basis`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// The profile's name, such as `generic-32GB`.
    pub name: String,
    /// A description in a few words.
    pub summary: String,
    pub memory_bytes: u64,
    pub malloc_ns: u64,
    pub free_ns: u64,
    /// Per physical page.
    pub map_ns: u64,
    /// Per physical page.
    pub unmap_ns: u64,
    /// Per reserved or released virtual range.
    pub reserve_ns: u64,
    pub sync_ns: u64,
    /// Per launched op.
    pub launch_ns: u64,
    /// Floating point operations per second.
    pub flops_per_second: u64,
    /// Device memory bandwidth.
    pub memory_bytes_per_second: u64,
    /// Bandwidth of clearing device memory.
    pub clear_bytes_per_second: u64,
    /// Bandwidth from host to device (reloads, input staging).
    pub host_bytes_per_second: u64,
    bases: BTreeMap<DeviceFigure, Basis>,
}

impl Device {
    pub const fn memory(&self) -> Bytes {
        Bytes(self.memory_bytes)
    }

    pub const fn figure(&self, figure: DeviceFigure) -> u64 {
        match figure {
            DeviceFigure::MemoryBytes => self.memory_bytes,
            DeviceFigure::MallocNs => self.malloc_ns,
            DeviceFigure::FreeNs => self.free_ns,
            DeviceFigure::MapNs => self.map_ns,
            DeviceFigure::UnmapNs => self.unmap_ns,
            DeviceFigure::ReserveNs => self.reserve_ns,
            DeviceFigure::SyncNs => self.sync_ns,
            DeviceFigure::LaunchNs => self.launch_ns,
            DeviceFigure::FlopsPerSecond => self.flops_per_second,
            DeviceFigure::MemoryBytesPerSecond => self.memory_bytes_per_second,
            DeviceFigure::ClearBytesPerSecond => self.clear_bytes_per_second,
            DeviceFigure::HostBytesPerSecond => self.host_bytes_per_second,
        }
    }

    /// Replaces a figure by a value of the user.
    pub fn set(&mut self, figure: DeviceFigure, value: u64) {
        let place = match figure {
            DeviceFigure::MemoryBytes => &mut self.memory_bytes,
            DeviceFigure::MallocNs => &mut self.malloc_ns,
            DeviceFigure::FreeNs => &mut self.free_ns,
            DeviceFigure::MapNs => &mut self.map_ns,
            DeviceFigure::UnmapNs => &mut self.unmap_ns,
            DeviceFigure::ReserveNs => &mut self.reserve_ns,
            DeviceFigure::SyncNs => &mut self.sync_ns,
            DeviceFigure::LaunchNs => &mut self.launch_ns,
            DeviceFigure::FlopsPerSecond => &mut self.flops_per_second,
            DeviceFigure::MemoryBytesPerSecond => &mut self.memory_bytes_per_second,
            DeviceFigure::ClearBytesPerSecond => &mut self.clear_bytes_per_second,
            DeviceFigure::HostBytesPerSecond => &mut self.host_bytes_per_second,
        };
        *place = value;
        self.bases.insert(figure, Basis::User);
    }

    pub fn basis(&self, figure: DeviceFigure) -> &Basis {
        // Profiles state the basis of every figure.
        self.bases.get(&figure).unwrap_or(&Basis::User)
    }

    /// A figure with its unit, and its mark if any: `64 GiB, estimate`.
    pub fn marked(&self, figure: DeviceFigure) -> String {
        let text = figure.unit().text(self.figure(figure));
        match self.basis(figure).mark() {
            Some(mark) => format!("{text}, {mark}"),
            None => text,
        }
    }

    /// The estimated figures, and those that the user set, each in their order.
    pub fn marks(&self) -> (Vec<DeviceFigure>, Vec<DeviceFigure>) {
        let of = |is_wanted: fn(&Basis) -> bool| {
            let all = DeviceFigure::ALL.into_iter();
            all.filter(|figure| is_wanted(self.basis(*figure))).collect()
        };
        (
            of(|basis| matches!(basis, Basis::Estimate(_))),
            of(|basis| *basis == Basis::User),
        )
    }

    /// The estimated and the user's figures in one sentence; empty where every figure has a source.
    pub fn marks_sentence(&self) -> String {
        let (estimated, set) = self.marks();
        let list = |figures: &[DeviceFigure]| {
            let labels: Vec<&str> = figures.iter().map(|figure| figure.label()).collect();
            labels.join(", ")
        };
        let n_all = DeviceFigure::ALL.len();
        let first = (!estimated.is_empty()).then(|| {
            format!(
                "{} of {n_all} figures of {} are estimates ({})",
                estimated.len(),
                self.name,
                list(&estimated)
            )
        });
        let user = (!set.is_empty()).then(|| format!("set by you: {}", list(&set)));
        let parts: Vec<String> = first.into_iter().chain(user).collect();
        parts.join("; ")
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    #[error("no device profile \"{name}\"; known: {known}")]
    UnknownProfile {
        name: String,
        /// The known names.
        known: String,
    },
    /// The bundled profiles are damaged.
    #[error("the bundled device profiles cannot be read: {reason}")]
    Damaged {
        /// The parser's message.
        reason: String,
    },
}

/// The bundled device profiles, in file order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceProfiles {
    pub profiles: Vec<Device>,
}

#[derive(Deserialize)]
struct WireProfiles {
    bases: BTreeMap<String, String>,
    profiles: Vec<WireProfile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireProfile {
    name: String,
    summary: String,
    figures: BTreeMap<DeviceFigure, WireFigure>,
}

/// A value, and its source or the reason for the estimate.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireFigure {
    value: u64,
    source: Option<String>,
    estimate: Option<String>,
}

impl WireProfile {
    fn device(&self, texts: &BTreeMap<String, Arc<str>>) -> Result<Device, String> {
        let mut device = Device {
            name: self.name.clone(),
            summary: self.summary.clone(),
            memory_bytes: 0,
            malloc_ns: 0,
            free_ns: 0,
            map_ns: 0,
            unmap_ns: 0,
            reserve_ns: 0,
            sync_ns: 0,
            launch_ns: 0,
            flops_per_second: 0,
            memory_bytes_per_second: 0,
            clear_bytes_per_second: 0,
            host_bytes_per_second: 0,
            bases: BTreeMap::new(),
        };
        for figure in DeviceFigure::ALL {
            let place = format!("{}, {}", self.name, figure.name());
            let wire = self
                .figures
                .get(&figure)
                .ok_or_else(|| format!("{place}: it is missing"))?;
            let text = |name: &String| {
                let text = texts.get(name).cloned();
                text.ok_or_else(|| format!("{place}: there is no basis \"{name}\""))
            };
            let basis = match (&wire.source, &wire.estimate) {
                (Some(name), None) => Basis::Source(text(name)?),
                (None, Some(name)) => Basis::Estimate(text(name)?),
                _ => return Err(format!("{place}: it needs either a source or an estimate")),
            };
            device.set(figure, wire.value);
            device.bases.insert(figure, basis);
        }
        Ok(device)
    }
}

impl DeviceProfiles {
    /// The default profile.
    pub const DEFAULT: &'static str = "generic-32GB";

    /// # Errors
    /// [`DeviceError::Damaged`].
    pub fn bundled() -> Result<Self, DeviceError> {
        Self::read(PROFILES)
    }

    /// Reads profiles in the form of the bundled file.
    ///
    /// # Errors
    /// [`DeviceError::Damaged`]: not JSON, a missing figure, or one without source and reason.
    pub fn read(text: &str) -> Result<Self, DeviceError> {
        let wire: WireProfiles = serde_json::from_str(text).map_err(|error| DeviceError::Damaged {
            reason: error.to_string(),
        })?;
        let texts = wire.bases.into_iter().map(|(name, text)| (name, text.into()));
        let texts: BTreeMap<String, Arc<str>> = texts.collect();
        let profiles = wire.profiles.iter().map(|profile| profile.device(&texts));
        let profiles = profiles.collect::<Result<_, _>>();
        profiles
            .map(|profiles| Self { profiles })
            .map_err(|reason| DeviceError::Damaged { reason })
    }

    /// # Errors
    /// [`DeviceError::UnknownProfile`] lists the known names.
    pub fn find(&self, name: &str) -> Result<Device, DeviceError> {
        self.profiles
            .iter()
            .find(|profile| profile.name == name)
            .cloned()
            .ok_or_else(|| DeviceError::UnknownProfile {
                name: name.to_owned(),
                known: self
                    .profiles
                    .iter()
                    .map(|p| p.name.as_str())
                    .collect::<Vec<_>>()
                    .join(", "),
            })
    }
}
