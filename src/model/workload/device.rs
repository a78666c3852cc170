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
    figures: BTreeMap<DeviceFigure, Figure>,
    /// `None` where no public count is known.
    pub ai_cores: Option<AiCores>,
}

/// The number of AI cores, which bounds options and enters no estimate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AiCores {
    pub count: u64,
    /// The public source of the count.
    pub source: Arc<str>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Figure {
    value: u64,
    basis: Basis,
}

impl Device {
    pub fn memory(&self) -> Bytes {
        Bytes(self.figure(DeviceFigure::MemoryBytes))
    }

    /// Replaces the memory; its basis stays.
    pub fn set_memory(&mut self, memory: Bytes) {
        let basis = self.basis(DeviceFigure::MemoryBytes).clone();
        self.put(DeviceFigure::MemoryBytes, memory.get(), basis);
    }

    pub fn figure(&self, figure: DeviceFigure) -> u64 {
        self.figures.get(&figure).map_or(0, |figure| figure.value)
    }

    fn put(&mut self, figure: DeviceFigure, value: u64, basis: Basis) {
        self.figures.insert(figure, Figure { value, basis });
    }

    /// Replaces a figure by a value of the user.
    pub fn set(&mut self, figure: DeviceFigure, value: u64) {
        self.put(figure, value, Basis::User);
    }

    pub fn basis(&self, figure: DeviceFigure) -> &Basis {
        // Profiles state the basis of every figure.
        self.figures.get(&figure).map_or(&Basis::User, |figure| &figure.basis)
    }

    /// A figure with its unit, and its mark if any: `64 GiB, estimate`.
    pub fn text_with_mark(&self, figure: DeviceFigure) -> String {
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
    ai_cores: Option<WireCores>,
}

/// A count with its source; there are no estimates of it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireCores {
    value: u64,
    source: String,
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
            figures: BTreeMap::new(),
            ai_cores: None,
        };
        if let Some(cores) = &self.ai_cores {
            let source = texts.get(&cores.source).cloned();
            device.ai_cores = Some(AiCores {
                count: cores.value,
                source: source
                    .ok_or_else(|| format!("{}, ai_cores: there is no basis \"{}\"", self.name, cores.source))?,
            });
        }
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
            device.put(figure, wire.value, basis);
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
