//! `peak --segments`, `--events` and `--growth`: the allocator of a recorded lane at a step, its events, and what grows from
//! step to step.

use anyhow::{Context as _, bail};

use super::most;
use crate::args::PeakArgs;
use crate::text::print_answer;
use highwater_analysis::{Comparison, PinnedSegments};
use highwater_export::{AllocatorAnswer, EventsAnswer, GrowthAnswer};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::units::Step;
use highwater_timeline::{Growth, StepRange};

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
    let pinned = PinnedSegments::new(recording, &state);
    let answer = AllocatorAnswer {
        comparison,
        lane,
        step,
        state: &state,
        recording,
        pinned: &pinned,
        most: most(args),
        import,
    };
    print_answer(&answer, args.format, args.raw)
}

/// Prints the events of a recorded lane.
pub(super) fn events(
    args: &PeakArgs,
    comparison: &Comparison,
    lane: usize,
    range: StepRange,
    import: &Diagnostics,
) -> anyhow::Result<()> {
    let name = &comparison.workload.name;
    let id = comparison.lanes.get(lane).map(|lane| lane.id);
    let recording = id.and_then(|id| comparison.recording(id));
    let recording = recording.with_context(|| format!("{name}: --events: the lane shows no recording"))?;
    let n_steps = recording.n_steps;
    if range.start.0 >= n_steps {
        let last = n_steps.saturating_sub(1);
        let read = recording.range.map_or_else(String::new, |read| {
            format!("; event {} of the file is event 0 here", Step(read.first))
        });
        bail!(
            "{name}: --events {}..{} exceeds the last event, {last}{read}",
            range.start,
            range.end
        );
    }
    let answer = EventsAnswer {
        comparison,
        lane,
        recording,
        events: &recording.events_in(range.start.0..range.end.0),
        most: args.top.unwrap_or(usize::MAX),
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
