//! Profiles of onnxruntime (`SessionOptions.enable_profiling`): trace events of a session, with the memory of each node's
//! allocator since version 1.32.
//!
//! ```text
//! [{"cat": "Session", "name": "session_initialization", "ts", "dur", ...},
//!  {"cat": "Node", "name": "conv1_kernel_time", "ts", "dur",
//!   "args": {"op_name", "provider", "mem_bytes_in_use", "mem_in_use_peak", "mem_arena_held", ...}}, ...]
//! ```
//!
//! Times are microseconds since the session began, sizes texts of digits. `mem_bytes_in_use` is counted when the node has
//! run, before its inputs are freed; `mem_in_use_peak` is the highest value since the session began, so where it rises, it
//! was reached within the node. Both count blocks of the arena: not initializers that are mapped, not the caller's inputs.
//! With `enable_mem_pattern` the second and later runs take one block for many tensors.
//!
//! In: text, read as a stream. Out: one recording for each execution provider: a step for each node that ran, its
//! curves, and the nodes' times. Times of nodes without memory are read as well.

use std::collections::BTreeMap;
use std::io::BufReader;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::DeserializeSeed as _;

use super::each::each;
use super::json_key::{has_key, is_text};
use super::json_stream::Counted;
use super::{ImportError, Input};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_model::units::{Bytes, Nanos, Step};
use highwater_model::workload::{EventTimes, RecordedNames, RecordedOp, RecordedTotal, Recording, Source, TotalKind};

const KERNEL: &str = "_kernel_time";

/// A list of events that begins with a session's, or has a node's.
pub(super) fn detect(input: &Input<'_>) -> bool {
    let head = input.head();
    let is_session = is_text(head, "[].cat", &["Session"]) && has_key(head, "[].args");
    is_session || is_text(head, "[].cat", &["Node"]) && has_key(head, "[].args.provider")
}

#[derive(Deserialize)]
struct WireEvent {
    #[serde(default)]
    cat: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    ts: Option<u64>,
    #[serde(default)]
    dur: Option<u64>,
    #[serde(default)]
    args: BTreeMap<String, serde_json::Value>,
}

#[derive(Debug, Default)]
struct Provider {
    nodes: Vec<Node>,
    names: RecordedNames,
}

#[derive(Debug)]
struct Node {
    op: RecordedOp,
    in_use: Option<u64>,
    peak: Option<u64>,
    held: Option<u64>,
}

pub(super) fn import(
    input: &mut Input<'_>,
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Source, ImportError> {
    let len = input.len();
    let mut providers: BTreeMap<String, Provider> = BTreeMap::new();
    let mut n_events = 0_u64;
    let outcome = {
        let reader = Counted::new(input.reader()?, len, progress);
        let mut reader = BufReader::with_capacity(1 << 16, reader);
        let mut json = serde_json::Deserializer::from_reader(&mut reader);
        let read = each(|event: WireEvent| {
            n_events += 1;
            add(&mut providers, &event);
            Ok(())
        });
        let read = read.deserialize(&mut json).and_then(|()| json.end());
        read.map_err(|error| (error, reader.get_ref().at()))
    };
    if let Err((error, at)) = outcome {
        progress.check()?;
        // A session that is never ended leaves the list open.
        if !error.is_eof() || providers.is_empty() {
            return Err(ImportError::of_json(&error, usize::try_from(at).unwrap_or(usize::MAX)));
        }
        let message = "the list of events has no end: the session was not ended, or the file was cut off there";
        diagnostics.warning(message, &format!("event {n_events}"));
    }
    let recordings: Result<Vec<_>, _> = providers
        .into_iter()
        .map(|(name, nodes)| recording(name, nodes))
        .collect();
    let recordings = recordings?;
    if recordings.is_empty() {
        return Err(ImportError::at(
            "the profile of onnxruntime has no node that ran",
            "any event",
            "call session.run(...) before session.end_profiling()",
        ));
    }
    if recordings.iter().all(|recording| recording.totals.is_empty()) {
        diagnostics.warning(
            "the nodes state no memory, only times; onnxruntime 1.32 and newer write mem_bytes_in_use into the profile of \
             enable_profiling, unless enable_cpu_mem_arena is off",
            "",
        );
    } else {
        diagnostics.info(
            "totals are those of the allocator when each node has run; they are exact with \
             SessionOptions.enable_mem_pattern = False, and leave out initializers and the caller's inputs",
            "",
        );
    }
    Ok(Source::Recordings(recordings.into_iter().map(Arc::new).collect()))
}

fn add(providers: &mut BTreeMap<String, Provider>, event: &WireEvent) {
    let name = event.name.strip_suffix(KERNEL);
    let (Some(name), Some(start), Some(time)) = (name.filter(|_| event.cat == "Node"), event.ts, event.dur) else {
        return;
    };
    let text = |key: &str| event.args.get(key).and_then(serde_json::Value::as_str);
    let number = |key: &str| match event.args.get(key)? {
        serde_json::Value::String(digits) => digits.parse().ok(),
        number => number.as_u64(),
    };
    let provider = providers
        .entry(text("provider").unwrap_or("onnxruntime").to_owned())
        .or_default();
    let op = RecordedOp {
        name: provider.names.intern(name),
        kind: provider.names.intern(text("op_name").unwrap_or_default()),
        start: Nanos(start.saturating_mul(1000)),
        time: Nanos(time.saturating_mul(1000)),
        scratch: Bytes::ZERO,
        persistent: Bytes::ZERO,
    };
    provider.nodes.push(Node {
        op,
        in_use: number("mem_bytes_in_use"),
        peak: number("mem_in_use_peak"),
        held: number("mem_arena_held"),
    });
}

fn recording(name: String, mut provider: Provider) -> Result<Recording, ImportError> {
    let n_nodes = provider.nodes.len();
    let Ok(n_steps) = u32::try_from(n_nodes) else {
        return Err(ImportError::at(
            "more nodes ran than can be counted",
            name,
            "profile fewer runs",
        ));
    };
    provider.nodes.sort_by_key(|node| node.op.start);
    let mut highest = 0;
    let mut in_use = Vec::new();
    let mut held = Vec::new();
    for (step, node) in (0_u32..).map(Step).zip(&provider.nodes) {
        // A peak above all before was reached while this node ran.
        let peak = node.peak.filter(|peak| *peak > highest);
        highest = highest.max(peak.unwrap_or(0));
        in_use.extend(node.in_use.max(peak).map(|bytes| (step, Bytes(bytes))));
        held.extend(node.held.map(|bytes| (step, Bytes(bytes))));
    }
    let has_memory = !in_use.is_empty() || !held.is_empty();
    let times: EventTimes = provider
        .nodes
        .iter()
        .filter(|_| has_memory)
        .map(|node| node.op.start)
        .collect();
    let recording = Recording {
        name,
        recorder: "onnxruntime profile".to_owned(),
        n_steps: if has_memory { n_steps } else { 0 },
        times,
        totals: RecordedTotal::known([(TotalKind::Allocated, in_use), (TotalKind::Reserved, held)]),
        ops: provider.nodes.iter().map(|node| node.op).collect(),
        names: provider.names.finish(),
        counts: vec![("nodes that ran".to_owned(), n_nodes as u64)],
        ..Recording::default()
    };
    debug_assert_eq!(recording.check(), Ok(()));
    Ok(recording)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_help::{read, recordings, shows, tells};

    const SESSION: &str = r#"{"cat" : "Session","pid" :1,"tid" :1,"dur" :393,"ts" :3,"ph" : "X","name" :"model_loading_uri","args" : {}}"#;

    fn node(name: &str, ts: u64, memory: &str) -> String {
        format!(
            r#"{{"cat" : "Node","pid" :1,"tid" :1,"dur" :9,"ts" :{ts},"ph" : "X","name" :"{name}_kernel_time","args" : {{{memory}"op_name" : "Relu","provider" : "CPUExecutionProvider","input_type_shape" : [{{"float":[1,4]}}]}}}}"#
        )
    }

    #[test]
    fn the_memory_of_nodes_is_a_curve_and_a_rising_peak_lies_within_its_node() {
        let memory = |in_use: u64, peak: u64| {
            format!(r#""mem_bytes_in_use" : "{in_use}","mem_in_use_peak" : "{peak}","mem_arena_held" : "1048576","#)
        };
        let nodes = [
            node("a", 100, &memory(4096, 4096)),
            node("b", 120, &memory(8192, 12288)),
            node("c", 140, &memory(4096, 12288)),
        ];
        let text = format!("[\n{SESSION},\n{}\n]\n", nodes.join(",\n"));
        let (found, told) = recordings(import, "p.json", text.as_bytes()).expect("it is read");
        shows(
            &found,
            "CPUExecutionProvider, 3 steps: 100000 +20000 +40000
             allocated 0:4096 1:12288 2:4096
             reserved 0:1048576 1:1048576 2:1048576
             op a Relu +0 takes 9000, scratch 0
             op b Relu +20000 takes 9000, scratch 0
             op c Relu +40000 takes 9000, scratch 0",
        );
        tells(&told, &[("enable_mem_pattern", 1)]);
        let open = text.trim_end().trim_end_matches(']');
        let (found, told) = recordings(import, "p.json", open.as_bytes()).expect("it is read");
        assert_eq!(found[0].ops.len(), 3);
        tells(&told, &[("no end", 1)]);
    }

    #[test]
    fn older_profiles_have_times_alone_and_empty_ones_are_refused() {
        let text = format!("[{SESSION},{}]", node("a", 5, ""));
        let imported = read("p.json", text.as_bytes()).expect("it is read");
        assert_eq!(imported.format, "onnxruntime_profile");
        tells(&imported.diagnostics, &[("1.32", 1)]);
        let held = format!("[{SESSION},{}]", node("a", 5, r#""mem_arena_held" : "64","#));
        let (found, _) = recordings(import, "p.json", held.as_bytes()).expect("it is read");
        assert_eq!((found[0].n_steps, found[0].totals.len()), (1, 1));
        let refused = read("p.json", format!("[{SESSION}]").as_bytes()).expect_err("nothing ran");
        assert!(refused.to_string().contains("session.run"), "{refused}");
    }
}
