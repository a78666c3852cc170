//! The table of importers, and the function that picks a row and runs it.

use std::sync::Arc;

use super::byte_order_mark::{is_marked, unmarked, unmarked_head, without_mark};
use super::gzip::Unpacked;
use super::sums::check_sums;
use super::unknown::unknown;
use super::unread_formats::{advice, advice_by_name};
use super::unsupported_hint::unsupported_hint;
use super::xla::DumpPart;
use super::{
    ImportError, Input, LogFile, allocation_trace, ascend_profiler, block_program, cann_log, chrome_trace, dtr_log,
    ge_dump, gzip, megengine, memory_timeline, mindspore, native, onnx, onnxruntime_profile, op_list, problem,
    tensorflow, tflite, torch_snapshot, xla,
};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_model::workload::{Recording, Source};

#[derive(Clone, Copy, Debug)]
pub struct Importer {
    /// The name in `inspect --format json` and for "open as".
    pub name: &'static str,
    /// Such files in words, for the list of what can be read.
    pub title: &'static str,
    /// How the content is told from other formats, in words.
    pub detected_by: &'static str,
    /// File name endings without the dot, for dialogs and ties.
    pub extensions: &'static [&'static str],
    /// One line for help texts and the README.
    pub description: &'static str,
    /// Whether the content (its first 64 KiB) looks like this format.
    pub detect: fn(&Input<'_>) -> bool,
    pub import: fn(&mut Input<'_>, &Progress<'_>, &mut Diagnostics) -> Result<Source, ImportError>,
}

/// Every format. Text formats first: their detection is strict.
pub static IMPORTERS: &[Importer] = &[
    Importer {
        name: "planner_problem",
        title: "placement problems (CSV, JSON)",
        detected_by: "CSV headings with id, lower, upper and size; or JSON with buffers, or with tensors that have born and last",
        extensions: &["csv"],
        description: "placement problem: buffers with live ranges as CSV in MiniMalloc's form or JSON, perhaps with a plan; \
                      see docs/text-formats.md",
        detect: problem::detect,
        import: problem::import,
    },
    Importer {
        name: "allocation_trace",
        title: "allocation traces",
        detected_by: "most of the first lines are commands of a trace",
        extensions: &["trace"],
        description: "allocation trace: requests to the device, one command per line; see docs/text-formats.md",
        detect: allocation_trace::detect,
        import: allocation_trace::import,
    },
    Importer {
        name: "op_list",
        title: "lists of compiled ops",
        detected_by: "the first line begins with \"op NAME\"",
        extensions: &["ops"],
        description: "ops of a compiled graph with the bytes that they request, one per line, as a placement problem of its \
                      arena; see docs/text-formats.md",
        detect: op_list::detect,
        import: op_list::import,
    },
    Importer {
        name: "paddle_program",
        title: "Paddle programs as JSON",
        detected_by: "a JSON object with blocks (or program) and vars or ops",
        extensions: &["json"],
        description: "program of blocks, variables and ops as JSON (also .gz), in the manner of Paddle's fluid, for reusing \
                      names; see docs/text-formats.md",
        detect: block_program::detect,
        import: block_program::import,
    },
    Importer {
        name: "dtr_log",
        title: "logs of the DTR prototype",
        detected_by: "the first line is a JSON object with INSTRUCTION",
        extensions: &["log"],
        description: "log of the DTR prototype: ops with times, tensors and references, one JSON object per line; \
                      see docs/text-formats.md",
        detect: dtr_log::detect,
        import: dtr_log::import,
    },
    Importer {
        name: "dtr_graph",
        title: "ops and variables as JSON",
        detected_by: "a JSON object with the lists vars and ops",
        extensions: &["json"],
        description: "ops in execution order with the variables that they read and write, as JSON, for rematerialization under a memory \
                      budget; see docs/text-formats.md",
        detect: megengine::detect_graph,
        import: megengine::import_graph,
    },
    Importer {
        name: "dtr_script",
        title: "eager scripts as JSON",
        detected_by: "a JSON list of [\"P\", ...], [\"O\", ...] or [\"D\", ...], alone or under \"script\"",
        extensions: &["json"],
        description: "script of an eager interpreter (put, compute, delete) as JSON, for rematerialization under a memory \
                      budget; see docs/text-formats.md",
        detect: megengine::detect_script,
        import: megengine::import_script,
    },
    Importer {
        name: "ge_dump",
        title: "dumps of Ascend's compiler",
        detected_by: "protobuf text whose first op has a type, an ONNX op type of GE (ge:...) or a descriptor of GE; or JSON with graph and op",
        extensions: &["txt", "pbtxt", "json"],
        description: "graph as Ascend's compiler (GE) dumps it, ge_proto_*.txt or ge_onnx_*.pbtxt, as torchair dumps it, or as JSON of \
                      atc: shapes on the device, sizes, streams, workspaces, offsets as planned, options stamped on ops",
        detect: ge_dump::detect,
        import: ge_dump::import,
    },
    Importer {
        name: "somas",
        title: "plans of MindSpore's static memory (SOMAS)",
        detected_by: "the headings All Parameters: or All Tensors: with their columns, or a line of its solver",
        extensions: &["ir"],
        description: "plan of MindSpore's static memory, *_somas_tensor_offset_*.ir: the graph's nodes and tensors with SOMAS's blocks, \
                      offsets, unions and streams",
        detect: mindspore::somas::detect,
        import: mindspore::somas::import,
    },
    Importer {
        name: "mindspore_ir",
        title: "dumps of MindSpore's graphs",
        detected_by: "the first line is a comment with the entry (# IR entry: @name)",
        extensions: &["ir"],
        description: "graph as MindSpore dumps it at any stage (MS_DEV_SAVE_GRAPHS), graph_build_*.ir, *_kernel_graph_*.ir: shape and type \
                      of every node, forward, backward and optimizer",
        detect: mindspore::ir::detect,
        import: mindspore::ir::import,
    },
    Importer {
        name: "ascend_profiler",
        title: "tables of the Ascend profilers and msmemscope",
        detected_by: "the headings of a known table; or an SQLite database",
        extensions: &["csv", "db"],
        description: "memory tables of the Ascend profilers (operator_memory, memory_record, npu_module_mem, static_op_mem) and \
                      dumps of msmemscope, as CSV or SQLite",
        detect: ascend_profiler::detect,
        import: ascend_profiler::import,
    },
    Importer {
        name: "mindspore_tracker",
        title: "blocks of MindSpore's memory tracker",
        detected_by: "the headings start_time_stamp, end_time_stamp, pool_type and size",
        extensions: &["csv"],
        description: "memory_block.csv of MindSpore's memory tracker (or HyperDryRun): the blocks of each memory pool with the lines that \
                      ask for them",
        detect: ascend_profiler::tracker::detect,
        import: ascend_profiler::tracker::import,
    },
    Importer {
        name: "cann_log",
        title: "logs of CANN (plog, device logs), texts of a run that ran out of memory",
        detected_by: "a record's head, [LEVEL] MODULE(PID,NAME):TIME, or a sentence on memory with a figure",
        extensions: &["log", "txt"],
        description: "logs of CANN, of all processes: the compiler's placements, loads and unloads, arenas and pools, the driver's \
                      memory by module, requests that failed; texts of a run of any library that ran out of memory; a file, a \
                      folder, or text of the terminal (also .gz)",
        detect: cann_log::detect,
        import: cann_log::import,
    },
    Importer {
        name: "native",
        title: "highwater's own JSON",
        detected_by: "a JSON object with highwater_graph, or with nodes, or with inputs and outputs",
        extensions: &["json"],
        description: "highwater's own JSON (also .gz): ops, tensors, aliases, phases, costs; see docs/text-formats.md",
        detect: native::detect,
        import: native::import,
    },
    Importer {
        name: "tensorflow",
        title: "TensorFlow graphs and SavedModels",
        detected_by: "the fields of GraphDef, MetaGraphDef or SavedModel, binary or text",
        extensions: &["pb", "pbtxt", "meta"],
        description: "TensorFlow graph: GraphDef (.pb, .pbtxt), SavedModel (saved_model.pb) or meta graph, frozen or with \
                      variables, with its function library",
        detect: tensorflow::detect,
        import: tensorflow::import,
    },
    Importer {
        name: "tensorflow_run",
        title: "TensorFlow RunMetadata",
        detected_by: "the fields of RunMetadata, binary or text",
        extensions: &["pb", "pbtxt"],
        description: "TensorFlow RunMetadata (.pb, .pbtxt): allocations, op times and scratch memory that a traced step measured",
        detect: tensorflow::run::detect,
        import: tensorflow::run::import,
    },
    Importer {
        name: "chrome_trace",
        title: "PyTorch profiler traces with memory",
        detected_by: "a JSON object with traceEvents, or a JSON list of events with ph and name",
        extensions: &["json"],
        description: "Chrome trace of the PyTorch profiler with [memory] events (also .gz): blocks by address, named after the \
                      ops that allocate them",
        detect: chrome_trace::detect,
        import: chrome_trace::import,
    },
    Importer {
        name: "torch_snapshot",
        title: "PyTorch memory snapshots",
        detected_by: "a pickle of a dictionary or list, not a checkpoint of weights; JSON, a printed Python value or an SQLite \
                      database with segments or device_traces",
        extensions: &["pickle", "pkl", "json", "db"],
        description: "memory snapshot of PyTorch or torch_npu as a pickle, JSON, a printed Python value or SQLite (also .gz): \
                      segments, blocks and the events of every device; nothing of a pickle is run",
        detect: torch_snapshot::detect,
        import: torch_snapshot::import,
    },
    Importer {
        name: "memory_timeline",
        title: "memory timelines of the PyTorch profiler",
        detected_by: "a JSON list of times and of rows of sums, or of events of four numbers",
        extensions: &["json"],
        description: "memory timeline of the PyTorch profiler (export_memory_timeline), .json or .raw.json (also .gz): the sum of \
                      all categories over time, without blocks",
        detect: memory_timeline::detect,
        import: memory_timeline::import,
    },
    Importer {
        name: "onnxruntime_profile",
        title: "profiles of onnxruntime",
        detected_by: "a JSON list of events with a session's or a node's",
        extensions: &["json"],
        description: "profile of onnxruntime (enable_profiling): times of nodes, and since 1.32 the bytes that each execution \
                      provider's allocator has in use and holds",
        detect: onnxruntime_profile::detect,
        import: onnxruntime_profile::import,
    },
    Importer {
        name: "mindir",
        title: "models of MindSpore (MINDIR)",
        detected_by: "the fields of mind_ir.ModelProto, whose versions are texts",
        extensions: &["mindir"],
        description: "model of MindSpore (.mindir) with the shapes that it states of every node; weights are not read",
        detect: mindspore::mindir::detect,
        import: mindspore::mindir::import,
    },
    Importer {
        name: "onnx",
        title: "ONNX models",
        detected_by: "the fields of ModelProto, in any order, binary, as protobuf text, as JSON or in ONNX's own syntax",
        extensions: &["onnx", "textproto", "onnxtxt", "pbtxt", "json"],
        description: "ONNX model, binary, as protobuf text, as JSON or in ONNX's own syntax, with or without shapes, weights present, emptied or in \
                      missing external files",
        detect: onnx::detect,
        import: onnx::import,
    },
    Importer {
        name: "tflite",
        title: "TensorFlow Lite models",
        detected_by: "the mark TFL3 at byte 4",
        extensions: &["tflite"],
        description: "TensorFlow Lite model, with the plan that OfflineMemoryAllocation states where there is one; weights are not \
                      read",
        detect: tflite::detect,
        import: tflite::import,
    },
    Importer {
        name: "xla",
        title: "XLA modules (HLO) and their dumps",
        detected_by: "an HLO module or computation as text or protobuf; or the first line of a buffer assignment",
        extensions: &["pb", "txt", "hlo"],
        description: "XLA module as HLO text or .hlo.pb with its buffer assignment, and the texts beside it: \
                      buffer-assignment.txt, live-range.txt",
        detect: xla::detect,
        import: xla::import,
    },
];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    pub format: &'static str,
    pub source: Source,
    /// Recordings of runs of the source.
    pub measured: Vec<Arc<Recording>>,
    /// Oddities that did not stop the reading.
    pub diagnostics: Diagnostics,
}

/// Reads a file: unpacks gzip, recognises the format by content, imports it.
///
/// # Errors
/// [`ImportError`], always with a place in the file where one is known.
pub fn import(input: &mut Input<'_>, progress: &Progress<'_>) -> Result<Imported, ImportError> {
    import_as(input, None, progress)
}

/// Like [`import`], but with a chosen format where one is given.
///
/// # Errors
/// As [`import`].
pub fn import_as(
    input: &mut Input<'_>,
    row: Option<&'static Importer>,
    progress: &Progress<'_>,
) -> Result<Imported, ImportError> {
    let imported = import_any(input, row, progress);
    input.whole(imported)
}

fn import_any(
    input: &mut Input<'_>,
    row: Option<&'static Importer>,
    progress: &Progress<'_>,
) -> Result<Imported, ImportError> {
    let range = input.range();
    if gzip::is_gzip(input.head()) {
        // Unknown content is not unpacked.
        let row = match (row, gzip::unpacked_head(input)) {
            (None, Some(head)) => Some(choose(&head)?),
            (row, _) => row,
        };
        let Unpacked {
            input: mut unpacked,
            padding,
        } = gzip::unpack(input, progress)?;
        unpacked.set_range(range);
        let mut imported = import_plain(&mut unpacked, row, progress).map_err(ImportError::of_unpacked)?;
        Unpacked::report(padding, &mut imported.diagnostics);
        return Ok(imported);
    }
    import_plain(input, row, progress)
}

pub fn importer(name: &str) -> Option<&'static Importer> {
    IMPORTERS.iter().find(|row| row.name == name)
}

/// What `look` sees of the beginning of a file, unpacked where it is packed; `None` also where it cannot be unpacked.
fn of_head<T>(input: &mut Input<'_>, look: impl FnOnce(&Input<'_>) -> Option<T>) -> Option<T> {
    if gzip::is_gzip(input.head()) {
        return look(&gzip::unpacked_head(input)?);
    }
    look(input)
}

/// The importer that recognises the content; `None` where none does. Packed content is unpacked as far as its head.
pub fn recognise(input: &mut Input<'_>) -> Option<&'static Importer> {
    of_head(input, |head| choose(head).ok())
}

/// The part that a file has in a dump of several files; `None` where it has none. The file is not kept open.
pub fn dump_part(input: &mut Input<'_>) -> Option<DumpPart> {
    let name = input.name().to_owned();
    of_head(input, |head| DumpPart::new(&name, without_mark(head.head())))
}

/// Groups the files of one folder that [`join_dump`] reads as one: positions, each group ascending.
pub fn group_dump_parts(parts: &[DumpPart]) -> Vec<Vec<usize>> {
    xla::groups(parts)
}

/// The text of a file whose first bytes, unpacked, are of a wanted kind; `None` for others.
///
/// # Errors
/// [`ImportError`].
pub fn text_where(
    input: &mut Input<'_>,
    is_wanted: fn(&[u8]) -> bool,
    progress: &Progress<'_>,
) -> Result<Option<String>, ImportError> {
    if gzip::is_gzip(input.head()) {
        if !gzip::unpacked_head(input).is_some_and(|head| is_wanted(head.head())) {
            return Ok(None);
        }
        let text = gzip::unpack(input, progress).and_then(|mut unpacked| unpacked.input.read_text(progress));
        return input.whole(text).map(Some);
    }
    if is_wanted(input.head()) {
        return input.read_text(progress).map(Some);
    }
    Ok(None)
}

/// The content of a packed file as a whole; `None` where it is not packed.
///
/// # Errors
/// [`ImportError`].
pub fn unpacked(input: &mut Input<'_>, progress: &Progress<'_>) -> Result<Option<Vec<u8>>, ImportError> {
    if !gzip::is_gzip(input.head()) {
        return Ok(None);
    }
    let bytes = gzip::unpack(input, progress).and_then(|mut unpacked| unpacked.input.read_all(progress));
    input.whole(bytes).map(Some)
}

/// Reads files that belong together: a buffer assignment of XLA, the live ranges of the same dump and
/// perhaps its module, in any order, perhaps compressed. `None` where they are not of one dump; then each is to be read by
/// [`import`]. Content decides, not names.
///
/// # Errors
/// [`ImportError`] of either file.
pub fn join_dump(inputs: &mut [Input<'_>], progress: &Progress<'_>) -> Result<Option<Imported>, ImportError> {
    let joined = join_any(inputs, progress);
    inputs.iter().fold(joined, |joined, input| input.whole(joined))
}

fn join_any(inputs: &mut [Input<'_>], progress: &Progress<'_>) -> Result<Option<Imported>, ImportError> {
    let mut padding = 0_u64;
    let mut plain = Vec::with_capacity(inputs.len());
    for input in inputs {
        let name = input.name().to_owned();
        plain.push(if gzip::is_gzip(input.head()) {
            let unpacked = gzip::unpack(input, progress)?;
            padding = padding.saturating_add(unpacked.padding);
            unpacked.input
        } else {
            Input::new(&name, input.reader()?)?
        });
    }
    let mut behind_marks = Vec::with_capacity(plain.len());
    for input in &mut plain {
        let name = input.name().to_owned();
        behind_marks.push(if is_marked(input.head()) {
            unmarked(input)?
        } else {
            Input::new(&name, input.reader()?)?
        });
    }
    let mut joined = join_plain(&mut behind_marks, progress)?;
    if let Some(joined) = &mut joined {
        Unpacked::report(padding, &mut joined.diagnostics);
    }
    Ok(joined)
}

/// Reads files of CANN's logs as one log, each perhaps packed.
///
/// # Errors
/// [`ImportError`] where none can be read.
pub fn import_logs(files: &[&dyn LogFile], progress: &Progress<'_>) -> Result<Imported, ImportError> {
    let mut diagnostics = Diagnostics::new();
    let source = cann_log::import_files(files, progress, &mut diagnostics)?;
    Ok(Imported {
        format: "cann_log",
        source,
        measured: Vec::new(),
        diagnostics,
    })
}

fn join_plain(inputs: &mut [Input<'_>], progress: &Progress<'_>) -> Result<Option<Imported>, ImportError> {
    let mut diagnostics = Diagnostics::new();
    let source = xla::join(inputs, progress, &mut diagnostics)?;
    Ok(source.map(|source| Imported {
        format: "xla",
        source,
        measured: Vec::new(),
        diagnostics,
    }))
}

fn import_plain(
    input: &mut Input<'_>,
    row: Option<&'static Importer>,
    progress: &Progress<'_>,
) -> Result<Imported, ImportError> {
    let asked = row;
    let row = match row {
        Some(row) => row,
        None => choose(input)?,
    };
    let range = input.range();
    let imported = if is_marked(input.head()) {
        let mut unmarked = unmarked(input)?;
        unmarked.set_range(range);
        import_with(row, &mut unmarked, progress)
    } else {
        import_with(row, input, progress)
    };
    let imported = imported.and_then(|imported| check_sums(&imported).map(|()| imported));
    imported.map_err(|error| with_advice(error, input, row, asked.is_some()))
}

/// The error of a reader, with advice where the file is of another format: one that was not asked for, or one that is not read.
fn with_advice(error: ImportError, input: &Input<'_>, row: &'static Importer, is_asked: bool) -> ImportError {
    if !is_asked {
        // The content looked like the format; only the name is against it.
        return match advice_by_name(input) {
            Some(advice) => error.opened_as_unread(row.title, advice),
            None => error,
        };
    }
    match (choose(input), advice(input)) {
        (Ok(found), _) if found.name != row.name => error.opened_as(row.name, found.name),
        (Err(_), Some(advice)) => error.opened_as_unread(row.name, advice),
        _ => error,
    }
}

/// What a file is that no importer reads, and how to get one that opens; `None` where that is not known.
pub fn unread_advice(input: &mut Input<'_>) -> Option<&'static str> {
    of_head(input, |head| choose(head).err().and_then(|_unknown| advice(head)))
}

fn import_with(
    row: &'static Importer,
    input: &mut Input<'_>,
    progress: &Progress<'_>,
) -> Result<Imported, ImportError> {
    let mut diagnostics = Diagnostics::new();
    let read = (row.import)(input, progress, &mut diagnostics);
    if read.is_err() {
        // A reader that was stopped may have called it a failure.
        progress.check()?;
    }
    let source = read?;
    let imported = Imported {
        format: row.name,
        source,
        measured: Vec::new(),
        diagnostics,
    };
    match input.range() {
        Some(range) => imported.within(range),
        None => Ok(imported),
    }
}

fn choose(input: &Input<'_>) -> Result<&'static Importer, ImportError> {
    // One mark at most: a second one is text.
    match unmarked_head(input).filter(|_| is_marked(input.head())) {
        Some(behind) => choose_plain(&behind),
        None => choose_plain(input),
    }
}

fn choose_plain(input: &Input<'_>) -> Result<&'static Importer, ImportError> {
    let matching: Vec<&Importer> = IMPORTERS.iter().filter(|row| (row.detect)(input)).collect();
    let by_extension = |row: &&&'static Importer| {
        let name = input.name().to_ascii_lowercase();
        row.extensions
            .iter()
            .any(|extension| name.ends_with(&format!(".{extension}")))
    };
    if let Some(row) = matching.iter().find(by_extension).or(matching.first()) {
        return Ok(row);
    }
    if let Some(error) = unsupported_hint(input, &|input| IMPORTERS.iter().any(|row| (row.detect)(input))) {
        return Err(error);
    }
    Err(unknown(input))
}

#[cfg(test)]
mod tests;
