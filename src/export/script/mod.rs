//! Configurations in the form that users have them in: Python training scripts, notebooks and shell scripts.
//!
//! In: a file's name and bytes. Out: the same [`ConfigDocument`] that JSON gives, with a warning for everything that
//! only a running script knows. Nothing is ever run. And back: a document as Python, an environment as shell.
//! Deliberately not here: judging values (that is `options::check`).

mod encoding;
mod notebook;
mod python;
mod reading;
mod shell;
mod write_python;
mod write_shell;

use highwater_model::diagnostics::Diagnostics;

use super::config::{ConfigDocument, ConfigError, from_json};
use encoding::{Decoded, decode};
use python::{Dialect, from_python};
use reading::Reading;
use shell::from_shell;

pub use write_python::to_python;
pub use write_shell::to_shell;

/// Larger scripts are refused.
const MAX_SCRIPT_BYTES: usize = 16 * 1024 * 1024;

/// A form in which a configuration may come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Json,
    Notebook,
    Python,
    Shell,
}

impl Form {
    /// The form that a file's name promises.
    fn of_name(name: &str) -> Option<Self> {
        let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
        let (stem, extension) = file.rsplit_once('.').unwrap_or((file, ""));
        match extension.to_ascii_lowercase().as_str() {
            "json" => Some(Self::Json),
            "ipynb" => Some(Self::Notebook),
            "py" | "pyw" | "python" => Some(Self::Python),
            "sh" | "bash" | "env" | "zsh" | "ksh" => Some(Self::Shell),
            _ if stem.eq_ignore_ascii_case("dockerfile") => Some(Self::Shell),
            _ => None,
        }
    }

    /// Whether it is a script, which can hold nothing but a configuration.
    const fn is_script(self) -> bool {
        !matches!(self, Self::Json)
    }

    /// The form that the text itself shows.
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

    fn read(self, decoded: &Decoded<'_>, bytes: &[u8]) -> Result<Reading, ConfigError> {
        let text = &*decoded.text;
        match self {
            Self::Json => {
                let (document, warnings) = from_json(bytes)?;
                Ok(Reading {
                    document,
                    warnings,
                    is_found: true,
                    error: None,
                })
            }
            Self::Notebook => {
                let code = notebook::code(text)?;
                let reading = from_python(&code.text, Dialect::Notebook, decoded.is_lossy);
                Ok(code.placed(reading))
            }
            Self::Python => Ok(from_python(text, Dialect::Script, decoded.is_lossy)),
            Self::Shell => Ok(from_shell(text)),
        }
    }

    /// What a file of this form would have to say to be of use here.
    const fn expects(self) -> &'static str {
        match self {
            Self::Json => "options as a JSON object",
            Self::Notebook | Self::Python => {
                "a call of NPURunConfig(...) or another class of options, custom_op.parameter_map[...], \
                 npu.global_options() or os.environ[...]"
            }
            Self::Shell => "export NAME=value of a variable that has an effect here",
        }
    }
}

/// Writes a document in one form.
pub type Writer = fn(&ConfigDocument) -> String;

/// What a name of a file has to end in, for a message.
pub const WRITTEN_FORMS: &str =
    "name a file that ends in .json (everything), .py (options and variables) or .sh (variables)";

/// How a file of that name is written; `None` for names that no form has.
pub fn writer_of(name: &str) -> Option<Writer> {
    match Form::of_name(name)? {
        Form::Json => Some(super::to_json),
        Form::Python => Some(to_python),
        Form::Shell => Some(|document| to_shell(&document.environment)),
        Form::Notebook => None,
    }
}

/// Whether a file of that name is a script that configurations are read from.
pub fn is_script_name(name: &str) -> bool {
    Form::of_name(name).is_some_and(Form::is_script)
}

/// Reads a configuration in whatever form it comes: JSON, a Python script, a notebook, or a shell script. What the
/// text is decides; the name's extension breaks ties and says whose error is reported.
///
/// # Errors
/// [`ConfigError`] with line and column where the text cannot be read in any form.
pub fn read_config(name: &str, bytes: &[u8]) -> Result<(ConfigDocument, Diagnostics), ConfigError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let promised = Form::of_name(name);
    let is_object = bytes.trim_ascii_start().starts_with(b"{");
    if bytes.len() > MAX_SCRIPT_BYTES && !is_object {
        let reason = format!("more than {} MiB are no configuration", MAX_SCRIPT_BYTES >> 20);
        return Err(at_start(reason));
    }
    // Comments in other encodings are common; what matters is ASCII.
    let decoded = decode(bytes);
    let text = &*decoded.text;
    let bytes = if decoded.is_lossy { bytes } else { text.as_bytes() };
    let mut forms = Vec::new();
    let shown = Form::of_text(text);
    let is_notebook = shown == Some(Form::Json) && notebook::is_notebook(text);
    let shown = if is_notebook { Some(Form::Notebook) } else { shown };
    // A slip in JSON is reported as such, although a part of the text may well be Python.
    if shown == Some(Form::Json) && promised != Some(Form::Python) {
        return from_json(bytes);
    }
    for form in [shown, promised, Some(Form::Python), Some(Form::Shell)]
        .into_iter()
        .flatten()
    {
        if !forms.contains(&form) {
            forms.push(form);
        }
    }
    let speaker = promised.or(shown);
    let mut spoken = None;
    for form in forms {
        let result = form.read(&decoded, bytes);
        if let Ok(reading) = &result
            && reading.is_found
        {
            return Ok(with_error_as_warning(reading));
        }
        if Some(form) == speaker {
            spoken = Some(result.map(|reading| (form, reading)));
        }
    }
    match spoken {
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

/// What was found before and behind a syntax error counts.
fn with_error_as_warning(reading: &Reading) -> (ConfigDocument, Diagnostics) {
    let mut warnings = reading.warnings.clone();
    if let Some(error) = &reading.error {
        let message = format!("line {}: {}; what follows may be missing", error.line, error.reason);
        warnings.warning(message, "");
    }
    (reading.document.clone(), warnings)
}

fn at_start(reason: String) -> ConfigError {
    ConfigError {
        line: 1,
        column: 1,
        reason,
    }
}
