//! Repeated records: printed again, or both in the run log and in the debug log of a process.
//!
//! An event is written to both logs a few microseconds apart. The records of run logs are noted in a first pass, so that their
//! copies are found in any order of the files.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};

use indexmap::IndexMap;

use super::digests::Digests;
use super::head::Record;

/// Records that are remembered; repeats of later ones are not found.
const MOST_RECORDS: usize = 6_000_000;

/// Microseconds between the copies of an event, at most.
const APART: i64 = 1000;

/// The kind of log that a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LogKind {
    Run,
    Debug,
}

impl LogKind {
    /// By the folders of a path.
    pub(super) fn of_path(path: &str) -> Option<Self> {
        let (folders, _) = path.rsplit_once(['/', '\\'])?;
        folders.rsplit(['/', '\\']).find_map(|folder| match folder {
            "run" => Some(Self::Run),
            "debug" => Some(Self::Debug),
            _ => None,
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Copied {
    Open,
    /// Its copy in the debug log counts.
    InDebug,
    /// It counts, its copy does not.
    Itself,
}

#[derive(Debug, Default)]
pub(super) struct Repeats {
    seen: Digests,
    runs: IndexMap<u64, Vec<(i64, Copied)>>,
}

impl Repeats {
    /// Takes note of a record of a run log, in the first pass.
    pub(super) fn note(&mut self, record: &Record<'_>) {
        if self.runs.len() < MOST_RECORDS {
            let copies = self.runs.entry(hash(record, None)).or_default();
            copies.push((record.stamp, Copied::Open));
        }
    }

    /// Whether a record is to be left out, in the second pass.
    pub(super) fn is_repeated(&mut self, record: &Record<'_>, kind: Option<LogKind>) -> bool {
        if kind.is_some_and(|kind| self.is_copied(record, kind)) {
            return true;
        }
        if self.seen.len() >= MOST_RECORDS {
            return false;
        }
        !self.seen.insert(hash(record, Some(record.stamp)))
    }

    fn is_copied(&mut self, record: &Record<'_>, kind: LogKind) -> bool {
        if self.runs.is_empty() {
            return false;
        }
        let Some(copies) = self.runs.get_mut(&hash(record, None)) else {
            return false;
        };
        if kind == LogKind::Run {
            let own = between(copies, record.stamp, record.stamp)
                .iter_mut()
                .find(|(_, state)| *state != Copied::Itself);
            let Some((_, state)) = own else { return false };
            let is_in_debug = *state == Copied::InDebug;
            *state = Copied::Itself;
            return is_in_debug;
        }
        let near = between(copies, record.stamp - APART + 1, record.stamp + APART - 1)
            .iter_mut()
            .filter(|(_, state)| *state != Copied::InDebug)
            .min_by_key(|(stamp, _)| (stamp - record.stamp).abs());
        let Some((_, state)) = near else { return false };
        let is_counted = *state == Copied::Itself;
        *state = Copied::InDebug;
        is_counted
    }
}

/// The copies within two times, both included; run logs are in the order of their times.
fn between(copies: &mut [(i64, Copied)], from: i64, to: i64) -> &mut [(i64, Copied)] {
    let start = copies.partition_point(|(stamp, _)| *stamp < from);
    let after = &mut copies[start..];
    let end = after.partition_point(|(stamp, _)| *stamp <= to);
    &mut after[..end]
}

fn hash(record: &Record<'_>, stamp: Option<i64>) -> u64 {
    let mut hasher = DefaultHasher::new();
    (record.pid, stamp, record.module).hash(&mut hasher);
    hasher.write(record.text.trim_end().as_bytes());
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(stamp: i64, text: &str) -> Record<'_> {
        Record {
            is_error: false,
            is_loud: false,
            module: "GE",
            pid: 1,
            name: "p",
            stamp,
            text,
        }
    }

    #[test]
    fn an_event_in_both_logs_counts_once_in_any_order() {
        for order in [[LogKind::Debug, LogKind::Run], [LogKind::Run, LogKind::Debug]] {
            let mut repeats = Repeats::default();
            repeats.note(&record(10, "x\n"));
            let left_out = order.map(|kind| {
                let stamp = if kind == LogKind::Run { 10 } else { 17 };
                repeats.is_repeated(&record(stamp, "x"), Some(kind))
            });
            assert_eq!(left_out, [false, true], "{order:?}");
        }
    }

    #[test]
    fn equal_texts_far_apart_are_two_events() {
        let mut repeats = Repeats::default();
        repeats.note(&record(10, "x"));
        assert!(!repeats.is_repeated(&record(5000, "x"), Some(LogKind::Debug)));
        assert!(!repeats.is_repeated(&record(10, "x"), Some(LogKind::Run)));
        assert!(repeats.is_repeated(&record(10, "x"), None));
    }

    #[test]
    fn folders_tell_the_kind_of_a_log() {
        assert_eq!(LogKind::of_path("a/run/plog/plog-1.log"), Some(LogKind::Run));
        assert_eq!(LogKind::of_path("run/debug/plog/plog-1.log"), Some(LogKind::Debug));
        assert_eq!(LogKind::of_path("run"), None);
    }
}
