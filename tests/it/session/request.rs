//! From a document to a request: the same for the window and the command line, and the document stays as it is.

use std::sync::Arc;

use highwater::analysis::{Request, compare};
use highwater::progress::{Cancel, Progress};
use highwater::session::{Document, Loaded, OnFailure, SAMPLES, SourceSpec, load, sample};

use super::{bytes, settled};

fn read(document: &Document) -> Loaded {
    let progress = Cancel::new();
    load(&document.sources, false, OnFailure::Stop, &Progress::silent(&progress)).expect("sources are read")
}

fn request(document: &Document) -> Request {
    document.request(&read(document), Arc::default())
}

fn of_sample(name: &str) -> Document {
    Document::new(vec![SourceSpec::Sample(sample(name).expect("a sample"))])
}

#[test]
fn a_session_asks_what_its_document_asks_and_leaves_it_alone() {
    for sample in SAMPLES {
        let document = Document::new(vec![SourceSpec::Sample(sample)]);
        let session = settled(document.sources.clone());
        assert_eq!(*session.document(), document, "{}", sample.name);
        let request = request(&document);
        assert_eq!(session.scheduled().dims, request.plan.dims, "{}", sample.name);
        assert_eq!(
            session.scheduled().iterations,
            request.plan.iterations,
            "{}",
            sample.name
        );
    }
    let session = settled(bytes(super::SYMBOLIC));
    assert_eq!(*session.document(), Document::new(session.document().sources.clone()));
    // What the window assumes stays open for the command line, which reports it.
    let request = request(session.document());
    assert!(request.plan.dims.is_empty());
    let error = compare(&request, &Progress::silent(&Cancel::new())).expect_err("a dimension without a value");
    assert!(error.to_string().contains("--dim seq=VALUE"), "{error}");
}

#[test]
fn values_of_options_win_over_those_of_samples_and_lose_to_the_users() {
    let mut document = of_sample("bert");
    let seq = document.plan.dims["seq"].clone();
    assert_eq!(request(&document).plan.dims["seq"], seq);
    for (key, text) in [
        ("dynamic_input", "True"),
        ("dynamic_inputs_shape_range", "data:[8,16~64]"),
    ] {
        document.options.set_text(key, text).expect("a known option");
    }
    let plan = request(&document).plan;
    assert!(!plan.dims.contains_key("seq"), "{:?}", plan.dims);
    document.plan.dims.insert("seq".to_owned(), vec![32]);
    assert_eq!(request(&document).plan.dims["seq"], [32]);
}

#[test]
fn a_part_has_its_own_entries_and_dimensions_and_unknown_graphs_are_reported() {
    let mut document = of_sample("mixed");
    let mut loaded = read(&document);
    let names: Vec<String> = loaded.whole.graphs().iter().map(|entry| entry.name.clone()).collect();
    let fixed = loaded
        .whole
        .graphs()
        .iter()
        .position(|entry| entry.graph.symbols().is_empty());
    let shown = names[fixed.expect("a graph of fixed shape")].clone();
    let entries = names.iter().map(|name| name.as_str()).chain(["gone"]);
    document.plan.entries = entries
        .map(|name| format!("\"{name}\"").parse().expect("an entry"))
        .collect();
    assert!(loaded.show(Some(&shown)));
    let before = document.clone();
    let plan = document.request(&loaded, Arc::default()).plan;
    assert_eq!(document, before);
    let left: Vec<&str> = plan.entries.iter().map(|entry| entry.graph.as_str()).collect();
    assert_eq!(left, [shown.as_str(), "gone"]);
    assert!(plan.dims.is_empty(), "{:?}", plan.dims);
}
