//! `highwater inspect`: the content of each file.
//!
//! Files that belong together (a buffer assignment of XLA and its live ranges) have one answer.

use super::args::{Format, InspectArgs, YesNo};
use super::dims::unused_dims;
use super::opened::Named;
use super::settings::parse_bindings;
use super::text::print_answer;
use super::{Verdict, fail};
use highwater_analysis::inspect_with;
use highwater_export::{InspectAnswer, InspectedFile};
use highwater_import::Imported;
use highwater_model::graph::Bindings;
use highwater_model::progress::Progress;
use highwater_model::workload::Workload;
use highwater_session::read_each;

pub(super) fn run(args: &InspectArgs, progress: &Progress<'_>) -> anyhow::Result<Verdict> {
    args.format.check(&[Format::Text, Format::Json])?;
    let named = Named::of(&args.files, &args.opening, progress)?;
    let bindings = parse_bindings(&named.dims(&args.dim))?;
    let read = read_each(&named.sources, progress);
    progress.check()?;
    let is_single = read.len() == 1;
    let mut files = Vec::new();
    let mut failed = Vec::new();
    for (name, imported) in read {
        match imported {
            Ok(imported) => files.push(inspected(args, &bindings, name, imported, progress)?),
            Err(error) => failed.push(error),
        }
    }
    if files.is_empty()
        && failed.len() == 1
        && let Some(error) = failed.pop()
    {
        return Err(error.into());
    }
    let answer = InspectAnswer {
        files: &files,
        is_single,
    };
    print_answer(&answer, args.format, false)?;
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

fn inspected(
    args: &InspectArgs,
    bindings: &Bindings,
    name: String,
    imported: Imported,
    progress: &Progress<'_>,
) -> anyhow::Result<InspectedFile> {
    let mut workload = Workload {
        measured: imported.measured,
        ..Workload::new(name, imported.source)
    };
    if args.shapes_keep_alive == YesNo::No {
        workload = workload.without_shape_reads();
    }
    let mut import = imported.diagnostics;
    import.extend(&unused_dims(&workload, bindings));
    Ok(InspectedFile {
        inspection: inspect_with(&workload, bindings, progress)?,
        name: workload.name,
        format: imported.format,
        import,
    })
}
