//! `highwater formats`: the formats that open, as the table of importers and docs/formats.md describe them.

use anyhow::Context as _;
use serde_json::{Value as Json, json};

use super::args::{Format, FormatsArgs};
use super::{Verdict, print, print_json};
use highwater_export::Table;
use highwater_import::{IMPORTERS, Importer, importer};

const PAGE: &str = include_str!("../../docs/formats.md");

pub(super) fn run(args: &FormatsArgs) -> anyhow::Result<Verdict> {
    args.format.check(&[Format::Text, Format::Json])?;
    let is_json = args.format == Format::Json;
    match args.name.as_deref().map(find).transpose()? {
        Some(row) if is_json => {
            let mut object = fields(row);
            object["page"] = section(row.name).into();
            print_json(&object)?;
        }
        Some(row) => print(&page(row))?,
        None if is_json => {
            let rows: Vec<Json> = IMPORTERS.iter().map(fields).collect();
            print_json(&json!({ "formats": rows }))?;
        }
        None => print(&list())?,
    }
    Ok(Verdict::Done)
}

fn find(name: &str) -> anyhow::Result<&'static Importer> {
    importer(name).with_context(|| {
        let known: Vec<&str> = IMPORTERS.iter().map(|row| row.name).collect();
        format!("there is no format \"{name}\"; known: {}", known.join(", "))
    })
}

fn list() -> String {
    let mut table = Table::new(&["name", "content", "files", "detected by"]);
    for row in IMPORTERS {
        table.row(&[&row.name, &row.title, &files(row), &row.detected_by]);
    }
    format!(
        "{}\nThe content decides, not the name of the file; --open-as NAME skips the detection. Files may be packed (.gz).\n\
         `highwater formats NAME` explains a format.\n",
        table.text()
    )
}

fn files(row: &Importer) -> String {
    let endings: Vec<String> = row
        .extensions
        .iter()
        .map(|extension| format!("*.{extension}"))
        .collect();
    endings.join(", ")
}

fn page(row: &Importer) -> String {
    format!(
        "{}: {}\n\nFiles: {}\nDetected by: {}\nOpen as: --open-as {}\n\n{}\n",
        row.name,
        row.description,
        files(row),
        row.detected_by,
        row.name,
        section(row.name)
    )
}

fn fields(row: &Importer) -> Json {
    json!({
        "name": row.name,
        "content": row.title,
        "description": row.description,
        "extensions": row.extensions,
        "detected_by": row.detected_by,
    })
}

/// The section of a format in docs/formats.md, without its heading; a test looks for each.
fn section(name: &str) -> &'static str {
    let heading = format!("\n## {name}\n");
    let Some((_, behind)) = PAGE.split_once(&heading) else {
        return "";
    };
    behind.split("\n## ").next().unwrap_or("").trim()
}
