//! Logs: run logs, debug logs and device logs of CANN, and what users of any library see on the terminal.
//!
//! ```text
//! lines.rs       one line at a time                    reader.rs     told apart by process, repeated ones left out (repeats.rs)
//! head.rs        the records of a line                 statement.rs  what a record says: fixed texts (placement.rs, statistics.rs,
//! fact.rs        what it can say                                     failure.rs)
//! terminal.rs    other lines: escapes.rs, traceback.rs, passages.rs (sentences over lines), tools.rs (tables), settings.rs
//! patterns/      the table of sentences on memory, of all libraries
//! story.rs       facts in their order: graphs, events.rs, pools.rs, requests.rs; recording.rs: a process as a recording
//! ```
//!
//! In: text files. Out: one recording per process, which carries all that the log tells of it. Invariants: a damaged line never
//! fails a file; memory grows with what the log says, not with its length; every step is linear.

mod digests;
mod draft;
mod escapes;
mod events;
mod fact;
mod failure;
mod field;
mod head;
mod lines;
mod passages;
mod patterns;
mod placement;
mod pools;
mod reader;
mod recording;
mod repeats;
mod requests;
mod settings;
mod statement;
mod statistics;
#[cfg(test)]
mod stories;
mod story;
mod terminal;
#[cfg(test)]
mod tests;
mod tools;
mod traceback;

use std::sync::Arc;

use super::{ImportError, Input, gzip};
use draft::Draft;
use fact::At;
use highwater_model::diagnostics::{Diagnostics, Severity};
use highwater_model::progress::Progress;
use highwater_model::workload::{Recording, Source};
use lines::each_line;
use reader::Reader;
use repeats::LogKind;

/// Whether the head has a record, or a sentence on memory with a figure: a failed request, or what a server states.
pub(super) fn detect(input: &Input<'_>) -> bool {
    if is_binary(input.head()) {
        return false;
    }
    let head = String::from_utf8_lossy(input.head()).replace('\0', "");
    if head.lines().any(|line| !head::records(line).1.is_empty()) {
        return true;
    }
    let mut reader = Reader::default();
    reader.begin_file(0, input.name());
    head.split_inclusive('\n').for_each(|line| reader.line(line));
    reader.end_file();
    reader.processes.values().any(Draft::states_memory)
}

pub(super) fn import(
    input: &mut Input<'_>,
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Source, ImportError> {
    check_text(input)?;
    let mut reader = Reader::default();
    let name = input.name().to_owned();
    if String::from_utf8_lossy(input.head()).contains("/run/") {
        each_line(input, progress, |line| reader.note("", line))?;
    }
    reader.begin_file(0, &name);
    each_line(input, progress, |line| reader.line(line))?;
    reader.end_file();
    finish(reader, diagnostics)
}

/// A file of a log: its path, and its content when it is asked for.
pub trait LogFile {
    /// The path, whose folders tell run logs from debug logs.
    fn path(&self) -> &str;

    /// Calls back with the content.
    ///
    /// # Errors
    /// Those of opening it, and of `take`.
    fn read(&self, take: &mut dyn FnMut(&mut Input<'_>) -> Result<(), ImportError>) -> Result<(), ImportError>;
}

/// Reads files as one log, by time. A file that cannot be read is left out, unless all are such.
pub(super) fn import_files(
    files: &[&dyn LogFile],
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Source, ImportError> {
    let mut reader = Reader::default();
    reader.is_by_time = true;
    let kinds: Vec<Option<LogKind>> = files.iter().map(|file| LogKind::of_path(file.path())).collect();
    let has_debug = kinds.contains(&Some(LogKind::Debug));
    let run = files
        .iter()
        .zip(&kinds)
        .filter(|(_, kind)| has_debug && **kind == Some(LogKind::Run));
    for (file, _) in run {
        // An error is told when it is read again.
        let noted = file.read(&mut |input| plain(input, progress, |line| reader.note(file.path(), line)));
        if noted.is_err() {
            progress.check()?;
        }
    }
    let mut failed = None;
    for (position, file) in (0_u32..).zip(files) {
        reader.begin_file(position, file.path());
        let read = file.read(&mut |input| plain(input, progress, |line| reader.line(line)));
        reader.end_file();
        if let Err(error) = read {
            progress.check()?;
            diagnostics.error(error.to_string(), file.path());
            failed = Some(error);
        }
    }
    match failed {
        Some(error) if reader.processes.is_empty() => Err(error),
        _ => finish(reader, diagnostics),
    }
}

/// Bytes of the head of a file of which fewer are control characters, if it is text.
const TEXT_PER_CONTROL: usize = 50;

/// Whether a file is no text: a program, or one with many control characters. NUL is none, which UTF-16 has in each character.
fn is_binary(head: &[u8]) -> bool {
    let is_control = |byte: &u8| matches!(byte, 1..=6 | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f);
    let n_control = head.iter().filter(|byte| is_control(byte)).count();
    let n_printed = head.iter().filter(|byte| **byte != 0).count();
    head.starts_with(b"\x7fELF") || n_control > n_printed / TEXT_PER_CONTROL + 1
}

fn check_text(input: &Input<'_>) -> Result<(), ImportError> {
    if is_binary(input.head()) {
        return Err(ImportError::at(
            "this is no text",
            "the head",
            "give the text of the run with its error, or the logs of ~/ascend/log",
        ));
    }
    Ok(())
}

/// The lines of a file, perhaps packed. Of damaged packed content the part before the damage is read.
fn plain(input: &mut Input<'_>, progress: &Progress<'_>, take: impl FnMut(&str)) -> Result<(), ImportError> {
    let is_packed = gzip::is_gzip(input.head());
    if !is_packed {
        check_text(input)?;
    }
    let read = if is_packed {
        gzip::unpack(input, progress).and_then(|mut unpacked| each_line(&mut unpacked.input, progress, take))
    } else {
        each_line(input, progress, take)
    };
    input.whole(read)
}

/// One recording per process, in the order of first appearance.
fn finish(reader: Reader, diagnostics: &mut Diagnostics) -> Result<Source, ImportError> {
    let is_by_time = reader.is_by_time;
    let mut drafts = reader.drafts();
    if drafts.is_empty() {
        return Err(ImportError::at(
            "there is no record of a process and no sentence on memory",
            "the end",
            "give the text of the run with its error, or the logs of ~/ascend/log/run/plog and ~/ascend/log/debug/plog",
        ));
    }
    let order = |at: Option<At>| {
        let place = at.map_or(0, |at| at.position);
        (at.map(At::by_time).filter(|_| is_by_time), place)
    };
    drafts.sort_by_key(|(_, draft)| order(draft.first));
    let recordings: Vec<Arc<Recording>> = drafts
        .into_iter()
        .map(|(pid, draft)| Arc::new(recording::recording(story::tell(pid, draft, is_by_time))))
        .collect();
    remark(&recordings, diagnostics);
    Ok(Source::Recordings(recordings))
}

fn remark(recordings: &[Arc<Recording>], diagnostics: &mut Diagnostics) {
    let processes = || recordings.iter().filter_map(|recording| recording.process.as_ref());
    let damaged: u64 = processes().map(|process| process.damaged).sum();
    let repeated: u64 = processes().map(|process| process.repeated).sum();
    if damaged > 0 {
        let message = "a record is damaged; its readable fields are used";
        diagnostics.counted(Severity::Warning, message.to_owned(), "", damaged);
    }
    if repeated > 0 {
        let message = "a record that was printed twice, as in the run log and the debug log, counts once";
        diagnostics.counted(Severity::Info, message.to_owned(), "", repeated);
    }
    if processes().any(|process| !process.failures.is_empty()) {
        let message = "a request for memory failed; `highwater explain` and the pane Log tell who had the memory, and what to try";
        diagnostics.info(message, "");
    }
}
