//! The tables of options, rules and variables as text: `highwater options`.

use crate::options::{CHECKS, ENVIRONMENT, OptionKind, OptionRow, Section, TABLE};

/// Letters in a line.
const WIDTH: usize = 110;

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
        wrapped(&mut text, "", row.summary);
        for choice in row.choices {
            wrapped(&mut text, &format!("{:<24} ", choice.value), choice.summary);
        }
        wrapped(&mut text, "precedence: ", row.precedence);
    }
    line(&mut text, "");
    line(&mut text, "RULES");
    for check in CHECKS {
        for outcome in check.outcomes {
            line(
                &mut text,
                &format!("  {:<4} {:<8} {}", check.id, outcome.severity.name(), outcome.summary),
            );
        }
    }
    text
}

fn option(text: &mut String, row: &OptionRow) {
    let default = row.default_value();
    let range = match row.kind.range() {
        Some((min, i64::MAX)) => format!(", {min} or more"),
        Some((min, max)) => format!(", {min} to {max}"),
        None if row.kind == OptionKind::Bool => ", True or False".to_owned(),
        None => String::new(),
    };
    line(
        text,
        &format!("  {}  ({}, default {default}{range})", row.key, row.kind.name()),
    );
    wrapped(text, "", row.summary);
    for (value, summary) in row.kind.choices() {
        wrapped(text, &format!("{:<24} ", value.to_string()), summary);
    }
    wrapped(text, "memory: ", row.memory_effect);
    if let Some(since) = row.deprecated {
        let instead = row.replaced_by.map_or_else(String::new, |key| format!("; use {key}"));
        wrapped(text, "deprecated: ", &format!("{since}{instead}"));
    }
    line(text, "");
}

fn line(text: &mut String, content: &str) {
    text.push_str(content.trim_end());
    text.push('\n');
}

/// Words behind a lead, indented by 6, further lines under the first word.
fn wrapped(text: &mut String, lead: &str, words: &str) {
    let indent = 6 + lead.chars().count();
    let mut current = format!("      {lead}");
    let mut is_empty = true;
    for word in words.split_whitespace() {
        if !is_empty && current.chars().count() + 1 + word.chars().count() > WIDTH {
            line(text, &current);
            current = " ".repeat(indent);
            is_empty = true;
        }
        if !is_empty {
            current.push(' ');
        }
        current.push_str(word);
        is_empty = false;
    }
    line(text, &current);
}
