//! Options that say what runs and where: graph run mode, mixed computing.

use super::super::kind::{Choice, OptionKind};
use super::super::row::OptionRow;
use super::super::section::Section;
use super::super::value::DefaultValue;
use super::{COMMON, keys};

pub(super) const BASIC: &[OptionRow] = &[OptionRow {
    key: keys::GRAPH_RUN_MODE,
    section: Section::Basic,
    kind: OptionKind::IntChoice(&[
        Choice {
            value: 0,
            summary: "online inference",
        },
        Choice {
            value: 1,
            summary: "training",
        },
    ]),
    default: DefaultValue::Int(1),
    summary: "whether graphs are run for training or for online inference",
    details: "Tells the compiler what a graph is for. Some options belong to one of the two modes only: \
              graph_max_parallel_model_num and precision_mode=force_fp16 are meant for inference. The rules use it \
              to say which other settings do not fit.",
    memory_effect: "not simulated in this version: the graph in the file is run as it is. In reality the mode steers \
                    graph optimization, and a training graph holds activations for its backward part, which then \
                    stands in the graph itself",
    rule: "R6",
    ..COMMON
}];

pub(super) const MIXED: &[OptionRow] = &[OptionRow {
    key: keys::MIX_COMPILE_MODE,
    section: Section::MixedComputing,
    kind: OptionKind::Bool,
    default: DefaultValue::Bool(false),
    summary: "whether ops that the device does not support may stay in the framework on the host",
    details: "Off, the whole graph is sent to the device and every op has to run there. On, the framework keeps \
              some ops on the host and the device gets the parts between them, each as a graph of its own. \
              Loops of several iterations cannot be sent to the device then, so iterations_per_loop must be 1; \
              variables on the host need this option.",
    memory_effect: "not simulated in this version: every op of the file runs on the device. In reality an op on the \
                    host takes no device memory, and the cuts it makes turn inner tensors into graph inputs and \
                    outputs, which the arena of a graph does not hold",
    rule: "R2",
    ..COMMON
}];
