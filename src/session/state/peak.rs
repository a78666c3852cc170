//! Steps explained: asking the worker, taking what it says, and writing it to a file.

use std::path::PathBuf;
use std::sync::Arc;

use super::super::jobs::{Answer, Job};
use super::{Notice, Session};
use highwater_export::{PEAK_FORMS, PeakAnswer, peak_text};
use highwater_timeline::{PeakReport, PeakRequest};

/// How many tensors a copied text lists.
const MOST_COPIED: usize = 100;

impl Session {
    /// The last report that was worked out; perhaps of something else than what was asked last (see
    /// [`Self::has_peak_report`]).
    pub fn peak_report(&self) -> Option<&Arc<PeakReport>> {
        let (_, report) = self.peak.known.as_ref()?;
        report.as_ref()
    }

    /// Whether what was worked out last answers this question about the answer on the screen.
    pub fn has_peak_report(&self, ask: &PeakRequest) -> bool {
        let key = (self.n_answers, *ask);
        self.peak.known.as_ref().is_some_and(|(known, _)| *known == key)
    }

    /// Whether the last report is of the answer on the screen, so that its names are known.
    pub fn is_peak_report_of_answer(&self) -> bool {
        let known = self.peak.known.as_ref();
        known.is_some_and(|((number, _), _)| *number == self.n_answers)
    }

    /// Whether this was asked last about the answer on the screen.
    pub fn wants_peak_report(&self, ask: &PeakRequest) -> bool {
        self.peak.wanted == Some((self.n_answers, *ask))
    }

    /// The last report as text; `None` where there is none of the answer on the screen.
    pub fn peak_text(&self) -> Option<String> {
        let (comparison, _) = self.answer.as_ref()?;
        let report = self.peak_report().filter(|_| self.is_peak_report_of_answer())?;
        Some(peak_text(&PeakAnswer {
            comparison,
            report,
            most: MOST_COPIED,
        }))
    }

    /// Wants a report; what was wanted before and is not worked out yet is forgotten.
    pub(super) fn want_peak(&mut self, ask: PeakRequest) {
        self.peak.wanted = Some((self.n_answers, ask));
        self.next_peak();
    }

    fn next_peak(&mut self) {
        let Some((number, ask)) = self.peak.next() else {
            return;
        };
        let Some((comparison, _)) = self.answer.as_ref().filter(|_| number == self.n_answers) else {
            return;
        };
        let comparison = Arc::clone(comparison);
        let generation = self.worker.send(Job::Peak { comparison, ask });
        self.peak.asked = Some(((number, ask), generation));
    }

    /// Takes what the worker says about a step; gives back what is about something else.
    pub(super) fn take_peak(&mut self, generation: u64, answer: Answer) -> Option<Answer> {
        let Some((key, _)) = self.peak.asked.filter(|(_, asked)| *asked == generation) else {
            return Some(answer);
        };
        match answer {
            Answer::Progress { .. } => return None,
            Answer::Peak(report) => self.peak.known = Some((key, report)),
            Answer::Failed(message) => {
                // It would fail again.
                self.peak.wanted = None;
                self.notice = Some(Notice::Failed(message));
            }
            _ => {}
        }
        self.peak.asked = None;
        self.next_peak();
        None
    }

    /// Writes the last report, in the form that the extension says.
    pub(super) fn export_peak(&mut self, path: PathBuf) {
        let report = self.peak_report().filter(|_| self.is_peak_report_of_answer());
        let known = report.cloned().zip(self.answer.as_ref());
        let Some((report, (comparison, _))) = known else {
            self.notice = Some(Notice::Failed("there is no explained step to write yet".to_owned()));
            return;
        };
        let form = path.extension().and_then(|extension| extension.to_str());
        let form = form.map(str::to_ascii_lowercase);
        if !matches!(form.as_deref(), Some("json" | "csv" | "txt")) {
            self.notice = Some(Notice::Failed(format!("{}: {PEAK_FORMS}", path.display())));
            return;
        }
        self.send_write(Job::WritePeak {
            path,
            comparison: Arc::clone(comparison),
            report,
        });
    }
}
