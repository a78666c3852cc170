//! `highwater check`, `options` and `export`: everything about the configuration itself.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;

use super::args::{CheckArgs, ExportArgs, Format, OptionsArgs};
use super::compare::{fill_presets, show};
use super::opened::{Named, write_document};
use super::settings::apply_edits;
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
    Document, OnFailure, config_from_document, document_schema, is_document, is_document_name, load, look_at_files,
    options_of, read_bytes, read_document, write_whole,
};

/// Runs `check`.
pub(super) fn check(args: &CheckArgs) -> anyhow::Result<Verdict> {
    let mut options = Options::default();
    let mut environment = Environment::default();
    let mut remarks = Diagnostics::new();
    for path in &args.configs {
        let name = path.display().to_string();
        let (read, warnings) = configured(path, &name)?;
        for warning in warnings.entries() {
            say(warning.severity, &format!("{name}: {}", warning.message));
        }
        remarks.extend(&warnings.prefixed(&name));
        options.extend(&read.0);
        environment.extend(&read.1);
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

/// What a configuration or a document sets.
fn configured(path: &Path, name: &str) -> anyhow::Result<((Options, Environment), Diagnostics)> {
    if is_document(path) {
        let (file, warnings) = read_document(path).map_err(anyhow::Error::msg)?;
        return Ok(((file.document.options, file.document.environment), warnings));
    }
    let (config, warnings) = read_config(name, &read_bytes(path)?).with_context(|| name.to_owned())?;
    Ok(((options_of(&config), config.environment), warnings))
}

/// Runs `options`.
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

/// Runs `export`.
pub(super) fn export(args: &ExportArgs, progress: &Progress<'_>) -> anyhow::Result<Verdict> {
    if is_document_name(&args.to) {
        return write_document(args, progress);
    }
    let write = writer(&args.to)?;
    let named = Named::of(&args.files, &args.common.opening, progress)?;
    let settings = named.settings(&args.common)?;
    let sources = named.sources;
    let mut loaded = load(&sources, settings.evaluation, OnFailure::Stop, progress).map_err(anyhow::Error::msg)?;
    if let Some(name) = &settings.part {
        show(&mut loaded, name)?;
    }
    let mut document = Document::new(sources.clone());
    document.options = settings.options;
    document.environment = settings.environment;
    document.unknown_options = settings.unknown_options;
    document.unknown_fields = settings.unknown_fields;
    document.plan = settings.plan;
    document.part = settings.part;
    document.strategies = settings.strategies;
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
    fill_presets(
        &mut request,
        &sources,
        args.common.iterations.is_none() && !settings.has_document,
    );
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
