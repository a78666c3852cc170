//! The lines of all files of a log, told apart by process.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::draft::Draft;
use super::fact::{At, Report, Says};
use super::field::{after, leading, number};
use super::head::{records, stamp};
use super::repeats::{LogKind, Repeats};
use super::{failure, statement};

/// The most processes of one log; text with more is no log.
const MOST_PROCESSES: usize = 20_000;

/// Sentences that are looked at for a code, the last ones.
const MOST_WAITING: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Reader {
    pub(super) processes: IndexMap<Option<u64>, Draft>,
    repeats: Repeats,
    /// Whether several files make one story, in the order of their times.
    pub(super) is_by_time: bool,
    file: u32,
    kind: Option<LogKind>,
    position: u64,
    /// The process and time of the block of terminal text that is being read.
    block: Option<(Option<u64>, Option<i64>)>,
    /// Sentences without a process: a code after them may tell it.
    waiting: Vec<(At, Report)>,
    /// Processes of which `torch_npu` reports a failed call, with the device.
    calls: BTreeMap<u64, Option<u64>>,
}

impl Reader {
    /// Takes note of a line of the first pass: records of run logs.
    pub(super) fn note(&mut self, path: &str, line: &str) {
        let (before, found) = records(line);
        let kind = of_grep(before).or_else(|| LogKind::of_path(path));
        if kind == Some(LogKind::Run) {
            for record in &found {
                self.repeats.note(record);
            }
        }
    }

    pub(super) fn begin_file(&mut self, file: u32, path: &str) {
        self.file = file;
        self.kind = LogKind::of_path(path);
        self.block = None;
    }

    pub(super) fn end_file(&mut self) {
        for (at, report) in std::mem::take(&mut self.waiting) {
            self.report(None, at, report);
        }
        self.calls.clear();
    }

    pub(super) fn line(&mut self, line: &str) {
        self.position += 1;
        let (before, found) = records(line);
        if found.is_empty() {
            self.terminal(line);
            return;
        }
        let kind = of_grep(before).or(self.kind);
        for record in &found {
            let at = self.at(Some(record.stamp));
            let is_repeated = self.repeats.is_repeated(record, kind);
            let is_by_time = self.is_by_time;
            let Some(draft) = self.draft(Some(record.pid)) else {
                continue;
            };
            draft.seen(at, is_by_time);
            draft.has_records = true;
            if draft.name.is_none() && !record.name.is_empty() {
                draft.name = Some(record.name.to_owned());
            }
            if is_repeated {
                draft.repeated += 1;
            } else {
                statement::take(record, at, draft);
            }
            self.position += 1;
        }
    }

    fn at(&self, stamp: Option<i64>) -> At {
        At {
            stamp,
            file: self.file,
            position: self.position,
        }
    }

    fn draft(&mut self, pid: Option<u64>) -> Option<&mut Draft> {
        if self.processes.len() >= MOST_PROCESSES && !self.processes.contains_key(&pid) {
            return None;
        }
        Some(self.processes.entry(pid).or_default())
    }

    fn report(&mut self, pid: Option<u64>, at: At, report: Report) {
        let is_by_time = self.is_by_time;
        if let Some(draft) = self.draft(pid) {
            draft.seen(at, is_by_time);
            draft.device(report.device);
            draft.push(at, None, Says::Report(Box::new(report)));
        }
    }

    /// A line without a record: text that a user saw.
    fn terminal(&mut self, line: &str) {
        if line.trim().is_empty() {
            self.block = None;
            return;
        }
        let named = named_process(line);
        let pid = named.or_else(|| launched_process(line));
        let time = time_of(line);
        let at = self.at(time);
        let is_by_time = self.is_by_time;
        if pid.is_some()
            && let Some(draft) = self.draft(pid)
        {
            draft.seen(at, is_by_time);
        }
        if let Some(pid) = named
            && line.contains("ERR00100")
        {
            let device = number(line, "Device:");
            self.calls.insert(pid, device);
            if let Some(draft) = self.draft(Some(pid)) {
                draft.device(device);
            }
            self.block = Some((Some(pid), time));
        } else if let Some(report) = failure::code(line) {
            self.block = Some((pid, time));
            self.code(pid, at, report);
        } else if let Some(report) = failure::torch(line) {
            self.block = None;
            match pid {
                Some(_) => self.report(pid, at, report),
                None => self.waiting.push((at, report)),
            }
        } else if let Some(rest) = after(line, "Allocation on device ") {
            if let Some(draft) = self.draft(pid) {
                draft.seen(at, is_by_time);
                draft.device(leading(rest));
            }
        } else if named.is_some() {
            self.block = Some((named, time));
        } else {
            self.rest_of_block(pid, line);
        }
    }

    /// A line that belongs to the block before it.
    fn rest_of_block(&mut self, pid: Option<u64>, line: &str) {
        let Some((of, time)) = self.block else { return };
        if pid.is_some() && pid != of {
            self.block = None;
        } else if let Some(report) = failure::addition(line) {
            let at = self.at(time);
            self.join_waiting(of, at, &report);
            self.report(of, at, report);
        }
    }

    fn code(&mut self, pid: Option<u64>, at: At, mut report: Report) {
        if let Some(device) = pid.and_then(|pid| self.calls.remove(&pid)) {
            report.who = Some("torch".to_owned());
            report.device = report.device.or(device);
        }
        self.join_waiting(pid, at, &report);
        self.report(pid, at, report);
    }

    /// A sentence without a process that the same request is reported by: it is of this process.
    fn join_waiting(&mut self, pid: Option<u64>, at: At, report: &Report) {
        let (Some(_), Some(asked)) = (pid, report.asked) else {
            return;
        };
        let same = |(_, sentence): &(At, Report)| sentence.asked.is_some_and(|amount| amount.agrees(asked));
        let far = self.waiting.len().saturating_sub(MOST_WAITING);
        if let Some(position) = self.waiting[far..].iter().rposition(same) {
            let (_, sentence) = self.waiting.remove(far + position);
            self.report(pid, at, sentence);
        }
    }
}

/// The kind of log by the path that grep prints before a line.
fn of_grep(before: &str) -> Option<LogKind> {
    let path = before.trim_end().strip_suffix([':', '-'])?;
    LogKind::of_path(path)
}

/// The process that a sentence names: `[PID: 7]` or `(PID:7,`.
fn named_process(line: &str) -> Option<u64> {
    ["[PID:", "(PID:"].iter().find_map(|mark| number(line, mark))
}

/// The process that a launcher names: `(Worker_TP0 pid=7)`.
fn launched_process(line: &str) -> Option<u64> {
    let at = line.find("pid=")?;
    let is_word = line[..at]
        .chars()
        .next_back()
        .is_none_or(|char| !char.is_alphanumeric() && char != '_');
    is_word.then(|| leading(&line[at + "pid=".len()..])).flatten()
}

/// The time of a block: after the process, or in front of it.
fn time_of(line: &str) -> Option<i64> {
    let after_process = after(line, "[PID:").and_then(|rest| rest.split_once(']'));
    let text = match after_process {
        Some((_, rest)) => rest,
        None => after(line, "[ERROR]")?,
    };
    stamp(text.trim_start_matches(' ')).map(|(micros, _)| micros)
}
