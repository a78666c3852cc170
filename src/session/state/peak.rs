//! Reports that explain a step of a lane, shown and written to files.

use std::path::PathBuf;
use std::sync::Arc;

use super::super::task::{Failure, TaskKind};
use super::Session;
use super::request::{Request, Task};
use highwater_analysis::Comparison;
use highwater_export::{PEAK_FORMS, PeakAnswer, peak_file, peak_text};
use highwater_model::progress::Progress;
use highwater_timeline::{PeakReport, PeakRequest};

/// The number of tensors in a copied text.
const MOST_COPIED: usize = 100;

/// The live tensors at a step, and savings.
pub(super) struct PeakTask {
    comparison: Arc<Comparison>,
    ask: PeakRequest,
}

impl Task for PeakTask {
    type Key = PeakRequest;
    /// `None` where there is nothing to explain.
    type Output = Option<Arc<PeakReport>>;

    const KIND: TaskKind = TaskKind::Peak;

    fn request(session: &mut Session) -> &mut Request<Self> {
        &mut session.peak
    }

    fn new(session: &Session, ask: &PeakRequest) -> Option<Self> {
        let (comparison, _) = session.answer.as_ref()?;
        Some(Self {
            comparison: Arc::clone(comparison),
            ask: *ask,
        })
    }

    fn perform(self, progress: &Progress<'_>) -> Result<Self::Output, Failure> {
        Ok(PeakReport::checked(&self.comparison, self.ask, progress)?.map(Arc::new))
    }

    fn waits(_: &PeakRequest, _: &PeakRequest) -> bool {
        true
    }
}

impl Session {
    /// The last report; perhaps of another step or answer (see [`Self::has_peak_report`]).
    pub fn peak_report(&self) -> Option<&Arc<PeakReport>> {
        self.peak.known()?.as_ref()
    }

    /// Whether the last report is to this question about the answer on the screen.
    pub fn has_peak_report(&self, ask: &PeakRequest) -> bool {
        self.peak.has(self.revision, ask)
    }

    /// Whether the last report is of the answer on the screen, so that its names are known.
    pub fn is_peak_report_of_answer(&self) -> bool {
        self.peak.known_at(self.revision).is_some()
    }

    /// Whether this was the last question about the answer on the screen.
    pub fn wants_peak_report(&self, ask: &PeakRequest) -> bool {
        self.peak.wants(self.revision, ask)
    }

    /// The last report as text; `None` where there is none of the answer on the screen.
    pub fn peak_text(&self) -> Option<String> {
        let (comparison, report) = self.peak_of_answer()?;
        Some(peak_text(&PeakAnswer {
            comparison,
            report,
            most: MOST_COPIED,
            baseline: None,
        }))
    }

    fn peak_of_answer(&self) -> Option<(&Arc<Comparison>, &Arc<PeakReport>)> {
        let (comparison, _) = self.answer.as_ref()?;
        Some((comparison, self.peak.known_at(self.revision)?.as_ref()?))
    }

    /// Writes the last report; the extension decides the format.
    pub(super) fn export_peak(&mut self, path: PathBuf) -> Result<(), Failure> {
        let answer = self.peak_of_answer();
        let (comparison, report) = answer.ok_or("no explained step to export yet; select a step")?;
        let name = path.display().to_string();
        let form = path.extension().and_then(|extension| extension.to_str());
        let form = form.map(str::to_ascii_lowercase);
        if !matches!(form.as_deref(), Some("json" | "csv" | "txt")) {
            return Err(format!("{name}: {PEAK_FORMS}").into());
        }
        let (comparison, report) = (Arc::clone(comparison), Arc::clone(report));
        self.write(path, move |out, _| {
            let answer = PeakAnswer {
                comparison: &comparison,
                report: &report,
                most: usize::MAX,
                baseline: None,
            };
            let text = peak_file(&name, &answer).ok_or_else(|| format!("{name}: {PEAK_FORMS}"))?;
            Ok(out.write_all(text.as_bytes())?)
        });
        Ok(())
    }
}
