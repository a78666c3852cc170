//! Failed requests: reports of one process that tell of the same wish are one.

use super::fact::{At, Report, ReportKind};
use super::field::Amount;
use highwater_model::workload::{Library, LogTime, LoggedFailure, MemoryPlace};

/// Microseconds within which reports may be of one request.
const TOGETHER: i64 = 1_000_000;

/// Lines within which sentences without a time may be of one request.
const BESIDE: u64 = 50;

/// Microseconds within which sentences of one library on the same bytes are of one request: it may print its chunks between.
const TOLD_TWICE: i64 = 60_000_000;

/// Bytes by which TensorFlow's allocator rounds a request up, at most.
const ROUNDED: u64 = 256;

/// Requests that are looked at for a report, the last ones: those of a second.
const MOST_OPEN: usize = 64;

#[derive(Debug)]
struct Request {
    at: At,
    first: Option<i64>,
    last: Option<i64>,
    last_driver: Option<i64>,
    /// Only pages were asked so far: the wish itself may follow.
    is_of_pages: bool,
    graph_before: Option<u64>,
    report: Report,
    driver_lines: u64,
    was_retried: bool,
}

#[derive(Debug, Default)]
pub(super) struct Requests {
    all: Vec<Request>,
}

impl Requests {
    /// Takes a report; `graph` is the one that was compiled last.
    pub(super) fn take(&mut self, at: At, report: &Report, graph: Option<u64>) {
        if matches!(report.kind, ReportKind::Addition | ReportKind::Retry) {
            let found = self.open().iter_mut().rev().find(|one| one.may_gain(at, report));
            if let Some(request) = found {
                request.was_retried |= report.kind == ReportKind::Retry;
                request.fill(report);
            }
            return;
        }
        if report.kind == ReportKind::Echo
            && let Some(request) = self.open().iter_mut().rev().find(|one| one.is_echoed(at, report))
        {
            request.fill(report);
            return;
        }
        if report.kind == ReportKind::Sentence {
            self.end_attempts(at, report);
        }
        let is_plain = matches!(report.kind, ReportKind::Malloc | ReportKind::Driver);
        if let Some(request) = self.open().iter_mut().rev().find(|one| one.is_same(at, report)) {
            request.join(at, report);
        } else if is_plain && self.open().iter().any(|one| one.is_page_of(at, report)) {
            self.join_pages(at, report);
        } else {
            self.all.push(Request::new(at, report, graph));
        }
    }

    /// A library that then reports another request went on after its attempts at a larger one.
    fn end_attempts(&mut self, at: At, report: &Report) {
        let is_ended = |one: &&mut Request| {
            one.report.kind == ReportKind::Attempt && one.report.library == report.library && one.is_beside(at)
        };
        self.open()
            .iter_mut()
            .filter(is_ended)
            .for_each(|one| one.was_retried = true);
    }

    pub(super) fn has_any(&self) -> bool {
        !self.all.is_empty()
    }

    fn open(&mut self) -> &mut [Request] {
        let closed = self.all.len().saturating_sub(MOST_OPEN);
        &mut self.all[closed..]
    }

    /// Pages that were asked before a plain request belong to it.
    fn join_pages(&mut self, at: At, report: &Report) {
        let closed = self.all.len().saturating_sub(MOST_OPEN);
        let open = self.all.split_off(closed).into_iter();
        let (pages, mut rest): (Vec<Request>, Vec<Request>) = open.partition(|one| one.is_page_of(at, report));
        let mut pages = pages.into_iter();
        if let Some(mut whole) = pages.next() {
            for page in pages {
                whole.driver_lines += page.driver_lines;
                whole.last_driver = whole.last_driver.max(page.last_driver);
                whole.fill(&page.report);
            }
            whole.report.asked = None;
            whole.is_of_pages = false;
            whole.join(at, report);
            let position = rest
                .iter()
                .position(|one| one.first > whole.first)
                .unwrap_or(rest.len());
            rest.insert(position, whole);
        }
        self.all.extend(rest);
    }

    /// Until when the driver's rows are of each request; `None` without a time.
    pub(super) fn driver_times(&self) -> Vec<Option<i64>> {
        self.all.iter().map(|one| one.last_driver.or(one.first)).collect()
    }

    /// The requests, each with its time.
    pub(super) fn finish(self) -> Vec<(LoggedFailure, Option<i64>)> {
        self.all
            .into_iter()
            .map(|one| (one.first, one))
            .map(|(time, one)| (one.finish(), time))
            .collect()
    }
}

impl Request {
    fn new(at: At, report: &Report, graph: Option<u64>) -> Self {
        let is_driver = report.kind.is_driver();
        Self {
            at,
            first: at.stamp,
            last: at.stamp,
            last_driver: at.stamp.filter(|_| is_driver),
            is_of_pages: report.kind.is_page(),
            graph_before: graph,
            report: report.clone(),
            driver_lines: u64::from(is_driver),
            was_retried: report.kind == ReportKind::Tolerated,
        }
    }

    fn is_near(&self, at: At) -> bool {
        let near = |one: Option<i64>| Some((one? - at.stamp?).abs() <= TOGETHER);
        near(self.first) == Some(true) || near(self.last) == Some(true)
    }

    fn is_beside(&self, at: At) -> bool {
        self.at.file == at.file && at.position.saturating_sub(self.at.position) <= BESIDE
    }

    /// Whether both may be of one asker on one device.
    fn is_of_same(&self, report: &Report) -> bool {
        let who = match (self.report.who.as_deref(), report.who.as_deref()) {
            (Some("torch"), Some("APP")) | (Some("APP"), Some("torch")) | (Some("TensorFlow"), Some("XLA")) => true,
            (Some(one), Some(other)) => one == other,
            _ => true,
        };
        who && self.is_of_device(report)
    }

    fn is_of_device(&self, report: &Report) -> bool {
        let devices = self.report.device.zip(report.device);
        devices.is_none_or(|(one, other)| one == other)
    }

    fn is_same_size(&self, report: &Report) -> bool {
        let sizes = self.report.asked.zip(report.asked);
        let is_rounded = |one: Amount, other: Amount| {
            matches!(report.library, Library::TensorFlow | Library::Jax)
                && one.bytes().abs_diff(other.bytes()) < ROUNDED
        };
        sizes.is_none_or(|(one, other)| one.agrees(other) || is_rounded(one, other))
    }

    /// Two forms of one library's words on the same request.
    fn is_told_twice(&self, at: At, report: &Report) -> bool {
        let is_xla = |library: Library| matches!(library, Library::TensorFlow | Library::Jax);
        let is_same_library =
            self.report.library == report.library || is_xla(self.report.library) && is_xla(report.library);
        let is_other_form = self.report.row != report.row && is_same_library;
        let is_other_form = is_other_form || self.report.is_repeated_by(report);
        let is_told = self.report.asked.is_some() && report.asked.is_some();
        let is_far = |(one, other): (i64, i64)| (one - other).abs() > TOLD_TWICE;
        let is_far = self.last.zip(at.stamp).is_some_and(is_far);
        let both = self.report.kind.is_sentence() && report.kind.is_sentence();
        both && is_other_form && is_told && !is_far && self.is_same_size(report) && self.is_of_same(report)
    }

    fn is_same(&self, at: At, report: &Report) -> bool {
        if self.report.kind == ReportKind::Check || report.kind == ReportKind::Check {
            return self.report.is_repeated_by(report) && self.is_near(at);
        }
        if self.is_told_twice(at, report) {
            return true;
        }
        if self.report.kind == ReportKind::Attempt && report.kind == ReportKind::Attempt {
            return self.is_beside(at);
        }
        let n_sentences = [&self.report, report]
            .iter()
            .filter(|one| one.kind.is_sentence())
            .count();
        if self.first.is_none() && at.stamp.is_none() {
            let is_plain = n_sentences == 0 && self.is_of_same(report);
            let is_passed_on = self.report.kind == ReportKind::Echo && self.is_of_device(report);
            let is_one = (is_plain || is_passed_on) && self.is_beside(at) && self.is_same_size(report);
            return is_one || self.report.is_repeated_by(report);
        }
        if self.first.is_none() || at.stamp.is_none() {
            // A sentence of a library has no time: its size must tell, or the lines around it.
            let is_told = self.report.asked.is_some() && report.asked.is_some();
            let is_beside = self.is_beside(at) && self.is_of_same(report);
            let is_one = n_sentences > 0 || self.report.kind == ReportKind::Echo;
            return is_one && self.is_same_size(report) && self.is_of_device(report) && (is_told || is_beside);
        }
        if self.report.kind.is_sentence() && self.first == at.stamp && self.is_same_size(report) {
            return self.is_of_device(report);
        }
        self.is_near(at) && self.is_same_size(report) && self.is_of_same(report)
    }

    /// Whether a line passes on what this request reports.
    fn is_echoed(&self, at: At, report: &Report) -> bool {
        let is_near = self.is_near(at) || self.is_beside(at);
        is_near && self.is_same_size(report) && self.is_of_device(report)
    }

    /// Whether it is a page that a plain request may have asked for first.
    fn is_page_of(&self, at: At, report: &Report) -> bool {
        self.is_of_pages && self.is_near(at) && self.is_of_same(report)
    }

    fn may_gain(&self, at: At, report: &Report) -> bool {
        let is_near = self.is_near(at) || self.first.is_none() && at.stamp.is_none();
        let is_one = self.report.kind != ReportKind::Check;
        is_near && is_one && self.is_same_size(report) && self.is_of_same(report)
    }

    fn join(&mut self, at: At, report: &Report) {
        self.was_retried &= report.kind == ReportKind::Tolerated;
        if self.report.kind == ReportKind::Echo {
            // What it passed on tells the time.
            self.first = at.stamp.or(self.first);
            self.report.kind = report.kind;
        }
        self.first = self.first.or(at.stamp);
        self.last = at.stamp.or(self.last);
        if report.kind.is_driver() {
            self.driver_lines += 1;
            self.last_driver = at.stamp.or(self.last_driver);
        }
        if matches!(report.kind, ReportKind::Malloc | ReportKind::Driver) {
            self.is_of_pages = false;
        }
        self.fill(report);
    }

    fn fill(&mut self, report: &Report) {
        self.report.fill(report);
    }

    fn finish(self) -> LoggedFailure {
        let report = self.report;
        // Purposes are the engine's words.
        let who = report.who.or_else(|| report.purpose.as_ref().map(|_| "GE".to_owned()));
        let is_engine = who.as_deref() == Some("GE");
        LoggedFailure {
            at: self.first.map(LogTime),
            refused: report.refused,
            purpose: report.purpose,
            requested: report.asked.map(Amount::bytes),
            is_rounded: report.asked.is_some_and(|asked| !asked.is_exact()),
            device: report.device.filter(|_| report.memory == MemoryPlace::Device),
            who,
            library: report.library,
            memory: report.memory,
            line: report.line,
            kernel: report.kernel,
            graph: report.graph.or(self.graph_before).filter(|_| is_engine),
            allocated: report.allocated,
            reserved: report.reserved,
            largest_free: report.largest_free,
            free: report.free,
            total: report.total,
            allowed: report.allowed,
            holders: report.holders,
            driver_lines: self.driver_lines,
            was_retried: self.was_retried,
            n_events: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(kind: ReportKind, bytes: u64, who: &str) -> Report {
        Report {
            kind,
            asked: (bytes > 0).then(|| Amount::exact(bytes)),
            who: (!who.is_empty()).then(|| who.to_owned()),
            ..Report::default()
        }
    }

    fn failures(reports: &[(i64, Report)]) -> Vec<LoggedFailure> {
        let mut requests = Requests::default();
        for (position, (stamp, report)) in (0..).zip(reports) {
            let at = At {
                stamp: Some(*stamp),
                file: 0,
                position,
            };
            requests.take(at, report, Some(21));
        }
        requests.finish().into_iter().map(|(failure, _)| failure).collect()
    }

    #[test]
    fn reports_of_one_wish_are_one_request() {
        let found = failures(&[
            (0, report(ReportKind::Driver, 64, "GE")),
            (300, report(ReportKind::Driver, 64, "GE")),
            (400, report(ReportKind::Malloc, 64, "GE")),
            (500, report(ReportKind::Code, 0, "GE")),
            (2_000_000, report(ReportKind::Driver, 64, "GE")),
        ]);
        let told: Vec<_> = found
            .iter()
            .map(|one| (one.requested, one.driver_lines, one.graph))
            .collect();
        assert_eq!(told, [(Some(64), 2, Some(21)), (Some(64), 1, Some(21))]);
    }

    #[test]
    fn a_request_that_is_repeated_is_final_only_where_it_fails_again() {
        let retry = || report(ReportKind::Retry, 0, "GE");
        let found = failures(&[
            (0, report(ReportKind::Driver, 64, "GE")),
            (10, retry()),
            (20, report(ReportKind::Driver, 64, "GE")),
            (3_000_000, report(ReportKind::Driver, 65, "GE")),
            (3_000_010, retry()),
            (3_000_020, report(ReportKind::Driver, 65, "APP")),
        ]);
        let told: Vec<_> = found.iter().map(|one| (one.requested, one.was_retried)).collect();
        assert_eq!(told, [(Some(64), false), (Some(65), true), (Some(65), false)]);
        assert_eq!(LoggedFailure::main(&found[1..]), Some(1));
        assert_eq!(LoggedFailure::main(&found[1..2]), Some(0));
    }

    #[test]
    fn pages_before_a_plain_request_belong_to_it() {
        let found = failures(&[
            (0, report(ReportKind::DriverPage, 1 << 30, "GE")),
            (10, report(ReportKind::Page, 1 << 30, "GE")),
            (20, report(ReportKind::DriverPage, 2 << 20, "GE")),
            (30, report(ReportKind::Driver, 777, "GE")),
        ]);
        assert_eq!(
            (found.len(), found[0].requested, found[0].driver_lines),
            (1, Some(777), 3)
        );
        let pages = failures(&[(0, report(ReportKind::DriverPage, 2 << 20, "GE"))]);
        assert_eq!(pages[0].requested, Some(2 << 20));
    }

    #[test]
    fn other_sizes_and_askers_are_other_requests() {
        let found = failures(&[
            (0, report(ReportKind::Driver, 64, "GE")),
            (1, report(ReportKind::Driver, 65, "GE")),
            (2, report(ReportKind::Driver, 64, "HCCL")),
            (3, report(ReportKind::Check, 64, "GE")),
        ]);
        assert_eq!(found.len(), 4);
        assert_eq!(found[2].graph, None);
    }
}
