//! Diagnostics for people.

use highwater_model::diagnostics::Diagnostics;

/// One line per entry.
pub(crate) fn diagnostics(entries: &Diagnostics) -> String {
    let mut out = String::new();
    for entry in entries.entries() {
        let (times, first) = match entry.count {
            0 | 1 => (String::new(), ""),
            count => (format!("{count} times: "), "first: "),
        };
        let place = if entry.place.is_empty() {
            String::new()
        } else {
            format!(" ({first}{})", entry.place)
        };
        out.push_str(&format!("{}: {times}{}{place}\n", entry.severity, entry.message));
    }
    out
}

/// The same after an empty line; empty without entries.
pub(crate) fn diagnostics_section(entries: &Diagnostics) -> String {
    section(diagnostics(entries))
}

/// A text after an empty line; empty where the text is.
pub(crate) fn section(text: String) -> String {
    if text.is_empty() { text } else { format!("\n{text}") }
}
