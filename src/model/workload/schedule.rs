//! The schedule: which graph runs when, with which values of its symbolic dimensions.
//!
//! In: the number of graphs, iterations, values per dimension. Out: runs in order. Rule: for each
//! iteration, for each graph in order, for each combination of values (the last named dimension
//! varies fastest). Where entries are listed they say instead what an iteration holds ([`ScheduleEntry`]). The step axis is
//! the concatenation of the runs' op steps.

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
    /// Which graph.
    pub graph: GraphIdx,
    /// The training or evaluation iteration, from 0.
    pub iteration: u32,
    /// Values of the symbolic dimensions.
    pub bindings: Bindings,
}

/// Runs in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// The runs; graphs are loaded at their first run and stay loaded, unless a change says otherwise.
    pub runs: Vec<Run>,
    /// Graphs that are loaded or unloaded between runs, ascending by place.
    pub changes: Vec<LoadChange>,
    /// Runs that happen at the same time, by position; ascending, none overlaps another.
    pub groups: Vec<Range<u32>>,
}

/// A graph is loaded or unloaded between two runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadChange {
    /// The position of the run before which it happens; the number of runs at the end.
    pub before: u32,
    /// Which graph.
    pub graph: GraphIdx,
    /// Loaded, not unloaded.
    pub is_load: bool,
}

/// A graph as a schedule sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduledGraph {
    /// Its name, as it is shown.
    pub name: String,
    /// Its symbolic dimensions.
    pub symbols: Vec<String>,
}

/// Values of each symbolic dimension; several values mean one run each.
pub type DimValues = BTreeMap<String, Vec<u64>>;

/// What the user asks for, before it becomes runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchedulePlan {
    /// Iterations, at least 1.
    pub iterations: u32,
    /// Values of symbolic dimensions.
    pub dims: DimValues,
    /// Dimensions whose values belong together, the first of one to the first of the others: whole shapes, instead
    /// of every combination. Their lists are equally long.
    pub together: BTreeSet<String>,
    /// What an iteration holds, in order; every graph once, in order, where there is none.
    pub entries: Vec<ScheduleEntry>,
    /// Names that the user gave to graphs, by the names that they have of themselves.
    pub names: BTreeMap<String, String>,
}

impl Default for SchedulePlan {
    fn default() -> Self {
        Self {
            iterations: 1,
            dims: DimValues::new(),
            together: BTreeSet::new(),
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
    TooManyRuns {
        /// Runs asked for.
        runs: u64,
        /// The limit.
        limit: u64,
    },
    /// An entry of a graph that is not there.
    #[error("the schedule names a graph \"{name}\", and there is none; {known}")]
    UnknownGraph {
        /// The name.
        name: String,
        /// A clause that lists the names there are.
        known: String,
    },
    /// Values for a dimension that the entry's graph does not have.
    #[error("the schedule gives \"{graph}\" values for the dimension \"{dim}\"; {known}")]
    UnknownDim {
        /// The dimension.
        dim: String,
        /// The graph.
        graph: String,
        /// A clause that lists the names there are.
        known: String,
    },
    /// One graph twice in a concurrent group.
    #[error(
        "\"{graph}\" stands twice in concurrent group {group}; one graph at a time with itself is \
         graph_max_parallel_model_num; give it one entry with several values or repeats, or another group"
    )]
    TwiceInGroup {
        /// The graph.
        graph: String,
        /// The group's number.
        group: u32,
    },
    /// A graph that is loaded and never run.
    #[error("the schedule loads \"{graph}\" and never runs it; add a run of it, or take the load away")]
    LoadedOnly {
        /// The graph.
        graph: String,
    },
    /// Entries without a single run.
    #[error("the schedule runs nothing; add a run, or take all entries away to run every graph once")]
    NoRun,
    /// Two graphs with one name.
    #[error("two graphs would be called \"{name}\"; give one of them another name")]
    SameName {
        /// The name.
        name: String,
    },
}

impl SchedulePlan {
    /// Most runs that a schedule may have.
    pub const MAX_RUNS: u64 = 100_000;

    /// The runs of graphs, given each graph's own symbols. A graph without symbols runs once an
    /// iteration; a symbol without values stays unbound.
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
        if runs > Self::MAX_RUNS {
            return Err(ScheduleError::TooManyRuns {
                runs,
                limit: Self::MAX_RUNS,
            });
        }
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

    /// The shapes of dimensions that belong together, each once; one without any where there are none.
    fn shapes(&self, symbols: &[String]) -> Vec<Bindings> {
        let names: Vec<&String> = self.together.iter().filter(|name| symbols.contains(name)).collect();
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
            if !symbols.contains(name) || values.is_empty() || self.together.contains(name) {
                continue;
            }
            let runs = list.len() as u64 * values.len() as u64;
            if runs > Self::MAX_RUNS {
                return Err(ScheduleError::TooManyRuns {
                    runs,
                    limit: Self::MAX_RUNS,
                });
            }
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
    /// Its number of steps.
    pub n_steps: u32,
    /// The run.
    pub run: Run,
    /// By step: the op, where ops are computed anew between others; otherwise each op has one step, in order.
    pub slots: Option<Arc<[SlotOp]>>,
}

/// What a step of a run stands for where ops are computed anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotOp {
    /// The op. Where lanes differ in what they compute anew on this step, the op whose turn comes next.
    pub op: OpId,
    /// Whether it is not the op's own turn: some lane computes something anew before it.
    pub is_recomputed: bool,
}

/// The common step axis of all lanes: runs laid end to end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Axis {
    /// The runs in order.
    pub runs: Vec<AxisRun>,
    /// Steps in sum.
    pub n_steps: u32,
}

impl Axis {
    /// The run that a step belongs to and the op's position in its graph; `None` behind the end.
    /// O(log runs).
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
        plan.together = ["batch", "seq"].map(str::to_owned).into();
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
