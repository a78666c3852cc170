//! Memory snapshots of PyTorch, written as JSON: tests read them as pickles of protocol 0.

use std::io::Write as _;

use serde_json::{Value as Json, json};
use tempfile::NamedTempFile;

/// A pickle of protocol 0.
pub(crate) fn pickle(value: &Json) -> Vec<u8> {
    let mut out = String::new();
    write(value, &mut out);
    out.push('.');
    out.into_bytes()
}

fn write(value: &Json, out: &mut String) {
    match value {
        Json::Null => out.push('N'),
        Json::Bool(value) => out.push_str(if *value { "I01\n" } else { "I00\n" }),
        Json::Number(number) => out.push_str(&format!("L{number}L\n")),
        Json::String(text) => out.push_str(&format!("V{text}\n")),
        Json::Array(items) => {
            out.push_str("(l");
            for item in items {
                write(item, out);
                out.push('a');
            }
        }
        Json::Object(fields) => {
            out.push_str("(d");
            for (key, value) in fields {
                out.push_str(&format!("V{key}\n"));
                write(value, out);
                out.push('s');
            }
        }
    }
}

/// A file with a snapshot.
pub(crate) fn file(value: &Json) -> NamedTempFile {
    let mut file = tempfile::Builder::new().suffix(".pickle").tempfile().expect("a file");
    file.write_all(&pickle(value)).expect("the file can be written");
    file
}

pub(crate) fn event(action: &str, address: u64, size: u64, time_us: u64) -> Json {
    let place = if action == "oom" { "device_free" } else { "addr" };
    json!({"action": action, place: address, "size": size, "stream": 0, "time_us": time_us, "frames": []})
}

/// Frames with one line.
pub(crate) fn called_from(mut event: Json, function: &str) -> Json {
    event["frames"] = json!([{"filename": "/home/user/train.py", "name": function, "line": 7}]);
    event
}

pub(crate) fn block(address: u64, size: u64, requested: u64, state: &str) -> Json {
    json!({"address": address, "size": size, "requested_size": requested, "state": state, "frames": []})
}

pub(crate) fn segment(address: u64, size: u64, kind: &str, blocks: Vec<Json>) -> Json {
    json!({
        "device": 0, "address": address, "total_size": size, "stream": 0, "segment_type": kind,
        "segment_pool_id": [0, 0], "is_expandable": false, "blocks": blocks,
    })
}

/// A snapshot of one device.
pub(crate) fn snapshot(segments: Vec<Json>, trace: Vec<Json>) -> Json {
    json!({"segments": segments, "device_traces": [trace]})
}
