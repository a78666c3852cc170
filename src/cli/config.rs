//! `highwater check` and `options`: everything about the configuration itself.

use anyhow::Context as _;

use super::args::{CheckArgs, Format, OptionsArgs};
use super::settings::apply_edits;
use super::{Verdict, print, print_json};
use crate::diagnostics::{Diagnostics, Severity};
use crate::export::{
    CheckReport, WireDiagnostic, config_schema, options_json, options_markdown, options_text, read_config,
};
use crate::options::{Environment, Options};
use crate::session::{look_at_files, options_of, read_bytes};

/// Runs `check`.
pub(super) fn check(args: &CheckArgs) -> anyhow::Result<Verdict> {
    let mut options = Options::default();
    let mut environment = Environment::default();
    let mut remarks = Diagnostics::new();
    for path in &args.configs {
        let name = path.display().to_string();
        let bytes = read_bytes(path)?;
        let (document, warnings) = read_config(&name, &bytes).with_context(|| name.clone())?;
        for warning in warnings.entries() {
            say(warning.severity, &format!("{name}: {}", warning.message));
        }
        remarks.extend(&warnings.prefixed(&name));
        options.extend(&options_of(&document));
        environment.extend(&document.environment);
    }
    apply_edits(&args.edits, &mut options, &mut environment)?;
    let report = CheckReport::of(&options, &environment, &look_at_files(&options, &environment));
    match args.format {
        Format::Json => {
            let mut json = report.to_json();
            json["diagnostics"] = serde_json::to_value(WireDiagnostic::all(&remarks))?;
            print_json(&json)?;
        }
        Format::Text => print(&report.to_text())?,
        format => return Err(format.refusal()),
    }
    Ok(if report.has_errors() {
        Verdict::No
    } else {
        Verdict::Done
    })
}

/// Runs `options`.
pub(super) fn options(args: &OptionsArgs) -> anyhow::Result<Verdict> {
    match args.format {
        Format::Json => print_json(&options_json())?,
        Format::Text => print(&options_text())?,
        Format::Markdown => print(&options_markdown())?,
        Format::Schema => print_json(&config_schema())?,
        format @ Format::Csv => return Err(format.refusal()),
    }
    Ok(Verdict::Done)
}

/// A remark on standard error.
fn say(severity: Severity, text: &str) {
    use std::io::Write as _;
    // Nothing can be said where standard error is closed.
    drop(writeln!(std::io::stderr(), "highwater: {severity}: {text}"));
}
