//! A step identified by its op, so that it can be found on another axis of the same graphs.
//!
//! With other recomputations or iterations the axis has other step numbers, while "op 40 in the second run of the
//! graph" is the same moment everywhere.

use serde::{Deserialize, Serialize};

use highwater_analysis::Comparison;
use highwater_model::graph::{Id as _, OpId};
use highwater_model::units::Step;
use highwater_model::workload::AxisRun;

/// The execution of an op, or one of the recomputations before it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OpOccurrence {
    pub graph: String,
    pub iteration: u32,
    /// Number of the graph's run within the iteration: there may be one per shape.
    pub run: u32,
    /// Position of the op in its program.
    pub op: u32,
    /// Number of recomputation steps until the op executes; 0 is the op itself.
    pub ahead: u32,
}

impl OpOccurrence {
    /// `None` beyond the end. O(runs + steps of the run).
    pub fn of(comparison: &Comparison, step: Step) -> Option<Self> {
        let (place, op) = comparison.axis.locate(step)?;
        let run = &comparison.axis.runs[place];
        let (graph, iteration) = (graph_of(comparison, run), run.run.iteration);
        let earlier = comparison.axis.runs[..place].iter();
        let alike = earlier.filter(|run| run.run.iteration == iteration && graph_of(comparison, run) == graph);
        Some(Self {
            graph: graph.to_owned(),
            iteration,
            run: u32::try_from(alike.count()).unwrap_or(u32::MAX),
            op: op.0,
            ahead: own_step(run, op).map_or(0, |own| own.saturating_sub(step.0 - run.start.0)),
        })
    }

    /// The step in another comparison; `None` if it has no such op. If fewer than `ahead` recomputations precede it,
    /// the first of them. O(runs + steps of the run).
    pub fn step(&self, comparison: &Comparison) -> Option<Step> {
        let runs = comparison.axis.runs.iter();
        let mut alike =
            runs.filter(|run| run.run.iteration == self.iteration && graph_of(comparison, run) == self.graph);
        let run = alike.nth(self.run as usize)?;
        let own = own_step(run, OpId::from_idx(self.op as usize))?;
        let before = run.slots.as_deref().unwrap_or(&[]).get(..own as usize).unwrap_or(&[]);
        let recomputed = before.iter().rev().take_while(|slot| slot.is_recomputed).count();
        let ahead = self.ahead.min(u32::try_from(recomputed).unwrap_or(u32::MAX));
        Some(Step(run.start.0 + own - ahead))
    }
}

fn graph_of<'a>(comparison: &'a Comparison, run: &AxisRun) -> &'a str {
    let name = comparison.session_of(0).graph_name(run.run.graph);
    name.unwrap_or_default()
}

/// The step within its run on which an op is not recomputed.
fn own_step(run: &AxisRun, op: OpId) -> Option<u32> {
    match run.slots.as_deref() {
        None => (op.0 < run.n_steps).then_some(op.0),
        Some(slots) => {
            let own = slots.iter().position(|slot| slot.op == op && !slot.is_recomputed)?;
            u32::try_from(own).ok()
        }
    }
}
