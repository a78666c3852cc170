//! Files of the answer on the screen. The worker writes them in order; only the user stops them.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::super::command_line::{CommandLine, Origin};
use super::super::export::export_about;
use super::super::overwrite::OutputKind;
use super::super::special_files::special_kind;
use super::super::task::{Failure, Outcome, TaskKind};
use super::super::write::write_pieces;
use super::super::write_config::write_config;
use super::{Notice, Session};
use highwater_analysis::{LaneId, with_figures};
use highwater_export::{
    Answer as _, ExportError, ExportForm, ExportSubject, FLAME_FORMS, FlameAnswer, GuardedCells, LaneDrawing,
    PEAK_FORMS, PeakAnswer, SvgColors, flame_file, lane_svg, peak_file, table_csv,
};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::Progress;
use highwater_options::check_scheduled;
use highwater_script::ConfigExport;
use highwater_timeline::{AxisKind, Viewport};

/// The number of tensors in a copied text.
const MOST_COPIED: usize = 100;

/// A file that is being written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exporting<'a> {
    pub path: &'a Path,
    /// Empty before the first.
    pub stage: &'static str,
    /// 0.0 to 1.0.
    pub fraction: f32,
}

#[derive(Clone, Debug, PartialEq)]
pub struct LaneInView {
    pub viewport: Viewport,
    /// Steps where the answer has no such times.
    pub axis: AxisKind,
    /// In points.
    pub size: (f64, f64),
    pub colors: SvgColors,
}

fn absolute(path: &Path) -> String {
    let place = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    place.display().to_string()
}

impl Session {
    pub fn exporting(&self) -> Option<Exporting<'_>> {
        let path = self.exporting.front()?;
        let (stage, fraction) = self.worker.progress(TaskKind::Export).unwrap_or_default();
        Some(Exporting { path, stage, fraction })
    }

    /// Writes a file whose bytes the worker makes.
    pub(super) fn write(
        &mut self,
        path: PathBuf,
        make: impl FnOnce(&mut dyn Write, &Progress<'_>) -> Result<(), ExportError> + Send + 'static,
    ) {
        self.write_as(path, OutputKind::Other, make);
    }

    fn write_as(
        &mut self,
        path: PathBuf,
        written: OutputKind,
        make: impl FnOnce(&mut dyn Write, &Progress<'_>) -> Result<(), ExportError> + Send + 'static,
    ) {
        self.exporting.push_back(path.clone());
        let read = self.read_files();
        let target = path.clone();
        let work = move |progress: &Progress<'_>| {
            read.refuse(&target, written)?;
            let write = |out: &mut dyn Write| {
                // It may have waited for the reader of a pipe.
                progress.check()?;
                make(out, progress)?;
                // After a cancel nothing is written; what is written from here on is not cancelled.
                Ok(progress.commit()?)
            };
            Ok(write_pieces(&target, write)?)
        };
        self.worker.send(TaskKind::Export, work, move |session, outcome| {
            session.exporting.pop_front();
            let told = match outcome {
                Outcome::Done(()) => format!("saved {}", absolute(&path)),
                Outcome::Failed(_) => return,
                Outcome::Cancelled if special_kind(&path).is_some() => {
                    format!("stopped; {} may have got a part", path.display())
                }
                Outcome::Cancelled => format!("stopped; {} is not written", path.display()),
            };
            session.notice = Some(Notice::Done(told));
        });
    }

    /// Writes the files of a configuration.
    pub(super) fn write_config(&mut self, export: ConfigExport) {
        let files: Vec<String> = export.files.iter().map(|file| absolute(&file.path)).collect();
        let notes = export.notes.iter().map(|note| format!("; {note}"));
        let told = format!("saved {}{}", files.join(" and "), notes.collect::<String>());
        let read = self.read_files();
        self.run(
            TaskKind::WriteConfig,
            move |_| write_config(&export, &read).map_err(|error| Failure(error.to_string())),
            |session, ()| session.notice = Some(Notice::Done(told)),
        );
    }

    /// Writes a text whose form the extension decides: one of `endings`, which `forms` lists for people.
    fn write_form(
        &mut self,
        path: PathBuf,
        (endings, forms): (&[&str], &'static str),
        text: impl FnOnce(&str) -> Option<String> + Send + 'static,
    ) -> Result<(), Failure> {
        let name = path.display().to_string();
        let ending = path.extension().and_then(OsStr::to_str);
        if !ending.is_some_and(|ending| endings.iter().any(|known| known.eq_ignore_ascii_case(ending))) {
            return Err(format!("{name}: {forms}").into());
        }
        self.write(path, move |out, _| {
            let text = text(&name).ok_or_else(|| format!("{name}: {forms}"))?;
            Ok(out.write_all(text.as_bytes())?)
        });
        Ok(())
    }

    /// Writes the last report on a peak.
    pub(super) fn export_peak(&mut self, path: PathBuf) -> Result<(), Failure> {
        let found = self.answers.pair().cloned().zip(self.peak_report().current().cloned());
        let ((comparison, _), report) = found.ok_or("no explained step to export yet; select a step")?;
        self.write_form(path, (&["json", "csv", "md", "txt"], PEAK_FORMS), move |name| {
            peak_file(name, &PeakAnswer::new(&comparison, &report, usize::MAX))
        })
    }

    /// The last report on a peak as text; `None` where there is none of the answer on the screen.
    pub fn peak_text(&self) -> Option<String> {
        let comparison = self.answers.comparison()?;
        let report = self.peak_report().current()?;
        Some(PeakAnswer::new(comparison, report, MOST_COPIED).page().text())
    }

    /// Writes the last flame graph.
    pub(super) fn export_flame(&mut self, path: PathBuf) -> Result<(), Failure> {
        let found = self.answers.pair().cloned().zip(self.flame_graph().current().cloned());
        let ((comparison, _), graph) = found.ok_or("no flame graph to export yet; open the Flame tab")?;
        self.write_form(path, (&["svg", "folded", "txt"], FLAME_FORMS), move |name| {
            let answer = FlameAnswer {
                comparison: &comparison,
                graph: &graph,
                most: None,
            };
            flame_file(name, &answer)
        })
    }

    /// Writes the table that is shown.
    pub(super) fn export_table(&mut self, path: PathBuf) -> Result<(), Failure> {
        let table = self.table().last().cloned();
        let table = table.ok_or("no table to export yet; open the pane Tables (X)")?;
        self.write(path, move |out, progress| {
            let mut cells = GuardedCells::new(out);
            table_csv(&table, &mut cells, progress)?;
            Ok(cells.flush()?)
        });
        Ok(())
    }

    pub(super) fn export(&mut self, form: ExportForm, path: PathBuf, lanes: Option<&[LaneId]>) -> Result<(), Failure> {
        form.check(&path)?;
        let subject = self.export_subject(lanes);
        let subject = subject.ok_or("no result to export yet; wait for the comparison")?;
        self.notice = None;
        let target = path.clone();
        self.write_as(path, form.into(), move |out, progress| {
            subject.write(form, &target, out, progress)
        });
        Ok(())
    }

    pub(super) fn draw_lane(&mut self, path: PathBuf, lane: LaneId, view: LaneInView) -> Result<(), Failure> {
        let found = self.answers.pair().cloned().and_then(|(comparison, timeline)| {
            let lane = comparison.position(lane)?;
            Some((comparison, timeline, lane))
        });
        let (comparison, timeline, lane) = found.ok_or("no such lane")?;
        let look = self.look();
        self.write(path, move |out, _| {
            let text = lane_svg(&LaneDrawing {
                comparison: &comparison,
                timeline: &timeline,
                lane,
                viewport: view.viewport,
                axis: view.axis,
                size: view.size,
                colors: &view.colors,
                look: Some(&look),
                most_shapes: None,
            })?;
            Ok(out.write_all(text.as_bytes())?)
        });
        Ok(())
    }

    /// The answer with its settings, which may be older than those of the document.
    fn export_subject(&self, lanes: Option<&[LaneId]>) -> Option<ExportSubject> {
        let (comparison, timeline) = self.answer()?;
        let document = &self
            .schedule
            .complete(self.answers.document().unwrap_or(&self.document));
        let position = |id: &LaneId| comparison.position(*id);
        let findings = check_scheduled(
            &document.options,
            &document.environment,
            &**self.judged.files(),
            &document.plan,
        );
        let findings = with_figures(findings, comparison);
        let path = self.file_path().filter(|_| !self.file.gives_way);
        let name = path.and_then(Path::file_name).and_then(OsStr::to_str);
        let origin = Origin {
            file: name.zip(self.file.saved()),
            folder: path.and_then(Path::parent),
            names_outside: self.file.outside.is_some(),
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

    /// Remarks on files and configurations, and assumptions.
    fn export_diagnostics(&self) -> Diagnostics {
        let mut all = Diagnostics::new();
        if let Some(loaded) = &self.loaded {
            all.extend(&loaded.diagnostics);
        }
        for (name, remarks) in &*self.remarks {
            all.extend(&remarks.prefixed(name));
        }
        for symbol in self.assumed_dims() {
            let message = format!("dimension \"{symbol}\" has no value, 1 is assumed");
            all.warning(message, "schedule");
        }
        all
    }
}
