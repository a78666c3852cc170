//! Shared by the tests of several importers.

use std::sync::Arc;

use super::{ImportError, Imported, Input, import};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::{Cancel, Progress};
use highwater_model::units::Nanos;
use highwater_model::workload::{RecordedBlock, Recording, Source};

/// Reads `bytes` as the file `name`, whatever importer recognises it.
pub(crate) fn read(name: &str, bytes: &[u8]) -> Result<Imported, ImportError> {
    let cancel = Cancel::new();
    import(&mut Input::from_bytes(name, bytes)?, &Progress::silent(&cancel))
}

type ImportFn = fn(&mut Input<'_>, &Progress<'_>, &mut Diagnostics) -> Result<Source, ImportError>;

pub(crate) fn recordings(
    import: ImportFn,
    name: &str,
    bytes: &[u8],
) -> Result<(Vec<Arc<Recording>>, Diagnostics), ImportError> {
    let cancel = Cancel::new();
    let mut diagnostics = Diagnostics::new();
    match import(
        &mut Input::from_bytes(name, bytes)?,
        &Progress::silent(&cancel),
        &mut diagnostics,
    )? {
        Source::Recordings(recordings) => Ok((recordings, diagnostics)),
        other => panic!("not a recording: {other:?}"),
    }
}

/// What was said, a line for each message.
pub(crate) fn messages(diagnostics: &Diagnostics) -> String {
    let entries = diagnostics.entries().iter();
    let lines = entries.map(|entry| format!("{} x{} at {}\n", entry.message, entry.count, entry.place));
    lines.collect()
}

/// Compares recordings as text (see [`text_of`]) with lines that are indented as the test is.
#[track_caller]
pub(crate) fn shows(recordings: &[Arc<Recording>], expected: &str) {
    let found: Vec<String> = recordings.iter().flat_map(|one| text_of(one)).collect();
    if expected.starts_with('@') {
        eprintln!("@{expected}\n{}\n@end", found.join("\n"));
        return;
    }
    let expected = expected.lines().map(str::trim).filter(|line| !line.is_empty());
    assert_eq!(found, expected.collect::<Vec<_>>());
}

/// Compares how often messages with these words count.
#[track_caller]
pub(crate) fn tells(diagnostics: &Diagnostics, expected: &[(&str, u64)]) {
    for (words, count) in expected {
        let entries = diagnostics.entries().iter();
        let found: u64 = entries
            .filter(|entry| entry.message.contains(words))
            .map(|entry| entry.count)
            .sum();
        assert_eq!(found, *count, "{words}\n{}", messages(diagnostics));
    }
}

/// A line for the recording and its times (the first, then nanoseconds since it), one for each block, region, mark, phase,
/// curve and op.
fn text_of(recording: &Recording) -> Vec<String> {
    assert_eq!(recording.check(), Ok(()), "{}", recording.name);
    let first = recording.times.first().unwrap_or(Nanos(0)).0;
    let times = recording.times.iter().map(|time| match time.0 - first {
        0 => first.to_string(),
        since => format!("+{since}"),
    });
    let times: Vec<String> = times.collect();
    let mut lines = vec![format!(
        "{}, {} steps: {}",
        recording.name,
        recording.n_steps,
        times.join(" ")
    )];
    lines.extend(recording.blocks.iter().map(|block| block_text(recording, block)));
    lines.extend(recording.regions.iter().map(|region| {
        let kind = recording.text(region.kind);
        let (birth, end, bytes) = (region.birth.0, region.end.0, region.bytes.0);
        format!("region {kind} {birth}..{end} {:#x}+{bytes:#x}", region.address)
    }));
    lines.extend(recording.marks.iter().map(|mark| {
        let (step, kind, text) = (mark.step.0, mark.kind, recording.text(mark.text));
        format!("{kind:?} at {step} {} bytes: {text}", mark.bytes.0)
    }));
    lines.extend(recording.phases.iter().map(|phase| {
        let (start, end) = (phase.start.0, phase.end.0);
        format!("phase {} {start}..{end}", recording.text(phase.name))
    }));
    lines.extend(recording.totals.iter().map(|total| {
        let samples = total
            .samples
            .iter()
            .map(|(step, bytes)| format!(" {}:{}", step.0, bytes.0));
        format!("{}{}", total.kind.name(), samples.collect::<String>())
    }));
    lines.extend(recording.ops.iter().map(|op| {
        let (name, kind) = (recording.text(op.name), recording.text(op.kind));
        format!(
            "op {name} {kind} +{} takes {}, scratch {}",
            op.start.0 - first,
            op.time.0,
            op.scratch.0
        )
    }));
    lines.iter().map(|line| line.trim_end().to_owned()).collect()
}

/// `block NAME 0..4 500 (held 512) @0x1000 stream 7, older, freed at 3, by f:3 main:9`
fn block_text(recording: &Recording, block: &RecordedBlock) -> String {
    let (name, birth, end) = (recording.text(block.name), block.birth.0, block.end.0);
    let mut text = format!("block {name} {birth}..{end} {}", block.bytes.0);
    if block.held != block.bytes {
        text += &format!(" (held {})", block.held.0);
    }
    if let Some(address) = block.address {
        text += &format!(" @{:#x}", address.get());
    }
    if let Some(stream) = block.stated_stream() {
        text += &format!(" stream {stream}");
    }
    if block.is_older {
        text += ", older";
    }
    if block.is_freed || block.freed_at != block.end {
        text += &format!(", freed at {}", block.freed_at.0);
    }
    let lines = recording.stack_of(block);
    let lines: Vec<String> = lines
        .map(|line| format!("{}:{}", recording.text(line.function), line.line))
        .collect();
    if !lines.is_empty() {
        text += &format!(", by {}", lines.join(" "));
    }
    text
}
