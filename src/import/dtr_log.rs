//! DTR logs: what a framework did with tensors, as the prototype of the DTR paper records it, one JSON object a line
//! (docs/text-formats.md has the whole description).
//!
//! ```text
//! {"INSTRUCTION":"CONSTANT","NAME":"x1"}                      then a MEMORY line
//! {"INSTRUCTION":"CALL","NAME":"relu","ARGS":["x1"],...}      then for each result a MEMORY and an ALIAS line
//! {"INSTRUCTION":"RELEASE","NAME":"x1"}
//! ```
//!
//! In: text, read line by line, so that only the tape is held. Out: one [`Tape`], with names
//! resolved: tensors are numbered in the order of the log. Lines before `START` count for nothing; a log without it is
//! read from its first line. Every error names its line.

mod draft;
mod line;

use std::sync::Arc;

use super::json_key::has_key;
use super::lines::each_line;
use super::{ImportError, Input};
use draft::Draft;
use highwater_model::diagnostics::{Diagnostics, without_type_names};
use highwater_model::progress::Progress;
use highwater_model::workload::{Source, Tape};
use line::Line;

/// The first line that is not blank is a JSON object with an instruction.
pub(super) fn detect(input: &Input<'_>) -> bool {
    let head = input.head().trim_ascii_start();
    let end = head.iter().position(|byte| *byte == b'\n');
    let is_cut = end.is_none() && (input.head().len() as u64) < input.len();
    let line = &head[..end.unwrap_or(head.len())];
    if is_cut {
        return line.starts_with(b"{") && has_key(line, "INSTRUCTION");
    }
    line.starts_with(b"{") && serde_json::from_slice::<Line<'_>>(line).is_ok()
}

pub(super) fn import(
    input: &mut Input<'_>,
    progress: &Progress<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Source, ImportError> {
    let mut reader = Reader::new(input.name());
    let advice = "a log has one instruction a line; check that the file is one";
    let n_lines = each_line(input, progress, advice, |line, number| reader.line(line, number))?;
    let tape = reader.finish(n_lines, diagnostics)?;
    Ok(Source::Tapes(vec![Arc::new(tape)]))
}

struct Reader {
    draft: Draft,
    name: String,
    has_started: bool,
    /// An error before `START`; it counts only where there is no `START`.
    wrong: Option<ImportError>,
}

impl Reader {
    fn new(name: &str) -> Self {
        Self {
            draft: Draft::new(name),
            name: name.to_owned(),
            has_started: false,
            wrong: None,
        }
    }

    fn line(&mut self, text: &[u8], number: u64) -> Result<(), ImportError> {
        let text = text.trim_ascii();
        if text.is_empty() {
            return Ok(());
        }
        let parsed = serde_json::from_slice::<Line<'_>>(text);
        if let Ok(line) = &parsed
            && !self.has_started
            && line.is_start()
        {
            self.draft = Draft::new(&self.name);
            self.wrong = None;
            self.has_started = true;
            return Ok(());
        }
        if self.wrong.is_some() {
            return Ok(());
        }
        let done = match parsed {
            Ok(line) => self.draft.line(&line, number),
            Err(error) => Err(malformed(&error, number)),
        };
        match done {
            Err(error) if !self.has_started => self.wrong = Some(error),
            done => done?,
        }
        Ok(())
    }

    fn finish(self, n_lines: u64, diagnostics: &mut Diagnostics) -> Result<Tape, ImportError> {
        if let Some(error) = self.wrong {
            return Err(error);
        }
        let tape = self.draft.finish(n_lines)?;
        if !self.has_started {
            diagnostics.info("no line says START, so the log is read from its first line", "line 1");
        }
        Ok(tape)
    }
}

fn malformed(error: &serde_json::Error, number: u64) -> ImportError {
    let text = error.to_string();
    let what = without_type_names(text.split(" at line ").next().unwrap_or(&text));
    ImportError::at(
        format!("this is no instruction ({what})"),
        format!("line {number} column {}", error.column()),
        "a line is one JSON object, as docs/text-formats.md describes; if the file was cut off, record it again",
    )
}

#[cfg(test)]
mod tests;
