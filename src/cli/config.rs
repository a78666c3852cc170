//! `highwater check` and `options`: findings of a configuration, and the tables of options.

use std::path::Path;

use anyhow::Context as _;

use super::args::{CheckArgs, Format, OptionsArgs};
use super::settings::apply_edits;
use super::{Verdict, print, print_json, warn};
use highwater_export::{
    CheckReport, config_schema, diagnostics_json, options_json, options_markdown, options_text, read_config,
};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::workload::SchedulePlan;
use highwater_options::{Environment, Options};
use highwater_session::{Document, document_schema, is_document, look_at_files, options_of, read_bytes, read_document};

pub(super) fn check(args: &CheckArgs) -> anyhow::Result<Verdict> {
    let mut options = Options::default();
    let mut environment = Environment::default();
    let mut plan = SchedulePlan::default();
    let mut remarks = Diagnostics::new();
    for path in &args.configs {
        let name = path.display().to_string();
        let (read_options, read_environment, schedule, warnings) = configured(path, &name)?;
        for warning in warnings.entries() {
            warn(warning.severity, &format!("{name}: {}", warning.message));
        }
        remarks.extend(&warnings.prefixed(&name));
        options.extend(&read_options);
        environment.extend(&read_environment);
        plan = schedule.unwrap_or(plan);
    }
    apply_edits(&args.edits, &mut options, &mut environment)?;
    let files = look_at_files(&options, &environment);
    let report = CheckReport::of_schedule(&options, &environment, &files, &plan);
    match args.format {
        Format::Json => {
            let mut json = report.to_json();
            json["diagnostics"] = diagnostics_json(&remarks);
            print_json(&json)?;
        }
        Format::Text => print(&report.to_text())?,
        format => return Err(format.refusal()),
    }
    Ok(Verdict::yes_if(!report.has_errors()))
}

/// The settings of a configuration or a document, and its schedule.
fn configured(path: &Path, name: &str) -> anyhow::Result<(Options, Environment, Option<SchedulePlan>, Diagnostics)> {
    if is_document(path) {
        let (file, warnings) = read_document(path).map_err(anyhow::Error::msg)?;
        let Document {
            options,
            environment,
            plan,
            ..
        } = file.document;
        return Ok((options, environment, Some(plan), warnings));
    }
    let (config, warnings) = read_config(name, &read_bytes(path)?).with_context(|| name.to_owned())?;
    Ok((options_of(&config), config.environment, config.schedule, warnings))
}

pub(super) fn options(args: &OptionsArgs) -> anyhow::Result<Verdict> {
    match args.format {
        Format::Json => print_json(&options_json())?,
        Format::Text => print(&options_text())?,
        Format::Markdown => print(&options_markdown())?,
        Format::Schema => print_json(&config_schema())?,
        Format::DocumentSchema => print_json(&document_schema())?,
        format @ Format::Csv => return Err(format.refusal()),
    }
    Ok(Verdict::Done)
}
