//! `peak --segments` and `peak --growth`: the allocator of a recorded lane at a step, and what grows from step to step.

use anyhow::Context as _;

use super::most;
use crate::args::PeakArgs;
use crate::text::print_answer;
use highwater_analysis::{Comparison, PINNED_PERCENT, PinnedSegments};
use highwater_export::{AllocatorAnswer, GrowthAnswer};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::units::Step;
use highwater_timeline::Growth;

/// Prints the state of the allocator of a recorded lane.
pub(super) fn segments(
    args: &PeakArgs,
    comparison: &Comparison,
    lane: usize,
    step: Step,
    import: &Diagnostics,
) -> anyhow::Result<()> {
    let state = comparison.allocator_state(lane, step);
    let state = state.map_err(|why| anyhow::anyhow!("{}: --segments: {why}", comparison.workload.name))?;
    let recording = comparison
        .lanes
        .get(lane)
        .and_then(|lane| comparison.recording(lane.id));
    let recording =
        recording.with_context(|| format!("{}: --segments: the lane shows no recording", comparison.workload.name))?;
    let pinned = PinnedSegments::new(recording, state.event, PINNED_PERCENT);
    let answer = AllocatorAnswer {
        comparison,
        lane,
        step,
        state: &state,
        recording,
        pinned: pinned.as_ref(),
        most: most(args),
        import,
    };
    print_answer(&answer, args.format, args.raw)
}

/// Prints what grows from step to step in a recorded lane.
pub(super) fn growth(
    args: &PeakArgs,
    comparison: &Comparison,
    lane: usize,
    n_parts: Option<u32>,
    import: &Diagnostics,
) -> anyhow::Result<()> {
    let growth = Growth::new(comparison, lane, n_parts);
    let growth = growth.map_err(|why| anyhow::anyhow!("{}: --growth: {why}", comparison.workload.name))?;
    let answer = GrowthAnswer {
        comparison,
        lane,
        growth: &growth,
        most: most(args),
        import,
    };
    print_answer(&answer, args.format, args.raw)
}
