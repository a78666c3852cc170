//! What an allocator answered to a command: values, and their JSON lines.

use std::fmt::Write as _;

use crate::allocator::{SegmentState, Use};
use crate::device::Call;
use crate::event::{Action, Event};
use crate::stats::Stats;

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Done.
    Done,
    /// Memory was given; none: 0 bytes.
    Granted {
        /// Device address.
        addr: Option<u64>,
        /// Bytes of the block.
        block: u64,
    },
    /// The request failed.
    OutOfMemory,
    /// The allocation does not exist; nothing happened.
    Skipped,
    /// Settings were refused, why; nothing changed.
    Refused(String),
}

/// The answer to one command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// From 0.
    pub index: usize,
    /// How it ended.
    pub outcome: Outcome,
    /// What the device saw.
    pub calls: Vec<Call>,
    /// Memory history of the command.
    pub events: Vec<Event>,
    /// Counters after it.
    pub stats: Stats,
    /// All segments, where they were asked for.
    pub segments: Option<Vec<SegmentState>>,
}

/// What stays at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closing {
    /// Counters with their peaks.
    pub stats: Stats,
    /// All segments by address.
    pub segments: Vec<SegmentState>,
}

impl Answer {
    /// Sorts what the original does in no certain order: runs of recorded and of awaited events by stream, runs of
    /// completed frees by address.
    pub fn make_canonical(&mut self) {
        let kind_of_call = |call: &Call| match call {
            Call::RecordEvent(_) => 1,
            Call::SyncEvent(_) => 2,
            _ => 0,
        };
        let stream_of = |call: &Call| match call {
            Call::RecordEvent(stream) | Call::SyncEvent(stream) => *stream,
            _ => 0,
        };
        for run in self.calls.chunk_by_mut(|a, b| kind_of_call(a) == kind_of_call(b)) {
            if kind_of_call(&run[0]) > 0 {
                run.sort_by_key(stream_of);
            }
        }
        for run in self.events.chunk_by_mut(|a, b| a.action == b.action) {
            if run[0].action == Action::FreeCompleted {
                run.sort_by_key(|event| event.addr);
            }
        }
    }

    /// Writes one line without its end.
    pub fn write_json(&self, out: &mut String) {
        put(out, format_args!("{{\"i\":{},", self.index));
        match &self.outcome {
            Outcome::Done => out.push_str("\"ok\":true"),
            Outcome::Granted { addr: None, block } => {
                put(out, format_args!("\"ok\":true,\"addr\":null,\"block\":{block}"));
            }
            Outcome::Granted {
                addr: Some(addr),
                block,
            } => put(out, format_args!("\"ok\":true,\"addr\":{addr},\"block\":{block}")),
            Outcome::OutOfMemory => out.push_str("\"ok\":false,\"error\":\"oom\""),
            Outcome::Skipped => out.push_str("\"ok\":false,\"skipped\":true"),
            Outcome::Refused(why) => {
                let why = why.replace('\\', "\\\\").replace('"', "\\\"");
                put(out, format_args!("\"ok\":false,\"error\":\"{why}\""));
            }
        }
        if let Some(segments) = &self.segments {
            out.push_str(",\"segments\":");
            write_segments(segments, out);
        }
        out.push_str(",\"calls\":[");
        list(out, &self.calls, write_call);
        out.push_str("],\"events\":[");
        list(out, &self.events, Event::write_json);
        out.push_str("],\"stats\":[");
        list(out, &counters(&self.stats), write_number);
        out.push_str("]}");
    }
}

impl Closing {
    /// Writes one line without its end.
    pub fn write_json(&self, out: &mut String) {
        let stats = &self.stats;
        let peaks = [stats.allocated, stats.active, stats.reserved, stats.requested];
        out.push_str("{\"end\":true,\"peaks\":[");
        list(out, &peaks, |mark, out| put(out, format_args!("{}", mark.peak)));
        out.push_str("],\"segments\":");
        write_segments(&self.segments, out);
        out.push('}');
    }
}

/// The counters of an answer, in its order.
fn counters(stats: &Stats) -> [i128; 14] {
    let unsigned = [
        stats.allocated.current,
        stats.active.current,
        stats.reserved.current,
        stats.requested.current,
        stats.inactive_split_bytes,
        stats.segments,
        stats.inactive_splits,
        stats.alloc_retries,
        stats.ooms,
        stats.device_allocs,
        stats.device_frees,
        stats.sync_all_streams,
    ];
    let mut all = [0; 14];
    for (number, place) in unsigned.into_iter().zip(&mut all) {
        *place = i128::from(number);
    }
    all[12] = i128::from(stats.oversize_allocations);
    all[13] = i128::from(stats.oversize_segments);
    all
}

fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    let written = out.write_fmt(text);
    debug_assert!(written.is_ok(), "a String takes every text");
}

fn list<T>(out: &mut String, items: &[T], write: impl Fn(&T, &mut String)) {
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write(item, out);
    }
}

fn write_number(number: &i128, out: &mut String) {
    put(out, format_args!("{number}"));
}

fn write_call(call: &Call, out: &mut String) {
    match *call {
        Call::Malloc(size, addr) => put(out, format_args!("[\"malloc\",{size},{addr}]")),
        Call::MallocFailed(size) => put(out, format_args!("[\"malloc_oom\",{size}]")),
        Call::Free(size, addr) => put(out, format_args!("[\"free\",{size},{addr}]")),
        Call::Reserve(size, addr) => put(out, format_args!("[\"reserve\",{size},{addr}]")),
        Call::Unreserve(size, addr) => put(out, format_args!("[\"unreserve\",{size},{addr}]")),
        Call::Create(page, count) => put(out, format_args!("[\"create\",{page},{count}]")),
        Call::CreateFailed(page) => put(out, format_args!("[\"create_oom\",{page},1]")),
        Call::Map(page, addr, count) => put(out, format_args!("[\"map\",{page},{addr},{count}]")),
        Call::Unmap(page, addr, count) => put(out, format_args!("[\"unmap\",{page},{addr},{count}]")),
        Call::Release(page, count) => put(out, format_args!("[\"release\",{page},{count}]")),
        Call::RecordEvent(stream) => put(out, format_args!("[\"event_record\",{stream}]")),
        Call::SyncEvent(stream) => put(out, format_args!("[\"sync_event\",{stream}]")),
        Call::SyncStream(stream) => put(out, format_args!("[\"sync_stream\",{stream}]")),
        Call::SyncDevice => out.push_str("[\"sync_device\"]"),
    }
}

fn write_segments(segments: &[SegmentState], out: &mut String) {
    out.push('[');
    list(out, segments, write_segment);
    out.push(']');
}

fn write_segment(segment: &SegmentState, out: &mut String) {
    let allocated = segment.sum(|state| state == Use::Allocated, |block| block.size);
    let active = segment.sum(|state| state != Use::Inactive, |block| block.size);
    let requested = segment.sum(|state| state != Use::Inactive, |block| block.requested);
    let kind = if segment.is_small { "small" } else { "large" };
    let SegmentState { addr, size, stream, .. } = segment;
    put(
        out,
        format_args!("{{\"address\":{addr},\"total_size\":{size},\"allocated_size\":{allocated},"),
    );
    put(
        out,
        format_args!("\"active_size\":{active},\"requested_size\":{requested},\"stream\":{stream},"),
    );
    let is_expandable = segment.is_expandable;
    put(
        out,
        format_args!("\"segment_type\":\"{kind}\",\"is_expandable\":{is_expandable}"),
    );
    if let Some(pool) = segment.pool {
        put(out, format_args!(",\"pool\":{pool}"));
    }
    out.push_str(",\"blocks\":[");
    list(out, &segment.blocks, |block, out| {
        let name = block.state.name();
        let (addr, size, requested) = (block.addr, block.size, block.requested);
        put(out, format_args!("[{addr},{size},{requested},\"{name}\"]"));
    });
    out.push_str("]}");
}
