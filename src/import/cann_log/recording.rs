//! A process as a recording: the bytes that the engine holds over time, and its failed requests.

use std::sync::Arc;

use super::story::Told;
use highwater_model::units::{Bytes, Nanos, Step};
use highwater_model::workload::{
    EventTimes, Library, LogLevel, LoggedProcess, MarkKind, RecordedMark, RecordedMemory, RecordedNames, RecordedTotal,
    Recording, TotalKind,
};

pub(super) fn recording(told: Told) -> Recording {
    let Told {
        process,
        samples,
        failed_at,
    } = told;
    let mut names = RecordedNames::default();
    let mut steps: Vec<(i64, Option<u64>)> = samples.iter().map(|(stamp, bytes)| (*stamp, Some(*bytes))).collect();
    let last = steps.last().map_or(i64::MIN, |(stamp, _)| *stamp);
    let mut marks = Vec::new();
    for (failure, stamp) in process.failures.iter().zip(failed_at) {
        let text = match &failure.who {
            Some(who) if failure.was_retried => format!("{who} asked for memory again"),
            Some(who) => format!("{who} asked for memory"),
            None => "memory was asked for".to_owned(),
        };
        marks.push(RecordedMark {
            step: Step(u32::try_from(steps.len()).unwrap_or(u32::MAX)),
            kind: if failure.was_retried {
                MarkKind::Note
            } else {
                MarkKind::OutOfMemory
            },
            text: names.intern(&text),
            bytes: Bytes(failure.requested.unwrap_or(0)),
            failed: None,
        });
        steps.push((stamp.unwrap_or(last), None));
    }
    let n_steps = u32::try_from(steps.len()).unwrap_or(u32::MAX);
    let reserved: Vec<(Step, Bytes)> = (0_u32..)
        .zip(&steps)
        .filter_map(|(step, (_, bytes))| Some((Step(step), Bytes((*bytes)?))))
        .collect();
    let totals = (!reserved.is_empty()).then_some(RecordedTotal {
        kind: TotalKind::Reserved,
        samples: reserved,
    });
    let name = match (&process.name, process.pid) {
        (Some(name), Some(pid)) => format!("{name} ({pid})"),
        (None, Some(pid)) => format!("process {pid}"),
        _ => "process unknown".to_owned(),
    };
    Recording {
        name,
        device: process
            .device
            .map_or_else(String::new, |device| format!("{}:{device}", device_kind(&process))),
        device_memory: process.device_total.map(|bytes| RecordedMemory {
            bytes: Bytes(bytes),
            is_lower_bound: false,
        }),
        recorder: if is_text(&process) {
            "the text of a terminal".to_owned()
        } else {
            "CANN's log, memory of the graph engine".to_owned()
        },
        n_steps,
        times: times(&steps),
        totals: totals.into_iter().collect(),
        marks,
        names: names.finish(),
        process: Some(Arc::new(process)),
        ..Recording::default()
    }
}

/// Whether no line is of CANN.
fn is_text(process: &LoggedProcess) -> bool {
    process.level == LogLevel::Terminal
}

/// The device's kind by the library that reports a failed request; a text without one is of Ascend if it has records.
fn device_kind(process: &LoggedProcess) -> &'static str {
    let libraries = process.failures.iter().map(|failure| failure.library);
    match libraries.rev().find(|library| *library != Library::System) {
        Some(Library::TorchCuda | Library::TorchHip | Library::TensorFlow) => "GPU",
        Some(Library::TorchXpu) => "XPU",
        Some(Library::Cann | Library::TorchNpu) => "NPU",
        None if !is_text(process) => "NPU",
        _ => "device",
    }
}

/// Nanoseconds since the first step; a clock that goes back adds nothing.
fn times(steps: &[(i64, Option<u64>)]) -> EventTimes {
    let first = steps.first().map_or(0, |(stamp, _)| *stamp);
    let mut last = 0;
    let since = |stamp: i64| stamp.saturating_sub(first).saturating_mul(1000);
    let times = steps.iter().map(|(stamp, _)| {
        last = last.max(u64::try_from(since(*stamp)).unwrap_or(0));
        Nanos(last)
    });
    times.collect()
}
