//! Options of device memory: the two policies of `MemoryConfig`, weights in files, input fusion.

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
        (0, "one op at the start of the graph clears them all together"),
        (1, "each op clears its own memory right before it runs"),
    ]),
    default: DefaultValue::Int(0),
    summary: "who clears the memory of ops whose outputs must start as zeros",
    details: "Some kernels add into their output or scratch memory and need it cleared first. Under 0 one clearing \
              op at the front of the graph does it for all of them: a single launch, but that memory must then be \
              kept free from start to end, so nothing else can use it. Under 1 the memory is still cleared, by one \
              launch per op, and it can be shared like any other. Choose 1 where such ops hold much memory.",
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
    kind: OptionKind::IntChoice(&[
        (0, "dynamic allocation: each static graph holds a separate block"),
        (1, "the same as 2, for old scripts"),
        (
            2,
            "static expansion: static graphs share one arena as large as the largest of them",
        ),
        (
            3,
            "dynamic expansion: dynamic graphs use pools of small pages mapped into one range",
        ),
        (4, "both 2 and 3"),
    ]),
    default: DefaultValue::Int(0),
    summary: "how the graphs of a session get their device memory",
    details: "Under 0 every static graph keeps its own block from load to unload, and dynamic graphs allocate as \
              they go. Under 2 the static graphs of a session take turns in one arena: where the next graph needs \
              more, the old arena is given back and a larger one is taken. Under 3 dynamic graphs are backed by small \
              physical pages in one virtual range, which ends fragmentation, perhaps at some speed. 4 does both. \
              2 and 4 must not be used while graphs run at the same time, since these would write over each other. \
              The engine joins this value with the variable GE_USE_STATIC_MEMORY and takes 0 for anything it does \
              not know.",
    memory_effect: "selects the policy that counts as configured; every policy is simulated anyway, for comparison",
    lowers_to: Some("Lowered::policy"),
    acts: Acts::ON_GRAPHS_AND_TRACES,
    rule: "R49",
    source: "MemoryConfig constructor; GE graph_var_manager.h",
    ..MEMORY
};

const MEMORY_OPTIMIZATION_POLICY: OptionRow = OptionRow {
    key: "memory_config.memory_optimization_policy",
    kind: OptionKind::TextChoice(&[("MemoryPriority", "more planners are tried and memory is weighed higher")]),
    summary: "whether the compiler may spend time to save memory",
    details: "The one value adds planners that group blocks by size ranges, and changes the usual planner slightly; \
              the smallest plan of all is taken. It can come out a little larger than without. The engine calls it \
              ge.exec.memoryOptimizationPolicy.",
    memory_effect: "nothing here: arenas are placed by the strategy that `compare` is given. In reality more \
                    planners compete for the smallest arena",
    since: Some("adapter of 2023"),
    source: "TensorFlow adapter npu_config.py",
    ..MEMORY
};

const VARIABLE_USE_1G_HUGE_PAGE: OptionRow = OptionRow {
    key: keys::VARIABLE_USE_1G_HUGE_PAGE,
    kind: OptionKind::IntChoice(&[
        (0, "the system's pages, 4 KiB or 2 MiB"),
        (1, "pages of 1 GiB; an error where there are none"),
        (2, "pages of 1 GiB, else of 2 MiB"),
    ]),
    default: DefaultValue::Int(0),
    summary: "whether variables use pages of 1 GiB",
    details: "Large embedding tables are read here and there, and large pages need fewer entries in the page table, \
              which speeds such reads up. Under 1 a failure to get such pages ends the run; under 2 pages of 2 MiB \
              are tried next. The block of variables then comes in whole GiB.",
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
    summary: "the object that says how the session uses memory",
    details: "A MemoryConfig, made before the NPURunConfig. Its fields are options of their own here \
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
    details: "On, the weights of constants leave the compiled graph for files in a temporary directory \
              (below ASCEND_WORK_PATH where that is set, else the current one), which is removed when the model is \
              unloaded. Models of one session that use equal weights then load them once. Worth it where \
              several models with the same weights are loaded on a device with little memory; otherwise it only \
              costs time to load. The engine also knows 2, which keeps the weights of a model together in one file; \
              here that acts as True.",
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
    details: "User inputs that are no larger than the threshold are gathered into one transfer from host to device; \
              larger ones go one by one. 0 turns the gathering off. It saves launches where a graph has many small \
              inputs. The adapter clamps values outside 0 to 32 MiB and warns.",
    memory_effect: "where two or more inputs of a static graph are no larger, their bytes together, rounded up to 512 \
                    and times simulation.input_staging_buffers, are held on the device as a staging buffer, counted \
                    with inputs and outputs; 0 holds none",
    lowers_to: Some("Params::input_fusion_size"),
    is_estimate: true,
    rule: "R18",
    is_clamped: true,
    source: "NPURunConfig option reference; TensorFlow adapter npu_attrs.cc",
    ..MEMORY
};
