//! The XLA importer: dumps of a module and of the plan that XLA made for it.
//!
//! | file | what comes out |
//! |---|---|
//! | HLO text (`HloModule ...`, or computations alone) | a graph for each module: the entry; computations of loops, calls and branches as bodies |
//! | `.hlo.pb` (`HloProto`, or a module alone) | the same graph, and of its buffer assignment every allocation as an arena with XLA's own offsets |
//! | `buffer-assignment.txt` | allocations, held all run; with live ranges in the file or next to it ([`join`](mod@join)) arenas, with the module too a graph that has them |
//! | `live-range.txt` | live ranges, with the sizes that it states: those at XLA's own peak |
//! | `buffer-assignment-values.txt`, `memory-usage-report.txt` | recognised and refused: they lack offsets or round sizes |
//!
//! Sources: the public `hlo.proto`, `xla_data.proto`, and the texts that `--xla_dump_to` writes. Fusions and reducers are
//! opaque. Steps of graphs are positions of the schedule where the module is scheduled, those of arenas positions in the
//! flattened schedule.

mod arena;
mod assignment;
mod assignment_proto;
mod build;
mod calls;
mod cursor;
mod detect;
mod dump;
mod flow;
mod instruction;
mod join;
mod model;
mod multi_file;
mod proto;
mod proto_shape;
mod shape;
#[cfg(test)]
mod tests;
mod text;
mod values;
mod walk;

pub use self::multi_file::DumpPart;
pub(super) use self::multi_file::{groups, join};

use std::sync::Arc;

use self::detect::Form;
use self::model::Module;
use self::shape::ShapeNotes;
use self::values::Values;
use super::wire::Wire;
use super::{ImportError, Input, notices};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_model::workload::{Dumped, GraphEntry, Source, ops_to_steps};

pub(super) fn detect(input: &Input<'_>) -> bool {
    detect::form(input.head()).is_some()
}

pub(super) fn import(
    input: &mut Input<'_>,
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Source, ImportError> {
    let name = input.name().to_owned();
    match detect::form(input.head()) {
        Some(Form::Proto) => read_proto(input, &name, progress, diagnostics),
        // Opened as a module although it does not look like one.
        None if !detect::is_text(input.head()) => read_proto(input, &name, progress, diagnostics),
        Some(Form::Report) => Err(ImportError::at(
            "this report of XLA lists values without offsets, or sizes that are rounded",
            "line 1",
            "open the .hlo.pb of the same dump, or buffer-assignment.txt together with live-range.txt",
        )),
        Some(Form::Dump) => {
            let text = input.read_text(progress)?;
            let dump = dump::read(&text, progress, diagnostics)?;
            join::source(&dump, &name, progress, diagnostics)
        }
        Some(Form::Text) | None => {
            let len = input.len();
            let text = input.read_text(progress)?;
            let modules = text::modules(&text, progress)?;
            drop(text);
            let mut entries = Vec::with_capacity(modules.len());
            for (module, notes) in modules {
                let dumped = Dumped {
                    facts: facts(&module, flow::schedule(&module).n_steps),
                    ..Dumped::default()
                };
                remarks(&module, notes, diagnostics);
                entries.push(graphs(&module, &name, len, dumped, progress, diagnostics)?);
            }
            Ok(Source::Graphs(entries))
        }
    }
}

fn read_proto(
    input: &mut Input<'_>,
    name: &str,
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Source, ImportError> {
    let len = input.len();
    let mut notes = ShapeNotes::default();
    let is_bare = detect::is_bare_module(input.head());
    let mut wire = Wire::new(input.reader()?, len, *progress);
    let read = if is_bare { proto::read_bare } else { proto::read };
    let proto::Read { module, assignment } = read(&mut wire, &mut notes)?;
    remarks(&module, notes, diagnostics);
    let schedule = flow::schedule(&module);
    let mut dumped = Dumped {
        facts: facts(&module, schedule.n_steps),
        ..Dumped::default()
    };
    if let Some(span) = assignment {
        let placed = assignment_proto::read(&mut wire, span, &module)?;
        let ranges = flow::ranges(&module, &schedule, &placed.defined, progress)?;
        if ranges.is_none() {
            diagnostics.warning(
                "the module passes its values around too often to follow them; arenas are left out",
                name,
            );
        }
        let ranges = ranges.unwrap_or_default();
        dumped.facts.extend(placed.assignment.facts());
        dumped.facts.push(("live ranges".to_owned(), ranges.len().to_string()));
        dumped.arenas = arena::arenas(&placed.assignment, &ranges, progress, diagnostics)?;
    }
    let entry = graphs(&module, name, len, dumped, progress, diagnostics)?;
    Ok(Source::Graphs(vec![entry]))
}

fn facts(module: &Module, steps: u64) -> Vec<(String, String)> {
    let order = if module.is_scheduled {
        "as scheduled"
    } else {
        "as stored, not scheduled"
    };
    vec![
        ("computations".to_owned(), module.n_computations.to_string()),
        ("instructions".to_owned(), module.n_instructions.to_string()),
        ("order".to_owned(), order.to_owned()),
        ("steps of the flattened schedule".to_owned(), steps.to_string()),
    ]
}

fn remarks(module: &Module, notes: ShapeNotes, diagnostics: &mut Diagnostics) {
    let mut many = |count: u64, message: String| {
        if count > 0 {
            diagnostics.info(message, &module.name);
        }
    };
    many(
        notes.tiled,
        format!(
            "{} shapes have a layout with tiles; they count the bytes of the shape, without padding",
            notes.tiled
        ),
    );
    many(
        notes.narrow,
        format!(
            "{} shapes have elements of less than a byte and a layout that does not say whether they are packed; they count \
             as packed",
            notes.narrow
        ),
    );
    many(
        notes.bounded,
        format!(
            "{} sizes are dynamic with a bound; they count as the bound",
            notes.bounded
        ),
    );
}

fn graphs(
    module: &Module,
    file: &str,
    len: u64,
    dumped: Dumped,
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<GraphEntry, ImportError> {
    let mut graphs = Vec::with_capacity(module.computations.len());
    let mut uses = Vec::new();
    let values: Vec<Values> = module.computations.iter().map(Values::new).collect();
    for (number, computation) in (0_u32..).zip(&module.computations) {
        let (graph, steps) = build::graph(computation, &values[number as usize], len, progress)?;
        graphs.push(Arc::new(graph));
        let mut of_graph = calls::uses(module, &values, number, progress)?;
        ops_to_steps(&mut of_graph, &steps);
        uses.extend(of_graph);
    }
    let bodies = graphs.split_off(1);
    let Some(graph) = graphs.pop() else {
        return Err(ImportError::at_byte("the module has no computation", 0));
    };
    // A buffer assignment states what shares memory; without one it is taken from the kinds of instructions.
    if dumped.arenas.is_empty() {
        notices::views(&graph, diagnostics);
    }
    let name = if module.name.is_empty() { file } else { &module.name };
    Ok(GraphEntry {
        name: name.to_owned(),
        graph,
        bodies,
        uses,
        dumped: Some(Arc::new(dumped)),
    })
}
