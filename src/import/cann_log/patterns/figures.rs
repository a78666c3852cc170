//! Figures of a sentence from the gaps of its row's templates.

use super::super::super::element_types::TENSORFLOW;
use super::super::fact::Report;
use super::super::field::Amount;
use super::super::statistics::module_name;
use super::template::{MOST_NAME, gaps, joined, number, size, size_with_unit};
use super::{Figure, MOST_HOLDERS};
use highwater_model::graph::DType;
use highwater_model::workload::Holder;

/// Places of a template that are looked at for a figure.
const MOST_PLACES: usize = 8;

/// Bytes of the name of a type, at most.
const MOST_TYPE: usize = 16;

/// Dimensions of a shape, at most.
const MOST_DIMS: usize = 32;

/// What a sentence tells in several figures.
#[derive(Default)]
pub(super) struct Parts {
    elements: Option<u64>,
    dtype: String,
    sum: u64,
    n_summed: usize,
    /// Parts of the row.
    n_wanted: usize,
    /// Whether its sentence prints a unit behind each size: a number without it was cut.
    has_units: bool,
}

impl Parts {
    /// Of a row with so many parts of a sum, whose sentence prints units or not.
    pub(super) fn new(n_wanted: usize, has_units: bool) -> Self {
        Self {
            n_wanted,
            has_units,
            ..Self::default()
        }
    }

    fn size(&self, text: &str) -> Option<Amount> {
        if self.has_units {
            size_with_unit(text)
        } else {
            size(text)
        }
    }

    /// Of a tensor by its shape and the name of its type, or of a sum.
    pub(super) fn bytes(&self) -> Option<Amount> {
        if self.n_wanted > 0 {
            return (self.n_summed == self.n_wanted).then(|| Amount::exact(self.sum));
        }
        let dtype = self.dtype()?;
        let bytes = dtype.bytes(self.elements?);
        (bytes > 0).then(|| Amount::exact(bytes))
    }

    /// The longest type that the name begins with: where a line was broken the next word follows at once.
    fn dtype(&self) -> Option<DType> {
        let ends = (1..=self.dtype.len().min(MOST_TYPE)).rev();
        let names = ends.filter_map(|end| self.dtype.get(..end));
        let mut types = names.filter_map(|name| match TENSORFLOW.of_name(&name.to_ascii_uppercase()) {
            DType::Unknown => DType::from_name(&name.to_ascii_lowercase()),
            dtype => Some(dtype),
        });
        types.next()
    }
}

/// Takes a figure from the first of its places that has one; whether there is one.
pub(super) fn take(report: &mut Report, parts: &mut Parts, figure: Figure, sentence: &str, template: &str) -> bool {
    if let Figure::Holder(name) = figure {
        return holders(report, parts, name, sentence, template);
    }
    let mut from = 0;
    for _ in 0..MOST_PLACES {
        let Some((found, end)) = gaps(sentence, template, from) else {
            break;
        };
        let Some(gap) = found.last() else { break };
        if take_gap(report, parts, figure, gap, &whole(gap, template)) {
            report.is_cached |= template.ends_with(" cached");
            return true;
        }
        from = end;
    }
    false
}

/// A gap as a figure: what is behind it was printed where the template goes on.
pub(super) fn whole(gap: &str, template: &str) -> String {
    let cut = (0..=MOST_NAME.min(gap.len()))
        .rev()
        .find(|at| gap.is_char_boundary(*at));
    let end = if template.ends_with("{}") { "" } else { " " };
    format!("{}{end}", &gap[..cut.unwrap_or(0)])
}

fn take_gap(report: &mut Report, parts: &mut Parts, figure: Figure, gap: &str, printed: &str) -> bool {
    let bytes = || parts.size(printed).map(Amount::bytes);
    let (known, value) = match figure {
        Figure::Asked => {
            let asked = parts.size(printed);
            report.asked = report.asked.or(asked);
            return asked.is_some();
        }
        Figure::Part => {
            let Some(part) = bytes() else { return false };
            parts.sum = parts.sum.saturating_add(part);
            parts.n_summed += 1;
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

fn holders(report: &mut Report, parts: &Parts, name: &str, sentence: &str, template: &str) -> bool {
    let mut from = 0;
    let mut is_there = false;
    while report.holders.len() < MOST_HOLDERS
        && let Some((found, end)) = gaps(sentence, template, from)
    {
        from = end;
        let number = found.len().checked_sub(2).and_then(|at| number(found[at]));
        let Some(bytes) = found.last().and_then(|gap| parts.size(gap)).map(Amount::bytes) else {
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
