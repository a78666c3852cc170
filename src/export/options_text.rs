//! The tables of options, variables, settings of the caching allocators and rules as text: `highwater options`.

use super::allocator::allocator_options_text;
use highwater_options::{CHECKS, ENVIRONMENT, OptionKind, OptionRow, Section, TABLE};

const WIDTH: usize = 110;

/// In front of the texts of an option.
const INDENT: &str = "      ";

/// Every option under its section, then the variables, then the rules.
pub fn options_text() -> String {
    let mut text = String::new();
    let mut section: Option<Section> = None;
    for row in TABLE {
        if section != Some(row.section) {
            section = Some(row.section);
            line(&mut text, &row.section.name().to_uppercase());
        }
        option(&mut text, row);
    }
    line(&mut text, "ENVIRONMENT");
    for row in ENVIRONMENT {
        line(&mut text, &format!("  {}", row.name));
        wrapped(&mut text, INDENT, row.summary);
        for (value, meaning) in row.choices {
            wrapped(&mut text, &format!("{INDENT}{value:<24} "), meaning);
        }
        wrapped(&mut text, "      precedence: ", row.precedence);
    }
    line(&mut text, "");
    line(&mut text, "SETTINGS OF PYTORCH'S AND TORCH_NPU'S ALLOCATOR");
    for (facts, about) in allocator_options_text() {
        wrapped(&mut text, "  ", &facts);
        wrapped(&mut text, INDENT, about);
    }
    line(&mut text, "");
    line(&mut text, "RULES");
    for check in CHECKS {
        for outcome in check.outcomes {
            let lead = format!("  {:<4} {:<8} ", check.id, outcome.severity.name());
            wrapped(&mut text, &lead, outcome.summary);
        }
    }
    text
}

fn option(text: &mut String, row: &OptionRow) {
    let default = row.default_value();
    let range = match row.kind.range() {
        Some((i64::MIN, i64::MAX)) => String::new(),
        Some((min, i64::MAX)) => format!(", {min} or more"),
        Some((min, max)) => format!(", {min} to {max}"),
        None if row.kind == OptionKind::Bool => ", True or False".to_owned(),
        None => String::new(),
    };
    let unit = row.unit.map_or_else(String::new, |unit| format!(", in {unit}"));
    let facts = format!("({}, default {default}{range}{unit})", row.kind.name());
    wrapped(text, &format!("  {}  ", row.key), &facts);
    wrapped(text, INDENT, row.summary);
    for (value, summary) in row.kind.choices() {
        wrapped(text, &format!("{INDENT}{:<24} ", value.to_string()), summary);
    }
    if let Some(meaning) = row.unset_means {
        wrapped(text, "      unset: ", meaning);
    }
    if let Some([inference, training]) = row.by_run_mode {
        let words = format!("{} in inference, {} in training", inference.value(), training.value());
        wrapped(text, "      default: ", &words);
    }
    let lead = if row.is_estimate {
        "memory (estimate): "
    } else {
        "memory: "
    };
    wrapped(text, &format!("{INDENT}{lead}"), row.memory_effect);
    if let Some(since) = row.since {
        wrapped(text, "      since: ", since);
    }
    if let Some(deprecated) = row.deprecated {
        let instead = row.replaced_by.map_or_else(String::new, |key| format!("; use {key}"));
        wrapped(text, "      deprecated: ", &format!("{deprecated}{instead}"));
    }
    line(text, "");
}

fn line(text: &mut String, content: &str) {
    text.push_str(content.trim_end());
    text.push('\n');
}

/// Words behind a lead, wrapped. Further lines start under the first word, or under [`INDENT`] after a long lead. Lists without
/// blanks break behind commas.
fn wrapped(text: &mut String, lead: &str, words: &str) {
    let indent = match lead.chars().count() {
        width if width > 34 => INDENT.len() + 2,
        width => width,
    };
    let mut current = lead.to_owned();
    let mut is_empty = true;
    for word in words.split_whitespace() {
        let mut gap = if is_empty { "" } else { " " };
        for piece in word.split_inclusive(',') {
            if !is_empty && current.chars().count() + gap.len() + piece.chars().count() > WIDTH {
                line(text, &current);
                current = " ".repeat(indent);
                gap = "";
            }
            current.push_str(gap);
            current.push_str(piece);
            is_empty = false;
            gap = "";
        }
    }
    line(text, &current);
}
