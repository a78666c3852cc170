//! The lines of all files of a log, told apart by process.

use std::collections::{BTreeMap, VecDeque};

use indexmap::IndexMap;

use super::draft::Draft;
use super::fact::{At, Fact, Report, ReportKind, Says};
use super::head::records;
use super::repeats::{LogKind, Repeats};
use super::statement;
use super::terminal::{Terminal, writes_records};

/// The most processes of one log; text with more is no log.
const MOST_PROCESSES: usize = 20_000;

/// Sentences that are looked at for a code, the last ones.
const MOST_WAITING: usize = 64;

/// Lines within which a sentence without a process may be of the process of a record before it, on the same size.
const BEHIND: u64 = 300;

/// Lines within which a code may be of the call that failed before it.
const CALLED: u64 = 10;

#[derive(Debug, Default)]
pub(super) struct Reader {
    pub(super) processes: IndexMap<Option<u64>, Draft>,
    repeats: Repeats,
    /// Whether several files make one story, in the order of their times.
    pub(super) is_by_time: bool,
    file: u32,
    kind: Option<LogKind>,
    pub(super) position: u64,
    /// The process and time of the block of terminal text that is being read.
    pub(super) block: Option<(Option<u64>, Option<i64>)>,
    /// Sentences without a process: a code after them may tell it.
    pub(super) waiting: Vec<(At, Report)>,
    /// Processes of which `torch_npu` reports a failed call, with the device.
    pub(super) calls: BTreeMap<u64, Option<u64>>,
    /// The last reports of records with a size, with their process and position.
    reported: VecDeque<(u64, At, Report)>,
    /// The process and position of the last record of the file, and whether the file has several processes.
    pub(super) recorded: Option<(u64, u64)>,
    pub(super) has_several: bool,
    /// Sentences of terminal text so far.
    pub(super) n_sentences: u64,
    pub(super) terminal: Terminal,
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
        self.end_terminal();
        for (at, report) in std::mem::take(&mut self.waiting) {
            self.report(None, at, report);
        }
        self.calls.clear();
        self.reported.clear();
        self.recorded = None;
        self.has_several = false;
    }

    /// The processes; settings and releases that the text states of no process hold for each.
    pub(super) fn drafts(self) -> Vec<(Option<u64>, Draft)> {
        let mut drafts: Vec<(Option<u64>, Draft)> = self.processes.into_iter().collect();
        let Terminal { settings, versions, .. } = self.terminal;
        let of_any: Vec<(String, String)> = drafts.iter().flat_map(|(_, draft)| draft.settings.clone()).collect();
        for (pid, draft) in &mut drafts {
            for (name, value) in &settings {
                draft.settings.entry(name.clone()).or_insert_with(|| value.clone());
            }
            // A sentence without a process is of one of those that the text names.
            for (name, value) in of_any.iter().filter(|_| pid.is_none()) {
                draft.settings.entry(name.clone()).or_insert_with(|| value.clone());
            }
            for (name, release) in &versions {
                draft.versions.entry(name.clone()).or_insert_with(|| release.clone());
            }
        }
        drafts
    }

    pub(super) fn line(&mut self, line: &str) {
        self.position += 1;
        let (before, found) = records(line);
        if found.is_empty() {
            self.terminal(line);
            return;
        }
        self.end_terminal();
        let kind = of_grep(before).or(self.kind);
        for record in &found {
            let at = self.at(Some(record.stamp));
            self.has_several |= self.recorded.is_some_and(|(pid, _)| pid != record.pid);
            self.recorded = Some((record.pid, self.position));
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
                if let Some(Fact {
                    at: of,
                    says: Says::Report(report),
                    ..
                }) = draft.facts.last()
                    && *of == at
                    && report.asked.is_some()
                {
                    let report = Report::clone(report);
                    self.reported.truncate(MOST_WAITING - 1);
                    self.reported.push_front((record.pid, at, report));
                }
            }
            self.position += 1;
        }
    }

    pub(super) fn at(&self, stamp: Option<i64>) -> At {
        At {
            stamp,
            file: self.file,
            position: self.position,
        }
    }

    pub(super) fn seen(&mut self, pid: Option<u64>, at: At) {
        let is_by_time = self.is_by_time;
        if let Some(draft) = self.draft(pid) {
            draft.seen(at, is_by_time);
        }
    }

    pub(super) fn draft(&mut self, pid: Option<u64>) -> Option<&mut Draft> {
        if self.processes.len() >= MOST_PROCESSES && !self.processes.contains_key(&pid) {
            return None;
        }
        Some(self.processes.entry(pid).or_default())
    }

    pub(super) fn report(&mut self, pid: Option<u64>, at: At, report: Report) {
        let is_by_time = self.is_by_time;
        if let Some(draft) = self.draft(pid) {
            draft.seen(at, is_by_time);
            draft.device(report.device);
            if draft.name.is_none() {
                draft.name.clone_from(&report.program);
            }
            draft.push(at, None, Says::Report(Box::new(report)));
        }
    }

    pub(super) fn code(&mut self, pid: Option<u64>, at: At, mut report: Report) {
        if let Some(device) = pid.and_then(|pid| self.calls.remove(&pid)) {
            report.who = Some("torch".to_owned());
            report.device = report.device.or(device);
        }
        self.join_waiting(pid, at, &report);
        self.report(pid, at, report);
    }

    /// A sentence without a process that the same request is reported by: it is of this process.
    pub(super) fn join_waiting(&mut self, pid: Option<u64>, at: At, report: &Report) {
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

    /// A failed call without a size, a few lines before: it is of this process.
    pub(super) fn join_echo(&mut self, pid: u64) {
        let position = self.position;
        let is_own = |(at, report): &(At, Report)| {
            report.kind == ReportKind::Echo && position.saturating_sub(at.position) <= CALLED
        };
        if self.waiting.last().is_some_and(is_own)
            && let Some((at, report)) = self.waiting.pop()
        {
            self.report(Some(pid), at, report);
        }
    }

    /// The process of a sentence that names none: of a record a few lines before that reports the same size, else of the
    /// only process whose records are before it.
    pub(super) fn reported_before(&self, at: At, report: &Report) -> Option<u64> {
        let is_near = |position: u64| at.position.saturating_sub(position) <= BEHIND;
        if !writes_records(report.library) {
            return None;
        }
        let is_same = |(_, of, record): &&(u64, At, Report)| {
            is_near(of.position)
                && record
                    .asked
                    .zip(report.asked)
                    .is_some_and(|(one, other)| one.agrees(other))
        };
        let same = self.reported.iter().find(is_same).map(|(pid, _, _)| *pid);
        let only = self
            .recorded
            .filter(|(_, position)| !self.has_several && is_near(*position));
        same.or(only.map(|(pid, _)| pid))
    }
}

/// The kind of log by the path that grep prints before a line.
fn of_grep(before: &str) -> Option<LogKind> {
    let path = before.trim_end().strip_suffix([':', '-'])?;
    LogKind::of_path(path)
}
