//! One table of what is read in texts on memory: sentences of failed requests of all libraries, lines that add to one, and
//! sentences that state memory without a failure.
//!
//! ```text
//! mod.rs       the row, how a sentence is read by it           template.rs  texts with gaps, over line breaks (figures.rs)
//! ascend.rs     CANN, driver, torch_npu    torch.rs   CUDA, HIP, XPU, MPS     xla.rs   JAX, TPU, TensorFlow
//! mindspore.rs  MindSpore                  others.rs  Paddle, hosts
//! serving.rs    start-up lines of servers  context.rs what is in front of a sentence: an error, a quote, code
//! texts.txt    per row what it reads, and what looks alike and is not read
//! ```
//!
//! A row is data: the texts by which it is found, the figures with their places, its library, releases and source. Rows are
//! tried in their order.

mod ascend;
mod context;
mod figures;
mod mindspore;
mod others;
mod serving;
pub(super) mod template;
#[cfg(test)]
mod tests;
mod torch;
mod xla;

use std::sync::LazyLock;

use super::fact::{Report, ReportKind};
use context::{Place, has_stamp};
use figures::{Parts, take, whole};
use highwater_model::workload::{Library, MemoryPlace, RefusedBy};
use template::{BREAK_BYTE, find, gaps, has, literal_end, number, quantity};

/// Holders of one request that are kept, the first ones.
pub(super) const MOST_HOLDERS: usize = 24;

pub(super) struct Pattern {
    pub(super) name: &'static str,
    /// Any of them begins the sentence.
    pub(super) marks: &'static [&'static str],
    /// Of each list, one is in the sentence.
    needs: &'static [&'static [&'static str]],
    /// None of them is in the sentence.
    without: &'static [&'static str],
    /// One of the templates has its number, which may be the last thing that was printed.
    codes: &'static [(&'static str, u64)],
    pub(super) reads: Reads,
    fields: &'static [(Figure, &'static str)],
    pub(super) library: Library,
    /// Who asks, where the sentence itself does not tell; empty for unknown.
    who: &'static str,
    /// What the memory is for, where the sentence is of one purpose.
    purpose: &'static str,
    /// Any of them tells that the memory is the host's; `always` does so, too.
    host: &'static [&'static str],
    refused: RefusedBy,
    /// Whether words without a figure are a report only as the message of an error.
    needs_figure: bool,
    /// Whether a unit is printed behind each size.
    has_units: bool,
    /// Where the sentence ends, which may be lines below; `{}` at an end is its figure. Without any it is one line.
    pub(super) ends: &'static [&'static str],
    /// Releases whose texts were compared, and where they are written.
    #[cfg_attr(not(test), expect(dead_code))]
    source: &'static str,
}

/// What most rows have.
const ROW: Pattern = Pattern {
    name: "",
    marks: &[],
    needs: &[],
    without: &[],
    codes: &[],
    reads: Reads::Request(ReportKind::Sentence),
    fields: &[],
    library: Library::Cann,
    who: "",
    purpose: "",
    host: &[],
    refused: RefusedBy::Device,
    needs_figure: false,
    has_units: false,
    ends: &[],
    source: "",
};

/// The name of a buffer until a line tells another.
pub(super) const BUFFER: &str = "buffer";

/// Of [`Pattern::host`]: all memory of the row is the host's.
const ALWAYS: &[&str] = &[""];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reads {
    /// A request that failed.
    Request(ReportKind),
    /// It adds to the request before it, of the same library.
    Detail,
    /// It adds to the block of an error code that it is in.
    InBlock,
    /// A sentence without a failure: templates, and our words for each that is found.
    Statement(&'static [(&'static str, &'static str)]),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Figure {
    Asked,
    /// The bytes asked for are the sum of all parts.
    Part,
    Total,
    Allocated,
    Reserved,
    /// Reserved without a tensor: the reserved bytes are the allocated ones and these.
    Unallocated,
    Free,
    Allowed,
    LargestFree,
    Device,
    Graph,
    /// The process that asked, and its name.
    Process,
    Program,
    Who,
    /// The number of the driver's module.
    Module,
    Kernel,
    Purpose,
    /// A shape, whose type is in [`Figure::Type`]: together the bytes.
    Shape,
    Type,
    /// A holder of this name, however often it is found; in a second gap before the bytes is its number.
    Holder(&'static str),
    /// The name of the last holder.
    HolderName,
}

impl Figure {
    /// Whether it names something; the others are sizes.
    const fn is_name(self) -> bool {
        matches!(
            self,
            Self::Device
                | Self::Graph
                | Self::Process
                | Self::Program
                | Self::Who
                | Self::Module
                | Self::Kernel
                | Self::Purpose
                | Self::Type
                | Self::HolderName
        )
    }
}

static TABLE: LazyLock<Vec<&'static Pattern>> = LazyLock::new(|| {
    [
        ascend::ROWS,
        torch::ROWS,
        xla::ROWS,
        mindspore::ROWS,
        others::ROWS,
        serving::ROWS,
    ]
    .into_iter()
    .flatten()
    .collect()
});

/// Rows and their marks by the first byte of these, and which pairs of bytes begin one.
struct Marks {
    by_byte: Vec<Vec<(usize, &'static str)>>,
    pairs: Vec<u64>,
}

static MARKS: LazyLock<Marks> = LazyLock::new(|| {
    let mut all = Marks {
        by_byte: vec![Vec::new(); 256],
        pairs: vec![0; (1 << 16) / 64],
    };
    for (position, row) in TABLE.iter().enumerate() {
        for mark in row.marks {
            if let [first, second, ..] = mark.as_bytes() {
                all.by_byte[usize::from(*first)].push((position, *mark));
                // A line may break behind the first letter.
                for second in [*second, BREAK_BYTE] {
                    let pair = pair(*first, second);
                    all.pairs[pair / 64] |= 1 << (pair % 64);
                }
            }
        }
    }
    all
});

fn pair(first: u8, second: u8) -> usize {
    usize::from(first) << 8 | usize::from(second)
}

impl Marks {
    fn may_begin(&self, first: u8, second: u8) -> bool {
        let pair = pair(first, second);
        self.pairs[pair / 64] >> (pair % 64) & 1 == 1
    }
}

/// A mark in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Its row's position in the table.
    pub(super) row: usize,
    pub(super) at: usize,
    pub(super) end: usize,
}

impl Found {
    pub(super) fn row(self) -> &'static Pattern {
        TABLE[self.row]
    }
}

/// The marks in a text, in the order of their places. O(bytes).
pub(super) fn marks(text: &str) -> Vec<Found> {
    marks_until(text, text.len())
}

/// The marks that begin before a byte.
pub(super) fn marks_until(text: &str, end: usize) -> Vec<Found> {
    let all = &*MARKS;
    let bytes = text.as_bytes();
    let mut found: Vec<Found> = Vec::new();
    let pairs = bytes.iter().zip(bytes.get(1..).unwrap_or(&[])).take(end);
    for (at, (first, second)) in pairs.enumerate() {
        if !all.may_begin(*first, *second) {
            continue;
        }
        for (row, mark) in &all.by_byte[usize::from(*first)] {
            if let Some(end) = literal_end(bytes, at, mark) {
                found.push(Found { row: *row, at, end });
            }
        }
    }
    found
}

/// What a text states by the first row that reads it without a failure.
pub(super) fn first_statement(text: &str) -> Option<(String, Option<u64>)> {
    let mut found = marks(text);
    found.sort_by_key(|one| (one.row, one.at));
    found.into_iter().find_map(|one| one.row().statement(&text[one.at..]))
}

/// Places of one row in a text that are looked at, the first ones.
const MOST_OF_ROW: usize = 8;

/// The report of a text by the first row that reads it.
pub(super) fn first_report(text: &str, is_wanted: impl Fn(&Pattern) -> bool) -> Option<Report> {
    let mut found = marks(text);
    found.sort_by_key(|one| (one.row, one.at));
    let rows = found.chunk_by(|one, other| one.row == other.row);
    let places = rows.flat_map(|row| &row[..row.len().min(MOST_OF_ROW)]);
    let mut wanted = places.filter(|one| is_wanted(one.row()));
    wanted.find_map(|one| {
        let row = one.row();
        let begin = if row.reads == Reads::InBlock { 0 } else { one.at };
        row.report(&text[..begin], &text[begin..])
    })
}

impl Pattern {
    /// Whether the sentence has what the row wants.
    fn agrees(&self, sentence: &str) -> bool {
        let has_one = |list: &[&str]| list.iter().any(|literal| has(sentence, literal));
        let has_code = |(template, code): &(&str, u64)| {
            let gap = gaps(sentence, template, 0).and_then(|(found, _)| found.last().copied());
            gap.is_some_and(|gap| number(gap) == Some(*code) || gap.trim() == code.to_string())
        };
        self.needs.iter().all(|list| has_one(list))
            && !has_one(self.without)
            && (self.codes.is_empty() || self.codes.iter().any(has_code))
    }

    /// What a sentence reports that begins at a mark of the row; `before` is in front of it.
    pub(super) fn report(&self, before: &str, sentence: &str) -> Option<Report> {
        if !self.agrees(sentence) {
            return None;
        }
        let kind = match self.reads {
            Reads::Request(kind) => kind,
            Reads::Detail | Reads::InBlock => ReportKind::Addition,
            Reads::Statement(_) => return None,
        };
        let mut report = Report {
            kind,
            library: self.library,
            refused: self.refused,
            row: self.name,
            ..Report::default()
        };
        let n_parts = self.fields.iter().filter(|(figure, _)| *figure == Figure::Part);
        let mut parts = Parts::new(n_parts.count(), self.has_units);
        let (mut n_found, mut n_sizes) = (0_u32, 0_u32);
        for (figure, template) in self.fields {
            let is_found = take(&mut report, &mut parts, *figure, sentence, template);
            n_found += u32::from(is_found);
            n_sizes += u32::from(is_found && !figure.is_name());
        }
        report.asked = report.asked.or_else(|| parts.bytes());
        for (known, default) in [(&mut report.who, self.who), (&mut report.purpose, self.purpose)] {
            if known.is_none() && !default.is_empty() {
                *known = Some(default.to_owned());
            }
        }
        if self
            .host
            .iter()
            .any(|literal| literal.is_empty() || has(sentence, literal))
        {
            report.memory = MemoryPlace::Host;
        }
        report.has_figures = n_found > 0;
        let place = Place::of(before, self.marks);
        let named = before.rfind("[PID").map_or("", |at| &before[at..]);
        let is_stamped = kind != ReportKind::Code || n_found > 0 || has_stamp(sentence) || has_stamp(named);
        let is_text = place != Place::Code && (n_sizes > 0 || place != Place::Quoted) && is_stamped;
        let is_message = place == Place::Message;
        report.is_told = n_found > 0 || is_message || !self.needs_figure && place != Place::Quoted;
        let is_told = if kind == ReportKind::Addition {
            n_found > 0 || report.purpose.is_some()
        } else {
            is_text && (n_found > 0 || !self.needs_figure || is_message)
        };
        is_told.then_some(report)
    }

    /// What a sentence states that begins at a mark of the row: our words, and the device.
    pub(super) fn statement(&self, sentence: &str) -> Option<(String, Option<u64>)> {
        let Reads::Statement(parts) = self.reads else {
            return None;
        };
        if !self.agrees(sentence) {
            return None;
        }
        let told: Vec<String> = parts
            .iter()
            .filter_map(|(template, words)| told(sentence, template, words))
            .collect();
        let mut devices = self.fields.iter().filter(|(figure, _)| *figure == Figure::Device);
        let device = devices.find_map(|(_, template)| {
            let (found, _) = gaps(sentence, template, 0)?;
            number(&whole(found.last()?, template))
        });
        (!told.is_empty()).then(|| (told.join("; "), device))
    }
}

/// Our words with the last figures of a template, where the sentence has all.
fn told(sentence: &str, template: &str, words: &str) -> Option<String> {
    let figures = if template.contains("{}") {
        gaps(sentence, template, 0)?.0
    } else {
        find(sentence, template, 0)?;
        Vec::new()
    };
    let n_told = words.matches("{}").count();
    let mut figures = figures.get(figures.len().checked_sub(n_told)?..)?.iter();
    let mut text = String::new();
    for (position, part) in words.split("{}").enumerate() {
        if position > 0 {
            text += &quantity(figures.next()?)?;
        }
        text += part;
    }
    Some(text)
}
