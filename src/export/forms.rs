//! The forms of exported files: names, texts for the window, and writers, a row each.
//!
//! The ending of a file's name decides the form; where several forms have the ending, a word of the name does (`plan.csv`,
//! `resnet50-tensors.csv`, `trace.json`).

use std::io::Write;
use std::path::Path;

use super::cells::GuardedCells;
use super::curves::curves_csv;
use super::file_names::{ending, words};
use super::peak_export::peak_form;
use super::placements::placements_csv;
use super::report::report_html;
use super::subject::{ExportError, ExportSubject};
use super::table::tensors_csv;
use super::timeline_file::timeline_file;
use super::trace::trace_json;
use highwater_model::progress::Progress;
use highwater_script::{ConfigExport, config_errors, is_written_name};
use highwater_timeline::TimelineParts;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExportForm {
    Config,
    Report,
    Timeline,
    Tensors,
    Plan,
    Curves,
    Trace,
    Peak,
}

/// The lanes of a file that the window writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportLanes {
    All,
    /// The visible lanes.
    Shown,
    /// The lane that was clicked last.
    One,
}

/// Writes the content of a file of that name.
pub type ExportWriter = fn(&ExportSubject, &Path, &mut dyn Write, &Progress<'_>) -> Result<(), ExportError>;

#[derive(Clone, Copy, Debug)]
pub struct ExportRow {
    pub form: ExportForm,
    /// The name on the command line.
    pub name: &'static str,
    /// Names of files of this form, for people.
    pub names: &'static str,
    pub summary: &'static str,
    /// The proposed name of a file.
    pub usual: &'static str,
    /// In lower case.
    pub endings: &'static [&'static str],
    /// A word that the name of a file has, where other forms have the same ending; may be empty.
    word: &'static str,
    /// Endings that decide the form without the word.
    plain: &'static [&'static str],
    /// Whether the ending decides how the file is written, so that no other ending is accepted.
    is_strict: bool,
    /// Entry and tooltip of the window's menu, and title of its dialog.
    pub entry: &'static str,
    pub tooltip: &'static str,
    pub title: &'static str,
    pub lanes: ExportLanes,
    pub write: ExportWriter,
}

/// Every form, in the order of texts for users.
pub const EXPORT_FORMS: [ExportRow; 8] = [
    ExportRow {
        form: ExportForm::Config,
        name: "config",
        names: "*.json, *.py, *.sh",
        summary: "the configuration with the predicted peaks, as a Python script, or its variables as a shell script",
        usual: "highwater.json",
        endings: &["json", "py", "sh"],
        word: "",
        plain: &["json", "py", "sh"],
        is_strict: true,
        entry: "Export configuration…",
        tooltip: "write options, environment, device, schedule and the predicted peaks as JSON; or options as Python, variables as a shell script",
        title: "Export configuration",
        lanes: ExportLanes::All,
        write: config_file,
    },
    ExportRow {
        form: ExportForm::Report,
        name: "report",
        names: "*.html",
        summary: "one page: comparison, pictures, causes of the peak, findings, configuration",
        usual: "report.html",
        endings: &["html", "htm"],
        word: "",
        plain: &["html", "htm"],
        is_strict: false,
        entry: "Export report…",
        tooltip: "write one page: comparison, pictures, causes of the peak, findings, configuration (HTML, no network \
                  needed)",
        title: "Export report",
        lanes: ExportLanes::All,
        write: report_html,
    },
    ExportRow {
        form: ExportForm::Timeline,
        name: "timeline",
        names: "*.svg, *.png",
        summary: "curves and memory maps of the lanes, as a drawing or a picture",
        usual: "timeline.svg",
        endings: &["svg", "png"],
        word: "",
        plain: &["svg", "png"],
        is_strict: true,
        entry: "Export timeline of lanes…",
        tooltip: "write curves and memory maps of the lanes that are shown, whole, as a drawing (SVG) or a picture (PNG)",
        title: "Export timeline of lanes",
        lanes: ExportLanes::Shown,
        write: timeline_file,
    },
    ExportRow {
        form: ExportForm::Tensors,
        name: "tensors",
        names: "*tensors.csv",
        summary: "a row per tensor of a run: bytes, op, shape, birth and end",
        usual: "tensors.csv",
        endings: &["csv"],
        word: "tensors",
        plain: &[],
        is_strict: false,
        entry: "Export tensors…",
        tooltip: "write every tensor of the selected lane: bytes, op, shape, birth and end (CSV)",
        title: "Export tensors",
        lanes: ExportLanes::One,
        write: tensors_csv,
    },
    ExportRow {
        form: ExportForm::Plan,
        name: "plan",
        names: "*plan.csv",
        summary: "a row per buffer of a static plan: birth and death, offset, size, region",
        usual: "plan.csv",
        endings: &["csv"],
        word: "plan",
        plain: &[],
        is_strict: false,
        entry: "Export plan…",
        tooltip: "write the static plan of the selected lane: offset, size, birth and end of each buffer (CSV)",
        title: "Export plan",
        lanes: ExportLanes::One,
        write: placements_csv,
    },
    ExportRow {
        form: ExportForm::Curves,
        name: "curves",
        names: "*curves.csv",
        summary: "a row per step on which a curve changes: reserved and live bytes of each lane",
        usual: "curves.csv",
        endings: &["csv"],
        word: "curves",
        plain: &[],
        is_strict: false,
        entry: "Export curves…",
        tooltip: "write reserved and live bytes of the lanes that are shown, a row per step on which one changes (CSV)",
        title: "Export curves",
        lanes: ExportLanes::Shown,
        write: curves_csv,
    },
    ExportRow {
        form: ExportForm::Trace,
        name: "trace",
        names: "*trace.json",
        summary: "trace events for Perfetto and chrome://tracing: curves, ops, device calls",
        usual: "trace.json",
        endings: &["json"],
        word: "trace",
        plain: &[],
        is_strict: false,
        entry: "Export trace for Perfetto…",
        tooltip: "write curves, ops and device calls of the lanes that are shown as trace events, for Perfetto and chrome://tracing (JSON)",
        title: "Export trace",
        lanes: ExportLanes::Shown,
        write: trace_json,
    },
    ExportRow {
        form: ExportForm::Peak,
        name: "peak",
        names: "*peak.csv, .md, .json, .svg; *.folded",
        summary: "the live tensors at the peak: every one (CSV), a page (Markdown), everything (JSON), a flame graph (SVG) or folded stacks",
        usual: "peak.csv",
        endings: &["csv", "md", "json", "svg", "folded"],
        word: "peak",
        plain: &["folded"],
        is_strict: true,
        entry: "Export live tensors…",
        tooltip: "Write the live tensors of the step in the Peak tab: .csv tensors, .md page, .json everything, .txt text",
        title: "Export live tensors",
        lanes: ExportLanes::One,
        write: peak_form,
    },
];

impl ExportForm {
    pub fn row(self) -> &'static ExportRow {
        const ROWS: &[ExportRow] = &EXPORT_FORMS;
        let row = ROWS.iter().find(|row| row.form == self);
        row.expect("every form has a row")
    }

    /// The parts of a timeline that its writer reads.
    pub const fn timeline_parts(self) -> TimelineParts {
        match self {
            Self::Config | Self::Tensors | Self::Curves | Self::Trace | Self::Peak => TimelineParts::Rows,
            Self::Report | Self::Timeline | Self::Plan => TimelineParts::Drawing,
        }
    }

    /// The form of a name on the command line.
    ///
    /// # Errors
    /// A sentence with all names.
    pub fn find(name: &str) -> Result<Self, String> {
        let row = EXPORT_FORMS.iter().find(|row| row.name == name.trim());
        row.map(|row| row.form).ok_or_else(|| {
            let known = EXPORT_FORMS.map(|row| row.name);
            format!("unknown form \"{name}\"; known: {}", known.join(", "))
        })
    }

    /// The form of a file by its name.
    ///
    /// # Errors
    /// A sentence with all forms, where the name is of none or of several.
    pub fn of_path(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let ending = ending(path);
        let words = words(path);
        let fitting = || EXPORT_FORMS.iter().filter(|row| row.has_ending(&ending));
        let named: Vec<&ExportRow> = fitting()
            .filter(|row| words.iter().any(|word| word == row.word))
            .collect();
        match named[..] {
            [row] => Ok(row.form),
            [] => {
                let plain = fitting().find(|row| row.is_plain(&ending));
                plain.map(|row| row.form).ok_or_else(|| {
                    let what = if fitting().next().is_some() {
                        "the name does not decide the form"
                    } else {
                        "no form has this ending"
                    };
                    format!("{shown}: {what}; {}", forms_sentence())
                })
            }
            [_, _, ..] => {
                let wanted: Vec<&str> = named.iter().map(|row| row.name).collect();
                let wanted = wanted.join(" and ");
                Err(format!("{shown}: the name asks for {wanted}; {}", forms_sentence()))
            }
        }
    }

    /// Refuses a file whose ending the form does not have, where the ending decides how the file is written.
    ///
    /// # Errors
    /// A sentence with the endings of the form.
    pub fn check(self, path: &Path) -> Result<(), String> {
        let row = self.row();
        let is_script = self == Self::Config && is_written_name(&path.display().to_string());
        if !row.is_strict || is_script || row.has_ending(&ending(path)) {
            return Ok(());
        }
        let endings: Vec<String> = row.endings.iter().map(|ending| format!(".{ending}")).collect();
        let shown = path.display();
        let endings = endings.join(", ");
        Err(format!(
            "{shown}: a {} is written to a file that ends in {endings}",
            row.name
        ))
    }
}

impl ExportSubject {
    /// Writes the content of a file, piece by piece; cells of tables are guarded.
    ///
    /// # Errors
    /// [`ExportError`]: no content of this form, cancelled, or the error of `out`.
    pub fn write(
        &self,
        form: ExportForm,
        path: &Path,
        out: &mut dyn Write,
        progress: &Progress<'_>,
    ) -> Result<(), ExportError> {
        if !form.row().is_table(path) {
            return self.write_raw(form, path, out, progress);
        }
        let mut cells = GuardedCells::new(out);
        self.write_raw(form, path, &mut cells, progress)?;
        Ok(cells.flush()?)
    }

    /// [`Self::write`] with cells of tables as they are.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn write_raw(
        &self,
        form: ExportForm,
        path: &Path,
        out: &mut dyn Write,
        progress: &Progress<'_>,
    ) -> Result<(), ExportError> {
        form.check(path)?;
        (form.row().write)(self, path, out, progress)
    }

    /// The content of a file.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn file(&self, form: ExportForm, path: &Path, progress: &Progress<'_>) -> Result<Vec<u8>, ExportError> {
        let mut bytes = Vec::new();
        self.write(form, path, &mut bytes, progress)?;
        Ok(bytes)
    }
}

/// The one file of a configuration; several files are written through [`ConfigExport`].
fn config_file(
    subject: &ExportSubject,
    path: &Path,
    out: &mut dyn Write,
    _progress: &Progress<'_>,
) -> Result<(), ExportError> {
    let about = &subject.about;
    let errors = config_errors(&about.findings, &about.diagnostics);
    let export = ConfigExport::new(&about.configuration, path, errors)?;
    if let Some(refusal) = export.refusal(false) {
        return Err(refusal.message.into());
    }
    match &export.files[..] {
        [file] => Ok(out.write_all(file.text.as_bytes())?),
        files => Err(format!("this configuration has {} files; use Export configuration", files.len()).into()),
    }
}

impl ExportRow {
    fn has_ending(&self, ending: &str) -> bool {
        self.is_script(ending) || self.endings.contains(&ending)
    }

    /// Whether the ending decides the form without a word.
    fn is_plain(&self, ending: &str) -> bool {
        self.is_script(ending) || self.plain.contains(&ending)
    }

    /// Scripts have more endings than those that are proposed.
    fn is_script(&self, ending: &str) -> bool {
        self.form == ExportForm::Config && !ending.is_empty() && is_written_name(&format!("x.{ending}"))
    }

    /// Whether the content of a file is CSV.
    fn is_table(&self, path: &Path) -> bool {
        self.endings == ["csv"] || self.endings.contains(&"csv") && ending(path) == "csv"
    }
}

/// All forms in one sentence.
fn forms_sentence() -> String {
    let forms = EXPORT_FORMS.map(|row| format!("{} ({})", row.names, row.name));
    format!("forms are {}; --as NAME chooses one", forms.join(", "))
}

/// The help of `--as`.
pub fn export_form_help() -> String {
    let [names @ .., last] = EXPORT_FORMS.map(|row| row.name);
    format!("Form: {} or {last}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::ExportForm;

    #[test]
    fn names_of_files_say_what_is_written() {
        let cases = [
            ("out.json", Some(ExportForm::Config)),
            ("a/trace/out.JSON", Some(ExportForm::Config)),
            ("out.py", Some(ExportForm::Config)),
            ("run.sh", Some(ExportForm::Config)),
            ("trace.json", Some(ExportForm::Trace)),
            ("resnet50_trace.json", Some(ExportForm::Trace)),
            ("tracer.json", Some(ExportForm::Config)),
            ("report.html", Some(ExportForm::Report)),
            ("x.HTM", Some(ExportForm::Report)),
            ("timeline.svg", Some(ExportForm::Timeline)),
            ("plan.png", Some(ExportForm::Timeline)),
            ("tensors.csv", Some(ExportForm::Tensors)),
            ("my-Tensors.csv", Some(ExportForm::Tensors)),
            ("run.1.plan.csv", Some(ExportForm::Plan)),
            ("run.folded", Some(ExportForm::Peak)),
            ("peak.svg", Some(ExportForm::Peak)),
            ("rank0-peak.csv", Some(ExportForm::Peak)),
            ("peak.md", Some(ExportForm::Peak)),
            ("Peak.JSON", Some(ExportForm::Peak)),
            ("peaks.svg", Some(ExportForm::Timeline)),
            ("notes.md", None),
            ("plan-of-tensors.csv", None),
            ("out.csv", None),
            ("out", None),
            ("plan", None),
            ("report.pdf", None),
        ];
        for (name, form) in cases {
            let found = ExportForm::of_path(Path::new(name));
            assert_eq!(found.as_ref().ok().copied(), form, "{name}: {found:?}");
            if let Err(message) = found {
                assert!(
                    message.starts_with(name) && message.contains("*plan.csv (plan)"),
                    "{message}"
                );
            }
        }
        for (form, name, can) in [
            (ExportForm::Timeline, "x.jpg", false),
            (ExportForm::Timeline, "x.PNG", true),
            (ExportForm::Config, "x.csv", false),
            (ExportForm::Plan, "x.txt", true),
        ] {
            assert_eq!(form.check(Path::new(name)).is_ok(), can, "{name}");
        }
    }
}
