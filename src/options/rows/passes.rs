//! highwater's own options: how a graph is run under a memory budget.

use super::simulation::OWN;
use super::{Acts, Choice, DefaultValue, OptionKind, OptionRow, keys};
use highwater_rewrite::remat::{DEFAULT_HEURISTIC, HEURISTICS};

pub(super) const ROWS: &[OptionRow] = &[
    OptionRow {
        key: keys::REMAT_HEURISTIC,
        kind: OptionKind::TextChoice(&HEURISTIC_CHOICES),
        default: DefaultValue::Text(DEFAULT_HEURISTIC),
        summary: "eviction heuristic under dtr.eviction_threshold",
        details: "The default, MegEngine's static planner, is what DTRConfig configures. For comparison: MegEngine's \
                  eager interpreter, and the heuristics of the DTR paper, which decide at run time and run out of \
                  memory if nothing is evictable.",
        lowers_to: Some("RematRequest::heuristic"),
        acts: UNDER_BUDGET,
        memory_effect: "with dtr.eviction_threshold set, decides which tensors are evicted and recomputed; nothing \
                        otherwise",
        ..OWN
    },
    OptionRow {
        key: keys::THRASH_LIMIT,
        kind: OptionKind::NOT_NEGATIVE,
        default: DefaultValue::Int(1),
        summary: "limit of recomputation cost before a run counts as thrashing",
        details: "In units of the cost of the program without a budget: at 1, a run stops once it has spent more time on \
                  recomputation than on the program itself. MegEngine's planner has no such limit and may go on for \
                  exponentially long.",
        lowers_to: Some("RematRequest::thrash_limit"),
        acts: UNDER_BUDGET,
        memory_effect: "with dtr.eviction_threshold set, where a run is given up as thrashing; nothing otherwise",
        ..OWN
    },
    OptionRow {
        key: keys::FREE_NEIGHBORS,
        kind: OptionKind::TextChoice(&[
            ("zero", "no free bytes next to a tensor"),
            ("arena", "gaps of an arena: lowest address first, no alignment"),
        ]),
        default: DefaultValue::Text("zero"),
        summary: "source of free bytes next to a tensor, for MegEngine's eager interpreter",
        details: "Its score counts the free bytes next to a tensor, because eviction merges them. The real \
                  allocator's gaps depend on the device.",
        lowers_to: Some("RematRequest::free_neighbors"),
        acts: UNDER_BUDGET,
        memory_effect: "with simulation.remat_heuristic at megengine_eager, the choice of what is evicted; nothing \
                        otherwise",
        ..OWN
    },
    OptionRow {
        key: keys::REMAT_SEED,
        kind: OptionKind::Int { min: 0, max: i64::MAX },
        default: DefaultValue::Int(0),
        summary: "the seed of the heuristic random",
        details: "Equal seeds make equal decisions. The other heuristics draw nothing.",
        lowers_to: Some("RematRequest::seed"),
        acts: UNDER_BUDGET,
        memory_effect: "with simulation.remat_heuristic at random, the choice of what is evicted; nothing otherwise",
        ..OWN
    },
    OptionRow {
        key: keys::FLOPS_PER_SECOND,
        kind: OptionKind::Int { min: 1, max: i64::MAX },
        unit: Some("operations a second"),
        summary: "the estimated rate of floating point operations, for the cost of recomputing ops",
        details: "An op whose time the source does not state takes simulation.op_launch_ns and the larger of its \
                  operations over this rate and its bytes over simulation.op_bytes_per_second. Unset, the device \
                  profile applies.",
        lowers_to: Some("OpRates::flops_per_second"),
        acts: UNDER_BUDGET,
        memory_effect: "the estimated cost of recomputation, which most heuristics weigh",
        is_estimate: true,
        ..OWN
    },
    OptionRow {
        key: keys::OP_BYTES_PER_SECOND,
        kind: OptionKind::Int { min: 1, max: i64::MAX },
        unit: Some("bytes a second"),
        summary: "the estimated bandwidth of ops, for the cost of recomputing them",
        details: "An op whose time the source does not state takes simulation.op_launch_ns and the larger of its \
                  operations over simulation.flops_per_second and its bytes, read and written, over this bandwidth. \
                  Unset, the device profile applies.",
        lowers_to: Some("OpRates::bytes_per_second"),
        acts: UNDER_BUDGET,
        memory_effect: "the estimated cost of recomputation, which most heuristics weigh",
        is_estimate: true,
        ..OWN
    },
    OptionRow {
        key: keys::OP_LAUNCH_NS,
        kind: OptionKind::Int { min: 0, max: i64::MAX },
        default: DefaultValue::Int(0),
        unit: Some("ns"),
        summary: "fixed time per op, for the cost of recomputation",
        details: "It is added to the estimated time of each op that computes or moves anything; an op whose time the \
                  source states takes that time alone, and one that only makes views takes none. At 0 time is \
                  proportional to work, which makes small ops too short. simulation.launch_ns, the device's figure, \
                  counts clears; what an op takes besides its work also depends on the host and the framework, so it \
                  is not taken from there: a measured run teaches it (\"learn\").",
        lowers_to: Some("OpRates::launch"),
        acts: UNDER_BUDGET,
        memory_effect: "the estimated cost of recomputation, which most heuristics weigh",
        is_estimate: true,
        ..OWN
    },
    OptionRow {
        key: keys::NAME_REUSE_VERSION,
        kind: OptionKind::TextChoice(&[
            (
                "1.2",
                "Paddle 1.0 to 1.2: slots in the order in which they became free, other data types at level 1",
            ),
            ("1.3", "Paddle 1.3 in development: data types are not compared"),
            ("1.5", "Paddle 1.4 and 1.5: sorted slots of the same data type"),
            ("1.6", "Paddle 1.6 and later: the call warns and does nothing"),
        ]),
        default: DefaultValue::Text("1.5"),
        summary: "the version of Paddle whose memory_optimize is simulated",
        details: "The pass changed from version to version, and was switched off in 1.6. Only 1.4 and 1.5 are documented \
                  in full; of the others the known differences are simulated.",
        lowers_to: Some("NameReuseRequest::version"),
        acts: Acts::ON_NAMES.with(&[
            keys::SKIP_OPT_SET,
            keys::PRINT_LOG,
            keys::MEMORY_OPTIMIZE_LEVEL,
            keys::SKIP_GRADS,
        ]),
        memory_effect: "with a memory_optimize option set, which variables share memory; nothing otherwise",
        ..OWN
    },
];

const UNDER_BUDGET: Acts = Acts::ON_BUDGETS.with(&[keys::EVICTION_THRESHOLD]);

const HEURISTIC_CHOICES: [Choice<&'static str>; HEURISTICS.len()] = {
    let mut choices = [("", ""); HEURISTICS.len()];
    let mut row = 0;
    while row < HEURISTICS.len() {
        choices[row] = (HEURISTICS[row].name, HEURISTICS[row].summary);
        row += 1;
    }
    choices
};

/// The choice of `simulation.free_neighbors` that simulates an arena.
pub(crate) const ARENA: &str = "arena";
