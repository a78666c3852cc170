//! The schedule: runs of graphs with values of their symbolic dimensions.
//!
//! In: the number of graphs, iterations, values per dimension. Out: runs in order. Rule: for each iteration, for each
//! graph in order, for each combination of values (the last named dimension varies fastest). Listed entries replace the
//! content of an iteration ([`ScheduleEntry`]). The step axis is the concatenation of the runs' op steps.

mod entries;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

pub use entries::{EntryKind, ScheduleEntry};
pub use text::EntryTextError;

use crate::graph::{Bindings, Id as _, OpId};
use crate::typed_id;
use crate::units::Step;

typed_id!(
    /// A graph of the session, by position.
    GraphIdx
);

/// One execution of one graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    pub graph: GraphIdx,
    /// The training or evaluation iteration, from 0.
    pub iteration: u32,
    /// Values of the symbolic dimensions.
    pub bindings: Bindings,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Graphs are loaded at their first run and stay loaded, unless a change says otherwise.
    pub runs: Vec<Run>,
    /// Loads and unloads between runs, ascending by position.
    pub changes: Vec<LoadChange>,
    /// Concurrent runs, by position; ascending, disjoint.
    pub groups: Vec<Range<u32>>,
}

/// A load or unload between two runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadChange {
    /// The position of the next run; the number of runs at the end.
    pub before: u32,
    pub graph: GraphIdx,
    /// Otherwise an unload.
    pub is_load: bool,
}

/// A graph as input of a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduledGraph {
    /// The name shown to users.
    pub name: String,
    /// Its symbolic dimensions.
    pub symbols: Vec<String>,
}

/// Values of each symbolic dimension; several values mean one run each.
pub type DimValues = BTreeMap<String, Vec<u64>>;

/// The user's schedule, from which runs are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchedulePlan {
    /// At least 1.
    pub iterations: u32,
    /// Values of symbolic dimensions.
    pub dims: DimValues,
    /// Dimensions whose values are combined by position instead of in every combination: whole shapes. Their lists have
    /// equal lengths.
    pub linked_dims: BTreeSet<String>,
    /// Content of an iteration, in order; if empty, every graph once, in order.
    pub entries: Vec<ScheduleEntry>,
    /// Names given by the user, by the graphs' own names.
    pub names: BTreeMap<String, String>,
}

impl Default for SchedulePlan {
    fn default() -> Self {
        Self {
            iterations: 1,
            dims: DimValues::new(),
            linked_dims: BTreeSet::new(),
            entries: Vec::new(),
            names: BTreeMap::new(),
        }
    }
}

/// Why a schedule could not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// More runs than any table or picture can hold.
    #[error("the schedule has {runs} runs, more than the {limit} that are supported; use fewer iterations or values")]
    TooManyRuns { runs: u64, limit: u64 },
    /// An entry of an unknown graph.
    #[error("the schedule names a graph \"{name}\", and there is none; {known}")]
    UnknownGraph {
        name: String,
        /// A clause that lists the known names.
        known: String,
    },
    /// Values for a dimension that the entry's graph does not have.
    #[error("the schedule gives \"{graph}\" values for the dimension \"{dim}\"; {known}")]
    UnknownDim {
        dim: String,
        graph: String,
        /// A clause that lists the known names.
        known: String,
    },
    /// One graph twice in a concurrent group.
    #[error(
        "\"{graph}\" is listed twice in concurrent group {group}; one graph at a time with itself is \
         graph_max_parallel_model_num; give it one entry with several values or repeats, or another group"
    )]
    TwiceInGroup { graph: String, group: u32 },
    /// A graph that is loaded and never run.
    #[error("the schedule loads \"{graph}\" and never runs it; add a run of it, or take the load away")]
    LoadedOnly { graph: String },
    /// Entries without a run.
    #[error("the schedule runs nothing; add a run, or take all entries away to run every graph once")]
    NoRun,
    /// Two graphs with one name.
    #[error("two graphs would be called \"{name}\"; give one of them another name")]
    SameName { name: String },
}

impl SchedulePlan {
    /// Most runs of a schedule.
    pub const MAX_RUNS: u64 = 100_000;

    /// The runs of graphs, given each graph's own symbols. A graph without symbols runs once per iteration; a symbol
    /// without values stays unbound.
    ///
    /// # Errors
    /// [`ScheduleError::TooManyRuns`].
    pub fn schedule(&self, symbols_of_graphs: &[Vec<String>]) -> Result<Schedule, ScheduleError> {
        let combinations: Vec<Vec<Bindings>> = symbols_of_graphs
            .iter()
            .map(|symbols| self.combinations(symbols))
            .collect::<Result<_, _>>()?;
        let per_iteration: u64 = combinations.iter().map(|list| list.len() as u64).sum();
        let runs = per_iteration.saturating_mul(u64::from(self.iterations));
        Self::check_runs(runs)?;
        let mut schedule = Schedule::default();
        for iteration in 0..self.iterations.max(1) {
            for (idx, list) in combinations.iter().enumerate() {
                schedule.runs.extend(list.iter().map(|bindings| Run {
                    graph: GraphIdx::from_idx(idx),
                    iteration,
                    bindings: bindings.clone(),
                }));
            }
        }
        Ok(schedule)
    }

    pub(super) fn check_runs(runs: u64) -> Result<(), ScheduleError> {
        let limit = Self::MAX_RUNS;
        if runs > limit {
            return Err(ScheduleError::TooManyRuns { runs, limit });
        }
        Ok(())
    }

    /// The distinct shapes of linked dimensions; one empty shape without such dimensions.
    fn shapes(&self, symbols: &[String]) -> Vec<Bindings> {
        let names: Vec<&String> = self.linked_dims.iter().filter(|name| symbols.contains(name)).collect();
        let lists: Vec<&Vec<u64>> = names.iter().filter_map(|name| self.dims.get(*name)).collect();
        let n_shapes = lists.iter().map(|values| values.len()).max().unwrap_or(0);
        let mut shapes: Vec<Bindings> = Vec::new();
        for position in 0..n_shapes {
            let values = names.iter().zip(&lists);
            let shape: Bindings = values
                .filter_map(|(name, values)| Some(((*name).clone(), *values.get(position)?)))
                .collect();
            if !shapes.contains(&shape) {
                shapes.push(shape);
            }
        }
        if shapes.is_empty() {
            vec![Bindings::new()]
        } else {
            shapes
        }
    }

    fn combinations(&self, symbols: &[String]) -> Result<Vec<Bindings>, ScheduleError> {
        let mut list = self.shapes(symbols);
        for (name, values) in &self.dims {
            if !symbols.contains(name) || values.is_empty() || self.linked_dims.contains(name) {
                continue;
            }
            let runs = list.len() as u64 * values.len() as u64;
            Self::check_runs(runs)?;
            list = list
                .iter()
                .flat_map(|bindings| {
                    values.iter().map(move |value| {
                        let mut next = bindings.clone();
                        next.insert(name.clone(), *value);
                        next
                    })
                })
                .collect();
        }
        Ok(list)
    }
}

/// A run's place on the step axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisRun {
    /// The first step of the run on the common axis.
    pub start: Step,
    pub n_steps: u32,
    pub run: Run,
    /// The op of each step, where ops are recomputed between others; otherwise each op has one step, in order.
    pub slots: Option<Arc<[SlotOp]>>,
}

/// The op of a step where ops are recomputed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotOp {
    /// Where lanes recompute different ops on this step, the next op in order.
    pub op: OpId,
    /// Whether some lane recomputes an op on this step, before the step of `op` itself.
    pub is_recomputed: bool,
}

/// The common step axis of all lanes: concatenated runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Axis {
    /// The runs in order.
    pub runs: Vec<AxisRun>,
    /// Total steps.
    pub n_steps: u32,
}

impl Axis {
    /// One run of graph 0 over all steps, without values of dimensions.
    pub fn single(n_steps: u32) -> Self {
        Self {
            n_steps,
            runs: vec![AxisRun {
                start: Step(0),
                n_steps,
                run: Run {
                    graph: GraphIdx(0),
                    iteration: 0,
                    bindings: Bindings::new(),
                },
                slots: None,
            }],
        }
    }

    /// The run of a step and the op's position in its graph; `None` beyond the end. O(log runs).
    pub fn locate(&self, step: Step) -> Option<(usize, OpId)> {
        let idx = self.runs.partition_point(|run| run.start <= step).checked_sub(1)?;
        let run = &self.runs[idx];
        let inside = step.0 - run.start.0;
        let op = match &run.slots {
            None => OpId(inside),
            Some(slots) => slots.get(inside as usize)?.op,
        };
        (inside < run.n_steps).then_some((idx, op))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_belong_together_are_shapes_and_no_grid() {
        let mut plan = SchedulePlan::default();
        for (name, values) in [("batch", [1, 2, 2]), ("seq", [8, 16, 16]), ("beam", [3, 4, 5])] {
            plan.dims.insert(name.to_owned(), values.to_vec());
        }
        plan.linked_dims = ["batch", "seq"].map(str::to_owned).into();
        let runs = |symbols: &[&str]| {
            let symbols: Vec<String> = symbols.iter().map(|name| (*name).to_owned()).collect();
            plan.schedule(&[symbols]).expect("few runs").runs
        };
        let shapes: Vec<Vec<u64>> = runs(&["batch", "seq"])
            .iter()
            .map(|run| run.bindings.values().copied().collect())
            .collect();
        assert_eq!(shapes, [[1, 8], [2, 16]], "each shape once");
        assert_eq!(runs(&["batch"]).len(), 2);
        assert_eq!(runs(&["batch", "seq", "beam"]).len(), 6);
        assert_eq!(runs(&[]).len(), 1);
    }
}
