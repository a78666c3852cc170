//! highwater's own options: the simulated device.

use super::super::kind::OptionKind;
use super::super::row::OptionRow;
use super::super::section::Section;
use super::super::value::DefaultValue;
use super::{COMMON, keys};
use crate::workload::DeviceProfiles;

pub(super) const ROWS: &[OptionRow] = &[
    OptionRow {
        key: keys::DEVICE,
        default: DefaultValue::Text(DeviceProfiles::DEFAULT),
        summary: "the profile of the device that is simulated",
        details: "A profile gives the device's memory and the estimated costs of its operations. The counts of a \
                  simulation are exact on any profile; its times are as good as the profile's estimates. Where no \
                  profile fits, take the nearest and set simulation.device_memory.",
        memory_effect: "sets the device's memory, above which a run is out of memory, and the cost estimates",
        ..OWN
    },
    OptionRow {
        key: keys::DEVICE_MEMORY,
        kind: OptionKind::Bytes { min: 1, max: 1 << 50 },
        unit: Some("bytes"),
        summary: "the memory of the simulated device, instead of its profile's",
        details: "Accepts bytes or a size with a unit, such as 24GiB. Unset, the memory of the device profile holds. \
                  Part of a real device's memory is taken by the driver and the runtime: set what is left to the \
                  session to be on the safe side.",
        memory_effect: "sets the device's memory, above which a run is out of memory",
        ..OWN
    },
];

const OWN: OptionRow = OptionRow {
    section: Section::Simulation,
    since: Some("0.1.0"),
    source: "highwater's own",
    ..COMMON
};
