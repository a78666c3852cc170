//! The device: its memory and the figures that estimates rest on.
//!
//! Profiles are data (`assets/devices.json`); every figure that no public source settles is marked
//! as an estimate there and wherever it is shown.

use serde::{Deserialize, Serialize};

use crate::units::Bytes;

const PROFILES: &str = include_str!("../../assets/devices.json");

/// A device and its cost figures. Costs are estimates, in nanoseconds or bytes per second.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// The profile's name, such as `generic-32GB`.
    pub name: String,
    /// Device memory in bytes.
    pub memory_bytes: u64,
    /// Estimated cost of one device malloc.
    pub malloc_ns: u64,
    /// Estimated cost of one device free.
    pub free_ns: u64,
    /// Estimated cost of mapping one physical page.
    pub map_ns: u64,
    /// Estimated cost of unmapping one physical page.
    pub unmap_ns: u64,
    /// Estimated cost of reserving or releasing a virtual range.
    pub reserve_ns: u64,
    /// Estimated cost of one synchronisation.
    pub sync_ns: u64,
    /// Estimated cost of launching one op.
    pub launch_ns: u64,
    /// Estimated rate of floating point operations.
    pub flops_per_second: u64,
    /// Estimated device memory bandwidth.
    pub memory_bytes_per_second: u64,
    /// Estimated bandwidth from host to device (reloads, input staging).
    pub host_bytes_per_second: u64,
    /// Where the figures come from.
    pub source: String,
}

impl Device {
    /// Device memory.
    pub const fn memory(&self) -> Bytes {
        Bytes(self.memory_bytes)
    }
}

/// Why a device could not be chosen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// No profile of that name.
    #[error("no device profile \"{name}\"; known: {known}")]
    UnknownProfile {
        /// The name as given.
        name: String,
        /// The names there are.
        known: String,
    },
    /// The bundled profiles are damaged.
    #[error("the bundled device profiles cannot be read: {reason}")]
    Damaged {
        /// What the parser says.
        reason: String,
    },
}

/// The bundled device profiles, in file order.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct DeviceProfiles {
    /// The profiles.
    pub profiles: Vec<Device>,
}

impl DeviceProfiles {
    /// The profile that is used where none is named.
    pub const DEFAULT: &'static str = "generic-32GB";

    /// Reads the bundled profiles.
    ///
    /// # Errors
    /// [`DeviceError::Damaged`].
    pub fn bundled() -> Result<Self, DeviceError> {
        serde_json::from_str(PROFILES).map_err(|error| DeviceError::Damaged {
            reason: error.to_string(),
        })
    }

    /// The profile of a name.
    ///
    /// # Errors
    /// [`DeviceError::UnknownProfile`] lists the names there are.
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
