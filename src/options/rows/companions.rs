//! Options of the two companions: MegEngine's `DTRConfig` and Paddle's `memory_optimize`.

use super::{Acts, COMMON, DefaultValue, OptionKind, OptionRow, Section, keys};

pub(super) const DTR: &[OptionRow] = &[
    OptionRow {
        key: "dtr.eviction_threshold",
        kind: OptionKind::Bytes { min: 1, max: i64::MAX },
        default: DefaultValue::Int(0),
        unit: Some("bytes"),
        summary: "device memory above which tensors are evicted",
        details: "If an op would reach the threshold, a heuristic evicts resident tensors until memory is below it; \
                  evicted tensors are recomputed on demand. The constructor requires a number > 0 but has the default \
                  0, so omitting it always fails, as does a text such as \"8GB\". The eager megengine.dtr takes \
                  texts, in which KB, MB and GB are powers of 1024. A plan may exceed the threshold if nothing is \
                  evictable.",
        rule: "D1",
        memory_effect: "if set, every graph runs under this budget with simulation.remat_heuristic: evicted tensors \
                        leave feature memory, and recomputations add steps",
        lowers_to: Some("RematRequest::budget"),
        acts: Acts::ON_BUDGETS,
        ..DTR_ROW
    },
    OptionRow {
        key: "dtr.evictee_minimum_size",
        kind: OptionKind::Bytes { min: 0, max: i64::MAX },
        default: DefaultValue::Int(1_048_576),
        unit: Some("bytes"),
        summary: "minimum size of evicted tensors",
        details: "Only tensors of at least this size are candidates, which keeps the search short. The documentation \
                  says that a tensor must exceed it; the code of the static planner takes equal sizes too, that of \
                  the eager interpreter does not. The heuristics of the DTR paper have no such size. Must be >= 0.",
        rule: "D2",
        memory_effect: "with dtr.eviction_threshold set, limits what may be evicted; nothing otherwise",
        lowers_to: Some("DtrFactors::evictee_minimum_size"),
        ..DTR_ROW
    },
    OptionRow {
        key: "dtr.recomp_memory_factor",
        kind: OptionKind::NOT_NEGATIVE,
        default: DefaultValue::Int(1),
        summary: "weight of recomputation memory in the eviction score",
        details: "Exponent of the memory that recomputing the tensor takes: larger values prefer tensors that are \
                  cheap in memory to recompute; 0 ignores memory. Must be >= 0.",
        rule: "D2",
        memory_effect: "with dtr.eviction_threshold set, steers which tensors are evicted; nothing otherwise",
        lowers_to: Some("DtrFactors::recomp_memory_factor"),
        ..DTR_ROW
    },
    OptionRow {
        key: "dtr.recomp_time_factor",
        kind: OptionKind::NOT_NEGATIVE,
        default: DefaultValue::Int(1),
        summary: "weight of recomputation time in the eviction score",
        details: "Exponent of the estimated recomputation time: larger values prefer tensors that are fast to \
                  recompute; 0 ignores time. Must be >= 0.",
        rule: "D2",
        memory_effect: "with dtr.eviction_threshold set, steers which tensors are evicted; nothing otherwise",
        lowers_to: Some("DtrFactors::recomp_time_factor"),
        ..DTR_ROW
    },
];

pub(super) const MEMORY_OPTIMIZE: &[OptionRow] = &[
    OptionRow {
        key: "memory_optimize.skip_opt_set",
        kind: OptionKind::List,
        summary: "variables excluded from reuse",
        details: "A set or a list of names (or variables); a tuple or a text is refused, the one-name example of the \
                  guide included. Names match exactly: fc does not protect fc_0.tmp_0. Unknown names are ignored and an \
                  empty list protects nothing. A variable that is fetched and also read by a later op should be listed \
                  here, or it may be overwritten.",
        rule: "M2",
        memory_effect: "set, variables of each graph share memory by name, but for these",
        lowers_to: Some("NameReuseRequest::skip"),
        ..MEMORY_OPTIMIZE_ROW
    },
    OptionRow {
        key: "memory_optimize.print_log",
        kind: OptionKind::Bool,
        default: DefaultValue::Bool(false),
        summary: "whether reuse decisions are logged",
        details: "On, every hit and every reason against one goes to standard output, one line each. Hits are counted \
                  from 0 again for each control-flow graph. It changes nothing about the result.",
        memory_effect: "set, memory_optimize is called, with level 0 unless memory_optimize.level sets another value; \
                        the log itself changes nothing",
        lowers_to: Some("Lowered::reuses_names"),
        acts: Acts::ON_GRAPHS,
        ..MEMORY_OPTIMIZE_ROW
    },
    OptionRow {
        key: "memory_optimize.level",
        kind: OptionKind::IntChoice(&[
            (0, "only variables of the same shape share memory"),
            (1, "any slot with enough elements, smallest first"),
        ]),
        default: DefaultValue::Int(0),
        summary: "required similarity of variables that share memory",
        details: "Level 0 wants the same shape; level 1 also takes a slot that is larger. Data types must agree \
                  under both, and so must whether the first dimension is unknown (-1) under level 1. Any other level \
                  is refused.",
        rule: "M1",
        memory_effect: "set, variables of each graph share memory by name, as many as the level allows",
        lowers_to: Some("NameReuseRequest::level"),
        acts: Acts::ON_GRAPHS,
        ..MEMORY_OPTIMIZE_ROW
    },
    OptionRow {
        key: "memory_optimize.skip_grads",
        kind: OptionKind::Bool,
        default: DefaultValue::Bool(false),
        summary: "whether parameter gradients are excluded from reuse",
        details: "On, the gradients that the optimizer ops consume are protected, as if listed in skip_opt_set. The \
                  guide speaks of the whole backward part, which the code does not do. Every optimizer op must then \
                  carry the attribute op_role_var.",
        memory_effect: "set, variables of each graph share memory by name; on, not the gradients that optimizers read",
        lowers_to: Some("NameReuseRequest::skip_grads"),
        ..MEMORY_OPTIMIZE_ROW
    },
];

const DTR_ROW: OptionRow = OptionRow {
    section: Section::Dtr,
    acts: Acts::ON_BUDGETS.with(&[keys::EVICTION_THRESHOLD]),
    source: "MegEngine DTRConfig; seq_dtr.cpp",
    ..COMMON
};

const MEMORY_OPTIMIZE_ROW: OptionRow = OptionRow {
    section: Section::MemoryOptimize,
    acts: Acts::ON_NAMES,
    source: "memory_optimize guide; Paddle memory_optimization_transpiler.py",
    ..COMMON
};
