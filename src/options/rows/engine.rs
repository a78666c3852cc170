//! Session options of the engine, as graph construction without the adapter sets them.

use super::super::policy_choices::POLICY_TEXTS;
use super::{Acts, COMMON, OptionKind, OptionRow, PathKind, Section};

pub(super) const ROWS: &[OptionRow] = &[
    OptionRow {
        key: "ge.exec.staticMemoryPolicy",
        kind: OptionKind::TextChoice(&POLICY_TEXTS),
        unset_means: Some("\"0\""),
        summary: "the memory policy (engine option)",
        details: "The engine option behind memory_config.static_memory_policy, for graphs built without the \
                  TensorFlow adapter. A text; unknown texts silently select nothing. If both are set, this one takes \
                  precedence here. GE combines it with the variable GE_USE_STATIC_MEMORY, which the documentation \
                  forbids.",
        lowers_to: Some("Lowered::policy"),
        acts: Acts::ON_GRAPHS_AND_TRACES,
        rule: "R49",
        memory_effect: "selects the active policy, before memory_config.static_memory_policy; all policies are \
                        simulated",
        since: Some("GE of 2023"),
        source: "GE_USE_STATIC_MEMORY reference; GE graph_var_manager.h",
        ..ENGINE_ROW
    },
    OptionRow {
        key: "ge.exec.atomicCleanPolicy",
        kind: OptionKind::TextChoice(&[
            ("0", "one op clears all of it at the start of the graph"),
            ("1", "each op clears its memory before it runs"),
        ]),
        unset_means: Some("\"0\""),
        summary: "clearing of memory that must start as zeros (engine option)",
        details: "The engine option behind memory_config.atomic_clean_policy, for graphs built without the TensorFlow \
                  adapter. It applies to a whole session. If both are set, this one takes precedence here.",
        lowers_to: Some("Lowered::atomic_clean_separate"),
        rule: "R50",
        memory_effect: "as memory_config.atomic_clean_policy, with precedence: 0 keeps outputs marked as atomic apart \
                        for the whole graph, 1 gives them their normal live ranges",
        since: Some("GE of 2023"),
        source: "GE session options; GE atomic_addr_clean_pass.cc",
        ..ENGINE_ROW
    },
    OptionRow {
        key: "ge.exec.memoryOptimizationPolicy",
        kind: OptionKind::TextChoice(&[("MemoryPriority", "more planners compete, memory has more weight")]),
        summary: "whether the compiler may spend time to save memory",
        details: "MemoryPriority adds planners that group blocks by size ranges and changes the default planner \
                  slightly; the smallest plan is used. A plan can be slightly larger than without it.",
        memory_effect: "not simulated: arenas use the strategy of `compare`; on a device, more planners compete for \
                        the smallest arena",
        since: Some("GE of 2023"),
        ..ENGINE_ROW
    },
    OptionRow {
        key: "ge.exec.disableReuseMemory",
        kind: OptionKind::TextChoice(&[
            ("0", "tensors that do not live together share memory"),
            ("1", "every tensor has separate memory"),
        ]),
        unset_means: Some("\"0\""),
        summary: "whether reuse of memory within a static graph is turned off",
        details: "With \"1\" every output and scratch buffer of a static graph has separate memory, for debugging of \
                  memory reuse. The arena is then the sum of all buffers.",
        lowers_to: Some("Lowered::no_reuse"),
        memory_effect: "1 places the arenas of static graphs without any reuse; dynamic graphs are as before",
        since: Some("GE of 2020"),
        ..ENGINE_ROW
    },
    OptionRow {
        key: "ge.exec.reuseZeroCopyMemory",
        kind: OptionKind::TextChoice(&[
            ("0", "the engine holds memory for inputs and outputs"),
            ("1", "inputs and outputs stay in the caller's memory"),
        ]),
        unset_means: Some("\"0\""),
        summary: "whether graph inputs and outputs use the caller's memory",
        details: "With \"1\" the engine works on the addresses of inputs and outputs that the caller passes in, instead \
                  of holding a separate segment for them behind the arena. The caller must then keep memory of the right \
                  size ready.",
        lowers_to: Some("Params::io_by_caller"),
        memory_effect: "1 excludes inputs and outputs of graphs: they are the caller's memory",
        since: Some("GE of 2023"),
        ..ENGINE_ROW
    },
    OptionRow {
        key: "ge.exec.inputReuseMemIndexes",
        kind: OptionKind::Names(&[]),
        summary: "graph inputs whose memory may be reused after their last reader",
        details: "Numbers of inputs, from 0, separated by commas, none twice. The caller promises not to need their \
                  contents afterwards, so that the planner can give their place to other tensors.",
        memory_effect: "not simulated: inputs live to the end of the run; on a device, their memory is reused after \
                        their last reader",
        since: Some("GE of 2023"),
        ..ENGINE_ROW
    },
    OptionRow {
        key: "ge.exec.outputReuseMemIndexes",
        kind: OptionKind::Names(&[]),
        summary: "graph outputs whose memory may be used before they are written",
        details: "Numbers of outputs, from 0, separated by commas. Until such an output is computed, its place may \
                  serve other tensors.",
        memory_effect: "not simulated: outputs have separate memory; on a device, other tensors may use it before \
                        they are written",
        since: Some("GE of 2023"),
        ..ENGINE_ROW
    },
    OptionRow {
        key: "ge.exec.outputReuseInputMemIndexes",
        kind: OptionKind::Text,
        summary: "graph outputs that use the memory of inputs",
        details: "Pairs of numbers separated by |, such as \"0,0|1,1\", by which the caller promises that both have \
                  the same address. The compiler can then leave out copies from an input to the output that only \
                  passes it on.",
        memory_effect: "not simulated: inputs and outputs are counted apart; on a device, each pair takes memory once",
        since: Some("GE of 2026"),
        source: "GE tensor_move_delete_pass.cc",
        ..ENGINE_ROW
    },
    OptionRow {
        key: "ge.featureBaseRefreshable",
        kind: OptionKind::TextChoice(&[
            ("0", "addresses are fixed when the graph is loaded"),
            ("1", "addresses are set again for each run"),
        ]),
        unset_means: Some("\"0\""),
        summary: "whether the address of feature memory can change between runs",
        details: "With \"1\" the addresses in a loaded graph can be set again for each run, so that feature memory can \
                  come from the caller or move. Ops whose addresses cannot be changed, such as collectives, then get \
                  fixed memory apart.",
        memory_effect: "not simulated: fixed feature memory is not separated; on a device, it moves from the arena to \
                        a pool of the session",
        since: Some("GE of 2023"),
        ..ENGINE_ROW
    },
    OptionRow {
        key: "ge.externalWeightDir",
        kind: OptionKind::Path(PathKind::Directory),
        summary: "directory of external weights",
        details: "Directory for the files of external_weight, instead of a temporary directory below ASCEND_WORK_PATH \
                  or the current one. No effect without external_weight.",
        since: Some("GE of 2026"),
        ..ENGINE_ROW
    },
    OptionRow {
        key: "ge.experiment.memory_pool_threshold",
        kind: OptionKind::Int { min: 1, max: 1_048_576 },
        unset_means: Some("95 % of the device memory"),
        unit: Some("GiB"),
        summary: "limit of dynamic pools before they recycle idle pages",
        details: "A number of whole GiB, above 0 and no more than the threshold that holds otherwise, which is 95 % \
                  of the device's memory. Other values are ignored with a warning. A single request above the \
                  threshold fails.",
        lowers_to: Some("Params::pool_threshold"),
        acts: Acts::ON_GRAPHS_AND_TRACES,
        memory_effect: "replaces the 95 % of the device's memory above which pools recycle idle pages and a request \
                        fails; a larger value has no effect",
        since: Some("GE of 2026"),
        source: "GE rts_caching_mem_allocator",
        ..ENGINE_ROW
    },
];

const ENGINE_ROW: OptionRow = OptionRow {
    section: Section::Engine,
    source: "GE session options; GE ge_api_types.h",
    ..COMMON
};
