//! The table of importers, and the function that picks a row and runs it.

use super::{
    ImportError, Input, allocation_trace, block_program, dtr_log, gzip, megengine, native, onnx, op_list, problem,
};
use crate::diagnostics::Diagnostics;
use crate::progress::Progress;
use crate::workload::Source;

/// One format.
#[derive(Clone, Copy, Debug)]
pub struct Importer {
    /// The name in `inspect --format json` and for "open as".
    pub name: &'static str,
    /// File name endings without the dot, for dialogs and ties.
    pub extensions: &'static [&'static str],
    /// One line for help texts and the README.
    pub description: &'static str,
    /// Whether the content (its first 64 KiB) looks like this format.
    pub detect: fn(&Input<'_>) -> bool,
    /// Reads it.
    pub import: fn(&mut Input<'_>, &Progress<'_>, &mut Diagnostics) -> Result<Source, ImportError>,
}

/// Every format. Text formats first: their detection is strict.
pub static IMPORTERS: &[Importer] = &[
    Importer {
        name: "planner_problem",
        extensions: &["csv"],
        description: "placement problem: buffers with live ranges as CSV in MiniMalloc's form or JSON, perhaps with a plan; \
                      see docs/format.md",
        detect: problem::detect,
        import: problem::import,
    },
    Importer {
        name: "allocation_trace",
        extensions: &["trace"],
        description: "allocation trace: what was asked of the device, one command a line; see docs/format.md",
        detect: allocation_trace::detect,
        import: allocation_trace::import,
    },
    Importer {
        name: "op_list",
        extensions: &["ops"],
        description: "ops of a compiled graph, one a line with the bytes that they ask for, as a placement problem of its \
                      arena; see docs/format.md",
        detect: op_list::detect,
        import: op_list::import,
    },
    Importer {
        name: "paddle_program",
        extensions: &["json"],
        description: "program of blocks, variables and ops as JSON (also .gz), in the manner of Paddle's fluid, for reusing \
                      names; see docs/format.md",
        detect: block_program::detect,
        import: block_program::import,
    },
    Importer {
        name: "dtr_log",
        extensions: &["log"],
        description: "log of the DTR prototype: ops with times, tensors and who refers to them, one JSON object a line; \
                      see docs/format.md",
        detect: dtr_log::detect,
        import: dtr_log::import,
    },
    Importer {
        name: "dtr_graph",
        extensions: &["json"],
        description: "ops in execution order with the variables that they read and make, as JSON, for running under a memory \
                      budget; see docs/format.md",
        detect: megengine::detect_graph,
        import: megengine::import_graph,
    },
    Importer {
        name: "dtr_script",
        extensions: &["json"],
        description: "script of an eager interpreter: what is put, computed and deleted, as JSON, for running under a memory \
                      budget; see docs/format.md",
        detect: megengine::detect_script,
        import: megengine::import_script,
    },
    Importer {
        name: "native",
        extensions: &["json"],
        description: "highwater's own JSON (also .gz): ops, tensors, aliases, phases, costs; see docs/format.md",
        detect: native::detect,
        import: native::import,
    },
    Importer {
        name: "onnx",
        extensions: &["onnx"],
        description: "ONNX model, with or without shapes, weights present, emptied or in missing external files",
        detect: onnx::detect,
        import: onnx::import,
    },
];

/// What a file held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The importer's name.
    pub format: &'static str,
    /// Graphs or live ranges.
    pub source: Source,
    /// Oddities that did not stop the reading.
    pub diagnostics: Diagnostics,
}

/// Reads a file: unpacks gzip, recognises the format by content, imports it.
///
/// # Errors
/// [`ImportError`], always with a place in the file where one is known.
pub fn import(input: &mut Input<'_>, progress: &Progress<'_>) -> Result<Imported, ImportError> {
    if gzip::is_gzip(input.head()) {
        let mut unpacked = gzip::unpack(input, progress)?;
        return import_plain(&mut unpacked, progress);
    }
    import_plain(input, progress)
}

fn import_plain(input: &mut Input<'_>, progress: &Progress<'_>) -> Result<Imported, ImportError> {
    let row = choose(input)?;
    let mut diagnostics = Diagnostics::new();
    let source = (row.import)(input, progress, &mut diagnostics)?;
    Ok(Imported {
        format: row.name,
        source,
        diagnostics,
    })
}

fn choose(input: &Input<'_>) -> Result<&'static Importer, ImportError> {
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
    let known: Vec<&str> = IMPORTERS.iter().map(|row| row.name).collect();
    Err(ImportError::UnknownFormat {
        known: known.join(", "),
        advice: if input.is_empty() {
            "the file is empty"
        } else {
            "export the model as ONNX, or convert it to the JSON described in docs/format.md"
        },
    })
}
