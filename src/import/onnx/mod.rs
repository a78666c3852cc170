//! The ONNX importer: a `.onnx` file, or its text or JSON -> one graph, its bodies and functions.
//!
//! Stages, one file or folder each:
//!
//! ```text
//! bytes --wire--> fields --parse--> Model --shape--> facts --build--> Graphs
//! ```
//!
//! The format is protobuf: a model holds versions, operator sets, one graph and local functions; a graph holds nodes,
//! initializers and types of values. Weights are skipped by seeking and external data are never opened, so a
//! model of many gigabytes costs what its structure costs. Memory stays below about four times the file's size
//! plus 100 MB for any bytes whatsoever. Deliberately not here: running a model, or checking that its operators
//! are valid.

mod build;
mod forms;
mod locals;
mod model;
mod order;
mod parse;
mod report;
mod shape;
mod uses;

use std::io::Cursor;
use std::sync::Arc;

use super::proto_kind::{self, ProtoKind};
use super::wire::Wire;
use super::{ImportError, Input, notices};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::IdVec;
use highwater_model::progress::Progress;
use highwater_model::workload::{GraphEntry, Source};

use self::model::GraphIdx;

pub(super) fn detect(input: &Input<'_>) -> bool {
    proto_kind::kind(input.head()) == Some(ProtoKind::Onnx) || forms::of(input.head()).is_some()
}

pub(super) fn import(
    input: &mut Input<'_>,
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Source, ImportError> {
    let len = input.len();
    let file_name = input.name().to_owned();
    let mut model = match forms::of(input.head()) {
        Some(form) => {
            let binary = forms::binary(form, input, progress)?;
            let len = binary.bytes.len() as u64;
            let mut reader = Cursor::new(&binary.bytes);
            parse::model(&mut Wire::new(&mut reader, len, *progress)).map_err(|error| binary.placed(error))?
        }
        None => parse::model(&mut Wire::new(input.reader()?, len, *progress))?,
    };
    let Some(main) = model.main else {
        return Err(ImportError::at_byte("the model has no graph", len));
    };
    let inferred = shape::infer(&model, main, len, progress)?;
    model.expand(&inferred.layout);
    report::report(&model, &inferred, diagnostics);
    let mut build = build::Build::new(&model, inferred);
    let mut bodies = Vec::new();
    // By number of the graph; those of the main one come last.
    let mut steps = vec![IdVec::new()];
    for position in 0..model.graphs.len() {
        progress.set("building", position as u64, model.graphs.len() as u64)?;
        if GraphIdx(position) != main {
            let (body, of_body) = build.graph(GraphIdx(position), diagnostics)?.finish_with_steps()?;
            bodies.push(Arc::new(body));
            steps.push(of_body);
        }
    }
    let builder = build.graph(main, diagnostics)?;
    // A million nodes weigh as much in the tables as in the graph: give them back before the last step.
    let composite = report::composite(&model, main);
    let uses = build.into_uses();
    drop(model);
    progress.check()?;
    let (graph, of_main) = builder.finish_with_steps()?;
    steps[0] = of_main;
    let uses = uses.finish(&steps);
    let graph = Arc::new(graph);
    notices::all(&graph, |name| composite.contains(name), diagnostics);
    let name = if graph.name().is_empty() {
        file_name
    } else {
        graph.name().to_owned()
    };
    Ok(Source::Graphs(vec![GraphEntry {
        name,
        graph,
        bodies,
        uses,
        dumped: None,
    }]))
}
