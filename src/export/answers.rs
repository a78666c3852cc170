//! What other files of our own a JSON object is: answers of commands and documents, which are no configurations.
//!
//! In: an object without the mark of a configuration. Out: what it is and what to do with it, in a clause; `None` where it may be
//! a plain object of options. No option has such a name, so that nothing is taken for an answer that is none.

use serde_json::{Map, Value as Json};

/// Fields that tell a file, and what to say of it; the first row whose fields are all there holds.
const FILES: &[(&[&str], &str)] = &[
    (
        &["highwater_document"],
        "a document: name it among the files, or write its configuration with `highwater export DOCUMENT --to config.json`",
    ),
    (
        &["workload", "effective_policy"],
        "an answer of `compare`, which has figures and no configuration: compare with it by --baseline FILE; a configuration \
         to pin or to load is written by `highwater export FILE --to config.json`",
    ),
    (&["highwater_sweep"], "an answer of `sweep`"),
    (&["workload", "diagnostics"], "an answer of highwater"),
    (&["findings", "effective"], "an answer of `check`"),
    (&["format", "graphs", "diagnostics"], "an answer of `inspect`"),
    (&["lane", "asked", "live_bytes"], "an answer of `peak`"),
    (&["strategy", "buffers", "footprint_bytes"], "an answer of `plan`"),
    (&["heuristic", "status", "budget_bytes"], "an answer of `remat`"),
    (&["level", "renames", "peak_before_bytes"], "an answer of `reuse`"),
];

/// What an object is, where it is a file of our own that is no configuration.
pub(super) fn other_file(object: &Map<String, Json>) -> Option<&'static str> {
    let is_it = |fields: &[&str]| fields.iter().all(|field| object.contains_key(*field));
    FILES.iter().find(|(fields, _)| is_it(fields)).map(|(_, what)| *what)
}
