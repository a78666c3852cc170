//! Documents: round trips of any content; truncated, hostile and newer files are reported; sources that moved, changed
//! or vanished are found or reported; a killed save leaves the old file.

mod names;
mod outside;

use std::path::{Path, PathBuf};

use highwater::analysis::{Configuration, LaneId, LaneSet, LaneStrategies, Pin, RematLane};
use highwater::progress::{Cancel, Progress};
use highwater::rewrite::remat::{Budget, HEURISTICS};
use highwater::session::{
    AllowedOutside, Bookmark, Command, Document, DocumentFile, OpenedDocument, SAMPLES, Session, SourceSpec,
    SourceState, Worker, document_schema, is_document, open_document, save_document,
};
use highwater::sim::StaticMemoryPolicy;
use highwater::timeline::OpOccurrence;
use highwater::units::{Bytes, Step};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use crate::cli::{fails, json as answer_of, run};

fn open(path: &Path) -> Result<OpenedDocument, String> {
    let allowed = AllowedOutside::all_if(true);
    let opened = open_document(path, &allowed, &Progress::new(&Cancel::new(), &|_, _| {}));
    opened.map_err(|error| error.to_string())
}

fn save(file: &DocumentFile, path: &Path) -> Result<Vec<Option<String>>, String> {
    save_document(file, path, &Progress::new(&Cancel::new(), &|_, _| {}))
}

/// A small model in a folder.
fn model(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    let bundled = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_traces/mobilenet_v2.onnx");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::copy(bundled, &path).unwrap();
    path
}

/// The document's configuration as a pin, and a different one.
fn pins_of(document: &Document) -> Vec<Pin> {
    let mut configuration = document.configuration();
    configuration
        .options
        .set_text("simulation.device", "generic-16GB")
        .unwrap();
    configuration.plan.iterations = 2;
    let plain = Configuration::default();
    let pin = |(name, configuration): (&str, Configuration)| Pin::new(name.to_owned(), configuration);
    [("policy 2, \"small\"", configuration), ("e", plain)].map(pin).into()
}

/// A document with every kind of entry.
fn full(folder: &Path) -> DocumentFile {
    let mut document = Document::new(vec![
        SourceSpec::Path(folder.join("graphs/net.onnx"))
            .opened_as(Some("onnx"))
            .unwrap(),
        SourceSpec::Sample(&SAMPLES[0]),
    ]);
    document.options.set_text("graph_run_mode", "0").unwrap();
    document
        .unknown_options
        .insert("of_tomorrow".to_owned(), json!([1, {"a": null}]));
    document.environment.set("GE_USE_STATIC_MEMORY", "2");
    document.part = Some("net".to_owned());
    document.plan.iterations = 3;
    document.plan.dims.insert("N".to_owned(), vec![8, u64::MAX]);
    document.with_evaluation = true;
    let policy = LaneId::Policy(StaticMemoryPolicy::from_number(2).unwrap());
    document.strategies.set(policy, highwater::plan::find("best").ok());
    document.lanes = LaneSet::Remat(vec![RematLane {
        heuristic: &HEURISTICS[0],
        budget: Budget::Ratio(0.1),
    }]);
    document.bookmarks = vec![Bookmark {
        step: Step(7),
        turn: Some(OpOccurrence::default()),
        note: "here".to_owned(),
        lane: Some(policy),
    }];
    document.pins = pins_of(&document);
    document.baseline = Some(LaneId::Pinned(1));
    let hash = "0123456789abcdef".repeat(4);
    let view = json!({"version": 1, "steps": [0.1, 2e300]});
    DocumentFile::new(document.clone()).with(document, vec![Some(hash), None], Some(view))
}

fn sources() -> impl Strategy<Value = Vec<SourceSpec>> {
    let path = prop_oneof![
        "/here/[a-z ]{1,8}(/[a-zé\"\\\\]{1,5}){0,2}",
        "/here/\\.\\.x/[a-z]{1,5}",
        "/nowhere/[a-z]{1,8}"
    ];
    let one = prop_oneof![
        path.prop_map(|path| SourceSpec::Path(path.into())),
        (0..SAMPLES.len()).prop_map(|position| SourceSpec::Sample(&SAMPLES[position])),
    ];
    let chosen = (one, proptest::option::of(Just("onnx")));
    let chosen = chosen.prop_map(|(source, format)| source.opened_as(format).unwrap());
    proptest::collection::vec(chosen, 0..4)
}

fn lane_id() -> impl Strategy<Value = LaneId> {
    prop_oneof![
        proptest::sample::select(vec![0, 2, 3, 4])
            .prop_map(|number| LaneId::Policy(StaticMemoryPolicy::from_number(number).unwrap())),
        any::<u8>().prop_map(LaneId::Problem),
        any::<u8>().prop_map(LaneId::Pass),
        any::<u8>().prop_map(LaneId::Pinned),
        any::<u16>().prop_map(LaneId::Measured),
    ]
}

fn lanes() -> impl Strategy<Value = LaneSet> {
    let budget = prop_oneof![
        Just(Budget::Unlimited),
        any::<u64>().prop_map(|bytes| Budget::Bytes(Bytes(bytes))),
        (0.0..2.0_f64).prop_map(Budget::Ratio),
    ];
    let lane = (0..HEURISTICS.len(), budget).prop_map(|(position, budget)| RematLane {
        heuristic: &HEURISTICS[position],
        budget,
    });
    prop_oneof![
        Just(LaneSet::Policies),
        Just(LaneSet::NameReuse),
        proptest::collection::vec(lane, 0..4).prop_map(LaneSet::Remat),
    ]
}

fn bookmarks() -> impl Strategy<Value = Vec<Bookmark>> {
    let turn = (any::<u32>(), "\\PC{0,4}").prop_map(|(op, graph)| OpOccurrence {
        graph,
        op,
        ..OpOccurrence::default()
    });
    let parts = (
        any::<u32>(),
        proptest::option::of(turn),
        "\\PC{0,6}",
        proptest::option::of(lane_id()),
    );
    let one = parts.prop_map(|(step, turn, note, lane)| Bookmark {
        step: Step(step),
        turn,
        note,
        lane,
    });
    proptest::collection::vec(one, 0..4).prop_map(|mut all| {
        all.sort_by_key(|bookmark| bookmark.step);
        all
    })
}

prop_compose! {
    fn documents()(
        sources in sources(),
        (part, with_evaluation) in (proptest::option::of("\\PC{0,6}"), any::<bool>()),
        (iterations, dims) in (1..u32::MAX, proptest::collection::btree_map("\\PC{1,4}", proptest::collection::vec(any::<u64>(), 0..3), 0..3)),
        (mode, device) in (proptest::option::of(0..2_i32), proptest::option::of(1_u64..1 << 45)),
        variable in proptest::option::of("\\PC{0,6}"),
        strategies in proptest::collection::vec(lane_id(), 0..3),
        (lanes, bookmarks, baseline) in (lanes(), bookmarks(), proptest::option::of(lane_id())),
        pins in proptest::collection::btree_map("[^\\s\\p{Cc}]\\PC{0,5}[^\\s\\p{Cc}]", 0_usize..2, 0..3),
    ) -> Document {
        let mut document = Document::new(Vec::new());
        document.sources = sources;
        document.part = part;
        document.with_evaluation = with_evaluation;
        document.plan.iterations = iterations;
        document.plan.dims = dims;
        if let Some(mode) = mode {
            document.options.set_text("graph_run_mode", &mode.to_string()).unwrap();
        }
        if let Some(memory) = device {
            document.options.set_text("simulation.device_memory", &memory.to_string()).unwrap();
        }
        if let Some(text) = variable {
            document.environment.set("GE_USE_STATIC_MEMORY", &text);
        }
        document.strategies = LaneStrategies::default();
        for lane in strategies {
            document.strategies.set(lane, highwater::plan::find("best").ok());
        }
        document.lanes = lanes;
        document.bookmarks = bookmarks;
        document.baseline = baseline;
        let both = pins_of(&document);
        let pin = |(name, number): (String, usize)| Pin { name, ..both[number].clone() };
        document.pins = pins.into_iter().map(pin).collect();
        document
    }
}

proptest! {
    #[test]
    fn written_configurations_are_read_back(document in documents(), is_in_folder in any::<bool>()) {
        let folder = is_in_folder.then_some(Path::new("/here"));
        let file = DocumentFile::new(document);
        let text = file.text(folder).unwrap();
        let (read, remarks) = DocumentFile::read(text.as_bytes(), folder).unwrap();
        prop_assert_eq!(&read, &file);
        prop_assert!(remarks.entries().is_empty());
        prop_assert_eq!(read.text(folder).unwrap(), text.clone());
        let schema = jsonschema::validator_for(&document_schema()).unwrap();
        prop_assert!(schema.is_valid(&serde_json::from_str(&text).unwrap()));
        // Paths within the folder are stored relative to it.
        prop_assert!(!is_in_folder || !text.contains("/here/"));
    }
}

/// Adds an unknown field to every object except those of free keys.
fn with_unknown(json: &mut Json, place: &str) {
    match json {
        Json::Object(object) => {
            for (key, inner) in object.iter_mut() {
                with_unknown(inner, key);
            }
            if !["options", "environment", "dims", "strategies", "view"].contains(&place) {
                object.insert("x-tomorrow".to_owned(), json!({"in": place, "list": [{"deep": true}]}));
            }
        }
        Json::Array(list) => list.iter_mut().for_each(|inner| with_unknown(inner, place)),
        _ => {}
    }
}

#[test]
fn unknown_fields_survive_at_every_level() {
    let folder = Path::new("/here");
    let mut json: Json = serde_json::from_str(&full(folder).text(Some(folder)).unwrap()).unwrap();
    with_unknown(&mut json, "document");
    json["pins"][0]["configuration"]["options"]["dtr.of_tomorrow"] = json!({"deep": [1]});
    json["settings"]["options"]["another_of_tomorrow"] = json!(1.5);
    json["strategies"]["policy 99"] = json!("of tomorrow");
    let n_unknown = json.to_string().matches("x-tomorrow").count();
    assert!(n_unknown >= 9, "{n_unknown}: {json}");
    let text = json.to_string();
    let (read, _) = DocumentFile::read(text.as_bytes(), Some(folder)).unwrap();
    let again: Json = serde_json::from_str(&read.text(Some(folder)).unwrap()).unwrap();
    assert_eq!(again, json);
    // They survive edits and a save elsewhere; those of removed entries go with them.
    let mut document = read.document.clone();
    document.sources.remove(0);
    document.options.set_text("graph_run_mode", "1").unwrap();
    document.bookmarks[0].note = "there".to_owned();
    let other = read.with(document, vec![None], read.view.clone());
    let again: Json = serde_json::from_str(&other.text(None).unwrap()).unwrap();
    assert_eq!(again["pins"], json["pins"]);
    assert_eq!(again["sources"][0]["x-tomorrow"], json["sources"][1]["x-tomorrow"]);
    assert_eq!(again["bookmarks"][0]["x-tomorrow"], json["bookmarks"][0]["x-tomorrow"]);
    assert_eq!(again["bookmarks"][0]["note"], "there");
    assert_eq!(again["settings"]["options"]["graph_run_mode"], 1);
    assert_eq!(again.to_string().matches("x-tomorrow").count(), n_unknown - 1);
}

#[test]
fn bookmarks_in_any_order_keep_their_own_fields() {
    let text = r#"{"highwater_document": 1, "bookmarks": [
        {"step": 7, "note": "here", "x-tomorrow": 1},
        {"turn": {"graph": "net", "iteration": 0, "run": 0, "op": 3, "ahead": 0}, "note": "there", "lane": "policy 2"}]}"#;
    let (file, _) = DocumentFile::read(text.as_bytes(), None).unwrap();
    let written = file.text(None).unwrap();
    let json: Json = serde_json::from_str(&written).unwrap();
    let bookmarks = &json["bookmarks"];
    assert_eq!(bookmarks[0]["lane"], "policy 2");
    assert_eq!(
        bookmarks[1],
        serde_json::json!({"step": 7, "note": "here", "x-tomorrow": 1})
    );
    let (again, _) = DocumentFile::read(written.as_bytes(), None).unwrap();
    assert_eq!(again.text(None).unwrap(), written);
}

#[test]
fn pins_are_read_one_by_one() {
    let text = r#"{"highwater_document": 1, "pins": [
        {"name": "a", "configuration": {"options": {"memory_config": {"static_memory_policy": 4}, "dtr": {"new": 1}}, "x": 2}},
        7,
        {"configuration": {}},
        {"name": " ", "configuration": {}},
        {"name": "a", "configuration": {}},
        {"name": "b", "configuration": []},
        {"name": "c", "configuration": {"highwater_config": 9}},
        {"name": "d", "configuration": {"schedule": {"iterations": 0}}},
        {"name": "e", "configuration": {"highwater_config": 1, "options": {"graph_run_mode": 0, "of_tomorrow": 1}}, "y": 3}
    ]}"#;
    let (mut file, remarks) = DocumentFile::read(text.as_bytes(), None).unwrap();
    let names: Vec<&str> = file.document.pins.iter().map(|pin| pin.name.as_str()).collect();
    assert_eq!(names, ["a", "e"]);
    assert_eq!(file.document.pins[0].configuration.policy().number(), 4);
    let places: Vec<&str> = remarks
        .entries()
        .iter()
        .map(|remark| remark.message.split(' ').next().unwrap())
        .collect();
    for place in [
        "pins[1]",
        "pins[2].name",
        "pins[3].name:",
        "pins[4].name:",
        "pins[5].configuration",
        "pins[6].configuration:",
        "pins[7].configuration:",
    ] {
        assert!(places.contains(&place), "{place}: {places:?}");
    }
    // Unknown fields stay with their configuration when names and order change.
    file.document.pins.reverse();
    "renamed".clone_into(&mut file.document.pins[1].name);
    let again: Json = serde_json::from_str(&file.text(None).unwrap()).unwrap();
    assert_eq!(again["pins"][0]["y"], 3);
    assert_eq!(
        again["pins"][0]["configuration"]["options"],
        json!({"graph_run_mode": 0, "of_tomorrow": 1})
    );
    assert_eq!(again["pins"][1]["name"], "renamed");
    assert_eq!(again["pins"][1]["configuration"]["x"], 2);
    let expected = json!({"memory_config.static_memory_policy": 4, "dtr.new": 1});
    assert_eq!(again["pins"][1]["configuration"]["options"], expected);
    // Unreadable entries stay too, after the others, also in a second round.
    let read: Json = serde_json::from_str(text).unwrap();
    let unread: Vec<&Json> = read["pins"].as_array().unwrap()[1..8].iter().collect();
    let kept: Vec<&Json> = again["pins"].as_array().unwrap()[2..].iter().collect();
    assert_eq!(kept, unread);
    let (second, _) = DocumentFile::read(again.to_string().as_bytes(), None).unwrap();
    assert_eq!(second.document.pins[..2], file.document.pins);
    assert_eq!(second.document.pins[2].name, "a", "its name is free now");
    let third: Json = serde_json::from_str(&second.text(None).unwrap()).unwrap();
    let all = third["pins"].as_array().unwrap();
    assert_eq!(all.len(), 9);
    assert!(unread.iter().all(|pin| pin["name"] == "a" || all.contains(pin)));
}

#[test]
fn a_baseline_is_kept_and_another_version_is_reported() {
    for (text, expected, is_told) in [
        ("pin 1", Some(LaneId::Pinned(1)), false),
        ("measured 0", Some(LaneId::Measured(0)), false),
        ("orbit 3", None, true),
    ] {
        let read = json!({"highwater_document": 1, "baseline": text});
        let (mut file, remarks) = DocumentFile::read(read.to_string().as_bytes(), None).unwrap();
        assert_eq!(file.document.baseline, expected);
        assert_eq!(
            remarks.entries().iter().any(|remark| remark.message.contains(text)),
            is_told
        );
        let again: Json = serde_json::from_str(&file.text(None).unwrap()).unwrap();
        assert_eq!(again["baseline"], text, "what nobody knows stays");
        file.document.baseline = Some(LaneId::Pass(2));
        let again: Json = serde_json::from_str(&file.text(None).unwrap()).unwrap();
        assert_eq!(again["baseline"], "pass 2");
    }
}

#[test]
fn every_truncation_is_reported_or_harmless() {
    let folder = Path::new("/here");
    let file = full(folder);
    let text = file.text(Some(folder)).unwrap();
    for end in 0..text.len() {
        match DocumentFile::read(&text.as_bytes()[..end], Some(folder)) {
            Ok((read, _)) => assert!(end + 1 == text.len() && read == file, "{end}"),
            Err(error) => assert!(
                error.line >= 1 && error.column >= 1 && !error.reason.is_empty(),
                "{end}"
            ),
        }
        // Any other byte in its place does not panic either.
        let mut odd = text.clone().into_bytes();
        odd[end] ^= 0x15;
        drop(DocumentFile::read(&odd, Some(folder)));
    }
}

#[test]
fn hostile_and_newer_documents_are_refused_with_their_place() {
    let deep = |open: &str, close: &str| {
        let (open, close) = (open.repeat(100_000), close.repeat(100_000));
        format!("{{\"highwater_document\": 1, \"x\": {open}1{close}}}")
    };
    let many = |field: &str, item: &str, count: usize| {
        format!(
            "{{\"highwater_document\":1,\"{field}\":[{}]}}",
            vec![item; count].join(",")
        )
    };
    let large = format!("{{\"highwater_document\": 1, \"x\": \"{}\"}}", "y".repeat(17 << 20));
    let cases = [
        ("[]", "line 1, column"),
        (
            "{\"highwater_document\": 2, \"sources\": 7}",
            "line 1, column 24: document version 2 is newer than",
        ),
        ("{\"highwater_document\": 0}", "start at 1"),
        (
            "{\"highwater_document\": \"1\"}",
            "line 1, column 26: invalid type: string",
        ),
        (
            "{\n \"highwater_document\": 1,\n \"sources\": [{\"path\": 7}]}",
            "line 3, column 23: invalid type",
        ),
        (
            "{\"highwater_document\": 1,\n \"settings\": {\n  \"highwater_config\": 9}}",
            "line 3, column 24: configuration version 9",
        ),
        (
            "{\"highwater_document\": 1, \"settings\": {\"highwater_config\": 9}}",
            "line 1, column 61",
        ),
        ("{\"highwater_document\": 1, \"settings\": []}", "line 1, column"),
        (
            "{\"highwater_document\": 1, \"settings\": {\"highwater_config\": 1, \"schedule\": {\"iterations\": 0}}}",
            "line 1, column 90",
        ),
        ("{\"highwater_document\": 1, \"lanes\": {}}", "missing field `kind`"),
        (
            "{\"highwater_document\": 1, \"highwater_document\": 1}",
            "duplicate field",
        ),
        (&deep("[", "]"), "recursion limit exceeded"),
        (&deep("{\"a\":", "}"), "recursion limit exceeded"),
        (
            &many("sources", "{\"path\":\"a\"}", 1001),
            "at most 1000 sources; this one has 1001",
        ),
        (&many("bookmarks", "{}", 10_001), "at most 10000 bookmarks"),
        (&many("pins", "{}", 1001), "at most 1000 pins"),
        ("{\"highwater_document\": 1, \"pins\": {}}", "line 1, column"),
        (&large, "larger than 16 MiB"),
    ];
    for (text, expected) in cases {
        let error = DocumentFile::read(text.as_bytes(), None).unwrap_err().to_string();
        assert!(error.contains(expected), "{text:.80}: {error}");
    }
    // Merely odd content gives a remark, and is written back unchanged.
    let odd = r#"{"highwater_document":1,"sources":[{"sample":"gone"},{"path":"a","format":"gone"}],"lanes":{"kind":"gone"},
        "settings":{"highwater_config":1,"options":{"gone":1}}}"#;
    let (read, remarks) = DocumentFile::read(odd.as_bytes(), Some(Path::new("/here"))).unwrap();
    assert_eq!(remarks.entries().len(), 3, "{remarks:?}");
    let again: Json = serde_json::from_str(&read.text(Some(Path::new("/here"))).unwrap()).unwrap();
    let before: Json = serde_json::from_str(odd).unwrap();
    for field in ["sources", "lanes"] {
        assert_eq!(again[field], before[field]);
    }
    assert_eq!(again["settings"]["options"], before["settings"]["options"]);
}

#[test]
fn documents_that_were_cut_off_say_so() {
    for (text, place) in [
        ("", "line 1, column 1: the text ends in the middle of a value"),
        (
            "{\"highwater_document\": 1,\n \"sources\": [",
            "line 2, column 13: the text ends in the middle of a list",
        ),
    ] {
        let error = DocumentFile::read(text.as_bytes(), None).unwrap_err().to_string();
        assert_eq!(error, format!("{place}; it was cut off, copy or save it again"));
    }
}

#[test]
fn a_save_that_is_killed_leaves_the_old_document() {
    let folder = tempfile::tempdir().unwrap();
    model(folder.path(), "graphs/net.onnx");
    let path = folder.path().join("a.highwater");
    let mut file = full(folder.path());
    save(&file, &path).unwrap();
    let old = open(&path).unwrap();
    file.document.plan.iterations = 9;
    let text = file.text(Some(folder.path())).unwrap();
    // The unfinished file is next to the document until it is complete.
    let half = folder.path().join(".highwater-a1B2c3");
    for end in 0..=text.len() {
        std::fs::write(&half, &text[..end]).unwrap();
        if end % 64 == 0 {
            assert_eq!(open(&path).unwrap().file, old.file);
        }
    }
    assert_eq!(open(&path).unwrap().file, old.file);
    // The leftover of a kill is harmless; a later save removes it once it is old.
    save(&file, &path).unwrap();
    assert!(half.exists());
    let long_ago = std::fs::metadata(&path).unwrap().modified().unwrap() - std::time::Duration::from_hours(2);
    let left = std::fs::File::options().write(true).open(&half).unwrap();
    left.set_modified(long_ago).unwrap();
    save(&file, &path).unwrap();
    let names: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names.len(), 2, "{names:?}");
    assert_eq!(open(&path).unwrap().file.document, file.document);
    // A folder that is not writable leaves the old one too.
    assert!(
        save(&file, &folder.path().join("none/b.highwater"))
            .unwrap_err()
            .contains("cannot be written")
    );
    let pipe = DocumentFile::new(Document::new(vec![SourceSpec::Path("-".into())]));
    assert!(save(&pipe, &path).unwrap_err().contains("cannot be reopened"));
    assert_eq!(open(&path).unwrap().file.document, file.document);
}

#[test]
fn sources_are_found_where_the_document_goes() {
    let root = tempfile::tempdir().unwrap();
    let (here, there) = (root.path().join("here"), root.path().join("there"));
    model(&here, "graphs/net.onnx");
    let outside = model(root.path(), "outside.onnx");
    let mut file = full(&here);
    file.document.sources.push(SourceSpec::Path(outside.clone()));
    file.document.sources.push(SourceSpec::Path(here.join("graphs")));
    let path = here.join("a.highwater");
    let hashes = save(&file, &path).unwrap();
    let n_hashed = hashes.iter().flatten().count();
    assert_eq!(n_hashed, 3, "{hashes:?}");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(
        text.contains("\"graphs/net.onnx\"") && text.contains("\"../outside.onnx\""),
        "{text}"
    );
    assert!(!text.contains(root.path().to_str().unwrap()));
    std::fs::rename(&here, &there).unwrap();
    let moved = open(&there.join("a.highwater")).unwrap();
    assert!(
        moved.notes.iter().all(|note| note.state == SourceState::Same),
        "{:?}",
        moved.notes
    );
    assert_eq!(
        moved.file.document.sources[0].label(),
        there.join("graphs/net.onnx").display().to_string()
    );
    assert_eq!(
        moved.file.document.sources[2],
        SourceSpec::Path(outside.canonicalize().unwrap())
    );
    // One file changes, and with it its folder; one vanishes. The others are unchanged.
    std::fs::write(there.join("graphs/net.onnx"), "other").unwrap();
    std::fs::remove_file(&outside).unwrap();
    let states: Vec<SourceState> = open(&there.join("a.highwater"))
        .unwrap()
        .notes
        .into_iter()
        .map(|note| note.state)
        .collect();
    let gone = SourceState::Missing("the file does not exist".to_owned());
    assert_eq!(
        states,
        [SourceState::Changed, SourceState::Same, gone, SourceState::Changed]
    );
}

#[test]
fn command_line_settings_override_the_document() {
    let folder = tempfile::tempdir().unwrap();
    model(folder.path(), "net.onnx");
    let path = folder.path().join("a.highwater");
    let mut document = Document::new(vec![SourceSpec::Path(folder.path().join("net.onnx"))]);
    document.options.set_text("graph_run_mode", "0").unwrap();
    document.plan.iterations = 2;
    save(&DocumentFile::new(document), &path).unwrap();
    let mut given = Document::new(vec![SourceSpec::Path(path.clone())]);
    given.plan.iterations = 3;
    let profiles = highwater::workload::DeviceProfiles::bundled().unwrap();
    let mut session = Session::new(given, profiles, Worker::start(|| {}).unwrap());
    session.settle();
    let opened = session.document();
    assert_eq!(opened.options.get("graph_run_mode").unwrap().to_string(), "0");
    assert_eq!((opened.plan.iterations, session.file_path()), (3, Some(&*path)));
    assert!(session.answer().is_some() && session.source_troubles().is_empty());
    // Opened later, it equals the saved one.
    session.apply(Command::Open(vec![SourceSpec::Path(path.clone())]));
    session.settle();
    assert_eq!(session.document().plan.iterations, 2);
    // Other files are another document; settings stay.
    session.apply(Command::Open(vec![SourceSpec::Sample(&SAMPLES[0])]));
    session.settle();
    assert_eq!((session.file_path(), session.is_changed()), (None, false));
}

#[test]
fn settings_of_a_missing_source_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let net = model(folder.path(), "net.onnx");
    let path = folder.path().join("a.highwater");
    let mut document = Document::new(vec![
        SourceSpec::Path(net.clone()),
        SourceSpec::Path(folder.path().join("gone.onnx")),
    ]);
    document.plan.dims.insert("of the other".to_owned(), vec![8]);
    document.part = Some("of the other".to_owned());
    save(&DocumentFile::new(document.clone()), &path).unwrap();
    let profiles = highwater::workload::DeviceProfiles::bundled().unwrap();
    let given = Document::new(vec![SourceSpec::Path(path.clone())]);
    let mut session = Session::new(given, profiles, Worker::start(|| {}).unwrap());
    session.settle();
    assert!(session.answer().is_some(), "the rest opens");
    assert_eq!(session.source_troubles().len(), 1);
    assert!(!session.is_changed());
    session.apply(Command::SaveDocument {
        path: path.clone(),
        view: None,
    });
    session.settle();
    assert_eq!(open(&path).unwrap().file.document, document);
}

#[test]
fn the_schema_of_documents_is_current() {
    let schema = document_schema();
    let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/document.schema.json");
    assert!(
        std::fs::read_to_string(path).unwrap_or_default() == text,
        "docs/document.schema.json is out of date: highwater options --format document-schema > docs/document.schema.json"
    );
    assert!(jsonschema::meta::is_valid(&schema));
    let settings = jsonschema::validator_for(&highwater::script::config_schema()).unwrap();
    let written: Json = serde_json::from_str(&full(Path::new("/here")).text(None).unwrap()).unwrap();
    assert!(settings.is_valid(&written["settings"]));
    assert!(jsonschema::validator_for(&schema).unwrap().is_valid(&written));
}

#[test]
fn the_command_line_takes_documents() {
    let folder = tempfile::tempdir().unwrap();
    let net = model(folder.path(), "net.onnx");
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let (net, path) = (text(&net), text(&folder.path().join("a.highwater")));
    let settings = ["--set", "memory_config.static_memory_policy=2", "--iterations", "2"];
    let export = [&["export", &net, "--to", &path][..], &settings].concat();
    assert!(run(&export).status.success());
    // A document is also detected by its content.
    let other = text(&folder.path().join("other.json"));
    std::fs::copy(&path, &other).unwrap();
    assert!(is_document(Path::new(&other)));
    for document in [&path, &other] {
        let plain = [&["compare", &net, "--format", "json"][..], &settings].concat();
        let mut expected = answer_of(&plain, 0);
        let mut answer = answer_of(&["compare", document, "--format", "json"], 0);
        for answer in [&mut expected, &mut answer] {
            answer["diagnostics"].take();
        }
        assert_eq!(answer, expected);
        let flags = [
            "compare",
            document,
            "--format",
            "json",
            "--set",
            "memory_config.static_memory_policy=0",
        ];
        assert_eq!(answer_of(&flags, 0)["effective_policy"], 0);
        let by_file = answer_of(&["inspect", &net, "--format", "json"], 0);
        assert_eq!(answer_of(&["inspect", document, "--format", "json"], 0), by_file);
        let effective = &answer_of(&["check", document, "--format", "json"], 0)["effective"];
        assert_eq!(effective["memory_config.static_memory_policy"], 2);
        let planned = answer_of(&["plan", document, "--strategy", "first_fit", "--format", "json"], 0);
        let expected = answer_of(&["plan", &net, "--strategy", "first_fit", "--format", "json"], 0);
        assert_eq!(planned["footprint_bytes"], expected["footprint_bytes"]);
        let config = text(&folder.path().join("config.json"));
        assert!(run(&["export", document, "--to", &config]).status.success());
        let config: Json = serde_json::from_slice(&std::fs::read(&config).unwrap()).unwrap();
        assert_eq!(config["schedule"]["iterations"], 2);
    }
    fails(&["compare", &path, &other], "name one");
    // A changed source is a warning, a missing one an error with its path.
    std::fs::write(
        &other,
        std::fs::read_to_string(&other)
            .unwrap()
            .replace("\"sha256\": \"", "\"sha256\": \"0"),
    )
    .unwrap();
    let changed = run(&["inspect", &other]);
    assert!(changed.status.success());
    assert!(String::from_utf8_lossy(&changed.stderr).contains("net.onnx changed since the document was saved"));
    std::fs::remove_file(&net).unwrap();
    for command in ["compare", "inspect", "plan"] {
        fails(&[command, &path], "net.onnx: the file does not exist; restore the file");
    }
    std::fs::write(&path, "{\"highwater_document\": 7}").unwrap();
    for command in ["compare", "inspect", "plan", "check"] {
        fails(&[command, &path], "line 1, column 25: document version 7 is newer than");
    }
}
