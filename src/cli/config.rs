//! `highwater check` and `options`: findings of a configuration, and the tables of options.

use std::path::Path;

use super::args::{CheckArgs, Format, OptionsArgs};
use super::settings::apply_edits;
use super::text::print_answer;
use super::{Verdict, print, print_json, replay};
use highwater_export::{CheckReport, OptionsAnswer, SettingsAnswer, options_markdown};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::{Cancel, Progress};
use highwater_model::workload::{DeviceProfiles, SchedulePlan};
use highwater_options::{Environment, Options, allocator_findings, keys};
use highwater_script::{ScriptFacts, config_schema};
use highwater_session::{
    ReadConfig, document_schema, is_document, look_at_files, options_of, read_config_file, read_document,
};
use highwater_torch::{Settings, Version};

/// `check --alloc-conf`.
fn check_allocator(args: &CheckArgs, conf: &str) -> anyhow::Result<Verdict> {
    if !args.configs.is_empty() {
        anyhow::bail!("--alloc-conf checks settings of torch's allocator alone; check the configuration separately");
    }
    let version = replay::torch_version(args.torch.as_deref())?.unwrap_or(Version::NEWEST);
    let answer = SettingsAnswer {
        conf,
        version,
        parsed: Settings::parse(conf, version),
        findings: &allocator_findings(conf, version),
    };
    print_answer(&answer, args.format, false)?;
    Ok(Verdict::yes_if(answer.parsed.is_ok()))
}

pub(super) fn check(args: &CheckArgs) -> anyhow::Result<Verdict> {
    args.format.check(&[Format::Text, Format::Json])?;
    if let Some(conf) = &args.alloc_conf {
        return check_allocator(args, conf);
    }
    let mut options = Options::default();
    let mut environment = Environment::default();
    let mut plan = SchedulePlan::default();
    let mut remarks = Diagnostics::new();
    let mut scripts = Vec::new();
    for path in &args.configs {
        let name = path.display().to_string();
        let (read, warnings) = configured(path, args.of.as_deref())?;
        remarks.extend(&warnings.prefixed(&name));
        options.extend(&read.options);
        environment.extend(&read.environment);
        plan = read.plan.unwrap_or(plan);
        scripts.push(read.script);
    }
    if let Some(name) = &args.device {
        DeviceProfiles::bundled()?.find(name)?;
        options.set_text(keys::DEVICE, name)?;
    }
    apply_edits(&args.edits, &mut options, &mut environment)?;
    let files = look_at_files(&options, &environment);
    let report = CheckReport {
        remarks,
        scripts,
        ..CheckReport::of_schedule(&options, &environment, &files, &plan)
    };
    print_answer(&report, args.format, false)?;
    Ok(Verdict::yes_if(!report.has_errors()))
}

/// The settings of a configuration or a document.
struct Configured {
    options: Options,
    environment: Environment,
    plan: Option<SchedulePlan>,
    script: ScriptFacts,
}

/// `of` chooses one of a script's configurations.
fn configured(path: &Path, of: Option<&str>) -> anyhow::Result<(Configured, Diagnostics)> {
    if is_document(path) {
        let (file, warnings) = read_document(path).map_err(anyhow::Error::msg)?;
        let read = Configured {
            options: file.document.options,
            environment: file.document.environment,
            plan: Some(file.document.plan),
            script: ScriptFacts::default(),
        };
        return Ok((read, warnings));
    }
    let ReadConfig {
        config,
        remarks: warnings,
        ..
    } = read_config_file(path, of, &Progress::silent(&Cancel::new())).map_err(anyhow::Error::msg)?;
    let read = Configured {
        options: options_of(&config),
        environment: config.environment,
        plan: config.schedule,
        script: config.script,
    };
    Ok((read, warnings))
}

pub(super) fn options(args: &OptionsArgs) -> anyhow::Result<Verdict> {
    match args.format {
        Format::Json | Format::Text => print_answer(&OptionsAnswer, args.format, false)?,
        Format::Markdown => print(&options_markdown())?,
        Format::Schema => print_json(&config_schema())?,
        Format::DocumentSchema => print_json(&document_schema())?,
        format @ (Format::Csv | Format::Folded | Format::Svg) => return Err(format.refusal()),
    }
    Ok(Verdict::Done)
}
