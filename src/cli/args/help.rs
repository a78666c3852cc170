//! What `--help` shows beside the flags: groups of commands, lists of names, and examples.
//!
//! Every help is one screen, so long lists are in `docs` or behind a command (`highwater formats`).

use clap::{Args as _, Command, CommandFactory as _, Subcommand as _};

use super::{Action, Arguments, Common, LaneArgs};
use highwater_analysis::METRICS;
use highwater_export::EXPORT_FORMS;
use highwater_session::SAMPLES;
use highwater_sim::StaticMemoryPolicy;
use highwater_timeline::Attribute;

/// The width of help texts where the terminal has no other.
const WIDTH: usize = 100;

struct CommandHelp {
    name: &'static str,
    examples: [&'static str; 2],
    /// A paragraph before the examples; may be empty.
    notes: fn() -> String,
}

const fn row(name: &'static str, examples: [&'static str; 2]) -> CommandHelp {
    CommandHelp {
        name,
        examples,
        notes: String::new,
    }
}

/// The commands in groups, in the order of the program's help.
const GROUPS: [(&str, &[CommandHelp]); 4] = [
    (
        "Simulate",
        &[
            CommandHelp {
                notes: metrics,
                ..row(
                    "compare",
                    [
                        "highwater compare lenet_training.pb --goal lowest-peak",
                        "highwater compare bert_base.onnx.gz --dim batch=8 --dim seq=64,128 --format json",
                    ],
                )
            },
            row(
                "peak",
                [
                    "highwater peak lenet_training.pb --policy 2",
                    "highwater peak lenet_training.pb --range 10..40 --group-by op_type",
                ],
            ),
            CommandHelp {
                notes: strategies,
                ..row(
                    "plan",
                    [
                        "highwater plan small_problem.csv --explain --why skip",
                        "highwater plan lstm_tiny.tflite --strategy greedy_by_size --with-inputs",
                    ],
                )
            },
            CommandHelp {
                notes: heuristics,
                ..row(
                    "remat",
                    [
                        "highwater remat lenet_training.pb --budget 64MiB",
                        "highwater remat lenet_training.pb --heuristic dtr_eq --sweep 1.0,0.9",
                    ],
                )
            },
            row(
                "replay",
                [
                    "highwater replay two_graphs.trace --policy 4",
                    "highwater replay language_model.snapshot.pickle.gz --conf expandable_segments:True",
                ],
            ),
            row(
                "reuse",
                [
                    "highwater reuse lenet_training.pb --level 0",
                    "highwater reuse mobilenet_v2.onnx --level 1 --print-log",
                ],
            ),
        ],
    ),
    (
        "Find a configuration",
        &[
            CommandHelp {
                notes: axes,
                ..row(
                    "sweep",
                    [
                        "highwater sweep lenet_training.pb --axis policy=0,2,3,4",
                        "highwater sweep bert_base.onnx.gz --dim seq=64 --axis policy=0,2 --axis batch=1..4x2",
                    ],
                )
            },
            CommandHelp {
                notes: axes,
                ..row(
                    "recommend",
                    [
                        "highwater recommend lenet_training.pb --capacity 16GiB",
                        "highwater recommend language_model.snapshot.pickle.gz --goal lowest-peak",
                    ],
                )
            },
            row(
                "learn",
                [
                    "highwater learn lenet_training.runmeta.pb.gz lenet_training.pb",
                    "highwater learn lenet_training.runmeta.pb.gz lenet_training.pb --to learned.json",
                ],
            ),
            row(
                "check",
                [
                    "highwater check --set memory_config.static_memory_policy=2",
                    "highwater check --alloc-conf expandable_segments:True,max_split_size_mb:64 --torch 2.15",
                ],
            ),
        ],
    ),
    (
        "Read and write files",
        &[
            row(
                "inspect",
                [
                    "highwater inspect lenet_training.pb",
                    "highwater inspect mobilenet_v2.onnx lstm_tiny.tflite --format json",
                ],
            ),
            CommandHelp {
                notes: logs,
                ..row(
                    "explain",
                    [
                        "highwater explain out_of_memory.plog",
                        "highwater explain out_of_memory.plog --format markdown",
                    ],
                )
            },
            CommandHelp {
                notes: export_names,
                ..row(
                    "export",
                    [
                        "highwater export lenet_training.pb --to report.html",
                        "highwater export --set memory_config.static_memory_policy=2 --to run.py",
                    ],
                )
            },
        ],
    ),
    (
        "Reference",
        &[
            row("formats", ["highwater formats", "highwater formats onnx"]),
            row("options", ["highwater options", "highwater options --format markdown"]),
            row(
                "devices",
                ["highwater devices", "highwater devices generic-32GB --format json"],
            ),
            row(
                "completions",
                ["highwater completions bash", "highwater completions zsh"],
            ),
        ],
    ),
];

const EXAMPLES: [&str; 2] = [
    "highwater compare sample:lenet",
    "highwater recommend sample:lenet --capacity 16GiB",
];

/// The program's arguments with everything that `--help` shows.
pub(crate) fn command() -> Command {
    let shared = names(&LaneArgs::augment_args(Common::augment_args(Command::new(""))));
    let is_shared = |argument: &clap::Arg| shared.iter().any(|name| argument.get_id() == name.as_str());
    let mut command = Arguments::command()
        .max_term_width(WIDTH)
        .mut_args(|argument| {
            let is_hidden = is_shared(&argument);
            brief(argument).hide(is_hidden)
        })
        .help_template(template());
    for help in GROUPS.iter().flat_map(|(_, group)| *group) {
        command = command.mut_subcommand(help.name, |command| {
            command
                .mut_args(brief)
                .after_help(format!("{}{}", (help.notes)(), examples(&help.examples)))
        });
    }
    command
}

/// Values are in the text of an argument.
fn brief(argument: clap::Arg) -> clap::Arg {
    let has_value = argument.get_action().takes_values();
    argument.hide_possible_values(has_value)
}

fn names(command: &Command) -> Vec<String> {
    command
        .get_arguments()
        .map(|argument| argument.get_id().to_string())
        .collect()
}

/// The program's help: commands in groups, few flags, the rest in a sentence.
fn template() -> String {
    let commands = Action::augment_subcommands(Command::new(""));
    let mut text = "{about}\n\n{usage-heading} {usage}\n".to_owned();
    for (title, group) in GROUPS {
        text.push_str(&format!("\n{title}:\n"));
        for help in group {
            let about = commands.find_subcommand(help.name).and_then(Command::get_about);
            let about = about.map_or_else(String::new, ToString::to_string);
            text.push_str(&format!("  {:<12} {about}\n", help.name));
        }
    }
    let samples: Vec<String> = SAMPLES.iter().map(|sample| format!("sample:{}", sample.name)).collect();
    text.push_str(&format!(
        "\nWithout a command, the window opens:\n{{positionals}}\n{{options}}\n\
         \u{20} --config, --set, --device, --dim, ...  settings, as in `highwater compare --help`\n\n\
         `highwater COMMAND --help` lists the flags of a command.\n\
         Sizes: 1048576, 1MiB, 1.5GiB (MB and GB are powers of 1000).\n{}\
         Exit codes: 0 done; 1 the answer is \"no\" (does not fit, error-level finding, out of memory);\n\
         \u{20}           2 bad usage or bad input.\n\n{}",
        wrapped("Samples", &samples),
        examples(&EXAMPLES)
    ));
    text
}

fn examples(lines: &[&str]) -> String {
    format!("Examples:\n  {}", lines.join("\n  "))
}

/// A title and names, separated by commas, in lines of at most [`WIDTH`] letters.
fn wrapped<T: AsRef<str>>(title: &str, names: &[T]) -> String {
    let mut text = format!("{title}:");
    let mut width = text.len();
    for (position, name) in names.iter().enumerate() {
        let name = name.as_ref();
        let comma = if position + 1 < names.len() { "," } else { "" };
        if width + name.len() + 2 > WIDTH {
            text.push_str("\n ");
            width = 1;
        }
        text.push_str(&format!(" {name}{comma}"));
        width += name.len() + comma.len() + 1;
    }
    text.push('\n');
    text
}

fn metrics() -> String {
    let names: Vec<&str> = METRICS.iter().map(|metric| metric.name).collect();
    format!("{}\n", wrapped("Metrics of --fail-if", &names))
}

/// The help of `--policy`.
pub(super) fn policies() -> String {
    format!("Policy: {}", StaticMemoryPolicy::known_numbers())
}

/// The names of attributes, in one phrase.
pub(super) fn attributes() -> String {
    let names = Attribute::ALL.map(Attribute::key);
    let (last, others) = names.split_last().expect("attributes exist");
    format!("{} or {last}", others.join(", "))
}

fn strategies() -> String {
    let names: Vec<&str> = highwater_plan::STRATEGIES.iter().map(|row| row.name).collect();
    format!("{}\n", wrapped("Strategies (docs/planner.md)", &names))
}

fn heuristics() -> String {
    let names: Vec<&str> = highwater_rewrite::remat::HEURISTICS
        .iter()
        .map(|row| row.name)
        .collect();
    format!("{}\n", wrapped("Heuristics (docs/passes.md)", &names))
}

fn logs() -> String {
    "After an out-of-memory, name the terminal's text or a pasted report, logs (~/ascend/log) and memory snapshots;\n\
     several files are one story. The last line of the answer is the sentence for a ticket (docs/logs.md).\n\
     Exit code: 1 where nothing about memory is stated.\n\n"
        .to_owned()
}

fn export_names() -> String {
    let mut text = "Names of files:\n".to_owned();
    for row in &EXPORT_FORMS {
        text.push_str(&format!("  {:<37} {}\n", row.names, row.name));
    }
    text.push_str(&format!("  {:<37} document (files and settings)\n\n", "*.highwater"));
    text
}

fn axes() -> String {
    "Axes: KEY is an option (or the last part of its key; policy), a dimension or iterations.\n\
     VALUES are a list (0,2,3,4), a range (8..128x2, 8..32+8, 1..4), or both; None unsets an option.\n\
     Without --axis: the policies and atomic_clean_policy (docs/sweep.md).\n\n"
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Action, Command, GROUPS};
    use clap::Subcommand as _;

    #[test]
    fn every_command_is_in_one_group() {
        let commands = Action::augment_subcommands(Command::new(""));
        let shown = commands.get_subcommands().filter(|command| !command.is_hide_set());
        let mut all: Vec<&str> = shown.map(Command::get_name).collect();
        let mut listed: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, group)| group.iter().map(|help| help.name))
            .collect();
        all.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, all);
    }
}
