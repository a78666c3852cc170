//! Reading a configuration of any form: JSON, a Python script, a notebook, a shell script, a launcher's file.
//!
//! ```text
//! bytes --decode--> text --Form: of_text, of_name--> from_python | from_shell | from_yaml --> Reading
//!
//! from_python   parse     older, nesting, ruff's parser -> a tree; source: its lines and comments
//!               declare   survey, effects: flags, classes, functions of the whole script
//!               evaluate  evaluate, lookups, calls, arithmetic, folding: an expression -> a Fact (a value, or why it is unknown)
//!               settings  walk, loops, functions, assignments, variables, changes: along the flow, into Records
//!               findings  settle: the last setting of each option wins, contradictions become warnings -> Reading
//! from_shell    words: text -> commands; branches: conditions around them; ShellReader: assignments -> Reading
//! ```

use std::path::Path;

use highwater_model::diagnostics::Diagnostics;

use super::config::{ConfigError, from_json};
use super::config_document::ConfigDocument;
use super::encoding::{Decoded, decode};
use super::launcher::{MAX_LAUNCHER_BYTES, from_launcher_json, from_yaml};
use super::notebook;
use super::python::{Dialect, ScriptText, from_python};
use super::reading::Reading;
use super::shell::from_shell;

const MAX_SCRIPT_BYTES: usize = 16 * 1024 * 1024;

/// The form of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Json,
    Notebook,
    Python,
    Shell,
    /// A launcher's.
    Yaml,
}

impl Form {
    /// By the name of a file.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
        let (stem, extension) = file.rsplit_once('.').unwrap_or((file, ""));
        match extension.to_ascii_lowercase().as_str() {
            "json" => Some(Self::Json),
            "ipynb" => Some(Self::Notebook),
            "yaml" | "yml" => Some(Self::Yaml),
            "py" | "pyw" | "python" => Some(Self::Python),
            "sh" | "bash" | "env" | "zsh" | "ksh" => Some(Self::Shell),
            _ if stem.eq_ignore_ascii_case("dockerfile") => Some(Self::Shell),
            _ => None,
        }
    }

    /// Whether a file of this form is always read as a configuration.
    const fn is_script(self) -> bool {
        !matches!(self, Self::Json)
    }

    /// By the beginning of a text.
    fn of_text(text: &str) -> Option<Self> {
        let start = text.trim_start();
        if start.starts_with('{') {
            return Some(Self::Json);
        }
        let first = start.strip_prefix("#!")?.lines().next()?;
        match first {
            _ if first.contains("python") => Some(Self::Python),
            _ if first.contains("sh") => Some(Self::Shell),
            _ => None,
        }
    }

    fn read(self, name: &str, decoded: &Decoded<'_>, bytes: &[u8], of: Option<&str>) -> Result<Reading, ConfigError> {
        let text = &*decoded.text;
        let python = |text, path| ScriptText {
            text,
            path,
            is_lossy: decoded.is_lossy,
        };
        match self {
            Self::Json => {
                let (document, warnings) = from_json(bytes)?;
                Ok(Reading {
                    document,
                    warnings,
                    is_found: true,
                    ..Reading::default()
                })
            }
            Self::Notebook => {
                let code = notebook::code(text)?;
                let reading = from_python(&python(&code.text, None), Dialect::Notebook, of);
                Ok(code.placed(reading))
            }
            Self::Python => Ok(from_python(&python(text, Some(name)), Dialect::Script, of)),
            Self::Shell => Ok(from_shell(text)),
            Self::Yaml if bytes.len() > MAX_LAUNCHER_BYTES => {
                Err(at_start("more than 1 MiB are no launcher's file".to_owned()))
            }
            Self::Yaml => Ok(from_yaml(text)),
        }
    }

    /// A statement with a setting in this form, for a message.
    const fn expects(self) -> &'static str {
        match self {
            Self::Json => "options as a JSON object",
            Self::Notebook | Self::Python => {
                "a call of NPURunConfig(...) or another class of options, custom_op.parameter_map[...], \
                 npu.global_options() or os.environ[...]"
            }
            Self::Yaml => "variables under `env` or `environment`",
            Self::Shell => "export NAME=value of a variable that has an effect here",
        }
    }
}

/// Whether configurations are read from a file of that name as a script.
pub fn is_script_name(name: &str) -> bool {
    Form::of_name(name).is_some_and(Form::is_script)
}

/// Reads a configuration: JSON, a Python script, a notebook, or a shell script. The text decides on the form; the extension breaks ties
/// and chooses the form whose error is reported.
///
/// # Errors
/// [`ConfigError`] with line and column where the text is readable in no form.
pub fn read_config(name: &str, bytes: &[u8]) -> Result<(ConfigDocument, Diagnostics), ConfigError> {
    read_config_of(name, bytes, None)
}

/// The same with a chosen one of a script's configurations ([`ScriptFacts::configurations`](super::ScriptFacts)); the last one
/// unless one is chosen.
///
/// # Errors
/// Those of [`read_config`], and a name that the script does not have.
pub fn read_config_of(
    name: &str,
    bytes: &[u8],
    of: Option<&str>,
) -> Result<(ConfigDocument, Diagnostics), ConfigError> {
    let (document, warnings) = read_any(name, bytes, of)?;
    let names = &document.script.configurations;
    let accepted = || names.iter().chain(&document.script.aliases);
    match of.filter(|of| !accepted().any(|name| name == of)) {
        Some(of) if names.is_empty() => Err(at_start(format!("there are no configurations, so that {of} is none"))),
        Some(of) => Err(at_start(format!(
            "there is no configuration {of}; there are {}",
            names.join(", ")
        ))),
        None => Ok((document, warnings)),
    }
}

fn read_any(name: &str, bytes: &[u8], of: Option<&str>) -> Result<(ConfigDocument, Diagnostics), ConfigError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let promised = Form::of_name(name);
    let is_object = bytes.trim_ascii_start().starts_with(b"{");
    if bytes.len() > MAX_SCRIPT_BYTES && !is_object {
        let reason = format!("more than {} MiB are no configuration", MAX_SCRIPT_BYTES >> 20);
        return Err(at_start(reason));
    }
    // Comments in other encodings are common; settings are ASCII.
    let decoded = decode(bytes);
    let text = &*decoded.text;
    let bytes = if decoded.is_lossy { bytes } else { text.as_bytes() };
    let shown = Form::of_text(text);
    let is_notebook = shown == Some(Form::Json) && notebook::is_notebook(text);
    let shown = if is_notebook { Some(Form::Notebook) } else { shown };
    if let Some(reading) = launcher_json(text, bytes, [shown, promised]) {
        return Ok(with_error_as_warning(reading, name));
    }
    // An error in JSON is reported as such, although parts of JSON are Python; a shell script may start with a brace.
    if shown == Some(Form::Json) && !matches!(promised, Some(Form::Python | Form::Shell)) {
        return from_json(bytes);
    }
    let reported = promised.or(shown);
    let mut report = None;
    let forms = [shown, promised, Some(Form::Python), Some(Form::Shell)];
    for (position, form) in forms.into_iter().enumerate() {
        let Some(form) = form.filter(|_| !forms[..position].contains(&form)) else {
            continue;
        };
        match form.read(name, &decoded, bytes, of) {
            Ok(reading) if reading.is_found => return Ok(with_error_as_warning(reading, name)),
            result if Some(form) == reported => {
                // A script that can be read and sets nothing is not another kind of script.
                let is_read = matches!(&result, Ok(Reading { error: None, .. }));
                report = Some(result.map(|reading| (form, reading)));
                if is_read && promised == Some(form) && form == Form::Python {
                    break;
                }
            }
            Ok(_) | Err(_) => {}
        }
    }
    match report {
        None => Err(at_start(
            "neither a configuration (JSON) nor a Python or shell script that sets an option or a variable".to_owned(),
        )),
        Some(Err(error) | Ok((_, Reading { error: Some(error), .. }))) => Err(error),
        Some(Ok((form, mut reading))) => {
            let message = format!("nothing in it sets an option; highwater reads {}", form.expects());
            reading.warnings.warning(message, "");
            Ok((reading.document, reading.warnings))
        }
    }
}

/// The variables of a launcher's JSON; a file with options is a configuration.
fn launcher_json(text: &str, bytes: &[u8], forms: [Option<Form>; 2]) -> Option<Reading> {
    if !forms.contains(&Some(Form::Json)) || bytes.len() > MAX_LAUNCHER_BYTES || text.contains("\"highwater_config\"") {
        return None;
    }
    let reading = from_launcher_json(text).filter(|reading| reading.is_found)?;
    let options = from_json(bytes).is_ok_and(|(document, _)| document.options.overrides().next().is_some());
    (!options).then_some(reading)
}

/// Settings before and behind a syntax error count. Relative paths may start from the folder of the file.
fn with_error_as_warning(mut reading: Reading, name: &str) -> (ConfigDocument, Diagnostics) {
    if let Some(folder) = Path::new(name).parent().and_then(Path::to_str) {
        reading.document.script.folder = Some(if folder.is_empty() { "." } else { folder }.to_owned());
    }
    if let Some(error) = &reading.error {
        let message = format!("line {}: {}; what follows may be missing", error.line, error.reason);
        reading.warnings.warning(message, "");
    }
    (reading.document, reading.warnings)
}

fn at_start(reason: String) -> ConfigError {
    ConfigError {
        line: 1,
        column: 1,
        reason,
    }
}
