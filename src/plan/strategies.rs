//! The table of placement strategies, and the function that runs a row.

use super::better::Better;
use super::engine::Assigner;
use super::gap_fit::Measure;
use super::gaps::Fit;
use super::problem::{Limits, Placement, PlacementProblem, Plan, PlanError, Planned, Task};
use super::{as_dumped, best, best_fit, engine, exact, gap_fit, hill_climb, naive, shared, skyline};
use highwater_model::progress::Progress;
use highwater_model::workload::{AllocationOrder, LOG_MAKER, RecordedPlan};

#[derive(Clone, Copy, Debug)]
pub struct Strategy {
    /// Name on the command line.
    pub name: &'static str,
    /// Name in the window.
    pub label: &'static str,
    /// One sentence for help texts.
    pub summary: &'static str,
    pub effort: Effort,
    pub(super) place: fn(&Task<'_>) -> Result<Placement, PlanError>,
}

impl PartialEq for Strategy {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Strategy {}

/// Cost of a strategy, which decides where it is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effort {
    /// O(n log n): for any number of buffers.
    Sweep,
    /// More than that, without a search: up to about a hundred thousand buffers.
    Heuristic,
    /// A search under the node limit.
    Search,
    /// Reads the plan recorded in the source.
    Recorded,
}

/// The line-up, which keeps the smallest footprint.
pub const BEST: &str = "best";

/// The exact search.
pub const EXACT: &str = "exact";

/// Never reuses memory.
pub const NO_REUSE: &str = "naive";

/// For static arenas, unless the user chooses another.
pub const DEFAULT: &str = "ge_default";

/// The plan recorded in the source.
pub const AS_DUMPED: &str = "as_dumped";

/// The plan recorded in a log.
pub const AS_LOGGED: &str = "log";

pub const STRATEGIES: &[Strategy] = &[
    Strategy {
        name: BEST,
        label: "best",
        summary: "exact where that can be proved, else the best of all others, improved until the node limit",
        effort: Effort::Search,
        place: best::place,
    },
    Strategy {
        name: EXACT,
        label: "exact",
        summary: "branch and bound: the smallest footprint, proved within the node limit where that can be done",
        effort: Effort::Search,
        place: exact::place,
    },
    Strategy {
        name: "greedy_by_size",
        label: "greedy by size",
        summary: "the largest buffer first, into the smallest gap that fits",
        effort: Effort::Heuristic,
        place: gap_fit::greedy_by_size,
    },
    Strategy {
        name: NO_REUSE,
        label: "naive",
        summary: "no reuse: every buffer behind the one before",
        effort: Effort::Sweep,
        place: naive::place,
    },
    Strategy {
        name: "first_fit",
        label: "first fit",
        summary: "in order of birth, each buffer into the lowest gap that takes it",
        effort: Effort::Heuristic,
        place: gap_fit::first_fit,
    },
    Strategy {
        name: "best_fit",
        label: "best fit",
        summary: "in order of birth, each buffer into the smallest gap, as an allocator that merges free ranges",
        effort: Effort::Sweep,
        place: best_fit::place,
    },
    Strategy {
        name: "greedy_by_breadth",
        label: "greedy by breadth",
        summary: "the fullest steps first, of each the largest buffer first, into the smallest gap that fits",
        effort: Effort::Heuristic,
        place: gap_fit::greedy_by_breadth,
    },
    Strategy {
        name: "gap_first_size",
        label: "lowest gap, by size",
        summary: "the largest buffer first, into the lowest gap that takes it; the longer life on a tie",
        effort: Effort::Heuristic,
        place: |task| gap_fit::plain(task, Fit::First, Measure::Size),
    },
    Strategy {
        name: "gap_first_area",
        label: "lowest gap, by area",
        summary: "the largest size x life first, into the lowest gap that takes it",
        effort: Effort::Heuristic,
        place: |task| gap_fit::plain(task, Fit::First, Measure::Area),
    },
    Strategy {
        name: "gap_first_width",
        label: "lowest gap, by width",
        summary: "the longest life first, into the lowest gap that takes it",
        effort: Effort::Heuristic,
        place: |task| gap_fit::plain(task, Fit::First, Measure::Life),
    },
    Strategy {
        name: "gap_best_size",
        label: "smallest gap, by size",
        summary: "the largest buffer first, into the smallest gap that takes it; the longer life on a tie",
        effort: Effort::Heuristic,
        place: |task| gap_fit::plain(task, Fit::Best, Measure::Size),
    },
    Strategy {
        name: "gap_best_area",
        label: "smallest gap, by area",
        summary: "the largest size x life first, into the smallest gap that takes it",
        effort: Effort::Heuristic,
        place: |task| gap_fit::plain(task, Fit::Best, Measure::Area),
    },
    Strategy {
        name: "gap_best_width",
        label: "smallest gap, by width",
        summary: "the longest life first, into the smallest gap that takes it",
        effort: Effort::Heuristic,
        place: |task| gap_fit::plain(task, Fit::Best, Measure::Life),
    },
    Strategy {
        name: "skyline",
        label: "skyline",
        summary: "the longest life first, each buffer on top of everything placed on its steps",
        effort: Effort::Sweep,
        place: skyline::place,
    },
    Strategy {
        name: "shared_by_size",
        label: "shared objects, size",
        summary: "whole objects shared by buffers that are never live together, the largest buffer first",
        effort: Effort::Heuristic,
        place: shared::by_size,
    },
    Strategy {
        name: "shared_by_breadth",
        label: "shared objects, breadth",
        summary: "whole objects shared by buffers that are never live together, the fullest steps first",
        effort: Effort::Heuristic,
        place: shared::by_breadth,
    },
    Strategy {
        name: "shared_min_cost_flow",
        label: "shared objects, flow",
        summary: "whole objects passed on so that they grow least in sum",
        effort: Effort::Heuristic,
        place: shared::min_cost_flow,
    },
    Strategy {
        name: "hill_climb",
        label: "hill climb",
        summary: "greedy by size, then whoever blocks the highest buffer goes behind it, again and again",
        effort: Effort::Search,
        place: hill_climb::place,
    },
    Strategy {
        name: DEFAULT,
        label: "GE default",
        summary: "the vendor's compiler: the smaller plan of its two assigners, binary-block on a tie",
        effort: Effort::Heuristic,
        place: |task| engine::place(task, Assigner::Default),
    },
    Strategy {
        name: "ge_binary",
        label: "GE binary-block",
        summary: "the vendor's compiler: blocks handed on between buffers of one size, smaller blocks nested in larger ones; \
                  fixed buffers keep their place below all others, gaps and groups count as whole rectangles",
        effort: Effort::Heuristic,
        place: |task| engine::place(task, Assigner::Binary),
    },
    Strategy {
        name: "ge_max",
        label: "GE max-block",
        summary: "the vendor's compiler: blocks handed on between all buffers, each as large as its largest one",
        effort: Effort::Heuristic,
        place: |task| engine::place(task, Assigner::Max),
    },
    Strategy {
        name: "ge_no_reuse",
        label: "GE without reuse",
        summary: "the vendor's compiler with disableReuseMemory: a block for every buffer, in order of birth",
        effort: Effort::Heuristic,
        place: |task| engine::place(task, Assigner::NoReuse),
    },
    Strategy {
        name: AS_DUMPED,
        label: "as dumped",
        summary: "the offsets that the source carries: the plan of whoever wrote it",
        effort: Effort::Recorded,
        place: as_dumped::place,
    },
    Strategy {
        name: AS_LOGGED,
        label: "log",
        summary: "the offsets that the log states: the plan of the compiler that wrote it",
        effort: Effort::Recorded,
        place: as_dumped::place,
    },
];

/// # Errors
/// [`PlanError::UnknownStrategy`] lists the known names.
pub fn find(name: &str) -> Result<&'static Strategy, PlanError> {
    STRATEGIES.iter().find(|row| row.name == name).ok_or_else(|| {
        let known: Vec<&str> = STRATEGIES.iter().map(|row| row.name).collect();
        PlanError::UnknownStrategy {
            name: name.to_owned(),
            known: known.join(", "),
        }
    })
}

impl Strategy {
    /// Whether a problem with this recorded plan has the strategy: a plan is that of a log or of another file.
    pub fn suits(&self, recorded: Option<&RecordedPlan>) -> bool {
        self.effort != Effort::Recorded || recorded.is_some_and(|plan| self.name == recorded_name(plan))
    }
}

/// The name of the strategy that gives a recorded plan.
pub fn recorded_name(plan: &RecordedPlan) -> &'static str {
    if plan.maker == LOG_MAKER { AS_LOGGED } else { AS_DUMPED }
}

/// The strategy of static arenas, unless the user chooses another.
pub fn default_strategy() -> &'static Strategy {
    STRATEGIES
        .iter()
        .find(|row| row.name == DEFAULT)
        .unwrap_or(&STRATEGIES[0])
}

/// A problem and the limits of its placement.
#[derive(Clone, Copy, Debug)]
pub struct PlanRequest<'a> {
    pub problem: &'a PlacementProblem,
    /// The plan recorded in the source.
    pub recorded: Option<&'a RecordedPlan>,
    /// The order of allocations and frees, where more is known than their steps; read by the vendor's planner.
    pub order: Option<&'a AllocationOrder>,
    pub limits: Limits<'a>,
}

impl<'a> PlanRequest<'a> {
    /// A problem under the default limits.
    pub fn new(problem: &'a PlacementProblem) -> Self {
        Self {
            problem,
            recorded: None,
            order: None,
            limits: Limits::default(),
        }
    }
}

/// Places a problem by one strategy. Debug builds verify every plan except recorded ones.
///
/// # Errors
/// [`PlanError`]: the problem is contradictory, there is no recorded plan, or the user cancelled.
pub fn plan(
    strategy: &'static Strategy,
    request: &PlanRequest<'_>,
    progress: &Progress<'_>,
) -> Result<Planned, PlanError> {
    let problem = request.problem;
    let shapes = problem.checked(progress)??;
    let lower_bound = shapes.peak_live(progress)?;
    let bound = shapes.bound(progress)?;
    let better = request.limits.watch.map(|watch| Better::new(strategy.name, watch));
    let task = Task {
        problem,
        shapes: &shapes,
        bound: bound.get(),
        recorded: request.recorded,
        order: request.order,
        limits: &request.limits,
        better: better.as_ref(),
        progress,
    };
    progress.check()?;
    let placement = (strategy.place)(&task)?;
    let offsets = if placement.by_buffer {
        placement.offsets
    } else {
        shapes.spread(&placement.offsets)
    };
    progress.check()?;
    let plan = Plan::new(problem, offsets);
    debug_assert!(
        strategy.effort == Effort::Recorded || super::verify(problem, &plan).is_ok(),
        "strategy {}: {:?}",
        strategy.name,
        super::verify(problem, &plan)
    );
    Ok(Planned {
        strategy: strategy.name,
        plan,
        lower_bound,
        proved_bound: bound.max(highwater_model::units::Bytes(placement.bound)),
        n_fixed: problem.n_fixed(),
        nodes: placement.nodes,
        tried: placement.tried,
        regions: placement.regions,
        is_unfinished: false,
    })
}
