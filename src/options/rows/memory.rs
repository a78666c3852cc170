//! Options of device memory: the two policies of `MemoryConfig`, weights in files, input fusion.

use super::super::policy_choices::POLICY_NUMBERS;
use super::{Acts, COMMON, DefaultValue, OptionKind, OptionRow, Section, keys};

pub(super) const ROWS: &[OptionRow] = &[
    STATIC_MEMORY_POLICY,
    ATOMIC_CLEAN_POLICY,
    MEMORY_OPTIMIZATION_POLICY,
    VARIABLE_USE_1G_HUGE_PAGE,
    MEMORY_CONFIG,
    EXTERNAL_WEIGHT,
    INPUT_FUSION_SIZE,
];

const MEMORY: OptionRow = OptionRow {
    section: Section::Memory,
    ..COMMON
};

const ATOMIC_CLEAN_POLICY: OptionRow = OptionRow {
    key: keys::ATOMIC_CLEAN_POLICY,
    kind: OptionKind::IntChoice(&[
        (0, "one op clears all of it at the start of the graph"),
        (1, "each op clears its memory before it runs"),
    ]),
    default: DefaultValue::Int(0),
    summary: "clearing of memory that must start as zeros (atomic clean)",
    details: "Some kernels add into their output or scratch memory and need it cleared first. With 0, one op clears \
              all of it at the start of the graph: a single launch, but the memory is reserved for the whole graph. \
              With 1, each op clears its memory by a separate launch, so the memory is shared like any other. Use 1 \
              if such ops hold much memory.",
    memory_effect: "0 keeps outputs that the graph marks as atomic apart, 512-byte aligned and alive for the whole \
                    graph; 1 gives them their normal live ranges. No difference where the graph marks no such op, \
                    and none for dynamic graphs",
    lowers_to: Some("Lowered::atomic_clean_separate"),
    rule: "R50",
    source: "MemoryConfig constructor; GE atomic_addr_clean_pass.cc",
    ..MEMORY
};

const STATIC_MEMORY_POLICY: OptionRow = OptionRow {
    key: keys::STATIC_MEMORY_POLICY,
    kind: OptionKind::IntChoice(&POLICY_NUMBERS),
    default: DefaultValue::Int(0),
    summary: "memory policy: how device memory is allocated to graphs",
    details: "0: every static graph holds a block from load to unload; dynamic graphs allocate op by op. 2: static \
              graphs share one arena; if a graph needs more, the arena is replaced by a larger one. 3: dynamic graphs \
              use small physical pages mapped into one virtual range, which avoids fragmentation at some cost in \
              speed. 4: both. Do not use 2 and 4 with concurrent graphs, which would overwrite each other. GE \
              combines this value with the variable GE_USE_STATIC_MEMORY and uses 0 for unknown values.",
    memory_effect: "selects the active policy; all policies are simulated for comparison",
    lowers_to: Some("Lowered::policy"),
    acts: Acts::ON_GRAPHS_AND_TRACES,
    rule: "R49",
    source: "MemoryConfig constructor; GE graph_var_manager.h",
    ..MEMORY
};

const MEMORY_OPTIMIZATION_POLICY: OptionRow = OptionRow {
    key: "memory_config.memory_optimization_policy",
    kind: OptionKind::TextChoice(&[("MemoryPriority", "more planners compete, memory has more weight")]),
    summary: "whether the compiler may spend time to save memory",
    details: "MemoryPriority adds planners that group blocks by size ranges and changes the default planner slightly; \
              the smallest plan is used. It can be slightly larger than without. The engine calls it \
              ge.exec.memoryOptimizationPolicy.",
    memory_effect: "not simulated: arenas use the strategy of `compare`; on a device, more planners compete for the \
                    smallest arena",
    since: Some("adapter of 2023"),
    source: "TensorFlow adapter npu_config.py",
    ..MEMORY
};

const VARIABLE_USE_1G_HUGE_PAGE: OptionRow = OptionRow {
    key: keys::VARIABLE_USE_1G_HUGE_PAGE,
    kind: OptionKind::IntChoice(&[
        (0, "the engine's usual pages"),
        (1, "pages of 1 GiB; an error without them"),
        (2, "pages of 1 GiB, else of 2 MiB"),
    ]),
    default: DefaultValue::Int(0),
    summary: "whether variables use pages of 1 GiB",
    details: "Large pages speed up random reads of large embedding tables. With 1, missing large pages end the run; \
              with 2, pages of 2 MiB are used instead. The block of variables is then a multiple of 1 GiB.",
    lowers_to: Some("Params::variable_pages"),
    memory_effect: "1 rounds the block of variables up to whole GiB; 2 does so too, and rounds to 2 MiB where whole \
                    GiB do not fit",
    since: Some("adapter of 2026"),
    source: "MemoryConfig constructor; TensorFlow adapter npu_attrs.cc",
    ..MEMORY
};

const MEMORY_CONFIG: OptionRow = OptionRow {
    key: keys::MEMORY_CONFIG,
    kind: OptionKind::Object { class: "MemoryConfig" },
    summary: "memory settings of the session (object)",
    details: "A MemoryConfig, made before the NPURunConfig. Its fields are separate options here \
              (memory_config.static_memory_policy and so on). The order of its arguments: atomic_clean_policy, \
              static_memory_policy, memory_optimization_policy, variable_use_1g_huge_page.",
    memory_effect: "nothing by itself: its fields have effects",
    source: "NPURunConfig option reference; MemoryConfig constructor",
    ..MEMORY
};

const EXTERNAL_WEIGHT: OptionRow = OptionRow {
    key: keys::EXTERNAL_WEIGHT,
    kind: OptionKind::Bool,
    default: DefaultValue::Bool(false),
    summary: "whether constant weights are moved into files, so that the models of a session can share them",
    details: "On, weights are moved from the compiled graph into files in a temporary directory (below \
              ASCEND_WORK_PATH, else the current one), which is deleted when the model is unloaded. Models of one \
              session with equal weights then load them once. Useful if several models with the same weights share a \
              device with little memory; otherwise it only costs loading time. The engine also accepts 2 (one file \
              per model), which acts as True here.",
    also: Some((2, DefaultValue::Bool(true))),
    memory_effect: "graphs of the session with equal weights (name and bytes) hold them once; no effect with one graph",
    lowers_to: Some("Params::share_weights"),
    source: "NPURunConfig option reference; TensorFlow adapter npu_attrs.cc",
    ..MEMORY
};

const INPUT_FUSION_SIZE: OptionRow = OptionRow {
    key: keys::INPUT_FUSION_SIZE,
    kind: OptionKind::Bytes {
        min: 0,
        max: 33_554_432,
    },
    default: DefaultValue::Int(131_072),
    unit: Some("bytes"),
    summary: "inputs up to this size are copied to the device together, in one transfer",
    details: "Inputs up to the threshold are copied to the device in one transfer, larger ones one by one; 0 disables \
              this. It saves launches for graphs with many small inputs. The adapter clamps values outside 0 to 32 \
              MiB and warns.",
    memory_effect: "if two or more inputs of a static graph are within the threshold, their total bytes (rounded up \
                    to 512, times simulation.input_staging_buffers) are held as a staging buffer, counted with inputs \
                    and outputs; 0: none",
    lowers_to: Some("Params::input_fusion_size"),
    is_estimate: true,
    rule: "R18",
    is_clamped: true,
    source: "NPURunConfig option reference; TensorFlow adapter npu_attrs.cc",
    ..MEMORY
};
