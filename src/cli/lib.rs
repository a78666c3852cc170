//! The engine without a window: commands, text and JSON, progress, exit codes.
//!
//! In: arguments. Out: text or one JSON object on standard output, and an exit code: 0 done, 1 the answer is "no", 2 bad usage or bad
//! input (one line on standard error). Progress goes to standard error where that is a terminal; Ctrl-C stops the work and leaves no
//! half-written file.

mod args;
mod choice;
mod compare;
mod config;
mod devices;
mod dims;
mod explain;
mod export;
mod formats;
mod inspect;
mod learn;
mod lower_bound;
mod manual;
mod opened;
mod opening;
mod peak;
mod plan;
mod recommend;
mod remat;
mod replay;
mod request;
mod reuse;
mod settings;
mod space;
mod sweep;
mod text;
mod verified;
mod written;

use std::ffi::OsString;
use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::{CommandFactory as _, FromArgMatches as _};

pub use args::{Arguments, Common, Format};
pub use settings::{Settings, Start, restore, start};

use args::Action;
use highwater_export::guarded_csv;
use highwater_model::diagnostics::Severity;
use highwater_model::progress::{Cancel, Progress};
use highwater_model::units::Nanos;
use highwater_model::visible::{one_line, visible, visible_json};
use highwater_session::most_threads;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Done,
    No,
    /// Some input was bad: it has a line on standard error already, and the rest has its answer.
    BadInput,
}

impl Verdict {
    pub(crate) const fn yes_if(is_yes: bool) -> Self {
        if is_yes { Self::Done } else { Self::No }
    }
}

#[derive(Debug)]
pub enum Outcome {
    /// A command ran, and the program ends with this code.
    Exit(ExitCode),
    /// There is no command, so the window opens.
    Window(Box<Arguments>),
}

/// What `--version` says besides the number.
#[derive(Clone, Copy, Debug)]
pub struct Build {
    /// `None` where it is unknown, as in debug builds.
    pub commit: Option<&'static str>,
    /// Whether the feature `gui` is built in.
    pub has_window: bool,
}

impl Build {
    fn version(self) -> String {
        let commit = self.commit.unwrap_or("unknown");
        let window = if self.has_window { "gui" } else { "none" };
        format!("{} (commit {commit}, features: {window})", env!("CARGO_PKG_VERSION"))
    }
}

/// Runs the command of the process's arguments.
pub fn run(build: Build) -> Outcome {
    let parsed = args::command()
        .version(build.version())
        .try_get_matches()
        .and_then(|matches| Arguments::from_arg_matches(&matches));
    let arguments = match parsed {
        Ok(arguments) => arguments,
        Err(error) => return Outcome::Exit(usage(&error)),
    };
    match &arguments.action {
        None => {
            if let Some(message) = missing_file(&arguments) {
                return Outcome::Exit(fail(&message));
            }
            if arguments.painter.is_some() {
                say("--painter has no effect any more: the processor draws large lanes as pictures");
            }
            Outcome::Window(Box::new(arguments))
        }
        Some(action) => Outcome::Exit(perform(action)),
    }
}

/// Prints one line on standard error; exit code 2.
pub fn fail(message: &str) -> ExitCode {
    say(message);
    ExitCode::from(2)
}

/// One line on standard error; a closed one is ignored.
pub(crate) fn say(message: &str) {
    drop(writeln!(std::io::stderr(), "highwater: {}", one_line(message)));
}

/// Help and version are answers; other errors are one line and exit code 2.
fn usage(error: &clap::Error) -> ExitCode {
    use clap::error::ErrorKind;
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => match error.print() {
            Err(failure) if failure.kind() != std::io::ErrorKind::BrokenPipe => {
                fail(&format!("standard output: {failure}"))
            }
            _ => ExitCode::SUCCESS,
        },
        ErrorKind::InvalidUtf8 => {
            let all = std::env::args_os().skip(1);
            let damaged = all.filter(|argument| argument.to_str().is_none());
            let quoted: Vec<String> = damaged.map(|one| format!("\"{}\"", one.to_string_lossy())).collect();
            fail(&format!(
                "{}: not UTF-8; only names of files may have other bytes",
                quoted.join(", ")
            ))
        }
        _ => {
            let text = error.to_string();
            let parts: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
            let kept = parts.iter().filter(|line| !line.starts_with("For more information"));
            let line = kept.copied().collect::<Vec<_>>().join("; ");
            fail(line.trim_start_matches("error: "))
        }
    }
}

/// An error for the first argument that is neither a command nor a file.
fn missing_file(arguments: &Arguments) -> Option<String> {
    let is_there = |file: &&PathBuf| {
        let text = file.to_string_lossy();
        text == "-" || text.starts_with("sample:") || file.exists()
    };
    let missing = arguments.files.iter().find(|file| !is_there(file))?;
    Some(format!(
        "no file or command is named \"{}\"; --help lists the commands",
        missing.display()
    ))
}

/// Ends the program on SIGINT, SIGTERM and SIGHUP without leaving a temporary file or a half copy; work under this cancel flag stops
/// before.
pub fn end_on_signals(cancel: Cancel) {
    // Where a handler is set already, a signal ends the process at once, which is safe too.
    drop(ctrlc::set_handler(move || {
        cancel.cancel();
        std::thread::sleep(std::time::Duration::from_millis(80));
        let _ended = highwater_session::end_writes();
        std::process::exit(130);
    }));
}

fn perform(action: &Action) -> ExitCode {
    let cancel = match most_threads() {
        Ok(n_threads) => Cancel::on_threads(n_threads),
        Err(error) => return fail(&error.to_string()),
    };
    end_on_signals(cancel.clone());
    let report = progress_line();
    let progress = Progress::new(&cancel, &*report);
    let result = match action {
        Action::Inspect(args) => inspect::run(args, &progress),
        Action::Explain(args) => explain::run(args, &progress),
        Action::Compare(args) => compare::run(args, &progress),
        Action::Sweep(args) => sweep::run(args, &progress),
        Action::Recommend(args) => recommend::run(args, &progress),
        Action::Peak(args) => peak::run(args, &progress),
        Action::Plan(args) => plan::run(args, &progress),
        Action::Remat(args) => remat::run(args, &progress),
        Action::Replay(args) => replay::run(args, &progress),
        Action::Reuse(args) => reuse::run(args, &progress),
        Action::Learn(args) => learn::run(args, &progress),
        Action::Check(args) => config::check(args),
        Action::Options(args) => config::options(args),
        Action::Devices(args) => devices::run(args),
        Action::Formats(args) => formats::run(args),
        Action::Export(args) => export::run(args, &progress),
        Action::Manual { folder } => manual::write(folder),
        Action::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Arguments::command(), "highwater", &mut script);
            print_as_is(&String::from_utf8_lossy(&script)).map(|()| Verdict::Done)
        }
    };
    clear_progress_line();
    match result {
        Ok(Verdict::Done) => ExitCode::SUCCESS,
        Ok(Verdict::No) => ExitCode::from(1),
        Ok(Verdict::BadInput) => ExitCode::from(2),
        Err(error) if cancel.is_cancelled() => {
            drop(error);
            ExitCode::from(130)
        }
        Err(error) => match error.downcast_ref::<std::io::Error>() {
            // The reader closed the pipe, as `head` does.
            Some(io) if io.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
            // Errors of files name their file.
            Some(io) if error.chain().len() == 1 => fail(&format!("standard output: {io}")),
            _ => fail(&located(&format!("{error:#}"), action.inputs())),
        },
    }
}

/// A message with the inputs in front, unless it begins with a flag or with an input, or names an argument.
fn located(message: &str, inputs: &[PathBuf]) -> String {
    let is_named = |argument: OsString| {
        let argument = argument.to_string_lossy();
        let value = argument.split_once('=').map_or(&*argument, |(_, value)| value);
        let name = value.rsplit('/').next().unwrap_or(value);
        // A word such as `torch` is in messages by chance.
        let is_path = value.contains(['/', '.', ':']) && name.len() > 1;
        is_path && message.contains(name) || message.contains(&format!("\"{value}\""))
    };
    let begins_with = |input: &PathBuf| message.starts_with(&format!("{}: ", input.display()));
    let is_located = message.starts_with("--") || inputs.iter().any(begins_with);
    // The program and the command are no arguments.
    if inputs.is_empty() || is_located || std::env::args_os().skip(2).any(is_named) {
        return message.to_owned();
    }
    let names: Vec<String> = inputs.iter().map(|input| input.display().to_string()).collect();
    format!("{}: {message}", names.join(", "))
}

/// Progress on one line of standard error, where that is a terminal.
fn progress_line() -> Box<dyn Fn(&'static str, f32)> {
    if !std::io::stderr().is_terminal() {
        return Box::new(|_, _| {});
    }
    let last = std::cell::Cell::new(("", -1));
    Box::new(move |stage, fraction| {
        #[expect(clippy::cast_possible_truncation, reason = "0 to 100")]
        let now = (stage, (fraction * 100.0) as i32);
        if last.replace(now) != now {
            say_progress(&format!("{stage} {} %", now.1));
        }
    })
}

/// A line of progress until the next one, where standard error is a terminal.
pub(crate) fn say_progress(text: &str) {
    if std::io::stderr().is_terminal() {
        drop(write!(std::io::stderr(), "\r\x1b[K{text}"));
    }
}

fn clear_progress_line() {
    say_progress("");
}

/// Writes a text to standard output, with hidden characters made visible.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    print_as_is(&visible(text))
}

fn print_as_is(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Writes CSV to standard output, with guarded cells unless it is raw.
pub(crate) fn print_csv(text: &str, is_raw: bool) -> anyhow::Result<()> {
    if is_raw {
        return print_as_is(text);
    }
    print_as_is(&guarded_csv(text))
}

/// Writes one JSON object to standard output.
pub(crate) fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    print_as_is(&visible_json(&text))
}

pub(crate) fn warn(severity: Severity, text: &str) {
    say(&format!("{severity}: {text}"));
}

/// Writes one JSON object in one line to standard output.
pub(crate) fn print_json_line(value: &impl serde::Serialize) -> anyhow::Result<()> {
    let mut text = serde_json::to_string(value)?;
    text.push('\n');
    print_as_is(&visible_json(&text))
}

/// A value, and the time that it took.
#[expect(clippy::disallowed_methods, reason = "the command line owns a clock")]
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, Nanos) {
    let start = Instant::now();
    let value = work();
    (
        value,
        Nanos(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)),
    )
}
