//! The data of the page's script: the curves of each lane in columns, with exact bytes, steps and ops.
//!
//! Up to a thousand steps have a column each; a column of several steps has their largest bytes and the step of these. Tables and
//! drawings of the page have the same information.

use indexmap::IndexSet;
use serde::Serialize;

use super::Report;
use crate::svg::{LEFT, RIGHT};
use highwater_analysis::LaneKind;
use highwater_model::units::Step;
use highwater_model::workload::AxisRun;
use highwater_timeline::{Curve, peak_step, step_facts};

/// A drawing of the page: a lane and its steps, half-open.
pub(super) struct Shown {
    pub(super) lane: usize,
    pub(super) start: u32,
    pub(super) end: u32,
}

/// Up to so many runs, each is visible in the drawing of the whole lane.
const FEW_RUNS: usize = 8;

const MOST_COLUMNS: u32 = 1000;

#[derive(Serialize)]
struct Data {
    word: &'static str,
    left: f64,
    right: f64,
    ops: Vec<String>,
    lanes: Vec<LaneData>,
}

#[derive(Serialize)]
struct LaneData {
    reserved: bool,
    live: bool,
    /// The step on which the lane runs out of memory; later steps do not run.
    stops: Option<u32>,
    /// First and last step, reserved bytes with their step, live bytes with their step, op.
    columns: Vec<[u64; 7]>,
}

impl Report<'_> {
    /// The drawings of the page, in order: each lane, then the iteration of the peak, where it has a drawing.
    pub(super) fn shown(&self) -> Vec<Shown> {
        let end = self.subject.timeline.n_steps;
        let whole = |lane| Shown { lane, start: 0, end };
        let lanes = self.lanes().into_iter().map(whole);
        lanes.chain(self.close_up()).collect()
    }

    /// The iteration of the base lane's peak, where the lane has too many runs for one to be visible.
    pub(super) fn close_up(&self) -> Option<Shown> {
        let runs = &self.comparison.axis.runs;
        if runs.len() <= FEW_RUNS {
            return None;
        }
        let step = peak_step(self.comparison, self.base)?;
        let (position, _) = self.comparison.axis.locate(step)?;
        let iteration = runs[position].run.iteration;
        let is_it = |run: &&AxisRun| run.run.iteration == iteration;
        let (first, last) = (runs.iter().find(is_it)?, runs.iter().rfind(is_it)?);
        Some(Shown {
            lane: self.base,
            start: first.start.0,
            end: last.start.0 + last.n_steps,
        })
    }

    /// The element with the data of the script.
    pub(super) fn data(&self) -> String {
        let mut ops = IndexSet::new();
        let shown = self.shown().into_iter();
        let lanes = shown.map(|shown| self.lane_data(&shown, &mut ops)).collect();
        let data = Data {
            word: self.comparison.axis_word(),
            left: LEFT,
            right: RIGHT,
            lanes,
            ops: ops.into_iter().collect(),
        };
        let json = serde_json::to_string(&data).unwrap_or_default();
        // No text may close the element.
        let json = json
            .replace('<', "\\u003c")
            .replace('>', "\\u003e")
            .replace('&', "\\u0026");
        format!("<script type=\"application/json\" id=\"hw-data\">{json}</script>\n")
    }

    fn lane_data(&self, shown: &Shown, ops: &mut IndexSet<String>) -> LaneData {
        let Shown { lane, start, end } = *shown;
        let view = &self.subject.timeline.lanes[lane];
        let (reserved, live) = self.comparison.states(lane);
        let n_steps = end - start;
        let n_columns = n_steps.min(MOST_COLUMNS);
        let border = |column: u32| {
            let inside = u64::from(column) * u64::from(n_steps) / u64::from(n_columns.max(1));
            u64::from(start) + inside
        };
        let columns = (0..n_columns).map(|column| {
            let (first, end) = (border(column), border(column + 1));
            let most = |curve: &Curve| {
                let found = usize::try_from(first).ok().zip(usize::try_from(end).ok());
                let found = found.and_then(|(first, end)| curve.highest(first, end));
                found.map_or((first, 0), |(step, bytes)| (u64::from(step), bytes))
            };
            let (reserved_step, reserved) = most(&view.reserved);
            let (live_step, live) = most(&view.live);
            let op = self.op_text(u32::try_from(live_step).unwrap_or(u32::MAX));
            let (op, _) = ops.insert_full(op);
            [first, end - 1, reserved, reserved_step, live, live_step, op as u64]
        });
        // A recorded run goes on after a failed request.
        let row = &self.comparison.lanes[lane];
        let failed = row.simulation.out_of_memory.as_ref().filter(|_| !row.is_measured());
        LaneData {
            reserved,
            live,
            stops: failed.map(|failed| failed.step.0),
            columns: columns.collect(),
        }
    }

    /// Type and name of a step's op; empty where the step has no op.
    fn op_text(&self, step: u32) -> String {
        if self.comparison.lane_kind() == LaneKind::Recordings {
            return String::new();
        }
        let facts = step_facts(self.comparison, Step(step));
        facts.map_or_else(String::new, |facts| facts.kind_and_name())
    }
}
