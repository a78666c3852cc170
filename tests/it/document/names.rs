//! A document's names of graphs stay while sources are missing, and follow sources that are located.

use std::path::{Path, PathBuf};

use highwater::analysis::{Configuration, LaneId, Pin};
use highwater::progress::{Cancel, Progress};
use highwater::session::{
    AllowedOutside, Bookmark, Command, Document, DocumentFile, Session, SourceSpec, Worker, open_document,
    save_document,
};
use highwater::sim::StaticMemoryPolicy;
use highwater::timeline::OpOccurrence;
use highwater::units::Step;
use highwater::workload::DeviceProfiles;
use serde_json::Value as Json;

use crate::cli::json as answer_of;

/// A graph named `main`, like the other one, with a tensor of the given width.
fn graph(path: &Path, width: u64) {
    let text = format!(
        r#"{{"highwater_graph": 1, "name": "main", "nodes": [
        {{"name": "a", "op": "A", "inputs": ["x"], "outputs": [{{"id": "y", "shape": ["batch", {width}], "dtype": "float32"}}]}},
        {{"name": "b", "op": "B", "inputs": ["y"], "outputs": [{{"id": "z", "shape": ["batch"], "dtype": "float32"}}]}}],
        "inputs": [{{"id": "x", "shape": ["batch", 8], "dtype": "float32"}}], "outputs": ["z"]}}"#
    );
    std::fs::write(path, text).unwrap();
}

/// A folder with a document of two graphs, which are named after their files, with entries of both.
struct Case {
    folder: tempfile::TempDir,
    document: Document,
}

impl Case {
    fn new(part: Option<&str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| SourceSpec::Path(folder.path().join(name));
        let mut document = Document::new(vec![at("res.json"), at("mob.json")]);
        graph(&folder.path().join("res.json"), 512);
        graph(&folder.path().join("mob.json"), 65_536);
        document.plan.dims.insert("batch".to_owned(), vec![4]);
        let entries = ["res*2", "mob[batch=8]"].map(|text| text.parse().unwrap());
        document.plan.entries = entries.to_vec();
        document.plan.names.insert("mob".to_owned(), "phone".to_owned());
        document.part = part.map(str::to_owned);
        let configuration = Configuration {
            plan: document.plan.clone(),
            ..Configuration::default()
        };
        document.pins = vec![Pin::new("kept".to_owned(), configuration)];
        document.bookmarks = vec![Bookmark {
            step: Step(1),
            turn: Some(OpOccurrence {
                graph: "res".to_owned(),
                ..OpOccurrence::default()
            }),
            note: String::new(),
            lane: None,
        }];
        let case = Self { folder, document };
        save_document(
            &DocumentFile::new(case.document.clone()),
            &case.at("doc.highwater"),
            &quiet(),
        )
        .unwrap();
        case
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn moved(&self, from: &str, to: &str) {
        std::fs::rename(self.at(from), self.at(to)).unwrap();
    }

    fn open(&self) -> Session {
        opened(&self.at("doc.highwater"))
    }

    fn read(&self) -> Document {
        open_document(&self.at("doc.highwater"), &AllowedOutside::default(), &quiet())
            .map_err(|error| error.to_string())
            .unwrap()
            .file
            .document
    }

    fn save(&self, session: &mut Session) {
        let path = self.at("doc.highwater");
        step(session, Command::SaveDocument { path, view: None });
    }

    fn locate(&self, session: &mut Session, position: usize, name: &str) {
        let path = self.at(name);
        step(session, Command::Locate { position, path });
    }
}

fn opened(path: &Path) -> Session {
    let given = Document::new(vec![SourceSpec::Path(path.to_owned())]);
    let mut session = Session::new(given, DeviceProfiles::bundled().unwrap(), Worker::start(|| {}).unwrap());
    session.settle();
    session
}

fn quiet() -> Progress<'static> {
    static CANCEL: std::sync::OnceLock<Cancel> = std::sync::OnceLock::new();
    Progress::silent(CANCEL.get_or_init(Cancel::new))
}

fn step(session: &mut Session, command: Command) {
    session.apply(command);
    session.settle();
}

/// The peaks of all lanes, including pins.
fn peaks(session: &Session) -> Vec<u64> {
    let comparison = &session.answer().expect("an answer").0;
    assert!(comparison.pin_failures.is_empty(), "{:?}", comparison.pin_failures);
    let lanes = comparison.lanes.iter();
    lanes.map(|lane| lane.summary.peak_reserved.get()).collect()
}

fn names(document: &Document) -> Vec<String> {
    document.plan.entries.iter().map(ToString::to_string).collect()
}

#[test]
fn names_wait_for_sources_that_are_missing() {
    for (part, gone) in [
        (None, "res.json"),
        (None, "mob.json"),
        (Some("mob"), "mob.json"),
        (Some("mob"), "res.json"),
    ] {
        let case = Case::new(part);
        let whole = peaks(&case.open());
        case.moved(gone, "away");
        let mut session = case.open();
        assert!(!session.is_changed(), "{gone}");
        case.save(&mut session);
        assert_eq!(case.read(), case.document, "{gone}");
        case.moved("away", gone);
        assert_eq!(peaks(&case.open()), whole, "{gone}");
    }
}

#[test]
fn a_located_source_takes_the_place_of_the_missing_one() {
    // The same name, a different one, and one from which both names of the document differ.
    for (gone, found) in [
        ("res.json", "else/res.json"),
        ("res.json", "big.json"),
        ("mob.json", "else/small.json"),
    ] {
        let case = Case::new(Some("mob"));
        std::fs::create_dir(case.at("else")).unwrap();
        let whole = peaks(&case.open());
        case.moved(gone, found);
        let mut session = case.open();
        case.locate(&mut session, usize::from(gone == "mob.json"), found);
        assert_eq!(peaks(&session), whole, "{found}");
        let stem = Path::new(found).file_stem().unwrap().to_str().unwrap();
        let own = gone.trim_end_matches(".json");
        let expected: Vec<String> = names(&case.document)
            .iter()
            .map(|name| name.replace(own, stem))
            .collect();
        assert_eq!(names(session.document()), expected);
        case.save(&mut session);
        let read = case.read();
        assert_eq!(read, *session.document());
        assert_eq!(
            names(&Document {
                plan: read.pins[0].configuration.plan.clone(),
                ..read.clone()
            }),
            expected
        );
        assert_eq!(read.part.as_deref(), Some(if own == "mob" { stem } else { "mob" }));
        assert_eq!(
            read.bookmarks[0].turn.as_ref().unwrap().graph,
            if own == "res" { stem } else { "res" }
        );
        assert_eq!(peaks(&case.open()), whole, "{found}");
    }
}

#[test]
fn sources_that_are_located_one_by_one_keep_their_entries() {
    let case = Case::new(None);
    let whole = peaks(&case.open());
    case.moved("res.json", "one.json");
    case.moved("mob.json", "two.json");
    let mut session = case.open();
    assert!(session.answer().is_none());
    case.locate(&mut session, 1, "two.json");
    // Saved in between, and opened again.
    case.save(&mut session);
    let mut session = case.open();
    case.locate(&mut session, 0, "one.json");
    assert_eq!(names(session.document()), ["one*2", "two[batch=8]"]);
    assert_eq!(peaks(&session), whole);
}

#[test]
fn entries_that_are_added_while_a_source_is_missing_mean_the_graph_that_is_there() {
    let case = Case::new(None);
    case.moved("res.json", "away");
    let mut session = case.open();
    let (comparison, _) = session.answer().expect("an answer");
    let there: Vec<String> = comparison
        .workload
        .graphs()
        .iter()
        .map(|entry| entry.name.clone())
        .collect();
    let mut entries = session.document().plan.entries.clone();
    entries.push(there[0].parse().unwrap());
    step(&mut session, Command::SetEntries { entries, field: None });
    case.save(&mut session);
    case.moved("away", "res.json");
    assert_eq!(names(case.open().document()), ["res*2", "mob[batch=8]", "phone"]);
}

#[test]
fn a_pin_without_a_schedule_follows_the_settings() {
    let case = Case::new(None);
    let path = case.at("a.highwater");
    let text = r#"{"highwater_document": 1, "sources": [{"path": "res.json"}],
        "settings": {"highwater_config": 1, "schedule": {"iterations": 1, "dims": {}, "entries": [{"graph": "main", "dims": {"batch": "8"}}]}},
        "pins": [{"name": "four", "configuration": {"options": {"memory_config.static_memory_policy": 4}}}]}"#;
    std::fs::write(&path, text).unwrap();
    let mut session = opened(&path);
    let is_alike = |session: &Session| {
        let comparison = &session.answer().unwrap().0;
        let peak = |id: LaneId| {
            let lane = comparison.lanes.iter().find(|lane| lane.id == id).unwrap();
            lane.summary.peak_reserved.get()
        };
        let policy = StaticMemoryPolicy::from_number(4).unwrap();
        (peak(LaneId::Policy(policy)), peak(LaneId::Pinned(0)))
    };
    let (policy, pin) = is_alike(&session);
    assert_eq!(policy, pin);
    let entries = vec!["main[batch=4096]".parse().unwrap()];
    session.apply(Command::SetEntries { entries, field: None });
    session.settle();
    let (later, pin) = is_alike(&session);
    assert!(later == pin && later != policy);
    // So do its copy, a save, and the command line.
    session.apply(Command::DuplicatePin(0));
    session.apply(Command::SaveDocument {
        path: path.clone(),
        view: None,
    });
    session.settle();
    let read: Json = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let pins = read["pins"].as_array().unwrap();
    assert!(pins.len() == 2 && pins.iter().all(|pin| pin["configuration"].get("schedule").is_none()));
    let answer = answer_of(
        &[
            "compare",
            path.to_str().unwrap(),
            "--iterations",
            "2",
            "--format",
            "json",
        ],
        0,
    );
    let pins = answer["pins"].as_array().unwrap();
    assert_eq!(pins[0]["peak_reserved_bytes"], later);
    assert!(!pins[0]["differences"].to_string().contains("schedule"));
}
