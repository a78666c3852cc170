//! The TensorFlow importer: `GraphDef` and `SavedModel`, binary or text -> one graph per meta graph, with its functions.
//!
//! ```text
//! bytes --fields--> messages --parse--> Model --signatures--> Model of what runs --shape--> facts --build--> Graphs
//! ```
//!
//! A `GraphDef` holds nodes (name, op, inputs, attributes) and a library of functions, which are bodies of loops, branches
//! and calls. An input is `name` (output 0 of that node), `name:1`, in functions `name:output:1`, or `^name`: only that
//! the node has run. A `SavedModel` (`saved_model.pb`) holds meta graphs, each with tags and a `GraphDef`; a `.meta` file is
//! one meta graph. Of a meta graph the part that one signature needs is the graph of the entry. Text files (`.pbtxt`) hold the same messages. Source: the public protos in tensorflow/core/framework
//! and tensorflow/core/protobuf. Contents of constants are skipped by seeking unless they are small, so a frozen model
//! of gigabytes costs what its structure costs. `run` reads another kind of file: what a traced run measured.
//! Deliberately not here: checkpoints, which hold values of variables and add nothing to a graph.

mod build;
mod calls;
mod copier;
mod detect;
mod fields;
mod forwarded;
mod model;
mod ops;
mod parse;
mod phase;
pub(super) mod run;
mod saved_functions;
mod shape;
mod signatures;
mod types;
mod variable_bytes;
mod variables;

use std::sync::Arc;

use self::detect::Content;
use self::model::{GraphIdx, MAIN, Model};
use self::parse::FileKind;
use super::text_proto::TextProto;
use super::wire::Wire;
use super::{ImportError, Input, notices};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_model::workload::{GraphEntry, Source, UniqueNames};

pub(super) fn detect(input: &Input<'_>) -> bool {
    matches!(detect::content(input.head()), Some((Content::Model(_), _)))
}

pub(super) fn import(
    input: &mut Input<'_>,
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Source, ImportError> {
    let len = input.len();
    let file_name = input.name().to_owned();
    let (kind, is_text) = match detect::content(input.head()) {
        Some((Content::Model(kind), is_text)) => (kind, is_text),
        // Opened as a graph although it does not look like one.
        _ if detect::is_text(input.head()) => (FileKind::Graph, true),
        _ => (detect::opened_as_model(input.head()), false),
    };
    let reader = input.reader()?;
    let mut all = if is_text {
        parse::file(
            &mut TextProto::new(reader, len, *progress),
            kind,
            len,
            progress,
            diagnostics,
        )?
    } else {
        parse::file(&mut Wire::new(reader, len, *progress), kind, len, progress, diagnostics)?
    };
    // What serves comes first: the first graph is the one that runs unless another is chosen.
    all.sort_by_key(|parsed| !signatures::has_tag(&parsed.tags, "serve"));
    let mut entries = Vec::new();
    let is_only = all.len() == 1;
    let mut names = UniqueNames::default();
    for parsed in all {
        let name = names.take(match parsed.tags.as_str() {
            "" => &file_name,
            tags => tags,
        });
        let of = Some(name.as_str()).filter(|_| !is_only);
        let (mut model, chosen) = signatures::selected(parsed, of, diagnostics);
        model.names.close();
        entries.push(entry(model, chosen.unwrap_or(name), len, progress, diagnostics)?);
    }
    if entries.is_empty() {
        return Err(ImportError::at_byte("the saved model has no graph", len));
    }
    Ok(Source::Graphs(entries))
}

fn entry(
    mut model: Model,
    name: String,
    len: u64,
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<GraphEntry, ImportError> {
    let facts = shape::infer(&model, len, shape::ALL_STATED, progress)?;
    model.expand(&facts.layout);
    facts.report(&model, diagnostics);
    calls::report_missing(&model, diagnostics);
    let mut build = build::Build::new(&model, facts, progress)?;
    let (mut bodies, mut uses) = (Vec::new(), Vec::new());
    for position in 1..model.graphs.len() {
        progress.set("building", position as u64, model.graphs.len() as u64)?;
        let (body, steps) = build.graph(GraphIdx(position))?.finish_with_steps()?;
        uses.extend(calls::stepped(
            calls::uses(&model, GraphIdx(position), progress)?,
            &steps,
        ));
        bodies.push(Arc::new(body));
    }
    let of_main = calls::uses(&model, MAIN, progress)?;
    let builder = build.graph(MAIN)?;
    // The tables of the file are as large as the graph: free them before the last step.
    drop(build);
    drop(model);
    progress.check()?;
    let (graph, steps) = builder.finish_with_steps()?;
    uses.extend(calls::stepped(of_main, &steps));
    let graph = Arc::new(graph);
    notices::all(&graph, |_| false, diagnostics);
    Ok(GraphEntry {
        name,
        graph,
        bodies,
        uses,
        dumped: None,
    })
}
