//! The kind of a JSON object that highwater wrote and that is no configuration: an answer of a command, or a document.
//!
//! In: an object without the version of a configuration. Out: its kind and what to do with it, in a clause; `None` where it may be a
//! plain object of options. No option has the name of such a field, so that options are never taken for an answer.

use serde_json::{Map, Value as Json};

struct JsonKind {
    /// An object of this kind has all of these fields.
    fields: &'static [&'static str],
    name: &'static str,
    /// What to do with it; may be empty.
    hint: &'static str,
}

const fn answer(fields: &'static [&'static str], name: &'static str) -> JsonKind {
    JsonKind { fields, name, hint: "" }
}

/// The first that fits is taken.
const KINDS: &[JsonKind] = &[
    JsonKind {
        fields: &["highwater_document"],
        name: "a document",
        hint: ": name it among the files, or write its configuration with `highwater export DOCUMENT --to config.json`",
    },
    JsonKind {
        fields: &["workload", "effective_policy"],
        name: "an answer of `compare`",
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

pub(super) fn json_kind(object: &Map<String, Json>) -> Option<String> {
    let is_of_kind = |kind: &&JsonKind| kind.fields.iter().all(|field| object.contains_key(*field));
    let kind = KINDS.iter().find(is_of_kind)?;
    Some(format!("{}, not a configuration{}", kind.name, kind.hint))
}
