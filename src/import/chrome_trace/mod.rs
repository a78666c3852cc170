//! Chrome traces of the PyTorch profiler (Kineto): events as JSON, among them `[memory]` events of the allocators.
//!
//! ```text
//! {"traceEvents": [EVENT, ...], ...}      or the list alone; the list may lack its end
//! {"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": 4384110449278.678,
//!  "args": {"Addr": 94, "Bytes": 37632, "Total Allocated": 37632, "Total Reserved": 0, "Device Type": 0, "Device Id": -1}}
//! {"ph": "X", "cat": "cpu_op", "name": "aten::conv2d", "pid": 1, "tid": 1, "ts": 4384110449270.1, "dur": 22606.893, ...}
//! ```
//!
//! Source: the trace event format of Chrome, and the output of `torch.profiler` with `profile_memory=True`. `Bytes` is
//! negative where memory is freed; times are microseconds with three digits behind the point, read as text because a
//! double loses nanoseconds. Events are not sorted by time.
//!
//! In: text, read as a stream; only memory events and the ops are kept. Out: one
//! [`Recording`](highwater_model::workload::Recording) for each device. Every memory event is a step, in the order of times, equal
//! times in the order that "Total Allocated" tells, else of the file; all in the order of the file where these totals follow it alone.
//! Where that total differs from the sum of the events by a constant, so much was allocated before. A block is called after the innermost op that ran on its thread. Ops have
//! their time (of their kernels, where the trace has some) and scratch memory.

mod before;
mod event;
mod memory;
mod names;
mod op_costs;
mod scan;

use std::io::BufReader;

use serde::de::DeserializeSeed as _;

use super::json_key::{has_key, is_text};
use super::json_stream::Counted;
use super::{ImportError, Input, onnxruntime_profile};
use event::{Collector, Document};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::{Cancelled, Progress};
use highwater_model::workload::Source;

/// A JSON object with a list of trace events, or a list of objects that look like events.
pub(super) fn detect(input: &Input<'_>) -> bool {
    let head = input.head().trim_ascii_start();
    let has = |key: &str| has_key(head, key);
    match head.first() {
        // ExecuTorch's memory traces have bytes in place of times.
        Some(b'{') => has("traceEvents") && !is_text(head, "traceEvents[].cat", &["memory_allocation"]),
        Some(b'[') => {
            !onnxruntime_profile::detect(input) && has("[].ph") && has("[].name") && (has("[].ts") || has("[].pid"))
        }
        _ => false,
    }
}

pub(super) fn import(
    input: &mut Input<'_>,
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Source, ImportError> {
    if !scan::may_have_memory(input, progress)? {
        return Err(without_memory(input));
    }
    let len = input.len();
    let mut collector = Collector::default();
    let outcome = {
        let reader = Counted::new(input.reader()?, len, progress);
        let mut reader = BufReader::with_capacity(1 << 16, reader);
        let mut json = serde_json::Deserializer::from_reader(&mut reader);
        let read = Document(&mut collector)
            .deserialize(&mut json)
            .and_then(|()| json.end());
        read.map_err(|error| (error, reader.get_ref().at()))
    };
    if let Err((error, at)) = outcome {
        progress.check()?;
        if collector.ends_open && error.is_eof() {
            diagnostics.warning(
                "the list of events has no end: its writer left it out, or the file was cut off there",
                &format!("event {}", collector.events),
            );
        } else {
            return Err(fault(&error, at));
        }
    }
    let recordings = memory::recordings(collector, progress, diagnostics)?;
    if recordings.is_empty() {
        return Err(without_memory(input));
    }
    Ok(Source::Recordings(recordings))
}

/// Keys that the PyTorch profiler writes beside the events.
const OF_TORCH: [&str; 6] = [
    "schemaVersion",
    "deviceProperties",
    "record_shapes",
    "with_flops",
    "with_stack",
    "profile_memory",
];

/// The error for a trace without memory, with the advice of the tool that wrote it.
fn without_memory(input: &Input<'_>) -> ImportError {
    let head = input.head();
    let has = |text: &[u8]| head.windows(text.len()).any(|window| window == text);
    let advice = if has(b"Ascend") || has(b"CANN") {
        "Ascend's profiler writes memory to operator_memory.csv and memory_record.csv beside the trace, open those; they need \
         profile_memory=True"
    } else if OF_TORCH.iter().any(|key| has_key(head, key)) {
        "add profile_memory=True to torch.profiler.profile(...) in the script and record again"
    } else {
        "traces of torch.profiler have them with profile_memory=True; of other tools' traces no memory is read"
    };
    ImportError::at("the trace has no [memory] events", "any time", advice)
}

fn fault(error: &serde_json::Error, at: u64) -> ImportError {
    if error.is_io() {
        // The reader stops when the user cancels; all other errors are the system's.
        let text = error.to_string();
        return if text.contains("cancelled") {
            Cancelled.into()
        } else {
            ImportError::Io(std::io::Error::other(text))
        };
    }
    ImportError::of_json(error, usize::try_from(at).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests;
