//! `highwater inspect`: the content of each file.
//!
//! Files that belong together (a buffer assignment of XLA and its live ranges) have one answer. Several answers are, as JSON, an
//! object with the list `files`.

mod logs;
mod text;

use super::args::{Format, InspectArgs, YesNo};
use super::dims::unused_dims;
use super::opened::Named;
use super::settings::parse_bindings;
use super::{Verdict, fail, print, print_json};
use highwater_analysis::{Inspection, inspect_with};
use highwater_export::{inspection_fields, inspections_json};
use highwater_import::Imported;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::Bindings;
use highwater_model::progress::Progress;
use highwater_model::workload::Workload;
use highwater_session::read_each;

struct Report {
    name: String,
    format: &'static str,
    inspection: Inspection,
    import: Diagnostics,
}

pub(super) fn run(args: &InspectArgs, progress: &Progress<'_>) -> anyhow::Result<Verdict> {
    args.format.check(&[Format::Text, Format::Json])?;
    let named = Named::of(&args.files, &args.opening, progress)?;
    let bindings = parse_bindings(&named.dims(&args.dim))?;
    let read = read_each(&named.sources, progress);
    progress.check()?;
    let n_read = read.len();
    let mut reports = Vec::new();
    let mut failed = Vec::new();
    for (name, imported) in read {
        match imported {
            Ok(imported) => reports.push(report(args, &bindings, name, imported, progress)?),
            Err(error) => failed.push(error),
        }
    }
    if reports.is_empty()
        && failed.len() == 1
        && let Some(error) = failed.pop()
    {
        return Err(error.into());
    }
    if args.format == Format::Json {
        let fields = |report: &Report| inspection_fields(report.format, &report.inspection, &report.import);
        match &reports[..] {
            [only] if n_read == 1 => print_json(&fields(only))?,
            all => {
                let files = all.iter().map(|report| (report.name.clone(), fields(report)));
                print_json(&inspections_json(files.collect()))?;
            }
        }
    } else {
        let texts = reports
            .iter()
            .map(|report| text::text(&report.name, report.format, &report.inspection, &report.import));
        print(&texts.collect::<Vec<_>>().join("\n\n"))?;
    }
    // Files that could be read have their answers all the same.
    for error in &failed {
        fail(&error.to_string());
    }
    Ok(if failed.is_empty() {
        Verdict::Done
    } else {
        Verdict::BadInput
    })
}

fn report(
    args: &InspectArgs,
    bindings: &Bindings,
    name: String,
    imported: Imported,
    progress: &Progress<'_>,
) -> anyhow::Result<Report> {
    let mut workload = Workload {
        measured: imported.measured,
        ..Workload::new(name, imported.source)
    };
    if args.shapes_keep_alive == YesNo::No {
        workload = workload.without_shape_reads();
    }
    let mut import = imported.diagnostics;
    import.extend(&unused_dims(&workload, bindings));
    Ok(Report {
        inspection: inspect_with(&workload, bindings, progress)?,
        name: workload.name,
        format: imported.format,
        import,
    })
}
