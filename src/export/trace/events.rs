//! Trace events as JSON, one per line.
//!
//! Times are microseconds with three decimals, from whole nanoseconds, so that nothing is rounded.

use std::fmt::{self, Arguments};
use std::io::{Error, Write};

use serde_json::Value as Json;

#[derive(Clone, Copy)]
pub(super) struct Track {
    pub(super) process: u64,
    pub(super) thread: u64,
}

pub(super) struct Writer<'a> {
    out: &'a mut dyn Write,
    is_first: bool,
    /// The first error of `out`; nothing is written after it.
    failed: Option<Error>,
}

impl<'a> Writer<'a> {
    /// `about` is the object `otherData`.
    pub(super) fn new(out: &'a mut dyn Write, about: &Json) -> Self {
        let mut writer = Self {
            out,
            is_first: true,
            failed: None,
        };
        writer.put(format_args!(
            "{{\"displayTimeUnit\":\"ms\",\"otherData\":{about},\n\"traceEvents\":["
        ));
        writer
    }

    /// # Errors
    /// The first error of the file.
    pub(super) fn finish(mut self) -> Result<(), Error> {
        self.put(format_args!("\n]}}\n"));
        self.failed.map_or(Ok(()), Err)
    }

    fn put(&mut self, text: Arguments<'_>) {
        if self.failed.is_none() {
            self.failed = self.out.write_fmt(text).err();
        }
    }

    fn event(&mut self, text: Arguments<'_>) {
        let before = if self.is_first { "\n" } else { ",\n" };
        self.is_first = false;
        self.put(format_args!("{before}{text}"));
    }

    /// The name of a process, and its position among the processes.
    pub(super) fn process(&mut self, pid: u64, order: u64, name: &str) {
        let name = quoted(name);
        self.event(format_args!(
            r#"{{"ph":"M","name":"process_name","pid":{pid},"tid":0,"args":{{"name":{name}}}}}"#
        ));
        self.event(format_args!(
            r#"{{"ph":"M","name":"process_sort_index","pid":{pid},"tid":0,"args":{{"sort_index":{order}}}}}"#
        ));
    }

    pub(super) fn thread(&mut self, track: Track, name: &str) {
        let Track { process, thread } = track;
        let name = quoted(name);
        self.event(format_args!(
            r#"{{"ph":"M","name":"thread_name","pid":{process},"tid":{thread},"args":{{"name":{name}}}}}"#
        ));
        self.event(format_args!(
            r#"{{"ph":"M","name":"thread_sort_index","pid":{process},"tid":{thread},"args":{{"sort_index":{thread}}}}}"#
        ));
    }

    /// An event from one nanosecond to another.
    pub(super) fn slice(&mut self, track: Track, start: u64, end: u64, name: &str, category: &str, args: &Json) {
        let Track { process, thread } = track;
        let (name, ts, dur) = (quoted(name), Micros(start), Micros(end.saturating_sub(start)));
        self.event(format_args!(
            r#"{{"ph":"X","name":{name},"cat":"{category}","pid":{process},"tid":{thread},"ts":{ts},"dur":{dur},"args":{args}}}"#
        ));
    }

    /// An event at one time.
    pub(super) fn instant(&mut self, track: Track, at: u64, name: &str, category: &str, args: &Json) {
        let Track { process, thread } = track;
        let (name, ts) = (quoted(name), Micros(at));
        self.event(format_args!(
            r#"{{"ph":"i","s":"t","name":{name},"cat":"{category}","pid":{process},"tid":{thread},"ts":{ts},"args":{args}}}"#
        ));
    }

    /// The value of a process's counter from a time on; the name is [`quoted`].
    pub(super) fn counter(&mut self, pid: u64, at: u64, name: &str, value: u64) {
        let ts = Micros(at);
        self.event(format_args!(
            r#"{{"ph":"C","name":{name},"pid":{pid},"tid":0,"ts":{ts},"args":{{"bytes":{value}}}}}"#
        ));
    }
}

pub(super) fn quoted(text: &str) -> String {
    Json::from(text).to_string()
}

/// Nanoseconds, written as microseconds.
struct Micros(u64);

impl fmt::Display for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1000, self.0 % 1000)
    }
}
