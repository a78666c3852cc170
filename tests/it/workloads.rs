//! Builds workloads from bytes, and configurations from texts.

use highwater::analysis::Configuration;
use highwater::workload::Workload;

use crate::support::read;

pub(crate) fn workload(name: &str, bytes: &[u8]) -> Workload {
    let imported = read(name, bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    Workload::new(name.to_owned(), imported.source)
}

/// Settings, and values of dimensions.
pub(crate) fn configuration(settings: &[(&str, &str)], dims: &[(&str, &[u64])]) -> Configuration {
    let mut configuration = Configuration::default();
    for (key, text) in settings {
        configuration.options.set_text(key, text).expect("a known option");
    }
    let dims = dims.iter().map(|(name, values)| ((*name).to_owned(), values.to_vec()));
    configuration.plan.dims.extend(dims);
    configuration
}

/// The same values for every dimension of a workload.
pub(crate) fn with_values(mut configuration: Configuration, workload: &Workload, values: &[u64]) -> Configuration {
    let dims = workload.symbols().into_iter().map(|symbol| (symbol, values.to_vec()));
    configuration.plan.dims.extend(dims);
    configuration
}
