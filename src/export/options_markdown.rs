//! The tables of options, variables and rules as a page: `highwater options --format markdown`, `docs/options.md`.
//!
//! Texts of the tables are Markdown already (names in backticks), so they do not go through [`blocks`](super::blocks).

use super::allocator::allocator_options_markdown;
use highwater_options::{CHECKS, ENVIRONMENT, OptionKind, OptionRow, Section, TABLE};
use highwater_torch::OPTIONS;

const INTRODUCTION: &str = "# Options

Set an option with `--set KEY=VALUE`, in a configuration file or in the window:

    highwater compare model.onnx --set memory_config.static_memory_policy=2 --set precision_mode=allow_fp32_to_fp16
    highwater check --set memory_config.static_memory_policy=7      # exits with 1 and names the rule

An option has a type, a default, a rule that checks it, and an *effect on memory*: what it changes in the simulation. \"(estimate)\"
marks effects that rest on an assumption. *Since* names the oldest version with an option that the vendor's reference does not list.
[scripts.md](scripts.md) describes how options are read from scripts, [exports.md](exports.md) how they are written.

`highwater options --format markdown` generates this page from the tables in `src/options/`.
";

const ALLOCATOR: &str = "
## Settings of PyTorch's and torch_npu's allocator

Keys of the variables `PYTORCH_CUDA_ALLOC_CONF`, `PYTORCH_NPU_ALLOC_CONF` and `PYTORCH_ALLOC_CONF`;
[torch-allocator.md](torch-allocator.md) explains what to do with them.
";

pub fn options_markdown() -> String {
    let mut page = INTRODUCTION.to_owned();
    contents(&mut page);
    let mut section: Option<Section> = None;
    for row in TABLE {
        if section != Some(row.section) {
            section = Some(row.section);
            page.push_str(&format!("\n## {}\n", capital(row.section.name())));
        }
        option(&mut page, row);
    }
    environment(&mut page);
    page.push_str(ALLOCATOR);
    page.push_str(&allocator_options_markdown());
    rules(&mut page);
    page
}

/// The number of options of each section, with links.
fn contents(page: &mut String) {
    page.push_str("\n| section | options |\n|---|---|\n");
    let mut sections: Vec<Section> = TABLE.iter().map(|row| row.section).collect();
    sections.dedup();
    for section in sections {
        let title = capital(section.name());
        let n_options = TABLE.iter().filter(|row| row.section == section).count();
        page.push_str(&format!("| [{title}](#{}) | {n_options} |\n", anchor(&title)));
    }
    page.push_str(&format!(
        "| [Environment variables](#environment-variables) | {} |\n",
        ENVIRONMENT.len()
    ));
    let title = "Settings of PyTorch's and torch_npu's allocator";
    page.push_str(&format!("| [{title}](#{}) | {} |\n", anchor(title), OPTIONS.len()));
    page.push_str(&format!("| [Rules](#rules) | {} |\n", CHECKS.len()));
}

/// The link target of a heading.
fn anchor(title: &str) -> String {
    let kept = title.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

fn option(page: &mut String, row: &OptionRow) {
    page.push_str(&format!("\n### `{}`\n\n", row.key));
    page.push_str(&format!("{}. {}\n\n", capital(row.summary), escaped(row.details)));
    let mut facts = vec![("type", format!("`{}`", row.kind.name())), ("default", default(row))];
    if let Some(range) = range(&row.kind) {
        facts.push(("range", range));
    }
    let optional = [("unit", row.unit), ("since", row.since), ("deprecated", row.deprecated)];
    facts.extend(
        optional
            .iter()
            .filter_map(|(name, text)| Some((*name, (*text)?.to_owned()))),
    );
    if let Some(key) = row.replaced_by {
        facts.push(("use instead", format!("`{key}`")));
    }
    facts.push(("rule", row.rule.to_owned()));
    facts.push(("source", row.source.to_owned()));
    table(page, &facts);
    let choices = row.kind.choices();
    if !choices.is_empty() {
        page.push('\n');
    }
    for (value, summary) in choices {
        page.push_str(&format!("- `{value}`: {}\n", escaped(summary)));
    }
    let estimate = if row.is_estimate { " (estimate)" } else { "" };
    page.push_str(&format!(
        "\n**Effect on memory{estimate}:** {}.\n",
        escaped(row.memory_effect)
    ));
}

/// The default with the meaning of an unset one, and by run mode where that matters.
fn default(row: &OptionRow) -> String {
    let mut text = match row.default_value().to_string() {
        value if value.is_empty() => "empty".to_owned(),
        // Allows line breaks in long lists.
        value => format!("`{}`", value.replace(',', ", ")),
    };
    if let Some(meaning) = row.unset_means {
        text.push_str(&format!(" ({meaning})"));
    }
    if let Some([inference, training]) = row.by_run_mode {
        text.push_str(&format!(
            " (`{}` in inference, `{}` in training)",
            inference.value(),
            training.value()
        ));
    }
    text
}

fn range(kind: &OptionKind) -> Option<String> {
    match kind {
        OptionKind::Float { min, max } if *max == f64::INFINITY => Some(format!("{min} or more")),
        OptionKind::Float { min, max } => Some(format!("{min} to {max}")),
        OptionKind::Bool => Some("`True`, `False`".to_owned()),
        _ => match kind.range()? {
            (i64::MIN, i64::MAX) => None,
            (min, i64::MAX) => Some(format!("{min} or more")),
            (min, max) => Some(format!("{min} to {max}")),
        },
    }
}

fn environment(page: &mut String) {
    page.push_str("\n## Environment variables\n");
    for row in ENVIRONMENT {
        page.push_str(&format!("\n### `{}`\n\n", row.name));
        page.push_str(&format!("{}. {}\n\n", capital(row.summary), escaped(row.details)));
        let facts = [
            ("precedence", row.precedence.to_owned()),
            ("source", row.source.to_owned()),
        ];
        table(page, &facts);
        if !row.choices.is_empty() {
            page.push('\n');
        }
        for (value, summary) in row.choices {
            page.push_str(&format!("- `{value}`: {}\n", escaped(summary)));
        }
    }
}

fn rules(page: &mut String) {
    page.push_str("\n## Rules\n\n");
    page.push_str("`highwater check` and the window apply them; K rules are highwater's own.\n\n");
    page.push_str("| rule | severity | reported when | source |\n|---|---|---|---|\n");
    for check in CHECKS {
        for outcome in check.outcomes {
            page.push_str(&format!(
                "| {} | {} | {} | {} |\n",
                check.id,
                outcome.severity.name(),
                cell(outcome.summary),
                cell(check.source)
            ));
        }
    }
}

fn table(page: &mut String, facts: &[(&str, String)]) {
    let names: Vec<&str> = facts.iter().map(|(name, _)| *name).collect();
    let values: Vec<String> = facts.iter().map(|(_, value)| cell(value)).collect();
    page.push_str(&format!("| {} |\n|", names.join(" | ")));
    page.push_str(&"---|".repeat(facts.len()));
    page.push_str(&format!("\n| {} |\n", values.join(" | ")));
}

/// A text whose signs are no markup, but for backticks.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '*' | '~' | '<' | '[' | ']') {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

/// A text in a cell, where bars end cells.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// A text with a capital letter, unless it starts with a name.
fn capital(text: &str) -> String {
    let first = text.split(' ').next().unwrap_or("");
    if first.contains(['_', '.']) {
        return escaped(text);
    }
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |letter| {
        escaped(&format!("{}{}", letter.to_uppercase(), letters.as_str()))
    })
}
