//! Reports of failed requests in records.

use super::fact::{Report, ReportKind};
use super::head::Record;
use super::patterns::{Reads, first_report};

/// One of them is in every record below the level warning that reports a failed request; most have none, which is seen fast.
const SIGNS: [&str; 4] = ["fail", "out of memory", "tried to allocate", "[Check] sum of"];

/// The report of a record.
pub(super) fn of_record(record: &Record<'_>) -> Option<Report> {
    let text = record.text;
    if !record.is_loud && !SIGNS.iter().any(|sign| text.contains(sign)) {
        return None;
    }
    let is_of_engine = record.is_error && record.module == "GE";
    let mut report = first_report(text, |row| match row.reads {
        Reads::Request(ReportKind::Retry) => record.is_error,
        Reads::Request(_) => true,
        Reads::InBlock => is_of_engine,
        Reads::Detail | Reads::Statement(_) => false,
    })?;
    if report.kind == ReportKind::Retry {
        report.who = Some(if record.module == "GE" { "GE" } else { "APP" }.to_owned());
    }
    Some(report)
}
