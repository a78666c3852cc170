//! The TensorFlow Lite importer: a `.tflite` file -> one graph and the bodies of its control flow.
//!
//! The format is a flatbuffer with the identifier `TFL3` at byte 4; its schema is TensorFlow Lite's public `schema.fbs`:
//!
//! ```text
//! Model     version, operator codes, subgraphs (0 is the main one), buffers, notes, signatures
//! SubGraph  tensors, inputs, outputs, operators in execution order
//! Tensor    shape (with -1 in its signature where a size is free), type, number of its buffer, name, is_variable
//! Operator  index of its code, inputs (-1 where one is left out), outputs, tensors within it
//! Buffer    bytes of a constant; in models of more than 2 GB an offset and a size behind the flatbuffer
//! ```
//!
//! `LiteRT` 2.3 adds buffers in other files, which are never read: `Model.external_buffers`, named by tensors.
//!
//! Weights are never read: only the length of their buffers is read. Every tensor that a subgraph lists is counted.
//! A note `OfflineMemoryAllocation` holds offsets of a plan made ahead of time, which become the plan "as dumped".
//! Results share memory as `LiteRT`'s interpreter plans it (`in_place`), with its alignment.

mod build;
mod flatbuffer;
mod in_place;
mod model;
mod operators;
#[cfg(test)]
mod tests;
mod uses;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use self::flatbuffer::Flat;
use self::model::Model;
use super::{ImportError, Input};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::graph::Graph;
use highwater_model::progress::Progress;
use highwater_model::workload::{BodyUse, Dumped, DumpedOffsets, GraphEntry, Source};

/// Divides offsets and sizes in the interpreter's arena (`kDefaultTensorAlignment` of `LiteRT` 2.3).
const ALIGNMENT: u64 = 64;

pub(super) fn detect(input: &Input<'_>) -> bool {
    input.head().get(4..8) == Some(b"TFL3".as_slice())
}

pub(super) fn import(
    input: &mut Input<'_>,
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Source, ImportError> {
    let len = input.len();
    let file_name = input.name().to_owned();
    let mut flat = Flat::new(input.reader()?, len, *progress);
    let model = model::model(&mut flat, diagnostics)?;
    if model.subgraphs.len == 0 {
        return Err(ImportError::at_byte("the model has no subgraph", 0));
    }
    if !(3..=4).contains(&model.version) {
        diagnostics.warning(
            format!(
                "the schema has version {}; 3 is the one that is known here",
                model.version
            ),
            &file_name,
        );
    }
    let build::Built {
        graph: main,
        tensors,
        mut uses,
    } = build::graph(&mut flat, &model, 0, diagnostics)?;
    let mut bodies = Vec::new();
    for place in 1..model.subgraphs.len {
        let body = build::graph(&mut flat, &model, place, diagnostics)?;
        bodies.push(Arc::new(body.graph));
        uses.extend(body.uses);
    }
    not_run(&bodies, &uses, diagnostics);
    let name = if main.name().is_empty() {
        file_name
    } else {
        main.name().to_owned()
    };
    let dumped = Dumped {
        offsets: offsets(&model, &main, diagnostics),
        facts: facts(&model, flat.len()),
        tensors: Some(tensors),
        alignment: Some(ALIGNMENT),
        ..Dumped::default()
    };
    Ok(Source::Graphs(vec![GraphEntry {
        name,
        graph: Arc::new(main),
        bodies,
        uses,
        dumped: Some(Arc::new(dumped)),
    }]))
}

/// Reports subgraphs that no operator is known to run: those of other signatures, and those that a kernel applies to each element.
fn not_run(bodies: &[Arc<Graph>], uses: &[BodyUse], diagnostics: &mut Diagnostics) {
    let run: BTreeSet<u32> = uses.iter().map(|one| one.body).collect();
    for (number, body) in (1_u32..).zip(bodies).filter(|(number, _)| !run.contains(number)) {
        let place = match body.name() {
            "" => format!("subgraph {number}"),
            name => name.to_owned(),
        };
        let what = "a subgraph that no operator is seen to run is not simulated";
        diagnostics.info(what, &place);
    }
}

fn offsets(model: &Model, main: &Graph, diagnostics: &mut Diagnostics) -> Option<DumpedOffsets> {
    let plan = model.plan.as_ref()?;
    if plan.subgraph != 0 {
        diagnostics.skipped(
            "a plan made ahead of time for another subgraph",
            "OfflineMemoryAllocation",
        );
        return None;
    }
    let count = main.tensors().len();
    if plan.offsets.len() != count {
        diagnostics.warning(
            format!(
                "the plan made ahead of time has {} offsets for {count} tensors; they count from the first on",
                plan.offsets.len()
            ),
            "OfflineMemoryAllocation",
        );
    }
    let mut offsets = plan.offsets.clone();
    offsets.resize(count, None);
    Some(DumpedOffsets {
        offsets,
        sizes: Vec::new(),
        maker: "OfflineMemoryAllocation of the file".to_owned(),
    })
}

fn facts(model: &Model, len: u64) -> Vec<(String, String)> {
    let mut facts = vec![
        ("schema version".to_owned(), model.version.to_string()),
        ("subgraphs".to_owned(), model.subgraphs.len.to_string()),
    ];
    if !model.description.is_empty() {
        facts.push(("description".to_owned(), model.description.clone()));
    }
    for (key, subgraph) in &model.signatures {
        facts.push(("signature".to_owned(), format!("{key} (subgraph {subgraph})")));
    }
    let stored: u64 = model.buffers.iter().fold(0, |sum, bytes| sum.saturating_add(*bytes));
    facts.push(("bytes of stored buffers".to_owned(), stored.to_string()));
    let mut external: BTreeMap<u32, u64> = BTreeMap::new();
    for buffer in model.external_buffers.values() {
        let bytes = external.entry(buffer.group).or_default();
        *bytes = bytes.saturating_add(buffer.bytes);
    }
    for (group, bytes) in external {
        let name = model.external_groups.get(group as usize).map_or("", |name| name);
        facts.push((
            format!("bytes of external buffers {name}").trim_end().to_owned(),
            bytes.to_string(),
        ));
    }
    facts.push(("bytes of the file".to_owned(), len.to_string()));
    facts.extend(
        model
            .notes
            .iter()
            .map(|(name, text)| (format!("note {name}"), text.clone())),
    );
    facts
}
