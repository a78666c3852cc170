//! An answer as trace events: the JSON that Perfetto and `chrome://tracing` open.
//!
//! ```text
//! process 1  what runs      thread "runs": a slice per run      thread "ops": a slice per op
//! process 2  first lane     counters: reserved, features, live, ...   thread "device": an instant per call
//! process 3  second lane    ...
//! ```
//!
//! In: an answer. Out: one JSON object, an event per line, the same every time. Slices of a thread never overlap, and times of a
//! counter and of a thread's instants ascend, because viewers stack simultaneous events. Every step is therefore a nanosecond longer
//! than it takes, and one more for each further call on it; `otherData` names the kind of time.

mod clock;
mod events;
mod lane;

use std::io::Write;
use std::path::Path;

use clock::Clock;
use events::{Track, Writer};
use lane::LaneTrace;
use serde_json::json;

use super::subject::{ExportError, ExportSubject};
use highwater_analysis::{LaneKind, OpSource};
use highwater_model::progress::Progress;
use highwater_model::units::Step;
use highwater_timeline::{StepFacts, step_facts};

/// The process of runs and ops with its threads; lanes are the next processes.
const RUNS: u64 = 1;
const RUN_TRACK: Track = Track {
    process: RUNS,
    thread: 1,
};
const OP_TRACK: Track = Track {
    process: RUNS,
    thread: 2,
};
/// The number of steps between two checks for cancellation.
const CHUNK: u32 = 1024;

/// O(steps + events of the lanes).
pub(super) fn trace_json(
    subject: &ExportSubject,
    _path: &Path,
    out: &mut dyn Write,
    progress: &Progress<'_>,
) -> Result<(), ExportError> {
    let comparison = &*subject.comparison;
    if comparison.axis.n_steps == 0 {
        return Err("the schedule has no steps, so there is nothing to trace".into());
    }
    let lanes = subject.lanes_or_all();
    let threads = lanes.iter().flat_map(|lane| lane::instants(subject, *lane));
    let clock = Clock::new(subject, threads);
    let mut out = Writer::new(out, &head(subject, &clock));
    schedule(&mut out, subject, &clock, progress)?;
    for (position, lane) in (0_u64..).zip(lanes) {
        progress.check()?;
        let mut trace = LaneTrace {
            out: &mut out,
            subject,
            lane,
            process: RUNS + 1 + position,
            clock: &clock,
        };
        trace.add(progress)?;
    }
    Ok(out.finish()?)
}

fn head(subject: &ExportSubject, clock: &Clock<'_>) -> serde_json::Value {
    let comparison = &*subject.comparison;
    let sources: Vec<&str> = subject.about.sources.iter().map(|(name, _)| name.as_str()).collect();
    let mut notes = Vec::new();
    if comparison.lane_kind() != LaneKind::Recordings {
        notes.extend(comparison.scratch.note());
        notes.push("memory is simulated: counts of bytes are exact for the model, times of device calls are not known");
    }
    json!({
        "tool": format!("highwater {}", env!("CARGO_PKG_VERSION")),
        "workload": comparison.workload.name,
        "sources": sources,
        "device": comparison.device.name,
        "device_memory_bytes": comparison.device.memory().get(),
        "effective_policy": comparison.active_policy.number(),
        "timestamps": clock.words(comparison),
        "is_estimated": clock.is_estimated(),
        "lower_bound": comparison.lower_bound,
        "notes": notes,
    })
}

/// Runs and ops, once for all lanes.
fn schedule(
    out: &mut Writer<'_>,
    subject: &ExportSubject,
    clock: &Clock<'_>,
    progress: &Progress<'_>,
) -> Result<(), ExportError> {
    let comparison = &*subject.comparison;
    if comparison.lane_kind() == LaneKind::Recordings {
        return Ok(());
    }
    out.process(RUNS, 0, &format!("what runs: {}", comparison.workload.name));
    out.thread(RUN_TRACK, "runs");
    out.thread(OP_TRACK, "ops");
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
        out.slice(RUN_TRACK, clock.at(start), clock.at(end), &name, "run", &args);
    }
    let executed: Vec<&str> = match comparison.ops() {
        OpSource::Tape(tape) => tape.executed().map(|(_, op)| &*op.name).collect(),
        OpSource::Graphs(_) | OpSource::Program(_) | OpSource::None => Vec::new(),
    };
    for step in 0..comparison.axis.n_steps {
        if step % CHUNK == 0 {
            progress.set("writing ops", u64::from(step), u64::from(comparison.axis.n_steps))?;
        }
        // `step_facts` of a tape is linear in its ops.
        let facts = match executed.get(step as usize) {
            Some(op) => Some(StepFacts {
                op: (*op).to_owned(),
                ..StepFacts::default()
            }),
            None => step_facts(comparison, Step(step)),
        };
        let Some(facts) = facts else { continue };
        let name = match (facts.op_text(), facts.op.as_str()) {
            // Steps of problems and recordings have no ops.
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
            "recomputed": facts.is_recomputed,
        });
        out.slice(OP_TRACK, clock.at(step), clock.at(step + 1), &name, "op", &args);
    }
    Ok(())
}
