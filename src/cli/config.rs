//! `highwater check`, `options` and `export`: everything about the configuration itself.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;

use super::args::{CheckArgs, ExportArgs, Format, OptionsArgs};
use super::compare::{fill_presets, sources};
use super::settings::{apply_edits, read_settings};
use super::{Verdict, print, print_json};
use crate::analysis::{LaneSet, Request, compare};
use crate::diagnostics::{Diagnostics, Severity};
use crate::export::{
    CheckReport, WRITTEN_FORMS, WireDiagnostic, Writer, config_schema, options_json, options_markdown, options_text,
    read_config, writer_of,
};
use crate::options::{Environment, Options};
use crate::plan::Limits;
use crate::progress::Progress;
use crate::session::{
    Document, OnFailure, config_from_document, load, look_at_files, options_of, read_bytes, write_whole,
};

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

/// Runs `export`.
pub(super) fn export(args: &ExportArgs, progress: &Progress<'_>) -> anyhow::Result<Verdict> {
    let write = writer(&args.to)?;
    let sources = sources(&args.files, &args.common.opening)?;
    let settings = read_settings(&args.common)?;
    let loaded = load(&sources, settings.evaluation, OnFailure::Stop, progress).map_err(anyhow::Error::msg)?;
    let mut document = Document::new(sources.clone());
    document.options = settings.options;
    document.environment = settings.environment;
    document.unknown_options = settings.unknown_options;
    document.unknown_fields = settings.unknown_fields;
    document.plan = settings.plan;
    document.with_evaluation = settings.evaluation;
    let mut request = Request {
        lanes: LaneSet::Policies,
        workload: Arc::clone(&loaded.workload),
        plan: document.plan.clone(),
        options: document.options.clone(),
        environment: document.environment.clone(),
        files: Arc::new(look_at_files(&document.options, &document.environment)),
        device: document.device(),
        policies: Vec::new(),
        strategies: document.strategies.clone(),
        search_nodes: Limits::DEFAULT_NODES,
    };
    fill_presets(&mut request, &sources, args.common.iterations.is_none());
    document.plan.clone_from(&request.plan);
    let comparison = compare(&request, progress)?;
    let config = config_from_document(&document, Some(&comparison));
    write_whole(&args.to, write(&config).as_bytes())?;
    Ok(Verdict::Done)
}

/// How a file of that name is written.
fn writer(path: &Path) -> anyhow::Result<Writer> {
    let name = path.display().to_string();
    writer_of(&name).with_context(|| format!("{name}: {WRITTEN_FORMS}"))
}

/// A remark on standard error.
fn say(severity: Severity, text: &str) {
    use std::io::Write as _;
    // Nothing can be said where standard error is closed.
    drop(writeln!(std::io::stderr(), "highwater: {severity}: {text}"));
}
