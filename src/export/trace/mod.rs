//! An answer as trace events: the JSON that Perfetto and `chrome://tracing` open.
//!
//! ```text
//! process 1  what runs      thread "runs": a slice per run      thread "ops": a slice per op
//! process 2  first lane     counters: reserved, features, live, ...   thread "device": an instant per call
//! process 3  second lane    ...
//! ```
//!
//! In: an answer. Out: one JSON object, an event a line, the same every time. Slices of a thread never overlap, times of a
//! counter rise. Every step is a nanosecond longer than it takes, so that what happens on steps without time of their own is
//! told apart and no peak is lost; which time it is stands in `otherData`.

mod events;
mod lane;

use events::Writer;
use serde_json::json;

use super::subject::{ExportError, ExportSubject};
use crate::analysis::Comparison;
use crate::progress::Progress;
use crate::timeline::{AxisKind, StepFacts, TimeAxis, step_facts};
use crate::units::Step;

/// The process of what runs; lanes follow.
const RUNS: u64 = 1;
/// Its threads.
const RUN_THREAD: u64 = 1;
const OP_THREAD: u64 = 2;
/// Steps between two looks at the flag.
const CHUNK: u32 = 1024;

/// When steps begin, in nanoseconds of the trace.
pub(super) struct Clock<'a> {
    axis: Option<&'a TimeAxis>,
    kind: AxisKind,
}

/// Where nobody knows times, a step takes so long.
const PLAIN_STEP: u64 = 1000;

impl<'a> Clock<'a> {
    fn new(subject: &'a ExportSubject) -> Self {
        let axes = &subject.timeline.axes;
        let mut known = [AxisKind::Estimated, AxisKind::Wall].into_iter();
        let found = known.find_map(|kind| Some((kind, &**axes.get(kind)?)));
        Self {
            axis: found.map(|(_, axis)| axis),
            kind: found.map_or(AxisKind::Order, |(kind, _)| kind),
        }
    }

    /// Whether times are those of a recording.
    pub(super) const fn is_wall(&self) -> bool {
        matches!(self.kind, AxisKind::Wall)
    }

    /// When a step begins.
    pub(super) fn at(&self, step: u32) -> u64 {
        let time = match self.axis {
            Some(axis) => axis.time_at(step),
            None => u64::from(step) * (PLAIN_STEP - 1),
        };
        time.saturating_add(u64::from(step))
    }

    /// What times are, in a sentence.
    fn words(&self, comparison: &Comparison) -> String {
        let word = comparison.axis_word();
        match (self.kind, self.axis) {
            (AxisKind::Estimated, Some(axis)) => format!(
                "estimated: ops one after another, each as long as its source states ({} of {} {word}s) or as operations and \
                 bytes over the device's rates give; one nanosecond is added to each {word}",
                axis.n_stated(),
                comparison.axis.n_steps
            ),
            (AxisKind::Wall, Some(_)) => {
                format!("wall time as recorded, from the first {word}; one nanosecond is added to each {word}")
            }
            _ => format!("not known: every {word} is drawn as one microsecond"),
        }
    }
}

/// The trace. O(steps + events of the lanes).
///
/// # Errors
/// [`ExportError`]: an answer without steps, or the user's will.
pub(super) fn trace_json(subject: &ExportSubject, progress: &Progress<'_>) -> Result<Vec<u8>, ExportError> {
    let comparison = &*subject.comparison;
    if comparison.axis.n_steps == 0 {
        return Err("the schedule has no steps, so there is nothing to trace"
            .to_owned()
            .into());
    }
    let clock = Clock::new(subject);
    let mut out = Writer::new(&head(subject, &clock));
    schedule(&mut out, subject, &clock, progress)?;
    let lanes = subject.lanes_or_all();
    for (position, lane) in (0_u64..).zip(lanes) {
        progress.check()?;
        lane::add(&mut out, (subject, lane), (RUNS + 1 + position, &clock), progress)?;
    }
    Ok(out.finish())
}

/// What stands before the events.
fn head(subject: &ExportSubject, clock: &Clock<'_>) -> serde_json::Value {
    let comparison = &*subject.comparison;
    let sources: Vec<&str> = subject.about.sources.iter().map(|(name, _)| name.as_str()).collect();
    let mut notes = Vec::new();
    notes.extend(comparison.scratch.note());
    notes.push("memory is simulated: counts of bytes are exact for the model, times of device calls are not known");
    if comparison.is_measured() {
        notes.truncate(0);
    }
    json!({
        "tool": format!("highwater {}", env!("CARGO_PKG_VERSION")),
        "workload": comparison.workload.name,
        "sources": sources,
        "device": comparison.device.name,
        "device_memory_bytes": comparison.device.memory_bytes,
        "effective_policy": comparison.configured.number(),
        "timestamps": clock.words(comparison),
        "is_estimated": clock.kind == AxisKind::Estimated,
        "lower_bound": comparison.lower_bound,
        "notes": notes,
    })
}

/// What runs: runs and ops, once for all lanes.
fn schedule(
    out: &mut Writer,
    subject: &ExportSubject,
    clock: &Clock<'_>,
    progress: &Progress<'_>,
) -> Result<(), ExportError> {
    let comparison = &*subject.comparison;
    if comparison.is_measured() {
        return Ok(());
    }
    out.process(RUNS, 0, &format!("what runs: {}", comparison.workload.name));
    out.thread((RUNS, RUN_THREAD), "runs");
    out.thread((RUNS, OP_THREAD), "ops");
    for (position, run) in comparison.axis.runs.iter().enumerate() {
        let (start, end) = (run.start.0, run.start.0 + run.n_steps);
        if start == end {
            continue;
        }
        let label = subject.timeline.bands.runs.get(position);
        let name = label.map_or_else(|| format!("run {position}"), |band| String::from(&*band.label));
        let args = json!({
            "graph": run.run.graph.0,
            "iteration": run.run.iteration,
            "run": position,
            "dims": run.run.bindings,
            "first step": start,
            "steps": run.n_steps,
        });
        out.slice(
            (RUNS, RUN_THREAD),
            (clock.at(start), clock.at(end)),
            (&name, "run"),
            &args,
        );
    }
    let tape = comparison.workload.tapes().first();
    let executed: Vec<&str> = tape.map_or_else(Vec::new, |tape| {
        let ops = tape.ops.iter().filter(|op| !op.is_source);
        ops.map(|op| &*op.name).collect()
    });
    for step in 0..comparison.axis.n_steps {
        if step % CHUNK == 0 {
            progress.set("writing ops", u64::from(step), u64::from(comparison.axis.n_steps))?;
        }
        // Finding the op of a step of a tape walks all of them.
        let facts = match executed.get(step as usize) {
            Some(op) => Some(StepFacts {
                op: (*op).to_owned(),
                ..StepFacts::default()
            }),
            None => step_facts(comparison, Step(step)),
        };
        let Some(facts) = facts else { continue };
        let name = match (facts.op_text(), facts.op.as_str()) {
            // Steps of problems and recorded events are no ops.
            ("", _) => continue,
            (text, "") => text.to_owned(),
            (text, name) if text == name => text.to_owned(),
            (text, name) => format!("{text} {name}"),
        };
        let args = json!({
            "step": step,
            "graph": facts.graph,
            "iteration": facts.iteration,
            "run": facts.run,
            "phase": facts.phase.name(),
            "computed anew": facts.is_anew,
        });
        let times = (clock.at(step), clock.at(step + 1));
        out.slice((RUNS, OP_THREAD), times, (&name, "op"), &args);
    }
    Ok(())
}
