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
    OptionRow {
        key: keys::OCCUPIED_MEMORY,
        kind: OptionKind::Names(&[]),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        memory_effect: "TEXT",
        lowers_to: Some("Params::device_bytes"),
        rule: "K4",
        ..OWN
    },
    OptionRow {
        key: keys::INPUT_STAGING_BUFFERS,
        kind: OptionKind::Int { min: 0, max: 64 },
        default: DefaultValue::Int(1),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        memory_effect: "TEXT",
        lowers_to: Some("Params::staging_buffers"),
        is_estimate: true,
        ..OWN
    },
    OptionRow {
        key: keys::KEPT_OPS,
        kind: OptionKind::Names(&[]),
        default: DefaultValue::Text(DEFAULT_KEPT_OPS),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        memory_effect: "TEXT",
        lowers_to: Some("Lowered::precision"),
        is_estimate: true,
        ..OWN
    },
    OptionRow {
        key: keys::HOST_OPS,
        kind: OptionKind::Names(&[]),
        default: DefaultValue::Text(DEFAULT_HOST_OPS),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        memory_effect: "TEXT",
        lowers_to: Some("Lowered::host_ops"),
        is_estimate: true,
        ..OWN
    },
    OptionRow {
        key: keys::SHAPE_SAMPLES,
        kind: OptionKind::Int { min: 1, max: 1000 },
        default: DefaultValue::Int(4),
        summary: "TEXT",
        details: "TEXT. TEXT.",
        memory_effect: "TEXT",
        lowers_to: Some("Lowered::shape_ranges"),
        is_estimate: true,
        ..OWN
    },
];

/// Op types that mixed precision leaves alone, unless the user says otherwise: the lists of the real compiler
/// come with its operator package and differ by chip.
const DEFAULT_KEPT_OPS: &str = "Softmax,LogSoftmax,SoftmaxCrossEntropyWithLogits,SparseSoftmaxCrossEntropyWithLogits,Exp,Log,Pow,\
LayerNormalization,LayerNorm,BatchNormalization,FusedBatchNorm,FusedBatchNormV3,InstanceNormalization,ReduceSum,ReduceMean,\
Sum,Mean,CumSum,native_layer_norm,native_batch_norm,_softmax,_log_softmax,nll_loss_forward,sum,mean,exp,log,pow";

/// Op types that a device cannot run, unless the user says otherwise.
const DEFAULT_HOST_OPS: &str = "PyFunc,PyFuncStateless,EagerPyFunc,Print,PrintV2,Assert,StringFormat";

const OWN: OptionRow = OptionRow {
    section: Section::Simulation,
    since: Some("0.1.0"),
    source: "highwater's own",
    ..COMMON
};
