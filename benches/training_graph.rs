//! A synthetic training graph of any size, for the benches.

use std::fmt::Write as _;
use std::sync::Arc;

use highwater_model::workload::DeviceProfiles;
use highwater_session::{Document, Session, SourceSpec, Worker};

/// In the native format: forward keeps every activation for backward, with uneven sizes.
pub(crate) fn training_graph(layers: usize, batch: &str) -> String {
    let mut nodes = String::new();
    let width = |layer: usize| 64 + layer * 7919 % 1000;
    for layer in 0..layers {
        let input = if layer == 0 {
            "x".to_owned()
        } else {
            format!("a{}", layer - 1)
        };
        let _infallible = write!(
            nodes,
            r#"{{"name":"f{layer}","op":"mm","inputs":["{input}"],"phase":"forward","outputs":[{{"id":"a{layer}","shape":[{batch},{}],"dtype":"float32"}}]}},"#,
            width(layer)
        );
    }
    for layer in (0..layers).rev() {
        let gradient = if layer + 1 == layers {
            String::new()
        } else {
            format!(r#","g{}""#, layer + 1)
        };
        let comma = if layer == 0 { "" } else { "," };
        let _infallible = write!(
            nodes,
            r#"{{"name":"b{layer}","op":"mm_grad","inputs":["a{layer}"{gradient}],"phase":"backward","outputs":[{{"id":"g{layer}","shape":[{batch},{}],"dtype":"float32"}}]}}{comma}"#,
            width(layer)
        );
    }
    format!(
        r#"{{"highwater_graph":1,"nodes":[{nodes}],"inputs":[{{"id":"x","shape":[{batch},64],"dtype":"float32"}}],"outputs":["a{}"]}}"#,
        layers - 1
    )
}

/// A session on such a graph, with its first answer.
pub(crate) fn session(layers: usize) -> Session {
    let source = SourceSpec::Bytes {
        name: "bench.json".to_owned(),
        bytes: Arc::from(training_graph(layers, "32").into_bytes()),
    };
    let worker = Worker::start(|| {}).expect("a thread can be started");
    let profiles = DeviceProfiles::bundled().expect("the profiles are bundled");
    let mut session = Session::new(Document::new(vec![source]), profiles, worker);
    session.settle();
    session
}
