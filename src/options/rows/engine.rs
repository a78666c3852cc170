//! Session options of the engine, as graph construction without the adapter sets them.

use super::{Acts, COMMON, OptionKind, OptionRow, PathKind, Section};

pub(super) const ROWS: &[OptionRow] = &[
    OptionRow {
        key: "ge.exec.staticMemoryPolicy",
        kind: OptionKind::TextChoice(&[
            ("0", "dynamic allocation: each static graph holds a separate block"),
            ("1", "the same as 2, for old scripts"),
            ("2", "static graphs share one arena as large as the largest of them"),
            ("3", "dynamic graphs use pools of small pages mapped into one range"),
            ("4", "both 2 and 3"),
        ]),
        unset_means: Some("\"0\""),
        summary: "the memory policy, as the engine itself names it",
        details: "What memory_config.static_memory_policy becomes in the engine; set it where a graph is built \
                  without the TensorFlow adapter. It is a text, and an unknown one selects nothing and stays silent. \
                  Where both are set, this one wins here. The engine joins it with the variable \
                  GE_USE_STATIC_MEMORY, beside which the documentation forbids it.",
        lowers_to: Some("Lowered::policy"),
        acts: Acts::ON_GRAPHS_AND_TRACES,
        rule: "R49",
        memory_effect: "selects the policy that counts as configured, before memory_config.static_memory_policy; \
                        every policy is simulated anyway",
        since: Some("GE of 2023"),
        source: "GE_USE_STATIC_MEMORY reference; GE graph_var_manager.h",
        ..ENGINE_ROW
    },
    OptionRow {
        key: "ge.exec.atomicCleanPolicy",
        kind: OptionKind::TextChoice(&[
            ("0", "one op at the start of the graph clears them all together"),
            ("1", "each op clears its own memory right before it runs"),
        ]),
        unset_means: Some("\"0\""),
        summary: "who clears memory that must start as zeros, as the engine itself names it",
        details: "What memory_config.atomic_clean_policy becomes in the engine; set it where a graph is built \
                  without the TensorFlow adapter. It holds for a whole session. Where both are set, this one wins \
                  here.",
        lowers_to: Some("Lowered::atomic_clean_separate"),
        rule: "R50",
        memory_effect: "as memory_config.atomic_clean_policy, and before it: 0 keeps outputs marked as atomic apart \
                        for the whole graph, 1 gives them their normal live ranges",
        since: Some("GE of 2023"),
        source: "GE session options; GE atomic_addr_clean_pass.cc",
        ..ENGINE_ROW
    },
    OptionRow {
        key: "ge.exec.memoryOptimizationPolicy",
        kind: OptionKind::TextChoice(&[("MemoryPriority", "more planners are tried and memory is weighed higher")]),
        summary: "whether the compiler may spend time to save memory",
        details: "The one value adds planners that group blocks by size ranges, and changes the usual planner \
                  slightly; the smallest plan of all is taken. The usual planner under it is not always as good as \
                  without, so a plan can come out a little larger.",
        memory_effect: "nothing here: arenas are placed by the strategy that `compare` is given. In reality more \
                        planners compete for the smallest arena",
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
        details: "With \"1\" every output and scratch buffer of a static graph gets a separate place. That is a way to \
                  find out whether wrong results come from reuse; the memory it takes is the sum of everything.",
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
        summary: "whether the caller's memory serves as that of graph inputs and outputs",
        details: "With \"1\" the engine works on the addresses of inputs and outputs that the caller passes in, instead \
                  of holding a separate segment for them behind the arena. The caller must then keep memory of the right \
                  size ready.",
        lowers_to: Some("Params::io_by_caller"),
        memory_effect: "1 leaves inputs and outputs of graphs out of the count: they are the caller's memory",
        since: Some("GE of 2023"),
        ..ENGINE_ROW
    },
    OptionRow {
        key: "ge.exec.inputReuseMemIndexes",
        kind: OptionKind::Names(&[]),
        summary: "the graph inputs whose memory may be overwritten once they are read",
        details: "Numbers of inputs, from 0, with commas between them, none twice. The caller promises not to need \
                  their contents afterwards, so that the planner can give their place to other tensors.",
        memory_effect: "nothing here: inputs live to the end of the run. In reality their memory is reused after \
                        their last reader",
        since: Some("GE of 2023"),
        ..ENGINE_ROW
    },
    OptionRow {
        key: "ge.exec.outputReuseMemIndexes",
        kind: OptionKind::Names(&[]),
        summary: "the graph outputs whose memory other tensors may use before they are written",
        details: "Numbers of outputs, from 0, with commas between them. Until such an output is computed, its place \
                  may serve other tensors.",
        memory_effect: "nothing here: outputs have memory of their own. In reality other tensors may use it before they \
                        are written",
        since: Some("GE of 2023"),
        ..ENGINE_ROW
    },
    OptionRow {
        key: "ge.exec.outputReuseInputMemIndexes",
        kind: OptionKind::Text,
        summary: "which graph outputs use the memory of which inputs",
        details: "Pairs of numbers with bars between them, such as \"0,0|1,1\", by which the caller promises that \
                  both have the same address. The compiler can then leave out copies from an input to the output \
                  that only passes it on.",
        memory_effect: "nothing here: inputs and outputs are counted apart. In reality each pair takes memory once",
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
        summary: "whether the address of feature memory may change between runs",
        details: "With \"1\" the addresses in a loaded graph can be set again for each run, so that feature memory can \
                  come from the caller or move. Ops whose addresses cannot be changed, such as collectives, then get \
                  fixed memory apart.",
        memory_effect: "nothing here: fixed feature memory is not told apart. In reality it moves from the arena to \
                        a pool of the session",
        since: Some("GE of 2023"),
        ..ENGINE_ROW
    },
    OptionRow {
        key: "ge.externalWeightDir",
        kind: OptionKind::Path(PathKind::Directory),
        summary: "the directory for weights that are moved into files",
        details: "Says where external_weight puts its files, instead of a temporary directory below ASCEND_WORK_PATH \
                  or the current one. It has no effect while weights stay in the graph.",
        since: Some("GE of 2026"),
        ..ENGINE_ROW
    },
    OptionRow {
        key: "ge.experiment.memory_pool_threshold",
        kind: OptionKind::Int { min: 1, max: 1_048_576 },
        unset_means: Some("95 % of the device memory"),
        unit: Some("GiB"),
        summary: "the memory that the pools of dynamic graphs may fill before they give idle pages back",
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
