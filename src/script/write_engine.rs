//! Session options of the engine as Python.
//!
//! The adapter of TensorFlow takes none of them: its tables name the options that it knows, and other names are ignored with a warning. GE's
//! own Python API takes them: `Session(options)` those of a session, `Session.add_graph(id, graph, options)` those of a graph, both as
//! dictionaries of texts.

/// Options that the engine reads from a graph alone.
const OF_GRAPH: &[&str] = &[
    "ge.exec.inputReuseMemIndexes",
    "ge.exec.outputReuseMemIndexes",
    "ge.exec.outputReuseInputMemIndexes",
];

pub(super) struct EngineEntry<'a> {
    pub(super) key: &'a str,
    /// Python.
    pub(super) code: String,
}

/// The dictionaries and the function that passes them on; `None` without entries. Nothing runs before the function is called, so that the
/// script can also configure the adapter.
pub(super) fn engine_script(entries: &[EngineEntry<'_>]) -> Option<String> {
    if entries.is_empty() {
        return None;
    }
    let (of_graph, of_session): (Vec<&EngineEntry<'_>>, Vec<&EngineEntry<'_>>) =
        entries.iter().partition(|entry| OF_GRAPH.contains(&entry.key));
    let mut script = String::from(
        "# Options of the engine. NPURunConfig and the adapter's sessions take none of them; GE's own Python API does.\n",
    );
    script.push_str(&dictionary("ge_options", &of_session));
    script.push_str(&dictionary("ge_graph_options", &of_graph));
    let session = if of_session.is_empty() { "" } else { "ge_options" };
    let graph = if of_graph.is_empty() { "" } else { ", ge_graph_options" };
    script.push_str(&format!(
        "\n\ndef ge_session(graph_id, graph):\n    # Call it after GeApi.ge_initialize(...).\n    from ge.session import Session\n\n    \
         session = Session({session})\n    session.add_graph(graph_id, graph{graph})\n    return session\n"
    ));
    Some(script)
}

/// Empty without entries.
fn dictionary(name: &str, entries: &[&EngineEntry<'_>]) -> String {
    if entries.is_empty() {
        return String::new();
    }
    let lines = entries
        .iter()
        .map(|entry| format!("    \"{}\": {},\n", entry.key, entry.code));
    format!("{name} = {{\n{}}}\n", lines.collect::<String>())
}
