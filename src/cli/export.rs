//! `highwater export`: files of an answer, each by its name.

use std::sync::Arc;

use anyhow::bail;

use super::Verdict;
use super::args::ExportArgs;
use super::compare::{axis_of, coloring};
use super::opened::{Named, write_document};
use super::request::{Prepared, policies};
use highwater_analysis::{Comparison, compare};
use highwater_export::{ExportAbout, ExportForm, ExportSubject};
use highwater_model::progress::Progress;
use highwater_options::check_scheduled;
use highwater_session::{CommandLine, Origin, export_about, is_document_name, refuse_source, write_whole};
use highwater_timeline::Timeline;

pub(super) fn run(args: &ExportArgs, progress: &Progress<'_>) -> anyhow::Result<Verdict> {
    if args.form.is_none() && is_document_name(&args.to) {
        return write_document(args, progress);
    }
    let form = match &args.form {
        Some(name) => ExportForm::find(name).map_err(anyhow::Error::msg),
        None => ExportForm::of_path(&args.to).map_err(anyhow::Error::msg),
    }?;
    form.check(&args.to).map_err(anyhow::Error::msg)?;
    let named = Named::of(&args.files, &args.common.opening, progress)?;
    let mut settings = named.settings(&args.common)?;
    settings.add_pins(&args.pins.pin)?;
    let file = named.named_document(&args.files);
    // Before the comparison, which may take long.
    refuse_source(&args.to, &named.sources)?;
    let part = args.graph.clone().or_else(|| settings.part.clone());
    let mut prepared = Prepared::new(named.sources, settings, part.as_ref(), &args.common, progress)?;
    prepared.request.policies = policies(&args.policies)?;
    let import = prepared.diagnostics();
    let Prepared {
        settings,
        sources,
        loaded,
        request,
    } = prepared;
    let mut document = settings.document(sources, &request.plan);
    document.part = part;
    let comparison = Arc::new(compare(&request, progress)?);
    let findings = check_scheduled(&document.options, &document.environment, &*request.files, &request.plan);
    let origin = Origin {
        file: file
            .as_ref()
            .map(|(name, opened)| (name.as_str(), &opened.file.document)),
        folder: file.as_ref().and_then(|(_, opened)| opened.path.parent()),
        runs_there: false,
        pins: &args.pins.pin,
    };
    // The command line repeats the schedule as the document has it, not as it is for these graphs.
    let mut stated = document.clone();
    if file.is_some() {
        stated.plan.clone_from(&settings.plan);
    }
    let line = CommandLine::new(&stated, origin);
    let about = export_about(&document, &line, &comparison, Some(&loaded), findings, import);
    let subject = subject_of(args, comparison, about)?;
    let bytes = subject.file(form, &args.to, progress)?;
    write_whole(&args.to, &bytes)?;
    Ok(Verdict::Done)
}

fn subject_of(args: &ExportArgs, comparison: Arc<Comparison>, about: ExportAbout) -> anyhow::Result<ExportSubject> {
    let timeline = Arc::new(Timeline::new(&comparison));
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
            bail!("--lane {text}: there is no such lane; lanes are {}", titles.join(", "));
        };
        if !lanes.contains(&position) {
            lanes.push(position);
        }
    }
    Ok((!lanes.is_empty()).then_some(lanes))
}
