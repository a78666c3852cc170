//! Builds workloads from bytes.

use highwater::workload::Workload;

use crate::support::read;

pub(crate) fn workload(name: &str, bytes: &[u8]) -> Workload {
    let imported = read(name, bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    Workload::new(name.to_owned(), imported.source)
}
