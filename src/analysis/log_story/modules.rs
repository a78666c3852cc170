//! Device memory by module of the driver.

use indexmap::IndexMap;

use highwater_model::workload::DriverRow;

/// One module on one device; `None` where a kind of its memory has no figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleMemory {
    pub device: Option<u64>,
    pub module: String,
    /// At the request that the process failed at.
    pub at_failure: Option<u64>,
    /// In the last line of the driver.
    pub last: Option<u64>,
    /// Sum of the peaks of its kinds of memory: an upper bound.
    pub peak: Option<u64>,
}

/// The modules, the largest first; memory of the host is left out.
pub(super) fn of(rows: &[DriverRow]) -> Vec<ModuleMemory> {
    let mut modules: IndexMap<(u64, &str), ModuleMemory> = IndexMap::new();
    for row in rows {
        let Some(device) = row.device else { continue };
        let found = modules.entry((device, &row.module)).or_insert_with(|| ModuleMemory {
            device: row.device,
            module: row.module.clone(),
            at_failure: Some(0),
            last: Some(0),
            peak: Some(0),
        });
        for (sum, part) in [
            (&mut found.at_failure, row.at_main_failure),
            (&mut found.last, row.current),
            (&mut found.peak, row.peak),
        ] {
            *sum = sum.zip(part).map(|(sum, part)| sum.saturating_add(part));
        }
    }
    let mut modules: Vec<ModuleMemory> = modules.into_values().collect();
    let size = |one: &ModuleMemory| one.at_failure.or(one.peak).unwrap_or(0);
    modules.sort_by_key(|one| (one.device, std::cmp::Reverse(size(one))));
    modules
}
