//! Options of speed: loops on the device, placement of variables, concurrent graphs.

use super::{COMMON, DefaultValue, OptionKind, OptionRow, PathKind, Section, keys};

pub(super) const ROWS: &[OptionRow] = &[
    ITERATIONS_PER_LOOP,
    OptionRow {
        key: "hcom_parallel",
        kind: OptionKind::Bool,
        default: DefaultValue::Bool(true),
        summary: "whether gradient exchange overlaps with computation",
        details: "In distributed training AllReduce of gradients runs beside forward and backward passes. For small \
                  networks, such as ResNet-18, the reference advises against it. It gives no default; the code has \
                  True, releases of 2020 and 2021 had False.",
        memory_effect: "not simulated: one stream is simulated; on a device, gradients in flight live longer",
        source: "NPURunConfig option reference; TensorFlow adapter npu_config.py",
        ..PERFORMANCE_ROW
    },
    OptionRow {
        key: "op_precision_mode",
        kind: OptionKind::Path(PathKind::File),
        summary: "file of precision or speed by op",
        details: "An .ini file with the sections [ByOpType] and [ByNodeName], of which the second wins. Values are \
                  high_precision, high_performance, super_performance, keep_fp16 and support_out_of_bound_index (checks \
                  indices, slower). It wins over op_select_implmode and optypelist_for_implmode, with which it should not \
                  be combined. Rarely needed.",
        memory_effect: "not simulated: on a device, the chosen kernels may need other scratch memory",
        ..PERFORMANCE_ROW
    },
    OptionRow {
        key: "enable_scope_fusion_passes",
        kind: OptionKind::Names(&[]),
        summary: "the scope fusion patterns that are switched on",
        details: "Names of registered patterns separated by commas. General patterns are always on; this is for those \
                  that fit certain networks only and are off by default.",
        memory_effect: "not simulated: the ops of the file are run unchanged; on a device, fusion removes the tensors \
                        between fused ops",
        ..PERFORMANCE_ROW
    },
    OptionRow {
        key: "stream_max_parallel_num",
        kind: OptionKind::Text,
        unset_means: Some("1 for every engine"),
        summary: "number of concurrent tasks per engine",
        details: "Pairs of engine and number separated by commas: \"DNN_VM_AICPU:10,AIcoreEngine:1\". The number is \
                  at least 1 and at most the number of AI Cores, which the profile of a product knows \
                  (simulation.device). For NMT networks only.",
        rule: "R41",
        memory_effect: "not simulated: one stream is simulated; on a device, streams reuse each other's memory later \
                        or not at all",
        ..PERFORMANCE_ROW
    },
    OptionRow {
        key: "is_tailing_optimization",
        kind: OptionKind::Bool,
        default: DefaultValue::Bool(false),
        summary: "whether computation overlaps with the last gradient exchange",
        details: "Moves work that does not depend on the last AllReduce beside it, in distributed training of BERT \
                  networks. The script's NPUOptimizer must be given the same value.",
        ..PERFORMANCE_ROW
    },
    OptionRow {
        key: "enable_small_channel",
        kind: OptionKind::IntChoice(&[
            (0, "off, the default in training"),
            (1, "on, always so in online inference"),
        ]),
        default: DefaultValue::Int(0),
        by_run_mode: Some([DefaultValue::Int(1), DefaultValue::Int(0)]),
        summary: "whether convolutions with 4 channels or fewer are optimised",
        details: "It helps GoogLeNet and ResNet and may harm other networks. In training it is off, and should stay so. \
                  In online inference (graph_run_mode 0) it is always 1, regardless of this option.",
        memory_effect: "not simulated: on a device, the optimised layout pads the tensors that it touches",
        source: "NPURunConfig option reference; TensorFlow adapter npu_attrs.cc",
        ..PERFORMANCE_ROW
    },
    VARIABLE_PLACEMENT,
    GRAPH_MAX_PARALLEL_MODEL_NUM,
];

const PERFORMANCE_ROW: OptionRow = OptionRow {
    section: Section::Performance,
    ..COMMON
};

const ITERATIONS_PER_LOOP: OptionRow = OptionRow {
    key: keys::ITERATIONS_PER_LOOP,
    kind: OptionKind::Int { min: 1, max: i64::MAX },
    default: DefaultValue::Int(1),
    unit: Some("iterations"),
    summary: "training iterations per loop on the device",
    details: "With more than 1, the loop runs on the device and reports to the host once per loop, which saves round \
              trips. The number of iterations of the training must be a multiple of it. It must be 1 under mixed \
              computing. Loss scaling and the loop on the device can make the iterations that count differ from the \
              number asked for.",
    memory_effect: "above 1, four int64 scalars that steer the loop on the device join the variables (4 times 1536 \
                    bytes); the iterations that are simulated are those of the schedule",
    lowers_to: Some("Params::loop_variables"),
    rule: "R1",
    source: "NPURunConfig option reference; TensorFlow adapter npu_config.py",
    ..PERFORMANCE_ROW
};

const VARIABLE_PLACEMENT: OptionRow = OptionRow {
    key: keys::VARIABLE_PLACEMENT,
    kind: OptionKind::TextChoice(&[
        ("Device", "variables live in device memory"),
        ("Host", "variables live in host memory"),
    ]),
    default: DefaultValue::Text("Device"),
    summary: "placement of variables",
    details: "Host moves the variables out of device memory, for networks whose weights do not fit. It needs \
              mix_compile_mode=True, which lets ops stay on the host as well. Scripts with \
              TensorFlow 1 control flow may fail under Host until they enable version 2 control flow and resource \
              variables.",
    memory_effect: "Host takes the variables out of the device's memory; what ops copy over for their use is not \
                    counted",
    lowers_to: Some("Params::variables_on_host"),
    rule: "R16",
    source: "NPURunConfig option reference; TensorFlow adapter npu_attrs.cc",
    ..PERFORMANCE_ROW
};

const GRAPH_MAX_PARALLEL_MODEL_NUM: OptionRow = OptionRow {
    key: keys::GRAPH_MAX_PARALLEL_MODEL_NUM,
    kind: OptionKind::Int {
        min: 1,
        max: 2_147_483_647,
    },
    default: DefaultValue::Int(1),
    unit: Some("graphs"),
    summary: "number of concurrent graph runs in online inference",
    details: "More than 1 runs graphs concurrently, which raises throughput. Each instance needs separate feature \
              memory. Incompatible with memory policies 2 and 4, whose graphs share addresses and would overwrite \
              each other.",
    memory_effect: "holds that many copies of the feature memory",
    lowers_to: Some("Params::feature_copies"),
    rule: "R19",
    ..PERFORMANCE_ROW
};
