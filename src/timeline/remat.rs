//! Rematerialization in a lane: marks, eviction intervals, the planner's count of bytes, counters.
//!
//! ```text
//! axis      0   1   2   3   4   5        op 0 is evicted to make room for op 2 and recomputed before op 3
//! marks             E   R
//! op 0      ======  //  =====            an interval between its eviction and its recomputation
//! bands                 ---              steps on which an op is recomputed
//! ```
//!
//! In: the rewrite of a lane, and the axis. Out: a [`LaneRemat`]. Eager evictions and frees are counted but make no
//! marks. Counts per pixel column are exact.

mod facts;
mod mark;
mod outcome;

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

use super::Selected;
use super::bands::{consecutive, within};
use super::curve::Curve;
use super::tally::EventTally;
use highwater_analysis::{LaneRewrite, RunRemat};
use highwater_model::graph::TensorId;
use highwater_model::units::{Bytes, Nanos, Step};
use highwater_model::workload::{Axis, AxisRun, GraphIdx};
use highwater_rewrite::remat::{RematKind, RematStatus};

pub use facts::RematFacts;
pub use mark::{
    Eviction, EvictionInterval, RecomputationCost, Recomputed, RematColumn, RematCounters, RematMark, RematMarkCounts,
    RematMarkKind,
};
pub use outcome::{RematOomReport, RematOutcome, RematSums};

#[derive(Clone, Debug, PartialEq)]
struct RunPlace {
    start: u32,
    n_steps: u32,
    graph: GraphIdx,
    remat: Option<Arc<RunRemat>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct LaneRemat {
    /// By step.
    pub marks: Vec<RematMark>,
    /// By tensor and step.
    pub eviction_intervals: Vec<EvictionInterval>,
    /// By step.
    pub evictions: Vec<Eviction>,
    pub recomputed: Vec<Recomputed>,
    /// Ranges of steps on which ops are recomputed, half-open.
    pub bands: Vec<(Step, Step)>,
    /// Bytes in use as the planner counts them.
    pub usage: Curve,
    /// All runs have the same.
    pub budget: Option<Bytes>,
    runs: Vec<RunPlace>,
    tally: EventTally<{ RematMarkKind::ALL.len() }>,
    /// The sum of the times before each entry of `recomputed`, and the total.
    time_before: Vec<u64>,
}

impl Deref for LaneRemat {
    type Target = EventTally<{ RematMarkKind::ALL.len() }>;

    fn deref(&self) -> &Self::Target {
        &self.tally
    }
}

impl LaneRemat {
    /// O(events + steps), plus a sort.
    pub fn new(rewrite: &LaneRewrite, axis: &Axis) -> Self {
        let place = |(position, run): (usize, &AxisRun)| RunPlace {
            start: run.start.0,
            n_steps: run.n_steps,
            graph: run.run.graph,
            remat: rewrite.remat.get(position).cloned().flatten(),
        };
        let runs: Vec<RunPlace> = axis.runs.iter().enumerate().map(place).collect();
        let of_runs = || (0_u32..).zip(&runs);
        let mut marks: Vec<RematMark> = of_runs().flat_map(|(run, place)| place.marks(run)).collect();
        marks.sort_by_key(|mark| (mark.step, mark.run, mark.event));
        let mut eviction_intervals: Vec<EvictionInterval> = of_runs()
            .flat_map(|(run, place)| place.eviction_intervals(run))
            .collect();
        eviction_intervals.sort_unstable();
        let recomputed: Vec<Recomputed> = of_runs().flat_map(|(run, place)| place.recomputed(run)).collect();
        let mut tally = EventTally::default();
        for mark in &marks {
            tally.add(mark.step.0, mark.kind as usize);
        }
        let mut time_before = vec![0_u64];
        let mut time = 0_u64;
        time_before.extend(recomputed.iter().map(|op| {
            time = time.saturating_add(op.time.0);
            time
        }));
        let budget = runs.iter().find_map(|run| run.remat.as_ref()?.answer.budget);
        Self {
            bands: consecutive(recomputed.iter().map(|op| op.step)),
            usage: Curve::new(&usage(&runs, axis.n_steps)),
            evictions: evictions(&marks),
            marks,
            eviction_intervals,
            recomputed,
            budget,
            runs,
            tally,
            time_before,
        }
    }

    /// The marks between two steps, both included. O(log marks).
    pub fn marks_within(&self, steps: (Step, Step)) -> &[RematMark] {
        let low = self.marks.partition_point(|mark| mark.step < steps.0);
        let high = self.marks.partition_point(|mark| mark.step <= steps.1);
        self.marks.get(low..high).unwrap_or(&[])
    }

    /// O(log intervals).
    pub fn eviction_intervals_of(&self, tensor: Selected) -> &[EvictionInterval] {
        let intervals = &self.eviction_intervals;
        let low = intervals.partition_point(|interval| interval.tensor < tensor);
        let high = intervals.partition_point(|interval| interval.tensor <= tensor);
        intervals.get(low..high).unwrap_or(&[])
    }

    pub fn evicted_mark(&self, eviction: &Eviction) -> &RematMark {
        &self.marks[eviction.evicted]
    }

    pub fn recomputed_mark(&self, eviction: &Eviction) -> Option<&RematMark> {
        self.marks.get(eviction.recomputed?)
    }

    /// The ops recomputed to get an evicted tensor back, and their time; `None` where nothing was recomputed for it.
    /// O(log ops).
    pub fn cost(&self, eviction: &Eviction) -> Option<RecomputationCost> {
        let mark = self.recomputed_mark(eviction)?;
        // The op was recomputed for another of its results.
        if mark.kind == RematMarkKind::Sibling {
            return None;
        }
        let (_, remat) = self.remat_of(mark.run)?;
        let chain = remat.answer.events.get(mark.event as usize)?.chain;
        // The ops of a chain are recomputed one after the other, the tensor's own op last.
        let behind = self.recomputed.partition_point(|op| op.step <= mark.step);
        let first = behind.saturating_sub(chain as usize);
        Some(RecomputationCost {
            n_ops: chain,
            time: Nanos(self.time_before[behind].saturating_sub(self.time_before[first])),
        })
    }

    /// The bands that meet the steps `t0..t1`.
    pub fn bands_within(&self, t0: f64, t1: f64) -> &[(Step, Step)] {
        within(&self.bands, |band| *band, t0, t1)
    }

    /// Counters of the run of a step, up to and including it.
    #[expect(clippy::cast_precision_loss, reason = "a share for people")]
    pub fn counters(&self, step: Step) -> RematCounters {
        let of_place = |place: &RunPlace| Some((place.start, place.remat.clone()?));
        let Some((start, remat)) = self.run_at(step).and_then(of_place) else {
            return RematCounters::default();
        };
        let until = self.tally.until(step.0);
        // A run of zero steps may put its marks onto the first step of the next run, which counts them.
        let before = start.checked_sub(1).map(|step| self.tally.until(step));
        let before = before.unwrap_or_default();
        let position = |bound: u32| self.recomputed.partition_point(|op| op.step.0 < bound);
        let (first, behind) = (position(start), position(step.0.saturating_add(1)));
        let time = self.time_before[behind].saturating_sub(self.time_before[first]);
        let evict = RematMarkKind::Evict as usize;
        RematCounters {
            evictions: until[evict].saturating_sub(before[evict]),
            recomputed: u32::try_from(behind - first).unwrap_or(u32::MAX),
            time: Nanos(time),
            share: time as f64 / (remat.answer.base_compute.0.max(1)) as f64,
            limit: remat.thrash_limit,
        }
    }

    pub fn recomputed_at(&self, step: Step) -> Option<&Recomputed> {
        let position = self.recomputed.binary_search_by_key(&step, |op| op.step).ok()?;
        self.recomputed.get(position)
    }

    /// Whether the lane is idle on a step, because other lanes recompute there.
    pub fn waits_at(&self, step: Step) -> bool {
        self.run_at(step).is_some_and(|place| {
            let remat = place.remat.as_ref();
            remat.is_some_and(|remat| remat.slot_at(step.0 - place.start).is_none())
        })
    }

    pub fn op_name(&self, recomputed: &Recomputed) -> &str {
        let remat = self.remat_of(recomputed.run);
        let op = remat.and_then(|(_, remat)| remat.tape.tape.ops.get(recomputed.op as usize));
        op.map_or("", |op| &op.name)
    }

    fn run_at(&self, step: Step) -> Option<&RunPlace> {
        let position = self.runs.partition_point(|run| run.start <= step.0).checked_sub(1)?;
        let place = &self.runs[position];
        (step.0 < place.start + place.n_steps).then_some(place)
    }

    fn remat_of(&self, run: u32) -> Option<(&RunPlace, &RunRemat)> {
        let place = self.runs.get(run as usize)?;
        Some((place, place.remat.as_deref()?))
    }
}

impl RunPlace {
    /// The storage of a tensor of the tape.
    fn selected(&self, run: u32, remat: &RunRemat, tensor: u32) -> Option<Selected> {
        let storage = remat.tape.tape.tensors.get(tensor as usize)?.storage;
        Some(Selected {
            run,
            graph: self.graph,
            tensor: *remat.tape.tensors.get(storage as usize)?,
        })
    }

    fn marks(&self, run: u32) -> Vec<RematMark> {
        let Some(remat) = &self.remat else { return Vec::new() };
        let mut marks = Vec::new();
        for (position, event) in remat.answer.events.iter().enumerate() {
            let Some(kind) = RematMarkKind::of(event) else { continue };
            marks.push(RematMark {
                step: Step(self.start + remat.step_of_event(position)),
                kind,
                run,
                tensor: self.selected(run, remat, event.tensor),
                bytes: storage_bytes(remat, event.tensor),
                event: u32::try_from(position).unwrap_or(u32::MAX - 1),
            });
        }
        let (kind, bytes) = match &remat.answer.status {
            RematStatus::Ok => return marks,
            RematStatus::Thrash => (RematMarkKind::Thrash, Bytes::ZERO),
            RematStatus::OutOfMemory(shortage) => (RematMarkKind::OutOfMemory, shortage.short),
        };
        marks.push(RematMark {
            step: Step(self.start + self.end_of(remat)),
            kind,
            run,
            tensor: None,
            bytes,
            event: u32::MAX,
        });
        marks
    }

    /// The step after the last one executed, within the run.
    fn end_of(&self, remat: &RunRemat) -> u32 {
        let slot = remat.sequence.ended_at.map_or(usize::MAX, |slot| slot as usize);
        let step = remat.steps.get(slot).copied().unwrap_or(self.n_steps);
        step.min(self.n_steps.saturating_sub(1))
    }

    fn eviction_intervals(&self, run: u32) -> Vec<EvictionInterval> {
        let Some(remat) = &self.remat else { return Vec::new() };
        let mut evicted: BTreeMap<TensorId, u32> = BTreeMap::new();
        let mut eviction_intervals = Vec::new();
        for (position, event) in remat.answer.events.iter().enumerate() {
            let Some(tensor) = self.selected(run, remat, event.tensor) else {
                continue;
            };
            let step = self.start + remat.step_of_event(position);
            match event.kind {
                RematKind::Evict | RematKind::EagerEvict => {
                    evicted.entry(tensor.tensor).or_insert(step);
                }
                RematKind::Rematerialize => {
                    let from = evicted.remove(&tensor.tensor).filter(|from| *from < step);
                    eviction_intervals.extend(from.map(|from| EvictionInterval {
                        tensor,
                        from: Step(from),
                        to: Step(step),
                    }));
                }
                RematKind::Compute | RematKind::Put | RematKind::Free | RematKind::Pin | RematKind::Drop => {}
            }
        }
        eviction_intervals
    }

    fn recomputed(&self, run: u32) -> Vec<Recomputed> {
        let Some(remat) = &self.remat else { return Vec::new() };
        let slots = remat.sequence.slots.iter().zip(remat.steps.iter());
        let recomputed = slots.filter(|(slot, _)| slot.is_recomputed);
        let recomputed = recomputed.map(|(slot, step)| Recomputed {
            step: Step(self.start + step),
            run,
            op: slot.op,
            time: op_time(remat, slot.op),
        });
        recomputed.collect()
    }
}

fn storage_bytes(remat: &RunRemat, tensor: u32) -> Bytes {
    let tensors = &remat.tape.tape.tensors;
    let root = tensors.get(tensor as usize).map_or(0, |tensor| tensor.storage);
    tensors.get(root as usize).map_or(Bytes::ZERO, |root| root.bytes)
}

fn op_time(remat: &RunRemat, op: u32) -> Nanos {
    remat.tape.tape.ops.get(op as usize).map_or(Nanos(0), |op| op.time)
}

/// Pairs each eviction with the next recomputation of its tensor. O(marks log tensors).
fn evictions(marks: &[RematMark]) -> Vec<Eviction> {
    let mut evictions: Vec<Eviction> = Vec::new();
    let mut open: BTreeMap<Selected, usize> = BTreeMap::new();
    for (position, mark) in marks.iter().enumerate() {
        let Some(tensor) = mark.tensor else { continue };
        match mark.kind {
            RematMarkKind::Evict => {
                open.insert(tensor, evictions.len());
                evictions.push(Eviction {
                    evicted: position,
                    recomputed: None,
                });
            }
            RematMarkKind::Rematerialize | RematMarkKind::Sibling => {
                if let Some(eviction) = open.remove(&tensor) {
                    evictions[eviction].recomputed = Some(position);
                }
            }
            RematMarkKind::OutOfMemory | RematMarkKind::Thrash => {}
        }
    }
    evictions
}

/// Bytes in use by step; they stay constant while a lane is idle.
fn usage(runs: &[RunPlace], n_steps: u32) -> Vec<Bytes> {
    let mut usage = vec![Bytes::ZERO; n_steps as usize];
    for place in runs {
        let Some(remat) = &place.remat else { continue };
        let of_slot = remat.sequence.usage.iter().zip(remat.steps.windows(2));
        for (bytes, steps) in of_slot {
            // Before its first slot a lane holds nothing.
            let (from, to) = ((place.start + steps[0]) as usize, (place.start + steps[1]) as usize);
            let to = to.min(usage.len());
            if let Some(range) = usage.get_mut(from.min(to)..to) {
                range.fill(*bytes);
            }
        }
    }
    usage
}

#[cfg(test)]
mod tests;
