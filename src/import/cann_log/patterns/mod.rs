//! One table of what is read in texts on memory: sentences of failed requests of all libraries, lines that add to one, and
//! sentences that state memory without a failure.
//!
//! ```text
//! mod.rs       the row, how a sentence is read by it           template.rs  texts with gaps, over line breaks
//! ascend.rs    CANN, driver, torch_npu    torch.rs   CUDA, HIP, XPU, MPS     xla.rs   JAX, TPU, TensorFlow
//! others.rs    MindSpore, Paddle, hosts   serving.rs start-up lines of servers
//! texts.txt    per row what it reads, and what looks alike and is not read
//! ```
//!
//! A row is data: the texts by which it is found, the figures with their places, its library, releases and source. Rows are
//! tried in their order.

mod ascend;
mod others;
mod serving;
pub(super) mod template;
#[cfg(test)]
mod tests;
mod torch;
mod xla;

use std::sync::LazyLock;

use super::super::element_types::TENSORFLOW;
use super::fact::{Report, ReportKind};
use super::field::Amount;
use super::statistics::module_name;
use highwater_model::graph::DType;
use highwater_model::workload::{Holder, Library, MemoryPlace, RefusedBy};
use template::{BREAK_BYTE, MOST_NAME, find, gaps, has, joined, literal_end, number, quantity, size};

/// Holders of one request that are kept, the first ones.
pub(super) const MOST_HOLDERS: usize = 24;

/// Dimensions of a shape, at most.
const MOST_DIMS: usize = 32;

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
    /// Where the sentence ends, which may be lines below; without any it is one line.
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
    ends: &[],
    source: "",
};

/// The name of a buffer until a line tells another.
pub(super) const BUFFER: &str = "buffer";

/// Places of a template that are looked at for a figure.
const MOST_PLACES: usize = 8;

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

static TABLE: LazyLock<Vec<&'static Pattern>> = LazyLock::new(|| {
    [ascend::ROWS, torch::ROWS, xla::ROWS, others::ROWS, serving::ROWS]
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

/// The report of a text by the first row that reads it.
pub(super) fn first_report(text: &str, is_wanted: impl Fn(&Pattern) -> bool) -> Option<Report> {
    let mut found = marks(text);
    found.sort_by_key(|one| (one.row, one.at));
    found.into_iter().filter(|one| is_wanted(one.row())).find_map(|one| {
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
        let mut parts = Parts {
            n_wanted: self.fields.iter().filter(|(figure, _)| *figure == Figure::Part).count(),
            ..Parts::default()
        };
        let mut n_found = 0_u32;
        for (figure, template) in self.fields {
            n_found += u32::from(take(&mut report, &mut parts, *figure, sentence, template));
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
        report.is_message = before.trim_end().ends_with("Error:");
        let is_told = if kind == ReportKind::Addition {
            n_found > 0 || report.purpose.is_some()
        } else {
            n_found > 0 || !self.needs_figure || report.is_message
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

/// What a sentence tells in several figures.
#[derive(Default)]
struct Parts {
    elements: Option<u64>,
    dtype: String,
    sum: u64,
    n_parts: usize,
    /// Parts of the row.
    n_wanted: usize,
}

impl Parts {
    /// Of a tensor by its shape and the name of its type, or of a sum.
    fn bytes(&self) -> Option<Amount> {
        if self.n_wanted > 0 {
            return (self.n_parts == self.n_wanted).then(|| Amount::exact(self.sum));
        }
        let named = TENSORFLOW.of_name(&self.dtype.to_ascii_uppercase());
        let dtype = match named {
            DType::Unknown => DType::from_name(&self.dtype.to_ascii_lowercase())?,
            named => named,
        };
        let bytes = dtype.bytes(self.elements?);
        (bytes > 0).then(|| Amount::exact(bytes))
    }
}

/// Takes a figure from the first of its places that has one; whether there is one.
fn take(report: &mut Report, parts: &mut Parts, figure: Figure, sentence: &str, template: &str) -> bool {
    if let Figure::Holder(name) = figure {
        return holders(report, name, sentence, template);
    }
    let mut from = 0;
    for _ in 0..MOST_PLACES {
        let Some((found, end)) = gaps(sentence, template, from) else {
            break;
        };
        let Some(gap) = found.last() else { break };
        if take_gap(report, parts, figure, gap, &whole(gap, template)) {
            return true;
        }
        from = end;
    }
    false
}

/// A gap as a figure: what is behind it was printed where the template goes on.
fn whole(gap: &str, template: &str) -> String {
    let cut = (0..=MOST_NAME.min(gap.len()))
        .rev()
        .find(|at| gap.is_char_boundary(*at));
    let end = if template.ends_with("{}") { "" } else { " " };
    format!("{}{end}", &gap[..cut.unwrap_or(0)])
}

fn take_gap(report: &mut Report, parts: &mut Parts, figure: Figure, gap: &str, printed: &str) -> bool {
    let bytes = || size(printed).map(Amount::bytes);
    let (known, value) = match figure {
        Figure::Asked => {
            let asked = size(printed);
            report.asked = report.asked.or(asked);
            return asked.is_some();
        }
        Figure::Part => {
            let Some(part) = bytes() else { return false };
            parts.sum = parts.sum.saturating_add(part);
            parts.n_parts += 1;
            return true;
        }
        Figure::Unallocated => {
            let sum = bytes()
                .zip(report.allocated)
                .map(|(unused, allocated)| unused.saturating_add(allocated));
            (&mut report.reserved, sum)
        }
        Figure::Total => (&mut report.total, bytes()),
        Figure::Allocated => (&mut report.allocated, bytes()),
        Figure::Reserved => (&mut report.reserved, bytes()),
        Figure::Free => (&mut report.free, bytes()),
        Figure::Allowed => (&mut report.allowed, bytes()),
        Figure::LargestFree => (&mut report.largest_free, bytes()),
        Figure::Device => (&mut report.device, number(printed)),
        Figure::Graph => (&mut report.graph, number(printed)),
        Figure::Process => (&mut report.process, number(printed)),
        Figure::Shape => {
            parts.elements = elements(gap);
            return parts.elements.is_some();
        }
        Figure::Type => {
            parts.dtype = name(gap, " .,;[\n");
            return !parts.dtype.is_empty();
        }
        _ => return take_name(report, figure, gap),
    };
    *known = known.or(value);
    value.is_some()
}

/// Takes a figure that is a name.
fn take_name(report: &mut Report, figure: Figure, gap: &str) -> bool {
    let (known, value) = match figure {
        Figure::Who => (&mut report.who, name(gap, " .,;:)\n")),
        Figure::Module => {
            let module = number(gap).and_then(module_name);
            (&mut report.who, module.unwrap_or("").to_owned())
        }
        Figure::Kernel => (&mut report.kernel, name(gap, "\t,;(\"}]`\n")),
        Figure::Program => (&mut report.program, name(gap, ",)\n")),
        Figure::Purpose => (&mut report.purpose, purpose(gap)),
        Figure::HolderName => (&mut report.holder_name, name(gap, "\"\n")),
        _ => return false,
    };
    let is_there = !value.is_empty();
    if known.is_none() && is_there {
        *known = Some(value);
    }
    is_there
}

/// A name up to one of the ends.
fn name(gap: &str, ends: &str) -> String {
    let name = joined(gap);
    let name = name.trim_start_matches([' ', ':', '=', '\'', '`', '{']);
    let name = name.split(|char| ends.contains(char)).next().unwrap_or("").trim_end();
    let cut = (0..=MOST_NAME.min(name.len()))
        .rev()
        .find(|at| name.is_char_boundary(*at));
    name[..cut.unwrap_or(0)].to_owned()
}

/// What memory is for, in the engine's words; parts may be separated by commas themselves.
fn purpose(gap: &str) -> String {
    let gap = joined(gap);
    let gap = gap.trim_start_matches([' ', ':', '=']);
    let ends = [", size", ", type", ", ptr", "[", "\n"];
    let Some(end) = ends.iter().filter_map(|end| gap.find(end)).min() else {
        return String::new();
    };
    let words = gap[..end].trim().trim_end_matches('.');
    if words.len() <= MOST_NAME {
        words.to_owned()
    } else {
        String::new()
    }
}

/// The elements of a shape, `16,112,3`; a scalar has one.
fn elements(gap: &str) -> Option<u64> {
    let shape = joined(gap);
    let dims = shape
        .split(',')
        .map(str::trim)
        .filter(|dim| !dim.is_empty())
        .take(MOST_DIMS);
    dims.map(|dim| dim.parse::<u64>().ok())
        .try_fold(1_u64, |product, dim| product.checked_mul(dim?))
}

fn holders(report: &mut Report, name: &str, sentence: &str, template: &str) -> bool {
    let mut from = 0;
    let mut is_there = false;
    while report.holders.len() < MOST_HOLDERS
        && let Some((found, end)) = gaps(sentence, template, from)
    {
        from = end;
        let number = found.len().checked_sub(2).and_then(|at| number(found[at]));
        let Some(bytes) = found.last().and_then(|gap| size(gap)).map(Amount::bytes) else {
            continue;
        };
        let name = number.map_or_else(|| name.to_owned(), |number| format!("{name} {number}"));
        is_there = true;
        if bytes > 0 {
            report.holders.push(Holder { name, bytes });
        }
        if template.ends_with("{}") {
            break;
        }
    }
    is_there
}
