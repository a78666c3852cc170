//! Diagnostics for people.

use highwater_model::diagnostics::Diagnostics;

/// One line per entry.
pub(crate) fn diagnostics(entries: &Diagnostics) -> String {
    let lines = entries.entries().iter();
    let texts: Vec<String> = lines
        .map(|entry| format!("{}: {}\n", entry.severity, entry.words()))
        .collect();
    texts.concat()
}

/// The same after an empty line; empty without entries.
pub(crate) fn diagnostics_section(entries: &Diagnostics) -> String {
    section(diagnostics(entries))
}

/// A text after an empty line; empty where the text is.
pub(crate) fn section(text: String) -> String {
    if text.is_empty() { text } else { format!("\n{text}") }
}
