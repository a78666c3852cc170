//! `highwater export`: files of an answer, each by its name.

use std::io::Write;
use std::sync::Arc;

use anyhow::{Context as _, bail};

use super::args::ExportArgs;
use super::compare::{axis_of, coloring};
use super::opened::{named_document, write_document};
use super::request::{Prepared, policies};
use super::settings::Settings;
use super::written::{config_export, document_export, write_or_print};
use super::{Verdict, print};
use highwater_analysis::{Comparison, compare, with_figures};
use highwater_export::{ExportAbout, ExportForm, ExportSubject};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_options::check_scheduled;
use highwater_script::{ConfigFile, files_text};
use highwater_session::{CommandLine, Document, Origin, export_about, is_document_name, write_pieces};
use highwater_timeline::Timeline;

pub(super) fn run(args: &ExportArgs, progress: &Progress<'_>) -> anyhow::Result<Verdict> {
    if args.form.is_none() && is_document_name(&args.to) {
        check_document(args)?;
        return write_document(args, progress);
    }
    let form = match &args.form {
        Some(name) => ExportForm::find(name).map_err(anyhow::Error::msg),
        None => ExportForm::of_path(&args.to).map_err(anyhow::Error::msg),
    }?;
    form.check(&args.to).map_err(anyhow::Error::msg)?;
    if args.files.is_empty() {
        return convert(args, form, progress);
    }
    let mut settings = Settings::read(&args.files, &args.common, progress)?;
    settings.add_lanes(&args.lanes)?;
    args.alignment.set(&mut settings.document.options)?;
    let file = named_document(&settings, &args.files);
    // Before the comparison, which may take long.
    let read = settings.read_files();
    read.refuse(&args.to, form.into())?;
    let mut prepared = Prepared::new(settings, args.graph.as_ref(), progress)?;
    prepared.request.policies = policies(&args.policies)?;
    let import = prepared.diagnostics();
    let Prepared {
        settings,
        loaded,
        request,
    } = prepared;
    let mut document = Document {
        plan: request.plan.clone(),
        ..settings.document.clone()
    };
    let comparison = Arc::new(compare(&request, progress)?);
    if !args.verifying.holds(&comparison, progress)? {
        return Ok(Verdict::No);
    }
    if form == ExportForm::Config {
        set_allocator_variable(&mut document, args.lanes.conf.len(), &comparison)?;
    }
    let findings = check_scheduled(&document.options, &document.environment, &*request.files, &request.plan);
    let findings = with_figures(findings, &comparison);
    let origin = Origin {
        file: file
            .as_ref()
            .map(|(name, opened)| (name.as_str(), &opened.file.document)),
        folder: file.as_ref().and_then(|(_, opened)| opened.path.parent()),
        names_outside: file.as_ref().is_some_and(|(_, opened)| opened.outside.is_some()),
        runs_there: false,
        pins: &args.lanes.pin,
    };
    // The command line repeats the schedule as the document has it, not as it is for these graphs.
    let mut stated = document.clone();
    if file.is_some() {
        stated.plan.clone_from(&settings.document.plan);
    }
    let line = CommandLine::new(&stated, origin);
    if form == ExportForm::Config {
        let about = export_about(
            &document,
            &line,
            &comparison,
            Some(&loaded),
            Vec::new(),
            Diagnostics::new(),
        );
        let export = config_export(&about.configuration, &args.to, &findings, &settings)?;
        return write_or_print(&export, args.writing, &read);
    }
    let about = export_about(&document, &line, &comparison, Some(&loaded), findings, import);
    write_subject(args, form, &subject_of(args, form, comparison, about)?, progress)
}

/// # Errors
/// No sources are named, or a preview is asked for.
fn check_document(args: &ExportArgs) -> anyhow::Result<()> {
    if args.files.is_empty() {
        bail!(
            "{}: a document needs sources; name files, or write the configuration alone as .json, .py or .sh",
            args.to.display()
        );
    }
    if args.writing.preview {
        bail!("--preview prints configurations, tables and pages; open a document in the window");
    }
    Ok(())
}

/// Writes the file, or prints it as a preview.
fn write_subject(
    args: &ExportArgs,
    form: ExportForm,
    subject: &ExportSubject,
    progress: &Progress<'_>,
) -> anyhow::Result<Verdict> {
    let write = |out: &mut dyn Write| {
        let write = if args.writing.raw {
            ExportSubject::write_raw
        } else {
            ExportSubject::write
        };
        write(subject, form, &args.to, out, progress)
    };
    if args.writing.preview {
        let shown = args.to.display();
        let mut bytes = Vec::new();
        write(&mut bytes)?;
        let text = String::from_utf8(bytes)
            .with_context(|| format!("{shown} is a picture; leave out --preview to write it"))?;
        let path = args.to.clone();
        print(&files_text(&[ConfigFile { path, text }]))?;
    } else {
        write_pieces(&args.to, write)?;
    }
    Ok(Verdict::Done)
}

/// The settings of `--conf`, the last of the document, as the variable of the recording's framework.
///
/// # Errors
/// There are several, or no recording to simulate.
fn set_allocator_variable(document: &mut Document, n_given: usize, comparison: &Comparison) -> anyhow::Result<()> {
    let others = document.allocator_settings.len().saturating_sub(n_given);
    let setting = match &document.allocator_settings.split_off(others)[..] {
        [] => return Ok(()),
        [setting] => setting.conf.clone(),
        _ => bail!("a configuration has one setting of PyTorch's allocator; give one --conf"),
    };
    let mut lanes = comparison
        .lanes
        .iter()
        .filter_map(|lane| comparison.simulation(lane.id));
    let simulation = lanes.find(|simulation| simulation.settings == setting);
    let variable = simulation
        .with_context(|| format!("--conf \"{setting}\": there is no recording that replays under it"))?
        .variable;
    document.environment.set(variable, &setting);
    Ok(())
}

/// Writes settings without a graph: those of configurations and those of flags.
fn convert(args: &ExportArgs, form: ExportForm, progress: &Progress<'_>) -> anyhow::Result<Verdict> {
    if form != ExportForm::Config {
        bail!(
            "{}: a {} needs graphs; name their files, or write the configuration alone as .json, .py or .sh",
            args.to.display(),
            form.row().name
        );
    }
    let settings = Settings::read(&[], &args.common, progress)?;
    let document = &settings.document;
    if args.common.config.is_empty() && *document == Document::new(Vec::new()) {
        let why = if args.common.edits.inherit_env {
            "the environment of this process has no relevant variable; "
        } else {
            ""
        };
        bail!("nothing to write: {why}name graph files or give --config FILE, --set KEY=VALUE or --env NAME=VALUE");
    }
    let export = document_export(document, &args.to, &settings)?;
    write_or_print(&export, args.writing, &settings.read_files())
}

fn subject_of(
    args: &ExportArgs,
    form: ExportForm,
    comparison: Arc<Comparison>,
    about: ExportAbout,
) -> anyhow::Result<ExportSubject> {
    let timeline = Arc::new(Timeline::with(&comparison, form.timeline_parts()));
    let axis = axis_of(args.axis.as_deref(), &timeline)?;
    let look = coloring(args.color_by.as_deref(), &comparison, &timeline)?;
    Ok(ExportSubject {
        lanes: lanes(&args.lane, &comparison)?,
        axis,
        look: Arc::new(look),
        about,
        timeline,
        comparison,
    })
}

/// The lanes of `--lane` by position; `None` without the flag.
fn lanes(texts: &[String], comparison: &Comparison) -> anyhow::Result<Option<Vec<usize>>> {
    let mut lanes = Vec::new();
    for text in texts {
        let number: Option<usize> = text.trim().parse().ok();
        let position = number.and_then(|number| number.checked_sub(1));
        let Some(position) = position.filter(|position| *position < comparison.lanes.len()) else {
            let titles = comparison.lanes.iter().map(|lane| comparison.lane_title(lane.id));
            let titles: Vec<String> = (1..)
                .zip(titles)
                .map(|(number, title)| format!("{number} ({title})"))
                .collect();
            bail!("--lane {text}: no such lane; lanes are {}", titles.join(", "));
        };
        if !lanes.contains(&position) {
            lanes.push(position);
        }
    }
    Ok((!lanes.is_empty()).then_some(lanes))
}
