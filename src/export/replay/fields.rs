//! JSON objects written field by field, and the small values of lines.
//!
//! A line may have a million calls, so it is written into one text without a tree of values.

use std::fmt::Write as _;

use highwater_sim::alloc::{Address, Call, PoolFigures};

#[derive(Debug)]
pub(super) struct Fields {
    out: String,
}

impl Fields {
    pub(super) fn new() -> Self {
        Self { out: "{".to_owned() }
    }

    pub(super) fn number(&mut self, key: &str, value: u64) {
        self.key(key);
        push(&mut self.out, format_args!("{value}"));
    }

    pub(super) fn flag(&mut self, key: &str, value: bool) {
        self.raw(key, if value { "true" } else { "false" });
    }

    pub(super) fn text(&mut self, key: &str, value: &str) {
        let quoted = serde_json::Value::from(value).to_string();
        self.raw(key, &quoted);
    }

    /// Adds a JSON value.
    pub(super) fn raw(&mut self, key: &str, value: &str) {
        self.key(key);
        self.out.push_str(value);
    }

    pub(super) fn finish(mut self) -> String {
        self.out.push('}');
        self.out
    }

    fn key(&mut self, key: &str) {
        if self.out.len() > 1 {
            self.out.push(',');
        }
        push(&mut self.out, format_args!("\"{key}\":"));
    }
}

/// A list of JSON values.
pub(super) fn list(values: impl Iterator<Item = String>) -> String {
    let mut out = "[".to_owned();
    for value in values {
        if out.len() > 1 {
            out.push(',');
        }
        out.push_str(&value);
    }
    out.push(']');
    out
}

/// `["dev",0]`, `["va",8388608]` or `null`.
pub(super) fn address(at: Option<Address>) -> String {
    match at {
        Some(at) if at.is_virtual() => format!("[\"va\",{}]", at.offset()),
        Some(at) => format!("[\"dev\",{}]", at.offset()),
        None => "null".to_owned(),
    }
}

/// The calls of the driver; events of the allocators are left out.
pub(super) fn calls(calls: &[Call]) -> String {
    let mut out = "[".to_owned();
    for call in calls.iter().filter(|call| call.is_of_driver()) {
        if out.len() > 1 {
            out.push(',');
        }
        write_call(&mut out, call);
    }
    out.push(']');
    out
}

fn write_call(out: &mut String, call: &Call) {
    match call {
        Call::Malloc { at, bytes } => push(out, format_args!("[\"malloc\",{at},{bytes}]")),
        Call::MallocFailed { bytes } => push(out, format_args!("[\"malloc_fail\",{bytes}]")),
        Call::Free { at, bytes } => push(out, format_args!("[\"free\",{at},{bytes}]")),
        Call::Reserve { at, bytes } => push(out, format_args!("[\"reserve\",{at},{bytes}]")),
        Call::ReserveFailed { bytes } => push(out, format_args!("[\"reserve_fail\",{bytes}]")),
        Call::Release { at, bytes } => push(out, format_args!("[\"release\",{at},{bytes}]")),
        Call::PageAlloc { page, bytes } => push(out, format_args!("[\"palloc\",{},{bytes}]", page.0)),
        Call::PageAllocFailed { bytes } => push(out, format_args!("[\"palloc_fail\",{bytes}]")),
        Call::PageFree { page, bytes } => push(out, format_args!("[\"pfree\",{},{bytes}]", page.0)),
        Call::Map { at, page, bytes } => push(out, format_args!("[\"map\",{at},{},{bytes}]", page.0)),
        Call::Unmap { at } => push(out, format_args!("[\"unmap\",{at}]")),
        Call::Memset { at, bytes } => {
            let name = if at.is_virtual() { "memset_va" } else { "memset" };
            push(out, format_args!("[\"{name}\",{},{bytes}]", at.offset()));
        }
        Call::Synchronize => out.push_str("[\"sync\"]"),
        Call::Grant { .. }
        | Call::Return { .. }
        | Call::Recycle { .. }
        | Call::Stitch { .. }
        | Call::Split
        | Call::Merge => {}
    }
}

pub(super) fn pool_vector(figures: &PoolFigures) -> String {
    let numbers = [
        figures.occupied,
        figures.idle,
        figures.live,
        figures.live_stitched,
        figures.idle_stitched,
        figures.theory,
        figures.theory_peak,
        figures.requested,
        figures.requested_peak,
        figures.stitched_reserved,
        figures.recycles,
    ];
    list(numbers.iter().map(u64::to_string))
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    out.write_fmt(text).unwrap_or_default();
}
