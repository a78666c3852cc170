//! Exports of an answer: every form of every kind of answer, well-formed, escaped, deterministic.

mod again;
mod marks;
mod page;
mod placements;
mod trace;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use highwater::analysis::Comparison;
use highwater::export::{ExportAbout, ExportError, ExportForm, ExportSubject};
use highwater::progress::{Cancel, Progress};
use highwater::session::{Command, Document, EXPORT_FORMS, Notice, Session, SourceSpec, Worker, sample};
use highwater::timeline::{AxisKind, Timeline};
use highwater::workload::DeviceProfiles;

use crate::cli::{Place, fails, run, text_of};
use crate::{synthetic, synthetic_remat};

/// An answer without a session.
pub(crate) fn subject(comparison: Comparison) -> ExportSubject {
    let timeline = Timeline::new(&comparison);
    ExportSubject {
        comparison: Arc::new(comparison),
        timeline: Arc::new(timeline),
        lanes: None,
        axis: AxisKind::Order,
        look: Arc::default(),
        about: ExportAbout::default(),
    }
}

pub(crate) fn file(subject: &ExportSubject, form: ExportForm, name: &str) -> Result<Vec<u8>, ExportError> {
    let cancel = Cancel::new();
    subject.file(form, Path::new(name), &Progress::silent(&cancel))
}

#[track_caller]
pub(crate) fn text(subject: &ExportSubject, form: ExportForm, name: &str) -> String {
    let bytes = file(subject, form, name).unwrap();
    assert_eq!(
        file(subject, form, name).unwrap(),
        bytes,
        "{name} is the same every time"
    );
    String::from_utf8(bytes).unwrap()
}

fn session(sources: Vec<SourceSpec>) -> Session {
    let worker = Worker::start(|| {}).unwrap();
    let mut session = Session::new(Document::new(sources), DeviceProfiles::bundled().unwrap(), worker);
    session.settle();
    session
}

fn export(session: &mut Session, form: ExportForm, path: PathBuf) {
    session.apply(Command::Export {
        form,
        path,
        lanes: None,
    });
}

/// The text of a file that the command line writes.
#[track_caller]
fn exported(place: &Place, arguments: &[&str], name: &str) -> String {
    text_of(&[&["export"], arguments, &["--to", &place.at(name)]].concat(), 0);
    place.read(name)
}

/// A file of every form with every ending.
fn names() -> impl Iterator<Item = (ExportForm, String)> {
    EXPORT_FORMS.iter().flat_map(|row| {
        let stem = row.usual.split('.').next().unwrap_or_default();
        let endings = row.endings.iter();
        endings.map(move |ending| (row.form, format!("{stem}.{ending}")))
    })
}

/// The answer of a sample.
pub(crate) fn sample_subject(name: &str) -> ExportSubject {
    let session = session(vec![SourceSpec::Sample(sample(name).unwrap())]);
    let (comparison, _) = session.answer().unwrap();
    subject((**comparison).clone())
}

#[test]
fn the_window_and_the_command_line_write_the_same_files() {
    for name in ["mobilenet", "lenet", "measured"] {
        let folder = tempfile::tempdir().unwrap();
        let mut session = session(vec![SourceSpec::Sample(sample(name).unwrap())]);
        for (form, file) in names() {
            assert_eq!(ExportForm::of_path(Path::new(&file)), Ok(form));
            let [ours, theirs] = ["window-", "command-"].map(|who| folder.path().join(format!("{who}{file}")));
            export(&mut session, form, ours.clone());
            assert_eq!(session.exporting().map(|known| known.path), Some(&*ours));
            session.settle();
            assert!(session.exporting().is_none());
            let output = run(&["export", &format!("sample:{name}"), "--to", theirs.to_str().unwrap()]);
            let error = String::from_utf8_lossy(&output.stderr);
            if file.ends_with(".sh") {
                // No sample sets a variable.
                let notice = session.notice().cloned();
                let words = "has only environment variables";
                assert_eq!(output.status.code(), Some(1), "{error}");
                assert!(error.contains(words), "{error}");
                assert!(
                    matches!(&notice, Some(Notice::Failed(text)) if text.contains(words)),
                    "{notice:?}"
                );
                assert!(!ours.exists() && !theirs.exists());
                continue;
            }
            if form == ExportForm::Plan && name == "measured" {
                assert_eq!(output.status.code(), Some(2));
                assert!(error.contains("no static plan to export: a recording"), "{error}");
                let notice = session.notice().cloned();
                assert!(
                    matches!(&notice, Some(Notice::Failed(text)) if text.contains("a recording")),
                    "{notice:?}"
                );
                assert!(!ours.exists() && !theirs.exists());
                continue;
            }
            assert_eq!(output.status.code(), Some(0), "{name} {file}: {error}");
            let notice = session.notice().cloned();
            assert!(
                matches!(&notice, Some(Notice::Done(text)) if text.starts_with("saved ")),
                "{notice:?}"
            );
            let (ours, theirs) = (std::fs::read(ours).unwrap(), std::fs::read(theirs).unwrap());
            assert!(!ours.is_empty() || file == "config.sh", "{name} {file}");
            assert!(ours == theirs, "{name} {file} differs");
        }
    }
}

#[test]
fn a_peak_is_the_same_file_from_peak_and_from_export() {
    let place = Place::new();
    for sample in ["sample:measured", "sample:lenet"] {
        for (name, format) in [
            ("rank0-peak.csv", "csv"),
            ("rank0-peak.md", "markdown"),
            ("rank0-peak.json", "json"),
            ("rank0-peak.svg", "svg"),
            ("rank0.folded", "folded"),
        ] {
            let file = exported(&place, &[sample], name);
            let printed = text_of(&["peak", sample, "--format", format], 0);
            assert_eq!(file.trim_end(), printed.trim_end(), "{sample}, {name}");
        }
    }
    let page = place.read("rank0-peak.md");
    assert!(page.contains("| by role | "), "{page}");
    fails(
        &["peak", "sample:lenet", "--tree", "--format", "markdown"],
        "--tree is written as",
    );
}

#[test]
fn answers_of_every_kind_have_every_form() {
    let budget = synthetic_remat::comparison(8, synthetic_remat::End::Whole);
    for (what, comparison) in [("policies", synthetic::comparison(12, 2)), ("budgets", budget)] {
        let subject = subject(comparison);
        for row in &EXPORT_FORMS {
            let made = file(&subject, row.form, row.usual);
            let is_refused = row.form == ExportForm::Plan && subject.comparison.lanes[0].plans.is_empty();
            assert_eq!(made.is_err(), is_refused, "{what}, {}: {:?}", row.name, made.err());
        }
    }
}

#[test]
fn lanes_are_stacked_in_one_drawing() {
    let mut subject = subject(synthetic::comparison(20, 1));
    let all = text(&subject, ExportForm::Timeline, "t.svg");
    page::well_formed(&all);
    let n_lanes = subject.comparison.lanes.len();
    assert_eq!(all.matches("<svg ").count(), n_lanes + 1);
    for lane in 0..n_lanes {
        assert_eq!(all.matches(&format!("id=\"map{lane}-0-")).count(), 1, "lane {lane}");
    }
    subject.lanes = Some(vec![2]);
    let one = text(&subject, ExportForm::Timeline, "t.svg");
    assert_eq!(one.matches("<svg ").count(), 1);
    assert!(one.contains(": policy 3</title>"), "{}", &one[..400]);
    let png = file(&subject, ExportForm::Timeline, "t.png").unwrap();
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    assert_eq!(&png[16..24], &[0, 0, 9, 96, 0, 0, 4, 176], "2400 by 1200 pixels");
    assert_eq!(file(&subject, ExportForm::Timeline, "t.png").unwrap(), png);
    subject.lanes = Some(Vec::new());
    assert!(file(&subject, ExportForm::Timeline, "t.svg").is_err());
    assert!(file(&subject, ExportForm::Report, "r.html").is_err());
}

#[test]
fn a_cancelled_file_is_not_written() {
    let subject = subject(synthetic::comparison(12, 2));
    let cancel = Cancel::new();
    cancel.cancel();
    for row in &EXPORT_FORMS {
        let made = subject.file(row.form, Path::new(row.usual), &Progress::silent(&cancel));
        // A configuration is short, and this answer has no plan.
        let is_short = matches!(row.form, ExportForm::Config | ExportForm::Plan);
        let is_cancelled = matches!(made, Err(ExportError::Cancelled(_)));
        assert!(is_cancelled || is_short, "{} goes on: call progress.check()", row.name);
    }
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(vec![SourceSpec::Sample(sample("mixed").unwrap())]);
    for _ in 0..3 {
        export(&mut session, ExportForm::Report, folder.path().join("report.html"));
    }
    session.apply(Command::Cancel);
    session.settle();
    let notice = session.notice().cloned();
    assert!(
        matches!(&notice, Some(Notice::Done(text)) if text.starts_with("stopped; ")),
        "{notice:?}"
    );
    assert!(session.exporting().is_none());
    // Whenever the cancel comes, what the notice says is so.
    for _ in 0..60 {
        for is_document in [false, true] {
            let path = folder.path().join(if is_document { "d.highwater" } else { "t.csv" });
            if is_document {
                session.apply(Command::OverwriteDocument {
                    path: path.clone(),
                    view: None,
                });
            } else {
                export(&mut session, ExportForm::Tensors, path.clone());
            }
            session.apply(Command::Cancel);
            session.settle();
            let notice = session.notice().cloned();
            let is_stopped = match &notice {
                Some(Notice::Done(text)) => text.starts_with("stopped; "),
                Some(Notice::Failed(text)) => text.ends_with("not saved, it was cancelled"),
                None => false,
            };
            assert_eq!(path.exists(), !is_stopped, "{notice:?}");
            drop(std::fs::remove_file(&path));
        }
    }
    // The next one is still written.
    export(&mut session, ExportForm::Tensors, folder.path().join("tensors.csv"));
    session.settle();
    assert!(folder.path().join("tensors.csv").exists());
}

/// The document, settings that were read one after the other, and the sources of an answer that is still shown.
#[test]
fn the_window_replaces_no_file_that_it_has_read() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/sample_traces/lstm_tiny.tflite");
    std::fs::copy(model, at("net.tflite")).unwrap();
    std::fs::write(
        at("d.highwater"),
        r#"{"highwater_document": 1, "sources": [{"path": "net.tflite"}]}"#,
    )
    .unwrap();
    for name in ["a.py", "b.py"] {
        std::fs::write(at(name), "from npu_bridge.npu_init import *\nc = NPURunConfig()\n").unwrap();
    }
    let mut session = session(vec![SourceSpec::Sample(sample("lenet").unwrap())]);
    session.apply(Command::Open(vec![SourceSpec::Path(at("d.highwater"))]));
    session.settle();
    for name in ["a.py", "b.py"] {
        session.apply(Command::ImportConfig(at(name)));
        session.settle();
    }
    let report = |session: &mut Session, name: &str| export(session, ExportForm::Report, at(name));
    for name in ["d.highwater", "net.tflite", "a.py", "b.py"] {
        let before = std::fs::read(at(name)).unwrap();
        report(&mut session, name);
        session.settle();
        let notice = session.notice().cloned();
        let is_told = matches!(&notice, Some(Notice::Failed(text)) if text.contains("not overwritten"));
        assert!(is_told, "{name}: {notice:?}");
        assert!(std::fs::read(at(name)).unwrap() == before, "{name}");
    }
    // The answer is of the old source until the new one is compared.
    session.apply(Command::Open(vec![SourceSpec::Sample(sample("mixed").unwrap())]));
    report(&mut session, "net.tflite");
    session.settle();
    assert!(std::fs::read(at("net.tflite")).unwrap() == std::fs::read(model).unwrap());
    report(&mut session, "new.html");
    session.settle();
    assert!(at("new.html").exists());
}

#[test]
fn write_errors_take_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let sample = "sample:lenet";
    fails(&["export", sample, "--to", &at("out.csv")], "*tensors.csv (tensors)");
    fails(
        &["export", sample, "--to", &at("tensors-plan.csv")],
        "asks for tensors and plan",
    );
    fails(&["export", sample, "--to", &at("out.pdf")], "no form has this ending");
    fails(
        &["export", sample, "--to", &at("x.csv"), "--as", "magic"],
        "known: config, report",
    );
    fails(
        &["export", sample, "--to", &at("x.jpg"), "--as", "timeline"],
        ".svg, .png",
    );
    fails(
        &["export", sample, "--to", &at("x.csv"), "--as", "config"],
        ".json, .py, .sh",
    );
    fails(
        &["export", sample, "--to", &at("r.html"), "--lane", "9"],
        "1 (policy 0)",
    );
    fails(
        &["export", sample, "--to", &at("r.html"), "--lane", "0"],
        "4 (policy 4)",
    );
    fails(
        &["export", sample, "--to", &at("r.html"), "--policies", "7"],
        "--policies 7",
    );
    fails(
        &["export", sample, "--to", &at("t.svg"), "--axis", "clock"],
        "--axis clock",
    );
    fails(
        &["export", sample, "--to", &at("tensors.csv"), "--lane", "1,2"],
        "one lane",
    );
    fails(
        &["export", sample, "--to", &at("no/such/folder/report.html")],
        "cannot be written",
    );
    fails(
        &["export", "sample:measured", "--to", &at("plan.csv")],
        "a recording has no plan",
    );
    let problem = r#"{"buffers": [{"id": "a", "lower": 0, "upper": 2, "size": 4}]}"#;
    assert!(std::fs::write(folder.path().join("p.json"), problem).is_ok());
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        1,
        "nothing half-written is left"
    );
}

#[test]
fn a_form_may_be_chosen_independently_of_the_name() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let cases = [
        (at("out.txt"), "plan", "lane,policy,strategy,"),
        (at("out.csv"), "tensors", "name,bytes,"),
        (at("x.json"), "trace", "{\"displayTimeUnit\""),
        (at("x.json"), "config", "{\n  \"highwater_config\""),
        (at("page"), "report", "<!DOCTYPE html>"),
    ];
    for (path, form, head) in cases {
        let output = run(&["export", "sample:lenet", "--to", &path, "--as", form, "--policies", "0"]);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(
            text.starts_with(head),
            "{form}: {}",
            text.chars().take(60).collect::<String>()
        );
    }
}
