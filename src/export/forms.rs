//! What can be written of an answer, and which name of a file asks for what.
//!
//! In: the name of a file, or the name of a form. Out: the form, or a sentence that lists all of them. The ending decides; where
//! an ending stands for several forms, a word of the name does (`plan.csv`, `resnet50-tensors.csv`, `trace.json`).

use std::path::Path;

use super::writer_of;

/// What is written of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExportForm {
    /// Options, environment, device, schedule and predicted peaks.
    Config,
    /// A page for people.
    Report,
    /// The lanes as a drawing or a picture.
    Timeline,
    /// The tensors of a lane as a table.
    Tensors,
    /// Where a static plan places what, as a table.
    Plan,
    /// Curves, ops and device events for trace viewers.
    Trace,
}

/// A form in words.
#[derive(Clone, Copy, Debug)]
pub struct ExportRow {
    /// The form.
    pub form: ExportForm,
    /// Its name on the command line, one word.
    pub name: &'static str,
    /// Which names of files ask for it, in words.
    pub names: &'static str,
    /// What it holds.
    pub summary: &'static str,
    /// What a file is called unless another name is given.
    pub usual: &'static str,
    /// Endings that it has, in lower case.
    pub endings: &'static [&'static str],
    /// The word that a name has, where other forms have the same ending.
    word: &'static str,
}

/// Every form, in the order of texts for users.
pub static EXPORT_FORMS: [ExportRow; 6] = [
    ExportRow {
        form: ExportForm::Config,
        name: "config",
        names: "*.json, *.py, *.sh",
        summary: "the configuration with the predicted peaks, as a Python script, or its variables as a shell script",
        usual: "highwater.json",
        endings: &["json", "py", "sh"],
        word: "",
    },
    ExportRow {
        form: ExportForm::Report,
        name: "report",
        names: "*.html",
        summary: "one page for people: comparison, pictures, where the peak comes from, findings, configuration",
        usual: "report.html",
        endings: &["html", "htm"],
        word: "",
    },
    ExportRow {
        form: ExportForm::Timeline,
        name: "timeline",
        names: "*.svg, *.png",
        summary: "curves and memory maps of the lanes, as a drawing or a picture",
        usual: "timeline.svg",
        endings: &["svg", "png"],
        word: "",
    },
    ExportRow {
        form: ExportForm::Tensors,
        name: "tensors",
        names: "*tensors.csv",
        summary: "a row per tensor of a run: bytes, op, shape, birth and end",
        usual: "tensors.csv",
        endings: &["csv"],
        word: "tensors",
    },
    ExportRow {
        form: ExportForm::Plan,
        name: "plan",
        names: "*plan.csv",
        summary: "a row per buffer of a static plan: birth and death, offset, size, region",
        usual: "plan.csv",
        endings: &["csv"],
        word: "plan",
    },
    ExportRow {
        form: ExportForm::Trace,
        name: "trace",
        names: "*trace.json",
        summary: "trace events for Perfetto and chrome://tracing: curves, ops, device calls",
        usual: "trace.json",
        endings: &["json"],
        word: "trace",
    },
];

impl ExportForm {
    /// The form in words.
    pub fn row(self) -> &'static ExportRow {
        let row = EXPORT_FORMS.iter().find(|row| row.form == self);
        row.expect("every form has a row")
    }

    /// The form of a name on the command line.
    ///
    /// # Errors
    /// A sentence with the names that there are.
    pub fn find(name: &str) -> Result<Self, String> {
        let row = EXPORT_FORMS.iter().find(|row| row.name == name.trim());
        row.map(|row| row.form).ok_or_else(|| {
            let known = EXPORT_FORMS.map(|row| row.name);
            format!("there is no form \"{name}\"; known: {}", known.join(", "))
        })
    }

    /// The form that the name of a file asks for.
    ///
    /// # Errors
    /// A sentence with all forms, where none or several are asked for.
    pub fn of_path(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let ending = ending(path);
        let words = words(path);
        let fitting = || EXPORT_FORMS.iter().filter(|row| has_ending(row, &ending));
        let named: Vec<&ExportRow> = fitting()
            .filter(|row| words.iter().any(|word| word == row.word))
            .collect();
        match named[..] {
            [row] => Ok(row.form),
            [] => {
                let plain = fitting().find(|row| row.word.is_empty());
                plain.map(|row| row.form).ok_or_else(|| {
                    let what = if fitting().next().is_some() {
                        "the name does not tell what to write"
                    } else {
                        "nothing is written under such a name"
                    };
                    format!("{shown}: {what}; {}", forms_sentence())
                })
            }
            _ => {
                let wanted: Vec<&str> = named.iter().map(|row| row.name).collect();
                let wanted = wanted.join(" and ");
                Err(format!("{shown}: the name asks for {wanted}; {}", forms_sentence()))
            }
        }
    }

    /// Whether a file of that name can hold the form: where the ending decides how it is written, it has to be one of these.
    ///
    /// # Errors
    /// A sentence with the endings that there are.
    pub fn check(self, path: &Path) -> Result<(), String> {
        let row = self.row();
        let can_hold = match self {
            Self::Config => writer_of(&path.display().to_string()).is_some(),
            Self::Timeline => has_ending(row, &ending(path)),
            Self::Report | Self::Tensors | Self::Plan | Self::Trace => true,
        };
        if can_hold {
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

/// The ending of a file in lower case; empty where it has none.
pub(super) fn ending(path: &Path) -> String {
    let ending = path
        .extension()
        .map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    ending.unwrap_or_default()
}

fn has_ending(row: &ExportRow, ending: &str) -> bool {
    // What scripts may be called besides is known where they are written.
    let is_script = row.form == ExportForm::Config && !ending.is_empty() && writer_of(&format!("x.{ending}")).is_some();
    is_script || row.endings.contains(&ending)
}

/// The words of a name without folders and ending, in lower case.
fn words(path: &Path) -> Vec<String> {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().to_lowercase());
    let stem = stem.unwrap_or_default();
    let words = stem.split(|letter: char| !letter.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// All forms in one sentence.
fn forms_sentence() -> String {
    let forms = EXPORT_FORMS.map(|row| format!("{} ({})", row.names, row.name));
    format!("forms are {}; --as NAME chooses one", forms.join(", "))
}

/// All forms, one a line, for the help of the command line.
pub fn export_forms_help() -> String {
    let mut help = String::from("The file to write; its name says what:\n");
    for row in &EXPORT_FORMS {
        help.push_str(&format!("- {} ({}): {}\n", row.names, row.name, row.summary));
    }
    help
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
