//! An answer with all that exported files need: its view-model, the chosen lanes, and the settings of the session.

use std::sync::Arc;

use highwater_analysis::{Comparison, LaneGoal};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Cancelled;
use highwater_options::Finding;
use highwater_script::ConfigDocument;
use highwater_timeline::{AxisKind, Coloring, Timeline};

/// The context of an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExportAbout {
    /// Names of files, each with the names of its contents.
    pub sources: Vec<(String, Vec<String>)>,
    /// The goal of the recommendation.
    pub goal: LaneGoal,
    pub findings: Vec<Finding>,
    /// Of files and configurations.
    pub diagnostics: Diagnostics,
    pub configuration: ConfigDocument,
    /// Commands with the same figures, each behind its purpose.
    pub commands: Vec<(String, String)>,
    /// Sentences on what the commands leave out.
    pub beside: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct ExportSubject {
    pub comparison: Arc<Comparison>,
    pub timeline: Arc<Timeline>,
    /// Positions of the chosen lanes; `None` for the default of each form.
    pub lanes: Option<Vec<usize>>,
    /// The axis of drawings.
    pub axis: AxisKind,
    pub look: Arc<Coloring>,
    pub about: ExportAbout,
}

/// Why there is no file.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The answer has no content of this form; a sentence.
    #[error("{0}")]
    Refused(String),
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// The bytes could not be written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl From<&str> for ExportError {
    fn from(reason: &str) -> Self {
        Self::Refused(reason.to_owned())
    }
}

impl From<String> for ExportError {
    fn from(reason: String) -> Self {
        Self::Refused(reason)
    }
}

impl ExportSubject {
    /// The chosen lanes, else every lane.
    pub(super) fn lanes_or_all(&self) -> Vec<usize> {
        let all = || (0..self.comparison.lanes.len()).collect();
        self.lanes.clone().unwrap_or_else(all)
    }

    /// The chosen lanes, else the main lane.
    pub(super) fn lanes_or_main(&self) -> Vec<usize> {
        let main = || self.comparison.main_lane().or(Some(0)).into_iter().collect();
        let mut lanes: Vec<usize> = self.lanes.clone().unwrap_or_else(main);
        lanes.retain(|lane| *lane < self.comparison.lanes.len());
        lanes
    }
}
