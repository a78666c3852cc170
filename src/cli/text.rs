//! Answers as standard output has them.

use super::args::Format;
use super::{print, print_csv, print_json};
use highwater_export::Answer;

pub(crate) use highwater_export::diagnostics_text as diagnostics;

/// Prints an answer in a format; CSV with guarded cells unless it is raw.
pub(crate) fn print_answer(answer: &impl Answer, format: Format, is_raw: bool) -> anyhow::Result<()> {
    match format {
        Format::Text => print(&answer.page().text()),
        Format::Markdown => print(&answer.comment().markdown()),
        Format::Json => print_json(&answer.json()),
        Format::Csv => print_csv(&answer.csv().ok_or_else(|| format.refusal())?, is_raw),
        Format::Folded | Format::Svg | Format::Schema | Format::DocumentSchema => Err(format.refusal()),
    }
}
