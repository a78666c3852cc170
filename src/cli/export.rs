//! `highwater export`: files of an answer, each by its name.

use std::sync::Arc;

use anyhow::bail;

use super::Verdict;
use super::args::ExportArgs;
use super::compare::{axis_of, color_by_of, import_diagnostics, policies, request_of, show};
use super::opened::{Named, write_document};
use highwater_analysis::{Comparison, compare};
use highwater_export::{ExportForm, ExportSubject};
use highwater_model::progress::Progress;
use highwater_options::check_scheduled;
use highwater_session::{
    CommandLine, OnFailure, Origin, export_about, is_document_name, load, refuse_source, write_whole,
};
use highwater_timeline::{AxisKind, ColorBy, Coloring, ColoringRequest, Timeline};

/// Runs the command.
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
    let sources = named.sources;
    // Said before anything is worked out.
    refuse_source(&args.to, &sources)?;
    let mut loaded = load(&sources, settings.evaluation, OnFailure::Stop, progress).map_err(anyhow::Error::msg)?;
    let part = args.graph.clone().or_else(|| settings.part.clone());
    if let Some(name) = &part {
        show(&mut loaded, name)?;
    }
    let mut request = request_of(&loaded, &settings, &sources, args.common.iterations.is_none());
    request.policies = policies(&args.policies)?;
    let import = import_diagnostics(&loaded, &settings);
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
    // What is taken from a document is as the document has it, whatever became of it for these graphs.
    let mut said = document.clone();
    if file.is_some() {
        said.plan.clone_from(&settings.plan);
    }
    let line = CommandLine::new(&said, origin);
    let about = export_about(&document, &line, &comparison, Some(&loaded), findings, import);
    let subject = subject_of(args, comparison, about)?;
    let bytes = subject.file(form, &args.to, progress)?;
    write_whole(&args.to, &bytes)?;
    Ok(Verdict::Done)
}

fn subject_of(
    args: &ExportArgs,
    comparison: Arc<Comparison>,
    about: highwater_export::ExportAbout,
) -> anyhow::Result<ExportSubject> {
    let timeline = Arc::new(Timeline::new(&comparison));
    let axis = args.axis.as_deref();
    let axis = axis.map_or(Ok(AxisKind::Order), |text| axis_of(text, &timeline))?;
    let by = args.color_by.as_deref().map_or(Ok(ColorBy::Tensor), color_by_of)?;
    let order = ColoringRequest { by, hidden: Vec::new() };
    let look = Coloring::new(&comparison, &timeline, &order, None);
    Ok(ExportSubject {
        lanes: lanes(&args.lane, &comparison)?,
        axis,
        look: Arc::new(look),
        about,
        timeline,
        comparison,
    })
}

/// The lanes that are asked for, by position; `None` where none is.
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
