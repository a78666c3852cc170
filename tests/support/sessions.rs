//! Sessions of small graphs.

use highwater_model::workload::DeviceProfiles;
use highwater_session::{Document, Session, SourceSpec, Worker};

pub(crate) const STATIC: &str = r#"{"highwater_graph": 1, "name": "fixed", "nodes": [
    {"name": "a", "op": "A", "inputs": ["x"], "outputs": [{"id": "y", "shape": [64, 1024], "dtype": "float32"}]},
    {"name": "b", "op": "B", "inputs": ["y"], "outputs": [{"id": "z", "shape": [8], "dtype": "float32"}]}],
  "inputs": [{"id": "x", "shape": [8], "dtype": "float32"}], "outputs": ["z"]}"#;

pub(crate) const SYMBOLIC: &str = r#"{"highwater_graph": 1, "name": "chain", "nodes": [
    {"name": "a", "op": "A", "inputs": ["x"], "outputs": [{"id": "y", "shape": ["seq", 1024], "dtype": "float32"}]},
    {"name": "b", "op": "B", "inputs": ["y"], "outputs": [{"id": "z", "shape": ["seq"], "dtype": "float32"}]}],
  "inputs": [{"id": "x", "shape": ["seq", 8], "dtype": "float32"}], "outputs": ["z"]}"#;

pub(crate) fn source(name: &str, text: &str) -> SourceSpec {
    SourceSpec::Bytes {
        name: name.to_owned(),
        bytes: text.as_bytes().into(),
    }
}

/// A session with its first answer.
pub(crate) fn session(sources: Vec<SourceSpec>) -> Session {
    let worker = Worker::start(|| {}).unwrap();
    let mut session = Session::new(Document::new(sources), DeviceProfiles::bundled().unwrap(), worker);
    session.settle();
    session
}

/// A session of a graph with fixed shapes and one with a dimension.
pub(crate) fn two_graphs() -> Session {
    session(vec![source("fixed.json", STATIC), source("chain.json", SYMBOLIC)])
}
