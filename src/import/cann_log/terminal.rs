//! Lines without a record: text that a user saw. Sentences by the table, blocks of error codes, tracebacks, settings, tables of
//! tools.

use indexmap::IndexMap;

use super::escapes::{has_lines, lines_within};
use super::fact::{At, Report, ReportKind};
use super::field::{after, leading, number};
use super::head::stamp;
use super::passages::{Passage, Passages, plain};
use super::patterns::{Found, Pattern, Reads, marks};
use super::reader::Reader;
use super::settings::{Named, Stated};
use super::tools::Tables;
use super::traceback::Tracebacks;
use highwater_model::workload::{Library, LogTime, LoggedStatement, MemoryPlace};

/// Lines behind a sentence within which lines add to it.
const BEHIND: u64 = 4000;

/// Lines behind a sentence within which a line names its process.
const NAMED_BELOW: u64 = 10;

/// The newest torch whose sentence calls reserved memory cached: what it lacks, older ones lack too.
const OLD_TORCH: &str = "1.3";

/// Lines below a record that belong to its block.
const BELOW_RECORD: u64 = 20;

/// Settings and releases of one text, at most.
const MOST_NAMED: usize = 100;

/// Sentences of a file without a process that are kept, the first ones.
const MOST_SENTENCES: usize = 10_000;

/// Marks of one passage that are looked at, the first ones.
const MOST_MARKS: usize = 256;

/// Bytes of a line that can begin with a time.
const TIME_BYTES: usize = 40;

/// What is known between the lines of terminal text.
#[derive(Debug, Default)]
pub(super) struct Terminal {
    passages: Passages<Begin>,
    tracebacks: Tracebacks,
    tables: Tables,
    stated: Stated,
    /// The last sentence: lines below may add to it.
    last: Option<(Option<u64>, At, Report)>,
    /// Of all text without a process: they hold for all processes.
    pub(super) settings: IndexMap<String, String>,
    pub(super) versions: IndexMap<String, String>,
}

/// Where a sentence begins.
#[derive(Clone, Copy, Debug)]
struct Begin {
    at: At,
    /// The process that its line names.
    pid: Option<u64>,
    /// The time that its line begins with.
    stamp: Option<i64>,
}

impl Reader {
    pub(super) fn terminal(&mut self, line: &str) {
        if has_lines(line) {
            for line in lines_within(line) {
                self.text_line(&line);
            }
        } else {
            self.text_line(line);
        }
    }

    /// Terminal text ends: a record, or the end of the file.
    pub(super) fn end_terminal(&mut self) {
        if let Some(passage) = self.terminal.passages.end() {
            self.passage(&passage);
        }
        self.settle();
    }

    fn text_line(&mut self, raw: &str) {
        let line = plain(raw);
        if line.trim().is_empty() {
            if let Some(passage) = self.terminal.passages.end() {
                self.passage(&passage);
            }
            self.block = None;
            return;
        }
        let named = named_process(&line);
        let pid = named.or_else(|| launched_process(&line));
        let time = time_of(&line);
        let at = self.at(time);
        if let Some(pid) = pid {
            self.seen(Some(pid), at);
            self.has_several |= self.recorded.is_some_and(|(of, _)| of != pid);
        }
        self.terminal.tracebacks.take(raw, pid, self.position);
        self.remarks(&line, pid, at);
        let found = marks(&line);
        let begin = Begin {
            at,
            pid,
            stamp: leading_stamp(raw),
        };
        if self.adds_to_last(&line, &found, begin) {
            return;
        }
        if let Some(pid) = named.filter(|_| line.contains("ERR0")) {
            self.name_process(pid, at.position, number(&line, "Device:"));
        }
        let is_call = line.contains("ERR00100");
        if let Some(pid) = named.filter(|_| is_call) {
            self.failed_call(pid, time, number(&line, "Device:"));
        }
        let n_before = self.n_sentences;
        for passage in self.terminal.passages.take(&line, &found, begin) {
            self.passage(&passage);
        }
        if is_call || self.n_sentences > n_before || self.terminal.passages.is_open() {
            return;
        }
        if named.is_some() {
            self.block = Some((named, time));
        } else {
            self.rest_of_block(pid, &line, &found);
        }
    }

    /// The line below a sentence of `torch_npu` that names its process.
    fn name_process(&mut self, pid: u64, position: u64, device: Option<u64>) {
        if let Some((of @ None, at, last)) = &mut self.terminal.last
            && last.library == Library::TorchNpu
            && position.saturating_sub(at.position) <= NAMED_BELOW
            && last.device.zip(device).is_none_or(|(one, other)| one == other)
        {
            *of = Some(pid);
            last.device = last.device.or(device);
        }
    }

    /// A call of `torch_npu` failed: the block after it is of this process.
    fn failed_call(&mut self, pid: u64, time: Option<i64>, device: Option<u64>) {
        self.settle();
        self.calls.insert(pid, device);
        if let Some(draft) = self.draft(Some(pid)) {
            draft.device(device);
        }
        self.join_echo(pid);
        self.block = Some((Some(pid), time));
    }

    /// Settings, releases and rows of tools in a line.
    fn remarks(&mut self, line: &str, pid: Option<u64>, at: At) {
        for named in self.terminal.stated.take(line) {
            match named {
                Named::Setting(name, value) => self.setting(pid, name, value),
                Named::Release(name, release) => {
                    let versions = &mut self.terminal.versions;
                    versions.entry(name.to_owned()).or_insert_with(|| release.to_owned());
                }
            }
        }
        if let Some(row) = self.terminal.tables.take(line) {
            self.state(None, at, row.text, row.device);
        }
    }

    fn setting(&mut self, pid: Option<u64>, name: &str, value: Option<&str>) {
        let of = match pid.and_then(|pid| self.draft(Some(pid))) {
            Some(draft) => &mut draft.settings,
            None => &mut self.terminal.settings,
        };
        match value {
            Some(value) if of.len() < MOST_NAMED => {
                of.insert(name.to_owned(), value.to_owned());
            }
            Some(_) => {}
            None => {
                of.shift_remove(name);
            }
        }
    }

    fn state(&mut self, pid: Option<u64>, at: At, text: String, device: Option<u64>) {
        self.seen(pid, at);
        if let Some(draft) = self.draft(pid) {
            let at = at.stamp.map(LogTime);
            draft.state(LoggedStatement { at, text, device });
        }
    }

    /// A line that adds to the last sentence, of the same library.
    fn adds_to_last(&mut self, line: &str, found: &[Found], begin: Begin) -> bool {
        let details = rows_of(found, Reads::Detail);
        if details.is_empty() {
            return false;
        }
        let last = self.terminal.last.as_ref();
        let is_open = last.is_some_and(|(_, _, last)| details.iter().any(|row| row.library == last.library));
        if !is_open && let Some(passage) = self.terminal.passages.end() {
            self.passage(&passage);
        }
        let Some((pid, at, last)) = &mut self.terminal.last else {
            return false;
        };
        let is_near = begin.at.position.saturating_sub(at.position) <= BEHIND;
        let is_other = begin.pid.is_some() && begin.pid != *pid;
        if !is_near || is_other && pid.is_some() {
            return false;
        }
        let mut is_added = false;
        for row in details {
            if row.library == last.library
                && let Some(addition) = row.report("", line)
                && (!is_other || addition.process.is_some())
            {
                *pid = pid.or(addition.process);
                last.fill(&addition);
                is_added = true;
            }
        }
        is_added
    }

    /// A whole passage: its sentences, one after another.
    fn passage(&mut self, passage: &Passage<Begin>) {
        let text = &passage.text;
        let found = marks(text);
        let mut before: &str = &passage.before;
        let mut last_at = None;
        let mut has_report = false;
        for one in found.iter().take(MOST_MARKS) {
            let row = one.row();
            if last_at == Some(one.at) || !matches!(row.reads, Reads::Request(_) | Reads::Statement(_)) {
                continue;
            }
            let next = found.iter().find(|other| other.row == one.row && other.at > one.at);
            let sentence = next.map_or_else(
                || text[one.at..].to_owned(),
                |next| format!("{}\n", &text[one.at..next.at]),
            );
            let pid = launched_last(before).or(passage.begin.pid);
            if let Some((words, device)) = row.statement(&sentence) {
                self.state(pid, passage.begin.at, words, device);
            } else if let Some(report) = row.report(before, &sentence) {
                // Bare words behind a report are of the same sentence.
                let is_bare = !report.has_figures && (report.kind.is_sentence() || report.kind == ReportKind::Echo);
                if is_bare && has_report {
                    continue;
                }
                has_report = true;
                self.sentence(pid, passage.begin, report);
            } else {
                continue;
            }
            last_at = Some(one.at);
            before = &text[one.at..];
            if let Some(next) = next {
                before = &text[one.at..next.at];
            }
        }
    }

    fn sentence(&mut self, pid: Option<u64>, begin: Begin, mut report: Report) {
        self.settle();
        self.n_sentences += 1;
        let pid = report.process.or(pid);
        let (line, is_pinning) = self.terminal.tracebacks.before(pid, begin.at.position);
        report.line = line.map(str::to_owned);
        if report.is_cached {
            let versions = &mut self.terminal.versions;
            versions
                .entry("torch".to_owned())
                .or_insert_with(|| OLD_TORCH.to_owned());
        }
        if is_pinning && !report.has_figures && report.kind.is_sentence() {
            report.memory = MemoryPlace::Host;
        }
        if report.kind.is_sentence() {
            self.block = None;
            let is_of_ascend = report.library.is_of_ascend();
            let stamp = begin.at.stamp.or(begin.stamp.filter(|_| !is_of_ascend));
            self.terminal.last = Some((pid, At { stamp, ..begin.at }, report));
            return;
        }
        let (of, time) = match self.block {
            Some((of, time)) if pid.is_none() || pid == of => (of, begin.at.stamp.or(time)),
            _ => (pid, begin.at.stamp),
        };
        let at = At {
            stamp: time,
            ..begin.at
        };
        match report.kind {
            ReportKind::Code => {
                // A code begins a block with its process and time, or goes on with that of a call that failed.
                let pid = pid.or(of).or_else(|| self.reported_before(begin.at, &report));
                self.block = Some((pid, at.stamp));
                self.code(pid, at, report);
            }
            ReportKind::Echo if of.is_none() && self.block.is_none() && !self.is_behind_record(at) => {
                self.wait(at, report);
            }
            ReportKind::Retry => {}
            _ => {
                let of = of.or_else(|| self.reported_before(at, &report));
                if report.kind == ReportKind::Echo && report.device.is_none() {
                    report.device = of.and_then(|pid| self.calls.get(&pid).copied().flatten());
                }
                self.join_waiting(of, at, &report);
                self.report(of, at, report);
            }
        }
    }

    /// Whether the records of one process are a few lines before.
    fn is_behind_record(&self, at: At) -> bool {
        let behind = |(_, position): (u64, u64)| at.position.saturating_sub(position) <= BELOW_RECORD;
        !self.has_several && self.recorded.is_some_and(behind)
    }

    fn wait(&mut self, at: At, report: Report) {
        if self.waiting.len() < MOST_SENTENCES {
            self.waiting.push((at, report));
        }
    }

    /// The last sentence goes to its process: the one that it names, else one that reports the same size, else it waits.
    pub(super) fn settle(&mut self) {
        let Some((pid, at, report)) = self.terminal.last.take() else {
            return;
        };
        match pid.or_else(|| self.reported_before(at, &report)) {
            Some(pid) => self.report(Some(pid), at, report),
            None => self.wait(at, report),
        }
    }

    /// A line that belongs to the block before it.
    fn rest_of_block(&mut self, pid: Option<u64>, line: &str, found: &[Found]) {
        let Some((of, time)) = self.block else {
            self.bare_call(pid, line, found);
            return;
        };
        if pid.is_some() && pid != of {
            self.block = None;
            return;
        }
        let mut rows = rows_of(found, Reads::InBlock).into_iter();
        if let Some(report) = rows.find_map(|row| row.report("", line)) {
            let at = self.at(time);
            self.join_waiting(of, at, &report);
            self.report(of, at, report);
        }
    }
}

impl Reader {
    /// A line of the engine that users cut out of its block.
    fn bare_call(&mut self, pid: Option<u64>, line: &str, found: &[Found]) {
        let mut rows = rows_of(found, Reads::InBlock).into_iter();
        let report = rows.find_map(|row| row.report("", line));
        if let Some(mut report) = report.filter(|report| report.asked.is_some() && report.purpose.is_some()) {
            report.kind = ReportKind::Malloc;
            let at = self.at(None);
            let pid = pid.or_else(|| self.reported_before(at, &report));
            self.report(pid, at, report);
        }
    }
}

/// The rows of these marks that are read so, each once, in the order of the table.
fn rows_of(found: &[Found], reads: Reads) -> Vec<&'static Pattern> {
    let mut rows: Vec<Found> = found.iter().filter(|one| one.row().reads == reads).copied().collect();
    rows.sort_by_key(|one| one.row);
    rows.dedup_by_key(|one| one.row);
    rows.into_iter().map(Found::row).collect()
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

/// The last process that a text in front of a sentence names.
fn launched_last(before: &str) -> Option<u64> {
    let places = ["pid=", "[PID:", "(PID:"]
        .into_iter()
        .filter_map(|mark| before.rfind(mark));
    let at = places.max()?;
    let rest = &before[at..];
    launched_process(rest).or_else(|| named_process(rest))
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

/// The time that a container's log or a library puts in front of a line: `2026-03-02T09:10:11`.
fn leading_stamp(line: &str) -> Option<i64> {
    let bytes = line.as_bytes();
    let head = &bytes[..bytes.len().min(TIME_BYTES)];
    let at = head.iter().position(u8::is_ascii_digit)?;
    stamp(line.get(at..)?).map(|(micros, _)| micros)
}

/// The library whose sentences have the process of a record before them.
pub(super) const fn writes_records(library: Library) -> bool {
    matches!(
        library,
        Library::MindSpore | Library::TorchNpu | Library::Cann | Library::Paddle
    )
}
