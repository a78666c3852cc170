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
mod forwarded;
mod in_place;
mod instruction;
mod join;
mod layout;
mod model;
mod multi_file;
mod proto;
mod proto_shape;
mod shape;
mod sharing;
#[cfg(test)]
mod tests;
mod text;
mod values;
mod walk;

pub use self::multi_file::DumpPart;
pub(super) use self::multi_file::{groups, join};

use std::collections::BTreeMap;
use std::sync::Arc;

use self::detect::Form;
use self::model::Module;
use self::shape::{Shape, ShapeNotes};
use self::sharing::{Context, Runs, Sharing};
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
                    outputs_from_start: true,
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
        outputs_from_start: true,
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
        // What loops and branches carry counts once in XLA's list; which of its values those are is not known here.
        if module.computations.len() == 1 {
            dumped.peak_live = arena::peak(&placed.assignment, &ranges);
        }
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
    let mut facts = vec![
        ("computations".to_owned(), module.n_computations.to_string()),
        ("instructions".to_owned(), module.n_instructions.to_string()),
        ("order".to_owned(), order.to_owned()),
        ("steps of the flattened schedule".to_owned(), steps.to_string()),
    ];
    for (space, bytes) in layout::elsewhere(module) {
        facts.push((format!("bytes of values in {}", space.label()), bytes.to_string()));
    }
    facts
}

fn remarks(module: &Module, notes: ShapeNotes, diagnostics: &mut Diagnostics) {
    let mut many = |count: u64, message: String| {
        if count > 0 {
            diagnostics.info(message, &module.name);
        }
    };
    many(
        notes.padded,
        format!(
            "{} arrays count more than their elements: their layout has tiles, which pad",
            notes.padded
        ),
    );
    for (space, bytes) in layout::elsewhere(module) {
        let where_ = space.label();
        many(
            bytes,
            format!("values of {bytes} bytes lie in {where_}; they count 0 bytes on the device"),
        );
    }
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
    let runs = runs(module);
    for (number, computation) in (0_u32..).zip(&module.computations) {
        let values_of = &values[number as usize];
        let donated = if number == 0 {
            donated(module, values_of)
        } else {
            Vec::new()
        };
        let reads = values_of.reads(computation, len)?;
        let context = Context {
            runs: runs[number as usize],
            is_scheduled: module.is_scheduled,
            donated: &donated,
            is_constant: &|body, node| is_constant(module, &values, body, node),
        };
        let sharing = Sharing::new(computation, values_of, &reads, &context);
        let (graph, steps) = build::graph(computation, values_of, &reads, &sharing, progress)?;
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

/// How each computation is run; the entry is the first.
fn runs(module: &Module) -> Vec<Runs> {
    let mut runs = vec![Runs::Called; module.computations.len()];
    for instruction in module.computations.iter().flat_map(|one| &one.instructions) {
        // The body comes before the condition.
        if let ("while", Some(body)) = (&*instruction.opcode, instruction.called.first()) {
            runs[*body as usize] = Runs::LoopBody;
        }
    }
    runs[0] = Runs::Entry;
    runs
}

/// Whether a body hands a node of its state on as it is.
fn is_constant(module: &Module, values: &[Values], body: u32, node: usize) -> bool {
    let (Some(computation), Some(values)) = (module.computations.get(body as usize), values.get(body as usize)) else {
        return false;
    };
    let mut instructions = (0..).zip(&computation.instructions);
    let state = instructions.find(|(_, instruction)| &*instruction.opcode == "parameter");
    let state = state.and_then(|(at, _)| values.of(at).get(node));
    state.is_some() && state == values.of(computation.root).get(node)
}

/// Outputs with the parameters whose memory they take.
fn donated(module: &Module, values: &Values) -> Vec<(u32, u32)> {
    let entry = &module.computations[0];
    let parameters: BTreeMap<u64, u32> = (0..)
        .zip(&entry.instructions)
        .filter(|(_, instruction)| &*instruction.opcode == "parameter")
        .map(|(at, instruction)| (instruction.number, at))
        .collect();
    let tensor = |instruction: u32, path: &[u64]| {
        let shape: &Shape = &entry.instructions[instruction as usize].shape;
        let node = shape.node(path)? as usize;
        values.of(instruction).get(node).copied()
    };
    let pairs = module.donated.iter().filter_map(|donated| {
        let parameter = *parameters.get(&donated.operand)?;
        Some((tensor(entry.root, &donated.output)?, tensor(parameter, &donated.path)?))
    });
    pairs.collect()
}
