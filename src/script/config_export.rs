//! What is written of a configuration: the files, what they leave out, and the errors that forbid it. The command line and the window decide
//! by it alone.
//!
//! The policy is stated in every JSON and Python file, also the default, unless the engine's own key, the variable or a framework states
//! it, or all options and variables are of frameworks without policies. A shell file carries variables alone: an option is never translated into
//! one.

use std::path::{Path, PathBuf};

use highwater_model::diagnostics::{Diagnostics, Severity};
use highwater_model::workload::SchedulePlan;
use highwater_options::{Finding, GE_USE_STATIC_MEMORY, Section, Value, find, has_policy, keys};
use highwater_torch::is_allocator_variable;

use super::config::to_json;
use super::config_document::ConfigDocument;
use super::config_form::ConfigForm;
use super::neighbours::of_variable;
use super::python_part::PythonPart;
use super::write_python::{to_python, undefined_notes};
use super::write_remarks::open_notes;
use super::write_shell::to_shell;

/// The endings of written files, for a message.
pub const WRITTEN_FORMS: &str =
    "name a file that ends in .json (everything), .py (options and variables) or .sh (variables)";

/// The beginning of notes on what the files do not have.
const LEFT_OUT: &str = "left out: ";

/// The largest number of errors in one message.
const MAX_ERRORS: usize = 3;

/// The largest number of options in one sentence.
const MAX_NAMES: usize = 8;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFile {
    pub path: PathBuf,
    pub text: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConfigExport {
    /// The named file, then the parts of other frameworks beside it.
    pub files: Vec<ConfigFile>,
    /// Sentences about what the files leave out, or state although a script leaves it open.
    pub notes: Vec<String>,
    /// Errors of the configuration, a line each.
    pub errors: Vec<String>,
    /// Why the files would say nothing: a clause.
    pub nothing: Option<String>,
}

/// Why a configuration is not written; a sentence without its full stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigRefusal {
    pub message: String,
    /// Whether the user may write it all the same.
    pub can_be_forced: bool,
}

/// Whether a configuration is written to a file of that name.
pub fn is_written_name(name: &str) -> bool {
    ConfigForm::of_name(name).is_some()
}

/// The errors of rules and of files that were read, a line each.
pub fn config_errors(findings: &[Finding], remarks: &Diagnostics) -> Vec<String> {
    let remarks = remarks.entries().iter();
    let of_files = remarks.filter(|remark| remark.severity == Severity::Error);
    let of_rules = findings.iter().filter(|found| found.severity == Severity::Error);
    let mut errors: Vec<String> = of_files.map(|remark| remark.message.clone()).collect();
    errors.extend(of_rules.map(|found| format!("{} {}", found.rule, found.message)));
    errors
}

impl ConfigExport {
    /// # Errors
    /// A sentence, where no configuration is written to a file of that name.
    pub fn new(document: &ConfigDocument, path: &Path, errors: Vec<String>) -> Result<Self, String> {
        match ConfigForm::of_name(&path.display().to_string()) {
            Some(form) => Ok(Self::of_form(form, document, path, errors)),
            None => Err(format!("{}: {WRITTEN_FORMS}", path.display())),
        }
    }

    /// The files of a form, whatever the ending of the path.
    pub fn of_form(form: ConfigForm, document: &ConfigDocument, path: &Path, errors: Vec<String>) -> Self {
        let export = match form {
            ConfigForm::Json => json_file(document, path),
            ConfigForm::Python => python_files(document, path),
            ConfigForm::Shell => shell_file(document, path),
        };
        Self { errors, ..export }
    }

    /// `None` where the files may be written.
    pub fn refusal(&self, is_forced: bool) -> Option<ConfigRefusal> {
        if let Some(why) = &self.nothing {
            let path = self.files.first().map(|file| file.path.display().to_string());
            return Some(ConfigRefusal {
                message: format!("{}: {why}", path.unwrap_or_default()),
                can_be_forced: false,
            });
        }
        if is_forced || self.errors.is_empty() {
            return None;
        }
        let shown = self.errors[..self.errors.len().min(MAX_ERRORS)].join("; ");
        let more = match self.errors.len().saturating_sub(MAX_ERRORS) {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        Some(ConfigRefusal {
            message: format!("nothing written: the configuration has errors: {shown}{more}"),
            can_be_forced: true,
        })
    }
}

/// The texts of files under their names.
pub fn files_text(files: &[ConfigFile]) -> String {
    let shown = files
        .iter()
        .map(|file| format!("==> {} <==\n{}", file.path.display(), file.text));
    shown.collect::<Vec<String>>().join("\n")
}

/// The document with its policy stated, where GE runs under it.
fn with_policy(document: &ConfigDocument) -> ConfigDocument {
    let mut document = document.clone();
    let stating = [
        keys::STATIC_MEMORY_POLICY,
        keys::ENGINE_STATIC_MEMORY_POLICY,
        keys::MEMORY_CONFIG,
    ];
    let has_policy = has_policy(&document.options, &document.environment);
    let runs_elsewhere =
        document.script.runs_elsewhere && !document.options.overrides().any(|(key, _)| is_of_adapter(key));
    let is_stated = !has_policy
        || runs_elsewhere
        || speaks_to_torch_alone(&document)
        || document.options.framework().is_some()
        || stating.iter().any(|key| document.options.is_set(key));
    if !is_stated && !document.environment.is_set(GE_USE_STATIC_MEMORY) {
        let policy = document.options.written(keys::STATIC_MEMORY_POLICY);
        // The key is in the table, so setting it cannot fail.
        drop(document.options.set(keys::STATIC_MEMORY_POLICY, policy));
    }
    document
}

/// Whether settings of other allocators, torch's or MindSpore's, are all that is set.
fn speaks_to_torch_alone(document: &ConfigDocument) -> bool {
    let mut names = document.environment.iter().map(|(name, _)| name).peekable();
    let is_of_others = |name: &str| is_allocator_variable(name) || of_variable(name).is_some();
    document.options.is_empty() && names.peek().is_some() && names.all(is_of_others)
}

/// Whether an option is one of the adapter.
fn is_of_adapter(key: &str) -> bool {
    let others = [
        Section::Engine,
        Section::Dtr,
        Section::MemoryOptimize,
        Section::Simulation,
    ];
    find(key).is_some_and(|row| !others.contains(&row.section))
}

fn json_file(document: &ConfigDocument, path: &Path) -> ConfigExport {
    let mut notes = open_notes(document);
    notes.extend(unread_variables(document));
    ConfigExport {
        files: vec![ConfigFile {
            path: path.to_owned(),
            text: to_json(&with_policy(document)),
        }],
        notes,
        ..ConfigExport::default()
    }
}

fn python_files(document: &ConfigDocument, path: &Path) -> ConfigExport {
    let document = with_policy(document);
    let mut left_out: Vec<String> = Vec::new();
    if !document.predicted.is_empty() {
        left_out.push("the predicted peaks".to_owned());
    }
    if !document.sources.is_empty() {
        left_out.push("the names of the simulated files".to_owned());
    }
    if !document.unknown_fields.is_empty() {
        left_out.push("fields of a newer highwater".to_owned());
    }
    let undefined = undefined_notes(&document);
    let mut notes = open_notes(&document);
    let at_default =
        |note: &String| format!("{note}: left at its default in the file, with the expression in a comment");
    notes.extend(undefined.iter().map(at_default));
    notes.extend(unread_variables(&document));
    let unread = &document.script.unread;
    notes.extend(
        unread
            .iter()
            .map(|key| format!("{LEFT_OUT}{key}, which the script sets in another field than the adapter reads")),
    );
    if !left_out.is_empty() {
        notes.push(format!("{LEFT_OUT}{}; a .json file keeps them", left_out.join(", ")));
    }
    let script = |part: PythonPart| {
        let mut text = to_python(&document, part)?;
        let file = part.path(path, &document);
        if file == path && notes.iter().any(|note| note.starts_with(LEFT_OUT)) {
            text.push('\n');
            for note in notes.iter().filter(|note| note.starts_with(LEFT_OUT)) {
                text.push_str(&format!("# {note}\n"));
            }
        }
        Some(ConfigFile { path: file, text })
    };
    let files: Vec<ConfigFile> = PythonPart::ALL.into_iter().filter_map(script).collect();
    let nothing = (!files.iter().any(|file| has_statements(&file.text))).then(|| {
        let why = match (undefined.first(), document.options.framework()) {
            (Some(why), _) => why.clone(),
            (None, Some(chosen)) => format!("{} sets its defaults itself", chosen.framework.row().title),
            (None, None) if document.script.runs_elsewhere => {
                "the script's graphs run under no policy that it sets".to_owned()
            }
            (None, None) => "no value is known before the script runs".to_owned(),
        };
        format!("only comments would be written, because {why}; write a .json file")
    });
    ConfigExport {
        files,
        notes,
        nothing,
        ..ConfigExport::default()
    }
}

fn shell_file(document: &ConfigDocument, path: &Path) -> ConfigExport {
    let mut text = to_shell(&document.environment);
    let mut notes = open_notes(document);
    notes.retain(|note| document.environment.iter().any(|(name, _)| note.starts_with(name)));
    notes.extend(unread_variables(document));
    let left_out = without_variables(document);
    let nothing = (!has_statements(&text)).then(|| {
        let policy = document
            .options
            .get(keys::STATIC_MEMORY_POLICY)
            .map_or_else(String::new, |value| {
                format!(" ({} is an option without a variable)", policy_shown(value))
            });
        format!(
            "nothing would be written: a shell file has only environment variables and none is set{policy}; write a \
             .py or .json file"
        )
    });
    if !left_out.is_empty() {
        let sentence = format!("{LEFT_OUT}{}; a .py or .json file carries them", left_out.join(", "));
        text.push_str(&format!("# {sentence}\n"));
        notes.push(sentence);
    }
    ConfigExport {
        files: vec![ConfigFile {
            path: path.to_owned(),
            text,
        }],
        notes,
        nothing,
        ..ConfigExport::default()
    }
}

fn policy_shown(value: &Value) -> String {
    format!("{}={value}", keys::STATIC_MEMORY_POLICY).replace(char::is_control, " ")
}

/// What a document states besides variables.
fn without_variables(document: &ConfigDocument) -> Vec<String> {
    let mut names: Vec<String> = document.options.overrides().map(|(key, _)| key.to_owned()).collect();
    if let Some(chosen) = document.options.framework() {
        names.push(format!("the defaults of {}", chosen.framework.row().title));
    }
    let more = names.len().saturating_sub(MAX_NAMES);
    names.truncate(MAX_NAMES);
    if more > 0 {
        names.push(format!("{more} more options"));
    }
    if !document.unknown_options.is_empty() {
        names.push("unknown options".to_owned());
    }
    if document
        .schedule
        .as_ref()
        .is_some_and(|plan| *plan != SchedulePlan::default())
    {
        names.push("the schedule".to_owned());
    }
    if document.evaluation {
        names.push("the evaluation".to_owned());
    }
    names
}

/// A note on variables that only the script knows.
fn unread_variables(document: &ConfigDocument) -> Option<String> {
    let names: Vec<&str> = document.environment.unread().collect();
    (!names.is_empty()).then(|| {
        let names = names.join(", ").replace(char::is_control, " ");
        format!("{LEFT_OUT}variables that the script computes: {names}")
    })
}

/// Whether a script does anything but import.
fn has_statements(text: &str) -> bool {
    let is_statement = |line: &str| !["#", "import ", "from "].iter().any(|start| line.starts_with(start));
    text.lines()
        .map(str::trim)
        .any(|line| !line.is_empty() && is_statement(line))
}
