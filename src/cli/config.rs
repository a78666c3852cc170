//! `highwater check`, `options` and `export`: everything about the configuration itself.

use std::sync::Arc;

use anyhow::{Context as _, bail};

use super::args::{CheckArgs, ExportArgs, Format, OptionsArgs};
use super::compare::{findings_text, sources, with_sample_dims};
use super::settings::{read_settings, set_environment, set_options};
use super::text::Table;
use super::{Verdict, print, print_json};
use crate::analysis::{Request, compare};
use crate::diagnostics::Severity;
use crate::export::config::{from_json, to_json};
use crate::export::{WireCheck, WireOptions};
use crate::options::{CHECKS, ENVIRONMENT, Environment, Options, TABLE, check as run_checks, effective_policy};
use crate::plan::STRATEGIES;
use crate::progress::Progress;
use crate::session::{Document, config_from_document, load, read_bytes, write_whole};

/// Runs `check`.
pub(super) fn check(args: &CheckArgs) -> anyhow::Result<Verdict> {
    let mut options = Options::default();
    let mut environment = Environment::default();
    let mut warnings = Vec::new();
    for path in &args.configs {
        let name = path.display().to_string();
        let bytes = read_bytes(path)?;
        let (document, odd) = from_json(&bytes).with_context(|| name.clone())?;
        warnings.extend(odd.iter().map(|warning| format!("{name}: {warning}")));
        for (key, value) in document.options.overrides() {
            options.set(key, value.clone())?;
        }
        for (name, value) in document.environment.iter() {
            environment.set(name, value);
        }
    }
    set_options(&args.set, &mut options)?;
    set_environment(&args.env, args.inherit_env, &mut environment)?;
    let findings = run_checks(&options, &environment);
    for warning in &warnings {
        eprintln_line(&format!("warning: {warning}"));
    }
    match args.format {
        Format::Json => print_json(&WireCheck::new(&findings, &options, &environment))?,
        Format::Text => {
            let mut text = findings_text(&findings);
            if findings.is_empty() {
                text.push_str("no findings\n");
            }
            let policy = effective_policy(&options, &environment).row();
            text.push_str(&format!("policy in force: {} ({})\n", policy.number, policy.label));
            print(&text)?;
        }
        Format::Csv => bail!("--format csv is for `plan`; use text or json"),
    }
    let has_error = findings.iter().any(|finding| finding.severity == Severity::Error);
    Ok(if has_error { Verdict::No } else { Verdict::Done })
}

/// Runs `options`.
pub(super) fn options(args: &OptionsArgs) -> anyhow::Result<Verdict> {
    match args.format {
        Format::Json => print_json(&WireOptions::new())?,
        Format::Text => print(&options_text())?,
        Format::Csv => bail!("--format csv is for `plan`; use text or json"),
    }
    Ok(Verdict::Done)
}

fn options_text() -> String {
    let mut out = String::new();
    for row in TABLE {
        let default = row.default.to_string();
        let default = if default.is_empty() { "not set" } else { &default };
        out.push_str(&format!("{}\n    {}\n", row.key, row.summary));
        out.push_str(&format!(
            "    {}: {}; default {default}\n    memory: {}\n",
            row.kind.name(),
            row.kind.range_text().trim_start_matches(", "),
            row.memory_effect
        ));
    }
    for row in ENVIRONMENT {
        out.push_str(&format!(
            "{} (environment)\n    {}\n    {}\n",
            row.name, row.summary, row.precedence
        ));
    }
    let mut table = Table::new(&["rule", "severity", "summary"]);
    for check in CHECKS {
        let severities: Vec<&str> = check.severities.iter().map(|severity| severity.name()).collect();
        table.row(vec![
            check.rule.to_owned(),
            severities.join(", "),
            check.summary.to_owned(),
        ]);
    }
    out.push('\n');
    out.push_str(&table.text());
    out
}

/// Runs `export`.
pub(super) fn export(args: &ExportArgs, progress: &Progress<'_>) -> anyhow::Result<Verdict> {
    let is_config = args
        .to
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    if !is_config {
        bail!(
            "{}: this version writes configurations; name a file that ends in .json",
            args.to.display()
        );
    }
    let sources = sources(&args.files)?;
    let settings = with_sample_dims(read_settings(&args.common)?, &sources);
    let loaded = load(&sources, settings.evaluation, progress).map_err(anyhow::Error::msg)?;
    let mut document = Document::new(sources, settings.device);
    document.options = settings.options;
    document.environment = settings.environment;
    document.unknown_options = settings.unknown_options;
    document.plan = settings.plan;
    document.with_evaluation = settings.evaluation;
    let request = Request {
        workload: Arc::clone(&loaded.workload),
        plan: document.plan.clone(),
        options: document.options.clone(),
        environment: document.environment.clone(),
        device: document.device.clone(),
        policies: Vec::new(),
        strategy: &STRATEGIES[0],
    };
    let comparison = compare(&request, progress)?;
    let config = config_from_document(&document, Some(&comparison));
    write_whole(&args.to, to_json(&config).as_bytes())?;
    Ok(Verdict::Done)
}

fn eprintln_line(text: &str) {
    use std::io::Write as _;
    // Nothing can be said where standard error is closed.
    drop(writeln!(std::io::stderr(), "highwater: {text}"));
}
