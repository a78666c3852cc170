//! The code of a notebook as one script.

use serde::Deserialize;

use super::super::config::ConfigError;

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

/// Whether a JSON text is a notebook.
pub(super) fn is_notebook(text: &str) -> bool {
    text.contains("\"cells\"") && serde_json::from_str::<Notebook>(text).is_ok()
}

/// The code cells one after the other. Cells in other languages (`%%bash`) are left out.
///
/// # Errors
/// [`ConfigError`] where the text is no notebook.
pub(super) fn code(text: &str) -> Result<String, ConfigError> {
    let notebook: Notebook = serde_json::from_str(text)?;
    let mut code = String::new();
    for cell in notebook.cells.iter().filter(|cell| cell.cell_type == "code") {
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
        code.push_str(body);
        code.push('\n');
    }
    Ok(code)
}
