//! Small files: documents, configurations, schedules, kept edits, earlier answers, files that options name.

use std::path::Path;
use std::sync::Arc;

use highwater::analysis::{Configuration, LaneGoal};
use highwater::diagnostics::Diagnostics;
use highwater::export::{Answer as _, Baseline, BaselineComparison, CompareAnswer};
use highwater::options::{FileState, Files, OptionKind, TABLE, check, lower, problems_of};
use highwater::script::{ConfigDocument, from_json, read_config, schedule_from_json, to_json};
use highwater::session::{Document, DocumentFile, PersistedDocument, Recents, apply_config, config_from_document};

use super::Readable;
use super::texts::{COMPARED, judged};

/// A document is read, written, and read again as the same document.
pub(super) fn document(bytes: &[u8]) -> Option<Readable> {
    let folder = Path::new("/models");
    let (file, _) = DocumentFile::read(bytes, Some(folder)).ok()?;
    if let Ok(text) = file.text(Some(folder)) {
        let again = DocumentFile::read(text.as_bytes(), Some(folder));
        let (again, _) = again.unwrap_or_else(|error| panic!("a written document cannot be read: {error}\n{text}"));
        assert_eq!(
            again.text(Some(folder)).as_ref(),
            Ok(&text),
            "a document changes when it is written again"
        );
    }
    Some(Readable::Settings(Box::new(file.document)))
}

/// A script's settings are checked; its document survives JSON.
pub(super) fn script(name: &str, bytes: &[u8]) -> Option<Readable> {
    let (config, _) = read_config(name, bytes).ok()?;
    let text = to_json(&config);
    let again = from_json(text.as_bytes());
    let (again, _) = again.unwrap_or_else(|error| panic!("a written configuration cannot be read: {error}\n{text}"));
    assert_eq!(
        to_json(&again),
        text,
        "a configuration changes when it is written again"
    );
    Some(settings_of(&config))
}

fn settings_of(config: &ConfigDocument) -> Readable {
    let mut document = Document::new(Vec::new());
    apply_config(config, &mut document);
    judged(&document);
    Readable::Settings(Box::new(document))
}

/// A schedule by itself is written with a configuration, and read again as the same.
pub(super) fn schedule(bytes: &[u8]) -> Option<Readable> {
    let mut document = Document::new(Vec::new());
    document.plan = schedule_from_json(bytes).ok()?;
    let text = to_json(&config_from_document(&document, None));
    let (again, _) = from_json(text.as_bytes()).expect("a written configuration can be read");
    assert_eq!(
        again.schedule.unwrap_or_default(),
        document.plan,
        "a schedule changes when it is written"
    );
    Some(Readable::Settings(Box::new(document)))
}

/// Edits of a crashed run, and recent files.
pub(super) fn kept(bytes: &[u8]) -> Option<Readable> {
    if let Ok(recents) = serde_json::from_slice::<Recents>(bytes) {
        let recents = recents.cleaned();
        recents.paths();
        for recent in &recents.list {
            recent.title();
            recents.bookmarks_of(&recent.sources());
        }
        return Some(Readable::Other);
    }
    let kept: PersistedDocument = serde_json::from_slice(bytes).ok()?;
    let (document, _) = kept.document()?;
    Some(Readable::Settings(Box::new(document)))
}

/// The lanes of a comparison beside an earlier answer.
pub(super) fn answer(bytes: &[u8]) -> Option<Readable> {
    let baseline = Baseline::read(bytes).ok()?;
    let (comparison, _) = &*COMPARED;
    let options = Configuration::default();
    let compared = BaselineComparison::new(comparison, &options, Some(("before.json", &baseline)), &[]);
    let import = Diagnostics::new();
    let answer = CompareAnswer {
        baseline_comparison: compared.as_ref(),
        ..CompareAnswer::new(comparison, LaneGoal::default(), &[], &import, &options)
    };
    answer.page().text();
    answer.comment().markdown();
    serde_json::to_string(&answer.json()).expect("it is JSON");
    Some(Readable::Other)
}

/// The same file behind every path.
#[derive(Debug)]
struct OneFile(Arc<[u8]>);

impl Files for OneFile {
    fn look(&self, _path: &str) -> FileState {
        FileState::File(Arc::clone(&self.0))
    }
}

/// A file that options name, as each of its forms. Reading it never fails.
pub(super) fn option_file(bytes: &[u8]) -> Option<Readable> {
    let files = OneFile(bytes.into());
    let mut document = Document::new(Vec::new());
    for row in TABLE {
        if matches!(row.kind, OptionKind::Path(_)) {
            problems_of(row.key, bytes);
            document.options.set_text(row.key, "file").expect("the key is known");
        }
    }
    check(&document.options, &document.environment, &files);
    lower(&document.options, &document.environment, &document.device(), &files);
    Some(Readable::Other)
}
