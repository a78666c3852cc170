//! Tables for people: columns as wide as their widest cell, figures to the right.

/// A table that is filled row by row.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
    right: Vec<bool>,
}

impl Table {
    /// A table with headings; a heading that starts with `>` stands over figures.
    pub(crate) fn new(headings: &[&str]) -> Self {
        Self {
            right: headings.iter().map(|heading| heading.starts_with('>')).collect(),
            rows: vec![
                headings
                    .iter()
                    .map(|heading| heading.trim_start_matches('>').to_owned())
                    .collect(),
            ],
        }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// The text, with a line break after each row.
    pub(crate) fn text(&self) -> String {
        let mut widths = vec![0; self.right.len()];
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let mut out = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (position, cell) in row.iter().enumerate() {
                let width = widths.get(position).copied().unwrap_or(0);
                let padding = " ".repeat(width.saturating_sub(cell.chars().count()));
                let is_right = self.right.get(position).copied().unwrap_or(false);
                if is_right {
                    line.push_str(&padding);
                    line.push_str(cell);
                } else {
                    line.push_str(cell);
                    line.push_str(&padding);
                }
                line.push_str("  ");
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }
}

/// Diagnostics, one a line.
pub(crate) fn diagnostics(entries: &highwater_model::diagnostics::Diagnostics) -> String {
    let mut out = String::new();
    for entry in entries.entries() {
        let place = if entry.place.is_empty() {
            String::new()
        } else if entry.count > 1 {
            format!(" (first: {})", entry.place)
        } else {
            format!(" ({})", entry.place)
        };
        let count = if entry.count > 1 {
            format!("{} times: ", entry.count)
        } else {
            String::new()
        };
        out.push_str(&format!("{}: {count}{}{place}\n", entry.severity, entry.message));
    }
    out
}
