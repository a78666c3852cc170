//! `highwater learn`: settings of the simulation from a measured run, and a configuration with them.

use std::collections::BTreeSet;

use anyhow::bail;

use super::args::{Format, LearnArgs};
use super::request::Prepared;
use super::settings::Settings;
use super::text::print_answer;
use super::written::{document_export, write_learned};
use super::{Verdict, print};
use highwater_analysis::{Calibration, LearnedSetting, calibrations};
use highwater_export::LearnAnswer;
use highwater_model::progress::Progress;
use highwater_script::{WRITTEN_FORMS, is_written_name};
use highwater_session::{Document, OutputKind};

pub(super) fn run(args: &LearnArgs, progress: &Progress<'_>) -> anyhow::Result<Verdict> {
    args.format.check(&[Format::Text, Format::Json])?;
    let settings = Settings::read(&args.files, &args.common, progress)?;
    let read = settings.read_files();
    if let Some(path) = &args.to {
        if !is_written_name(&path.display().to_string()) {
            bail!("{}: {WRITTEN_FORMS}", path.display());
        }
        read.refuse(path, OutputKind::Configuration)?;
    }
    let prepared = Prepared::new(settings, args.graph.as_ref(), progress)?;
    let import = prepared.diagnostics();
    let Prepared {
        settings,
        loaded,
        request,
    } = prepared;
    if loaded.workload.recordings().is_empty() {
        bail!(
            "{}: no measurement in it; also name a recording, e.g. a TensorFlow RunMetadata or a memory snapshot",
            loaded.workload.name
        );
    }
    let mut learned = calibrations(&request, progress)?;
    keep_wanted(&mut learned, &args.only)?;
    let answer = LearnAnswer {
        workload: &loaded.workload.name,
        learned: &learned,
        options: &request.options,
        import: &import,
    };
    print_answer(&answer, args.format, false)?;
    let Some(path) = &args.to else {
        return Ok(Verdict::Done);
    };
    let mut document = Document {
        plan: request.plan.clone(),
        ..settings.document.clone()
    };
    let left_out = set(&mut document, &learned, &args.only);
    let export = document_export(&document, path, &settings)?;
    match write_learned(&export, args.force, &read)? {
        None => return Ok(Verdict::No),
        Some(report) if args.format == Format::Text => print(&(report + &left_out_text(&left_out)))?,
        Some(_) => {}
    }
    Ok(Verdict::Done)
}

/// Which poor fits were not written.
fn left_out_text(keys: &BTreeSet<&'static str>) -> String {
    if keys.is_empty() {
        return String::new();
    }
    let keys: Vec<&str> = keys.iter().copied().collect();
    format!(
        "left out as poor fits: {} (--only KEY writes one anyway)\n",
        keys.join(", ")
    )
}

/// Keeps the settings of `--only`.
fn keep_wanted(learned: &mut [Calibration], only: &[String]) -> anyhow::Result<()> {
    let is_known = |key: &String| learned.iter().flat_map(|one| &one.settings).any(|one| one.key == key);
    if let Some(key) = only.iter().find(|key| !is_known(key)) {
        let mut keys: Vec<&str> = learned
            .iter()
            .flat_map(|one| &one.settings)
            .map(|one| one.key)
            .collect();
        keys.dedup();
        bail!("--only {key}: not learned; learned settings: {}", keys.join(", "));
    }
    for one in learned.iter_mut().filter(|_| !only.is_empty()) {
        one.settings.retain(|setting| only.iter().any(|key| key == setting.key));
    }
    Ok(())
}

/// Sets the learned values; the first recording wins. Poor fits are set only where `--only` names them; answers those that
/// are left out.
fn set(document: &mut Document, learned: &[Calibration], only: &[String]) -> BTreeSet<&'static str> {
    let is_used = |setting: &LearnedSetting| setting.poor_fit.is_none() || only.iter().any(|key| key == setting.key);
    for one in learned.iter().rev() {
        for (key, value) in one.stamped(is_used).options.overrides() {
            document
                .options
                .set(key, value.clone())
                .expect("a learned value is valid for its option");
        }
    }
    let settings = learned.iter().flat_map(|one| &one.settings);
    settings
        .filter(|setting| !is_used(setting))
        .map(|setting| setting.key)
        .collect()
}
