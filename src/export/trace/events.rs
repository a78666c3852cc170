//! Trace events as JSON, one per line.
//!
//! Times are microseconds with three decimals, from whole nanoseconds, so that nothing is rounded.

use serde_json::Value as Json;

#[derive(Clone, Copy)]
pub(super) struct Track {
    pub(super) process: u64,
    pub(super) thread: u64,
}

pub(super) struct Writer {
    out: Vec<u8>,
    is_first: bool,
}

impl Writer {
    /// `about` is the object `otherData`.
    pub(super) fn new(about: &Json) -> Self {
        let head = format!("{{\"displayTimeUnit\":\"ms\",\"otherData\":{about},\n\"traceEvents\":[");
        Self {
            out: head.into_bytes(),
            is_first: true,
        }
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        self.out.extend_from_slice(b"\n]}\n");
        self.out
    }

    fn event(&mut self, text: &str) {
        let before: &[u8] = if self.is_first { b"\n" } else { b",\n" };
        self.is_first = false;
        self.out.extend_from_slice(before);
        self.out.extend_from_slice(text.as_bytes());
    }

    /// The name of a process, and its position among the processes.
    pub(super) fn process(&mut self, pid: u64, order: u64, name: &str) {
        let name = quoted(name);
        self.event(&format!(
            r#"{{"ph":"M","name":"process_name","pid":{pid},"tid":0,"args":{{"name":{name}}}}}"#
        ));
        self.event(&format!(
            r#"{{"ph":"M","name":"process_sort_index","pid":{pid},"tid":0,"args":{{"sort_index":{order}}}}}"#
        ));
    }

    pub(super) fn thread(&mut self, track: Track, name: &str) {
        let Track { process, thread } = track;
        let name = quoted(name);
        self.event(&format!(
            r#"{{"ph":"M","name":"thread_name","pid":{process},"tid":{thread},"args":{{"name":{name}}}}}"#
        ));
        self.event(&format!(
            r#"{{"ph":"M","name":"thread_sort_index","pid":{process},"tid":{thread},"args":{{"sort_index":{thread}}}}}"#
        ));
    }

    /// An event from one nanosecond to another.
    pub(super) fn slice(&mut self, track: Track, start: u64, end: u64, name: &str, category: &str, args: &Json) {
        let Track { process, thread } = track;
        let (name, ts, dur) = (quoted(name), micros(start), micros(end.saturating_sub(start)));
        self.event(&format!(
            r#"{{"ph":"X","name":{name},"cat":"{category}","pid":{process},"tid":{thread},"ts":{ts},"dur":{dur},"args":{args}}}"#
        ));
    }

    /// An event at one time.
    pub(super) fn instant(&mut self, track: Track, at: u64, name: &str, category: &str, args: &Json) {
        let Track { process, thread } = track;
        let (name, ts) = (quoted(name), micros(at));
        self.event(&format!(
            r#"{{"ph":"i","s":"t","name":{name},"cat":"{category}","pid":{process},"tid":{thread},"ts":{ts},"args":{args}}}"#
        ));
    }

    /// The value of a process's counter from a time on.
    pub(super) fn counter(&mut self, pid: u64, at: u64, name: &str, value: u64) {
        let (name, ts) = (quoted(name), micros(at));
        self.event(&format!(
            r#"{{"ph":"C","name":{name},"pid":{pid},"tid":0,"ts":{ts},"args":{{"bytes":{value}}}}}"#
        ));
    }
}

fn quoted(text: &str) -> String {
    Json::from(text).to_string()
}

fn micros(nanos: u64) -> String {
    format!("{}.{:03}", nanos / 1000, nanos % 1000)
}
