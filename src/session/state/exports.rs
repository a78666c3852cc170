//! Files of the answer on the screen: asked of the worker, written in order, stopped by the user alone.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::super::command_line::{CommandLine, Origin};
use super::super::export::{ExportOrder, export_about};
use super::super::jobs::{Answer, Job};
use super::{Notice, Session};
use highwater_analysis::LaneId;
use highwater_export::{ExportForm, ExportSubject};
use highwater_model::diagnostics::Diagnostics;
use highwater_options::check_scheduled;
use highwater_timeline::AxisKind;

/// A file that is being written.
#[derive(Clone, Debug, PartialEq)]
pub struct Exporting {
    generation: u64,
    /// What it is.
    pub form: ExportForm,
    /// Where.
    pub path: PathBuf,
    /// The stage's name; empty before the first.
    pub stage: &'static str,
    /// 0.0 to 1.0.
    pub fraction: f32,
}

impl Session {
    /// The file of the answer that is being written, if any.
    pub fn exporting(&self) -> Option<&Exporting> {
        self.exporting.first()
    }

    /// Writes a file of the answer on the screen.
    pub(super) fn export(&mut self, form: ExportForm, path: PathBuf, lanes: Option<&[LaneId]>) {
        if let Err(why) = form.check(&path) {
            self.notice = Some(Notice::Failed(why));
            return;
        }
        let Some(subject) = self.export_subject(lanes) else {
            let message = "nothing is worked out yet, so there is nothing to write".to_owned();
            self.notice = Some(Notice::Failed(message));
            return;
        };
        self.notice = None;
        let order = ExportOrder {
            form,
            path: path.clone(),
            subject,
        };
        let generation = self.send_write(Job::Export(Box::new(order)));
        self.exporting.push(Exporting {
            generation,
            form,
            path,
            stage: "",
            fraction: 0.0,
        });
    }

    /// The answer with the settings that it is of, which may be older than those on the screen.
    fn export_subject(&self, lanes: Option<&[LaneId]>) -> Option<ExportSubject> {
        let (comparison, timeline) = self.answer.as_ref()?;
        let document = self.answered.as_ref().unwrap_or(&self.document);
        let position = |id: &LaneId| comparison.lanes.iter().position(|lane| lane.id == *id);
        let findings = check_scheduled(&document.options, &document.environment, &*self.files, &document.plan);
        let path = self.file_path().filter(|_| !self.file.gives_way);
        let name = path.and_then(Path::file_name).and_then(OsStr::to_str);
        let origin = Origin {
            file: name.zip(self.file.saved()),
            folder: path.and_then(Path::parent),
            runs_there: true,
            pins: &[],
        };
        let line = CommandLine::new(document, origin);
        let about = export_about(
            document,
            &line,
            comparison,
            self.loaded.as_ref(),
            findings,
            self.export_diagnostics(),
        );
        Some(ExportSubject {
            comparison: Arc::clone(comparison),
            timeline: Arc::clone(timeline),
            lanes: lanes.map(|lanes| lanes.iter().filter_map(position).collect()),
            axis: AxisKind::Order,
            look: self.look(),
            about,
        })
    }

    /// What was odd in files and configurations, and what was assumed.
    fn export_diagnostics(&self) -> Diagnostics {
        let mut all = Diagnostics::new();
        if let Some(loaded) = &self.loaded {
            all.extend(&loaded.diagnostics);
        }
        for (name, remarks) in &self.remarks {
            all.extend(&remarks.prefixed(name));
        }
        for symbol in &self.assumed {
            let message = format!("dimension \"{symbol}\" has no value, 1 is assumed");
            all.warning(message, "schedule");
        }
        all
    }

    /// Stops what is not written yet.
    pub(super) fn stop_exports(&mut self) {
        self.worker.cancel_exports();
    }

    /// Takes what the worker says about a file; gives back what is about something else.
    pub(super) fn take_export(&mut self, generation: u64, answer: Answer) -> Option<Answer> {
        let position = self.exporting.iter().position(|file| file.generation == generation);
        let Some(position) = position else { return Some(answer) };
        if let Answer::Progress { stage, fraction } = answer {
            let file = &mut self.exporting[position];
            (file.stage, file.fraction) = (stage, fraction);
            return None;
        }
        let file = self.exporting.remove(position);
        self.notice = Some(match answer {
            Answer::Written(path) => {
                let place = std::path::absolute(&path).unwrap_or(path);
                Notice::Done(format!("saved {}", place.display()))
            }
            Answer::Failed(message) => Notice::Failed(message),
            _ => Notice::Done(format!("stopped; {} is not written", file.path.display())),
        });
        None
    }
}
