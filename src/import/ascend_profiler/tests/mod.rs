//! Small tables by hand: every trap of the formats, damaged tables, databases.

mod curves;
mod databases;
mod events;
mod kernels;
mod operators;
mod static_ops;
mod text;
mod tracker;

use std::sync::Arc;

use crate::{ImportError, Imported, test_help};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::workload::{Recording, Source};

fn read(bytes: &[u8]) -> Result<Imported, ImportError> {
    test_help::read("table.csv", bytes)
}

fn recordings(text: &str) -> (Vec<Arc<Recording>>, Diagnostics) {
    recordings_of(text.as_bytes())
}

fn recordings_of(bytes: &[u8]) -> (Vec<Arc<Recording>>, Diagnostics) {
    let imported = read(bytes).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(imported.format, "ascend_profiler");
    let Source::Recordings(recordings) = imported.source else {
        panic!("these are recordings");
    };
    (recordings, imported.diagnostics)
}

fn error(text: &str) -> String {
    read(text.as_bytes()).map_or_else(|error| error.to_string(), |_| "no error".to_owned())
}
