//! The code of a notebook as one script.

use serde::Deserialize;

use highwater_model::diagnostics::{Diagnostics, Severity};

use super::config::ConfigError;
use super::reading::Reading;

#[derive(Deserialize)]
struct Notebook {
    cells: Vec<Cell>,
}

#[derive(Deserialize)]
struct Cell {
    #[serde(default)]
    cell_type: String,
    #[serde(default)]
    source: Source,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Source {
    Lines(Vec<String>),
    Text(String),
}

impl Default for Source {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

pub(super) struct Code {
    pub(super) text: String,
    /// By cell: its first line in the text, its number from 1, and the number of its left-out first lines.
    cells: Vec<(usize, usize, usize)>,
}

impl Code {
    /// The cell of a line, and the line in the cell.
    fn place(&self, line: usize) -> (usize, usize) {
        let at = self.cells.partition_point(|(first, _, _)| *first <= line);
        let (first, cell, n_skipped) = at.checked_sub(1).map_or((1, 1, 0), |at| self.cells[at]);
        (cell, line + 1 - first + n_skipped)
    }

    /// A reading with places by cell instead of by line.
    pub(super) fn placed(&self, mut reading: Reading) -> Reading {
        let mut warnings = Diagnostics::new();
        for entry in reading.warnings.entries() {
            let (message, place) = (self.named(&entry.message), self.named(&entry.place));
            match entry.severity {
                Severity::Error => warnings.error(message, &place),
                Severity::Warning => warnings.warning(message, &place),
                Severity::Info => warnings.info(message, &place),
            }
        }
        reading.warnings = warnings;
        if let Some(error) = &mut reading.error {
            let (cell, line) = self.place(error.line);
            error.line = line;
            error.reason = format!("in cell {cell}: {}", error.reason);
        }
        reading
    }

    /// A message with "cell 3, line 2" in the place of "line 14".
    fn named(&self, message: &str) -> String {
        let mut named = String::new();
        let mut rest = message;
        while let Some(at) = rest.find("line ") {
            let (before, behind) = rest.split_at(at);
            let number = behind["line ".len()..]
                .split(|c: char| !c.is_ascii_digit())
                .next()
                .unwrap_or("");
            named.push_str(before);
            rest = &behind["line ".len() + number.len()..];
            match number.parse() {
                Ok(line) => {
                    let (cell, line) = self.place(line);
                    named.push_str(&format!("cell {cell}, line {line}"));
                }
                Err(_) => named.push_str("line "),
            }
        }
        named.push_str(rest);
        named
    }
}

/// Whether a JSON text is a notebook.
pub(super) fn is_notebook(text: &str) -> bool {
    text.contains("\"cells\"") && serde_json::from_str::<Notebook>(text).is_ok()
}

/// The code cells one after the other. Cells in other languages (`%%bash`) are left out.
pub(super) fn code(text: &str) -> Result<Code, ConfigError> {
    let notebook: Notebook = serde_json::from_str(text)?;
    let mut code = String::new();
    let mut cells = Vec::new();
    let mut n_lines = 0;
    let numbered = notebook.cells.iter().zip(1..);
    for (cell, number) in numbered.filter(|(cell, _)| cell.cell_type == "code") {
        let source = match &cell.source {
            Source::Lines(lines) => lines.concat(),
            Source::Text(text) => text.clone(),
        };
        let is_timed = ["%%time", "%%timeit", "%%capture"]
            .iter()
            .any(|magic| source.starts_with(magic));
        let body = match source.split_once('\n') {
            Some((_, body)) if is_timed => body,
            _ if source.starts_with("%%") => continue,
            _ => &source,
        };
        let n_skipped = usize::from(body.len() < source.len());
        cells.push((n_lines + 1, number, n_skipped));
        n_lines += body.matches('\n').count() + 1;
        code.push_str(body);
        code.push('\n');
    }
    Ok(Code { text: code, cells })
}
