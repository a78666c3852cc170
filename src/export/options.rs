//! The tables of options, variables, settings of the caching allocators and rules: one object, and one page, `docs/options.md`.

use serde::Serialize;
use serde_json::{Map, Value as Json, json};

use super::answer::{Answer, Page};
use super::blocks::{Block, Line, Span, code, markdown, prose, text};
use super::json_parts::list;
use super::record::{Record, Rows};
use highwater_options::{CHECKS, Choice, ENVIRONMENT, EnvironmentRow, OptionKind, OptionRow, Section, TABLE};
use highwater_script::json_of;
use highwater_torch::{Effect, OPTIONS, OptionRow as AllocatorRow, Scope, VARIABLES, Version};

const INTRODUCTION: &str = "# Options

Set an option with `--set KEY=VALUE`, in a configuration file or in the window:

    highwater compare model.onnx --set memory_config.static_memory_policy=2 --set precision_mode=allow_fp32_to_fp16
    highwater check --set memory_config.static_memory_policy=7      # exits with 1 and names the rule

An option has a type, a default, a rule that checks it, and an *effect on memory*: what it changes in the simulation. \"(estimate)\"
marks effects that rest on an assumption. *Since* names the oldest version with an option that the vendor's reference does not list.
[scripts.md](scripts.md) describes how options are read from scripts, [exports.md](exports.md) how they are written;
[torch-allocator.md](torch-allocator.md) explains what to do with the settings of PyTorch's and torch_npu's allocator.

`highwater options --format markdown` generates this page from the tables in `src/options/`.

";

/// All tables.
#[derive(Clone, Copy, Debug)]
pub struct OptionsAnswer;

impl Answer for OptionsAnswer {
    fn page(&self) -> Page {
        Page(blocks(option_lines, variable_lines))
    }

    fn json(&self) -> impl Serialize {
        let outcomes = CHECKS
            .iter()
            .flat_map(|check| check.outcomes.iter().map(move |outcome| (check, outcome)));
        let rules = list(outcomes, |(check, outcome)| {
            json!({
                "rule": check.id,
                "severity": outcome.severity.name(),
                "options": check.options,
                "summary": outcome.summary,
                "source": check.source,
            })
        });
        Record::new()
            .key("options", Rows::new(TABLE, option_record))
            .key("rules", rules)
            .key("environment", Rows::new(ENVIRONMENT, variable_record))
            .key("allocator", allocator_json())
    }
}

/// The sections; one function is for options, one for variables.
fn blocks(
    option: fn(&'static OptionRow) -> Vec<Block>,
    variable: fn(&'static EnvironmentRow) -> Vec<Block>,
) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut section: Option<Section> = None;
    for row in TABLE {
        if section.replace(row.section) != Some(row.section) {
            blocks.push(heading(&capital(row.section.name())));
        }
        blocks.extend(option(row));
    }
    blocks.push(heading("Environment variables"));
    blocks.extend(ENVIRONMENT.iter().flat_map(variable));
    blocks.push(heading("Settings of PyTorch's and torch_npu's allocator"));
    blocks.extend(allocator_blocks());
    blocks.push(heading("Rules"));
    let words = "`highwater check` and the window apply them; K rules are highwater's own.";
    blocks.push(Block::Paragraph(prose(words)));
    let outcomes = CHECKS
        .iter()
        .flat_map(|check| check.outcomes.iter().map(move |one| (check, one)));
    let rules = outcomes.map(|(check, one)| {
        let (rule, severity) = (check.id, one.severity.name());
        (
            0,
            prose(format!("{rule}, {severity}: {} ({})", one.summary, check.source)),
        )
    });
    blocks.push(Block::List(rules.collect()));
    blocks
}

/// The page with all details, behind an introduction and links to its sections.
pub fn options_markdown() -> String {
    let page = markdown(&blocks(option_blocks, variable_blocks));
    let titles = page.lines().filter_map(|line| line.strip_prefix("## "));
    let contents = titles.map(|title| format!("- [{title}](#{})\n", anchor(title)));
    format!("{INTRODUCTION}{}\n{page}", contents.collect::<String>())
}

/// The link target of a heading.
fn anchor(title: &str) -> String {
    let kept = title.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

fn heading(title: &str) -> Block {
    Block::Heading(2, prose(title))
}

/// A heading, what it is, facts in a row, and the choices.
fn entry_blocks(
    name: &str,
    [summary, details]: [&str; 2],
    facts: &Rows<'_>,
    choices: Vec<(String, &str)>,
) -> Vec<Block> {
    let mut facts = facts.table(1);
    facts.remove_columns_of(&[]);
    let mut blocks = vec![
        Block::Heading(3, code(name)),
        Block::Paragraph(prose(format!("{}. {details}", capital(summary)))),
        facts.into(),
    ];
    let items = choices.into_iter();
    let items: Vec<(usize, Line)> = items
        .map(|(value, meaning)| (0, code(value).and(prose(format!(": {meaning}")))))
        .collect();
    blocks.extend((!items.is_empty()).then_some(Block::List(items)));
    blocks
}

/// Choices as lines, and remarks with their labels.
fn choice_lines(choices: Vec<(String, &str)>, remarks: &[(&str, Option<&str>)]) -> Vec<(usize, Line)> {
    let choices = choices.into_iter();
    let choices = choices.map(|(value, meaning)| (2, code(value).and(prose(format!(": {meaning}")))));
    let remarks = remarks.iter();
    let remarks = remarks.filter_map(|(label, words)| Some((2, prose(format!("{label}: {}", (*words)?)))));
    choices.chain(remarks).collect()
}

/// An option without its details.
fn option_lines(row: &'static OptionRow) -> Vec<Block> {
    let facts = [
        Some(text(row.kind.name())),
        Some(text("default ").and(default(row))),
        range(&row.kind),
        row.unit.map(|unit| text(format!("in {unit}"))),
    ];
    let facts = Line::joined(facts.into_iter().flatten(), ", ");
    let title = code(row.key).and(text(" (")).and(facts).and(prose(")"));
    let choices = row.kind.choices().into_iter();
    let choices = choices.map(|(value, meaning)| (value.to_string(), meaning)).collect();
    let memory = if row.is_estimate { "memory (estimate)" } else { "memory" };
    let remarks = [
        (memory, Some(row.memory_effect)),
        ("since", row.since),
        ("deprecated", row.deprecated),
        ("use instead", row.replaced_by),
    ];
    let mut lines = vec![(0, title), (1, prose(row.summary))];
    lines.extend(choice_lines(choices, &remarks));
    vec![Block::Lines(lines)]
}

fn option_blocks(row: &'static OptionRow) -> Vec<Block> {
    let choices = row.kind.choices().into_iter();
    let choices = choices.map(|(value, meaning)| (value.to_string(), meaning)).collect();
    let facts = Rows::indexed(1, move |_| option_record(row));
    let mut blocks = entry_blocks(row.key, [row.summary, row.details], &facts, choices);
    let effect = if row.is_estimate {
        "Effect on memory (estimate):"
    } else {
        "Effect on memory:"
    };
    let effect = Line::from(Span::Strong(effect.to_owned()));
    blocks.push(Block::Paragraph(effect.and(prose(format!(" {}.", row.memory_effect)))));
    blocks
}

/// With `range` or with `choices` or with neither.
fn option_record(row: &'static OptionRow) -> Record<'static> {
    let choices = row.kind.choices();
    let meanings = choices
        .iter()
        .map(|(value, meaning)| (value.to_string(), (*meaning).into()));
    let meanings: Map<String, Json> = meanings.collect();
    let has_choices = !choices.is_empty();
    let by_run_mode = row.by_run_mode.map(|[inference, training]| {
        json!({"inference": json_of(&inference.value()), "training": json_of(&training.value())})
    });
    Record::new()
        .key("key", row.key)
        .key("section", row.section.name())
        .key("type", row.kind.name())
        .shown("type", code(row.kind.name()))
        .key("default", json_of(&row.default_value()))
        .shown("default", default(row))
        .key("unset_means", row.unset_means)
        .key("default_by_run_mode", by_run_mode)
        .optional("range", row.kind.range().map(|(min, max)| json!([min, max])))
        .shown("range", range(&row.kind))
        .optional(
            "choices",
            has_choices.then(|| list(&choices, |(value, _)| json_of(value))),
        )
        .optional("choice_summaries", has_choices.then_some(Json::Object(meanings)))
        .key("unit", row.unit)
        .shown("unit", row.unit.map(prose))
        .key("summary", row.summary)
        .key("details", row.details)
        .key("since", row.since)
        .shown("since", row.since.map(prose))
        .key("deprecated", row.deprecated)
        .shown("deprecated", row.deprecated.map(prose))
        .key("replaced_by", row.replaced_by)
        .shown("use instead", row.replaced_by.map(code))
        .key("memory_effect", row.memory_effect)
        .key("lowers_to", row.lowers_to)
        .key("estimate", row.is_estimate)
        .field("rule", "rule", row.rule)
        .key("source", row.source)
        .shown("source", prose(row.source))
}

/// The default with the meaning of an unset one, and by run mode where that matters.
fn default(row: &OptionRow) -> Line {
    let line = match row.default_value().to_string() {
        value if value.is_empty() => text("empty"),
        // Allows line breaks in long lists.
        value => code(value.replace(',', ", ")),
    };
    let meaning = row
        .unset_means
        .map_or_else(String::new, |meaning| format!(" ({meaning})"));
    let line = line.and(prose(meaning));
    let Some([inference, training]) = row.by_run_mode else {
        return line;
    };
    let training = code(training.value()).and(text(" in training)"));
    line.and(text(" ("))
        .and(code(inference.value()))
        .and(text(" in inference, "))
        .and(training)
}

fn range(kind: &OptionKind) -> Option<Line> {
    match kind {
        OptionKind::Float { min, max } if *max == f64::INFINITY => Some(text(format!("{min} or more"))),
        OptionKind::Float { min, max } => Some(text(format!("{min} to {max}"))),
        OptionKind::Bool => Some(code("True").and(text(" or ")).and(code("False"))),
        _ => match kind.range()? {
            (i64::MIN, i64::MAX) => None,
            (min, i64::MAX) => Some(text(format!("{min} or more"))),
            (min, max) => Some(text(format!("{min} to {max}"))),
        },
    }
}

fn variable_lines(row: &'static EnvironmentRow) -> Vec<Block> {
    let choices = row.choices.iter();
    let choices = choices
        .map(|(value, meaning)| ((*value).to_owned(), *meaning))
        .collect();
    let mut lines = vec![(0, code(row.name)), (1, prose(row.summary))];
    lines.extend(choice_lines(choices, &[("precedence", Some(row.precedence))]));
    vec![Block::Lines(lines)]
}

fn variable_blocks(row: &'static EnvironmentRow) -> Vec<Block> {
    let choices = row
        .choices
        .iter()
        .map(|(value, meaning)| ((*value).to_owned(), *meaning));
    let facts = Rows::indexed(1, move |_| variable_record(row));
    entry_blocks(row.name, [row.summary, row.details], &facts, choices.collect())
}

fn variable_record(row: &'static EnvironmentRow) -> Record<'static> {
    let choice = |(value, meaning): &Choice<&str>| ((*value).to_owned(), (*meaning).into());
    let choices = Json::Object(row.choices.iter().map(choice).collect());
    Record::new()
        .key("name", row.name)
        .key("summary", row.summary)
        .key("details", row.details)
        .key("precedence", row.precedence)
        .shown("precedence", prose(row.precedence))
        .key("choices", choices)
        .key("source", row.source)
        .shown("source", prose(row.source))
}

fn allocator_json() -> Json {
    json!({
        "variables": VARIABLES,
        "versions": Version::all().map(Version::name).collect::<Vec<_>>(),
        "settings": list(OPTIONS, |row| {
            let versions = Version::all().filter(|version| row.is_known_to(*version));
            json!({
                "key": row.key,
                "default": row.default,
                "accepted": row.accepted,
                "summary": row.about,
                "versions": versions.map(Version::name).collect::<Vec<_>>(),
                "simulated": row.effect() == Effect::Acts,
            })
        }),
    })
}

/// The variables of the caching allocators, and their keys.
fn allocator_blocks() -> Vec<Block> {
    let variables = Line::joined(VARIABLES.map(code), ", ");
    let keys = OPTIONS.iter().map(|row| {
        let note = if row.effect() == Effect::Acts {
            ""
        } else {
            "; not simulated"
        };
        let facts = format!(
            " ({}, default {}; {}{note}): ",
            row.accepted,
            row.default,
            known_to(row)
        );
        (0, code(row.key).and(prose(facts)).and(prose(row.about)))
    });
    vec![
        Block::Paragraph(text("Keys of the variables ").and(variables).and(text("."))),
        Block::List(keys.collect()),
    ]
}

/// The settings of the caching allocators alone, for `docs/torch-allocator.md`.
pub fn allocator_options_markdown() -> String {
    markdown(&allocator_blocks())
}

/// Versions that know a key.
fn known_to(row: &AllocatorRow) -> String {
    let since = |since: Version| match since {
        Version::FIRST => "torch".to_owned(),
        since => format!("{since} and newer"),
    };
    match row.scope {
        Scope::Npu => "torch_npu".to_owned(),
        Scope::Cuda(version) => since(version),
        Scope::Both(version) => format!("{}, torch_npu", since(version)),
    }
}

/// A text with a capital letter, unless it starts with a name.
fn capital(words: &str) -> String {
    let first = words.split(' ').next().unwrap_or("");
    let mut letters = words.chars();
    match letters.next() {
        Some(letter) if !first.contains(['_', '.']) => format!("{}{}", letter.to_uppercase(), letters.as_str()),
        _ => words.to_owned(),
    }
}
