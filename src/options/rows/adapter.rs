//! Arguments of the adapter's constructors that its reference does not list.

use super::{COMMON, DefaultValue, OptionKind, OptionRow, PathKind, Section};

pub(super) const ROWS: &[OptionRow] = &[
    OptionRow {
        key: "horovod_mode",
        kind: OptionKind::Bool,
        default: DefaultValue::Bool(false),
        summary: "whether the script uses Horovod for distributed training",
        details: "Must be True or False, or the adapter refuses it. There is no public description.",
        rule: "R9",
        since: Some("adapter of 2020"),
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "dynamic_input_config",
        kind: OptionKind::Object {
            class: "DynamicInputConfig",
        },
        summary: "fixed list of input shapes (object)",
        details: "A DynamicInputConfig; other values are rejected. Its fields are separate options here. It compiles \
                  the graph for a fixed list of shapes and wins over dynamic_inputs_shape_range.",
        rule: "R8",
        memory_effect: "not simulated: give the shapes as values of symbolic dimensions of the schedule",
        since: Some("adapter of 2020"),
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "dynamic_input_config.input_shape",
        kind: OptionKind::Text,
        summary: "the shapes of the inputs, with -1 where they vary",
        details: "Names and shapes separated by semicolons, such as \"data:1,1,40,-1;label:1,-1\". The fields \
                  input_shape, dynamic_dims and dynamic_node_type are given all together or not at all.",
        rule: "R38",
        memory_effect: "not simulated: give the shapes as values of symbolic dimensions of the schedule",
        since: Some("adapter of 2020"),
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "dynamic_input_config.dynamic_dims",
        kind: OptionKind::Text,
        summary: "the values that replace each -1",
        details: "One group for each shape separated by semicolons, such as \"20,20;40,40\": the first number is for \
                  the first -1, and so on. It wins over dynamic_inputs_shape_range. All three fields are given \
                  together or not at all.",
        rule: "R38",
        lowers_to: Some("Lowered::shape_ranges"),
        memory_effect: "disables dynamic_inputs_shape_range; its values are not simulated: set them as symbolic \
                        dimensions of the schedule",
        since: Some("adapter of 2020"),
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "dynamic_input_config.dynamic_node_type",
        kind: OptionKind::IntChoice(&[(0, "inputs from a dataset"), (1, "placeholders")]),
        summary: "which kind of input varies",
        details: "Says whether the varying inputs come from a dataset or are placeholders. All three fields are \
                  given together or not at all.",
        rule: "R38",
        since: Some("adapter of 2020"),
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "dynamic_input_config.compile_hybrid_mode",
        kind: OptionKind::IntChoice(&[
            (0, "listed shapes alone"),
            (1, "listed shapes, and any other shape as a dynamic graph"),
        ]),
        summary: "whether listed shapes and unknown shapes are compiled side by side",
        details: "0 or 1. 1 needs dynamic_node_type 1: it works for placeholders alone.",
        rule: "R38",
        memory_effect: "not simulated: a graph is either static or dynamic",
        since: Some("adapter of 2026"),
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "enable_compress_weight",
        kind: OptionKind::Bool,
        default: DefaultValue::Bool(false),
        summary: "whether the weights of the whole network are compressed",
        details: "Cannot be set together with compress_weight_conf; whether a name is given at all is what counts, even \
                  as False. Only some chips can read compressed weights.",
        memory_effect: "not simulated: on a device, compressed weights are smaller",
        since: Some("adapter of 2020"),
        source: "TensorFlow adapter npu_config.py; npu_attrs.cc",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "compress_weight_conf",
        kind: OptionKind::Path(PathKind::File),
        summary: "a file with the nodes whose weights are compressed",
        details: "Compresses the named nodes and no others. Cannot be set together with enable_compress_weight: the \
                  adapter refuses a configuration that gives both.",
        memory_effect: "not simulated: on a device, compressed weights are smaller",
        since: Some("adapter of 2020"),
        source: "TensorFlow adapter npu_config.py; npu_attrs.cc",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "hcom_multi_mode",
        kind: OptionKind::Bool,
        default: DefaultValue::Bool(false),
        summary: "whether collectives serve model parallelism",
        details: "Fixes the data format of broadcasts for training that splits the model. Off is right for training \
                  that splits the data.",
        since: Some("adapter of 2021"),
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "distribute_config",
        kind: OptionKind::Path(PathKind::File),
        summary: "a file that describes the distributed network",
        details: "The path of the configuration of the network that connects the servers (NCA). There is no public \
                  description.",
        since: Some("adapter of 2021"),
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "device_type",
        kind: OptionKind::Text,
        default: DefaultValue::Text("default_device_type"),
        summary: "the type of device that graphs are compiled for",
        details: "Passed to the engine unchanged. The default leaves the choice to the engine.",
        since: Some("adapter of 2021"),
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "soc_config",
        kind: OptionKind::Text,
        summary: "the version of the chip that graphs are compiled for",
        details: "A name such as Ascend910; in the engine: ge.socVersion. Unset, the chip that is there is asked.",
        memory_effect: "not simulated: the simulated device is simulation.device",
        since: Some("adapter of 2021"),
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "HCCL_algorithm",
        kind: OptionKind::Text,
        summary: "the algorithm of collective operations",
        details: "Passed to the collective library. There is no public description.",
        since: Some("adapter of 2021"),
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "topo_sorting_mode",
        kind: OptionKind::IntChoice(&[
            (0, "breadth first"),
            (1, "depth first"),
            (2, "depth first from the end"),
            (3, "depth first from the end, in a stable order"),
        ]),
        summary: "topological sorting of independent ops",
        details: "In the engine: ge.topoSortingMode; the adapter for TensorFlow 2 takes 0 and 1 only. Unset, the \
                  engine chooses.",
        memory_effect: "not simulated: ops run in the order of the file; on a device, the order decides which tensors \
                        live at the same time",
        since: Some("adapter of 2023"),
        source: "TensorFlow adapter npu_config.py; GE options",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "insert_op_file",
        kind: OptionKind::Path(PathKind::File),
        summary: "a file that adds ops for preprocessing images",
        details: "Describes conversions of colours, crops and scales (AIPP) that are put in front of the graph's \
                  inputs. In the engine: ge.insertOpFile.",
        memory_effect: "not simulated: the ops of the file are run unchanged",
        since: Some("adapter of 2023"),
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "frozen_variable",
        kind: OptionKind::Bool,
        default: DefaultValue::Bool(false),
        summary: "whether variables that never change are folded into constants",
        details: "For inference, where variables are only read. Folded variables are weights afterwards.",
        memory_effect: "not simulated: variables stay variables; on a device, they would count as weights, exactly \
                        and without rounding",
        since: Some("adapter of 2023"),
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "aicore_num",
        kind: OptionKind::Text,
        summary: "how many AI Cores kernels are compiled for",
        details: "A text that the engine takes as ge.aicoreNum. Unset, all cores of the chip are used.",
        since: Some("adapter of 2026"),
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "oo_constant_folding",
        kind: OptionKind::Bool,
        default: DefaultValue::Bool(true),
        summary: "whether ops on constants are computed when the graph is compiled",
        details: "On by default. Off keeps such ops in the graph, which helps to find a fault of the folding.",
        memory_effect: "not simulated: the ops of the file are run unchanged; on a device, folding turns tensors into \
                        weights",
        since: Some("adapter of 2026"),
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "input_batch_cpy",
        kind: OptionKind::Bool,
        default: DefaultValue::Bool(false),
        summary: "whether inputs are copied to the device in one batch",
        details: "A batch call copies several inputs with one request instead of one request each. The code's own \
                  comment contradicts itself on the default; the signature says False.",
        since: Some("adapter of 2026"),
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "shape_generalization_mode",
        kind: OptionKind::TextChoice(&[
            ("STRICT", "each shape is compiled as it is"),
            ("FULL", "all dimensions become unknown once a shape changes"),
            (
                "ADAPTIVE",
                "only the dimensions that change become unknown, with a compilation for each",
            ),
        ]),
        default: DefaultValue::Text("STRICT"),
        summary: "how shapes that change between iterations are handled when ops are compiled online",
        details: "Looked at where jit_compile is true. Generalised dimensions are unknown to the compiler, so that \
                  it need not compile again. compile_dynamic_mode makes it pointless.",
        memory_effect: "not simulated: a graph is dynamic where the schedule gives its dimensions several values",
        since: Some("adapter of 2026"),
        source: "TensorFlow adapter documentation; npu_config.py",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "all_tensor_not_empty",
        kind: OptionKind::Bool,
        default: DefaultValue::Bool(false),
        summary: "whether the script guarantees that no tensor is empty",
        details: "Dynamic graphs carry nodes that keep empty tensors from being sent to the device. True leaves \
                  those nodes out, which is faster. An empty tensor then makes ops fail.",
        since: Some("adapter of 2026"),
        source: "TensorFlow adapter documentation; npu_config.py",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "auto_multistream_parallel_mode",
        kind: OptionKind::Text,
        summary: "how ops of a static graph are spread over streams",
        details: "cv runs matrix ops beside vector ops; LoadBalance or LoadBalance:n spreads all ops evenly over n \
                  streams (8 where none is given); MainStream:n keeps what is serial on one stream. n is 1 to 64, \
                  and more streams than cores cost speed. For training of recommendation networks.",
        rule: "K3",
        memory_effect: "not simulated: one stream is simulated; on a device, streams reuse each other's memory later \
                        or not at all",
        since: Some("adapter of 2026"),
        source: "TensorFlow adapter documentation; npu_config.py",
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "oo_level",
        kind: OptionKind::TextChoice(&[
            ("O0", "only mandatory optimisations"),
            ("O1", "basic optimisations of static graphs"),
            ("O2", "more optimisations than O1"),
            ("O3", "all optimisations"),
        ]),
        default: DefaultValue::Text("O3"),
        summary: "optimisation level of the graph compiler",
        details: "From O0 to O3 (default). In the engine: ge.oo.level.",
        memory_effect: "not simulated: the ops of the file are run unchanged",
        since: Some("adapter of 2026"),
        ..ADAPTER_ROW
    },
    OptionRow {
        key: "optimization_switch",
        kind: OptionKind::Text,
        summary: "which optimisations of the graph compiler are switched on or off",
        details: "Names of passes with on or off behind a colon, and semicolons between them. In the engine: \
                  ge.optimizationSwitch.",
        memory_effect: "not simulated: the ops of the file are run unchanged",
        since: Some("adapter of 2026"),
        ..ADAPTER_ROW
    },
];

pub(super) const ADAPTER_ROW: OptionRow = OptionRow {
    section: Section::Adapter,
    source: "TensorFlow adapter npu_config.py",
    ..COMMON
};
