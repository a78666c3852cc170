//! Wall time aligned to a graph: each step is as wide as its op took in a measured run.
//!
//! ```text
//! run        A starts 10, takes 4     C starts 30     D starts 31, takes 5
//! steps      A      x      y          C               D                        x, y were not measured
//! widths     4      8      8          1               5                        A its own time, x and y the rest until C
//! ```
//!
//! In: a comparison with graphs and recordings that measured the starts of ops. Out: an axis, and the run it is based
//! on. An op takes the time from its start to the next start in the run, whichever op that is. Where steps right after
//! it were not measured, it takes no more than its recorded duration, and these steps share the rest evenly. So a run's
//! total is the measured one, and where it executed in the graph's order every op starts when it did. Steps before the
//! first measured op and recomputed steps take no time. One pass of the run is used for every run of its graph. O(steps
//! + measured ops), and a sort.

use highwater_analysis::{Comparison, OpRun, measured_pass};
use highwater_model::graph::OpId;
use highwater_model::workload::{AxisRun, RecordedOp, Recording};

use super::TimeAxis;

const NO_RECORDING: &str = "No open recording has clock times.";
const NO_STARTS: &str = "The open run does not state start times of the graph's ops: also open its RunMetadata \
                         (TensorFlow) or kernel table (kernel_details, op_summary), or open the recording alone.";
const NOT_OF_GRAPH: &str = "No op names match between run and graph: open the recording alone to see its clock times.";
const NO_TIME_PASSES: &str = "All measured ops began at the same time.";

/// The measured run on which wall time along a graph is based.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WallRun {
    /// As its file calls it.
    pub name: String,
    /// Runs of graphs on the axis that use its times.
    pub n_runs: u32,
    /// Runs of graphs on the axis of which it measured nothing.
    pub n_without: u32,
    /// Whether its ops started in the order of the graph.
    pub is_in_order: bool,
}

/// The axis of the recording that measured most ops of the graphs, the first of equals.
pub(super) fn of_ops(comparison: &Comparison) -> Result<(TimeAxis, WallRun), &'static str> {
    let (recording, passes) = measured(comparison)?;
    let widths: Vec<Vec<Width>> = passes.iter().map(|pass| widths(pass)).collect();
    let mut durations = vec![0_u64; comparison.axis.n_steps as usize];
    let mut wall = WallRun {
        name: recording.name.clone(),
        n_runs: 0,
        n_without: 0,
        is_in_order: passes.iter().all(|pass| pass.is_sorted_by_key(|run| run.op)),
    };
    let mut n_stated = 0;
    for run in &comparison.axis.runs {
        let widths = widths.get(run.run.graph.0 as usize).map_or(&[][..], |widths| widths);
        if widths.is_empty() {
            wall.n_without += 1;
        } else {
            wall.n_runs += 1;
            n_stated += add_run(&mut durations, run, widths);
        }
    }
    let axis = TimeAxis::of_durations(durations, n_stated).ok_or(NO_TIME_PASSES)?;
    Ok((axis, wall))
}

/// The recording, and by graph its ops sorted by start.
fn measured(comparison: &Comparison) -> Result<(&Recording, Vec<Vec<OpRun>>), &'static str> {
    let recordings = comparison.workload.recordings();
    if recordings.is_empty() {
        return Err(NO_RECORDING);
    }
    let states_starts = |one: &&Recording| one.ops.iter().any(RecordedOp::states_start);
    let mut recordings = recordings.iter().map(|one| &**one).filter(states_starts).peekable();
    if recordings.peek().is_none() {
        return Err(NO_STARTS);
    }
    let mut best = (0, None);
    for recording in recordings {
        let graphs = comparison.workload.graphs().iter();
        let passes: Vec<Vec<OpRun>> = graphs.map(|entry| measured_pass(&entry.graph, recording)).collect();
        let n_known: usize = passes.iter().map(Vec::len).sum();
        if n_known > best.0 {
            best = (n_known, Some((recording, passes)));
        }
    }
    best.1.ok_or(NOT_OF_GRAPH)
}

/// Width of an op in nanoseconds. `own` is its duration, at most `until_next`, the time until the next start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Width {
    op: OpId,
    own: u64,
    until_next: u64,
}

/// Sorted by op, from a pass sorted by start.
fn widths(pass: &[OpRun]) -> Vec<Width> {
    let next = pass.iter().skip(1).map(|run| Some(run.start.0)).chain([None]);
    let widths = pass.iter().zip(next).map(|(run, next)| {
        let until_next = next.map_or(run.time.0, |next| next.saturating_sub(run.start.0));
        Width {
            op: run.op,
            own: run.time.0.min(until_next),
            until_next,
        }
    });
    let mut widths: Vec<Width> = widths.collect();
    widths.sort_unstable_by_key(|width| width.op);
    widths
}

/// Sets the durations of a run's steps; returns how many were measured.
fn add_run(durations: &mut [u64], run: &AxisRun, widths: &[Width]) -> u32 {
    let steps = own_steps(run);
    let mut widths = widths.iter().peekable();
    let mut measured: Vec<(usize, Width)> = Vec::new();
    for (position, (op, _)) in steps.iter().enumerate() {
        while widths.next_if(|width| width.op < *op).is_some() {}
        measured.extend(widths.next_if(|width| width.op == *op).map(|width| (position, *width)));
    }
    let mut add = |position: usize, time: u64| {
        if let Some(duration) = durations.get_mut(steps[position].1) {
            *duration = time;
        }
    };
    for (idx, (position, width)) in measured.iter().enumerate() {
        let next = measured.get(idx + 1).map_or(steps.len(), |(next, _)| *next);
        let n_behind = (next - position - 1) as u64;
        if n_behind == 0 {
            add(*position, width.until_next);
            continue;
        }
        add(*position, width.own);
        // Differences of sums, so that nothing is lost by rounding.
        let left = u128::from(width.until_next - width.own);
        let until = |count: u64| left * u128::from(count) / u128::from(n_behind);
        for (count, behind) in (0..n_behind).zip(position + 1..) {
            add(
                behind,
                u64::try_from(until(count + 1) - until(count)).unwrap_or(u64::MAX),
            );
        }
    }
    u32::try_from(measured.len()).unwrap_or(u32::MAX)
}

/// The ops of a run with their steps on the axis, recomputed ones excluded.
fn own_steps(run: &AxisRun) -> Vec<(OpId, usize)> {
    let steps = (0..run.n_steps).filter_map(|inside| {
        let op = match &run.slots {
            None => OpId(inside),
            Some(slots) => slots.get(inside as usize).filter(|slot| !slot.is_recomputed)?.op,
        };
        Some((op, run.start.idx() + inside as usize))
    });
    steps.collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use highwater_model::graph::Bindings;
    use highwater_model::units::{Nanos, Step};
    use highwater_model::workload::{GraphIdx, Run, SlotOp};

    fn axis_run(n_steps: u32, recomputed: &[u32]) -> AxisRun {
        let slots = (0..n_steps).flat_map(|op| {
            let op = OpId(op);
            let recomputation = recomputed.contains(&op.0).then_some(SlotOp {
                op,
                is_recomputed: true,
            });
            recomputation.into_iter().chain([SlotOp {
                op,
                is_recomputed: false,
            }])
        });
        let slots: Vec<SlotOp> = slots.collect();
        AxisRun {
            run: Run {
                graph: GraphIdx(0),
                iteration: 0,
                bindings: Bindings::new(),
            },
            start: Step(1),
            n_steps: u32::try_from(slots.len()).expect("few"),
            slots: (!recomputed.is_empty()).then(|| slots.into()),
        }
    }

    fn ran(op: u32, start: u64, time: u64) -> OpRun {
        OpRun {
            op: OpId(op),
            start: Nanos(start),
            time: Nanos(time),
        }
    }

    #[test]
    fn steps_after_measured_ones_share_the_rest() {
        for (pass, recomputed, expected) in [
            (
                &[ran(0, 10, 4), ran(3, 30, 9), ran(4, 31, 5)][..],
                &[][..],
                &[0, 4, 8, 8, 1, 5][..],
            ),
            // Longer than until the next start: two run at once.
            (&[ran(0, 10, 400), ran(2, 30, 2)], &[], &[0, 20, 0, 2, 0, 0]),
            (&[ran(1, 10, 3), ran(4, 20, 1)], &[], &[0, 0, 3, 3, 4, 1]),
            // Not in the graph's order: the widths are the run's.
            (
                &[ran(0, 10, 1), ran(4, 12, 6), ran(1, 18, 2), ran(2, 20, 7)],
                &[],
                &[0, 2, 2, 7, 0, 6],
            ),
            // The recomputed step before the third op was not measured.
            (&[ran(0, 1, 2), ran(2, 5, 2)], &[2], &[0, 2, 2, 0, 2, 0, 0]),
            (&[], &[], &[0; 6]),
        ] {
            let mut durations = vec![0; expected.len()];
            let n_stated = add_run(&mut durations, &axis_run(5, recomputed), &widths(pass));
            assert_eq!((durations.as_slice(), n_stated as usize), (expected, pass.len()));
        }
    }

    proptest! {
        #[test]
        fn the_width_of_a_run_equals_its_measured_time(
            measured in prop::collection::vec(prop::option::of((0_u64..1_000_000, 0_u64..2_000_000)), 1..60),
            swapped in prop::option::of((0_usize..60, 0_usize..60)),
        ) {
            let mut now = 1;
            let mut pass = Vec::new();
            for (op, known) in (0_u32..).zip(&measured) {
                if let Some((pause, time)) = known {
                    now += pause;
                    pass.push(ran(op, now, *time));
                }
            }
            let is_swapped = swapped.is_some_and(|(left, right)| left.max(right) < pass.len());
            if let Some((left, right)) = swapped.filter(|_| is_swapped) {
                (pass[left].op, pass[right].op) = (pass[right].op, pass[left].op);
            }
            let mut durations = vec![0; measured.len() + 1];
            add_run(&mut durations, &axis_run(u32::try_from(measured.len()).expect("few"), &[]), &widths(&pass));
            let whole = pass.first().zip(pass.last());
            let whole = whole.map_or(0, |(first, last)| last.start.0 + last.time.0 - first.start.0);
            prop_assert_eq!(durations.iter().sum::<u64>(), whole);
            // In the graph's order every op starts as long after the first as it did.
            for known in pass.iter().filter(|_| !is_swapped) {
                let before: u64 = durations[..=known.op.0 as usize].iter().sum();
                prop_assert_eq!(before, known.start.0 - pass[0].start.0);
            }
        }
    }
}
