//! What other files of our own a JSON object is: answers of commands and documents, which are no configurations.
//!
//! In: an object without the mark of a configuration. Out: what it is and what to do with it, in a clause; `None` where it may be
//! a plain object of options. No option has such a name, so that nothing is taken for an answer that is none.

use serde_json::{Map, Value as Json};

/// A file of our own that is no configuration.
struct OwnFile {
    /// Fields that tell it: all of them are there.
    fields: &'static [&'static str],
    /// What it is.
    what: &'static str,
    /// What to do with it, a clause of its own; empty where there is nothing to say.
    hint: &'static str,
}

const fn answer(fields: &'static [&'static str], what: &'static str) -> OwnFile {
    OwnFile { fields, what, hint: "" }
}

/// The files; the first that it may be is meant.
const FILES: &[OwnFile] = &[
    OwnFile {
        fields: &["highwater_document"],
        what: "a document",
        hint: ": name it among the files, or write its configuration with `highwater export DOCUMENT --to config.json`",
    },
    OwnFile {
        fields: &["workload", "effective_policy"],
        what: "an answer of `compare`",
        hint: ": compare with it by --baseline FILE; `highwater export FILE --to config.json` writes a configuration",
    },
    answer(&["highwater_sweep"], "an answer of `sweep`"),
    answer(&["workload", "diagnostics"], "an answer of highwater"),
    answer(&["findings", "effective"], "an answer of `check`"),
    answer(&["format", "graphs", "diagnostics"], "an answer of `inspect`"),
    answer(&["lane", "asked", "live_bytes"], "an answer of `peak`"),
    answer(&["strategy", "buffers", "footprint_bytes"], "an answer of `plan`"),
    answer(&["heuristic", "status", "budget_bytes"], "an answer of `remat`"),
    answer(&["level", "renames", "peak_before_bytes"], "an answer of `reuse`"),
];

/// What an object is and what to do with it, where it is a file of our own that is no configuration.
pub(super) fn other_file(object: &Map<String, Json>) -> Option<String> {
    let is_it = |file: &&OwnFile| file.fields.iter().all(|field| object.contains_key(*field));
    let file = FILES.iter().find(is_it)?;
    Some(format!("{}, not a configuration{}", file.what, file.hint))
}
