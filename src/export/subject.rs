//! An answer on its way out: what it is of, which lanes, and the bytes of a file in each form.
//!
//! In: an answer with its view-model and what the session knows beside it, as plain values. Out: bytes, the same every time.
//! Deliberately not here: reading, comparing, writing files.

use std::path::Path;
use std::sync::Arc;

use super::forms::{ExportForm, ending};
use super::{ConfigDocument, LaneDrawing, SvgColors, lanes_svg, placements_csv, report_html, table_csv, trace_json};
use super::{picture::picture_of, writer_of};
use highwater_analysis::Comparison;
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::{Cancelled, Progress};
use highwater_options::Finding;
use highwater_timeline::{AxisKind, Coloring, TableKind, TableRows, TableSpec, TableSubject, Timeline};

/// What a session knows beside its answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExportAbout {
    /// What the answer is of: names of files, each with what was found in it.
    pub sources: Vec<(String, Vec<String>)>,
    /// Rules that the settings break.
    pub findings: Vec<Finding>,
    /// What was odd in files and configurations.
    pub diagnostics: Diagnostics,
    /// The settings.
    pub configuration: ConfigDocument,
    /// Commands that give the same figures, each with what it does.
    pub commands: Vec<(String, String)>,
    /// What these commands do not say.
    pub beside: Vec<String>,
}

/// An answer on its way out.
#[derive(Clone, Debug)]
pub struct ExportSubject {
    /// The answer.
    pub comparison: Arc<Comparison>,
    /// Its view-model.
    pub timeline: Arc<Timeline>,
    /// Positions of the lanes that are meant; `None` for those that a form has of itself.
    pub lanes: Option<Vec<usize>>,
    /// What the axis of drawings counts.
    pub axis: AxisKind,
    /// The colours of blocks.
    pub look: Arc<Coloring>,
    /// Everything else.
    pub about: ExportAbout,
}

/// Why there is no file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    /// There is nothing to write in this form; a sentence.
    #[error("{0}")]
    Refused(String),
    /// The user stopped it.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

impl From<String> for ExportError {
    fn from(reason: String) -> Self {
        Self::Refused(reason)
    }
}

/// Points of a lane in a drawing.
const LANE: (f64, f64) = (1200.0, 420.0);
/// The same of one that stands alone.
const ALONE: (f64, f64) = (1200.0, 600.0);

impl ExportSubject {
    /// The lanes that are meant, or every lane.
    pub(super) fn lanes_or_all(&self) -> Vec<usize> {
        let all = || (0..self.comparison.lanes.len()).collect();
        self.lanes.clone().unwrap_or_else(all)
    }

    /// The lanes that are meant, or the one that texts without a choice speak of.
    pub(super) fn lanes_or_main(&self) -> Vec<usize> {
        let main = || self.comparison.main_lane().or(Some(0)).into_iter().collect();
        let mut lanes: Vec<usize> = self.lanes.clone().unwrap_or_else(main);
        lanes.retain(|lane| *lane < self.comparison.lanes.len());
        lanes
    }

    /// The bytes of a file of that name.
    ///
    /// # Errors
    /// [`ExportError`]: nothing to write in this form, or the user's will.
    pub fn file(&self, form: ExportForm, path: &Path, progress: &Progress<'_>) -> Result<Vec<u8>, ExportError> {
        form.check(path)?;
        match form {
            ExportForm::Config => {
                let write = writer_of(&path.display().to_string());
                let write = write.ok_or_else(|| "a configuration is written as .json, .py or .sh".to_owned())?;
                Ok(write(&self.about.configuration).into_bytes())
            }
            ExportForm::Report => Ok(report_html(self, progress)?.into_bytes()),
            ExportForm::Timeline => self.timeline_file(&ending(path), progress),
            ExportForm::Tensors => self.tensors(progress),
            ExportForm::Plan => placements_csv(self, progress),
            ExportForm::Trace => trace_json(self, progress),
        }
    }

    fn timeline_file(&self, ending: &str, progress: &Progress<'_>) -> Result<Vec<u8>, ExportError> {
        progress.set("drawing", 0, 2)?;
        let lanes = self.lanes_or_all();
        let colors = SvgColors::print();
        let size = if lanes.len() == 1 { ALONE } else { LANE };
        let drawing = |lane: usize| LaneDrawing {
            comparison: &self.comparison,
            timeline: &self.timeline,
            lane,
            viewport: self.timeline.fit(),
            axis: self.axis,
            size,
            colors: &colors,
            look: Some(&self.look),
            most_shapes: None,
        };
        let drawings: Vec<LaneDrawing<'_>> = lanes.into_iter().map(drawing).collect();
        let svg = lanes_svg(&drawings)?;
        if ending != "png" {
            return Ok(svg.into_bytes());
        }
        progress.set("drawing", 1, 2)?;
        Ok(picture_of(&svg)?)
    }

    fn tensors(&self, progress: &Progress<'_>) -> Result<Vec<u8>, ExportError> {
        let [lane] = self.lanes_or_main()[..] else {
            return Err("a table of tensors is of one lane; choose one".to_owned().into());
        };
        let spec = TableSpec {
            kind: TableKind::Tensors,
            lane,
            ..TableSpec::default()
        };
        let subject = TableSubject {
            comparison: Arc::clone(&self.comparison),
            timeline: Arc::clone(&self.timeline),
            problems: Arc::from([]),
        };
        let table = TableRows::new(spec, subject, progress).map_err(|error| error.to_string())?;
        progress.check()?;
        if table.is_empty() {
            let why = "no tensor has a block of its own here (inputs, outputs and weights are held apart), so there is no table";
            return Err(why.to_owned().into());
        }
        Ok(table_csv(&table, progress)?)
    }
}
