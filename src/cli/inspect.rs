//! `highwater inspect`: what was read, file by file.
//!
//! Files that say more together (a buffer assignment of XLA and its live ranges) are one answer; of several answers JSON
//! is an object with the list `files`.

mod text;

use super::args::{Format, InspectArgs, YesNo};
use super::dims::unused_dims;
use super::settings::parse_bindings;
use super::{Verdict, print, print_json};
use crate::analysis::{Inspection, inspect_with};
use crate::diagnostics::Diagnostics;
use crate::export::{WireFiles, WireInspection};
use crate::graph::Bindings;
use crate::import::Imported;
use crate::progress::Progress;
use crate::session::read_each;
use crate::workload::Workload;

/// What was read of a file.
struct Report {
    name: String,
    format: &'static str,
    inspection: Inspection,
    import: Diagnostics,
}

/// Runs the command.
pub(super) fn run(args: &InspectArgs, progress: &Progress<'_>) -> anyhow::Result<Verdict> {
    if !matches!(args.format, Format::Text | Format::Json) {
        return Err(args.format.refusal());
    }
    let bindings = parse_bindings(&args.dim)?;
    let mut sources = Vec::with_capacity(args.files.len());
    for file in &args.files {
        sources.push(args.opening.source(file)?);
    }
    let mut reports = Vec::new();
    for (group, imported) in read_each(&sources, progress)? {
        let titles: Vec<String> = group.iter().map(|position| sources[*position].title()).collect();
        reports.push(report(args, &bindings, (titles.join(" + "), imported), progress)?);
    }
    if args.format == Format::Json {
        let mut wires = Vec::with_capacity(reports.len());
        for report in &reports {
            let wire = WireInspection::new(report.format, &report.inspection, &report.import);
            wires.push((report.name.clone(), wire));
        }
        match <[_; 1]>::try_from(wires) {
            Ok([(_, wire)]) => print_json(&wire)?,
            Err(wires) => print_json(&WireFiles::new(wires))?,
        }
    } else {
        let texts = reports
            .iter()
            .map(|report| text::text(&report.name, report.format, &report.inspection, &report.import));
        print(&texts.collect::<Vec<_>>().join("\n\n"))?;
    }
    Ok(Verdict::Done)
}

fn report(
    args: &InspectArgs,
    bindings: &Bindings,
    (name, imported): (String, Imported),
    progress: &Progress<'_>,
) -> anyhow::Result<Report> {
    let mut workload = Workload {
        name,
        source: imported.source,
        measured: imported.measured,
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
